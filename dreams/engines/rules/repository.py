"""What a repository has: its files, what they name, and what those that configure it surely say. Pure but for reading."""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from dreams.lib.files import safefs
from dreams.lib.files import text as texts

MOST_NAMES = 20_000  # files and folders: a bound of time
MOST_CONFIGS = 200  # files that are read for facts, as above
CONFIG_DEPTH = 3  # folders: what lies deeper is about a part, or about an example
MOST_BYTES = 300_000  # of one of them; a larger one was hardly written by a person
_NOT_ENTERED = frozenset(
    {
        "node_modules",
        "vendor",
        "dist",
        "build",
        "target",
        "venv",
        "env",
        "__pycache__",
        "coverage",
        "out",
        "site-packages",
    }
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
_TARGET = re.compile(r"^([\w./-]+)\s*:(?!=)", re.MULTILINE)
_INCLUDED = re.compile(r"^-?include\b|^[^#\n]*%.*:", re.MULTILINE)


@dataclass
class Repository:
    """`complete`: everything was looked at, so what is not in `files` is not there."""

    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    configs: dict[str, str] = field(default_factory=dict)  # path to text
    instructions: dict[str, str] = field(default_factory=dict)
    ignored: str = ""  # all .gitignore files in one
    complete: bool = True

    def by_name(self) -> Mapping[str, Sequence[str]]:
        """Paths by the last part of them."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.files):
            found[PurePosixPath(path).name].append(path)
        return found

    def scripts(self) -> frozenset[str] | None:
        """The names of all npm scripts; None where there is no package.json that can be read."""
        packages = [text for path, text in self.configs.items() if path.endswith("package.json")]
        try:
            read = [json.loads(text).get("scripts", {}) for text in packages]
            return frozenset(name for scripts in read for name in scripts) if packages else None
        except (ValueError, AttributeError, TypeError, RecursionError):
            return None

    def targets(self) -> frozenset[str] | None:
        """The names of all make targets; None without a Makefile, or where others may be included."""
        makefiles = [text for path, text in self.configs.items() if path.endswith(("Makefile", ".mk"))]
        if not makefiles or any(map(_INCLUDED.search, makefiles)):
            return None
        return frozenset(name for text in makefiles for name in _TARGET.findall(text))


def read(repo: Path | None, checkpoint: Callable[[], None], *, shallow: bool = False) -> Repository | None:
    """What is there; None without a repository that can be opened. `shallow`: no deeper than configuration is read."""
    if repo is None:
        return None
    found = Repository()
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
                if isinstance(entry, safefs.Found):
                    _keep(root, found, entry)
                elif entry.rel != folder and _is_entered(entry.rel) and (repo / entry.rel).is_dir():
                    found.folders.add(entry.rel)
                    if not shallow or entry.rel.count("/") < CONFIG_DEPTH:
                        todo.append(entry.rel)
        found.complete = left > 0 and not shallow
    return found


def _is_entered(path: str) -> bool:
    name = PurePosixPath(path).name
    return name not in _NOT_ENTERED and (not name.startswith(".") or name in _HIDDEN_ENTERED)


def _keep(root: safefs.Root, found: Repository, entry: safefs.Found) -> None:
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


# --- Code facts -----------------------------------------------------------------------------------------------------

MOST_FACTS = 5_000  # of one repository: a bound of memory


@dataclass(frozen=True, slots=True)
class CodeFact:
    """Something a file says. `quote` is the line that says it, `words` is how one could put it, `values` what a statement
    must name to say the same."""

    path: str
    line_no: int
    quote: str
    words: str
    values: tuple[str, ...]


def facts(repo: Repository | None) -> list[CodeFact]:
    """Everything that is understood; a file that cannot be parsed says nothing."""
    configs = sorted(repo.configs.items()) if repo else []
    return list(islice((fact for path, text in configs for fact in _of_file(path, text)), MOST_FACTS))


Reader = Callable[[str, str], Iterator[CodeFact]]


def _of_file(path: str, text: str) -> list[CodeFact]:
    *folders, name = path.split("/")
    reader = None if any(folder.startswith(".") for folder in folders) else _READERS.get(name)
    try:
        return list(reader(path, text)) if reader else []
    except (ValueError, RecursionError):
        return []


def _fact(path: str, text: str, words: str, *values: str) -> CodeFact:
    """The line is the first one that has the last value."""
    lines = text.split("\n")
    number = next((at for at, line in enumerate(lines, 1) if values[-1].split("\n")[0] in line), 1)
    coded = " ".join(f"`{value}`" for value in values)
    told = f"{path} {path.rpartition('/')[2]} {words} {coded}"
    return CodeFact(path, number, lines[number - 1].strip()[:300], told, values)


def _package(path: str, text: str) -> Iterator[CodeFact]:
    found = json.loads(text)
    if not isinstance(found, dict):
        return
    for name, command in _texts(found.get("scripts")):
        yield _fact(
            path,
            text,
            f"the script `npm run {name}` {name} runs executes calls is `{command}`",
            name,
            command,
        )
    for key, what in (
        ("name", "the npm package is called named name"),
        ("version", "the package version is at"),
    ):
        if isinstance(found.get(key), str) and found[key]:
            yield _fact(path, text, f"{what} `{found[key]}`", found[key])
    for name, wanted in _texts(found.get("engines")):
        yield _fact(
            path, text, f"{path} engines asks requires needs wants {name} version `{wanted}`", name, wanted
        )
    if isinstance(found.get("packageManager"), str):
        yield _fact(
            path, text, f"the package manager is `{found['packageManager']}`", found["packageManager"]
        )


def _texts(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        yield from ((k, v) for k, v in value.items() if isinstance(k, str) and isinstance(v, str) and v)


def _makefile(path: str, text: str) -> Iterator[CodeFact]:
    """Targets of one recipe line: what a longer one does is not said in a line."""
    for match in re.finditer(r"^([\w.-]+):[^=\n]*\n((?:\t[^\n]*\n?)+)", text, re.MULTILINE):
        recipe = [line.strip().lstrip("@-") for line in match[2].split("\n") if line.strip()]
        if len(recipe) == 1:
            words = f"`make {match[1]}` the target {match[1]} runs executes calls is `{recipe[0]}`"
            yield _fact(path, text, words, match[1], recipe[0])


def _pyproject(path: str, text: str) -> Iterator[CodeFact]:
    project: Mapping[str, Any] = tomllib.loads(text).get("project", {})
    for key, words in (
        ("name", "the Python package project is called named"),
        ("version", "the package version is at"),
        ("requires-python", "requires needs asks Python version"),
    ):
        if isinstance(project.get(key), str) and project[key]:
            yield _fact(path, text, f"{words} `{project[key]}`", project[key])


def _compose(path: str, text: str) -> Iterator[CodeFact]:
    service = ""
    inside = False
    for line in text.split("\n"):
        if re.match(r"\S", line):
            inside = line.startswith("services:")
        match = re.match(r"  ([\w.-]+):\s*$", line)
        if match:
            service = match[1]
        image = re.match(r"\s{3,}image:\s*[\"']?([^\s\"'#]+)", line)
        if inside and service and image:
            words = f"the docker compose service container {service} runs starts uses from with image is `{image[1]}`"
            yield _fact(path, text, words, service, image[1])


def _go(path: str, text: str) -> Iterator[CodeFact]:
    for match in re.finditer(r"^(module|go)\s+(\S+)\s*$", text, re.MULTILINE):
        what = (
            "the Go module is called named"
            if match[1] == "module"
            else "the module needs requires Go version"
        )
        yield _fact(path, text, f"{what} `{match[2]}`", match[2])


def _version_file(path: str, text: str) -> Iterator[CodeFact]:
    value = text.strip()
    tool = "Node node.js" if "nv" in path.rpartition("/")[2] or "node" in path else "Python"
    if value and len(value) < 30 and "\n" not in value:
        yield _fact(path, text, f"asks pins requires needs uses {tool} version is `{value}`", value)


_READERS: Mapping[str, Reader] = {
    "package.json": _package,
    "Makefile": _makefile,
    "pyproject.toml": _pyproject,
    "docker-compose.yml": _compose,
    "docker-compose.yaml": _compose,
    "compose.yml": _compose,
    "compose.yaml": _compose,
    "go.mod": _go,
    ".nvmrc": _version_file,
    ".node-version": _version_file,
    ".python-version": _version_file,
}
