"""What the checks said, saved beside the hunks, and of which very texts they said it: the same are not read twice."""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TypedDict

from django.db import transaction
from django.db.models import Q

from dreams.findings import secrets
from dreams.findings.base import Found, Judged, MessageParts, Report, Subject
from dreams.lib.files import text
from dreams.lib.source_digest import source_digest
from dreams.models import FileChange, Finding, Hunk, LedgerEntry, Proposal
from dreams.services.proposals.hearing import QUOTE_LIMIT, Hearing, stored

Places = Mapping[tuple[str, str], Hunk]
_LINE = re.compile(r"\bline \d+")
#: What sessions say is asked for while the checks run; which sessions those are is in the key.
_ASKED = frozenset({"heard", "against"})


def key_of(subject: Subject, heard: Hearing) -> str:
    """Equal for subjects of which the checks say the same: every text, hunk, setting and session, the key
    that secrets are named with, and the checks themselves."""
    made = hashlib.sha256(f"{source_digest()} {secrets.fingerprint('')}".encode())
    for field in fields(subject):
        if field.name not in _ASKED:
            made.update(
                f"{field.name} {_told(getattr(subject, field.name))}\n".encode("utf-8", "surrogatepass")
            )
    made.update(repr([session.pk for session in heard.sessions]).encode())
    return made.hexdigest()


def _told(value: object) -> str:
    """The same for what is equal, whatever its order in memory."""
    if isinstance(value, frozenset):
        return repr(sorted(value))
    if isinstance(value, Mapping):
        return repr(sorted((key, text.sha256(v) if isinstance(v, bytes) else v) for key, v in value.items()))
    return repr(value)


def stands(proposal: Proposal, key: str) -> bool:
    """Whether what is saved was said of exactly this."""
    return Proposal.objects.filter(pk=proposal.pk, checked_digest=key).exists()


def save(proposal: Proposal, looked_at: Collection[tuple[str, str]], report: Report, key: str) -> None:
    """Put a report in place of what was said of the places (path, hunk id) looked at, and of the whole; confirmations
    stay by key. What was said of other hunks stays beside them."""
    with transaction.atomic():
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
    files = {file.path: file for file in proposal.files.all()}
    confirmed = _Confirmed.of(proposal)
    proposal.findings.filter(Q(hunk__isnull=True) | Q(hunk__in=[row.pk for row in hunks.values()])).delete()
    Finding.objects.bulk_create(
        _row(proposal, found, files.get(found.path), hunks.get((found.path, found.hunk_id)), confirmed)
        for found in report.findings
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
    by_hunk = defaultdict(list)
    for row in report.ledger:
        by_hunk[row.path, row.hunk_id].append(row)
    LedgerEntry.objects.filter(hunk__in=[hunks[place].pk for place in by_hunk if place in hunks]).delete()
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            hunk=hunks[place],
            text=text.storable(row.text, QUOTE_LIMIT),
            fate=row.fate,
            target_path=row.target_path,
            target_line=row.target_line,
            target_text=text.storable(row.target_text, QUOTE_LIMIT),
            note=text.storable(row.note, 500),
        )
        for place, rows in by_hunk.items()
        if place in hunks
        for row in rows
    )


def _save_heard(hunks: Places, judged: Sequence[Judged]) -> None:
    """Beside each hunk what the sessions say of its statements."""
    answers = defaultdict(list)
    for one in judged:
        answers[one.path, one.hunk_id].append(stored(one.line_no, one.text, one.heard))
    changed = [hunk for place, hunk in hunks.items() if hunk.transcript_verdicts != answers[place]]
    for hunk in changed:
        hunk.transcript_verdicts = answers[hunk.file.path, hunk.hunk_id]
    Hunk.objects.bulk_update(changed, ["transcript_verdicts"], batch_size=200)
