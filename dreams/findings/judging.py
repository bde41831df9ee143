"""Each added statement held against what sessions say: supported, unsupported or contradicted, with the place. PURE."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from dreams.engines.types import Citation
from dreams.findings.added import added_units, needs_no_source
from dreams.findings.base import ChangedHunk, Found, Heard, Judged, Subject, Told
from dreams.findings.statements.standing import State
from dreams.findings.statements.units import Unit, has_content
from dreams.language.statements import statement
from dreams.lib.prose.comparing import says_more

CHECK = "evidence"
MOST_JUDGED = 300  # statements of one change
MOST_NEW = 0.1  # of a statement's weight, that the quote beside it has no word for and yet says all of it
LEAST_PART = 3  # words that tell something, in a part that is judged by itself
_CUT = re.compile(r"[;.]\s+|\s[—–]\s|,?\s+(?:and|but)\s+")
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
        for said, heard in _answers(unit.text, subject.heard):
            if heard.answer != "unsupported" or not _is_from_memory(hunk, unit, before):
                found.append(Judged(hunk.path, hunk.hunk_id, line_no, said, unit.key, heard))
    return found


def _answers(text: str, ask: Callable[[str], Heard | None]) -> Iterator[tuple[str, Heard]]:
    """The sessions' answer to a statement; to each part of it where the quote that bears it out says less than it does."""
    heard = ask(text)
    if heard is None:
        return
    if heard.answer == "supported" and heard.citation and says_more(text, heard.citation.quote, MOST_NEW):
        parts = [(part, answer) for part in _parts(text) if (answer := ask(part))]
        if any(answer.answer != "supported" for _, answer in parts):
            yield from parts
            return
    yield text, heard


def _parts(text: str) -> list[str]:
    """The clauses of a statement, each long enough to say something by itself."""
    found, begun = list[str](), 0
    for cut in _CUT.finditer(text):
        if _tells(text[begun : cut.start()]) and _tells(text[cut.end() :]):
            found.append(text[begun : cut.start()])
            begun = cut.end()
    return [*found, text[begun:]]


def _tells(part: str) -> bool:
    return len(statement(part).telling) >= LEAST_PART


def _is_from_memory(hunk: ChangedHunk, unit: Unit, before: State) -> bool:
    """Whether a statement was made from memory itself: a merge, a move, a date worked out, a row that says what its file says."""
    if unit.kind == "row":
        return True
    if hunk.by_hand:
        return False
    from_memory = bool(hunk.citations) and all(one.source != "transcript" for one in hunk.citations)
    return from_memory or before.holder(unit.text) is not None


def _claims(subject: Subject, before: State) -> Iterator[tuple[ChangedHunk, Unit, int]]:
    for hunk in subject.hunks:
        for unit, line_no in added_units(subject, hunk):
            claims = unit.kind in _CLAIMING and has_content(unit.text) and not needs_no_source(unit)
            if claims and not before.same_words(unit):
                yield hunk, unit, line_no


def weighed(found: Iterable[Found], judged: Sequence[Judged], subject: Subject) -> list[Found]:
    """The findings with the sessions' answers weighed in: what was said there needs no quote, what was denied there is told."""
    unsaid = {_place(one) for one in judged if not _is_said(one.heard)}
    said = {_place(one) for one in judged} - unsaid
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
