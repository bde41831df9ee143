"""The one way to write the audit log, and to check that nobody has changed it.

Each entry's hash covers its own fields and the hash of the entry before. Contents never stand in it: sha256s do.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Any

from django.db import transaction
from django.utils import timezone

from dreams.lib.secrets.redact import redact
from dreams.models import AuditEntry, Project
from dreams.services import database

# Registered actions: a typo must not make a new kind of entry that no filter shows.
ACTIONS = {
    "login.link": "Login link made",
    "login": "Logged in",
    "dream.requested": "Dream requested",
    "dream.cancelled": "Dream cancelled",
    "dream.ended": "Dream ended",
    "dream.partial": "Unfinished work proposed",
    "proposal.made": "Proposal made",
    "proposal.superseded": "Proposal superseded",
    "review.decided": "Decided",
    "review.finding_confirmed": "Finding confirmed",
    "review.rebase_confirmed": "Result after a rebase confirmed",
    "review.secrets_shown": "Secrets of a proposal shown",
    "memory.secrets_shown": "Secrets of a memory shown",
    "review.submitted": "Review submitted",
    "question.answered": "Question answered",
    "question.taken_back": "Answer taken back",
    "question.later": "Question put off",
    "card.approved": "Card approved",
    "card.rejected": "Card rejected",
    "card.edited": "Card edited",
    "card.taken_back": "Decision on a card undone",
    "apply.done": "Applied",
    "apply.failed": "Apply failed",
    "apply.rebased": "Rebased",
    "apply.recovered": "Recovered",
    "rollback.done": "Undone",
    "lock.healed": "Lock healed",
    "setting.changed": "Setting changed",
    "agent_settings.changed": "Agent’s settings changed",
    "policy.changed": "Policy changed",
    "policy.earned": "Earned policy accepted",
    "policy.declined": "Earned policy declined",
    "policy.ended": "Earned policy ended",
    "project.trusted": "Project trusted",
    "inbox.snoozed": "Snoozed",
    "inbox.brought_back": "Brought back to the inbox",
    "feed.made": "Feed address made",
    "feed.revoked": "Feed address revoked",
    "digest.sent": "Digest sent",
    "job.added": "Job added",
    "job.removed": "Job removed",
    "job.started": "Job started by hand",
    "host.adopted": "Former host taken over",
    "host.accepts": "Requests of other hosts accepted",
    "host.declines": "Requests of other hosts declined",
    "request.asked": "Asked of another host",
    "request.withdrawn": "Request withdrawn",
    "history.imported": "History imported",
    "history.purged": "History purged",
}


class UnknownAction(KeyError):
    """An action that is not registered in ACTIONS."""


def record(
    action: str,
    *,
    actor: str = "",
    project: Project | None = None,
    object_id: str = "",
    batch: str = "",
    **data: Any,
) -> AuditEntry:
    """Append one entry. `data` is JSON: sha256s, counts, names of settings; never contents.

    A reason is what a person typed, and nothing is ever taken out of the log: it goes in without its secrets.
    """
    if action not in ACTIONS:
        raise UnknownAction(action)
    with transaction.atomic():
        # The next number is the last one's and one more: nobody else may read the last until this one is there.
        database.one_at_a_time("audit log")
        last = AuditEntry.objects.select_for_update().order_by("-number").first()
        entry = AuditEntry(
            number=last.number + 1 if last else 1,
            at=timezone.now(),
            action=action,
            actor=actor,
            project_id_was=project.pk if project else None,
            project_label=str(project) if project else "",
            object_id=object_id,
            batch=batch,
            data=data
            | {key: redact(data[key]) for key in ("reason", "error") if isinstance(data.get(key), str)},
            prev_hash=last.hash if last else "",
        )
        entry.hash = _digest(entry)
        entry.save(force_insert=True)
    return entry


def verify_chain() -> list[str]:
    """What is wrong with the chain, a line each; empty when every entry is as it was written."""
    problems: list[str] = []
    previous = ""
    expected = 1
    for entry in AuditEntry.objects.order_by("number").iterator(chunk_size=1000):
        if entry.number != expected:
            problems.append(_missing(expected, entry.number - 1))
        if entry.prev_hash != previous:
            problems.append(f"Audit entry {entry.number} does not follow the one before it.")
        if entry.hash != _digest(entry):
            problems.append(f"Audit entry {entry.number} was changed after it was written.")
        previous, expected = entry.hash, entry.number + 1
    return problems


def _missing(first: int, last: int) -> str:
    if first == last:
        return f"Audit entry {first} is missing."
    return f"Audit entries {first} to {last} are missing."


def _digest(entry: AuditEntry) -> str:
    fields = [
        entry.number,
        entry.at.astimezone(dt.UTC).isoformat(),
        entry.action,
        entry.actor,
        entry.project_id_was,
        entry.project_label,
        entry.object_id,
        entry.batch,
        entry.data,
        entry.prev_hash,
    ]
    return hashlib.sha256(json.dumps(fields, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
