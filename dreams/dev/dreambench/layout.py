"""Cases about files: broken indexes, long rows, odd encodings, and what the repository says already. Pure."""

from __future__ import annotations

import json

from dreams.dev.dreambench.builder import Builder, Topic, claim
from dreams.dev.dreambench.truth import Claim
from dreams.dev.dreambench.words import bare, opening

INDEX_BYTES = 25_000  # what is loaded of an index


def _some_fact(b: Builder) -> tuple[str, Claim]:
    attribute = b.rng.choice(b.attributes)
    subject, value = b.words.subject(), b.words.value(attribute.sort)
    return b.fact(attribute, subject, value)[0], claim(subject, value)


def dangling(b: Builder) -> None:
    text, said = _some_fact(b)
    name = b.words.subject().strip("`").replace(" ", "_").lower()
    b.rows.append(f"- [{name}](project_{name}.md) — {text}")
    b.case("dangling", about=b.rows[-1], stands=(said,))


def missing_row(b: Builder) -> None:
    topic = b.topic(is_open=False)
    text, said = _some_fact(b)
    topic.lines.append(text)
    b.unlisted.add(topic.path)
    b.case("missing row", about=topic.path, stands=(said,), row=topic.path)


def double_row(b: Builder) -> None:
    topic = b.topic(is_open=False)
    text, said = _some_fact(b)
    topic.lines.append(text)
    hook = b.rng.choice(
        (f"notes on {topic.title.lower()}", "see there", f"what to know about {topic.title.lower()}")
    )
    b.rows.append(f"- [{topic.title}]({topic.path}) — {hook}")
    b.case("double row", about=b.rows[-1], stands=(said,), row=topic.path)


def long_row(b: Builder) -> None:
    _verbose(b, 300)


def _verbose(b: Builder, least: int) -> Topic:
    """A topic whose row says much that stands only there."""
    topic = b.topic(is_open=False)
    topic.lines.append(_some_fact(b)[0])
    told: list[str] = []
    claims: list[Claim] = []
    while sum(map(len, told)) < least:
        text, said = _some_fact(b)
        told.append(text)
        claims.append(said)
    topic.hook = " ".join(told)
    b.case("long row", about=topic.path, stands=tuple(claims), short=topic.path)
    return topic


def crowded(b: Builder, facts: int) -> None:
    """An index that is not loaded whole."""
    rows = max(10, facts // 6)
    for _ in range(rows):
        _verbose(b, INDEX_BYTES // rows + 20)


def encoding(b: Builder) -> None:
    topic = b.topic(is_open=False)
    form = b.rng.choice(("crlf", "bom", "no final line end", "odd bytes"))
    topic.newline = "\r\n" if form == "crlf" else "\n"
    topic.bom, topic.final = form == "bom", form != "no final line end"
    topic.odd = "Café à Orléans\n".encode("latin-1") if form == "odd bytes" else b""
    claims = []
    for _ in range(2):
        text, said = _some_fact(b)
        topic.lines.append(text)
        claims.append(said)
    if form != "odd bytes":  # what makes an engine write the file
        topic.lines.append(topic.lines[0])
    topic.lines.reverse()
    b.case("encoding", about=f"{topic.path}: {form}", stands=tuple(claims), marks=(topic.path,))


# (file, what it holds, what a note says of it, what it says more or otherwise)
_CODE = (
    ("CLAUDE.md", "- Run `{w} check` before every push.", "Run `{w} check` before every push.",
     "Run `{w} check` before every push, except on the docs branch, where it takes an hour."),
    ("CLAUDE.md", "- All times in {w} are UTC.", "All times in {w} are UTC.", "All times in {w} are UTC but for the invoices, which are CET."),
    ("package.json", {"name": "{w}-web"}, "The npm package is called `{w}-web`.", "The npm package was called `{w}-old` until the split."),
    ("package.json", {"scripts": {"{w}": "vitest run"}}, "`npm run {w}` runs `vitest run`.",
     "`npm run {w}` runs `vitest run`, which needs the mock server on port 4455."),
    ("package.json", {"engines": {"node": ">=20"}, "author": "{w}"}, "package.json asks for Node `>=20`.", "Node 22 breaks the {w} build: `>=20` is a lie."),
    ("Makefile", "{w}:\n\truff check .\n", "`make {w}` runs `ruff check .`.", "`make {w}` runs `ruff check .` and takes four minutes on the laptop."),
    ("docker-compose.yml", "services:\n  {w}:\n    image: redis:7.2\n", "docker-compose.yml runs the service `{w}` from `redis:7.2`.",
     "The service `{w}` must stay on `redis:7.2`: 7.4 has another licence."),
)  # fmt: skip


def derived(b: Builder) -> None:
    _from_code(b, same=True)


def not_derived(b: Builder) -> None:
    _from_code(b, same=False)


def _from_code(b: Builder, *, same: bool) -> None:
    path, content, note, more = b.rng.choice(_CODE)
    word = b.words.subject().strip("`").removeprefix("the ").replace(" ", "-").lower()
    if isinstance(content, str):
        b.repo[path] = f"{b.repo.get(path, '')}{content.format(w=word)}\n"
    else:
        folder = path if path not in b.repo else f"packages/{word}/package.json"
        b.repo[folder] = json.dumps(_filled(content, word), indent=2) + "\n"
    text = opening((note if same else more).format(w=word))
    b.place(text)
    said = Claim((bare(word),)) if "{w}" in (note if same else more) else Claim(("package.json", ">=20"))
    if same:
        b.case("derived", about=f"{text} ({path})", gone=(said,))
    else:
        b.case("not derived", about=f"{text} ({path})", stands=(said,))


def _filled(content: object, word: str) -> object:
    if isinstance(content, dict):
        return {key.replace("{w}", word): _filled(value, word) for key, value in content.items()}
    return str(content).replace("{w}", word)


def links(b: Builder) -> None:
    """A wikilink from one topic to another."""
    if len(b.topics) < 2:
        b.topic(), b.topic()
    source, target = b.rng.sample([t for t in b.topics if not t.pinned and not t.odd], 2)
    source.lines.append(f"See [[{target.path.removesuffix('.md')}]] for the rest.")
    if not any(case.link == source.path for case in b.cases):
        b.case("link", about=f"links of {source.path}", link=source.path)
