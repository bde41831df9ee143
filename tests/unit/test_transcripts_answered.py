"""Which words of the agent a typed line answers: those directly above it, and none where that is not sure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from dreams.lib.agents.transcripts import answered
from tests.world.rules import said

ASKED = said(1, "So the port is 9500 now?", "assistant")
YES = said(2, "yes", "user")
Record = Mapping[str, object]


def above(folder: Path, *records: Record) -> str | None:
    """What the last record answers."""
    raw = [json.dumps(record).encode() + b"\n" for record in records]
    (folder / "s.jsonl").write_bytes(b"".join(raw))
    turn = answered(folder / "s.jsonl", sum(map(len, raw[:-1])), line=len(raw))
    assert turn is None or turn.line is not None
    return turn.parts[-1].text if turn else None


def test_the_words_directly_above_are_answered(tmp_path: Path) -> None:
    assert above(tmp_path, ASKED, YES) == "So the port is 9500 now?"


def test_remarks_of_the_program_in_between_are_passed_over(tmp_path: Path) -> None:
    remark = {"type": "system", "uuid": "r", "parentUuid": "u1", "content": "took 3 s"}
    assert above(tmp_path, ASKED, remark, YES | {"parentUuid": "r"}) == "So the port is 9500 now?"


def test_lines_without_ids_are_taken_in_the_order_of_the_file(tmp_path: Path) -> None:
    bare = [{key: record[key] for key in ("type", "message")} for record in (ASKED, YES)]
    assert above(tmp_path, *bare) == "So the port is 9500 now?"


def test_after_a_rewind_the_line_above_is_of_another_branch(tmp_path: Path) -> None:
    other = said(5, "So the port is 9600 now?", "assistant")
    assert above(tmp_path, ASKED, other, YES) == "So the port is 9500 now?"


@pytest.mark.parametrize(
    "between",
    [
        said(3, "look at the logs too", "user"),
        said(3, "[Request interrupted by user]", "user"),
        said(3, "x", "assistant")
        | {"message": {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash"}]}},
        said(3, "API Error: 529", "assistant")
        | {"message": {"role": "assistant", "model": "<synthetic>", "content": "API Error: 529"}},
    ],
    ids=["a prompt", "an interruption", "a tool", "an error"],
)
def test_anything_else_of_the_conversation_in_between_is_what_was_answered(
    tmp_path: Path, between: Record
) -> None:
    assert above(tmp_path, ASKED, {**between, "parentUuid": "u1"}, {**YES, "parentUuid": "u3"}) is None


def test_what_a_sub_agent_said_is_not_what_the_person_answers(tmp_path: Path) -> None:
    assert above(tmp_path, {**ASKED, "isSidechain": True}, YES) is None


def test_what_was_typed_while_the_agent_was_busy_answers_nothing(tmp_path: Path) -> None:
    queued = {
        "type": "attachment",
        "uuid": "u2",
        "parentUuid": "u1",
        "attachment": {"type": "queued_command", "prompt": "yes"},
    }
    assert above(tmp_path, ASKED, queued) is None


def test_a_place_that_is_no_typed_line_answers_nothing(tmp_path: Path) -> None:
    assert above(tmp_path, ASKED) is None
    assert answered(tmp_path / "s.jsonl", 7) is None
    with pytest.raises(OSError, match="gone"):
        answered(tmp_path / "gone.jsonl", 0)
