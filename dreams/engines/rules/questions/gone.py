"""Files, scripts and targets that memories name and the repository no longer has. PURE: silent without a repository.

A file counts as moved where one other place has it for sure, by its name and the folders around it; as gone only where its
folder is there and has others of its sort.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.tree import Change, Recorder, Tree, digest, is_daily, is_log, is_team
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.units import KEEP, askable, place, removal
from dreams.engines.rules.repository import Repository
from dreams.engines.types import Citation, Fate, Option, Place, Question
from dreams.linedates import day_in_name
from dreams.text import plural

LONGEST = 240  # characters of a statement that is about one file only
MOST_PLACES = 12
MOVED, GONE = 0.55, 0.35
_CODE = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(r"(?:\./)?((?:[\w.@()\[\]-]+/)+[\w.@\[\]()-]+\.[A-Za-z]\w{0,4})(?::\d+(?:-\d+)?)?")
# A path from the top of the repository, in code or out of it.
_NAMED = re.compile(
    r"(?<![\w./~$@:{}<>*%\\-])(?:\./)?((?:[\w.@-]+/)+[\w@-][\w.@-]*\.[A-Za-z]\w{0,4})(?![\w/*{}<>-])"
)
_COMPOUND = re.compile(r"[^\W_][_-][^\W_]|[a-z][A-Z]")  # "plot_ring_sweep": a name that hardly two files have
_RUN = re.compile(r"(?:npm|pnpm|yarn|bun) run ([\w:.-]+)(?:\s.*)?")
_MAKE = re.compile(r"make ([a-z][\w.-]*)")
# Told of the past, or of what is to come: no file has to be there.
_NOT_NOW = re.compile(
    r"\b(?:remov|delet|renam|mov|retir|drop|replac|obsolet|legacy|former|gone|creat|plan|todo|will|propos|new|old|was|were|had|"
    r"split|merg|extract|archiv|histor|untracked|gitignored|generat|not|no|never|miss|example)\w*\b|n['’]t\b|→|->|~~",
    re.IGNORECASE,
)


def no_longer_there(context: Asking) -> Iterator[Question]:
    """What moved, one question for each folder; then what is gone."""
    repo = context.repository
    if repo is None or not repo.complete:
        return
    moved = list(_moved(context, repo))
    for group in _by_folder(moved):
        yield from _ask_of_moved(context, group)
    yield from _gone(context, repo, {each.old for each in moved})


# --- What moved -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Moved:
    """A path that a line names, and the one that it has now."""

    path: str  # of the memory
    line_no: int
    old: str
    new: str

    @property
    def folders(self) -> tuple[str, str]:
        """The folders that differ, without what both paths end in."""
        old, new = PurePosixPath(self.old).parts, PurePosixPath(self.new).parts
        same = 0
        while same < min(len(old), len(new)) and old[-1 - same] == new[-1 - same]:
            same += 1
        return "/".join(old[: len(old) - same]), "/".join(new[: len(new) - same])


def _moved(context: Asking, repo: Repository) -> Iterator[_Moved]:
    tree, found = context.tree_before, _Found(repo)
    for path in sorted(tree.texts):
        if is_log(path) or is_team(path) or is_daily(path) or day_in_name(path) or not tree.writable(path):
            continue
        context.report.checkpoint()
        for number, line in enumerate(tree.texts[path].split("\n"), 1):
            for old in dict.fromkeys(match[1] for match in _NAMED.finditer(line)):
                new = found.now(old)
                if new and new not in line:  # a line with both tells of the move
                    yield _Moved(path, number, old, new)


class _Found:
    """Where a file is now that is not where a memory says."""

    def __init__(self, repo: Repository) -> None:
        self._repo, self._by_name = repo, repo.by_name()

    def now(self, old: str) -> str:
        """The one path that has its name and the most of its folders; empty where it is there, or that is not sure."""
        name = PurePosixPath(old).name
        same_name = self._by_name.get(name, ())
        if not same_name or name in self._repo.ignored:
            return ""
        if old in self._repo.files or any(path.endswith(f"/{old}") for path in same_name):
            return ""
        folders = Counter(PurePosixPath(old).parts[:-1])
        shared = {path: (folders & Counter(PurePosixPath(path).parts[:-1])).total() for path in same_name}
        best = max(shared.values())
        likely = [path for path, count in shared.items() if count == best]
        least = 2 if len(same_name) > 1 else 0 if _COMPOUND.search(old.rpartition("/")[2]) else 1
        return likely[0] if len(likely) == 1 and best >= least else ""


def _by_folder(moved: Sequence[_Moved]) -> Iterator[list[_Moved]]:
    groups: dict[tuple[str, str], list[_Moved]] = defaultdict(list)
    for each in moved:
        groups[each.folders].append(each)
    yield from groups.values()


def _ask_of_moved(context: Asking, group: Sequence[_Moved]) -> Iterator[Question]:
    group = [each for each in group if not context.is_touched(_line(context.tree_before, each))]
    if not group:
        return
    one, names = group[0], {each.old: each.new for each in group}
    cited = tuple(
        Citation("repository", old, place=new, note=f"{new} has its name.")
        for old, new in list(names.items())[:MOST_PLACES]
    )
    label = f"Write {one.new}" if len(names) == 1 else "Write where they are now"
    update = context.draftsman.option("update", label, partial(_write_paths, group=group, cited=cited))
    if update is None:
        return
    remove = _removal(context, one, cited[0]) if len(group) == 1 else None
    places = {(each.path, each.line_no): _line(context.tree_before, each) for each in group}
    yield Question(
        "gone",
        " ".join(f"{old} {new}" for old, new in sorted(names.items())[:3]),
        _why(group, names),
        tuple(places.values())[:MOST_PLACES],
        tuple(option for option in (update, remove, KEEP) if option),
        cited,
        weight=MOVED,
    )


def _why(group: Sequence[_Moved], names: Mapping[str, str]) -> str:
    one = group[0]
    if len(names) == 1:
        return f"The repository has no {one.old}; {one.new} has its name."
    old, new = one.folders
    memories = plural(len({each.path for each in group}), "memory names", "memories name")
    return (
        f"{memories} {len(names):,} files in {f'{old}/' if old else 'the top folder'}, and they are in "
        f"{f'{new}/' if new else 'the top folder'} now."
    )


def _line(tree: Tree, each: _Moved) -> Place:
    return Place(each.path, each.line_no, tree.texts[each.path].split("\n")[each.line_no - 1].strip())


def _removal(context: Asking, each: _Moved, cited: Citation) -> Option | None:
    """Of one short statement that may be about nothing else."""
    for unit in askable(context.tree_before):
        if unit.path == each.path and unit.first_line == each.line_no and len(unit.text) <= LONGEST:
            return removal(context.draftsman, unit, f"The repository has no {each.old}.", cited)
    return None


def _write_paths(rec: Recorder, group: Sequence[_Moved], cited: tuple[Citation, ...]) -> None:
    """The new path for the old one, in the lines that name it and nowhere else; one operation."""
    changes = []
    for path in dict.fromkeys(each.path for each in group):
        lines = rec.tree.texts[path].split("\n")
        told = []
        for number, each in ((one.line_no - 1, one) for one in group if one.path == path):
            before = lines[number]
            lines[number] = _NAMED.sub(partial(_renamed, each=each), before)
            told.append((before.rstrip("\r"), lines[number].strip()))
        fates = tuple(Fate(old, "kept-in", path, new) for old, new in told if old.strip() != new)
        changes.append(Change(path, "\n".join(lines), "The files are elsewhere now.", fates, cited))
    rec.operation("update", changes, key=digest(*(f"{each.old} {each.new}" for each in group)))


def _renamed(match: re.Match[str], each: _Moved) -> str:
    return match[0].replace(each.old, each.new) if match[1] == each.old else match[0]


# --- What is gone -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Gone:
    named: str  # as it is written
    why: str


def _gone(context: Asking, repo: Repository, moved: set[str]) -> Iterator[Question]:
    missing = _Missing(repo)
    asked: set[Unit] = set()
    for unit in askable(context.tree_before):
        context.report.checkpoint()
        if day_in_name(unit.path) or unit in asked or len(unit.text) > LONGEST:
            continue
        for each in missing.named_by(unit):
            cited = Citation("repository", each.named, place=each.named, note=each.why)
            option = None if each.named in moved else removal(context.draftsman, unit, each.why, cited)
            if option is not None:
                asked.add(unit)
                yield Question(
                    "gone", each.named, each.why, (place(unit),), (option, KEEP), (cited,), weight=GONE
                )
                break


class _Missing:
    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._by_name = repo.by_name()
        self._scripts, self._targets = repo.scripts(), repo.targets()
        self._ends = {
            folder.split("/", depth)[-1] for folder in repo.folders for depth in range(folder.count("/") + 1)
        }
        self._sorts = {(str(PurePosixPath(path).parent), PurePosixPath(path).suffix) for path in repo.files}

    def named_by(self, unit: Unit) -> Iterator[_Gone]:
        if _NOT_NOW.search(_CODE.sub(" ", unit.text)):
            return
        for span in dict.fromkeys(_CODE.findall(unit.text)):
            found = self._command(span) or self._file(span)
            if found is not None:
                yield found

    def _command(self, span: str) -> _Gone | None:
        run, make = _RUN.fullmatch(span.strip()), _MAKE.fullmatch(span.strip())
        if run and self._scripts and run[1] not in self._scripts:
            return _Gone(span, f"No package.json of the repository has a script {run[1]}.")
        if make and self._targets and make[1] not in self._targets:
            return _Gone(span, f"No Makefile of the repository has a target {make[1]}.")
        return None

    def _file(self, span: str) -> _Gone | None:
        match = _PATH.fullmatch(span.strip())
        if match is None or match[1] in self._repo.files or "..." in match[1]:
            return None
        named = PurePosixPath(match[1])
        if named.name in self._repo.ignored or self._by_name.get(named.name):
            return None
        folder = str(named.parent)
        is_known = folder in self._ends and any(
            parent == folder or parent.endswith(f"/{folder}")
            for parent, sort in self._sorts
            if sort == named.suffix
        )
        return (
            _Gone(match[1], f"The repository has {folder}/, and no {named.name} in it.") if is_known else None
        )
