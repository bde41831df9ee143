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
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from dreams.lib.files import flush
from dreams.lib.files.text import storable
from dreams.lib.secrets.redact import cut, redact
from dreams.models import AuditEntry, Card, DreamRun, Project, Proposal, Question, ScheduledJob
from dreams.services import database

log = logging.getLogger(__name__)
MOST_TYPED, MOST_ID = 500, 300  # characters of a reason and of an id, as in the columns; a path may be longer
# Registered actions, as a typo would make a kind of entry that no filter shows: the label, and the sentence of an
# entry, with the words of `audit_sentences`.
ACTIONS: Mapping[str, tuple[str, str]] = {
    "login.link": ("Login link made", "{who} created a login link"),
    "login": ("Logged in", "{who} logged in{with_a}"),
    "login.password": ("Password set", "{who} set a password"),
    "login.ended": ("Login ended", "{logins_ended}"),
    "person.added": ("Person added", "{role}"),
    "person.changed": ("Role changed", "{role}"),
    "person.removed": ("Person removed", "{who} removed the account of {id}"),
    "dream.requested": ("Dream requested", "{requested}"),
    "dream.cancelled": ("Dream cancelled", "{who} cancelled a dream{in}"),
    "dream.ended": ("Dream ended", "{ended}"),
    "dream.partial": ("Unfinished work proposed", "{who} asked to review the unfinished work of a dream{in}"),
    "proposal.made": ("Proposal made", "{proposed}"),
    "proposal.superseded": ("Proposal superseded", "a newer dream replaced the proposed changes{to}"),
    "review.decided": ("Decided", "{decided}"),
    "review.finding_confirmed": ("Finding confirmed", "{confirmed}"),
    "review.rebase_confirmed": (
        "Result after a rebase confirmed",
        "{who} confirmed the result after a change on disk{to}",
    ),
    "review.conflict_solved": ("Conflict solved", "{who} solved a conflict{to}"),
    "review.secrets_shown": (
        "Secrets of a proposal shown",
        "{who} had the secrets in proposed changes{to} shown",
    ),
    "memory.secrets_shown": ("Secrets of a memory shown", "{who} had the secrets in {memory}{in} shown"),
    "review.seconded": ("Approved by a second person", "{who} approved changes{to} as the second person"),
    "review.second_refused": (
        "Rejected by a second person",
        "{who} rejected changes{to} that waited for a second person",
    ),
    "review.submitted": ("Review submitted", "{who} submitted the review of changes{to}{nothing_kept}"),
    "question.answered": ("Question answered", "{answered}"),
    "question.taken_back": ("Answer undone", "{answered}"),
    "question.later": ("Question postponed", "{answered}"),
    "card.approved": ("Card approved", "{who} approved what was caught{in}"),
    "card.rejected": ("Card rejected", "{who} rejected what was caught{in}"),
    "card.edited": ("Card edited", "{who} reworded what was caught{in}"),
    "card.taken_back": ("Decision on a card undone", "{who} undid the decision on what was caught{in}"),
    "apply.done": ("Applied", "{written}"),
    "apply.failed": ("Apply failed", "nothing was written{in}, which {who} asked for: {error}"),
    "apply.rebased": ("Rebased", "the changes to {files}{in} were merged into the current file"),
    "apply.recovered": ("Recovered", "{who} finished writing changes{to} after a crash"),
    "apply.unknown": (
        "Writes of another database found",
        "{who} found {plans} in its journal whose proposals are not in this database",
    ),
    "apply.abandoned": ("Write abandoned", "{who} abandoned an interrupted write{to}"),
    "rollback.done": ("Undone", "{who} {undid} changes{to}"),
    "lock.healed": ("Lock healed", "{who} released the lock left by a stopped process{in}"),
    "setting.changed": ("Setting changed", "{set}"),
    "agent_settings.changed": ("Agent’s settings changed", "{who} changed the hook in an agent’s settings"),
    "policy.changed": ("Policy changed", "{policy}"),
    "policy.earned": ("Earned policy accepted", "{earned}"),
    "policy.declined": ("Earned policy declined", "{earned}"),
    "policy.ended": ("Earned policy ended", "{earned}"),
    "price.changed": ("Price changed", "{set}"),
    "price.removed": ("Price removed", "{who} removed the {id}"),
    "project.trusted": ("Project trusted", "{who} {trusts} the repository{of} to say where its memories are"),
    "inbox.snoozed": ("Snoozed", "{snoozed}"),
    "inbox.brought_back": ("Brought back to the inbox", "{who} brought {waiting} back to the inbox"),
    "feed.made": ("Feed address made", "{who} created an address for the feed"),
    "feed.revoked": ("Feed address revoked", "{who} revoked the address of the feed"),
    "digest.sent": ("Digest sent", "{who} sent the digest by {id}, about {things}"),
    "job.added": ("Job added", "{job}"),
    "job.removed": ("Job removed", "{job}"),
    "job.started": ("Job started by hand", "{job}"),
    "host.adopted": ("Former host taken over", "{who} took over all projects of the host {id}"),
    "host.accepts": ("Requests of other hosts accepted", "{who} let {id} accept requests from other hosts"),
    "host.declines": (
        "Requests of other hosts declined",
        "{who} stopped {id} from accepting requests from other hosts",
    ),
    "request.asked": ("Asked of another host", "{asked_elsewhere}"),
    "request.withdrawn": ("Request withdrawn", "{asked_elsewhere}"),
    "history.imported": ("History imported", "{who} imported {versions} into the history{of}"),
    "history.begun_anew": (
        "Lost history begun anew",
        "memoryweb found the history{of} gone and began a new one",
    ),
    "history.set_aside": ("Damaged history set aside", "{who} set the damaged history{of} aside"),
    "history.purged": ("History purged", "{who} removed secrets from {texts}{of}"),
    "audit.cut": ("Newest entries missing", "{cut}"),
    "audit.cut_known": (
        "Missing entries explained",
        "{who} explained why the newest audit entries are missing",
    ),
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
    bare = {key: cut(redact(storable(value)), MOST_TYPED) for key, value in typed.items()}
    entry = AuditEntry(
        action=action,
        actor=actor,
        project_id_was=project.pk if project else None,
        project_label=str(project) if project else "",
        object_id=object_id[:MOST_ID],
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
    draft = head_file().with_name(f".audit-head.{os.getpid()}.{threading.get_ident()}")
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
