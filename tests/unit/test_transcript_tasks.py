"""The tasks that an agent set itself in a transcript: what is left of them, in every form that agents write."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from dreams.lib.agents.transcripts import Scan, Summary, read_whole, scan
from dreams.lib.agents.transcripts.tasks import MOST_TASKS, Task
from dreams.lib.agents.transcripts.typed_prompts import TITLE_CAP
from tests.world.cases import each

Record = dict[str, object]


def called(name: str, given: object, call: str = "c1", **fields: object) -> Record:
    block = {"type": "tool_use", "id": call, "name": name, "input": given}
    body = {
        "id": "m",
        "role": "assistant",
        "model": "x",
        "content": [{"type": "text", "text": "Now."}, block],
    }
    return {"type": "assistant", "timestamp": "2026-03-02T10:00:00.000Z", "message": body, **fields}


def result(call: str, told: object = None, text: object = "ok", **more: object) -> Record:
    block = {"type": "tool_result", "tool_use_id": call, "content": text, **more}
    record: Record = {"type": "user", "message": {"role": "user", "content": [block]}}
    return {**record, "toolUseResult": {"task": {"id": told}}} if told is not None else record


def todo(content: object, status: object = "pending") -> Record:
    return {"content": content, "status": status, "activeForm": "Doing it"}


def todos(*items: object, **fields: object) -> Record:
    return called("TodoWrite", {"todos": list(items)}, **fields)


def created(name: str, subject: str) -> list[Record]:
    call = f"call-{name}"
    return [called("TaskCreate", {"subject": subject, "description": "…"}, call), result(call, name)]


def update(name: object, **given: object) -> Record:
    return called("TaskUpdate", {"taskId": name, **given})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def left(path: Path, *records: Record) -> list[Task]:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    tasks = _read(path, Scan()).tasks
    return tasks.unfinished() if tasks else []


def _read(path: Path, state: Scan) -> Summary:
    list(scan(path, state))
    return state.summary


def subjects(path: Path, *records: Record) -> list[str]:
    return [task.subject for task in left(path, *records)]


def test_the_last_list_replaces_the_former(path: Path) -> None:
    first = todos(todo("Read it", "in_progress"), todo("Mend it"), todo("Forget it"))
    found = left(path, first, todos(todo("Read it", "completed"), todo("Mend it", "in_progress")))
    assert [(task.subject, task.status, task.line) for task in found] == [("Mend it", "in_progress", 2)]


def test_an_emptied_list_leaves_nothing(path: Path) -> None:
    assert subjects(path, todos(todo("Read it")), todos()) == []


def test_tasks_are_created_updated_finished_and_deleted_by_their_id(path: Path) -> None:
    records = [
        *created("1", "Read it"),
        *created("2", "Mend it"),
        *created("3", "Ship it"),
        *created("4", "No"),
    ]
    updates = [
        update("1", status="completed"),
        update(2, status="in_progress"),
        update("4", status="deleted"),
    ]
    found = left(path, *records, *updates)
    assert [(task.subject, task.status, task.line) for task in found] == [
        ("Mend it", "in_progress", 10),
        ("Ship it", "pending", 5),
    ]


def test_a_task_waits_for_unfinished_tasks_only(path: Path) -> None:
    records = [*created("1", "Read it"), *created("2", "Mend it"), *created("3", "Ship it")]
    blocks = [
        update("3", addBlockedBy=["1", "9"]),
        update("2", addBlocks=["3"]),
        update("1", status="completed"),
    ]
    assert {task.subject: task.blocked_by for task in left(path, *records, *blocks)} == {
        "Mend it": [],
        "Ship it": ["Mend it"],
    }


def test_a_task_is_reworded_and_opened_again(path: Path) -> None:
    done = update("1", status="completed")
    again = update("1", status="pending", subject="Read it twice")
    assert subjects(path, *created("1", "Read it"), done, again) == ["Read it twice"]


def test_the_id_is_read_from_the_text_where_the_record_does_not_tell_it(path: Path) -> None:
    create = called("TaskCreate", {"subject": "Read it"}, "a")
    told = result("a", text=[{"type": "text", "text": "Task #7 created successfully: Read it"}])
    assert subjects(path, create, told, update("7", status="completed")) == []


def test_a_task_whose_creation_failed_is_none(path: Path) -> None:
    create = called("TaskCreate", {"subject": "Read it"}, "a")
    assert subjects(path, create, result("a", text="Task #1 could not be made", is_error=True)) == []


def test_a_task_without_an_answer_is_left(path: Path) -> None:
    assert subjects(path, called("TaskCreate", {"subject": "Read it"}, "a")) == ["Read it"]


def test_the_list_of_a_sub_agent_is_not_the_sessions(path: Path) -> None:
    inner = todos(todo("Look around"), isSidechain=True)
    assert subjects(path, todos(todo("Read it")), inner) == ["Read it"]


@each(
    "record",
    [
        called("TodoWrite", "text"),
        called("TodoWrite", {"todos": "text"}),
        called("TodoWrite", None),
        called("TaskCreate", {"subject": 7}),
        called("TaskCreate", {"subject": "  "}),
        called("TaskCreate", {"subject": "No id"}, call=""),
        called("TaskUpdate", {"taskId": ["1"], "status": 3}),
        called("TaskUpdate", {"taskId": True}),
        update("1", addBlockedBy="1", addBlocks=[None, {}]),
        {"type": "assistant", "message": {"content": '"TodoWrite" is a word'}},
        {"type": "assistant", "message": {"content": [None, 3, '"TaskCreate"', {"type": "tool_use"}]}},
        {"type": "assistant", "message": {"content": {"name": "TodoWrite"}}},
        result("unknown", "1"),
    ],
)
def test_odd_shapes_change_nothing(path: Path, record: Record) -> None:
    assert subjects(path, todos(todo("Read it")), record) == ["Read it"]


def test_odd_items_of_a_list_are_left_out(path: Path) -> None:
    odd = todos("text", None, todo(""), todo(3), todo("Read  it\nnow", "someday"), {"content": "Bare"})
    assert [(task.subject, task.status) for task in left(path, odd)] == [
        ("Read it now", "pending"),
        ("Bare", "pending"),
    ]


def test_lone_halves_of_characters_are_replaced(path: Path) -> None:
    assert subjects(path, todos(todo("Half \ud83d"))) == ["Half \ufffd"]


def test_huge_lists_are_bounded(path: Path) -> None:
    found = left(path, todos(*(todo(f"{number} " + "x" * 5_000) for number in range(2_000))))
    assert len(found) == MOST_TASKS
    assert max(len(task.subject) for task in found) == TITLE_CAP


def test_of_very_many_tasks_finished_ones_are_dropped_first(path: Path) -> None:
    records = [one for number in range(MOST_TASKS + 50) for one in created(str(number), f"Task {number}")]
    records[20:20] = [update(str(number), status="completed") for number in range(10)]
    found = subjects(path, *records)
    assert len(found) == MOST_TASKS
    assert found[0] == "Task 50"


def test_reading_on_gives_the_same_as_reading_at_once(path: Path) -> None:
    records = [todos(todo("Plan")), *created("1", "Read it"), *created("2", "Mend it")]
    records += [update("2", addBlockedBy=["1"]), update("1", status="in_progress")]
    data = [json.dumps(record) + "\n" for record in records]
    path.write_text("")
    state = Scan()
    for line in data:
        with path.open("a") as file:
            file.write(line)
        saved = msgspec.json.decode(msgspec.json.encode(_read(path, state)), type=Summary)
        state = Scan(state.cursor, saved)
    assert saved == _read(path, Scan()) == read_whole(str(path)).summary
    assert saved.tasks and [task.subject for task in saved.tasks.unfinished()] == [
        "Plan",
        "Read it",
        "Mend it",
    ]


def test_a_transcript_without_tasks_keeps_nothing_of_them(path: Path) -> None:
    path.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": "Hello"}}) + "\n")
    assert b"tasks" not in msgspec.json.encode(_read(path, Scan()))
