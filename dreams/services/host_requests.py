"""Sends requests to other hosts: only the host that has the memory writes it.

A request is a row: project, deed, ids, and the sha256s that the person saw. No task crosses hosts, as a queue only runs
tasks signed with its own key: the scheduler of the host that has the files takes the row, once, and adds it to its queue;
the worker checks the sha256s and the findings again first. The row then has the result. A host only accepts requests while
a certain file is in its data directory, which nobody can create by writing to the database.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, QuerySet
from django.db.models.functions import Now

from dreams.lib.files import text
from dreams.models import Card, Host, HostRequest, Memory, Project, Proposal
from dreams.models.prepared import prepared
from dreams.models.reasons import bare
from dreams.services import auditlog, blobs, hosts, project_lock, proposals, review, rollback, secret_purge
from dreams.services.apply import applying
from dreams.services.catching import card_states
from dreams.services.proposals import rebase
from dreams.services.review import Actor

Deed = HostRequest.Deed
State = HostRequest.State
#: After this time the person must decide again, as memory may have changed.
TOO_OLD = dt.timedelta(days=7)
OVER = (Proposal.State.APPLIED, Proposal.State.REJECTED, Proposal.State.SUPERSEDED)


class NotAccepted(project_lock.ProjectElsewhere):
    """The host that has the files does not accept requests; the message has the remedy."""


@dataclass(frozen=True, slots=True)
class NewRequest:
    """What a person wants done, as ids. `seen` maps each path to the sha256 that they saw, "" for no file."""

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


# --- Whether this host accepts requests ---------------------------------------------------------------------------


def accepts() -> bool:
    return _mark().is_file()


def set_accepts(wanted: bool, actor: str) -> None:
    """Sets whether this host accepts requests from other hosts. Must run on this host."""
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
    """Raises NotAccepted for a project of another host that does not accept requests. Call it before storing a decision."""
    if refuses(project):
        raise _not_accepted(project.host, str(project))


def refuses(project: Project) -> str:
    """The project's host's name if it is another one that does not accept requests, else "". No query for a local project."""
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


# --- Requesting ---------------------------------------------------------------------------------------------------


def ask(new_request: NewRequest, actor: Actor, *, again: bool = True) -> HostRequest:
    """Creates the request's row, or returns an equal one that already waits. Raises NotAccepted."""
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
        equal = HostRequest.objects.filter(digest=new_request.digest, state__in=HostRequest.OPEN).first()
        if equal is None and not again:
            raise  # what it is about is gone
        made = equal or ask(new_request, actor, again=False)  # it has just ended
    made.refresh_from_db()
    return made


def withdraw(request: HostRequest, actor: Actor) -> bool:
    """Withdraws the request; False when its host has already taken it or it has ended."""
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
    report: Mapping[str, Any] | None = None,
) -> bool:
    """Closes the request, unless its state is no longer `was`."""
    return bool(
        HostRequest.objects.filter(pk=request.pk, state=was).update(
            state=state,
            text=bare(said, 1000),
            report=report or {},
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
    """Raises ReviewRefused: changes are decided and findings confirmed on the host that sends the request."""
    only_answers = bool(applying.answers_with(proposal)) and review.is_undecided(proposal)
    if proposal.state == Proposal.State.OPEN and not only_answers:
        review.refuse_if_undecided(proposal)
        review.refuse_open_findings(proposal)
    seen = decided(proposal)
    return NewRequest(Deed.APPLY, proposal.project, {"rebased": rebased}, seen, proposal)


def decided(proposal: Proposal) -> dict[str, str]:
    """What would be written, including related answers: "proposal path" → sha256, "" for a removed file."""
    found = {}
    for one in [proposal, *applying.answers_with(proposal)]:
        files = [
            file for file in one.files.prefetch_related("hunks") if any(h.is_taken for h in file.hunks.all())
        ]
        texts = proposals.texts_of(files)
        for file in files:
            data = proposals.decided_bytes(file, texts=texts)
            found[f"{one.public_id} {file.path}"] = text.sha_of(data)
    return found


def to_undo(
    proposal: Proposal, selection: rollback.Selection, *, reason: str = "", never_again: bool = False
) -> NewRequest:
    given = {
        "paths": list(selection.paths),
        "hunks": list(selection.hunk_ids),
        "reason": bare(reason),
        "never_again": never_again,
    }
    seen = current(proposal.project, proposal.files.values_list("path", flat=True))
    return NewRequest(Deed.UNDO, proposal.project, given, seen, proposal)


def to_edit(memory: Memory, content: str, base_sha: str, reason: str = "") -> NewRequest:
    [sha] = blobs.put_many([text.encode(content)])
    given = {"memory": memory.pk, "text": sha, "reason": bare(reason)}
    return NewRequest(Deed.EDIT, memory.project, given, {memory.path: base_sha})


def to_forget(memory: Memory, base_sha: str, reason: str = "") -> NewRequest:
    given = {"memory": memory.pk, "reason": bare(reason)}
    return NewRequest(Deed.FORGET, memory.project, given, {memory.path: base_sha})


def to_restore(project: Project, path: str, sha: str, base_sha: str, reason: str = "") -> NewRequest:
    given = {"path": path, "sha": sha, "reason": bare(reason)}
    return NewRequest(Deed.RESTORE, project, given, {path: base_sha})


def to_purge(project: Project, wanted: Collection[str], reason: str = "") -> NewRequest:
    """Each host names secrets with a different key, so a secret is identified by its position in a stored text."""
    places = secret_purge.places_of(project, wanted)
    return NewRequest(Deed.PURGE, project, {"places": places, "reason": bare(reason)})


def to_propose_moment(
    project: Project, when: dt.datetime, paths: Collection[str], reason: str = ""
) -> NewRequest:
    given = {"when": when.isoformat(), "paths": sorted(paths), "reason": bare(reason)}
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


# --- Reading ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """A request as pages show it: its row, the host that receives it, and the name of the host that sent it.

    That name is empty if this host sent it.
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
SHOWN_FOR = dt.timedelta(days=7)  # older requests are no longer news; chosen


def of_project(project: Project) -> list[ShownRequest]:
    """The latest requests to another host for a project, with results; empty for a project of this host."""
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


def leads_to(proposal: Proposal) -> str:
    """Where its memory directory leads now, if not where it did; the host that has it says so when it refuses to write."""
    if not is_elsewhere(proposal.project):
        return rebase.leads_to(proposal)
    last = (
        HostRequest.objects.filter(proposal=proposal).exclude(state=State.WITHDRAWN).order_by("-pk").first()
    )
    return str(last.report.get("moved_to", "")) if last else ""


@prepared
def asked_to_write(proposals: list[int]) -> QuerySet[HostRequest, Any]:
    """Ids of proposals with an open request to write them."""
    rows = HostRequest.objects.filter(proposal__in=proposals, state__in=HostRequest.OPEN)
    return rows.values_list("proposal", flat=True)


#: A file that changed this often between the confirmation and the host's next check, once a minute, changes too fast to be
#: confirmed from another host.
TOO_OFTEN = 3


@prepared
def times_refused(proposals: list[int]) -> QuerySet[HostRequest, tuple[Any, ...]]:
    """Proposal ids, each with how many requests to write it were refused."""
    rows = HostRequest.objects.filter(
        proposal__in=proposals, deed=HostRequest.Deed.APPLY, state=HostRequest.State.REFUSED
    )
    return rows.order_by().values_list("proposal").annotate(n=Count("pk"))
