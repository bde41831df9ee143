"""Texts that somebody wrote at the moment of an apply and that no file holds: each becomes a version of its memory.

The journal offers them until they are one, so a crash in between repeats this and adds nothing twice.
"""

from __future__ import annotations

import datetime as dt
import logging
from dataclasses import replace
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from dreams.lib.files import workspace
from dreams.lib.storage import history, journal
from dreams.models import Memory, Project, Proposal, Version
from dreams.services import blobs, database
from dreams.services.memories import syncing
from dreams.services.search import index

log = logging.getLogger(__name__)
_JUST_BEFORE = dt.timedelta(microseconds=1)


def place(journal_dir: Path, wait_seconds: float = 10) -> list[str]:
    """Make a version of every text that waits; what was kept, a line each. Raises journal.JournalBusy."""
    said = []
    for late in journal.collect_late(journal_dir, wait_seconds=wait_seconds):
        proposal = Proposal.objects.filter(public_id=late.meta.get("proposal", "")).first()
        if proposal is None:
            continue  # the database was replaced; the journal has the text still
        if syncing.is_memory(late.path):
            _keep(proposal, late)
            said.append(
                f"{late.path}: text written to it during an apply is not in the file. "
                "It is kept as a version."
            )
        journal.handed_over(journal_dir, late)
    return said


def _keep(proposal: Proposal, late: journal.Late) -> None:
    project = proposal.project
    try:
        _commit(project, late)
    except (OSError, history.HistoryError) as error:
        log.warning("history of %s: %s", project, error)
    with transaction.atomic():
        database.one_at_a_time(f"memories of {project.pk}")
        memory, _ = Memory.objects.get_or_create(
            project=project,
            path=late.path,
            defaults={"kind": syncing.kind_of(late.path), "gone_at": timezone.now()},
        )
        if memory.versions.filter(sha256=late.sha256, aside_at__isnull=False).exists():
            return
        blobs.put(late.data)
        Version.objects.create(
            memory=memory,
            sha256=late.sha256,
            size=len(late.data),
            mode=memory.mode,
            at=_moment(memory, proposal),
            aside_at=timezone.now(),
            origin=Version.Origin.OUTSIDE,
        )
        index.add({late.sha256: late.data})


def _moment(memory: Memory, proposal: Proposal) -> dt.datetime:
    """Just before the state that took its place, so that the newest version stays what is in the file."""
    after = memory.versions.filter(proposal=proposal).order_by("-at", "-pk").first() or (
        memory.versions.order_by("-at", "-pk").first()
    )
    return after.at - _JUST_BEFORE if after else timezone.now()


def _commit(project: Project, late: journal.Late) -> None:
    """Into the history as well: the directory with this text, and then again as it is."""
    snapshot = workspace.take(syncing.memory_dir(project))
    now = dict(snapshot.files)
    file = now.get(late.path) or workspace.SnapshotFile(late.path, b"", 0o600, 0, 0, 1)
    subject = f"Written to {late.path} at the moment of an apply"
    origin = Version.Origin.OUTSIDE
    syncing.commit(
        project,
        {**now, late.path: replace(file, data=late.data)},
        syncing.Cause(origin, reason=subject),
    )
    syncing.commit(project, now, syncing.Cause(origin, reason="As it is in the directory"))
