"""What the reader makes of every odd shape of a transcript, and where it goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dreams.lib.agents.transcripts import Cancelled, Cursor, Reader
from tests.world.cases import each
from tests.world.strategies import tries


def record(number: int, **extra: object) -> bytes:
    return json.dumps({"type": "user", "uuid": f"u{number}", **extra}).encode()


def read(
    path: Path, cursor: Cursor | None = None, reader: Reader | None = None
) -> tuple[list[str | None], Reader]:
    reader = reader or Reader()
    return [line.uuid for line, _, _ in reader.read(path, cursor)], reader


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(data)
    return path


def test_every_record_comes_with_its_offset_and_line(tmp_path: Path) -> None:
    first, second = record(1), record(2)
    path = written(tmp_path, first + b"\n\n" + second + b"\n")
    places = [(line.uuid, at, number) for line, at, number in Reader().read(path)]
    assert places == [("u1", 0, 1), ("u2", len(first) + 2, 3)]


def test_a_half_written_last_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    whole, later = record(1) + b"\n", record(2)
    path = written(tmp_path, whole + later[:10])
    uuids, reader = read(path)
    assert (uuids, reader.cursor) == (["u1"], Cursor(len(whole), 1))
    path.write_bytes(whole + later + b"\n")
    again, reader = read(path, reader.cursor)
    assert (again, reader.malformed) == (["u2"], 0)


def test_a_last_line_without_its_newline_is_read_when_whole_and_only_once(tmp_path: Path) -> None:
    path = written(tmp_path, record(1))
    uuids, reader = read(path)
    assert uuids == ["u1"]
    with path.open("ab") as file:
        file.write(b"\n" + record(2) + b"\n")
    places = [(line.uuid, number) for line, _, number in reader.read(path, reader.cursor)]
    assert places == [("u2", 2)]


def test_two_objects_glued_on_one_line_are_both_read(tmp_path: Path) -> None:
    path = written(tmp_path, record(1) + record(2) + b"\n" + record(3) + b"\n")
    places = [(line.uuid, at, number) for line, at, number in Reader().read(path)]
    size = len(record(1))
    assert places == [("u1", 0, 1), ("u2", size, 1), ("u3", 2 * size + 1, 2)]


def test_a_record_after_a_half_written_one_on_the_same_line_is_saved(tmp_path: Path) -> None:
    half = record(1, message={"content": [{"type": "text", "text": "x"}]})[:-20]
    path = written(tmp_path, half + record(2) + b"\n")
    uuids, reader = read(path)
    assert (uuids, reader.malformed) == (["u2"], 1)


def test_a_nested_object_of_a_broken_line_is_never_taken_for_a_record(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"type":"user" "message":{"type":"assistant","uuid":"inner"}}\n')
    uuids, reader = read(path)
    assert (uuids, reader.malformed) == ([], 1)


@each(
    ("junk", "word"),
    [
        (b"hello", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"\0" * 9, "NUL"),
        (b"\xff\xfe", "not JSON"),
        (b'{"a":' * 100_000, "deeply"),
        # Read as JSON, but too deep to be looked through.
        (b'{"a":"\\ud800","b":' + b"[" * 700 + b"]" * 700 + b"}", "deeply"),
    ],
)
def test_a_garbage_line_is_counted_and_skipped_with_its_place(tmp_path: Path, junk: bytes, word: str) -> None:
    path = written(tmp_path, record(1) + b"\n" + junk + b"\n" + record(2) + b"\n")
    uuids, reader = read(path)
    assert uuids == ["u1", "u2"]
    [problem] = reader.problems
    assert (problem.offset, problem.line, reader.malformed) == (len(record(1)) + 1, 2, 1)
    assert word in problem.reason


@each(
    "line",
    [
        b"\xef\xbb\xbf" + record(1),
        record(1) + b"\r",
        b"\0\0\0" + record(1),
        b'{"type":"user","uuid":"u1","cost":NaN}',
        b'{"type":"user","uuid":"u1","message":{"content":"\\ud83d"}}',
        b'{"type":"user","uuid":"u1","cwd":"/caf\xe9"}',
        b'{"type":"user","uuid":"u1","isMeta":"yes","timestamp":{}}',
        b'{"type":"user","uuid":"u1","message":{"usage":{"input_tokens":"many"}}}',
        b'{"type":"user","uuid":"u1","text":"a\tb"}',
    ],
)
def test_an_odd_line_is_still_a_record(tmp_path: Path, line: bytes) -> None:
    uuids, reader = read(written(tmp_path, line + b"\n" + record(2) + b"\n"))
    assert (uuids, reader.malformed) == (["u1", "u2"], 0)


def test_a_lone_surrogate_becomes_a_character_that_can_be_stored(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"type":"user","cwd":"/a\\ud800b","gitBranch":"\\ud83d\\ude00"}\n')
    [(line, _, _)] = Reader().read(path)
    assert (line.cwd, line.git_branch) == ("/a\ufffdb", "😀")
    path = written(tmp_path, b'{"type":"user","cwd":"/a\\udc00b"}\n')
    [(line, _, _)] = Reader().read(path)
    assert line.cwd == "/a\ufffdb"


def test_a_line_over_the_cap_is_skipped_with_a_note_and_the_next_one_read(tmp_path: Path) -> None:
    long = record(2, text="x" * 5000)
    path = written(tmp_path, record(1) + b"\n" + long + b"\n" + record(3) + b"\n")
    uuids, reader = read(path, reader=Reader(buffer_bytes=64, max_line_bytes=1024))
    assert uuids == ["u1", "u3"]
    assert [(p.line, "longer than 1024" in p.reason) for p in reader.problems] == [(2, True)]


def test_a_line_over_the_cap_that_is_still_being_written_is_not_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, b"x" * 5000)
    small = Reader(buffer_bytes=64, max_line_bytes=1024)
    _, reader = read(path, reader=small)
    assert reader.cursor == Cursor(5000, 0, skipping=True)
    with path.open("ab") as file:
        file.write(b"xx\n" + record(1) + b"\n")
    places = [(line.uuid, number) for line, _, number in reader.read(path, reader.cursor)]
    assert (places, reader.malformed) == ([("u1", 2)], 0)


def test_what_is_appended_during_the_reading_waits_for_the_next_one(tmp_path: Path) -> None:
    path = written(tmp_path, record(1) + b"\n")
    reader = Reader()
    seen = []
    for line, _, _ in reader.read(path):
        seen.append(line.uuid)
        with path.open("ab") as file:
            file.write(record(2) + b"\n")
    assert seen == ["u1"]
    assert read(path, reader.cursor)[0] == ["u2"]


def test_a_progress_callback_is_told_the_bytes_and_can_stop(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(record(n) + b"\n" for n in range(100)))
    told: list[int] = []
    reader = Reader(buffer_bytes=256)
    list(reader.read(path, progress=told.append))
    assert sum(told) == path.stat().st_size
    stopped: list[str | None] = []
    with pytest.raises(Cancelled):
        stopped.extend(
            line.uuid for line, _, _ in reader.read(path, progress=lambda _: len(stopped) < 3 and False)
        )
    assert reader.cursor == Cursor()


def test_neither_a_link_nor_a_fifo_is_read(tmp_path: Path) -> None:
    real = written(tmp_path, record(1) + b"\n")
    (tmp_path / "link.jsonl").symlink_to(real)
    os.mkfifo(tmp_path / "pipe.jsonl")
    for name in ("link.jsonl", "pipe.jsonl"):
        with pytest.raises(OSError, match=name):
            list(Reader().read(tmp_path / name))


PIECES = st.sampled_from(
    [
        record(1),
        record(2, text="ü" * 40),
        record(3) + record(4),
        b"junk",
        b"",
        b"\0\0",
        b"\xef\xbb\xbf" + record(5),
    ]
)


@tries(20, 60)
@given(
    pieces=st.lists(PIECES, max_size=8),
    cut=st.integers(0, 600),
    buffer=st.integers(16, 200),
    newline=st.booleans(),
)
def test_a_file_read_in_two_goes_gives_what_one_go_gives(
    tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], cut: int, buffer: int, newline: bool
) -> None:
    data = b"\n".join(pieces) + (b"\n" if newline else b"")
    path = tmp_path_factory.mktemp("split") / "s.jsonl"
    path.write_bytes(data)
    once = [(line.uuid, at, number) for line, at, number in Reader().read(path)]
    path.write_bytes(data[:cut])
    reader = Reader(buffer_bytes=buffer)
    twice = [(line.uuid, at, number) for line, at, number in reader.read(path)]
    path.write_bytes(data)
    twice += [(line.uuid, at, number) for line, at, number in reader.read(path, reader.cursor)]
    assert twice == once
