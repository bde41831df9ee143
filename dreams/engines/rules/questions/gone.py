"""Questions about files that memories name and the repository no longer has. PURE: nothing without a repository.

A file has moved if exactly one other place fits by name and surrounding folders. It is gone only if its folder exists and has
other files of its kind.
"""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes.tree import (
    NewText,
    Recorder,
    Tree,
    digest,
    is_daily,
    is_log,
    is_team,
    lines_changed,
)
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.families import NO_OPTION, Inputs, removal_of_sentence
from dreams.engines.rules.repository import Removal, Repository, ever_there
from dreams.engines.rules.steps.orphans import RECORD
from dreams.engines.types import KEEP, Citation, Option, Place, Question
from dreams.lib.files.text import one_line, plural

LONGEST = 240  # characters of a statement about only one file
MOST_PLACES = 12  # of one question; chosen
MANY = 5  # missing files allowed even if fewer of the named ones exist; chosen
MOVED, GONE = 0.55, 0.35  # how useful an answer is, chosen: for a moved file the new text is known
_CODE = re.compile(r"`([^`\n]+)`")
# A path from the top of the repository, in code spans or plain.
_NAMED = re.compile(
    r"(?<![\w./~$@:{}<>*%\\-])(?:\./)?((?:\.?[\w@-][\w.@-]*/)+[\w@-][\w.@-]*\.[A-Za-z]\w{0,4})(?![\w/*{}<>-])"
)
# A file name alone, of a source or document; data files come and go.
_BARE = re.compile(
    r"`([A-Za-z_][\w.-]*\.(?:pyi?|[cm]?[jt]sx?|vue|svelte|go|rs|swift|kts?|java|rb|php|cs|c|cc|cpp|h|hpp|dart|scala|sh|sql|s?css)|[A-Z][A-Z0-9_-]+\.md)`"
)
_COMPOUND = re.compile(r"[^\W_][_-][^\W_]|[a-z][A-Z]")  # "plot_ring_sweep": a name that is probably unique
# Words about the past: the file need not exist. Planned, generated and ignored files are recognized by the git history.
_NOT_NOW = re.compile(
    r"\b(?:remov|delet|renam|mov|retir|drop|replac|obsolet|legacy|former|gone|old|was|were|had|done|resolv|revert|split|merg|"
    r"extract|archiv|histor|not|never)\w*\b|n['’]t\b|~~",
    re.IGNORECASE,
)
# A placeholder ("NNN_title.sql"), or a name that the text calls wrong.
_ANY_FILE = re.compile(r"(?:^|[^A-Za-z])(?:N{2,}|X{2,}|x{3,}|YYYY|foo|bar)(?:[^A-Za-z]|$)")
# Build output, files of one machine, and "one.js/other.js".
_NO_SOURCE = re.compile(r"(?:^|/)(?:dist|build|out|target|coverage|node_modules)/|\.local\.|\.[a-z]{1,4}/")
_COMMIT = re.compile(r"`[0-9a-f]{7,12}`")  # a record of past work
_ELSEWHERE = re.compile(r"(?:^|[\s`(\"'])(?:[A-Z]:\\|~/|/(?:home|Users|opt|srv|mnt|usr|workspace)/)")
_LEADS_NOWHERE = re.compile(
    r"\b(?:dangling|broken|stale|wrong|missing|no longer|removed|deleted|renamed|moved)\b", re.IGNORECASE
)
NOTE = "(no longer in the repository)"


def no_longer_there(context: Inputs) -> Iterator[Question]:
    """Moved files, one question per folder; then missing files."""
    repo = context.repository
    if repo is None or not repo.complete:
        return
    named = list(_named(context))
    found, missing = _Found(repo), _Missing(repo)
    is_likely = missing.is_of_this_repository({one.path_named for one in named})
    moved = [each for each in map(found.moved, named) if each]
    elsewhere = {each.old for each in moved}
    gone: dict[str, list[_Named]] = defaultdict(list)
    for one in named:
        if one.path_named not in elsewhere and one.is_now and missing.file(one.path_named):
            gone[PurePosixPath(one.path_named).name].append(one)
    became = {each.old: dict.fromkeys(each.once, each.new) for each in moved}
    was_here = _once_there(repo, became | {name: missing.once(gone[name]) for name in gone}, is_likely)
    for group in _by_folder([each for each in moved if each.old in was_here]):
        yield from _ask_of_moved(context, group, was_here)
    together: dict[frozenset[str], list[list[_Named]]] = defaultdict(list)
    for name, went in was_here.items():
        # Who wrote a line later knew that the file was gone: of twelve such questions four were useful.
        if lines := [one for one in gone.get(name, ()) if one.written <= went.day]:
            together[frozenset(one.path for one in lines)].append(lines)
    for files in together.values():
        yield from _ask_of_gone(context, missing, files, was_here)


