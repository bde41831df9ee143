"""What is shown next to a change: evidence with speaker and time, the answers of sessions, and findings."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from django.urls import reverse

from dreams.findings.base import Answer
from dreams.findings.evidence import MOST_NEW, UNSOURCED
from dreams.lib.files.text import plural
from dreams.lib.prose.comparing import says_more
from dreams.lib.secrets.masking import Mask
from dreams.models import Evidence, Finding, Hunk, LedgerEntry
from dreams.services.proposals import transcript_verdicts
from dreams.services.review.mending import LOSS
from dreams.web.pages.review_proposal import WORST

_LINE = re.compile(r"^,? lines? [\d,]+\b")
_OF_IT = re.compile(r"(?:Is|Has) ")


def without_place(message: str, path: str) -> str:
    """ "a.md, line 6 holds …" → "Holds …"; of a line "The line is …", of the file "It is …"."""
    if not path or not message.startswith(path):
        return message
    rest, of_a_line = _LINE.subn("", message[len(path) :])
    rest = rest.lstrip()
    said = f"{rest[:1].upper()}{rest[1:]}"
    return as_sentence(said, "The line" if of_a_line else "It") if rest[:1].isalpha() else message


def as_sentence(said: str, subject: str = "It") -> str:
    """ "Is 1,300 characters long." → "It is …": adds the subject to a remark that starts with a verb."""
    return f"{subject} {said[:1].lower()}{said[1:]}" if _OF_IT.match(said) else said


_ORDER: tuple[Answer, ...] = ("contradicted", "unsupported", "supported")
_SAID: dict[Answer, str] = {
    "supported": "Found in a session",
    "contradicted": "Contradicted",
    "unsupported": "Not found in the sessions",
}


@dataclass(frozen=True, slots=True)
class AddedStatement:
    """One added statement and the answer. `role` is the speaker of the quote, at `line_no` (1-based) of the transcript."""

    text: str
    answer: Answer
    said: str
    why: str
    role: str
    quote: str
    session_pk: int | None
    line_no: int | None
    note: str = ""

    @property
    def who(self) -> str:
        return Evidence.SPEAKERS.get(self.role, "A session")

    @property
    def caveat(self) -> str:
        """A warning if a program printed the quote or a third party wrote it; else ""."""
        return Evidence.NOBODYS.get(self.role, "") if self.answer == "supported" else ""


def statements(heard: Iterable[list[dict[str, object]]], mask: Mask) -> tuple[AddedStatement, ...]:
    """The statements stored with hunks, masked; those that need attention first."""
    found = dict.fromkeys(_statement(kept, mask) for row in heard for kept in row)
    return tuple(sorted(found, key=lambda one: _ORDER.index(one.answer)))


def _statement(kept: dict[str, object], mask: Mask) -> AddedStatement:
    said, heard = transcript_verdicts.loaded_answer(kept)
    place = heard.citation
    return AddedStatement(
        mask(said),
        heard.answer,
        _SAID[heard.answer],
        heard.why,
        place.role if place else "",
        mask(place.quote) if place else "",
        place.session_pk if place else None,
        place.line_no if place else None,
        place.note if place else "",
    )


def summary(found: Iterable[AddedStatement]) -> str:
    """ "2 statements supported, 1 statement not found in the sessions"; "" for none."""
    answers = [one.answer for one in found]
    counted = [(answers.count(answer), _SAID[answer].lower()) for answer in reversed(_ORDER)]
    return ", ".join(f"{plural(count, 'statement')} {said}" for count, said in counted if count)


@dataclass(frozen=True, slots=True)
class Proof:
    """Evidence beside a change: quotes, statements (each with whether a quote already supports it), ledger rows."""

    quotes: tuple[Evidence, ...] = ()
    heard: tuple[tuple[AddedStatement, bool], ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()

    def __len__(self) -> int:
        return len(self.quotes) + len(self.heard) + len(self.ledger)

    def part(self, start: int, stop: int, *, heard_first: bool) -> "Proof":
        """The items from `start` to `stop` of all three lists in order."""
        order = ("heard", "quotes", "ledger") if heard_first else ("quotes", "heard", "ledger")
        every = [(name, one) for name in order for one in getattr(self, name)][start:stop]
        return Proof(**{name: tuple(one for kind, one in every if kind == name) for name in order})


# Items of evidence that a card shows open, and folded ones after them.
OPEN_PLACES = 3
FOLDED_PLACES = 50


@dataclass(frozen=True, slots=True)
class CardEvidence:
    """All evidence for one decision. `told` is the quote shown above it, which a new memory will keep."""

    quotes: tuple[Evidence, ...]
    statements: tuple[AddedStatement, ...]
    ledger: tuple[LedgerEntry, ...]
    told: Evidence | None

    @property
    def heard(self) -> tuple[tuple[AddedStatement, bool], ...]:
        """Each statement, and whether the quotes already support it."""
        found = {(one.session_id, one.line_no) for one in self.quotes if one.session_id and one.found}
        return tuple(
            (one, one.answer == "supported" and (one.session_pk, one.line_no) in found)
            for one in self.statements
        )

    @property
    def is_all_said(self) -> bool:
        """Whether the quotes contain every added statement, nearly word for word."""
        shown = [quote.quote for quote in self.quotes if quote.found]
        return bool(self.statements) and all(
            is_quoted and any(not says_more(one.text, quote, MOST_NEW) for quote in shown)
            for one, is_quoted in self.heard
        )

    @property
    def whole(self) -> Proof:
        beside = tuple(quote for quote in self.quotes if quote != self.told)
        return Proof(beside, () if self.is_all_said else self.heard, self.ledger)

    @property
    def at_once(self) -> Proof:
        """The items shown open; contradicted statements are first."""
        return self.whole.part(0, OPEN_PLACES, heard_first=self.contradicted > 0)

    @property
    def folded(self) -> Proof:
        return self.whole.part(OPEN_PLACES, OPEN_PLACES + FOLDED_PLACES, heard_first=self.contradicted > 0)

    @property
    def rest(self) -> int:
        """The number of items after the open ones, folded or not on the page."""
        return max(0, len(self.whole) - OPEN_PLACES)

    @property
    def words(self) -> str:
        """A summary of the evidence; contradicted statements are shown separately."""
        quotes = len(self.whole.quotes)
        said = [plural(quotes, "quote")] if quotes else []
        if self.is_all_said and quotes:
            said[-1] += " that says all of this" if quotes == 1 else " that say all of this"
        if self.ledger:
            said.append("where it went" if len(self.ledger) == 1 else f"where {len(self.ledger)} lines went")
        if self.statements and not self.is_all_said:
            said.append(summary(one for one in self.statements if one.answer != "contradicted"))
        return ", ".join(filter(None, said))

    @property
    def contradicted(self) -> int:
        """The number of statements that a session contradicts."""
        return sum(one.answer == "contradicted" for one in self.statements)

    @property
    def missing(self) -> int:
        """The number of quotes that were not found in the cited place."""
        return sum(not quote.found for quote in self.quotes)


def first_quote(quotes: Sequence[Evidence]) -> Evidence | None:
    """The first quote of the person, else the first from a transcript."""
    said = [quote for quote in quotes if quote.is_transcript]
    return next((quote for quote in said if quote.is_yours), said[0] if said else None)


# From this many on, findings of one kind are one list: nobody presses the same button ten times with care.
LEAST_LISTED = 3
MOST_SHOWN = 4
ALL_UNSOURCED = "do not appear in any memory, quote or session; they are listed next to the change."


@dataclass(frozen=True, slots=True)
class Remark:
    """One finding. `message` omits what the card already shows."""

    finding: Finding
    message: str
    remedy: str
    line_no: int | None
    way: dict[str, Any] | None = None

    @property
    def severity(self) -> str:
        return self.finding.severity

    @property
    def key(self) -> str:
        return self.finding.key

    @property
    def confirmed_by(self) -> str:
        return self.finding.confirmed_by

    @property
    def confirmed_at(self) -> object:
        return self.finding.confirmed_at


@dataclass(frozen=True, slots=True)
class Beside:
    """What the card already shows: the checked statements, whether a quote is not in its place, the file."""

    project_pk: int
    is_open: bool
    statements: Sequence[AddedStatement] = ()
    misses_quote: bool = False
    path: str = ""

    def tells(self, finding: Finding, answer: str) -> bool:
        """Whether the finding's statement is shown with this answer."""
        said = finding.message_parts.get("statement")
        return any(one.answer == answer and one.text[:200] == said for one in self.statements)


