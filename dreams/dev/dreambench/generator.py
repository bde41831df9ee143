"""Makes a world from seed and size: directories of at most 150 facts, with cases of every kind. Here are the cases without
sessions: facts, duplicates, updates, dates, broken indexes, odd encodings. Pure and deterministic."""

import datetime as dt
import json
import random
from collections.abc import Callable, Mapping
from functools import partial

from dreams.dev.dreambench import session_cases
from dreams.dev.dreambench.builder import Claim, OwnWordsBuilder, World, claim, fill
from dreams.dev.dreambench.shapes import ATTRIBUTES, FOUND, SAID, VOCABULARY, Deal, Words, bare, opening

OLD_FROM, OLD_TO = dt.date(2025, 6, 1), dt.date(2025, 10, 1)
NEW_FROM, NEW_TO = dt.date(2025, 10, 5), dt.date(2026, 2, 20)


def fact(b: OwnWordsBuilder) -> None:
    chance = b.rng.random()
    if chance < 0.12:
        return _foreign(b)
    if chance < 0.22:
        return _preference_kept(b)
    attribute = b.rng.choice(b.attributes)
    subject, value = b.words.subject(), b.words.value(attribute.sort)
    text, _, held = b.fact(attribute, subject, value)
    topic = b.place(text)
    if b.rng.random() < 0.15:
        topic.lines.append(b.rng.choice(SAID["remarks"]))
    b.case("fact", about=text, held_out=held, stands=(claim(subject, value),))
    return None


def _foreign(b: OwnWordsBuilder) -> None:
    chosen = b.put(
        SAID["french"] if b.rng.random() < 0.5 else SAID["korean"],
        s=(s := b.words.subject()),
        v=(v := b.words.value("port")),
    )
    b.place(chosen.text)
    b.case("fact", about=chosen.text, held_out=chosen.held_out, stands=(claim(s, v),))


def _preference_kept(b: OwnWordsBuilder) -> None:
    """A preference of the person is kept, even if the agent worked differently."""
    topics = [t for t in b.topics if t.kind == "user" and t.open]
    topic = topics[0] if topics else b.topic(kind="user", title="How I work")
    one, other = b.words.subject().strip("`"), b.words.subject().strip("`")
    line = b.rng.choice(
        ("Prefers {a} over {b} for small things.", "Wants {a} to be asked before {b} is touched.")
    )
    topic.lines.append(line.format(a=one, b=other))
    b.case("fact", about=topic.lines[-1], stands=((bare(one), bare(other)),))


def duplicate(b: OwnWordsBuilder) -> None:
    if b.rng.random() < 0.15:
        return _twin_files(b)
    attribute = b.rng.choice(b.attributes)
    subject, value = b.words.subject(), b.words.value(attribute.sort)
    one, wording, held = b.fact(attribute, subject, value)
    other, _, held_too = b.fact(attribute, subject, value, [wording] if b.rng.random() < 0.7 else [])
    other = b.rng.choice(SAID["duplicate_frames"]).format(other)
    topic = b.place(one)
    if b.rng.random() < 0.4:
        topic.lines.insert(b.rng.randrange(len(topic.lines) + 1), other)
    else:
        b.place(other, [topic])
    b.case(
        "duplicate",
        about=f"{one} / {other}",
        held_out=held or held_too,
        stands=(claim(subject, value),),
        once=True,
    )
    return None


def _twin_files(b: OwnWordsBuilder) -> None:
    """The same note saved under two names; a wikilink points to each of them."""
    one, two = b.topic(is_open=False), b.topic(is_open=False)
    two.title = f"{one.title} notes"
    two.path = f"project_{one.title.lower().replace(' ', '_')}_notes.md"
    two.bullets, two.shape = one.bullets, one.shape
    claims = []
    for attribute in b.rng.sample(b.attributes, 3):
        subject, value = b.words.subject(), b.words.value(attribute.sort)
        one.lines.append(b.fact(attribute, subject, value)[0])
        claims.append(claim(subject, value))
    two.lines = list(one.lines)
    for topic in (one, two):
        b.place(f"More on this in [[{topic.path.removesuffix('.md')}]].")
    b.case("duplicate", about=f"{one.path} and {two.path}", stands=tuple(claims), once=True)
    for topic in b.topics:
        if any("[[" in line for line in topic.lines):
            b.case("link", about=f"links of {topic.path}", link=topic.path)


