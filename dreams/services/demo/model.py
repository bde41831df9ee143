"""What a demo is made of, before it is written: projects, notes, talks. Pure: no Django."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class You:
    """Something a person typed."""

    text: str


@dataclass(frozen=True, slots=True)
class Agent:
    """One turn of the agent: its words and, if it used one, a tool with its input and result."""

    text: str
    tool: str = ""
    given: Mapping[str, object] = field(default_factory=dict)
    result: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Helper:
    """A sub-agent that the talk started: its task and what it answered."""

    task: str
    answer: str
    turns: tuple[Agent, ...] = ()


Turn = You | Agent


@dataclass(frozen=True, slots=True)
class Talk:
    """One session. `ago` is the time from its last line to now; `title` stands in it as the agent would write it."""

    title: str
    ago: dt.timedelta
    turns: tuple[Turn, ...]
    branch: str = "main"
    helper: Helper | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A file of a memory directory, last written `ago`."""

    path: str
    text: str
    ago: dt.timedelta


@dataclass(frozen=True, slots=True)
class Project:
    """A repository folder with notes and talks. `consolidated` is how long ago its notes were last tidied."""

    name: str
    notes: tuple[Note, ...]
    talks: tuple[Talk, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    consolidated: dt.timedelta | None = None


def days(number: float) -> dt.timedelta:
    return dt.timedelta(days=number)
