"""Writes the audit log (nothing else does), and checks that nobody has changed it.

Each entry's hash covers its fields and the hash of the entry before. It has sha256s, never contents.

A chain does not show entries removed from its end, so the newest one's number and hash are also kept in a file of the data
directory. If the database no longer has that entry, the next entry reports it first.
"""

import datetime as dt
import hashlib
import json
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from dreams.lib.files import flush
from dreams.lib.secrets.redact import cut, redact
from dreams.models import AuditEntry, Card, DreamRun, Project, Proposal, Question, ScheduledJob
from dreams.services import database

log = logging.getLogger(__name__)
MOST_TYPED = 500  # characters of a reason, as in the columns
# Registered actions, as a typo would make a kind of entry that no filter shows.
ACTIONS = {
    "login.link": "Login link made",
    "login": "Logged in",
    "login.password": "Password set",
    "login.ended": "Login ended",
    "person.added": "Person added",
    "person.changed": "Role changed",
    "person.removed": "Person removed",
    "dream.requested": "Dream requested",
    "dream.cancelled": "Dream cancelled",
    "dream.ended": "Dream ended",
    "dream.partial": "Unfinished work proposed",
    "proposal.made": "Proposal made",
    "proposal.superseded": "Proposal superseded",
    "review.decided": "Decided",
    "review.finding_confirmed": "Finding confirmed",
    "review.rebase_confirmed": "Result after a rebase confirmed",
    "review.conflict_solved": "Conflict solved",
    "review.secrets_shown": "Secrets of a proposal shown",
    "memory.secrets_shown": "Secrets of a memory shown",
    "review.seconded": "Approved by a second person",
    "review.second_refused": "Rejected by a second person",
    "review.submitted": "Review submitted",
    "question.answered": "Question answered",
    "question.taken_back": "Answer undone",
    "question.later": "Question postponed",
    "card.approved": "Card approved",
    "card.rejected": "Card rejected",
    "card.edited": "Card edited",
    "card.taken_back": "Decision on a card undone",
    "apply.done": "Applied",
    "apply.failed": "Apply failed",
    "apply.rebased": "Rebased",
    "apply.recovered": "Recovered",
    "apply.abandoned": "Write abandoned",
    "rollback.done": "Undone",
    "lock.healed": "Lock healed",
    "setting.changed": "Setting changed",
    "agent_settings.changed": "Agent’s settings changed",
    "policy.changed": "Policy changed",
    "policy.earned": "Earned policy accepted",
    "policy.declined": "Earned policy declined",
    "policy.ended": "Earned policy ended",
    "price.changed": "Price changed",
    "price.removed": "Price removed",
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
    "history.begun_anew": "Lost history begun anew",
    "history.set_aside": "Damaged history set aside",
    "history.purged": "History purged",
    "audit.cut": "Newest entries missing",
    "audit.cut_known": "Missing entries explained",
}


@dataclass(frozen=True, slots=True)
class Actor:
    """Who decides, and whether by command, which is marked."""

    name: str
    by_command: bool = False


class UnknownAction(KeyError):
    """An action that is not registered in ACTIONS."""


def record(
    action: str,
    *,
    actor: str | Actor = "",
    about: Card | DreamRun | Proposal | Question | ScheduledJob | None = None,
    project: Project | None = None,
    object_id: str = "",
    batch: str = "",
    **data: Any,
) -> AuditEntry:
    """Append one entry. `data` is JSON: sha256s, counts, names of settings; never contents. `about` is an object of a project with
    an id; otherwise give `project` and `object_id`.

    Secrets are removed from typed reasons, as nothing can be removed from the log later.
    """
    if action not in ACTIONS:
        raise UnknownAction(action)
    if isinstance(actor, Actor):
        data["by_command"], actor = actor.by_command, actor.name
    if about is not None:
        project, object_id = about.project, about.public_id
    typed = {key: data[key] for key in ("reason", "error") if isinstance(data.get(key), str)}
    bare = {key: cut(redact(value), MOST_TYPED) for key, value in typed.items()}
    entry = AuditEntry(
        action=action,
        actor=actor,
        project_id_was=project.pk if project else None,
        project_label=str(project) if project else "",
        object_id=object_id,
        batch=batch,
        data=data | bare,
    )
    with transaction.atomic():
        # Numbers are consecutive: nobody else may read the last one until this one is written.
        database.one_at_a_time("audit log")
        last = AuditEntry.objects.select_for_update().order_by("-number").first()
        if (head := _head()) and _is_cut(head, last):
            gone = {"last_number": head.number, "last_hash": head.hash, "left": last.number if last else 0}
            last = _append(AuditEntry(action="audit.cut", data=gone), last)
        _append(entry, last)
        # Once for all entries of a transaction.
        if not any(_keep_head in waiting for waiting in connection.run_on_commit):
            transaction.on_commit(_keep_head, robust=True)
    return entry