def _once_there(
    repo: Repository, places: Mapping[str, Mapping[str, str]], likely: bool
) -> dict[str, Removal]:
    """The files that were in the repository, and how each went; if its history cannot tell, all with a possible place if
    that is `likely`. Others belong elsewhere, are generated or planned, or are not complete paths (docs/real-directories.md)."""
    every = {path: new for paths in places.values() for path, new in paths.items()}
    known = ever_there(repo.root, every) if every else None
    if known is None:
        return {name: Removal() for name in places if places[name] and likely}
    went = {name: [known[path] for path in known.keys() & places[name]] for name in places}
    return {name: max(each, key=lambda one: (one.day, one.said)) for name, each in went.items() if each}


@dataclass(frozen=True, slots=True)
class _Named:
    """A path in a line of a memory. `is_now`: the sentence treats it as existing."""

    path: str  # of the memory
    line_no: int
    line: str
    path_named: str
    is_now: bool
    written: dt.date  # the first day if unknown


def _named(context: Inputs) -> Iterator[_Named]:
    tree = context.tree_before
    deleted = [each for each in context.askable if any(map(_NOT_NOW.search, each.frame))]  # "**Deleted:**"
    past = {(each.path, each.first_line) for each in deleted}
    for path in sorted(tree.texts):
        is_record = is_log(path) or is_daily(path) or RECORD.fullmatch(PurePosixPath(path).stem)
        if is_record or is_team(path) or day_in_name(path) or not tree.writable(path):
            continue
        context.report.checkpoint()
        coded = False
        for number, line in enumerate(tree.texts[path].split("\n"), 1):
            coded ^= line.lstrip().startswith(("```", "~~~"))
            for name in dict.fromkeys(match[1] for form in (_NAMED, _BARE) for match in form.finditer(line)):
                if _ANY_FILE.search(name) or _NO_SOURCE.search(name):
                    continue
                is_now = not coded and (path, number) not in past and _is_now(line, name)
                on = context.line_date(path, number)
                yield _Named(path, number, line, name, is_now, on.day if on else dt.date.min)


def _is_now(line: str, name: str) -> bool:
    """Whether its sentence treats the file as existing in this repository."""
    if _ELSEWHERE.search(line) or _COMMIT.search(line):
        return False
    return not _NOT_NOW.search(_CODE.sub(" ", _sentence(line, name)))


def _sentence(line: str, name: str) -> str:
    return next((each for each in sentences(one_line(line)) if name in each), line)


# --- What moved -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Moved:
    path: str  # of the memory
    line_no: int
    old: str
    new: str

    @property
    def once(self) -> frozenset[str]:
        """Its possible old paths: as named, from the top or from a folder around its new place."""
        return frozenset(
            f"{folder}/{self.old}".removeprefix("./") for folder in PurePosixPath(self.new).parents
        )

    @property
    def folders(self) -> tuple[str, str]:
        """The folders that differ, without the common end of both paths."""
        old, new = PurePosixPath(self.old).parts, PurePosixPath(self.new).parts
        same = 0
        while same < min(len(old), len(new)) and old[-1 - same] == new[-1 - same]:
            same += 1
        return "/".join(old[: len(old) - same]), "/".join(new[: len(new) - same])


