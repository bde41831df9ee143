"""What an agent would have before it for a question about one project: the page, the command and MCP ask here."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from dreams import conf
from dreams.findings.ledger import facts
from dreams.lib import ages
from dreams.lib.files.text import decode, storable
from dreams.lib.prose import recall
from dreams.lib.secrets import redact
from dreams.models import Memory, Project
from dreams.services.memories import syncing


@dataclass(frozen=True, slots=True)
class Chosen:
    """A memory the agent would open. `text` is what is loaded of it, without secrets; `percent` is how much of the
    question it matches, by `words` as the question has them. `row` is None for one that only a proposal makes."""

    path: str
    percent: int
    words: tuple[str, ...]
    why: str
    age: str
    text: str
    is_cut: bool
    bytes: int
    row: Memory | None


@dataclass(frozen=True, slots=True)
class Recall:
    """`index` is the part of the index that every session loads; `looked_at` counts the memories that were compared."""

    chosen: list[Chosen]
    left_out: tuple[recall.LeftOut, ...]
    index: bytes
    looked_at: int
    beyond: int

    @property
    def bytes(self) -> int:
        """Of the chosen memories, as they are on disk."""
        return sum(one.bytes for one in self.chosen)


def fresh(project: Project) -> dict[str, bytes]:
    """The project's memories as they are now; one of another host as it was last seen."""
    syncing.refresh_if_here(project)
    return syncing.contents(project)


def ask(
    project: Project,
    files: Mapping[str, bytes],
    question: str,
    seen: recall.Seen | None = None,
    ages_shown: Mapping[str, str] | None = None,
) -> Recall:
    """The choice for `question` among `files`. `ages_shown` are ages told before, which stay as they were told."""
    config = conf.current(project)
    rows = {row.path: row for row in project.memories.filter(gone_at__isnull=True)}
    newest = sorted(files, key=lambda path: (-(rows[path].mtime_ns if path in rows else 1 << 62), path))
    shelf = recall.shelf(files, recall.Limits(config.index_max_lines, config.index_max_bytes), newest)
    before = recall.load(shelf, question, seen)
    told = ages_shown or {}
    return Recall(
        chosen=[
            _chosen(one, before, rows.get(one.path), question, told.get(one.path) or age(rows.get(one.path)))
            for one in before.recalled
        ],
        left_out=before.left_out,
        index=shelf.index,
        looked_at=len(shelf.entries),
        beyond=shelf.beyond,
    )


def as_json(found: Recall) -> dict[str, Any]:
    """As the command prints it."""
    return {
        "chosen": [
            {"path": one.path, "why": one.why, "age": one.age, "text": one.text, "cut": one.is_cut}
            for one in found.chosen
        ],
        "left_out": [{"path": one.path, "why": one.why} for one in found.left_out],
        "bytes": found.bytes,
        "index_bytes": len(found.index),
    }


def age(row: Memory | None) -> str:
    """How long ago a memory was last written, in words."""
    if row is None:
        return "not written yet"
    return ages.ago(dt.datetime.fromtimestamp(row.mtime_ns / 1e9, dt.UTC), timezone.now())


def _chosen(
    one: recall.Recalled, before: recall.Before, row: Memory | None, question: str, age: str
) -> Chosen:
    data, percent = before.texts[one.path], round(100 * one.share)
    words = tuple(facts.as_written(one.words[:6], question))
    return Chosen(
        path=one.path,
        percent=percent,
        words=words,
        why=f"{percent}% match by {', '.join(f'“{word}”' for word in words)}",
        age=age,
        text=storable(redact.redact(decode(data))),
        is_cut=one.path in before.cut,
        bytes=len(data),
        row=row,
    )
