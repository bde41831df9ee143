"""Reads a repository: its files, the names in them, and the texts of its configuration. Pure but for reading."""

import datetime as dt
import functools
import re
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from dreams.lib.files import safefs, text as texts
from dreams.lib.secrets.redact import redact

if TYPE_CHECKING:
    from dulwich.objects import Commit, ObjectID, RawObjectID, ShaFile
    from dulwich.repo import Repo

    Getter = Callable[[ObjectID | RawObjectID], ShaFile]

MOST_NAMES = 20_000  # files and folders, to bound time
MOST_CONFIGS = 200  # files that are read, to bound time
CONFIG_DEPTH = 3  # folders; deeper ones are about parts or examples
MOST_COMMITS = 5_000  # in which a missing file is searched; chosen
ALIKE = 0.7  # of the lines of a renamed file that stay; chosen
MOST_CHANGES = 2_000  # of the commit that removed it, to bound time
MOST_NEW = 200  # new files of it that are read, to bound time
LONGEST_SAID = 240  # characters about the commit that removed a file; chosen
MOST_BYTES = 300_000  # of one file; larger ones are rarely written by a person
_NOT_ENTERED = frozenset(
    "node_modules vendor dist build target venv env __pycache__ coverage out site-packages".split()  # noqa: SIM905 - a word list
)
_HIDDEN_ENTERED = frozenset({".github", ".claude", ".gitlab", ".circleci"})
# Configuration files; JSON, which may be data, only by one of two names.
_CONFIG = re.compile(
    r"(?:.*/)?(?![\w.-]*[-.]lock\.)(?:[\w.-]+\.(?:toml|ya?ml|cfg|ini|conf|tf|mk|mod)|[\w.-]+\.config\.[cm]?[jt]s|(?:package|tsconfig[\w.-]*)\.json|"
    r"(?:Make|Docker|Proc|just)file[\w.-]*|[\w.-]*\.?Dockerfile|requirements[\w.-]*\.txt|setup\.py|\.nvmrc|\.[\w-]+-versions?|"
    r"\.env\.(?:example|sample|template))",
    re.IGNORECASE,
)
_INSTRUCTIONS = re.compile(r"(?:\.claude/)?CLAUDE\.md|\.claude/rules/[^/]+\.md|AGENTS\.md")


@dataclass
class Repository:
    """`complete`: everything was listed, so what is not in `files` does not exist. `root`: its folder."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    configs: dict[str, str] = field(default_factory=dict)  # path to text
    instructions: dict[str, str] = field(default_factory=dict)
    ignored: str = ""  # all .gitignore files in one
    complete: bool = True
    root: Path = Path()

    def by_name(self) -> Mapping[str, Sequence[str]]:
        """Paths by the last part of them."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.files):
            found[PurePosixPath(path).name].append(path)
        return found


def read(repo: Path | None, checkpoint: Callable[[], None], *, shallow: bool = False) -> Repository | None:
    """Read a repository; None if there is none that can be opened. `shallow`: only as deep as configuration is read."""
    if repo is None:
        return None
    found = Repository(root=repo)
    try:
        root = safefs.Root.open(repo)
    except (OSError, safefs.SafeFsError):
        return None
    with root:
        left, todo = MOST_NAMES, [""]
        while todo and left > 0:
            checkpoint()
            folder = todo.pop()
            for entry in root.walk(left, folder, max_depth=0):
                left -= 1
                if isinstance(entry, safefs.WalkedFile):
                    _keep(root, found, entry)
                elif (repo / entry.rel).is_symlink():
                    found.files.add(entry.rel)  # exists by this name, wherever it leads
                elif entry.rel != folder and _is_entered(entry.rel) and (repo / entry.rel).is_dir():
                    found.folders.add(entry.rel)
                    if not shallow or entry.rel.count("/") < CONFIG_DEPTH:
                        todo.append(entry.rel)
        found.complete = left > 0 and not shallow
    return found


@dataclass(frozen=True, slots=True)
class Removal:
    """When a path went, at the latest. `said`: the commit that removed it, in words; "" if none is known. `renamed`: what this
    commit calls the same text instead, and what it was called in full."""

    day: dt.date = dt.date.max
    said: str = ""
    renamed: tuple[str, str] = ("", "")


