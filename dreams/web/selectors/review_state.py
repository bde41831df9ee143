"""What a proposal's state means for its page, and which of its files changed on disk since it was made."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dreams import safefs, text, workspace
from dreams.models import Application, FileChange, Hunk, Memory, Proposal


@dataclass(frozen=True, slots=True)
class Link:
    """Another proposal: what this one undoes, or what undoes this one."""

    public_id: str
    label: str
    at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class State:
    """`stale` are paths that changed on disk and are not rebased yet; `unconfirmed` are rebased and wait."""

    name: str
    label: str
    is_open: bool
    at: dt.datetime | None
    by: str
    applications: tuple[Application, ...]
    standing: int
    undone: int
    rejected: int
    unwritten: int
    stale: frozenset[str]
    unconfirmed: frozenset[str]
    conflicts: tuple[tuple[int, str], ...]
    undoes: Link | None
    undone_by: tuple[Link, ...]

    @property
    def can_undo(self) -> bool:
        return self.standing > 0

    @property
    def waits(self) -> bool:
        """Submitted, and something approved is not on disk yet."""
        return self.name == Proposal.State.SUBMITTED


def state(proposal: Proposal, files: Sequence[FileChange], memories: Mapping[str, Memory]) -> State:
    verdicts = list(
        Hunk.objects.filter(file__proposal=proposal).values_list("verdict", "applied_in", "undone_in")
    )
    is_closed = proposal.closed_at is not None
    undoes = proposal.undoes
    return State(
        name=proposal.state,
        label=proposal.get_state_display(),
        is_open=proposal.state == Proposal.State.OPEN,
        at=proposal.closed_at or proposal.submitted_at,
        by=proposal.submitted_by,
        applications=tuple(proposal.applications.all()),
        standing=sum(done is not None and undone is None for _, done, undone in verdicts),
        undone=sum(undone is not None for _, _, undone in verdicts),
        rejected=sum(verdict == Hunk.Verdict.REJECTED for verdict, _, _ in verdicts),
        unwritten=sum(verdict in Hunk.TAKEN and done is None for verdict, done, _ in verdicts),
        stale=frozenset() if is_closed else changed_since(proposal, files, memories),
        unconfirmed=frozenset(f.path for f in files if not is_closed and not f.rebase_confirmed),
        conflicts=tuple((f.pk, f.path) for f in files if not is_closed and f.conflict),
        undoes=_link(undoes, undoes.created_at) if undoes else None,
        undone_by=tuple(_link(other, other.closed_at) for other in proposal.undone_by.order_by("created_at")),
    )


def _link(proposal: Proposal, at: dt.datetime | None) -> Link:
    return Link(proposal.public_id, proposal.get_origin_display(), at)


def changed_since(
    proposal: Proposal, files: Iterable[FileChange], memories: Mapping[str, Memory]
) -> frozenset[str]:
    """Paths whose bytes on disk are not those that the proposal starts from. A stat each, unless one differs."""
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