def look_alike(b: OwnWordsBuilder) -> None:
    """Two facts in the same words, except for the value, place, environment or person."""
    attribute = b.rng.choice([a for a in b.attributes if a.sort != "person"])
    subject = b.words.subject()
    value, another = b.words.two_values(attribute.sort)
    form = b.rng.randrange(4)
    if form == 0:  # two services
        other = b.words.other_subject(subject)
        text, wording, held = b.fact(attribute, subject, value)
        pair = text, opening(wording.format(s=other, v=value))
        claims = claim(subject, value), claim(other, value)
    elif form == 1:  # two environments
        text, wording, held = b.fact(attribute, f"{subject} in staging", value)
        pair = text, opening(wording.format(s=f"{subject} in production", v=another))
        claims = _in(subject, "staging", value), _in(subject, "production", another)
    elif form == 2:  # two people of one first name
        return _namesakes(b)
    else:  # two numbers of one thing
        text, wording, held = b.fact(attribute, f"{subject} v2", value)
        pair = text, opening(wording.format(s=f"{subject} v3", v=another))
        claims = _in(subject, "v2", value), _in(subject, "v3", another)
    topic = b.place(pair[0])
    if b.rng.random() < 0.5:
        topic.lines.append(pair[1])
    else:
        b.place(pair[1], [topic])
    b.case("look-alike", about=f"{pair[0]} / {pair[1]}", held_out=held, stands=claims)
    return None


def _in(subject: str, place: str, value: str) -> Claim:
    return (bare(subject), place, value.strip("`").lower())


def _namesakes(b: OwnWordsBuilder) -> None:
    first = b.rng.choice(VOCABULARY["people"])
    one, two = b.rng.sample(VOCABULARY["surnames"], 2)
    subject, other = b.words.subject(), b.words.subject()
    attribute = next(a for a in b.attributes if a.sort == "person")
    left, wording, held = b.fact(attribute, subject, f"{first} {one}")
    right = opening(
        wording.format(s=other if b.rng.random() < 0.5 else f"{subject} abroad", v=f"{first} {two}")
    )
    topic = b.place(left)
    topic.lines.append(right)
    claims = claim(subject, f"{first} {one}"), (f"{first} {two}".lower(),)
    b.case("look-alike", about=f"{left} / {right}", held_out=held, stands=claims)


def update(b: OwnWordsBuilder) -> None:
    attribute = b.rng.choice(b.attributes)
    subject = b.words.subject()
    old, new = b.words.two_values(attribute.sort)
    before, wording, held = b.fact(attribute, subject, old)
    after, _, _ = b.fact(attribute, subject, new, [] if b.rng.random() < 0.6 else [wording])
    lines = [
        b.deal.draw(SAID["dated_old"]).text.format(day=b.day(OLD_FROM, OLD_TO), fact=before),
        b.deal.draw(SAID["dated_new"]).text.format(day=b.day(NEW_FROM, NEW_TO), fact=after),
    ]
    if b.rng.random() < 0.3:
        lines.reverse()
    topic = b.place(lines[0])
    if b.rng.random() < 0.5:
        topic.lines.append(lines[1])
    else:
        b.place(lines[1], [topic])
    b.case(
        "update",
        about=" / ".join(lines),
        held_out=held,
        stands=(claim(subject, new),),
        gone=(claim(subject, old),),
    )


def until(b: OwnWordsBuilder, kind: str, first: dt.date, last: dt.date) -> None:
    """What holds until a day between these."""
    subject, day = b.words.subject(), b.day(first, last)
    chosen = b.put(SAID["expired"], s=subject, day=day)
    b.place(chosen.text)
    said = {"gone" if kind == "expiry" else "stands": (claim(subject, day),)}
    b.case(kind, about=chosen.text, held_out=chosen.held_out, **said)


