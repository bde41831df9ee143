"""Finds lines that only repeat the project's code or git history: read-only, bounded, and cached until something changes."""

import functools
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dreams.findings.base import Repeated
from dreams.findings.ledger.state import DirectoryStatements
from dreams.findings.ledger.units import units_of
from dreams.lib import memdir

if TYPE_CHECKING:
    from dreams.engines.rules.questions.repository import ConfigLines

#: What is read at the top of a repository; when one of these changes, the cache is no longer used.
WATCHED = (
    ".",
    "package.json",
    "Makefile",
    "pyproject.toml",
    "docker-compose.yml",
    "compose.yml",
    "go.mod",
    ".git/logs/HEAD",
)
COMMITS = 1_000  # the newest are read
SECONDS = 1.0  # for reading git's log, as a page waits for it
LEAST_WORDS = 4  # of a line: one or two words match some commit by chance
_ABOUT_PEOPLE = frozenset({"user", "feedback"})

# "feat(cart): ", "[shop] ", "#12 "
_PREFIX = re.compile(r"^(?:[a-z]+(?:\([\w./-]+\))?!?:\s+|\[[^\]]+\]\s*|#\d+:?\s+)")

Seen = tuple[tuple[str, int, int], ...]
Log = tuple[DirectoryStatements, Mapping[str, str]]  # the subjects of commits, and the commit of each


def repeated_lines(files: Mapping[str, bytes], repo_dir: str) -> list[Repeated]:
    """The statements that only repeat the repository's configuration or commits."""
    return [*by_code(files, repo_dir), *by_git(files, repo_dir)]


def by_git(files: Mapping[str, bytes], repo_dir: str) -> list[Repeated]:
    """Statements that repeat the subject of a commit, as git already records what was done when."""
    told = _committed(repo_dir, state(repo_dir)) if repo_dir else None
    return [found for path in sorted(files) for found in _in_log(path, files[path], told)] if told else []


@functools.lru_cache(maxsize=16)
def _committed(repo_dir: str, seen: Seen) -> Log | None:
    from dulwich.repo import Repo  # noqa: PLC0415 - only where a repository is looked at

    subjects, until = dict[str, str](), time.monotonic() + SECONDS
    with (
        suppress(Exception),
        Repo(repo_dir) as repo,
    ):  # a damaged repository may raise anything; it then adds nothing
        for entry in repo.get_walker(max_entries=COMMITS):
            subject = entry.commit.message.decode("utf-8", "replace").partition("\n")[0].strip()
            subjects.setdefault(_PREFIX.sub("", subject), entry.commit.id.decode()[:8])
            if time.monotonic() > until:
                break
    told = DirectoryStatements({"log.md": "\n".join(f"- {subject}" for subject in subjects).encode()})
    return (told, subjects) if subjects else None


def _in_log(path: str, data: bytes, log: Log) -> Iterator[Repeated]:
    if _of_the_project(path, data) is None:
        return
    told, subjects = log
    for unit in units_of(path, data):
        if len(unit.text.split()) >= LEAST_WORDS and unit.kind == "sentence":
            found = told.same_words(unit) or told.container(unit.text)
            if found:
                commit = next((sha for said, sha in subjects.items() if found.unit.text in said), "")
                yield Repeated(path, unit.first_line, f"commit {commit}", found.unit.text, "git")


def _of_the_project(path: str, data: bytes) -> memdir.Document | None:
    """The parsed memory; None for one about people, whose wishes are not in the code."""
    if not path.endswith(".md") or memdir.is_index(path):
        return None
    document = memdir.parse(data)
    return None if memdir.memory_type(document, path) in _ABOUT_PEOPLE else document


def by_code(files: Mapping[str, bytes], repo_dir: str) -> list[Repeated]:
    """Statements that say little besides values of the configuration. CLAUDE.md is not compared here."""
    if not repo_dir:
        return []
    said = _said(repo_dir, state(repo_dir))
    return [found for path in sorted(files) for found in _in_file(path, files[path], said)] if said else []


def state(repo_dir: str) -> Seen:
    """The mtime and size of each watched file, as a cache key."""
    found = []
    for name in WATCHED:
        try:
            seen = (Path(repo_dir) / name).lstat()
        except OSError:
            continue
        found.append((name, seen.st_mtime_ns, seen.st_size))
    return tuple(found)


@functools.lru_cache(maxsize=16)
def _said(repo_dir: str, seen: Seen) -> "ConfigLines | None":
    from dreams.engines.rules import repository  # noqa: PLC0415 - their patterns are slow to build

    found = repository.read(Path(repo_dir), lambda: None, shallow=True)
    if not (found and found.configs and seen):
        return None
    from dreams.engines.rules.questions.repository import ConfigLines  # noqa: PLC0415 - as above

    return ConfigLines(found)


def _in_file(path: str, data: bytes, said: "ConfigLines") -> list[Repeated]:
    document = _of_the_project(path, data)
    if document is None:
        return []
    from dreams.engines.rules.notes import bodies  # noqa: PLC0415 - as above

    units = [unit for unit in bodies.units(path, document) if not unit.frame]
    lines = [(unit, said.by(unit)) for unit in units]
    return [
        Repeated(path, unit.first_line, f"{line.path}, line {line.line_no},", line.text)
        for unit, line in lines
        if line
    ]