def _append(entry: AuditEntry, last: AuditEntry | None) -> AuditEntry:
    entry.number, entry.prev_hash = (last.number + 1, last.hash) if last else (1, "")
    entry.at = timezone.now()
    entry.hash = _digest(entry)
    entry.save(force_insert=True)
    return entry


# --- The newest entry, kept elsewhere too ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Head:
    """The newest entry that this data directory knows of."""

    number: int
    hash: str


def head_file() -> Path:
    return Path(settings.DATA_DIR) / "audit-head"


def _head() -> Head | None:
    try:
        number, digest = head_file().read_text(encoding="ascii").split()
        return Head(int(number), digest)
    except (OSError, ValueError):
        return None


def _is_cut(head: Head, last: AuditEntry | None) -> bool:
    """Whether the database no longer has this entry and no entry reports it yet."""
    if last is not None and (last.number, last.hash) == (head.number, head.hash):
        return False
    is_told = AuditEntry.objects.filter(action="audit.cut", data__last_hash=head.hash)
    return not _has(head) and not is_told.exists()


def _keep_head() -> None:
    """Write the head after the commit, which must survive a power cut if the head does. The process with the later entry may be
    first, so a lower number replaces none that still exists."""
    last = AuditEntry.objects.order_by("-number").values_list("number", "hash").first()
    head = _head()
    if last is None or (head and last[0] <= head.number and _has(head)):
        return
    draft = head_file().with_name(f".audit-head.{os.getpid()}")
    try:
        with suppress(FileNotFoundError), Path(f"{connection.settings_dict['NAME']}-wal").open("rb") as file:
            flush.to_disk(file.fileno())  # SQLite's log; PostgreSQL flushes its own
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        with os.fdopen(os.open(draft, flags, 0o600), "w") as file:
            file.write(f"{last[0]} {last[1]}\n")
        draft.replace(head_file())
    except OSError as error:  # the entry is in the database; the next one tries again
        log.warning("The newest audit entry is not kept elsewhere: %s", flush.refusal(error, head_file()))
        with suppress(OSError):
            draft.unlink()


def _has(head: Head) -> bool:
    return AuditEntry.objects.filter(number=head.number, hash=head.hash).exists()


def cut_off() -> list[str]:
    """Removed newest entries that nobody has explained, a line each."""
    cuts = AuditEntry.objects.filter(action="audit.cut").order_by("number")
    known = AuditEntry.objects.filter(action="audit.cut_known").order_by("-number").first()
    cuts = cuts.filter(number__gt=known.number) if known else cuts
    found = [_cut_line(cut.data["left"], cut.data["last_number"]) for cut in cuts]
    last = AuditEntry.objects.order_by("-number").first()
    if (head := _head()) and _is_cut(head, last):
        found.append(_cut_line(last.number if last else 0, head.number))
    return found


def _cut_line(left: int, last: int) -> str:
    if left >= last:
        return f"Audit entry {last} was replaced by another one."
    what = (
        f"entry {last}, the newest, was"
        if last == left + 1
        else f"entries {left + 1} to {last}, the newest, were"
    )
    return f"Audit {what} removed."


def explain_cut(actor: str, reason: str) -> AuditEntry:
    """Record that a person knows why newest entries are missing (a restored backup), so that they are no longer reported."""
    return record("audit.cut_known", actor=actor, reason=reason)


def verify_chain() -> list[str]:
    """Faults of the chain, a line each; empty if all entries are unchanged."""
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
    return problems + cut_off()


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