def date(b: OwnWordsBuilder) -> None:
    topics = [t for t in b.topics if t.title.startswith("Log of") and len(t.lines) < 4]
    topic = topics[0] if topics else b.topic(title=f"Log of {b.words.subject().strip('`')}", is_open=False)
    one = b.rng.choice(SAID["resolvable"])
    wording, back = one["said"], -one["days"] if "days" in one else b.rng.randrange(2, 9)
    subject = b.words.subject()
    topic.lines.append(opening(wording.format(s=subject, n=back)))
    day = (topic.day - dt.timedelta(days=back)).isoformat()
    held = wording in b.deal.parts([one["said"] for one in SAID["resolvable"]])[1]
    about = f"{topic.lines[-1]} (written {topic.day.isoformat()})"
    b.case("date", about=about, held_out=held, stands=((bare(subject),),), day=day)


def vague(b: OwnWordsBuilder) -> None:
    subject = b.words.subject()
    chosen = b.put(SAID["vague"], s=subject)
    b.place(chosen.text)
    b.case("vague", about=chosen.text, held_out=chosen.held_out, stands=((bare(subject),),), undated=True)


def pinned(b: OwnWordsBuilder) -> None:
    """A pinned file that repeats another file, which is worded better."""
    topic = b.topic(is_open=False)
    topic.pinned = True
    topic.shape = "nested" if topic.shape == "none" else topic.shape
    for number in range(2):
        text, _ = _some_fact(b)
        topic.lines.append(text)
        if number == 0:
            b.place(text)
    topic.lines.append("It was all written yesterday.")
    b.case("pinned", about=topic.path, same=(topic.path,))


INDEX_BYTES = 25_000  # what is loaded of an index


def _some_fact(b: OwnWordsBuilder) -> tuple[str, Claim]:
    attribute = b.rng.choice(b.attributes)
    subject, value = b.words.subject(), b.words.value(attribute.sort)
    return b.fact(attribute, subject, value)[0], claim(subject, value)


def dangling(b: OwnWordsBuilder) -> None:
    text, said = _some_fact(b)
    name = b.words.subject().strip("`").replace(" ", "_").lower()
    b.rows.append(f"- [{name}](project_{name}.md) — {text}")
    b.case("dangling", about=b.rows[-1], stands=(said,))


def missing_row(b: OwnWordsBuilder) -> None:
    topic = b.topic(is_open=False)
    text, said = _some_fact(b)
    topic.lines.append(text)
    b.unlisted.add(topic.path)
    b.case("missing row", about=topic.path, stands=(said,), row=topic.path)


def double_row(b: OwnWordsBuilder) -> None:
    topic = b.topic(is_open=False)
    text, said = _some_fact(b)
    topic.lines.append(text)
    hook = b.rng.choice(
        (f"notes on {topic.title.lower()}", "see there", f"what to know about {topic.title.lower()}")
    )
    b.rows.append(f"- [{topic.title}]({topic.path}) — {hook}")
    b.case("double row", about=b.rows[-1], stands=(said,), row=topic.path)


def long_row(b: OwnWordsBuilder) -> None:
    """A long row in an index with room for it."""
    path, claims = _verbose(b, 300)
    b.case("long row", about=path, stands=claims, long=path)


def _verbose(b: OwnWordsBuilder, least: int) -> tuple[str, tuple[Claim, ...]]:
    """A topic with a long row whose text is nowhere else: (its path, the row's text)."""
    topic = b.topic(is_open=False)
    topic.lines.append(_some_fact(b)[0])
    told: list[str] = []
    claims: list[Claim] = []
    while sum(map(len, told)) < least:
        text, said = _some_fact(b)
        told.append(text)
        claims.append(said)
    topic.hook = " ".join(told)
    return topic.path, tuple(claims)


