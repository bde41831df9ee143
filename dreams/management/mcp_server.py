"""An agent's memories over MCP: the choice of `recall`, one memory in full, and suggestions for the person.

A server is started by an agent, for one project and one session. It remembers what the session was shown. It writes no
memory, has no access to other projects, and limits the size of every answer.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

import psutil
from django.db import close_old_connections
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from dreams.lib.agents import registry
from dreams.lib.agents.base import LiveSession
from dreams.lib.files.text import decode, encode, storable
from dreams.lib.prose import recall
from dreams.lib.secrets import redact
from dreams.models import Project, Session
from dreams.services import project_lock, recalling, secret_paths, suggesting
from dreams.services.suggesting import NotTaken, Suggestion
from memoryweb import version

#: Size of one answer, as JSON.
MOST_BYTES = 20_000
#: If less than this is left of a session's budget, nothing more is read.
LEAST_BYTES = 500
#: Memories that were not chosen, listed in one answer with the reason.
MOST_LEFT_OUT = 20
INSTRUCTIONS = (
    "The memories of this project. Ask `recall` before you start on something that earlier sessions may have settled. "
    "`propose_memory` suggests one to the person, who decides; it writes nothing."
)
Question = Annotated[
    str, Field(min_length=1, max_length=recall.QUESTION_CHARS, description="What you want to know.")
]
Paths = Annotated[list[str], Field(max_length=200, description="Memories that you have read already.")]
Tools = Annotated[list[str], Field(max_length=200, description="Names of the tools that you are using.")]
MemoryPath = Annotated[str, Field(max_length=1000, description="A path that `recall` named.")]
FromLine = Annotated[int, Field(ge=1, description="Continue from this line.")]
Name = Annotated[str, Field(description=f"A few words, at most {suggesting.NAME_CHARS} characters.")]
Description = Annotated[
    str, Field(description=f"When it is worth reading, at most {suggesting.DESCRIPTION_CHARS} characters.")
]
Kind = Annotated[Literal["user", "feedback", "project", "reference"], Field(description="What it is about.")]
Content = Annotated[
    str, Field(description=f"The memory, Markdown, at most {suggesting.TEXT_CHARS:,} characters.")
]


def server(project: Project) -> MCPServer[Any]:
    """The server for one session of an agent that works on `project`."""
    desk = Desk(project.pk)
    made: MCPServer[Any] = MCPServer(
        "memoryweb",
        title=f"Memories of {project}",
        instructions=INSTRUCTIONS,
        version=version(),
        log_level="WARNING",
    )
    tools: list[tuple[Callable[..., str], bool]] = [
        (desk.recall, True),
        (desk.read_memory, True),
        (desk.propose_memory, False),
    ]
    for tool, reads in tools:
        hints = ToolAnnotations(read_only_hint=reads, destructive_hint=False, open_world_hint=False)
        made.add_tool(tool, annotations=hints, structured_output=False)
    return made


class Desk:
    """The tools of one session, and what it was shown so far. Tools run in threads, one at a time."""

    def __init__(self, project_pk: int) -> None:
        self._project_pk = project_pk
        self._lock = threading.Lock()
        self._named: set[str] = set()
        self._ages: dict[str, str] = {}
        self._bytes = 0

    @contextmanager
    def _project(self) -> Iterator[Project]:
        close_old_connections()
        with self._lock:
            try:
                yield Project.objects.get(pk=self._project_pk)
            except Project.DoesNotExist:
                raise ToolError("memoryweb no longer knows this project.") from None
            except project_lock.ProjectElsewhere as error:
                raise ToolError(str(error)) from error
            finally:
                close_old_connections()

    def recall(self, question: Question, shown: Paths = [], tools: Tools = []) -> str:  # noqa: B006 - read for the tool's schema, never changed
        """Find the memories for a question: at most five, by name and description; none where it is unsure. Memories that
        you were given before are left out. Answers with each memory's text and age, and why others were not chosen."""
        with self._project() as project:
            files = recalling.fresh(project)
            paths = secret_paths.known()
            seen = recall.LoadedSoFar(
                {*self._ages, *(str(paths.meant(one)) for one in shown)}, self._bytes, tools
            )
            found = recalling.ask(project, files, question, seen, self._ages)
            answer = _answer(found)
            self._ages |= {one.path: one.age for one in found.chosen}
            self._named |= {one["path"] for one in (*answer["chosen"], *answer["left_out"])}
            self._bytes += sum(len(encode(one["text"])) for one in answer["chosen"])
            return paths.mask(_json(answer))

    def read_memory(self, path: MemoryPath, from_line: FromLine = 1) -> str:
        """Read a memory that `recall` named, from a line on. A long one ends with the line to go on from; `cut`: this line was too
        long, and its end is missing."""
        with self._project() as project:
            paths = secret_paths.known()
            path = str(paths.meant(path))
            if path not in self._named:
                raise ToolError("Only memories that `recall` named can be read. Call it first.")
            left = recall.MOST_BYTES - self._bytes
            data = recalling.fresh(project).get(path)
            if data is None:
                raise ToolError(paths.mask(f"{path} is no longer there."))
            if left < LEAST_BYTES:
                raise ToolError(
                    f"This session has read {recall.MOST_BYTES:,} bytes of memories, which is the limit."
                )
            row = project.memories.filter(path=path).first()
            age = self._ages.setdefault(path, recalling.age(row))
            lines = storable(redact.redact(decode(data))).splitlines(keepends=True)
            answer = {
                "path": path,
                "age": age,
                "lines": len(lines),
                "from_line": from_line,
                "next_line": None,
            }
            text = _cut("".join(lines[from_line - 1 :]), min(left, MOST_BYTES - len(_json(answer)) - 100))
            next_line = from_line + len(text.splitlines())
            self._bytes += len(encode(text))
            is_cut = text != "".join(lines[from_line - 1 : next_line - 1])
            answer |= {
                "next_line": next_line if next_line <= len(lines) else None,
                "text": text,
                "cut": is_cut,
            }
            return paths.mask(_json(answer))

    def propose_memory(self, name: Name, description: Description, type: Kind, text: Content) -> str:
        """Suggest something to remember. The person sees it as a card and decides; nothing is written before."""
        with self._project() as project:
            try:
                made = suggesting.suggest(
                    project, Suggestion(name, description, type, text), session_of(project)
                )
            except NotTaken as error:
                raise ToolError(str(error)) from error
            return _json({"proposal": made.public_id, "state": "waits for the person"})