def plain(findings: Sequence[Finding], beside: Beside) -> tuple[Remark, ...]:
    """Findings outside a card, on a file or the proposal, with full messages."""
    return tuple(
        replace(_remark(finding, beside), message=finding.message, line_no=None) for finding in findings
    )


def said(findings: Sequence[Finding], beside: Beside) -> dict[str, Any]:
    """`findings` worst first. With equal severity, those about safety come before those about missing sources."""
    findings = sorted(findings, key=lambda f: (WORST.index(f.severity), f.check_name == "evidence"))
    waiting = [f for f in findings if f.severity == Finding.Severity.BLOCK and f.confirmed_at is None]
    asked = _asked(waiting) if beside.is_open else {}
    listed = {finding.pk for rows in asked.values() for finding in rows}
    done = [f for f in findings if f.confirmed_at is not None]
    folded = done if len(done) >= LEAST_LISTED else []
    single = [f for f in findings if f.pk not in listed and f not in folded]
    remarks = _once(_remarks(single, beside))
    return {
        "shown": remarks[:MOST_SHOWN],
        "asked": tuple(_list(rows) for rows in asked.values()),
        "rest": remarks[MOST_SHOWN:],
        "confirmed": tuple(_remark(finding, beside) for finding in folded),
    }


def _asked(waiting: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Kind → its findings, for kinds with many findings."""
    by_code = {
        code: list(rows)
        for code, rows in groupby(sorted(waiting, key=lambda f: (f.code, f.line_no or 0)), lambda f: f.code)
    }
    return {code: rows for code, rows in by_code.items() if len(rows) >= LEAST_LISTED}


def _list(rows: Sequence[Finding]) -> dict[str, Any]:
    remedies = {row.remedy for row in rows}
    # The list says once what happens to all the statements.
    is_loss = all(row.code == LOSS and row.message_parts.get("statement") for row in rows)
    items = tuple(
        {"key": row.key, "text": row.message_parts["statement"] if is_loss else row.message} for row in rows
    )
    return {"is_loss": is_loss, "remedy": remedies.pop() if len(remedies) == 1 else "", "items": items}


def _remarks(findings: Sequence[Finding], beside: Beside) -> tuple[Remark, ...]:
    """One remark for all statements without a source that the card already lists as not found; one for each other finding."""
    alike = [f for f in findings if f.code == UNSOURCED and beside.tells(f, "unsupported")]
    if len(alike) < LEAST_LISTED:
        return tuple(_remark(finding, beside) for finding in findings)
    first = replace(
        _remark(alike[0], beside), message=f"{len(alike)} statements {ALL_UNSOURCED}", line_no=None
    )
    return tuple(
        first if finding is alike[0] else _remark(finding, beside)
        for finding in findings
        if finding is alike[0] or finding not in alike
    )


def _once(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """Keeps each remedy only on its first remark: on a card of forty findings it would be most of the text."""
    told: set[str] = set()
    shown = []
    for remark in remarks:
        shown.append(replace(remark, remedy="") if remark.remedy in told else remark)
        told.add(remark.remedy)
    return tuple(shown)


def _remark(finding: Finding, beside: Beside) -> Remark:
    # A number is read as one of the lines shown: those of the ledger are in the old text, and what is written may lack
    # lines that were proposed.
    line = finding.line_no if finding.check_name != "ledger" and beside.is_open else None
    waits = beside.is_open and finding.confirmed_at is None
    return Remark(
        finding,
        _message(finding, beside, line),
        finding.remedy if waits else "",
        line,
        _way(finding, beside) if waits else None,
    )


def _message(finding: Finding, beside: Beside, line: int | None) -> str:
    if finding.code == "says-otherwise" and beside.tells(finding, "contradicted"):
        return "A session says otherwise."  # both texts are beside it, with a link to the session
    if finding.code == "quote-not-found" and beside.misses_quote:
        return "Its quote is not in the cited place."
    said = line and finding.message_parts.get("remark")
    return as_sentence(said) if said else without_place(finding.message, beside.path)


def _way(finding: Finding, beside: Beside) -> dict[str, Any] | None:
    if not finding.code.startswith("standing-secret-"):
        return None
    return {"label": "Remove it …", "href": reverse("project-secrets", args=[beside.project_pk])}


def offers(
    findings: Iterable[Finding], ledger: Sequence[LedgerEntry], row: Hunk, parts: int
) -> list[dict[str, Any]]:
    """The fixes to offer. `ledger` is about the lines removed in `row`; `parts` counts the changes of its decision."""
    said = list(findings)
    codes = Counter(finding.code for finding in said if finding.confirmed_at is None)
    lost = sum(entry.fate == LedgerEntry.Fate.UNEXPLAINED for entry in ledger)
    some_go = any(finding.code == LOSS and finding.confirmed_at for finding in said)
    found = []
    # If nothing else changes, keeping all removed lines means rejecting it.
    if codes[LOSS] and (row.new_count or lost < row.base_count or parts > 1 or some_go):
        lines = "line" if codes[LOSS] == 1 else "lines"
        found.append(
            {"how": "keep", "label": f"Keep the old {lines} too" if row.new_count else f"Keep the {lines}"}
        )
    if any(code.startswith("secret-") for code in codes):
        found.append({"how": "redact", "label": "Leave the secret out"})
    if codes["invisible-text"] or codes["escape-sequence"]:
        found.append({"how": "unhide", "label": "Leave out invisible characters"})
    return found
