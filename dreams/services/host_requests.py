"""Sends requests to other hosts: a write happens where the memory is.

Asking makes a row: project, deed, ids, and the sha256s that the person saw. No task crosses hosts, as a queue runs what its
own key signed: the scheduler of the host that has the files takes the row, once, and hands it to its own queue; the worker
looks at the sha256s and the findings again before it does it. What came of it is in the row, for whoever asked. A host takes
requests only while a file in its data directory says so, which nobody can make by writing to the database.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet
from django.db.models.functions import Now

from dreams.lib.files import text
from dreams.lib.secrets.redact import redact
from dreams.models import Card, Host, HostRequest, Memory, Project, Proposal
from dreams.models.prepared import prepared
from dreams.services import auditlog, blobs, hosts, project_lock, proposals, review, rollback, secret_purge
from dreams.services.apply import applying
from dreams.services.apply.applying import ApplyReport
from dreams.services.catching import card_states
from dreams.services.review import Actor

Deed = HostRequest.Deed
State = HostRequest.State
#: After so long a decision is asked again instead of written: memory has moved on.
TOO_OLD = dt.timedelta(days=7)
OVER = (Proposal.State.APPLIED, Proposal.State.REJECTED, Proposal.State.SUPERSEDED)


class NotAccepted(project_lock.ProjectElsewhere):
    """The host that has the files takes no requests; the message has the remedy."""


@dataclass(frozen=True, slots=True)
class NewRequest:
    """What a person wants done, as ids. `seen` maps a path to the sha256 that they saw, "" where there is no file."""

    deed: HostRequest.Deed
    project: Project | None
    given: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)
    proposal: Proposal | None = None
    host: str = ""

    @property
    def owner(self) -> str:
        return self.host or (self.project.host if self.project else hosts.host())

    @property
    def digest(self) -> str:
        what = [self.owner, self.project and self.project.pk, self.deed, self.proposal and self.proposal.pk]
        return hashlib.sha256(json.dumps([*what, self.given], sort_keys=True).encode()).hexdigest()


def is_elsewhere(project: Project) -> bool:
    return project.host != hosts.host()


# --- Whether this host takes requests -----------------------------------------------------------------------------


def accepts() -> bool:
    return _mark().is_file()


def set_accepts(wanted: bool, actor: str) -> None:
    """Take requests of other hosts from now on, or take none: run on the host itself."""
    if wanted:
        _mark().touch(mode=0o600)
    else:
        _mark().unlink(missing_ok=True)
    hosts.register()
    with transaction.atomic():
        Host.objects.filter(key=hosts.host()).update(accepts_requests=wanted)
        name = hosts.name_of(hosts.host())
        auditlog.record("host.accepts" if wanted else "host.declines", actor=actor, object_id=name)


def _mark() -> Path:
    return Path(settings.DATA_DIR) / "accepts_requests"


def refuse_unless_accepted(project: Project) -> None:
    """Raises NotAccepted for a project of another host that takes no requests: before anything is decided for it."""
    if refuses(project):
        raise _not_accepted(project.host, str(project))


def refuses(project: Project) -> str:
    """The name of the project's host where that is another one that takes no requests, else "". No query for a project of this host."""
    if not is_elsewhere(project) or _takes_requests(project.host):
        return ""
    return hosts.name_of(project.host)


def _takes_requests(key: str) -> bool:
    return Host.objects.filter(key=key, accepts_requests=True).exists()


def _not_accepted(key: str, what: str) -> NotAccepted:
    owner = hosts.name_of(key)
    return NotAccepted(
        f"{what} belongs to {owner}, and this is {hosts.name_of(hosts.host())}. Nothing was changed. "
        f"Do it on {owner}, or run `hosts accept` there so that it accepts requests from here."
    )


# --- Asking -------------------------------------------------------------------------------------------------------


