"""What a session left behind: notes, the agent's own and those for a hand-over, kept as blobs without their secrets and found
by search with its title; and the tasks that the agent left unfinished."""

import datetime as dt
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from dreams import conf
from dreams.engines.handover import rules, sections
from dreams.lib.files import text as text_files
from dreams.lib.refusal import Refusal
from dreams.lib.secrets import redact
from dreams.models import OpenEnd, Project, Session, SessionNotes
from dreams.models.prepared import prepared
from dreams.services import blobs, project_lock


class NotReadable(Refusal):
    """A session whose transcript cannot be read; the message says why."""


def keep(
    session: int, origin: SessionNotes.Origin, text: str, *, at: dt.datetime, size: int, mtime_ns: int = 0
) -> SessionNotes:
    """Keep `text` as the session's notes of this origin, in place of earlier ones."""
    data = redact.redact(text_files.storable(text)).encode()
    with transaction.atomic():
        row, _ = SessionNotes.objects.update_or_create(
            session_id=session,
            origin=origin,
            defaults={"sha256": blobs.put(data), "size": size, "mtime_ns": mtime_ns, "written_at": at},
        )
        # Search takes the notes in together with the title.
        Session.objects.filter(pk=session).update(title_indexed_at=None)
    return row


def text_of(row: SessionNotes) -> str:
    """The text, with what rules know by now as a secret left out; empty where it is lost."""
    return redact.redact(text_files.decode(blobs.get_many([row.sha256]).get(row.sha256, b"")))


def texts(sessions: Iterable[int]) -> dict[int, list[str]]:
    """The texts of sessions' notes, by session. Two queries; of many sessions one more for each 500."""
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
    """Write hand-over notes of what the transcript shows, in place of earlier ones by rules.

    Raises NotReadable, project_lock.ProjectElsewhere.
    """
    project_lock.refuse_elsewhere(session.project)
    found, bodies = drafted(session)
    return keep_bodies(session, SessionNotes.Origin.RULES, bodies, found)


def drafted(session: Session) -> tuple[rules.ReadTranscript, dict[str, str]]:
    """What is seen in the transcript, and the sections that rules make of it. Raises NotReadable."""
    try:
        found = rules.seen(session.path, session.cwd)
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
    return keep(session.pk, origin, sections.written(bodies), at=timezone.now(), size=found.size)


def open_ends(project: Project | OuterRef) -> QuerySet[OpenEnd]:
    """The tasks left unfinished, of the newest session first, and in the agent's order within it.

    A session that was resumed in another file took its tasks along: they are told once, as the newer one left them.
    """
    later = Q(touched_at__gt=OuterRef("session__touched_at")) | Q(
        touched_at=OuterRef("session__touched_at"), pk__gt=OuterRef("session_id")
    )
    resumed = Session.objects.filter(
        later, root_key=OuterRef("session__root_key"), project=OuterRef("session__project")
    )
    rows = OpenEnd.objects.filter(~Exists(resumed), session__project=project)
    return rows.order_by("-session__touched_at", "-session_id", "number")


def open_ends_of(sessions: Iterable[int]) -> dict[int, list[OpenEnd]]:
    """The tasks left unfinished in each, for search: a session is found by what it left unfinished. One query."""
    found: dict[int, list[OpenEnd]] = {}
    for row in _left_open(list(sessions)):
        found.setdefault(row.session_id, []).append(row)
    return found


@prepared
def _left_open(sessions: list[int]) -> QuerySet[OpenEnd]:
    return OpenEnd.objects.filter(session__in=sessions).order_by("session", "number")