class _Found:
    """A file that is no longer where a memory says, and its place now."""

    def __init__(self, repo: Repository) -> None:
        self._repo, self._by_name = repo, repo.by_name()

    def moved(self, one: _Named) -> _Moved | None:
        new = self._now(one.path_named)
        # A line with both paths reports the move.
        told = (
            not new
            or new in one.line
            or _is_named(PurePosixPath(new), one.line.replace(one.path_named, ""))
            or _LEADS_NOWHERE.search(_CODE.sub(" ", _sentence(one.line, one.path_named)))
        )
        return None if told else _Moved(one.path, one.line_no, one.path_named, new)

    def _now(self, old: str) -> str:
        """The only path with its name and most of its folders; "" if the file exists or that is uncertain."""
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
        if len(same_name) > 1:  # only their folder tells apart what several folders have
            likely = [
                path for path in likely if PurePosixPath(path).parent.name == PurePosixPath(old).parent.name
            ]
        is_rare = _COMPOUND.search(name) and _BARE.fullmatch(f"`{name}`")
        least = 2 if len(same_name) > 1 else 0 if is_rare else 1
        return likely[0] if len(likely) == 1 and best >= least else ""


def _is_named(path: PurePosixPath, line: str) -> bool:
    """Whether a line names the path by its last folder, or its folder alone ("git mv a.md docs/old/")."""
    folder = rf"(?<![\w./-]){re.escape(str(path.parent))}/(?![\w.])"
    return "/".join(path.parts[-2:]) in line or re.search(folder, line) is not None


def _by_folder(moved: Sequence[_Moved]) -> Iterator[list[_Moved]]:
    groups: dict[tuple[str, str], list[_Moved]] = defaultdict(list)
    for each in moved:
        groups[each.folders].append(each)
    yield from groups.values()


def _ask_of_moved(
    context: Inputs, group: Sequence[_Moved], was_here: Mapping[str, Removal]
) -> Iterator[Question]:
    group = [each for each in group if not context.is_touched(_line(context.tree_before, each))]
    if not group:
        return
    one, names = group[0], {each.old: each.new for each in group}
    cited = tuple(
        Citation("repository", old, place=new, note=f"{new} has its name. {was_here[old].said}".strip())
        for old, new in list(names.items())[:MOST_PLACES]
    )
    label = f"Write {one.new}" if len(names) == 1 else "Write the new paths"
    update = context.draftsman.option("update", label, _write_paths, group=group, cited=cited)
    places = {(each.path, each.line_no): _line(context.tree_before, each) for each in group}
    remove = (
        _removal(context, next(iter(places.values())), one.old, cited[0]) if len(places) == 1 else NO_OPTION
    )
    yield Question(
        "gone",
        " ".join(f"{old} {new}" for old, new in sorted(names.items())[:3]),
        _why(group, names),
        tuple(places.values())[:MOST_PLACES],
        (update, remove, KEEP),
        cited,
        weight=MOVED,
    )


def _why(group: Sequence[_Moved], names: Mapping[str, str]) -> str:
    one = group[0]
    if len(names) == 1:
        return f"The repository has no {one.old}, but it has {one.new}."
    old, new = one.folders
    memories = plural(len({each.path for each in group}), "memory names", "memories name")
    return (
        f"{memories} {len(names):,} files in {f'{old}/' if old else 'the top folder'}, and they are in "
        f"{f'{new}/' if new else 'the top folder'} now."
    )


def _line(tree: Tree, each: _Moved) -> Place:
    return Place(each.path, each.line_no, tree.texts[each.path].split("\n")[each.line_no - 1].strip())


def _removal(context: Inputs, at: Place, name: str, cited: Citation) -> Option:
    """The option to remove the sentence about this file from a short statement, or all of it if it says nothing else."""
    for unit in context.askable:
        if unit.path == at.path and unit.first_line == at.line_no and len(unit.text) <= LONGEST:
            note = f"The repository has no {name}."
            return removal_of_sentence(context, unit, _sentence(unit.text, name), note, cited)
    return NO_OPTION


def _write_paths(rec: Recorder, group: Sequence[_Moved], cited: tuple[Citation, ...]) -> None:
    """Replaces the old path in the lines that name it, as one operation."""
    changes = []
    for path in dict.fromkeys(each.path for each in group):
        before = rec.tree.texts[path]
        lines = before.split("\n")
        for number, each in ((one.line_no - 1, one) for one in group if one.path == path):
            lines[number] = _NAMED.sub(partial(_renamed, each=each), lines[number])
        after = "\n".join(lines)
        told = lines_changed(before, after, path)
        changes.append(NewText(path, after, "The files are elsewhere now.", told, cited))
    rec.operation("update", changes, key=digest(*(f"{each.old} {each.new}" for each in group)))