def ask(new_request: NewRequest, actor: Actor) -> HostRequest:
    """The row that asks for it; the one that waits already, where it was asked before. Raises NotAccepted."""
    if not _takes_requests(new_request.owner):
        raise _not_accepted(new_request.owner, new_request.project.slug if new_request.project else "This")
    try:
        with transaction.atomic():
            made = HostRequest.objects.create(
                host=new_request.owner,
                asked_on=hosts.host(),
                project=new_request.project,
                proposal=new_request.proposal,
                deed=new_request.deed,
                given=dict(new_request.given),
                seen=dict(new_request.seen),
                digest=new_request.digest,
                asked_by=actor.name,
                by_command=actor.by_command,
                asked_at=Now(),
            )
            record("request.asked", made, actor)
    except IntegrityError:
        made = HostRequest.objects.get(digest=new_request.digest, state__in=HostRequest.OPEN)
    made.refresh_from_db()
    return made


def withdraw(request: HostRequest, actor: Actor) -> bool:
    """Take it back; False when its host has taken it already, or it is over."""
    with transaction.atomic():
        moved = close(request, State.WITHDRAWN, "", was=State.WAITING)
        if moved:
            record("request.withdrawn", request, actor)
    return moved


def close(
    request: HostRequest,
    state: HostRequest.State,
    said: str,
    *,
    was: HostRequest.State = State.TAKEN,
    report: ApplyReport | None = None,
) -> bool:
    """Close it, unless it is in another state than `was` meanwhile."""
    return bool(
        HostRequest.objects.filter(pk=request.pk, state=was).update(
            state=state,
            text=redact(said)[:1000],
            report=asdict(report) if report else {},
            ended_at=Now(),
        )
    )


def record(action: str, request: HostRequest, actor: Actor) -> None:
    auditlog.record(
        action,
        actor=actor,
        project=request.project,
        object_id=request.proposal.public_id if request.proposal else request.public_id,
        deed=request.deed,
        host=hosts.name_of(request.host),
        seen=request.seen,
    )


def to_apply(proposal: Proposal, *, rebased: bool = False) -> NewRequest:
    """Raises ReviewRefused: what blocks it is decided and confirmed where it is asked."""
    only_answers = bool(applying.answers_with(proposal)) and review.is_undecided(proposal)
    if proposal.state == Proposal.State.OPEN and not only_answers:
        review.refuse_if_undecided(proposal)
        review.refuse_open_findings(proposal)
    seen = decided(proposal)
    return NewRequest(Deed.APPLY, proposal.project, {"rebased": rebased}, seen, proposal)


def decided(proposal: Proposal) -> dict[str, str]:
    """What would be written, with the answers that go with it: proposal and path → sha256, "" for a file removed."""
    found = {}
    for one in [proposal, *applying.answers_with(proposal)]:
        files = [
            file for file in one.files.prefetch_related("hunks") if any(h.is_taken for h in file.hunks.all())
        ]
        texts = proposals.texts_of(files)
        for file in files:
            data = proposals.decided_bytes(file, texts=texts)
            found[f"{one.public_id} {file.path}"] = text.sha256(data) if data is not None else ""
    return found


def to_undo(
    proposal: Proposal, selection: rollback.Selection, *, reason: str = "", never_again: bool = False
) -> NewRequest:
    given = {
        "paths": list(selection.paths),
        "hunks": list(selection.hunk_ids),
        "reason": redact(reason),
        "never_again": never_again,
    }
    seen = current(proposal.project, proposal.files.values_list("path", flat=True))
    return NewRequest(Deed.UNDO, proposal.project, given, seen, proposal)


def to_edit(memory: Memory, content: str, base_sha: str, reason: str = "") -> NewRequest:
    [sha] = blobs.put_many([text.encode(content)])
    given = {"memory": memory.pk, "text": sha, "reason": redact(reason)}
    return NewRequest(Deed.EDIT, memory.project, given, {memory.path: base_sha})


def to_forget(memory: Memory, reason: str = "") -> NewRequest:
    given = {"memory": memory.pk, "reason": redact(reason)}
    return NewRequest(Deed.FORGET, memory.project, given, {memory.path: memory.sha256})


