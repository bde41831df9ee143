"""Questions about files that memories name and the repository no longer has. PURE: nothing without a repository.

A file has moved if exactly one other place fits by name and surrounding folders, and was renamed if the commit that removed it
added its text by another name. It is gone only if its folder exists and has other files of its kind.
"""

import datetime as dt
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from dreams.engines.linedates import day_in_name
from dreams.engines.rules.notes.tree import (
    NewText,
    Recorder,
    digest,
    is_daily,
    is_log,
    is_team,
    lines_changed,
)
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.questions.families import NO_OPTION, Inputs, first_of, removal_of_sentence
from dreams.engines.rules.repository import Removal, Repository, ever_there
from dreams.engines.rules.steps.orphans import RECORD
from dreams.engines.types import KEEP, Citation, Option, Place, Question
from dreams.lib.files.text import one_line, plural

LONGEST = 240  # characters of a statement about only one file
MOST_PLACES = 12  # of one question; chosen
MANY = 5  # missing files allowed even if fewer of the named ones exist; chosen
MOVED, GONE = 0.55, 0.35  # how useful an answer is, chosen: for a moved file the new text is known
_CODE = re.compile(r"`([^`\n]+)`")
# A path from the top of the repository, in code spans or plain; "@name/" begins that of a package.
_NAMED = re.compile(
    r"(?<![\w./~$@:{}<>*%\\-])(?:\./)?(?!@)((?:\.?[\w@-][\w.@-]*/)+[\w@-][\w.@-]*\.[A-Za-z]\w{0,4})(?![\w/*{}<>-])"
)
# A file name alone, of a source or document; data files come and go.
_BARE = re.compile(
    r"`([A-Za-z_][\w.-]*\.(?:pyi?|[cm]?[jt]sx?|vue|svelte|go|rs|swift|kts?|java|rb|php|cs|c|cc|cpp|h|hpp|dart|scala|sh|sql|s?css)|[A-Z][A-Z0-9_-]+\.md)`"
)
_COMPOUND = re.compile(r"[^\W_][_-][^\W_]|[a-z][A-Z]")  # "plot_ring_sweep": a name that is probably unique
# Words about the past: the file need not exist. Planned, generated and ignored files are recognized by the git history.
_NOT_NOW = re.compile(
    r"\b(?:remov|delet|renam|mov|retir|drop|replac|obsolet|legacy|former|gone|old|was|were|had|done|resolv|revert|split|merg|"
    r"extract|archiv|histor|not|never|no longer|nunca|jamais|niemals|никогда)\w*\b|n['’]t\b|~~|不要|禁止",
    re.IGNORECASE,
)
# A placeholder ("NNN_title.sql"), or a name that the text calls wrong.
_ANY_FILE = re.compile(r"(?:^|[^A-Za-z])(?:N{2,}|X{2,}|x{3,}|YYYY|foo|bar)(?:[^A-Za-z]|$)")
# Build output, files of one machine, and "one.js/other.js".
_NO_SOURCE = re.compile(r"(?:^|/)(?:dist|build|out|target|coverage|node_modules)/|\.local\.|\.[a-z]{1,4}/")
_COMMIT = re.compile(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,12}\b")  # a record of past work
_TICKED = re.compile(r"\[[xX]\]|✅")
_ELSEWHERE = re.compile(r"(?:^|[\s`(\"'])(?:[A-Z]:\\|~/|/(?:home|Users|opt|srv|mnt|usr|workspace)/)")
_LEADS_NOWHERE = re.compile(
    r"\b(?:dangling|broken|stale|wrong|missing|no longer|removed|deleted|renamed|moved)\b", re.IGNORECASE
)
NOTE = "(no longer in the repository)"
# A path wherever a line has it, also in a link; and the first time, with the rest of its code and its link.
_SPAN = r"(?:(?<![\w./~$@:{{}}<>*%\\-])|(?<=\./)){}(?![\w/*{{}}<>-])"
_FIRST = r"\[?`{0}(?![\w/-])[^`\n]*`(?:\]\([^)\n]*\))?|(?<![`\w./-]){0}(?![`\w/-])"


