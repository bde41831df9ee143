"""Each added statement held against what sessions say: supported, unsupported or contradicted, with the place. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dreams.engines.types import Citation
from dreams.findings.added import added_units, needs_no_source
from dreams.findings.base import ChangedHunk, Found, Heard, Judged, Subject, Told
from dreams.findings.statements.standing import State
from dreams.findings.statements.units import Unit, has_content

CHECK = "evidence"
MOST_JUDGED = 300  # statements of one change
_CLAIMING = frozenset({"sentence", "row", "field", "table"})
#: What the check of evidence says of a statement that it finds in no quote: a session that says it answers that.
ANSWERED = frozenset({"no-evidence", "words-without-source"})


def judge(subject: Subject) -> list[Judged]:
    """The added statements that stood nowhere before, each with the sessions' answer; those not looked at are left out."""
    if subject.heard is None:
        return []
    found: list[Judged] = []
    before = State(subject.before)
    for hunk, unit, line_no in _claims(subject, before):
        if len(found) >= MOST_JUDGED:
            break
        heard = subject.heard(unit.text)
        if heard is not None:
            found.append(Judged(hunk.path, hunk.hunk_id, line_no, unit.text, unit.key, heard))
    return found


def _claims(subject: Subject, before: State) -> Iterator[tuple[ChangedHunk, Unit, int]]:
    for hunk in subject.hunks:
        for unit, line_no in added_units(subject, hunk):
            claims = unit.kind in _CLAIMING and has_content(unit.text) and not needs_no_source(unit)
            if claims and not before.same_words(unit):
                yield hunk, unit, line_no


def weighed(found: Iterable[Found], judged: Sequence[Judged], subject: Subject) -> list[Found]:
    """The findings with the sessions' answers weighed in: what was said there needs no quote, what was denied there is told."""
    said = {_place(one) for one in judged if _is_said(one.heard)}
    typed = {(hunk.path, hunk.hunk_id) for hunk in subject.hunks if hunk.by_hand}
    denied = {
        _place(one): _otherwise(one, one.heard.citation)
        for one in judged
        if one.heard.answer == "contradicted" and one.heard.citation and (one.path, one.hunk_id) not in typed
    }
    asked = said | denied.keys()
    kept = [f for f in found if f.code not in ANSWERED or (f.path, f.hunk_id, f.about) not in asked]
    return [*kept, *denied.values()]


def _place(one: Judged) -> tuple[str, str, str]:
    return one.path, one.hunk_id, one.key


def _is_said(heard: Heard) -> bool:
    return heard.answer == "supported" and bool(
        heard.citation and heard.citation.role in {"user", "assistant"}
    )


def _otherwise(one: Judged, place: Citation) -> Found:
    where = f"a session says (line {place.line_no})" if place.line_no else "a session says"
    return Found(
        CHECK, "says-otherwise", "warn", f"“{one.text[:200]}” is not what {where}: “{place.quote[:200]}”",
        "Compare it with the quote, and edit or reject the change.", one.path, one.hunk_id, one.line_no, one.key,
        Told(one.text[:200]),
    )  # fmt: skip
