"""Which memories an agent would have in its context for a question about a project. Used by the page, the command and MCP."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from dreams import conf
from dreams.engines.anthropic import outside
from dreams.engines.types import EngineError
from dreams.findings.ledger import facts
from dreams.lib import amounts
from dreams.lib.files.text import decode, plural, storable
from dreams.lib.prose import recall
from dreams.lib.secrets import redact
from dreams.models import Memory, ModelRequest, Project
from dreams.services import pricing
from dreams.services.memories import syncing


@dataclass(frozen=True, slots=True)
class Chosen:
    """A memory the agent would open. `text` is the loaded part, without secrets. `row` is None for one that only exists in a
    proposal."""

    path: str
    why: str
    age: str
    text: str
    is_cut: bool
    bytes: int
    row: Memory | None


@dataclass(frozen=True, slots=True)
class Chooser:
    """Who chose: `model` is empty for the rules. `note`: what a person should know if a model was asked, such as why the
    rules chose instead. `usd` is the cost; None without a price or if no model was asked."""

    model: str = ""
    note: str = ""
    requests: int = 0
    usd: Decimal | None = None

    @property
    def name(self) -> str:
        return self.model or "rules"


@dataclass(frozen=True, slots=True)
class Recall:
    """`index` is the part of the index that every session loads; `looked_at` is how many memories were compared."""

    chosen: list[Chosen]
    left_out: tuple[recall.NotChosen, ...]
    index: bytes
    looked_at: int
    beyond: int
    by: Chooser

    @property
    def bytes(self) -> int:
        """The size of the chosen memories on disk."""
        return sum(one.bytes for one in self.chosen)


def fresh(project: Project) -> dict[str, bytes]:
    """The project's current memories; for a project of another host, as last seen."""
    syncing.refresh_if_here(project)
    return syncing.contents(project)


def ask(
    project: Project,
    files: Mapping[str, bytes],
    question: str,
    seen: recall.LoadedSoFar | None = None,
    ages_shown: Mapping[str, str] | None = None,
    *,
    free: bool = False,
) -> Recall:
    """Chooses among `files` for `question`, by the rules or the model in the settings. `free`: always by rules. `ages_shown`
    are ages shown earlier, which are repeated unchanged."""
    config = conf.current(project)
    present = project.memories.filter(gone_at__isnull=True)
    written = dict(present.values_list("path", "mtime_ns"))
    newest = sorted(files, key=lambda path: (-written.get(path, 1 << 62), path))
    shelf = recall.shelf(files, recall.IndexLimits(config.index_max_lines, config.index_max_bytes), newest)
    picked, by = None, Chooser()
    if not free and config.recall_engine != "rules":
        picked, by = _asked(project, config, question, recall.candidates(shelf, seen))
    before = recall.load(shelf, question, seen, picked)
    rows = {row.path: row for row in present.filter(path__in=[one.path for one in before.recalled])}
    told = ages_shown or {}
    return Recall(
        chosen=[
            _chosen(
                one, before, rows.get(one.path), question, told.get(one.path) or age(rows.get(one.path)), by
            )
            for one in before.recalled
        ],
        left_out=before.left_out,
        index=shelf.index,
        looked_at=len(shelf.entries),
        beyond=len(shelf.older),
        by=by,
    )


def _asked(
    project: Project, config: conf.Config, question: str, entries: Sequence[recall.RecallMemory]
) -> tuple[recall.Picked | None, Chooser]:
    """What a model picks; None with the reason if it does not answer in time and within the budgets."""
    if not entries:
        return None, Chooser()
    with pricing.Meter(project, ModelRequest.Purpose.RECALL) as meter:
        try:
            with outside.choice_line(config, pricing.table(), meter) as line:
                named = outside.chosen_memories(line, question, entries)
        except EngineError as error:
            note = f"{str(error).rstrip()} The rules chose instead."
            return None, Chooser("", note, meter.requests, meter.cost)
    known = {entry.path for entry in entries}
    unknown = sum(path not in known for path in named)
    dropped = f"Dropped {plural(unknown, 'name')} that were not in the list." if unknown else ""
    by = Chooser(config.model, dropped, meter.requests, meter.cost)
    return recall.Picked(config.model, named), by


def as_json(found: Recall) -> dict[str, Any]:
    """The JSON that the command prints."""
    return {
        "chosen": [
            {"path": one.path, "why": one.why, "age": one.age, "text": one.text, "cut": one.is_cut}
            for one in found.chosen
        ],
        "left_out": [{"path": one.path, "why": one.why} for one in found.left_out],
        "chosen_by": found.by.name,
        "note": found.by.note,
        "cost_usd": None if found.by.usd is None else float(found.by.usd),
        "bytes": found.bytes,
        "index_bytes": len(found.index),
    }


def age(row: Memory | None) -> str:
    """How long ago a memory was written, in words."""
    if row is None:
        return "not written yet"
    return amounts.ago(dt.datetime.fromtimestamp(row.mtime_ns / 1e9, dt.UTC), timezone.now())


def _chosen(
    one: recall.Recalled, before: recall.Before, row: Memory | None, question: str, age: str, by: Chooser
) -> Chosen:
    data = before.texts[one.path]
    words = ", ".join(f"“{word}”" for word in facts.as_written(one.words[:6], question))
    return Chosen(
        path=one.path,
        why=f"chosen by {by.model}" if by.model else f"{one.share:.0%} match by {words}",
        age=age,
        text=storable(redact.redact(decode(data))),
        is_cut=one.path in before.cut,
        bytes=len(data),
        row=row,
    )
