"""Changes by hand: edit, forget, restore. Each makes a proposal, as a dream does, which is then applied."""

import datetime as dt
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit, Fate, OperationKind
from dreams.lib import diff, memdir
from dreams.lib.files import text, workspace
from dreams.lib.refusal import Refusal
from dreams.models import Hunk, Memory, Project, Proposal
from dreams.services import project_lock, proposals, review
from dreams.services.apply import applying
from dreams.services.apply.applying import ApplyReport
from dreams.services.memories import syncing, time_travel
from dreams.services.review import Actor, ReviewRefused

# Limited because a person decides on each file.
MAX_RESTORED = 1_000
EDITED, FORGOTTEN = "Edited by {who}.", "Forgotten by {who}."
STALE = "{path} changed since you opened it. Copy your text, reload, and edit the current version."
NO_DIFFERENCE = ApplyReport(said=("Nothing differs from the current files.",))


class Stale(Refusal):
    """The memory changed since the page was opened; the message says so. Nothing was written."""


@dataclass(frozen=True, slots=True)
class HandEdit:
    """A change by hand: the new texts (None: remove the file) and the reason."""

    origin: Proposal.Origin
    kind: OperationKind
    reason: str
    after: Mapping[str, bytes | None]
    # The texts that a person saw, to detect later changes
    before: Mapping[str, bytes | None] = field(default_factory=dict)
    apart: bool = False  # each file is a separate decision
    citations: tuple[Citation, ...] = ()
    moved_to: Project | None = None  # has the removed lines; then the reason is also that of the ledger


def edit(memory: Memory, content: str, base_sha: str, reviewer: Actor, *, reason: str = "") -> ApplyReport:
    """Replace a memory's text. `base_sha` is of the text that the person saw. Raises Stale, ReviewRefused, ProjectBusy,
    blobs.MissingBlob and history errors."""
    now = _now(memory.project, memory.path).get(memory.path)
    data = text.encode(_with_line_ends_of(now or b"", content))
    if data == now:
        return NO_DIFFERENCE  # also where the form was sent twice
    _refuse_changed(memory.path, now, base_sha)
    why = reason or EDITED.format(who=reviewer.name or "hand")
    change = HandEdit(Proposal.Origin.EDIT, "edit", why, {memory.path: data}, {memory.path: now})
    return carry_out(memory.project, change, reviewer)


def _refuse_changed(path: str, now: bytes | None, base_sha: str | None) -> None:
    if base_sha not in (None, text.sha_of(now)):
        raise Stale(STALE.format(path=path))


def given(reason: str, who: str) -> str:
    """`reason` if a person gave one; empty for the default ("Edited by …")."""
    return "" if reason in (EDITED.format(who=who), FORGOTTEN.format(who=who)) else reason


def _now(project: Project, *paths: str) -> dict[str, bytes]:
    """The current texts of the memories at `paths`, after saving any change made outside as a version."""
    syncing.refresh(project)
    states = time_travel.states_now(project)
    texts = time_travel.bytes_of(project, [states[path] for path in paths if path in states])
    return {path: texts[states[path]] for path in paths if path in states}


# The line ends that a browser recognizes.
_LINE, _LINE_END = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+"), re.compile(r"[\r\n]+")


def _with_line_ends_of(old: bytes, content: str) -> str:
    """`content` with the line ends of `old`, as browsers send CRLF: unchanged lines keep their bytes, others get the file's
    line end. Keeps the final newline."""
    was = _LINE.findall(text.decode(old))
    plain = text.with_line_feeds(content)
    if old.endswith((b"\n", b"\r")) and plain and not plain.endswith("\n"):
        plain += "\n"
    typed, line_end = diff.split_lines(plain), diff.line_end_of(was)
    before = [_LINE_END.sub("\n", line) for line in was]
    made, at = list[str](), 0
    for change in diff.line_changes(before, typed):
        made += was[at : change.a0]
        made += [line.replace("\n", line_end) for line in typed[change.b0 : change.b1]]
        at = change.a1
    return "".join([*made, *was[at:]])