def ever_there(repo: Path, became: Mapping[str, str]) -> dict[str, Removal] | None:
    """The paths that a commit has, the newest of which lacks their possible new place, and how each went; None without a history."""
    from dulwich.objects import Tree  # noqa: PLC0415 - only where a file is missing
    from dulwich.repo import Repo  # noqa: PLC0415 - as above

    after = dt.date.max
    children: defaultdict[ObjectID, list[Commit]] = defaultdict(list)  # read before their parents
    below: defaultdict[str, set[str]] = defaultdict(set)  # folder → the names searched in it
    for path in became:
        for each in (PurePosixPath(path), *PurePosixPath(path).parents[:-1]):
            below[str(each.parent)].add(each.name)
    found: dict[str, Removal | None] = {}
    seen: set[tuple[str, ObjectID]] = set()  # most commits do not change most folders

    def look(git: Repo, folder: str, tree: "ObjectID") -> None:
        entries = git[tree] if (folder, tree) not in seen else None
        seen.add((folder, tree))
        if not isinstance(entries, Tree):
            return
        for name in below[folder]:
            if name.encode() in entries:
                mode, entry = entries[name.encode()]
                path = str(PurePosixPath(folder, name))
                if path in became and path not in found:
                    went = _removal(git, get, children[step.commit.id], path, became[path])
                    found[path] = None if _has(get, step.commit, became[path]) else went or Removal(after)
                if path in below and stat.S_ISDIR(mode):
                    look(git, path, entry)

    # A damaged repository may raise anything.
    with suppress(Exception), Repo(str(repo)) as git:
        get = functools.lru_cache(MOST_COMMITS)(git.get_object)
        for step in git.get_walker(max_entries=MOST_COMMITS):
            look(git, ".", step.commit.tree)
            if len(found) == len(became):
                break
            after = _day(step.commit)
            for parent in git.get_parents(step.commit.id, step.commit):
                children[parent].append(step.commit)
    return {path: went for path, went in found.items() if went} if children else None


def _removal(git: "Repo", get: "Getter", lacking: "Sequence[Commit]", path: str, new: str) -> Removal | None:
    """By the commit that lacks the path, while its parents have it: one of these, or behind a merge."""
    commit = min(lacking, key=lambda each: len(each.parents), default=None)
    for _ in range(MOST_COMMITS):
        parents = [cast("Commit", get(each)) for each in git.get_parents(commit.id, commit)] if commit else ()
        without = next((each for each in parents if not _has(get, each, path)), None)
        if commit and parents and without is None:
            moved, day = _has(get, commit, new), _day(commit)
            other = "" if moved else _renamed(git, parents[0], commit, path)
            how = "Moved" if moved else "Renamed" if other else "Removed"
            subject = redact(commit.message.decode("utf-8", "replace").partition("\n")[0])
            said = f"{how} in {commit.id.decode()[:7]}, {day.day} {day:%B %Y}: {texts.one_line(subject)}"
            return Removal(day, texts.shortened(said, LONGEST_SAID), (path, other) if other else ("", ""))
        commit = without
    return None


def _renamed(git: "Repo", before: "Commit", after: "Commit", path: str) -> str:
    """The one new file of a commit that has most lines of a removed one; "" if none has, or two as many."""
    from dulwich.diff_tree import tree_changes  # noqa: PLC0415 - only where a file is missing

    lines: dict[str, Counter[bytes]] = {}
    for change in islice(tree_changes(git.object_store, before.tree, after.tree), MOST_CHANGES):
        entry = change.new if change.type == "add" else change.old
        name = entry.path.decode("utf-8", "replace") if entry else ""
        is_new = change.type == "add" and PurePosixPath(name).suffix == PurePosixPath(path).suffix
        if entry and (name == path or (is_new and len(lines) < MOST_NEW)):
            with suppress(KeyError):  # what a partial clone lacks
                lines[name] = Counter(git[entry.sha].as_raw_string()[:MOST_BYTES].splitlines())
    mine = lines.pop(path, Counter())
    shares = {name: 2 * (mine & its).total() / (mine + its).total() for name, its in lines.items() if mine}
    most = [name for name, share in shares.items() if share == max(shares.values()) >= ALIKE]
    return most[0] if len(most) == 1 else ""


def _has(get: "Getter", commit: "Commit", path: str) -> bool:
    from dulwich.object_store import tree_lookup_path  # noqa: PLC0415 - only where a file is missing

    with suppress(Exception):  # a parent does not exist or is not a folder
        return bool(path and tree_lookup_path(get, commit.tree, path.encode()))
    return False


def _day(commit: "Commit") -> dt.date:
    return dt.datetime.fromtimestamp(commit.commit_time + commit.commit_timezone, dt.UTC).date()


def _is_entered(path: str) -> bool:
    name = PurePosixPath(path).name
    return name not in _NOT_ENTERED and (not name.startswith(".") or name in _HIDDEN_ENTERED)


def _keep(root: safefs.Root, found: Repository, entry: safefs.WalkedFile) -> None:
    path = entry.rel
    found.files.add(path)
    shallow = path.count("/") <= CONFIG_DEPTH and len(found.configs) < MOST_CONFIGS
    if shallow and _CONFIG.fullmatch(path):
        found.configs[path] = _text(root, path)
    elif _INSTRUCTIONS.fullmatch(path):
        found.instructions[path] = _text(root, path)
    elif PurePosixPath(path).name == ".gitignore":
        found.ignored += f"{_text(root, path)}\n"


def _text(root: safefs.Root, path: str) -> str:
    try:
        return texts.decode(root.read_bytes(path, limit=MOST_BYTES))
    except (OSError, safefs.SafeFsError):
        return ""
