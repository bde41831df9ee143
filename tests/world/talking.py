"""Transcripts in an agent's format, and sessions that are quiet."""

from __future__ import annotations

import datetime as dt
import json
import os
import uuid
from collections.abc import Sequence
from pathlib import Path

from django.utils import timezone

from dreams.models import Project
from dreams.services import discovery
from tests.world import directory as world

SLUG = "-home-dev-app"


class Talk:
    """One session below a config folder: prompts and answers, line by line."""

    def __init__(self, root: Path, name: str = "talk", *, slug: str = SLUG) -> None:
        self.id = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        self.path = root / "projects" / slug / f"{self.id}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.records: list[dict[str, object]] = []

    def user(self, text: str | list[object], *, at: dt.datetime | None = None, **more: object) -> Talk:
        return self._add("user", {"role": "user", "content": text}, at, more)

    def agent(self, text: str, *, at: dt.datetime | None = None) -> Talk:
        message = {
            "role": "assistant",
            "id": f"m{len(self.records)}",
            "model": "claude",
            "content": [{"type": "text", "text": text}],
        }
        return self._add("assistant", message, at, {})

    def called(self, tool: str, result: str = "done", *, failed: bool = False, **given: object) -> Talk:
        """Adds a tool call of the agent and its result."""
        call = f"t{len(self.records)}"
        use = {"type": "tool_use", "id": call, "name": tool, "input": given}
        self._add(
            "assistant",
            {"role": "assistant", "id": f"m{call}", "model": "claude", "content": [use]},
            None,
            {},
        )
        block = {"type": "tool_result", "tool_use_id": call, "content": result, "is_error": failed}
        return self._add("user", {"role": "user", "content": [block]}, None, {})

    def wrote(self, path: str, before: str = "") -> Talk:
        """Adds a call in which the agent wrote a file."""
        result = {"type": "update", "filePath": path, "originalFile": before, "content": "x"}
        content = [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]
        return self._add("user", {"role": "user", "content": content}, None, {"toolUseResult": result})

    def _add(self, kind: str, message: object, at: dt.datetime | None, more: dict[str, object]) -> Talk:
        number = len(self.records)
        self.records.append(
            {
                "type": kind,
                "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.id} {number}")),
                "parentUuid": self.records[-1]["uuid"] if self.records else None,
                "sessionId": self.id,
                "timestamp": (at or timezone.now()).isoformat().replace("+00:00", "Z"),
                "cwd": "/home/dev/app",
                "message": message,
                **more,
            }
        )
        return self

    def save(self, *, minutes_ago: float = 5) -> Talk:
        self.path.write_text("".join(json.dumps(record) + "\n" for record in self.records))
        at = timezone.now().timestamp() - minutes_ago * 60
        os.utime(self.path, (at, at))
        return self


def first_start(root: Path, files: dict[str, str] | None = None) -> Project:
    """A project that memoryweb knows, with one old session in it."""
    default = {
        "MEMORY.md": world.INDEX,
        "feedback_testing.md": world.TESTING,
        "project_deploy.md": world.DEPLOY,
    }
    for path, text in (default if files is None else files).items():
        world.put(root / "projects" / SLUG / "memory" / path, text)
    world.write_sessions(root, 1, days_ago=2)
    discovery.discover([root])
    return Project.objects.get()


def say(root: Path, *texts: str, name: str = "talk", minutes_ago: float = 5) -> Talk:
    talk = Talk(root, name)
    for text in texts:
        talk.user(text).agent("Done.")
    return talk.save(minutes_ago=minutes_ago)


def texts(rows: Sequence[object]) -> list[str]:
    return [str(row) for row in rows]