def forget(
    memory: Memory,
    reviewer: Actor,
    *,
    base_sha: str | None = None,
    reason: str = "",
    moved_to: Project | None = None,
) -> ApplyReport:
    """Remove a memory and the index rows that link only to it; its versions stay in the history. `base_sha`: of the text that
    the person saw, None for any. If it was moved to another project, its text must be there. Raises as `edit`."""
    indexes = memdir.indexes_of(memory.path)
    now = _now(memory.project, memory.path, *indexes)
    _refuse_changed(memory.path, now.get(memory.path), base_sha)
    arrived = _arrived(memory, now.get(memory.path), moved_to) if moved_to else ""
    after: dict[str, bytes | None] = {memory.path: None}
    for index, path in indexes.items():
        if index in now and index != memory.path:
            after[index] = text.encode(_without_rows(text.decode(now[index]), path))
    why = reason or FORGOTTEN.format(who=reviewer.name or "hand")
    before, citations = {path: now.get(path) for path in after}, tuple[Citation, ...]()
    if moved_to:
        why = f"The memory moved to {moved_to} ({moved_to.memory_dir})."
        quote = memory.description or memory.title
        citations = (Citation("memory", quote, f"{moved_to.memory_dir}/{arrived}"),)
    change = HandEdit(
        Proposal.Origin.FORGET, "prune", why, after, before, citations=citations, moved_to=moved_to
    )
    return carry_out(memory.project, change, reviewer)


def _arrived(memory: Memory, data: bytes | None, project: Project) -> str:
    """The path at which `project` has this text of the memory. Raises ReviewRefused if it has none of its own."""
    if data is None:
        raise ReviewRefused(f"{memory.path} is no longer on disk.")
    syncing.refresh(project)
    there, sha = time_travel.states_now(project), text.sha256(data)
    same = [path for path in [memory.path, *there] if there.get(path) == sha]
    if project_lock.is_same_directory(memory.project, project):
        raise ReviewRefused(f"{memory.path} stays: {project} has the same folder of memories.")
    if not same:
        raise ReviewRefused(f"{memory.path} stays. {applying.why_it_stays(memory.path, project, there)}")
    return same[0]


def _without_rows(index: str, path: str) -> str:
    """The index without the rows for `path`. Keeps a row that also links to other memories."""
    parsed = memdir.parse_index(index)
    return parsed.without(row for row in parsed.rows_for(path) if len(row.targets) == 1).text


def restore(
    project: Project, path: str, sha: str, reviewer: Actor, *, base_sha: str | None = None, reason: str = ""
) -> ApplyReport:
    """Restore a stored version of `path` as a new change. `base_sha`: as in `forget`. Raises as `edit`, and blobs.MissingBlob
    or history errors for an unknown version."""
    data = time_travel.bytes_of(project, [sha])[sha]
    before = {} if base_sha is None else {path: _now(project, path).get(path)}
    _refuse_changed(path, before.get(path), base_sha)
    why = reason or f"Restored version {sha[:12]} of {path}."
    return carry_out(
        project, HandEdit(Proposal.Origin.RESTORE, "restore", why, {path: data}, before), reviewer
    )


def propose_moment(
    project: Project, when: dt.datetime, reviewer: Actor, paths: Collection[str] = (), *, reason: str = ""
) -> Proposal | None:
    """An open proposal that restores the directory, or `paths` in it, to `when`; None when nothing differs.

    Nothing is written: it is reviewed file by file. It removes files added since, which stay in the history. Raises as
    `at_moment`.
    """
    syncing.refresh(project)
    return propose(project, at_moment(project, when, paths, reason=reason), reviewer)


def at_moment(
    project: Project, when: dt.datetime, paths: Collection[str] = (), *, reason: str = ""
) -> HandEdit:
    """The change from the directory as last seen, or `paths` in it, to how it was. Raises ReviewRefused for a path that is
    in neither and for more than MAX_RESTORED files, and history errors for a state that is not stored."""
    wanted = time_travel.states_at(project, when)
    now = time_travel.states_now(project)
    if unknown := sorted(set(paths) - wanted.keys() - now.keys()):
        raise ReviewRefused(f"{', '.join(unknown)} is no memory of {project.slug}, now or then.")
    changed = sorted(path for path in wanted.keys() | now.keys() if wanted.get(path) != now.get(path))
    named = [path for path in changed if not paths or path in paths]
    if len(named) > MAX_RESTORED:
        raise ReviewRefused(
            f"{len(named):,} files differ from then, but at most {MAX_RESTORED:,} can be reviewed at once. "
            "Restore them one by one, or choose another moment."
        )
    kept = time_travel.bytes_of(project, [wanted[path] for path in named if path in wanted])
    after = {path: kept[wanted[path]] if path in wanted else None for path in named}
    return HandEdit(Proposal.Origin.RESTORE, "restore", reason or moment_reason(when), after, apart=True)