def to_restore(project: Project, path: str, sha: str, reason: str = "") -> NewRequest:
    given = {"path": path, "sha": sha, "reason": redact(reason)}
    return NewRequest(Deed.RESTORE, project, given, current(project, [path]))


def to_purge(project: Project, wanted: Collection[str], reason: str = "") -> NewRequest:
    """Each host names secrets with a key of its own, so a secret is named by a place of it in a kept text."""
    places = secret_purge.places_of(project, wanted)
    return NewRequest(Deed.PURGE, project, {"places": places, "reason": redact(reason)})


def to_propose_moment(
    project: Project, when: dt.datetime, paths: Collection[str], reason: str = ""
) -> NewRequest:
    given = {"when": when.isoformat(), "paths": sorted(paths), "reason": redact(reason)}
    return NewRequest(Deed.MOMENT, project, given)


def to_write_cards(project: Project) -> NewRequest:
    return NewRequest(Deed.CARDS, project, {}, approved_cards(project))


def approved_cards(project: Project) -> dict[str, str]:
    approved = [card for card in card_states.listed(project) if card.state == Card.State.APPROVED]
    return {card.public_id: text.sha256(card.text.encode()) for card in approved}


def current(project: Project, paths: Any) -> dict[str, str]:
    """Path → sha256 of each file as last seen."""
    rows = project.memories.filter(path__in=list(paths), gone_at__isnull=True)
    return dict.fromkeys(paths, "") | dict(rows.values_list("path", "sha256"))


# --- Looking ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A request as a page shows it: its row, the host that is asked, and the name of the one on which it was asked.

    That name is empty for this host.
    """

    row: HostRequest
    host: hosts.KnownHost | None
    asked_on: str

    @property
    def name(self) -> str:
        return self.host.name if self.host else self.row.host

    @property
    def is_away(self) -> bool:
        return self.row.state == State.WAITING and (self.host is None or self.host.is_away)

    @property
    def is_open(self) -> bool:
        return self.row.state in HostRequest.OPEN


MOST_SHOWN = 5  # on a project's page; chosen
SHOWN_FOR = dt.timedelta(days=7)  # what was asked longer ago is no news; chosen


def of_project(project: Project) -> list[ShownRequest]:
    """What is asked of another host for a project, and what came of the last ones; empty for a project of this host."""
    if not is_elsewhere(project):
        return []
    rows = HostRequest.objects.filter(project=project, asked_at__gt=Now() - SHOWN_FOR)
    shown = list(rows.exclude(state=State.WITHDRAWN).order_by("-pk")[:MOST_SHOWN])
    known = {one.key: one for one in hosts.known()} if shown else {}
    return [_shown(row, known) for row in shown]


def _shown(row: HostRequest, known: Mapping[str, hosts.KnownHost]) -> ShownRequest:
    asker = known.get(row.asked_on)
    asked_on = "" if row.asked_on == hosts.host() else asker.name if asker else row.asked_on
    return ShownRequest(row, known.get(row.host), asked_on)


def asked_to_write(proposals: Sequence[int]) -> set[int]:
    """Proposals whose host was asked to write them, and has not yet."""
    return set(_asked_rows(list(proposals)))


@prepared
def _asked_rows(proposals: list[int]) -> QuerySet[HostRequest, Any]:
    rows = HostRequest.objects.filter(proposal__in=proposals, state__in=HostRequest.OPEN)
    return rows.values_list("proposal", flat=True)


#: A file that changed between the confirmation and the host's next look this often changes faster than it can be
#: confirmed from elsewhere: a host looks once a minute.
TOO_OFTEN = 3


def times_refused(proposals: Sequence[int]) -> dict[int, int]:
    """How often the host of each was asked to write it and could not."""
    return dict(_refusals(list(proposals)))


@prepared
def _refusals(proposals: list[int]) -> QuerySet[HostRequest, tuple[Any, ...]]:
    rows = HostRequest.objects.filter(
        proposal__in=proposals, deed=HostRequest.Deed.APPLY, state=HostRequest.State.REFUSED
    )
    return rows.order_by().values_list("proposal").annotate(n=Count("pk"))
