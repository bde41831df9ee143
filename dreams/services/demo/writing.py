"""A demo onto the disk: a config folder with transcripts and memory directories, and small repositories beside it."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass
from pathlib import Path

from dreams.lib.agents.claude_code import slug_of
from dreams.services.demo.model import Project, Talk
from dreams.services.demo.transcripts import transcript

README = """# Demo

Everything in this folder was invented by memoryweb, because no config folder of a coding agent was found on this
machine. Delete the folder to be rid of it; nothing else refers to it.
"""
GIT = {
    "HEAD": "ref: refs/heads/main\n",
    "config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n",
}


@dataclass(frozen=True, slots=True)
class Demo:
    """All projects, as seen at one moment."""

    now: dt.datetime
    projects: tuple[Project, ...]


def write(folder: Path, final: Path, demo: Demo) -> None:
    """Write `demo` into `folder`, which will be moved to `final`."""
    _file(folder / "README.md", README, demo.now)
    for project in demo.projects:
        home = final / "code" / project.name
        _repository(folder / "code" / project.name, project, demo.now)
        _transcripts(folder / "projects" / slug_of(str(home)), str(home), project, demo.now)
        _memory(folder / "projects" / slug_of(str(home)) / "memory", project, demo.now)


def _repository(folder: Path, project: Project, now: dt.datetime) -> None:
    for part in ("objects", "refs/heads"):
        (folder / ".git" / part).mkdir(parents=True)
    files = {f".git/{name}": text for name, text in GIT.items()} | dict(project.files)
    for path, text in files.items():
        _file(folder / path, text, now)


def _transcripts(folder: Path, cwd: str, project: Project, now: dt.datetime) -> None:
    for talk in project.talks:
        _transcript(folder, cwd, project.name, talk, now)


def _transcript(folder: Path, cwd: str, seed: str, talk: Talk, now: dt.datetime) -> None:
    made = transcript(talk, cwd, seed, now)
    at = now - talk.ago
    _file(folder / f"{made.session_id}.jsonl", "".join(made.lines), at)
    if made.helper_id:
        aside = folder / made.session_id / "subagents" / f"agent-{made.helper_id}.jsonl"
        _file(aside, "".join(made.helper_lines), at)


def _memory(folder: Path, project: Project, now: dt.datetime) -> None:
    for note in project.notes:
        _file(folder / note.path, note.text, now - note.ago)
    if project.consolidated is not None:
        _file(folder / ".consolidate-lock", "", now - project.consolidated)
    newest = min((note.ago for note in project.notes), default=dt.timedelta())
    _set_time(folder, now - newest)


def _file(path: Path, text: str, at: dt.datetime) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    _set_time(path, at)


def _set_time(path: Path, at: dt.datetime) -> None:
    os.utime(path, (at.timestamp(), at.timestamp()))
