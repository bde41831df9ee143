"""What became of one statement, as a row of the ledger and as a finding. PURE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dreams.findings import evidence
from dreams.findings.base import ChangedHunk, FateName, Found, Row, Told
from dreams.findings.statements import derived, facts, turning
from dreams.findings.statements.standing import Standing
from dreams.findings.statements.units import Unit
from dreams.language import claims
from dreams.secrets.redact import redact

CHECK = "ledger"
_TURNED = re.compile(r"(.+) \(now (.+)\)")
BY_HAND = "A person’s own change."
CHANGED_HERE = "Says something else here now; the old statement stands elsewhere."


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one statement; `replaced` says that another one sits in its place, so that no rewording is looked for."""

    fate: FateName
    target: Standing | None = None
    note: str = ""
    lost: tuple[str, ...] = ()
    reworded: tuple[str, ...] = ()
    replaced: bool = False
    refused: str = ""  # the likest statement, and what keeps it from keeping this one


def superseded(hunk: ChangedHunk, unit: Unit, instead: Sequence[Standing]) -> Answer | None:
    """A person said what stands in a statement's place now: that is newer than any note. None where nobody did."""
    said = evidence.typed(hunk)
    for other in instead:
        found = claims.check(said, other.unit.text)
        if found.verdict != "supported" or not found.evidence:
            continue
        quote = found.evidence[0].quote
        # Who says the old one too has replaced nothing.
        if claims.check(said, unit.text).verdict != "supported":
            at = next((c.at for c in hunk.citations if quote in f"{c.quote} {c.context}"), None)
            day = f" on {at:%Y-%m-%d}" if at else ""
            return Answer("superseded-by", other, f"You said{day}: “{_short(quote)}”")
    return None


def row(hunk: ChangedHunk, text: str, answer: Answer) -> Row:
    target = answer.target
    if target is None:
        return Row(hunk.path, hunk.hunk_id, text, answer.fate, note=answer.note)
    line = target.unit.first_line
    return Row(hunk.path, hunk.hunk_id, text, answer.fate, target.path, line, target.unit.text, answer.note)


def found(hunk: ChangedHunk, line_no: int, text: str, answer: Answer, unit: Unit | None) -> Found | None:
    about = f"{unit.key if unit else text}"
    place = {"path": hunk.path, "hunk_id": hunk.hunk_id, "line_no": line_no, "about": about}
    said = _short(unit.text if unit else text)
    if answer.fate == "unexplained":
        return Found(
            CHECK, "unexplained-loss", "block", f"Unexplained loss: “{said}” {_gone(answer, unit.text if unit else text)}",
            "Reject the change, edit it so that the statement stays, or confirm that it may go.", told=Told(said, detail=_held_against(answer)), **place,  # type: ignore[arg-type]  # keywords of mixed types
        )  # fmt: skip
    if answer.reworded and answer.fate == "merged-into":
        words = ", ".join(
            f"“{word}”" for word in facts.as_written(answer.reworded[:8], unit.text if unit else text)
        )
        return Found(
            CHECK, "reworded", "warn", f"“{said}” is reworded; these words are gone: {words}.",
            "Compare both lines, and edit the change if the meaning changed.", **place,  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.note == CHANGED_HERE and not hunk.by_hand:
        return Found(
            CHECK, "now-contradicts", "warn", f"“{said}” says something else here now, and still stands elsewhere.",
            "Change both places, or neither.", **place,  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.fate == "stated":
        return _stated(hunk, said, answer, place)
    return None


def _held_against(answer: Answer) -> str:
    return f"The nearest statement, {redact(answer.refused)}." if answer.refused else ""


def _gone(answer: Answer, text: str) -> str:
    """How a statement is gone: with which facts, or because another one sits in its place."""
    if answer.note:
        return f"stands elsewhere, and “{_short(answer.note)}” stands in its place."
    lost = [_short(fact, 60) for fact in facts.as_written(answer.lost[:6], text)]
    only = _listed(lost)
    return f"stands nowhere any more.{f' It is the only place that says {only}.' if only else ''}"


def _stated(hunk: ChangedHunk, said: str, answer: Answer, place: dict[str, object]) -> Found | None:
    if answer.note == BY_HAND:
        return Found(
            CHECK, "removed-by-hand", "info", f"“{said}” leaves by a person’s own change and stands nowhere any more.", "", **place  # type: ignore[arg-type]  # as above
        )  # fmt: skip
    if answer.note in derived.NOTES or any(citation.found for citation in hunk.citations):
        return None
    return Found(
        CHECK, "stated-without-evidence", "warn", f"“{said}” leaves for a reason without evidence: {_short(answer.note)}",
        "Check the reason, or reject the change.", **place,  # type: ignore[arg-type]  # as above
    )  # fmt: skip


def _listed(lost: Sequence[str]) -> str:
    """Each in quotation marks, but what the place itself does not say; beside “never” (now “always”) no “not”."""
    turned = {fact: match for fact in lost if (match := _TURNED.fullmatch(fact))}
    unsaid = {turning.DENIED_NOW, turning.NOT if turned else turning.DENIED_NOW}
    told = [fact for fact in lost if fact not in unsaid]
    return ", ".join(
        f"“{turned[fact][1]}” (now “{turned[fact][2]}”)" if fact in turned else f"“{fact}”" for fact in told
    )


def _short(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