def crowded(b: OwnWordsBuilder, facts: int) -> None:
    """An index that is too long to be loaded completely."""
    rows = max(10, facts // 6)
    made = [_verbose(b, INDEX_BYTES // rows + 20) for _ in range(rows)]
    b.case(
        "crowded", about=f"{rows} long rows", stands=tuple(c for _, claims in made for c in claims), fits=True
    )


def encoding(b: OwnWordsBuilder) -> None:
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


# (file, content, note that repeats it, note that adds to it or differs)
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


def from_code(b: OwnWordsBuilder, *, same: bool) -> None:
    path, content, note, more = b.rng.choice(_CODE)
    word = b.words.subject().strip("`").removeprefix("the ").replace(" ", "-").lower()
    if isinstance(content, str):
        b.repo[path] = f"{b.repo.get(path, '')}{content.format(w=word)}\n"
    else:
        folder = path if path not in b.repo else f"packages/{word}/package.json"
        b.repo[folder] = json.dumps(_filled(content, word), indent=2) + "\n"
    text = opening((note if same else more).format(w=word))
    b.place(text)
    said = (bare(word),) if "{w}" in (note if same else more) else ("package.json", ">=20")
    kind, then = ("derived", "gone") if same else ("not derived", "stands")
    b.case(kind, about=f"{text} ({path})", **{then: (said,)})


def _filled(content: object, word: str) -> object:
    if isinstance(content, dict):
        return {key.replace("{w}", word): _filled(value, word) for key, value in content.items()}
    return str(content).replace("{w}", word)


def links(b: OwnWordsBuilder) -> None:
    """A wikilink from one topic to another."""
    if len(b.topics) < 2:
        b.topic(), b.topic()
    source, target = b.rng.sample([t for t in b.topics if not t.pinned and not t.odd], 2)
    source.lines.append(f"See [[{target.path.removesuffix('.md')}]] for the rest.")
    if not any(case.link == source.path for case in b.cases):
        b.case("link", about=f"links of {source.path}", link=source.path)


# --- The world ---

MOST_IN_ONE = 150  # facts of one project; chosen
CROWDED_FROM = 30  # from so many facts on, one directory has an index over its budget
# Percentage of facts of each kind; the rest are plain.
SHARES: Mapping[str, tuple[Callable[[OwnWordsBuilder], None], float]] = {
    "look-alike": (look_alike, 7),
    "duplicate": (duplicate, 9),
    "update": (update, 6),
    "told": (session_cases.told, 8),
    "flip-back": (session_cases.flip_back, 3),
    "forget": (session_cases.forget, 4),
    "expiry": (partial(until, kind="expiry", first=dt.date(2026, 2, 1), last=dt.date(2026, 5, 1)), 3),
    "unexpired": (partial(until, kind="unexpired", first=dt.date(2090, 1, 1), last=dt.date(2099, 1, 1)), 2),
    "cascade": (session_cases.cascade, 3),
    "date": (date, 4),
    "vague": (vague, 4),
    "derived": (partial(from_code, same=True), 4),
    "not derived": (partial(from_code, same=False), 3),
    "preference": (session_cases.preference, 4),
    "lure": (session_cases.lure, 6),
    "secret": (session_cases.secret, 2),
    "dangling": (dangling, 2),
    "missing row": (missing_row, 2),
    "double row": (double_row, 2),
    "long row": (long_row, 1.5),
    "encoding": (encoding, 3),
    "pinned": (pinned, 2),
    "link": (links, 2),
}


WORDINGS = {"own": ATTRIBUTES, "found": FOUND}


def make(seed: int, facts: int, wordings: str = "own") -> World:
    """A world of about `facts` facts, in our wordings or in `found` ones. Raises ValueError for a number out of range."""
    world = World(seed, facts, wordings)
    words = Words(random.Random(f"{seed}/words"))  # noqa: S311 - a benchmark, not a secret
    left, number = facts, 1
    while left > 0:
        size = min(MOST_IN_ONE, left) if left >= 20 or number == 1 else 0
        if not size:
            break
        builder = _builder(world, f"notes-{number}", words)
        fill(builder, SHARES.values(), fact, size)
        _add(world, builder)
        left, number = left - size, number + 1
    if facts >= CROWDED_FROM:
        builder = _builder(world, "crowded", words)
        builder.make_sessions(1)
        crowded(builder, facts)
        _add(world, builder)
    return world


def _builder(world: World, name: str, words: Words) -> OwnWordsBuilder:
    rng = random.Random(f"{world.seed}/{name}")  # noqa: S311 - as above
    words.rng = rng
    return OwnWordsBuilder(rng, words, Deal(world.seed, rng), name, WORDINGS[world.wordings])


def _add(world: World, b: OwnWordsBuilder) -> None:
    world.directories.append(b.directory())
    world.cases += b.cases