def session_of(project: Project, ancestors: Sequence[int] | None = None) -> Session | None:
    """The session whose agent started this process, from the agent's registry; None if unknown."""
    if not project.root:
        return None
    pids = [parent.pid for parent in psutil.Process().parents()] if ancestors is None else ancestors
    entries = registry.read(project.root).live_sessions()
    running = {entry.pid: entry.session_id for entry in entries if isinstance(entry, LiveSession)}
    known = next((running[pid] for pid in pids if pid in running), None)
    return project.sessions.filter(session_id=known).first() if known else None


# --- Answers with a limited size ----------------------------------------------------------------------------------


def _answer(found: recalling.Recall) -> dict[str, Any]:
    """As the command prints it. The texts share the available size; short ones are complete."""
    answer = recalling.as_json(found)
    left_out = answer.pop("left_out")
    answer |= {"left_out": left_out[:MOST_LEFT_OUT], "more_left_out": max(0, len(left_out) - MOST_LEFT_OUT)}
    texts = {number: one["text"] for number, one in enumerate(answer["chosen"])}
    for one in answer["chosen"]:
        one["text"] = ""
    room, waiting = MOST_BYTES - len(encode(_json(answer))), len(texts)
    for number in sorted(texts, key=lambda number: len(texts[number])):
        one, text = answer["chosen"][number], _cut(texts[number], room // waiting)
        one["text"], one["cut"] = text, one["cut"] or text != texts[number]
        room, waiting = room - _size(text), waiting - 1
    answer["bytes"] = sum(len(encode(one["text"])) for one in answer["chosen"])
    return answer


def _cut(text: str, room: int) -> str:
    """The complete lines that fit into `room` bytes of JSON; the beginning of the first line if it is too long."""
    kept = list[str]()
    for line in text.splitlines(keepends=True):
        room -= _size(line)
        if room < 0:
            break
        kept.append(line)
    if not kept and text:
        # A character has at most six bytes
        return text[: max(0, room + _size(text.splitlines(keepends=True)[0])) // 6]
    return "".join(kept)


def _size(text: str) -> int:
    return len(encode(_json(text))) - 2


def _json(value: Mapping[str, Any] | str) -> str:
    return json.dumps(value, ensure_ascii=False)
