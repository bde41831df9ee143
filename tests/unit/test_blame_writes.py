"""What an agent's own write added to a memory, out of the record that its transcript keeps of it."""

from __future__ import annotations

import json
from pathlib import Path

from dreams.lib.line_origins import added_at, added_by
from tests.world.cases import each

FILE = {"/m/a.md"}


def _added(**result: object) -> frozenset[str] | None:
    return added_by(_record(**result), FILE)


def _record(**result: object) -> bytes:
    return json.dumps({"type": "user", "toolUseResult": {"filePath": "/m/a.md", **result}}).encode()


def test_a_patch_says_which_lines_were_added() -> None:
    patch = [{"oldStart": 1, "lines": [" # Deploy", "-Host alpha.", "+Host beta.", "+"]}]
    record = _record(structuredPatch=patch, content="# Deploy\nHost beta.\n", originalFile="# Deploy\n")
    assert added_by(record, FILE) == {"Host beta."}


def test_a_whole_text_adds_what_the_text_before_did_not_have() -> None:
    assert _added(content="One\n  Two\n", originalFile="One\n") == {"Two"}
    assert _added(content="One\nTwo\n", originalFile=None) == {"One", "Two"}


def test_an_edit_adds_its_new_words_alone() -> None:
    assert _added(oldString="One\nTwo", newString="One\nThree", originalFile="One\nTwo\n") == {"Three"}
    many = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "c\nd"}]
    assert _added(edits=many) == {"b", "d"}


@each(
    "record",
    [
        b"",
        b"not json",
        b'{"toolUseResult": "said no"}',
        b'{"toolUseResult": {"structuredPatch": [3, {"lines": "x"}, {"lines": [4]}], "content": 7}}',
        b"[1, 2]",
        b'{"toolUseResult": {"filePath": ["/m/a.md"], "content": "x"}}',
    ],
)
def test_what_is_odd_adds_nothing(record: bytes) -> None:
    assert not added_by(record, FILE)


def test_a_record_is_read_at_its_offset_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first, second = _record(content="One\n"), _record(content="Two\n")
    path.write_bytes(first + b"\n" + second + b"\n" + _record(content="Three\n"))
    assert added_at(path, len(first) + 1, FILE) == {"Two"}
    assert added_at(path, len(first) + 1, FILE, limit=10) is None
    assert added_at(path, path.stat().st_size, FILE) is None


def test_a_write_to_another_file_is_none_of_this_one() -> None:
    assert added_by(_record(content="One\n"), {"/m/b.md"}) is None
    assert added_by(_record(content="One\n", originalFile="One\n"), FILE) == frozenset()
