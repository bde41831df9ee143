"""What an agent would have before it for a question: now, or once an open proposal is applied."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from dreams import conf
from dreams.findings.statements import facts
from dreams.findings.statements.units import Unit, units_of
from dreams.lib import textdiff
from dreams.lib.files import text
from dreams.lib.prose import recall
from dreams.lib.secrets.masking import Mask
from dreams.models import Memory, Project, Proposal
from dreams.services import proposals
from dreams.services.memories import syncing

MOST_LINES = 8
#: How much of a question's weight a line must have to be shown as what speaks to it.
SPEAKS = 0.3


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Opened:
    """A memory the agent would open. `pk` is None for one that only the proposal makes."""

    path: str
    pk: int | None
    name: str
    type: str
    changed_at: dt.datetime | None
    percent: int
    words: str
    lines: list[Line]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """`index_lines` are those of the loaded index that speak to the question."""

    opened: list[Opened]
    index_lines: list[Line]
    index_size: int
    bytes: int
    memories: int
    beyond: int


@dataclass(frozen=True, slots=True)
class Page:
    question: str
    now: Answer
    then: Answer | None
    proposal: str


def page(project: Project, question: str, *, with_proposal: bool) -> Page:
    """`with_proposal` asks the directory as the open proposal would leave it, too."""
    now = syncing.contents(project)
    waiting = project.proposals.filter(state=Proposal.State.OPEN).order_by("-created_at").first()
    then = None
    if waiting is not None and with_proposal:
        then = answer(project, proposals.subject_of(waiting, now, undecided=True).after, question)
    return Page(question, answer(project, now, question), then, waiting.public_id if waiting else "")


def answer(project: Project, files: Mapping[str, bytes], question: str) -> Answer:
    config = conf.current(project)
    rows = {row.path: row for row in project.memories.filter(gone_at__isnull=True)}
    newest = sorted(files, key=lambda path: (-(rows[path].mtime_ns if path in rows else 1 << 62), path))
    limits = recall.Limits(config.index_max_lines, config.index_max_bytes)
    made = recall.shelf(files, limits, newest)
    before = recall.load(made, question)
    return Answer(
        opened=[_opened(one, rows.get(one.path), before, question) for one in before.recalled],
        index_lines=_lines("MEMORY.md", before.texts.get("MEMORY.md", b""), question),
        index_size=len(made.index),
        bytes=sum(map(len, before.texts.values())),
        memories=len(made.entries),
        beyond=made.beyond,
    )


def _opened(one: recall.Recalled, row: Memory | None, before: recall.Before, question: str) -> Opened:
    return Opened(
        path=one.path,
        pk=row.pk if row else None,
        name=row.name if row else "",
        type=row.type if row else "",
        changed_at=row.changed_at if row else None,
        percent=round(100 * one.share),
        words="”, “".join(facts.as_written(one.words[:6], question)),
        lines=_lines(one.path, before.texts[one.path], question),
        is_cut=one.path in before.cut,
    )


def _lines(path: str, data: bytes, question: str) -> list[Line]:
    """The statements that share most with the question, in their order."""
    mask = Mask.of([text.decode(data)])
    scored = [
        (facts.coverage(question, unit.text), unit) for unit in units_of(path, data) if unit.kind != "field"
    ]
    best = sorted((pair for pair in scored if pair[0] >= SPEAKS), key=lambda pair: -pair[0])[:MOST_LINES]
    found: list[Unit] = sorted((unit for _, unit in best), key=lambda unit: unit.first_line)
    return [Line(unit.first_line, textdiff.visible(mask(unit.text))) for unit in found]
