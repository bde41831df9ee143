"""What other processes read is, byte for byte, what one process reads; a process that dies loses nothing."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from dreams.lib.agents.transcripts import Cancelled, Whole, read_ahead, read_whole, whole_file
from dreams.lib.agents.transcripts.read_ahead import Ahead, children_for
from dreams.lib.agents.transcripts.reader import opened

T0 = "2026-03-01T10:00:00.123456Z"
pack = msgspec.msgpack.Encoder().encode


def user(text: str, **extra: object) -> bytes:
    record = {
        "type": "user",
        "uuid": f"u-{text[:20]}",
        "timestamp": T0,
        "message": {"role": "user", "content": text},
    }
    return json.dumps({**record, **extra}).encode() + b"\n"


def answer(message: str, output: int, **extra: object) -> bytes:
    usage = {"input_tokens": 3, "output_tokens": output, "cache_creation_input_tokens": 5}
    body = {"id": message, "role": "assistant", "model": "m", "usage": usage, "content": []}
    record = {"type": "assistant", "uuid": f"a-{message}", "timestamp": T0, "requestId": "r", "message": body}
    return json.dumps({**record, **extra}).encode() + b"\n"


EDIT = {"filePath": "/home/dev/.claude/projects/x/memory/fact.md", "originalFile": None}
SHAPES = {
    "plain": user("Hello") + answer("m1", 1) + answer("m1", 90) + answer("m1", 90) + answer("m2", 7),
    "fork": user("Hello") + answer("m1", 90) + user("No, use tabs"),
    "side": answer("m1", 200, isSidechain=True, agentId="a") + user("Do it", isSidechain=True),
    "progress": json.dumps({"type": "progress", "data": {"message": json.loads(answer("p", 9))}}).encode()
    + b"\n",
    "edit": user("x", toolUseResult=EDIT)
    + user("y", toolUseResult=["a list"])
    + user("z", toolUseResult="text"),
    "glued": user("One").strip() + user("Two") + b"{half a li" + user("Three"),
    "broken": b"\xef\xbb\xbf"
    + user("Bom")
    + b'{"type":"user","x":NaN}\n\0\0\0\n[1]\nnothing\n'
    + b"\xff\xfe\n",
    "surrogates": b'{"type":"user","uuid":"s","message":{"role":"user","content":"a \\ud83d b"},"cwd":"/x\\udc00"}\n',
    "numbers": answer("n", 5, timestamp=1_772_000_000_123)
    + answer("o", 5, timestamp=-1e300)
    + answer("q", 0),
    "years": answer("y1", 5, timestamp="0001-01-01T00:00:00Z")
    + answer("y2", 5, timestamp="9999-12-31T23:59:59Z"),
    "zones": answer("z1", 5, timestamp="2026-03-01T10:00:00+05:30") + answer("z2", 5, timestamp="2026-03-01"),
    "titles": b'{"type":"custom-title","customTitle":"T \\u00fc"}\n{"type":"summary","summary":"S"}\n',
    "half": user("Whole") + user("Half-written")[:-20],
    "open": user("Whole") + user("No newline").strip(),
    "empty": b"",
    "blank": b"\n\n   \n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in SHAPES.items():
        (tmp_path / f"{name}.jsonl").write_bytes(data)
    (tmp_path / os.fsdecode(b"not-\xff-utf8.jsonl")).write_bytes(SHAPES["plain"])
    return tmp_path


def listed(folder: Path) -> list[tuple[str, int]]:
    return [(str(path), path.stat().st_size) for path in sorted(folder.glob("*.jsonl"))]


def take_all(reading: Ahead, files: list[tuple[str, int]]) -> list[Whole | None]:
    return [reading.take(path) for path, _ in files]


def all_by_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be read in this process."""

    def refused(*_: object) -> Whole:
        raise AssertionError("read by the parent")

    monkeypatch.setattr(read_ahead, "read_whole", refused)


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not what() and time.monotonic() < until:
        time.sleep(0.01)
    assert what()


