"""Copies the memories of a repository that was moved or renamed, and moves a memory to another project.

An agent names its memory directory after the repository's path, so it starts without memories at a new path. Discovery
saves which project a new one follows; copying is a normal proposal, and the former directory is not changed.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import PurePath

from django.db.models import Exists, Max, Min, OuterRef, QuerySet

from dreams.engines import drafts
from dreams.engines.types import Edit
from dreams.lib import memdir
from dreams.lib.files import text
from dreams.models import COUNTED_MEMORIES, Memory, Project, Proposal, Session
from dreams.models.prepared import prepared
from dreams.services import project_lock, proposals
from dreams.services.apply.applying import ApplyReport
from dreams.services.memories import hand_edits, syncing
from dreams.services.review import Actor, ReviewRefused

MOST = 1_000  # memories in one proposal, the limit of a restore; a person decides on each
MOVES = "Moves "  # begins the summary of a single memory, which is no copy of all
State = Proposal.State


# --- Which project follows which ------------------------------------------------------------------------------------


def save_moves(projects: Iterable[Project]) -> None:
    """Save which of a host's projects follow one whose repository is no longer at its path."""
    autos = [project for project in projects if project.kind == Project.Kind.AUTO and project.repo_dir]
    gone = [project for project in autos if project.repo_gone_at]
    for project in autos:
        former = None if project.repo_gone_at else _former(project, gone)
        if project.moved_from_id != (former and former.pk):
            project.moved_from = former
            project.save(update_fields=["moved_from"])


def _former(project: Project, gone: list[Project]) -> Project | None:
    """The project of the same folder at another path, else the only one of that name, if its sessions are all older."""
    same = [row for row in gone if row.repo_identity and row.repo_identity == project.repo_identity]
    if not same:
        name = PurePath(project.repo_dir).name
        named = [row for row in gone if PurePath(row.repo_dir).name == name]
        same = [row for row in named if _ended_before(row, project)] if len(named) == 1 else []
    return same[0] if len(same) == 1 else None


def _ended_before(former: Project, project: Project) -> bool:
    last = Session.objects.filter(project=former).aggregate(at=Max("touched_at"))["at"]
    first = Session.objects.filter(project=project).aggregate(at=Min("started_at"))["at"]
    return last is not None and first is not None and last < first


@prepared
def unanswered(project: int | None = None) -> QuerySet[Project]:
    """Projects, or one by its id, that follow another with memories and have no proposal to copy them yet."""
    left = Memory.objects.filter(COUNTED_MEMORIES, project=OuterRef("moved_from"))
    proposed = Proposal.objects.filter(project=OuterRef("pk"), origin=Proposal.Origin.COPIED)
    rows = Project.objects.filter(moved_from__isnull=False, gone_at__isnull=True).select_related("moved_from")
    rows = rows if project is None else rows.filter(pk=project)
    proposed = proposed.exclude(state=State.SUPERSEDED).exclude(summary__startswith=MOVES)
    return rows.filter(Exists(left)).exclude(Exists(proposed))


# --- Copying --------------------------------------------------------------------------------------------------------


def arrive(memory: Memory, project: Project, reviewer: Actor) -> ApplyReport:
    """The first half of a move: write the memory and its index row into `project`. `hand_edits.forget` is the second, and
    asks whether it arrived: what stops between leaves it in both, and both are called again.

    Raises as `propose`, and ReviewRefused if it waits for a review or its name is taken there.
    """
    if not memdir.is_topic(memory.path):
        raise ReviewRefused(f"{memory.path} belongs to its project and cannot be moved.")
    made = propose(memory.project, project, reviewer, memory.path)
    if made is None:
        return ApplyReport(said=(f"{project} has this memory already.",))
    return hand_edits.approve_and_apply(made, reviewer, made.summary)


