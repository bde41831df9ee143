"""An agent's config folder, made for one test."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dreams.lib.agents.claude_code import slug_of

if TYPE_CHECKING:  # this module is used without Django too
    from dreams.models import Project, Session
    from dreams.services.discovery import DiscoveryReport

Record = dict[str, object]


@contextmanager
def closed_to_us(path: Path) -> Iterator[None]:
    """Makes the folder `path` seem closed, and all below it out of reach: root in a container may read everything, whatever
    its mode."""

    def refusing(name: str, *, itself: bool) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(given: Any = ".", *args: Any, **options: Any) -> Any:
            at = os.fspath(given) if isinstance(given, str | os.PathLike) else ""
            if at.startswith(f"{path}/") or (itself and at == str(path)):
                if name == "access":
                    return False
                raise PermissionError(13, "Permission denied", at)
            return real(given, *args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("open", "scandir", "listdir", "access", "stat", "lstat"):
            patch.setattr(os, name, refusing(name, itself=name not in ("stat", "lstat")))
        yield


class Root:
    """`<base>/home/.claude` with its projects, and the repositories they belong to."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.path = base / "home" / ".claude"
        (self.path / "projects").mkdir(parents=True, exist_ok=True)

    def repository(self, name: str) -> Path:
        path = self.base / "work" / name
        (path / ".git").mkdir(parents=True)
        return path

    def worktree(self, repo: Path, name: str, path: Path | None = None) -> Path:
        git, path = repo / ".git" / "worktrees" / name, path or self.base / "trees" / name
        git.mkdir(parents=True)
        path.mkdir(parents=True)
        (git / "commondir").write_text("../..\n")
        (path / ".git").write_text(f"gitdir: {git}\n")
        return path

    def folder(self, cwd: Path | str) -> Path:
        path = self.path / "projects" / slug_of(str(cwd))
        path.mkdir(exist_ok=True)
        return path

    def session(self, cwd: Path | str, name: str, records: Iterable[Record] | None = None) -> Path:
        path = self.folder(cwd) / f"{name}.jsonl"
        write(path, [typed("Hello there", cwd=str(cwd))] if records is None else records)
        return path

    def memory(self, cwd: Path | str, name: str, text: str | bytes = "# A fact\n") -> Path:
        path = self.folder(cwd) / "memory" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def discover(self) -> DiscoveryReport:
        from dreams.services.discovery import discover

        return discover([self.path])


def typed(text: str, **fields: object) -> Record:
    """A line that a person typed."""
    return {
        "type": "user",
        "uuid": str(uuid.uuid4()),
        "timestamp": "2026-03-02T10:00:00.000Z",
        "message": {"role": "user", "content": text},
        **fields,
    }


def answer(message: str, request: str = "r", tokens: tuple[int, int] = (10, 20), **fields: object) -> Record:
    """One line of an answer; `tokens` are input and output."""
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    body = {"id": message, "role": "assistant", "model": "claude-x", "content": [], "usage": usage}
    return {
        "type": "assistant",
        "uuid": str(uuid.uuid4()),
        "timestamp": "2026-03-02T10:01:00.000Z",
        "requestId": request,
        "message": body,
        **fields,
    }


def lines(records: Iterable[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def write(path: Path, records: Iterable[Record]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines(records))


def append(path: Path, data: bytes | Iterable[Record]) -> None:
    with path.open("ab") as file:
        file.write(data if isinstance(data, bytes) else lines(data))


def same_length(path: Path, old: bytes, new: bytes) -> None:
    """Replaces this file with another of the same length, by writing a new one and renaming it."""
    beside = path.with_suffix(".new")
    beside.write_bytes(path.read_bytes().replace(old, new))
    os.replace(beside, path)


def project() -> Project:
    from dreams.models import Project

    return Project.objects.get()


def session(name: str) -> Session:
    from dreams.models import Session

    return Session.objects.get(session_id=name)


def reasons(report: DiscoveryReport) -> dict[str, str]:
    return {Path(skip.path).name: skip.reason for skip in report.skipped}
