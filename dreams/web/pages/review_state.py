"""What a proposal's state means for its page, and which of its files changed on disk since it was made."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.db.models import Q

from dreams.lib.files import safefs, text, workspace
from dreams.models import FileChange, Hunk, Memory, Proposal
from dreams.services import hosts
from dreams.services.apply import writing
from dreams.services.proposals import summaries


@dataclass(frozen=True, slots=True)
class Link:
    """Another proposal: what this one undoes, or what undoes this one. `name` is its dream's id, where it has one."""

    public_id: str
    name: str
    label: str
    at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class State:
    """`stale` are paths that changed on disk and are not rebased yet; `unconfirmed` are rebased and wait. `undo_waits`
    are undos that a person has still to decide on: nothing of them is done. `interrupted`: what changed on disk is its
    own write, which recovery has still to end. `told` is what came of it, without a full stop."""

    name: str
    label: str
    is_open: bool
    at: dt.datetime | None
    by: str
    told: str
    standing: int
    undone: int
    interrupted: bool
    stale: frozenset[str]
    unconfirmed: frozenset[str]
    conflicts: tuple[tuple[int, str], ...]
    undoes: Link | None
    undone_by: tuple[Link, ...]
    undo_waits: tuple[Link, ...]
    by_policy: Link | None

    @property
    def can_undo(self) -> bool:
        return self.standing > 0

    @property
    def redo(self) -> str:
        """The undo to undo, where something of this is undone now: its public id."""
        return self.undone_by[-1].public_id if self.undone and self.undone_by else ""

    @property
    def waits(self) -> bool:
        """Submitted, and something approved is not on disk yet."""
        return self.name == Proposal.State.SUBMITTED


def state(
    proposal: Proposal, files: Sequence[FileChange], hunks: Sequence[Hunk], memories: Mapping[str, Memory]
) -> State:
    applied = [hunk for hunk in hunks if hunk.applied_in_id is not None]
    # What this proposal wrote itself is no change by somebody else.
    written = {hunk.file_id for hunk in applied}
    live = [] if proposal.closed_at is not None else [file for file in files if file.pk not in written]
    stale = changed_since(proposal, live, memories) if live else frozenset()
    interrupted = bool(stale) and proposal.state == Proposal.State.SUBMITTED and writing.interrupted(proposal)
    undoes, undos = proposal.undoes, _undos(proposal)
    return State(
        name=proposal.state,
        label=proposal.get_state_display(),
        is_open=proposal.state == Proposal.State.OPEN,
        at=proposal.closed_at or proposal.submitted_at,
        by=proposal.submitted_by,
        told=summaries.of_proposal(proposal).text,
        standing=sum(hunk.undone_in_id is None for hunk in applied),
        undone=sum(hunk.undone_in_id is not None for hunk in applied),
        interrupted=interrupted,
        stale=frozenset() if interrupted else stale,
        unconfirmed=frozenset(f.path for f in live if not f.rebase_confirmed),
        conflicts=tuple((f.pk, f.path) for f in live if f.conflict),
        undoes=_link(undoes, undoes.created_at) if undoes else None,
        undone_by=undos[Proposal.State.APPLIED],
        undo_waits=undos[Proposal.State.OPEN] + undos[Proposal.State.SUBMITTED],
        by_policy=_by_policy(proposal),
    )


def _undos(proposal: Proposal) -> Mapping[str, tuple[Link, ...]]:
    """State → the undos of this proposal that are in it, without those that were undone themselves."""
    found: defaultdict[str, tuple[Link, ...]] = defaultdict(tuple)
    redone = Q(state=Proposal.State.APPLIED, applications__undone_at__isnull=False)
    for other in proposal.undone_by.exclude(redone).order_by("created_at"):
        found[other.state] += (_link(other, other.closed_at),)
    return found


def _by_policy(proposal: Proposal) -> Link | None:
    """The part of the same dream that a policy let in without asking."""
    if proposal.dream_id is None or proposal.by_policy:
        return None
    other = Proposal.objects.filter(dream=proposal.dream_id, by_policy=True).first()
    return _link(other, other.closed_at) if other else None


def _link(proposal: Proposal, at: dt.datetime | None) -> Link:
    name = proposal.dream.public_id if proposal.dream else proposal.public_id
    return Link(proposal.public_id, name, proposal.get_origin_display(), at)


def changed_since(
    proposal: Proposal, files: Iterable[FileChange], memories: Mapping[str, Memory]
) -> frozenset[str]:
    """Paths whose bytes on disk are not those that the proposal starts from. A stat each, unless one differs."""
    if proposal.project.host != hosts.host():
        return frozenset()  # the folder of that path here is another one
    try:
        root = safefs.Root.open(Path(proposal.project.memory_dir))
    except OSError:
        return frozenset(file.path for file in files if _start(file))
    with root:
        return frozenset(
            file.path for file in files if _now(root, file.path, memories.get(file.path)) != _start(file)
        )


def _start(file: FileChange) -> str:
    return file.conflict["now"] if file.conflict else file.base_sha


def _now(root: safefs.Root, path: str, known: Memory | None) -> str:
    """The sha256 of what stands there; empty where nothing does."""
    try:
        found = root.lstat(path)
        if known is not None and (found.st_size, found.st_mtime_ns, found.st_ino) == (
            known.size,
            known.mtime_ns,
            known.inode,
        ):
            return known.sha256
        return text.sha256(root.read_bytes(path, limit=workspace.MAX_FILE_BYTES))
    except FileNotFoundError:
        return ""
    except (OSError, safefs.SafeFsError):
        # It is there and cannot be read: certainly not what the proposal starts from.
        return "unreadable"
