"""The tasks an agent set itself: to-do lists written in one call, and tasks created and updated one by one.

Only of the main conversation: a sub-agent's list ends with the sub-agent. Pure: no Django.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec
from msgspec import Raw, Struct

from dreams.lib.agents.transcripts.records import (
    Json,
    Message,
    ToolResult,
    TranscriptRecord,
    instant,
    present,
    value_in,
)
from dreams.lib.agents.transcripts.typed_prompts import text_of, title_of

MOST_TASKS = 500  # of one session; chosen
MOST_BLOCKERS = 20  # of one task; chosen
MOST_WAITING = 100  # calls without an answer; chosen
OPEN = ("pending", "in_progress")
FINISHED = ("completed", "done", "cancelled", "canceled")
# Every answer of an agent is searched: one pattern on the buffer takes a quarter of the time of three searches.
_SIGN = re.compile(rb'"T(?:odoWrite|askCreate|askUpdate)"')
_NUMBER = re.compile(r"\ATask #(\w{1,40})\b")

Object = dict[str, Json]


class Task(Struct, array_like=True):
    """One task, and where it was last mentioned: `offset` and 1-based `line`. `blocked_by` are ids of tasks."""

    subject: str
    status: str
    offset: int
    line: int
    at: datetime | None
    blocked_by: list[str] = msgspec.field(default_factory=list)


class Tasks(Struct, omit_defaults=True):
    """All tasks of one transcript up to a place in it.

    `listed` is the last to-do list; `created` maps ids to tasks; `called` maps the id of a call that creates a
    task to the task, until the result has the task's id.
    """

    listed: list[Task] = msgspec.field(default_factory=list)
    created: dict[str, Task] = msgspec.field(default_factory=dict)
    called: dict[str, Task] = msgspec.field(default_factory=dict)

    def all(self) -> Iterator[Task]:
        yield from self.listed
        yield from self.created.values()
        yield from self.called.values()

    def unfinished(self) -> list[Task]:
        """The unfinished tasks, in the agent's order; `blocked_by` are the subjects of unfinished tasks."""
        left = [task for task in self.all() if task.status in OPEN]
        return [msgspec.structs.replace(task, blocked_by=self._blockers(task)) for task in left]

    def _blockers(self, task: Task) -> list[str]:
        found = (self.created.get(one) for one in task.blocked_by)
        return [one.subject for one in found if one is not None and one is not task and one.status in OPEN]

    def hear_call(self, block: Object, line: TranscriptRecord, offset: int, number: int) -> None:
        given = block.get("input")
        if block.get("type") != "tool_use" or not isinstance(given, dict):
            return
        here = Task("", "", offset, number, instant(line.timestamp))
        if block.get("name") == "TodoWrite":
            self._list(given, here)
        elif block.get("name") == "TaskCreate":
            self._create(_id(block.get("id")), given, here)
        elif block.get("name") == "TaskUpdate":
            self._update(_id(given.get("taskId")), given, here)

    def _list(self, given: Object, here: Task) -> None:
        todos = given.get("todos")
        if not isinstance(todos, list):
            return
        found = (_task(todo, "content", here) for todo in todos if isinstance(todo, dict))
        self.listed = [task for task in found if task][:MOST_TASKS]

    def _create(self, call: str, given: Object, here: Task) -> None:
        task = _task(given, "subject", here)
        if call and task and len(self.called) < MOST_WAITING:
            self.called[call] = task

    def _update(self, name: str, given: Object, here: Task) -> None:
        task = self.created.get(name)
        if task is None:
            return
        if given.get("status") == "deleted":
            del self.created[name]
            return
        task.offset, task.line, task.at = here.offset, here.line, here.at
        task.subject = _subject(given.get("subject")) or task.subject
        task.status = _status(given["status"]) if "status" in given else task.status
        _block(task, _ids(given.get("addBlockedBy")))
        for other in _ids(given.get("addBlocks")):
            if other in self.created:
                _block(self.created[other], [name])

    def hear_result(self, block: Object, told: str) -> None:
        """`told` is the task's id if the record has it; else it is read from the result's text."""
        call = _id(block.get("tool_use_id"))
        task = self.called.pop(call, None)
        if task is None or block.get("is_error") is True:
            return
        named = _NUMBER.match(text_of(block.get("content")))
        name = told or (named[1] if named else f"call {call}")
        self.created[name] = task
        if len(self.created) > MOST_TASKS:
            self._drop_one()

    def _drop_one(self) -> None:
        """Drops the oldest finished task, else the oldest."""
        finished = (name for name, task in self.created.items() if task.status not in OPEN)
        del self.created[next(finished, next(iter(self.created)))]


def tasks_after(
    tasks: Tasks | None, line: TranscriptRecord, message: Message, offset: int, number: int
) -> Tasks | None:
    """The tasks after one record; None as long as there was none, as in most transcripts."""
    if line.is_sidechain:
        return tasks
    if line.type == "assistant":
        if _SIGN.search(message.content):
            tasks = tasks or Tasks()
            for block in _blocks(message.content):
                tasks.hear_call(block, line, offset, number)
    elif line.type == "user" and tasks and tasks.called:
        results = [block for block in _blocks(message.content) if block.get("type") == "tool_result"]
        told = _told(line) if len(results) == 1 else ""
        for block in results:
            tasks.hear_result(block, told)
    return tasks


def _blocks(content: Raw) -> list[Object]:
    blocks = value_in(content)
    return [block for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []


def _told(line: TranscriptRecord) -> str:
    result = line.tool_use_result
    if not isinstance(result, ToolResult) or not present(result.task):
        return ""
    task = value_in(result.task)
    return _id(task.get("id")) if isinstance(task, dict) else ""


def _task(given: Object, named: str, here: Task) -> Task | None:
    subject = _subject(given.get(named))
    if not subject:
        return None
    blockers = _ids(given.get("blockedBy"))[:MOST_BLOCKERS]
    return msgspec.structs.replace(
        here, subject=subject, status=_status(given.get("status")), blocked_by=blockers
    )


def _subject(value: Json) -> str:
    return title_of(value) if isinstance(value, str) else ""


def _status(value: Json) -> str:
    """An unknown status does not remove the task."""
    if value in FINISHED:
        return "completed"
    return "in_progress" if value == "in_progress" else "pending"


def _id(value: Json) -> str:
    """An id as text: some versions write numbers."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return str(value)[:200]


def _ids(value: Json) -> list[str]:
    return [name for one in value if (name := _id(one))] if isinstance(value, list) else []


def _block(task: Task, names: Iterable[str]) -> None:
    for name in names:
        if name not in task.blocked_by and len(task.blocked_by) < MOST_BLOCKERS:
            task.blocked_by.append(name)