def test_a_child_process_reads_every_shape_exactly_as_one_process_does(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = listed(folder)
    alone = [read_whole(path) for path, _ in files]
    all_by_children(monkeypatch)
    with Ahead(files, children=1) as reading:
        beside = take_all(reading, files)
    assert [pack(found) for found in beside] == [pack(found) for found in alone]
    assert beside == alone
    assert sum(len(part.usage) for found in alone for part in found.parts) > 10


def test_a_file_read_at_once_is_what_reading_it_line_by_line_finds(folder: Path) -> None:
    (folder / "longer.jsonl").write_bytes(SHAPES["plain"] * 40)
    files = listed(folder)
    with Ahead(files, children=0) as reading:
        at_once = [reading.take(path) for path, _ in files]
    for found, (path, _) in zip(at_once, files, strict=True):
        with opened(path) as handle:
            by_lines = read_whole(handle)
        assert found in (None, by_lines), path
        assert read_whole(path) == by_lines, path
    assert 10 < len([found for found in at_once if found]) < len(files)


def test_both_sides_read_and_the_order_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "GROUP_FILES", 1)
    monkeypatch.setattr(read_ahead, "GROUPS_AT_ONCE", 2)
    files = listed(folder) * 1
    for children in (1, 2):
        with Ahead(files, children=children) as reading:
            assert take_all(reading, files) == [read_whole(path) for path, _ in files]


@pytest.mark.parametrize("children", [1, 2])
def test_a_killed_child_costs_nothing_but_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, children: int
) -> None:
    monkeypatch.setattr(read_ahead, "GROUP_FILES", 2)
    files = listed(folder)
    with Ahead(files, children=children) as reading:
        first = reading.take(files[0][0])
        for child in reading.children:
            child.process.kill()
            child.process.wait()
        found = [first, *(reading.take(path) for path, _ in files[1:])]
    # None says: read it yourself.
    assert [one or read_whole(path) for one, (path, _) in zip(found, files, strict=True)] == [
        read_whole(path) for path, _ in files
    ]


def test_a_child_that_answers_nonsense_is_let_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        read_ahead,
        "_CODE",
        "import sys; sys.stdout.write('\\0\\0\\0\\2xx' * 9); sys.stdout.flush(); sys.stdin.read()",
    )
    files = listed(folder)
    with Ahead(files, children=1) as reading:
        assert take_all(reading, files) == [None] * len(files)
        assert reading.children == []


def test_a_child_that_hangs_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "_CODE", "import time; time.sleep(60)")
    monkeypatch.setattr(read_ahead, "PATIENCE_SECONDS", 0.3)
    files = listed(folder)
    with Ahead(files, children=2) as reading:
        assert take_all(reading, files) == [None] * len(files)
        assert reading.children == []


def test_what_cannot_be_sent_or_kept_is_left_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_bytes(answer("huge", 2**80))
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
    (tmp_path / "c.jsonl").write_bytes(SHAPES["plain"])
    files = [*listed(tmp_path), (str(tmp_path / "gone.jsonl"), 5)]
    all_by_children(monkeypatch)
    with Ahead(files, children=1) as reading:
        assert [found is not None for found in take_all(reading, files)] == [False, False, True, False]


def test_a_file_with_more_rows_than_are_kept_at_once_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "s.jsonl").write_bytes(b"".join(answer(f"m{n}", 1) for n in range(30)))
    monkeypatch.setattr(whole_file, "MAX_ROWS", 20)
    with pytest.raises(whole_file.TooMuch):
        read_whole(path)


def test_waiting_can_be_stopped_and_leaves_no_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "_CODE", "import sys, time; time.sleep(60)")
    files = listed(folder)

    def stop() -> None:
        raise Cancelled

    reading = Ahead(files, children=1, tick=stop)
    with pytest.raises(Cancelled), reading:
        take_all(reading, files)
    assert all(child.process.returncode is not None for child in reading.children)
    assert "transcripts" not in [thread.name for thread in threading.enumerate()]


def test_a_child_ends_with_its_parents_pipe_and_knows_no_secret(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setenv("MEMORYWEB_" + "SECRET_KEY", "not for children")
    with Ahead(listed(folder), children=1) as reading:
        [child] = reading.children
        environment = Path(f"/proc/{child.process.pid}/environ")
        if environment.exists():
            wait_for(lambda: b"PATH" in environment.read_bytes())
            assert b"not for children" not in environment.read_bytes()
        assert child.process.stdin is not None
        child.process.stdin.close()
        assert child.process.wait(20) == 0


def test_little_work_or_one_core_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "cores", lambda: 2)
    assert children_for([1_000] * 100) == 0
    assert children_for([read_ahead.MIN_BYTES]) == 1
    assert children_for([10] * 20_000) == 1
    monkeypatch.setattr(read_ahead, "cores", lambda: 16)
    assert children_for([read_ahead.MIN_BYTES]) == read_ahead.MAX_CHILDREN
    monkeypatch.setattr(read_ahead, "cores", lambda: 1)
    assert children_for([read_ahead.MIN_BYTES]) == 0
