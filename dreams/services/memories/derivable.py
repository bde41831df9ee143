"""Finds lines that only repeat the project's code: read-only, bounded, and cached until something changes."""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dreams.findings.base import Repeated
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
)
_ABOUT_PEOPLE = frozenset({"user", "feedback"})

Seen = tuple[tuple[str, int, int], ...]


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
