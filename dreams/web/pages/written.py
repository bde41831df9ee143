"""What an agent knows since a proposal was written: its new statements, those that are gone, and one question that
somebody asked in a past session, as the memory answers it before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import F

from dreams.findings.ledger import facts
from dreams.findings.ledger.units import Unit, units_of
from dreams.lib.diff import visible
from dreams.lib.secrets.masking import Mask
from dreams.models import AppliedFile, Memory, Prompt, Proposal, Session
from dreams.services import blobs
from dreams.services.memories import syncing
from dreams.web.pages import recall
from dreams.web.pages.recall import Answer

MOST = 8
#: Fields and headings are no knowledge; index rows say what a memory says.
KNOWN = frozenset({"sentence", "table", "code"})
MOST_PROMPTS, LONGEST = 200, 300
#: The share of a question's words that a new statement must have to be its answer, and how many words at least.
LIKE, SHARED = 0.34, 2
#: So many questions are tried until one is answered otherwise than before.
MOST_TRIED = 3
Texts = Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Changed:
    """One memory: what it says now, and what it says no longer. `pk` is None where it is gone."""

    pk: int | None
    name: str
    learnt: Sequence[str]
    gone: Sequence[str]
    more: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question from a past session."""

    text: str
    session: Session
    before: Sequence[Line]
    now: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Line:
    """What an agent would find for a question; `only_here`: not in the other answer."""

    text: str
    path: str
    only_here: bool


@dataclass(frozen=True, slots=True)
class Written:
    memories: Sequence[Changed]
    asked: Asked | None


def of(proposal: Proposal) -> Written | None:
    """None where nothing of it is written, or nothing of what was written still differs."""
    if proposal.state != Proposal.State.APPLIED:
        return None
    rows = AppliedFile.objects.filter(
        application__proposal=proposal, application__undone_at__isnull=True
    ).order_by("application", "pk")
    first: dict[str, str] = {}
    for row in rows:
        first.setdefault(row.path, row.before_sha)
    if not first:
        return None
    now = syncing.contents(proposal.project)
    before = _before(now, first)
    known = {row.path: row for row in proposal.project.memories.filter(path__in=first)}
    changed = list(_changed(before, now, first, known))
    new = [unit for path in first for unit in _new(before, now, path)]
    return Written(changed, _asked(proposal, new, before, now)) if changed else None


def _before(now: Texts, shas: Mapping[str, str]) -> dict[str, bytes]:
    """The directory as it is, with the files that were written as they were."""
    texts = blobs.get_many(sha for sha in shas.values() if sha)
    kept = {path: data for path, data in now.items() if path not in shas}
    return kept | {path: texts[sha] for path, sha in shas.items() if sha in texts}


def _changed(
    before: Texts, now: Texts, paths: Iterable[str], known: Mapping[str, Memory]
) -> Iterator[Changed]:
    mask = Mask.of(data.decode("utf-8", "replace") for side in (before, now) for data in side.values())
    for path in sorted(paths):
        learnt = [visible(mask(unit.text)) for unit in _new(before, now, path)]
        gone = [visible(mask(unit.text)) for unit in _new(now, before, path)]
        if learnt or gone:
            row = known.get(path)
            yield Changed(
                pk=row.pk if row and path in now else None,
                name=(row.name if row else "") or path,
                learnt=learnt[:MOST],
                gone=gone[:MOST],
                more=max(0, len(learnt) - MOST) + max(0, len(gone) - MOST),
            )


def _new(old: Texts, new: Texts, path: str) -> list[Unit]:
    """What `path` says in `new` that no file said in `old`: what only moved is nothing new."""
    if new.get(path) == old.get(path):
        return []
    said = {unit.key for name, data in old.items() for unit in units_of(name, data)}
    return [unit for unit in units_of(path, new.get(path)) if unit.kind in KNOWN and unit.key not in said]


def _asked(proposal: Proposal, new: Sequence[Unit], before: Texts, now: Texts) -> Asked | None:
    """The question that the new statements answer best, and that was answered otherwise before."""
    for prompt in _questions(proposal, new)[:MOST_TRIED]:
        question = " ".join(prompt.text.split())
        then = recall.answer(proposal.project, before, question)
        since = recall.answer(proposal.project, now, question)
        if _said(then) != _said(since):
            asked = visible(Mask.of([question])(question))
            return Asked(asked, prompt.session, _lines(then, since), _lines(since, then))
    return None


def _questions(proposal: Proposal, new: Sequence[Unit]) -> list[Prompt]:
    """What people asked in this project's sessions, what the new statements answer best first."""
    rows = Prompt.objects.filter(
        session__project=proposal.project_id, session__own=False, text__contains="?"
    ).select_related("session")
    found = [(_share(row, new), row) for row in rows.order_by(F("at").desc(nulls_last=True))[:MOST_PROMPTS]]
    return [row for share, row in sorted(found, key=lambda pair: -pair[0]) if share >= LIKE]


def _share(prompt: Prompt, new: Sequence[Unit]) -> float:
    if len(prompt.text) > LONGEST:
        return 0
    shares = (
        facts.coverage(prompt.text, unit.text)
        for unit in new
        if len(facts.shared_words(prompt.text, unit.text)) >= SHARED
    )
    return max(shares, default=0)


def _lines(answer: Answer, other: Answer) -> list[Line]:
    there = {text for _, text in _said(other)}
    return [Line(text, path, text not in there) for path, text in _said(answer)]


def _said(answer: Answer) -> list[tuple[str, str]]:
    """Of the memories that would be opened; where none would be, of the index."""
    lines = [(memory.chosen.path, line.text) for memory in answer.opened for line in memory.lines]
    return lines or [("MEMORY.md", line.text) for line in answer.index_lines]
