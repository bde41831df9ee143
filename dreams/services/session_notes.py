"""Notes of a session (the agent's, and those for a hand-over), stored as blobs without secrets and searched with its title; and
the tasks that the agent left unfinished."""

import datetime as dt
from collections.abc import Iterable

from django.db import transaction
from django.db.models import OuterRef, QuerySet
from django.utils import timezone

from dreams import conf
from dreams.engines.handover import rules, sections
from dreams.lib.files import text as text_files
from dreams.lib.refusal import Refusal
from dreams.lib.secrets import redact
from dreams.models import OpenEnd, Project, Session, SessionNotes
from dreams.models.prepared import prepared
from dreams.models.sessions import continued_later
from dreams.services import blobs, project_lock


class NotReadable(Refusal):
    """The session's transcript cannot be read; the message says why."""


def save(
    session: int, origin: SessionNotes.Origin, text: str, *, at: dt.datetime, size: int, mtime_ns: int = 0
) -> SessionNotes:
    """Stores `text` as the session's notes of this origin, replacing earlier ones."""
    data = redact.redact(text_files.storable(text)).encode()
    with transaction.atomic():
        row, _ = SessionNotes.objects.update_or_create(
            session_id=session,
            origin=origin,
            defaults={"sha256": blobs.put(data), "size": size, "mtime_ns": mtime_ns, "written_at": at},
        )
        # Search indexes the notes together with the title.
        Session.objects.filter(pk=session).update(title_indexed_at=None)
    return row


def text_of(row: SessionNotes) -> str:
    """The text without anything that current rules recognize as a secret; empty if it is lost."""
    return redact.redact(text_files.decode(blobs.get_many([row.sha256]).get(row.sha256, b"")))


def texts(sessions: Iterable[int]) -> dict[int, list[str]]:
    """Session → texts of its notes. Two queries, and one more for each 500 sessions."""
    named = _named(list(sessions))
    kept = blobs.get_many(sha for _, sha in named)
    found: dict[int, list[str]] = {}
    for session, sha in named:
        found.setdefault(session, []).append(text_files.decode(kept.get(sha, b"")))
    return found


@prepared
def _named(sessions: list[int]) -> QuerySet[SessionNotes, tuple[int, str]]:
    rows = SessionNotes.objects.filter(session__in=sessions).order_by("session", "origin")
    return rows.values_list("session_id", "sha256")


# --- For a hand-over ----------------------------------------------------------------------------------------------


def by_rules(session: Session) -> SessionNotes:
    """Writes hand-over notes from the transcript by rules, replacing earlier ones by rules.

    Raises NotReadable, project_lock.ProjectElsewhere.
    """
    project_lock.refuse_elsewhere(session.project)
    found, bodies = drafted(session)
    return keep_bodies(session, SessionNotes.Origin.RULES, bodies, found)


def drafted(session: Session) -> tuple[rules.ReadTranscript, dict[str, str]]:
    """The transcript's contents, and the sections that rules write from them. Raises NotReadable."""
    try:
        found = rules.read_transcript(session.path, session.cwd)
    except FileNotFoundError:
        raise NotReadable(
            "The transcript of this session is no longer on disk, so there is nothing to read."
        ) from None
    except OSError as error:
        raise NotReadable(f"The transcript cannot be read: {error.strerror or error}.") from None
    left_to_do = list(session.open_ends.order_by("number").values_list("subject", "line_no"))
    return found, rules.bodies(found, str(session), left_to_do, conf.zone(conf.current()))


def keep_bodies(
    session: Session, origin: SessionNotes.Origin, bodies: dict[str, str], found: rules.ReadTranscript
) -> SessionNotes:
    return save(session.pk, origin, sections.written(bodies), at=timezone.now(), size=found.size)


def open_ends(project: Project | OuterRef) -> QuerySet[OpenEnd]:
    """The unfinished tasks, newest session first, in the agent's order within a session.

    A session resumed in another file takes its tasks along, so only those of the newer file are listed.
    """
    rows = OpenEnd.objects.filter(~continued_later("session__"), session__project=project)
    return rows.order_by("-session__touched_at", "-session_id", "number")


def open_ends_of(sessions: Iterable[int]) -> dict[int, list[OpenEnd]]:
    """Session → its unfinished tasks, by which search also finds it. One query."""
    found: dict[int, list[OpenEnd]] = {}
    for row in _left_open(list(sessions)):
        found.setdefault(row.session_id, []).append(row)
    return found


@prepared
def _left_open(sessions: list[int]) -> QuerySet[OpenEnd]:
    return OpenEnd.objects.filter(session__in=sessions).order_by("session", "number")
