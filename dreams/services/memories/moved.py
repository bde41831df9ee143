"""Copies the memories of a repository that was moved or renamed, and moves a memory to another project.

An agent names its memory directory after the repository's path, so it starts without memories at a new path. Discovery
saves which project a new one follows; copying is a normal proposal, and the former directory is not changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
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
from dreams.services.apply import applying, writing
from dreams.services.apply.applying import ApplyReport
from dreams.services.memories import hand_edits, syncing, time_travel
from dreams.services.review import Actor, ReviewRefused

MOST = 1_000  # memories in one proposal, the limit of a restore; a person decides on each
NOT_WRITTEN = "Nothing was written"
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
    proposed = Proposal.objects.filter(
        project=OuterRef("pk"), origin=Proposal.Origin.COPIED, moved_to__isnull=True
    )
    rows = Project.objects.filter(moved_from__isnull=False, gone_at__isnull=True).select_related("moved_from")
    rows = rows if project is None else rows.filter(pk=project)
    return rows.filter(Exists(left)).exclude(Exists(proposed.exclude(state=State.SUPERSEDED)))


# --- Copying --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Half:
    """One of the two changes of a move, with the project that it changes. `act` raises as `propose`, and hand_edits.Stale;
    `not_done` is said where it does not carry it out."""

    project: Project
    done: str
    act: Callable[[], ApplyReport]
    not_done: str = NOT_WRITTEN


def halves(memory: Memory, project: Project, reviewer: Actor) -> tuple[Half, Half]:
    """The move of a memory to `project`; the second half only once the first is complete. It asks whether the text arrived:
    what stops between leaves it in both, and both are called again."""
    return (
        Half(project, f"Written to {project}: {memory.path}.", partial(arrive, memory, project, reviewer)),
        Half(
            memory.project,
            f"Removed here: {memory.path}.",
            partial(hand_edits.forget, memory, reviewer, moved_to=project),
            f"It is in {project} now, and was not removed here",
        ),
    )


def arrive(memory: Memory, project: Project, reviewer: Actor) -> ApplyReport:
    """Write the memory and its index rows into `project`.

    Raises as `propose`, ProjectBusy, and ReviewRefused if it waits for a review or its name is taken there.
    """
    writing.recover_first()  # what a killed move has half written is not there yet
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
    ProjectElsewhere, SafeFsError, OSError; and blobs.MissingBlob and history errors for a text that was lost.
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
    now = time_travel.states_now(source)
    texts = time_travel.bytes_of(source, now.values())  # whole, as they become files
    there, here = {path: texts[sha] for path, sha in now.items()}, syncing.contents(project)
    if only and only not in there:
        raise ReviewRefused(f"{only} was not moved: it is no longer on disk.")
    wanted, taken = _wanted({only: there[only]} if only else there, here)
    if only and taken:
        raise ReviewRefused(f"{only} was not moved. {applying.why_it_stays(only, project, taken)}")
    if len(wanted) > MOST:
        raise ReviewRefused(
            f"{len(wanted):,} memories are too many for one review; at most {MOST:,} can be copied at once."
        )
    summary = f"Moves {only} here from {source}." if only else _summary(source, len(wanted), taken)
    steps = list(_steps(wanted, there, here, f"From {source.repo_dir or source.memory_dir}.", only))
    if not steps:
        return None
    after = {**here, **{step.path: text.encode(step.after or "") for step in steps}}
    stats = source.memories.filter(path__in=wanted).values_list("path", "mode", "mtime_ns")
    kept = {path: proposals.RestoredStat(mode, mtime_ns) for path, mode, mtime_ns in stats}
    copied = Proposal.Origin.COPIED
    target = project if only else None
    origin = proposals.ProposalOrigin(
        copied, actor=reviewer.name, summary=summary, restored=kept, moved_to=target
    )
    # All of them are reviewed, in whatever index there is by then.
    named = [step.path for step in steps if only] or wanted
    sides = {path: (here.get(path), after[path]) for path in named}
    waiting = partial(hand_edits.waiting, project, copied, sides, target, also_decided=not only)
    return proposals.create(project, origin, drafts.draft(here, after, steps), here, unless=waiting)


def _wanted(there: Mapping[str, bytes], here: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """The files to copy, and those whose name is taken by another text, in whatever case."""
    texts, names = set(here.values()), set(map(memdir.name_key, here))
    missing = [path for path in sorted(there) if memdir.is_topic(path) and there[path] not in texts]
    taken = [path for path in missing if memdir.name_key(path) in names]
    return [path for path in missing if path not in taken], taken


def _summary(source: Project, count: int, taken: list[str]) -> str:
    made = f"Copies {text.plural(count, 'memory', 'memories')} from {source.repo_dir or source.memory_dir}."
    if not taken:
        return made
    return f"{made} Not copied, as another memory has the name: {', '.join(taken)}."


def _steps(
    wanted: list[str], there: Mapping[str, bytes], here: Mapping[str, bytes], reason: str, only: str
) -> Iterator[Edit]:
    """The edits: one for each file, and one for each index. Without an index here, the former one is copied unchanged,
    but with `only` one memory its rows, which are then decided with it."""
    listing: dict[str, list[str]] = {}
    for path in wanted:
        for at, name in memdir.indexes_of(path).items():
            listing.setdefault(at, []).append(name)
    for at, names in listing.items():
        former = memdir.parse_index(text.decode(there.get(at, b"")))
        index = text.decode(here[at]) if at in here else None
        is_whole = index is None and not only
        listed = former.text if is_whole else _listed(memdir.parse_index(index or ""), former, names).text
        if listed != index and listed.strip():
            yield Edit(at, index, listed, "move" if only else f"copy {at}", "copy", reason)
    for number, path in enumerate(wanted):
        key = "move" if only else f"copy {number}"
        yield Edit(path, None, text.decode(there[path]), key, "copy", reason)


def _listed(index: memdir.Index, former: memdir.Index, wanted: Iterable[str]) -> memdir.Index:
    """The index with the former rows of the wanted memories; the rows of a section are added together."""
    sections = {row.heading for row in index.rows}
    last = index.rows[-1].heading if index.rows else None
    rows: dict[str | None, list[tuple[str, str, str]]] = {}
    for path in wanted:
        for row in [] if index.rows_for(path) else former.rows_for(path):
            heading = row.heading if row.heading in sections else last
            rows.setdefault(heading, []).append((row.title, path, row.hook))
    for heading, more in rows.items():
        with suppress(memdir.MemoryEditError):
            index = index.extended(more, heading=heading)
    return index