def propose(source: Project, project: Project, reviewer: Actor, only: str = "") -> Proposal | None:
    """An open proposal to copy the memories of `source`, or the one at the path `only`, to `project`, with their index rows;
    None if `project` has them all. A second call returns the same proposal.

    A memory whose file name is taken by another text is not copied; the summary says so. Raises ReviewRefused,
    ProjectElsewhere, SafeFsError, OSError.
    """
    for each in (source, project):
        project_lock.refuse_elsewhere(each)
    if source.pk == project.pk:
        raise ReviewRefused("Both are the same project.")
    if project_lock.is_same_directory(source, project):
        raise ReviewRefused(f"{source} and {project} have the same folder of memories.")
    syncing.refresh(project)
    if only:
        syncing.refresh(source)
    there, here = syncing.contents(source), syncing.contents(project)
    wanted, taken = _wanted({only: there.get(only, b"")} if only else there, here)
    if only and (taken or only not in there):
        why = f"{project} has another memory of this name" if taken else "it is no longer on disk"
        raise ReviewRefused(f"{only} was not moved: {why}.")
    if len(wanted) > MOST:
        raise ReviewRefused(
            f"{len(wanted):,} memories are too many for one review; at most {MOST:,} can be copied at once."
        )
    summary = f"{MOVES}{only} here from {source}." if only else _summary(source, len(wanted), taken)
    steps = list(_steps(wanted, there, here, f"From {source.repo_dir or source.memory_dir}.", only))
    if not steps:
        return None
    after = {**here, **{step.path: text.encode(step.after or "") for step in steps}}
    stats = source.memories.filter(path__in=wanted).values_list("path", "mode", "mtime_ns")
    kept = {path: proposals.RestoredStat(mode, mtime_ns) for path, mode, mtime_ns in stats}
    copied = Proposal.Origin.COPIED
    origin = proposals.ProposalOrigin(copied, actor=reviewer.name, summary=summary, restored=kept)
    if only:
        sides = {step.path: (here.get(step.path), after[step.path]) for step in steps}
        waiting = partial(hand_edits.waiting, project, copied, sides)
    else:
        waiting = partial(_waiting, project, {path: text.sha256(there[path]) for path in wanted})
    return proposals.create(project, origin, drafts.draft(here, after, steps), here, unless=waiting)


def _waiting(project: Project, wanted: Mapping[str, str]) -> Proposal | None:
    """The open proposal that copies exactly these files, if any; `wanted` maps paths to sha256."""
    for made in project.proposals.filter(origin=Proposal.Origin.COPIED, state=State.OPEN):
        files = made.files.exclude(path=memdir.INDEX_NAME)
        if dict(files.values_list("path", "new_sha")) == wanted:
            return made
    return None


def _wanted(there: Mapping[str, bytes], here: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """The files to copy, and those whose name is taken by another text."""
    texts = set(here.values())
    missing = [path for path in sorted(there) if memdir.is_topic(path) and there[path] not in texts]
    return [path for path in missing if path not in here], [path for path in missing if path in here]


def _summary(source: Project, count: int, taken: list[str]) -> str:
    made = f"Copies {text.plural(count, 'memory', 'memories')} from {source.repo_dir or source.memory_dir}."
    if not taken:
        return made
    return f"{made} Not copied, as another memory has the name: {', '.join(taken)}."


def _steps(
    wanted: list[str], there: Mapping[str, bytes], here: Mapping[str, bytes], reason: str, only: str
) -> Iterator[Edit]:
    """The edits: one for each file, and one for the index. Without an index here, the former one is copied unchanged,
    but with `only` one memory its row, which is then decided with it."""
    former = memdir.parse_index(text.decode(there.get(memdir.INDEX_NAME, b"")))
    index = text.decode(here[memdir.INDEX_NAME]) if memdir.INDEX_NAME in here else None
    is_whole = index is None and not only
    listed = former.text if is_whole else _listed(memdir.parse_index(index or ""), former, wanted).text
    if listed != index and listed.strip():
        yield Edit(memdir.INDEX_NAME, index, listed, "move" if only else "copy index", "copy", reason)
    for number, path in enumerate(wanted):
        key = "move" if only else f"copy {number}"
        yield Edit(path, None, text.decode(there[path]), key, "copy", reason)


def _listed(index: memdir.Index, former: memdir.Index, wanted: Iterable[str]) -> memdir.Index:
    """The index with the former rows of the wanted memories; the rows of a section are added together."""
    sections = {row.heading for row in index.rows}
    last = index.rows[-1].heading if index.rows else None
    rows: dict[str | None, list[tuple[str, str, str]]] = {}
    for path in wanted:
        for row in [] if index.rows_for(path) else former.rows_for(path)[:1]:
            heading = row.heading if row.heading in sections else last
            rows.setdefault(heading, []).append((row.title, path, row.hook))
    for heading, more in rows.items():
        with suppress(memdir.MemoryEditError):
            index = index.extended(more, heading=heading)
    return index
