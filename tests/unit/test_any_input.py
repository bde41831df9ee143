"""Whatever a file, a model or a person holds: each reader ends in time, raises nothing unexpected and loses nothing.

The suite looks at short texts. `make test-more` grows them to 100 KB, where what is not linear shows, and allows a second of
the processor's time for each; HYPOTHESIS_PROFILE=explore draws others each time.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dreams.engines.anthropic.stream import BrokenStream, Collector
from dreams.findings import examine
from dreams.findings.directories import between
from dreams.lib import diff, memdir
from dreams.lib.agents.transcripts import Reader, page
from dreams.lib.diff.index_merge import merge_index
from dreams.lib.diff.lines import ended_lines
from dreams.lib.diff.merge import merge3
from dreams.lib.files.text import decode, encode
from dreams.lib.memdir.files_by_word import words_in
from dreams.lib.sandbox.process import Refused
from dreams.lib.sandbox.tokenizer import LONGEST_LINE, parse
from dreams.lib.secrets import redact
from dreams.web.render import markdown
from tests.world.cases import each

SECONDS = 1.0
SHORT, LONG = 2_000, 100_000
PIECES = [
    *(
        "a",
        "é",
        "日本",
        "\u202e",
        "\0",
        "\x1b[2J",
        "\udc80",
        "\ufeff",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "\u2028",
    ),
    *(
        "---\n",
        "name: x\n",
        "type: user\n",
        "metadata:\n  type: x\n",
        "a: {b: [",
        "&a ",
        "*a ",
        "? ",
        "- ",
        "'",
    ),
    *(
        "- [T](f.md) — x\n",
        "- [T](",
        "[[",
        "]]",
        "[a]",
        "](",
        "(",
        ")",
        "![",
        "<!--",
        "-->",
        "<a ",
        "&amp;",
        "&#",
    ),
    *(
        "# ",
        "#",
        "> ",
        "```\n",
        "~~~",
        "`",
        "``",
        "**",
        "*",
        "__",
        "_",
        "~~",
        "| ",
        "|-|\n",
        "\n\n",
        "    ",
        "1. ",
    ),
    *(
        "'",
        '"',
        "\\",
        "$",
        "$(",
        "{",
        "}",
        "|",
        "&&",
        ";",
        "2>&1",
        "2>/dev/null",
        "*.md",
        "[!a]",
        "!",
        "<",
        ">",
    ),
    *(
        '{"type":"user"',
        '"uuid":"u"',
        '"message":{',
        '"content":[',
        "}\n",
        "]}\n",
        "null",
        "1e999",
        '"\\ud800"',
    ),
    *(
        "password: ",
        "token=",
        "gh" + "p_" + "x7Kq2Z",
        "-----BEGIN ",
        "://u:",
        "@",
        "=",
        ":",
        "x" * 40,
        "0" * 30,
    ),
]
units = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
odd = st.one_of(units, st.text(st.characters(codec=None), max_size=20))


@st.composite
def grown(draw: st.DrawFn, size: int) -> str:
    """One unit again and again, between others: what makes a reader slow is most often a repetition."""
    head, unit, tail = draw(odd), draw(units), draw(odd)
    many = draw(st.integers(0, size // len(unit)))
    return f"{head}{unit * many}{tail}{unit if draw(st.booleans()) else ''}"


def _frontmatter(text: str, _: str) -> None:
    data = encode(f"---\n{text}\n---\nbody\n")
    document = memdir.parse(data)
    assert document.to_bytes() == data
    assert document.frontmatter is None or isinstance(document.frontmatter.name, str | None)


def _memory(text: str, _: str) -> None:
    document = memdir.parse(encode(text))
    assert document.to_bytes() == encode(text)
    list(memdir.sections(document.text)), list(memdir.markdown_links(text)), list(memdir.wikilinks(text))


def _index(text: str, _: str) -> None:
    assert memdir.parse_index(text).text == text


def _tokenizer(text: str, _: str) -> None:
    with contextlib.suppress(Refused):
        parse(text[:LONGEST_LINE])


def _diff(text: str, other: str) -> None:
    found = diff.hunks(text, other)
    assert diff.apply_hunks(text, found, {hunk.id: True for hunk in found}) == other
    assert diff.apply_hunks(text, found, {}) == text


def _merge(text: str, other: str) -> None:
    assert merge3(text, text, other).text == other and merge3(text, other, text).text == other
    merged = merge3("", text, other)
    for name, given_text in (("ours", text), ("theirs", other)):
        lines = [line for chunk in merged.chunks for line in getattr(chunk, name).lines]
        assert lines == ended_lines(diff.split_lines(given_text))


def _merge_index(text: str, other: str) -> None:
    assert merge_index(text, text, other).text == other


def _importer(text: str, other: str) -> None:
    """Lines of a transcript; a whole record between them is always found."""
    record = json.dumps(
        {"type": "user", "uuid": "found", "message": {"role": "user", "content": "x"}}
    ).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        path.write_bytes(encode(text) + b"\n" + record + b"\n" + encode(other) + b"\n")
        reader = Reader()
        assert any(line.uuid == "found" for line, _, _ in reader.read(path))
        with path.open("rb") as file:
            page(file.fileno(), 0, 50)


def _secrets(text: str, _: str) -> None:
    bare, counts = redact.redact_counted(text)
    assert counts or bare == text


def _checks(text: str, other: str) -> None:
    found = examine(between({"a.md": encode(other)}, {"a.md": encode(text)}))
    assert not [each for each in found.findings if each.code == "check-failed"]


def _stream(text: str, other: str) -> None:
    """A model's reply in events whose parts are anything."""
    collector = Collector()
    try:
        for event in _events(text, other):
            collector.take(event)
        collector.reply()
    except BrokenStream:
        pass


