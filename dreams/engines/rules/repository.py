"""What a repository has: its files, what they name, and the texts of those that configure it. Pure but for reading."""

import re
import stat
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from dreams.lib.files import safefs, text as texts

if TYPE_CHECKING:
    from dulwich.objects import ObjectID

MOST_NAMES = 20_000  # files and folders: a bound of time
MOST_CONFIGS = 200  # files that are read, as above
CONFIG_DEPTH = 3  # folders: what lies deeper is about a part, or about an example
MOST_COMMITS = 5_000  # in which a missing file is looked for; chosen
MOST_BYTES = 300_000  # of one of them; a larger one was hardly written by a person
_NOT_ENTERED = frozenset(
    "node_modules vendor dist build target venv env __pycache__ coverage out site-packages".split()  # noqa: SIM905 - a word list
)
_HIDDEN_ENTERED = frozenset({".github", ".claude", ".gitlab", ".circleci"})
# Files of the sorts that configure things, wherever they are; of JSON, which is data as well, those of the top and two by name.
_CONFIG = re.compile(
    r"(?:.*/)?(?![\w.-]*[-.]lock\.)(?:[\w.-]+\.(?:toml|ya?ml|cfg|ini|conf|tf|mk|mod)|[\w.-]+\.config\.[cm]?[jt]s|(?:package|tsconfig[\w.-]*)\.json|"
    r"(?:Make|Docker|Proc|just)file[\w.-]*|[\w.-]*\.?Dockerfile|requirements[\w.-]*\.txt|setup\.py|\.nvmrc|\.[\w-]+-versions?|"
    r"\.env\.(?:example|sample|template))|[\w.-]+(?<!-lock)\.json",
    re.IGNORECASE,
)
_INSTRUCTIONS = re.compile(r"(?:\.claude/)?CLAUDE\.md|\.claude/rules/[^/]+\.md|AGENTS\.md")


@dataclass
class Repository:
    """`complete`: everything was looked at, so what is not in `files` is not there. `root`: where it is."""

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
    """What is there; None without a repository that can be opened. `shallow`: no deeper than configuration is read."""
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
                    found.files.add(entry.rel)  # there by this name, wherever it leads
                elif entry.rel != folder and _is_entered(entry.rel) and (repo / entry.rel).is_dir():
                    found.folders.add(entry.rel)
                    if not shallow or entry.rel.count("/") < CONFIG_DEPTH:
                        todo.append(entry.rel)
        found.complete = left > 0 and not shallow
    return found


def ever_there(repo: Path, became: Mapping[str, str]) -> frozenset[str] | None:
    """Those of the paths that some commit has, but not with what they may have become beside them; None where there is no
    history that could tell."""
    from dulwich.object_store import tree_lookup_path  # noqa: PLC0415 - only where a file is missing
    from dulwich.objects import Tree  # noqa: PLC0415 - as above
    from dulwich.repo import Repo  # noqa: PLC0415 - as above

    commits = 0
    below: defaultdict[str, set[str]] = defaultdict(set)  # by folder, the names that are looked for in it
    for path in became:
        for each in (PurePosixPath(path), *PurePosixPath(path).parents[:-1]):
            below[str(each.parent)].add(each.name)
    found: dict[str, bool] = {}
    seen: set[tuple[str, ObjectID]] = set()  # most commits leave most folders as they are

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
                    found[path] = not has(git, became[path])
                if path in below and stat.S_ISDIR(mode):
                    look(git, path, entry)

    def has(git: Repo, path: str) -> bool:
        with suppress(Exception):  # a folder on the way is not there, or no folder
            return bool(path and tree_lookup_path(git.get_object, step.commit.tree, path.encode()))
        return False

    with (
        suppress(Exception),
        Repo(str(repo)) as git,
    ):  # whatever a damaged repository raises: it tells no more
        for step in git.get_walker(max_entries=MOST_COMMITS):
            commits += 1
            look(git, ".", step.commit.tree)
            if len(found) == len(became):
                break
    return frozenset(path for path in found if found[path]) if commits > 1 else None


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