def moment_reason(when: dt.datetime) -> str:
    """The default reason for restoring a moment."""
    return f"As it was on {timezone.localtime(when):%-d %b %Y at %H:%M}."


def carry_out(project: Project, change: HandEdit, reviewer: Actor) -> ApplyReport:
    """Make the change a proposal, approve all of it and apply it.

    The proposal stays open if a finding blocks it, and waits to be written while the folder is in use; ReviewRefused
    says why.
    """
    syncing.refresh(project)
    made = propose(project, change, reviewer)
    return approve_and_apply(made, reviewer, change.reason) if made else NO_DIFFERENCE


def approve_and_apply(made: Proposal, reviewer: Actor, reason: str) -> ApplyReport:
    """Raises as `carry_out`."""
    if made.state == Proposal.State.OPEN:
        review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, reviewer, reason=reason)
    try:
        return applying.apply(made, reviewer)
    except (ReviewRefused, project_lock.ProjectBusy) as refused:
        raise ReviewRefused(f"{refused} It waits as {made.public_id}.") from refused


def propose(project: Project, change: HandEdit, reviewer: Actor) -> Proposal | None:
    """The change as an open proposal; None when nothing differs. A second call returns the same proposal.

    Raises Stale, and ReviewRefused if its folder is missing.
    """
    review.refuse_if_away(project)
    before = workspace.take(syncing.memory_dir(project), change.after).contents()
    for path, seen in change.before.items():
        if before.get(path) != seen:
            raise Stale(STALE.format(path=path))
    after = {path: data for path, data in {**before, **change.after}.items() if data is not None}
    edits = [
        Edit(
            path,
            text.decoded(before.get(path)),
            text.decoded(after.get(path)),
            f"hand {number}" if change.apart else "hand",
            change.kind,
            change.reason,
            change.citations,
            tuple(
                Fate(line, "stated", note=change.reason)
                for line in (text.decoded(before.get(path)) or "").splitlines()
                if change.moved_to
            ),
        )
        for number, path in enumerate(change.after)
        if before.get(path) != after.get(path)
    ]
    if not edits:
        return None
    wanted = {edit.path: (before.get(edit.path), after.get(edit.path)) for edit in edits}
    again = partial(waiting, project, change.origin, wanted, change.moved_to)
    origin = proposals.ProposalOrigin(
        change.origin, actor=reviewer.name, summary=change.reason, moved_to=change.moved_to
    )
    return proposals.create(project, origin, drafts.draft(before, after, edits), before, unless=again)


def waiting(
    project: Project,
    origin: Proposal.Origin,
    wanted: Mapping[str, tuple[bytes | None, bytes | None]],
    moved_to: Project | None = None,
    *,
    also_decided: bool = False,
) -> Proposal | None:
    """The equal proposal that is not written yet. Unless `also_decided`, none of which something was rejected or edited, or
    conflicts. `wanted`: path → the old and the new bytes; without the index, any will do."""
    shas = {path: tuple(map(text.sha_of, sides)) for path, sides in wanted.items()}
    rows = project.proposals.filter(origin=origin, state__in=Proposal.UNFINISHED, moved_to=moved_to)
    against = Hunk.objects.filter(verdict__in=[Hunk.Verdict.REJECTED, Hunk.Verdict.EDITED])
    rows = rows if also_decided else rows.exclude(files__hunks__in=against)
    for row in rows.prefetch_related("files"):
        files = [file for file in row.files.all() if file.path in shas or not memdir.is_index(file.path)]
        is_equal = {file.path: (file.base_sha, file.new_sha) for file in files} == shas
        if is_equal and (also_decided or not any(file.conflict for file in files)):
            return row
    return None
