"""What the checks said of a proposal, saved beside it: findings, the account of each removed line, what transcripts answered.
What a person confirmed stays confirmed while it is said.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TypedDict

from django.db import transaction

from dreams.findings.base import Found, Judged, MessageParts, Report, Row
from dreams.lib.files import text
from dreams.models import FileChange, Finding, Hunk, LedgerEntry, Proposal
from dreams.services import database
from dreams.services.proposals.transcript_verdicts import QUOTE_LIMIT, stored

Places = Mapping[tuple[str, str], Hunk]
_LINE = re.compile(r"\bline \d+")


def is_checked(proposal: Proposal, key: str) -> bool:
    """Whether what is saved was said of exactly this."""
    return Proposal.objects.filter(pk=proposal.pk, checked_digest=key).exists()


MOST_AT_ONCE = 200  # rows of one transaction: about 20 ms of SQLite's write lock


def save(proposal: Proposal, looked_at: Collection[tuple[str, str]], report: Report, key: str) -> None:
    """Put a report in place of what was said of the places (path, hunk id) looked at, and of the whole; confirmations
    stay by key. What was said of other hunks stays beside them.

    In several transactions, the digest with the last one: after an end in between the checks run again, and till then
    too much is said rather than too little.
    """
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest="")
    rows = Hunk.objects.filter(file__proposal=proposal).select_related("file")
    hunks = {place: row for row in rows if (place := (row.file.path, row.hunk_id)) in looked_at}
    _save_findings(proposal, hunks, report)
    _save_ledger(hunks, report)
    _save_heard(hunks, report.judged)
    Proposal.objects.filter(pk=proposal.pk).update(checked_digest=key)


@dataclass(frozen=True, slots=True)
class _Confirmed:
    """What a person confirmed: by the finding's key and, for changes that a rebase gave another id, by what was said of
    which hunk. A hunk that went into another left its findings with the file."""

    by_key: Mapping[str, Finding]
    by_words: Mapping[tuple[str, str, str, int | None], Finding]

    @classmethod
    def of(cls, proposal: Proposal) -> _Confirmed:
        rows = list(proposal.findings.filter(confirmed_at__isnull=False).select_related("file"))
        by_words = {
            (row.file.path if row.file else "", row.code, _without_place(row.message), row.hunk_id): row
            for row in rows
        }
        return cls({row.key: row for row in rows}, by_words)

    def fields(self, found: Found, hunk: Hunk | None) -> _Confirmation:
        said = (found.path, found.code, _without_place(text.storable(found.message, 2000)))
        row = self.by_key.get(found.key) or self.by_words.get((*said, hunk.pk if hunk else None))
        row = row or self.by_words.get((*said, None))
        by, at = (row.confirmed_by, row.confirmed_at) if row else ("", None)
        return {"confirmed_by": by, "confirmed_at": at}


class _Confirmation(TypedDict):
    confirmed_by: str
    confirmed_at: dt.datetime | None


def _without_place(message: str) -> str:
    """Lines move; what is said of them stays the same."""
    return _LINE.sub("line", message)


def _save_findings(proposal: Proposal, hunks: Places, report: Report) -> None:
    """Those that are said already, in this order, stay as they are: a submit says mostly what was said before."""
    files = {file.path: file for file in proposal.files.all()}
    confirmed = _Confirmed.of(proposal)
    mine = {None, *(row.pk for row in hunks.values())}
    old = [row for row in proposal.findings.order_by("pk") if row.hunk_id in mine]
    new = [
        _row(proposal, found, files.get(found.path), hunks.get((found.path, found.hunk_id)), confirmed)
        for found in report.findings
    ]
    pairs = zip(old, new, strict=False)
    same = next(
        (at for at, pair in enumerate(pairs) if _said(pair[0]) != _said(pair[1])), min(len(old), len(new))
    )
    for part in database.in_parts(new[same:], MOST_AT_ONCE):
        Finding.objects.bulk_create(part)
    for gone in database.in_parts(old[same:], MOST_AT_ONCE):
        Finding.objects.filter(pk__in=[row.pk for row in gone]).delete()


def _said(row: Finding) -> tuple[object, ...]:
    """All of a finding but its number."""
    return tuple(
        getattr(row, field.attname) for field in Finding._meta.concrete_fields if not field.primary_key
    )


def _row(
    proposal: Proposal, found: Found, file: FileChange | None, hunk: Hunk | None, confirmed: _Confirmed
) -> Finding:
    return Finding(
        proposal=proposal,
        file=file,
        hunk=hunk,
        key=found.key,
        check_name=found.check,
        code=found.code,
        severity=found.severity,
        message=text.storable(found.message, 2000),
        remedy=text.storable(found.remedy, 1000),
        message_parts=_parts(found.message_parts),
        line_no=found.line_no,
        **confirmed.fields(found, hunk),
    )


def _parts(told: MessageParts) -> dict[str, str]:
    return {name: text.storable(said, 2000) for name, said in asdict(told).items() if said}


def _save_ledger(hunks: Places, report: Report) -> None:
    by_hunk: dict[Hunk, list[LedgerEntry]] = defaultdict(list)
    for row in report.ledger:
        if hunk := hunks.get((row.path, row.hunk_id)):
            by_hunk[hunk].append(_entry(hunk, row))
    old: dict[int, list[tuple[object, ...]]] = defaultdict(list)
    for entry in LedgerEntry.objects.filter(hunk__in=by_hunk).order_by("pk").values_list(*_ENTRY):
        old[entry[0]].append(entry)
    changed = [
        (hunk, entries)
        for hunk, entries in by_hunk.items()
        if old[hunk.pk] != [tuple(getattr(entry, name) for name in _ENTRY) for entry in entries]
    ]
    for part in database.in_parts(changed, MOST_AT_ONCE):
        with transaction.atomic():
            LedgerEntry.objects.filter(hunk__in=[hunk for hunk, _ in part]).delete()
            LedgerEntry.objects.bulk_create(entry for _, entries in part for entry in entries)


_ENTRY = ("hunk_id", "text", "fate", "target_path", "target_line", "target_text", "note")


def _entry(hunk: Hunk, row: Row) -> LedgerEntry:
    return LedgerEntry(
        hunk=hunk,
        text=text.storable(row.text, QUOTE_LIMIT),
        fate=row.fate,
        target_path=row.target_path,
        target_line=row.target_line,
        target_text=text.storable(row.target_text, QUOTE_LIMIT),
        note=text.storable(row.note, 500),
    )


def _save_heard(hunks: Places, judged: Sequence[Judged]) -> None:
    """Beside each hunk what the sessions say of its statements."""
    answers = defaultdict(list)
    for one in judged:
        answers[one.path, one.hunk_id].append(stored(one.line_no, one.text, one.heard))
    changed = [hunk for place, hunk in hunks.items() if hunk.transcript_verdicts != answers[place]]
    for hunk in changed:
        hunk.transcript_verdicts = answers[hunk.file.path, hunk.hunk_id]
    for part in database.in_parts(changed, MOST_AT_ONCE):
        Hunk.objects.bulk_update(part, ["transcript_verdicts"])