def _renamed(match: re.Match[str], each: _Moved) -> str:
    return match[0].replace(each.old, each.new) if match[1] == each.old else match[0]


# --- What is gone -----------------------------------------------------------------------------------------------------


def _ask_of_gone(
    context: Inputs,
    missing: "_Missing",
    files: Sequence[Sequence[_Named]],
    was_here: Mapping[str, Removal],
) -> Iterator[Question]:
    """One question for the files that the same memories name: say that they are gone, or remove a statement about one."""
    lines = [one for each in files for one in each]
    every = {(one.path, one.line_no): Place(one.path, one.line_no, one.line.strip()) for one in lines}
    places = [each for each in every.values() if not context.is_touched(each)]
    names = [max((one.path_named for one in each), key=len) for each in files]
    why = missing.file(names[0])
    if len(names) > 1:
        told = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        why = f"The repository has none of {len(names):,} files that {lines[0].path} names: {told}."
    went = [was_here[PurePosixPath(name).name].said or missing.file(name) for name in names]
    cited = tuple(
        Citation("repository", name, place=name, note=note) for name, note in zip(names, went, strict=True)
    )
    label = "Note that it no longer exists" if len(names) == 1 else "Note that they no longer exist"
    note = context.draftsman.option("update", label, _note, lines=lines, why=why, cited=cited)
    if not places:
        return
    remove = _removal(context, places[0], lines[0].path_named, cited[0]) if len(lines) == 1 else NO_OPTION
    subject = " ".join(sorted(names))[:300]
    yield Question(
        "gone", subject, why, tuple(places[:MOST_PLACES]), (remove, note, KEEP), cited, weight=GONE
    )


def _note(rec: Recorder, lines: Sequence[_Named], why: str, cited: tuple[Citation, ...]) -> None:
    changes = []
    for path in dict.fromkeys(one.path for one in lines):
        before = rec.tree.texts[path]
        text = before.split("\n")
        for one in (each for each in lines if each.path == path):
            name = re.escape(one.path_named)
            span = re.compile(rf"\[?`{name}`(?:\]\([^)\n]*\))?|(?<![`\w./-]){name}(?![`\w/-])")
            text[one.line_no - 1] = span.sub(
                lambda match: f"{match[0]} {NOTE}", text[one.line_no - 1], count=1
            )
        after = "\n".join(text)
        changes.append(NewText(path, after, why, lines_changed(before, after, path), cited))
    rec.operation("update", changes, key=digest("gone", *(one.path_named for one in lines)))


class _Missing:
    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._names = {name.casefold() for name in repo.by_name()}
        self._ends = {
            folder.split("/", depth)[-1] for folder in repo.folders for depth in range(folder.count("/") + 1)
        }
        self._sorts = {(str(PurePosixPath(path).parent), PurePosixPath(path).suffix) for path in repo.files}

    def is_of_this_repository(self, named: set[str]) -> bool:
        """Whether no more named files are gone than exist here (or `MANY`); otherwise memories may be about another checkout."""
        there = sum(PurePosixPath(path).name.casefold() in self._names for path in named)
        return sum(bool(self.file(path)) for path in named) <= max(there, MANY)

    def once(self, lines: Collection[_Named]) -> dict[str, str]:
        """The paths at which a missing file may have been, each with "": it has no new path."""
        return {
            f"{folder}/{PurePosixPath(one.path_named).name}": ""
            for one in lines
            for folder in self._repo.folders
            if f"/{folder}".endswith(f"/{PurePosixPath(one.path_named).parent}")
        }

    def file(self, named: str) -> str:
        """Why it counts as gone; "" if it exists or may be elsewhere."""
        path = PurePosixPath(named)
        if path.name in self._repo.ignored or path.name.casefold() in self._names:
            return ""
        folder = str(path.parent)
        is_known = folder in self._ends and any(
            parent == folder or parent.endswith(f"/{folder}")
            for parent, sort in self._sorts
            if sort == path.suffix
        )
        return f"The repository has {folder}/, but no {path.name} in it." if is_known else ""
