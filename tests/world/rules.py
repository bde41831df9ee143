"""A memory directory, sessions and one dream of the rules engine, for tests."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from dreams import conf, engines
from dreams.engines.linedates import day_of_log
from dreams.engines.types import (
    Edit,
    EngineTurn,
    Job,
    LineDate,
    LogBrief,
    Outcome,
    PromptBrief,
    SessionBrief,
    Work,
)
from dreams.lib.files import text, workspace

NOON = dt.datetime(2026, 10, 10, 12, tzinfo=dt.UTC)  # a Saturday
WRITTEN = LineDate(dt.date(2026, 10, 1), "history", "first seen in the history")


@dataclass
class Told:
    """A reporter that records its turns."""

    turns: list[tuple[str, str, dict[str, int]]] = field(default_factory=list)
    checkpoints: int = 0
    edits: list[Edit] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)

    def turn(self, turn: EngineTurn) -> None:
        self.work.append(turn.work)
        self.edits += turn.edits
        self.turns.append((turn.phase, turn.text, dict(turn.counts)))

    def checkpoint(self) -> None:
        self.checkpoints += 1


@dataclass
class Dreamt:
    before: dict[str, bytes]
    after: dict[str, bytes]
    outcome: Outcome
    told: Told

    @property
    def edits(self) -> list[Edit]:
        return self.outcome.edits

    @property
    def summary(self) -> str:
        return self.outcome.summary

    def text(self, path: str) -> str:
        return text.decode(self.after[path])

    def operations(self, kind: str) -> dict[str, list[Edit]]:
        found: dict[str, list[Edit]] = {}
        for edit in self.edits:
            if edit.kind == kind:
                found.setdefault(edit.operation, []).append(edit)
        return found


def dream(
    folder: Path,
    files: Mapping[str, str | bytes],
    sessions: Sequence[SessionBrief] = (),
    *,
    written: LineDate | Mapping[str, LineDate | Sequence[LineDate | None]] | None = WRITTEN,
    repo: Path | None = None,
    now: dt.datetime = NOON,
    hand_edited: frozenset[str] = frozenset(),
    logs: Iterable[str] | Mapping[str, frozenset[int]] = (),
    unread: Mapping[str, str] = MappingProxyType({}),
    described_then: Mapping[str, str] = MappingProxyType({}),
) -> Dreamt:
    """Dreams over `files`; `written` is the day of all lines, or has days by file or line.

    `logs` are logs with new lines: all lines, or those given. `unread` maps unreadable files to the reason.
    """
    contents = {path: data if isinstance(data, bytes) else data.encode() for path, data in files.items()}
    snapshot = workspace.Snapshot(
        exists=True,
        files={
            path: workspace.SnapshotFile(path, data, 0o644, 0, number, 1)
            for number, (path, data) in enumerate(contents.items())
        },
        skipped=unread,
    )
    told = Told()
    dates = {
        path: _of_lines(written.get(path) if isinstance(written, Mapping) else written, data)
        for path, data in contents.items()
    }
    with workspace.Workspace.create(folder / "scratch", snapshot) as scratch:
        job = Job("p", repo, scratch, sessions, dates, conf.Config(), now, dt.UTC, hand_edited=hand_edited)
        briefs = [_log(path, contents[path], logs) for path in logs]
        job = replace(job, logs=briefs, described_then=described_then)
        outcome = engines.get("rules").run(job, told)
        return Dreamt(contents, scratch.contents(), outcome, told)


def _log(path: str, data: bytes, logs: Iterable[str] | Mapping[str, frozenset[int]]) -> LogBrief:
    every = frozenset(range(1, data.count(b"\n") + 2))
    return LogBrief(path, day_of_log(path), data.decode(), logs[path] if isinstance(logs, Mapping) else every)


def _of_lines(written: LineDate | Sequence[LineDate | None] | None, data: bytes) -> Sequence[LineDate | None]:
    return [written] * (data.count(b"\n") + 1) if not isinstance(written, Sequence) else written


def memory(body: str, kind: str = "project", name: str = "", description: str = "", more: str = "") -> str:
    head = f"name: {name}\n" * bool(name) + f"description: {description}\n" * bool(description)
    return f"---\n{head}type: {kind}\n{more}---\n\n{body}"


def session(pk: int, *prompts: str, at: dt.datetime | None = NOON) -> SessionBrief:
    said = tuple(PromptBrief(words, number, number * 100, at) for number, words in enumerate(prompts, 1))
    return SessionBrief(pk, f"session-{pk}", Path(f"/transcripts/{pk}.jsonl"), "", None, 0, 9_999, 0, said)


def unaccounted(edit: Edit) -> list[str]:
    """Lines that an edit removed without a fate."""

    def lines(whole: str | None) -> Counter[str]:
        return Counter(line.strip() for line in (whole or "").split("\n") if line.strip(" \t\r\ufeff"))

    told = {fate.text.strip() for fate in edit.fates}
    return [line for line in lines(edit.before) - lines(edit.after) if line not in told]


def conversation(path: Path, *turns: str) -> SessionBrief:
    """A transcript on disk: messages of person and agent in turn, the person first."""
    prompts: list[PromptBrief] = []
    raw = b""
    for number, words in enumerate(turns, 1):
        if number % 2:
            prompts.append(PromptBrief(words, number, len(raw), NOON))
        raw += json.dumps(said(number, words, "user" if number % 2 else "assistant")).encode() + b"\n"
    path.write_bytes(raw)
    return SessionBrief(1, path.stem, path, "", None, 0, len(raw), 0, tuple(prompts))


def said(number: int, words: str, role: str) -> dict[str, object]:
    """The record of one turn, linked to the previous one."""
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}",
        "timestamp": NOON.isoformat(),
        "message": {"role": role, "content": [{"type": "text", "text": words}]},
    }