def no_longer_there(context: Inputs) -> Iterator[Question]:
    """Moved files, one question per folder; then missing files."""
    repo = context.repository
    if repo is None or not repo.complete:
        return
    named = list(_named(context))
    found, missing = _Found(repo), _Missing(repo)
    moved = [each for each in map(found.moved, named) if each]
    gone = [one for one in named if one.is_now and missing.file(one.path_named)]
    places = {one.path_named: one.once for one in moved} | {one.path_named: missing.once(one) for one in gone}
    was_here = _once_there(repo, places, missing.is_of_this_repository({one.path_named for one in named}))
    same: dict[tuple[str, str], list[_Named]] = defaultdict(list)
    for one in gone:
        went = was_here.get(one.path_named)
        # Who wrote a line later knew that the file was gone: of twelve such questions four were useful.
        if went is None or one.written > went.day:
            continue
        old, new = went.renamed
        if new not in repo.files:
            body = context.tree_before.document(one.path).body_start_line
            if one.line_no >= body or one.line.startswith("description:"):  # other fields take no remark
                same[went.said, PurePosixPath(one.path_named).name].append(one)
        # Not where a line has the new name, too.
        elif PurePosixPath(new).name not in one.line.replace(one.path_named, ""):
            # A memory may name it from a folder that the new path is in, too.
            moved.append(replace(one, new=new.removeprefix(old.removesuffix(one.path_named))))
    of_commit, together = (defaultdict[str | frozenset[str], list[list[_Named]]](list) for _ in range(2))
    for (said, name), lines in same.items():
        of_commit[said or name].append(lines)
    for files in of_commit.values():
        together[frozenset(one.path for lines in files for one in lines)] += files
    yield from _ask_of_moved(context, [each for each in moved if each.path_named in was_here], was_here)
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
    """A path in a line of a memory. `is_now`: the sentence treats it as existing; `new`: where the file is now."""

    path: str  # of the memory
    line_no: int
    line: str
    path_named: str
    is_now: bool
    written: dt.date  # the first day if unknown
    new: str = ""

    @property
    def once(self) -> dict[str, str]:
        """Its possible old paths, as named from the top or from a folder around its new place, each with the new one."""
        folders = PurePosixPath(self.new).parents
        return {f"{folder}/{self.path_named}".removeprefix("./"): self.new for folder in folders}

    @property
    def folders(self) -> tuple[str, str]:
        """The folders that differ, without the common end of both paths."""
        old, new = PurePosixPath(self.path_named).parts, PurePosixPath(self.new).parts
        same = 0
        while same < min(len(old), len(new)) and old[-1 - same] == new[-1 - same]:
            same += 1
        return "/".join(old[: len(old) - same]), "/".join(new[: len(new) - same])


def _named(context: Inputs) -> Iterator[_Named]:
    tree = context.tree_before
    past = {(one.path, one.first_line) for one in context.askable if any(map(_NOT_NOW.search, one.frame))}
    for path in sorted(tree.texts):
        is_record = is_log(path) or is_daily(path) or RECORD.fullmatch(PurePosixPath(path).stem)
        if is_record or is_team(path) or day_in_name(path) or not tree.writable(path):
            continue
        context.report.checkpoint()
        coded = False
        for number, line in enumerate(tree.texts[path].split("\n"), 1):
            coded ^= line.lstrip().startswith(("```", "~~~"))
            for name in dict.fromkeys(match[1] for form in (_NAMED, _BARE) for match in form.finditer(line)):
                if _ANY_FILE.search(name) or _NO_SOURCE.search(name) or _TICKED.search(line):
                    continue
                is_now = not coded and (path, number) not in past and _is_now(line, name)  # "**Deleted:**"
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


class _Found:
    """A file that is no longer where a memory says, and its place now."""

    def __init__(self, repo: Repository) -> None:
        self._repo, self._by_name = repo, repo.by_name()

    def moved(self, one: _Named) -> _Named | None:
        new = self._now(one.path_named)
        # A line with both paths reports the move.
        told = (
            not new
            or new in one.line
            or _LEADS_NOWHERE.search(_CODE.sub(" ", _sentence(one.line, one.path_named)))
        )
        return None if told else replace(one, new=new)

    def _now(self, old: str) -> str:
        """The only path with its name and most of its folders; "" if the file exists or that is uncertain."""
        name = PurePosixPath(old).name
        same_name = self._by_name.get(name, ())
        exists = old in self._repo.files or any(path.endswith(f"/{old}") for path in same_name)
        if exists or not same_name or name in self._repo.ignored:
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


def _ask_of_moved(
    context: Inputs, moved: Sequence[_Named], was_here: Mapping[str, Removal]
) -> Iterator[Question]:
    """One question for the files that are in another folder now, and one for each with another name."""
    groups: dict[str | tuple[str, str], list[_Named]] = defaultdict(list)
    for each in moved:
        keeps = PurePosixPath(each.path_named).name == PurePosixPath(each.new).name
        groups[each.folders if keeps else was_here[each.path_named].said].append(each)
    for key, every in groups.items():
        group = [each for each in every if not context.is_touched(_place(each))]
        names = {each.path_named: each.new for each in group}
        if len(names) == 1:
            [(was, now)] = names.items()
            other = "; it was renamed to" if isinstance(key, str) else ", but it has"
            why = f"The repository has no {was}{other} {now}."
        else:
            there, here = (f"{folder}/" if folder else "the top folder" for folder in every[0].folders)
            told = f"in {there}, and they are in {here} now"
            told = f"that were renamed: {first_of(sorted(names))}" if isinstance(key, str) else told
            memories = plural(len({each.path for each in group}), "memory names", "memories name")
            why = f"{memories} {len(names):,} files {told}."
        cited = tuple(
            Citation("repository", was, place=now, note=was_here[was].said or f"{now} has its name.")
            for was, now in list(names.items())[:MOST_PLACES]
        )
        label = f"Write {group[0].new}" if len(names) == 1 else "Write the new paths"
        spans = [(_SPAN.format(re.escape(each.path_named)), each.new.replace("\\", r"\\")) for each in group]
        subject = " ".join(f"{was} {now}" for was, now in sorted(names.items())[:3])
        yield from _ask(context, group, subject, why, (label, spans, "The files are elsewhere now."), cited)