def _markdown(text: str, _: str) -> None:
    """In a process that is ended after a second of work; what it gives is always shown."""
    html = markdown(text)
    assert "<script" not in html and "<img" not in html


class _Event:
    def __init__(self, data: dict[str, object]) -> None:
        self.type, self.data = data["type"], data

    def model_dump(self, *, warnings: bool = True) -> dict[str, object]:
        return self.data


def _events(text: str, other: str) -> list[_Event]:
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t", "name": other[:50], "input": {}},
    }
    parts = [text[at : at + 500] for at in range(0, len(text), 500)]
    deltas = [
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": part},
        }
        for part in parts
    ]
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": [], "usage": usage}
    ends = [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": usage},
        {"type": "message_stop"},
    ]
    return [_Event(one) for one in [{"type": "message_start", "message": message}, start, *deltas, *ends]]


READERS: dict[str, Callable[[str, str], None]] = {
    "frontmatter": _frontmatter,
    "memory": _memory,
    "index": _index,
    "tokenizer": _tokenizer,
    "diff": _diff,
    "merge": _merge,
    "merge-index": _merge_index,
    "importer": _importer,
    "secrets": _secrets,
    "checks": _checks,
    "stream": _stream,
    "markdown": _markdown,
}
CASES = int(os.environ.get("FUZZ_CASES", "40"))
quietly = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.large_base_example,
    HealthCheck.filter_too_much,
]


@pytest.mark.more
@each("name", READERS)
def test_a_short_text_of_anything_is_read_and_kept(name: str) -> None:
    @given(grown(SHORT), grown(SHORT))
    @settings(max_examples=12, deadline=None, suppress_health_check=quietly)
    def read(text: str, other: str) -> None:
        READERS[name](storable(text), storable(other))

    read()


@pytest.mark.sweep
@each("name", READERS)
def test_a_long_text_of_anything_takes_no_second(name: str) -> None:
    @given(grown(LONG), grown(SHORT))
    @settings(max_examples=CASES, deadline=None, suppress_health_check=quietly, database=None)
    def read(text: str, other: str) -> None:
        text, other = storable(text), storable(other)
        begun = time.process_time()
        READERS[name](text, other)
        spent = time.process_time() - begun
        assert spent < SECONDS * max(1.0, len(text) / LONG), (spent, text[:60], len(text))

    read()


def _read_index(text: str) -> None:
    found = memdir.parse_index(text)
    assert found.without(found.rows).rows == ()


def _words_of(text: str) -> None:
    assert "".join(diff.tokens(text)) == text


def _described(text: str) -> None:
    document = memdir.parse(encode(text))
    with contextlib.suppress(memdir.MemoryEditError):
        assert memdir.with_description(document, "new").frontmatter is not None


def _items(text: str) -> None:
    assert "".join(item.text for item in memdir.sections(text)) == text


def _units(text: str) -> None:
    assert diff.apply_hunks("", diff.hunks("", text, granularity="rows"), {}) == ""


SLOW_ONCE: dict[str, tuple[Callable[[str], object], str]] = {
    "spaces in a heading of an index": (_read_index, "# a" + " " * 2_000 + "b\n"),
    "marks in a heading": (_items, "# a" + "#" * 20_000 + "b\n"),
    "comments that nobody closes": (_items, "<!--\n" * 15_000),
    "sentences without letters": (lambda text: list(memdir.sentence_spans(text)), "。" * 20_000),
    "brackets that are escaped": (memdir.markdown_links, "[\\" * 15_000 + "](x)"),
    "numbers in a name": (_described, "---\nname: a" + " #b" * 8_000 + " # x\n---\n"),
    "spaces in a description": (_described, "---\ndescription: a" + " " * 20_000 + "b\n---\n"),
    "empty lines after a fence": (lambda text: words_in(encode(text)), "---\n" + "\n" * 30_000),
    "many rows removed at once": (_read_index, "".join(f"- [T](f{n}.md) — x\n" for n in range(6_000))),
    "lines below a long item": (_units, "- " + "x" * 60_000 + "\n" + " x\n" * 40_000),
    "combining marks after a long word": (_words_of, "a" * 60_000 + "\u0301a" * 20_000),
}


@each("name", SLOW_ONCE)
def test_a_text_that_once_took_seconds_takes_no_second(name: str) -> None:
    read, text = SLOW_ONCE[name]
    begun = time.process_time()
    read(text)
    assert time.process_time() - begun < SECONDS


def test_a_target_after_an_odd_space_and_an_angle_that_nobody_closes_is_no_link() -> None:
    assert memdir.markdown_links("[x](\u00a0<abc) [y](y.md)")[0].path == "y.md"


def storable(text: str) -> str:
    """As it comes from bytes: lone surrogates only where a byte was no UTF-8."""
    return decode(text.encode("utf-8", "surrogatepass"))
