"""Full records by offset for the session page and for evidence; whether a file changed at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dreams.lib.agents.transcripts import FileGrowth, FileMark, change, find_quote, line_at, page, same_stat
from dreams.lib.agents.transcripts.reader import samples


def text_line(number: int, text: str | None = None) -> dict[str, object]:
    content = text or f"text {number}"
    return {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": content}}


def write(path: Path, *records: object) -> Path:
    path.write_bytes(b"".join(json.dumps(r).encode() + b"\n" for r in records))
    return path


@pytest.fixture
def ten(tmp_path: Path) -> Path:
    return write(tmp_path / "s.jsonl", *(text_line(n) for n in range(10)))


def test_pages_forward_meet_every_record_once_with_its_line(ten: Path) -> None:
    seen, at, line = [], 0, 1
    while True:
        found = page(ten, at, 3, line=line)
        seen += [(turn.uuid, turn.line) for turn in found.turns]
        if found.after is None or found.line_after is None:
            break
        at, line = found.after, found.line_after
    assert seen == [(f"u{n}", n + 1) for n in range(10)]


def test_pages_backward_come_in_file_order_and_meet_every_record_once(ten: Path) -> None:
    seen: list[tuple[str, int | None]] = []
    at: int | None = ten.stat().st_size
    while at is not None:
        found = page(ten, at, 4, backward=True)
        seen = [(turn.uuid, turn.line) for turn in found.turns] + seen
        at = found.before
    assert seen == [(f"u{n}", n + 1) for n in range(10)]


def test_a_known_line_number_goes_with_a_page_in_both_directions(ten: Path) -> None:
    middle = page(ten, 0, 5).after
    assert middle is not None
    assert [t.line for t in page(ten, middle, 2, line=6).turns] == [6, 7]
    assert [t.line for t in page(ten, middle, 2, line=6, backward=True).turns] == [4, 5]


def test_an_offset_inside_a_line_means_that_line(ten: Path) -> None:
    start = page(ten, 0, 3).after
    assert start is not None
    for inside in (start, start + 1, start + 40):
        turn = line_at(ten, inside)
        assert turn is not None
        assert (turn.uuid, turn.offset, turn.line) == ("u3", start, 4)
    assert line_at(ten, 10**9) is None


def test_a_page_is_bounded_in_bytes_but_always_shows_one_line(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", text_line(1, "x" * 9_000_000), text_line(2))
    found = page(path, 0, 10)
    assert [turn.uuid for turn in found.turns] == ["u1"]
    assert (len(found.turns[0].text), found.turns[0].parts[0].cut) == (100_000, True)
    assert found.after is not None


def test_skipped_types_do_not_fill_a_page(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", *([{"type": "progress"}] * 5), text_line(1), text_line(2))
    found = page(path, 0, 1, skip_types=frozenset({"progress"}))
    assert [(turn.uuid, turn.line) for turn in found.turns] == [("u1", 6)]


def test_every_kind_of_block_is_shown(tmp_path: Path) -> None:
    blocks = [
        {"type": "text", "text": "hello"},
        {"type": "thinking", "thinking": "hm", "signature": "…"},
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}},
        {
            "type": "tool_result",
            "tool_use_id": "t1",
            "content": [{"type": "text", "text": "out"}],
            "is_error": True,
        },
        {"type": "image", "source": {"data": "aaaa"}},
        {"type": "new_thing", "x": 1},
        "bare",
    ]
    message = {"role": "assistant", "model": "m", "content": blocks}
    path = write(tmp_path / "s.jsonl", {"type": "assistant", "message": message, "toolUseResult": ["x"]})
    [turn] = page(path).turns
    shown = [(part.kind, part.text, part.name, part.tool_id, part.is_error) for part in turn.parts]
    assert shown == [
        ("text", "hello", "", "", False),
        ("thinking", "hm", "", "", False),
        ("tool_use", '{"file_path": "/a"}', "Read", "t1", False),
        ("tool_result", "out", "", "t1", True),
        ("image", "", "", "", False),
        ("other", '{"type": "new_thing", "x": 1}', "new_thing", "", False),
        ("text", "bare", "", "", False),
    ]


def test_unknown_types_glued_records_and_garbage_survive_on_a_page(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"brand-new","data":{"a":1}}{"type":"summary","summary":"sum"}\nrubbish\n')
    turns = page(path).turns
    assert [(t.type, t.text, t.line) for t in turns] == [
        ("brand-new", '{"a": 1}', 1),
        ("summary", "sum", 1),
        ("", "", 2),
    ]
    assert "not JSON" in turns[2].problem


def test_a_quote_is_found_across_white_space_and_escapes(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", text_line(1), text_line(2, 'say "go\n  Überall" twice'), text_line(3))
    [found] = find_quote(path, '"go Überall"')
    assert (found.turn.uuid, found.turn.line, found.part) == ("u2", 2, 0)
    assert find_quote(path, "go überall") == []
    assert [m.turn.uuid for m in find_quote(path, "Ü")] == ["u2"]


def marked(path: Path) -> FileMark:
    st = path.stat()
    with path.open("rb") as file:
        head, tail = samples(file.fileno(), st.st_size)
    return FileMark(st.st_dev, st.st_ino, st.st_size, st.st_mtime_ns, st.st_size, head.hex(), tail.hex())


def test_an_untouched_file_is_unchanged_by_its_numbers_alone(ten: Path) -> None:
    known, st = marked(ten), ten.stat()
    assert same_stat(known, st.st_ino, st.st_size, st.st_mtime_ns)
    assert change(known, ten) is FileGrowth.UNCHANGED


def test_a_touched_file_with_the_same_bytes_is_unchanged(ten: Path) -> None:
    known = marked(ten)
    os.utime(ten, (1, 1))
    assert change(known, ten) is FileGrowth.UNCHANGED


def test_a_grown_file_is_appended(ten: Path) -> None:
    known = marked(ten)
    with ten.open("ab") as file:
        file.write(b"{}\n")
    assert change(known, ten) is FileGrowth.APPENDED


def test_a_shrunken_or_rewritten_or_replaced_file_is_read_anew(ten: Path, tmp_path: Path) -> None:
    data, known = ten.read_bytes(), marked(ten)
    ten.write_bytes(data[:-20])
    assert change(known, ten) is FileGrowth.REPLACED
    ten.write_bytes(data[:-20] + b"another end of this file than before\n")
    assert change(known, ten) is FileGrowth.REPLACED
    ten.write_bytes(b"[" + data[1:] + b"{}\n")
    assert change(known, ten) is FileGrowth.REPLACED
    other = tmp_path / "other"
    other.write_bytes(data + b"{}\n")
    other.replace(ten)
    assert change(known, ten) is FileGrowth.REPLACED