def _ask(
    context: Inputs,
    named: Sequence[_Named],
    subject: str,
    why: str,
    writes: tuple[str, list[tuple[str, str]], str],
    cited: tuple[Citation, ...],
) -> Iterator[Question]:
    """A question about lines that name files: whether to write into them what is so now, or remove the only one's sentence."""
    label, spans, reason = writes
    places = list(dict.fromkeys(map(_place, named)))
    if not places:
        return
    update = context.draftsman.option("update", label, _rewrite, named, spans, reason, cited)
    remove = _removal(context, places[0], named[0].path_named, cited[0]) if len(named) == 1 else NO_OPTION
    options, weight = ((update, remove, KEEP), MOVED) if named[0].new else ((remove, update, KEEP), GONE)
    yield Question("gone", subject, why, tuple(places[:MOST_PLACES]), options, cited, weight=weight)


def _place(named: _Named) -> Place:
    return Place(named.path, named.line_no, named.line.strip())


def _removal(context: Inputs, at: Place, name: str, cited: Citation) -> Option:
    """The option to remove the sentence about this file from a short statement, or all of it if it says nothing else."""
    for unit in context.askable:
        if unit.path == at.path and unit.first_line == at.line_no and len(unit.text) <= LONGEST:
            note = f"The repository has no {name}."
            is_entry = unit.text.lstrip("*`").startswith(name)  # the rest is said of the file
            said = unit.text if is_entry else _sentence(unit.text, name)
            return removal_of_sentence(context, unit, said, note, cited)
    return NO_OPTION


def _rewrite(
    rec: Recorder,
    named: Sequence[_Named],
    spans: Sequence[tuple[str, str]],
    why: str,
    cited: tuple[Citation, ...],
) -> None:
    """Replaces a pattern of each line that names a file, of one that is gone once, as one operation."""
    changes = []
    for path in dict.fromkeys(one.path for one in named):
        before = rec.tree.texts[path]
        lines = before.split("\n")
        for one, (span, new) in zip(named, spans, strict=True):
            if one.path == path:
                lines[one.line_no - 1] = re.sub(span, new, lines[one.line_no - 1], count=not one.new)
        after = "\n".join(lines)
        changes.append(NewText(path, after, why, lines_changed(before, after, path), cited))
    rec.operation("update", changes, key=digest(*(f"{span} {new}" for span, new in spans)))


# --- What is gone -----------------------------------------------------------------------------------------------------


def _ask_of_gone(
    context: Inputs,
    missing: "_Missing",
    files: Sequence[Sequence[_Named]],
    was_here: Mapping[str, Removal],
) -> Iterator[Question]:
    """One question for the files that a commit removed, or the same memories name: note it, or remove a statement about one."""
    names = [max((one.path_named for one in each), key=len) for each in files]
    lines = [one for each in files for one in each if not context.is_touched(_place(one))]
    why = missing.file(names[0])
    if len(names) > 1:
        memories = plural(len({one.path for one in lines}), "memory names", "memories name")
        why = f"The repository has none of {len(names):,} files that {memories}: {first_of(names)}."
    cited = tuple(
        Citation("repository", name, place=name, note=was_here[name].said or missing.file(name))
        for name in names
    )
    label = "Note that it no longer exists" if len(names) == 1 else "Note that they no longer exist"
    spans = [(_FIRST.format(re.escape(one.path_named)), rf"\g<0> {NOTE}") for one in lines]
    yield from _ask(context, lines, " ".join(sorted(names))[:300], why, (label, spans, why), cited)


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

    def once(self, one: _Named) -> dict[str, str]:
        """The paths at which a missing file may have been, each with "": it has no new path."""
        path = PurePosixPath(one.path_named)
        folders = (each for each in self._repo.folders if f"/{each}".endswith(f"/{path.parent}"))
        return {f"{folder}/{path.name}": "" for folder in folders}

    def file(self, named: str) -> str:
        """Why it counts as gone; "" if it exists or may be elsewhere."""
        path = PurePosixPath(named)
        if path.name in self._repo.ignored or path.name.casefold() in self._names:
            return ""
        folder = str(path.parent)
        places = (parent for parent, sort in self._sorts if sort == path.suffix)
        is_known = folder in self._ends and any(f"/{each}".endswith(f"/{folder}") for each in places)
        return f"The repository has {folder}/, but no {path.name} in it." if is_known else ""
