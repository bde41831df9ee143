"""Which lines of a project's memories say only what its code says: read-only, bounded, and read again only when it changed."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dreams import memdir
from dreams.findings.base import Repeated

if TYPE_CHECKING:
    from dreams.engines.rules import deriving

#: What lies at the top of a repository and is read; another state of one of them is another repository to us.
WATCHED = (".", "package.json", "Makefile", "pyproject.toml", "docker-compose.yml", "compose.yml", "go.mod")
_ABOUT_PEOPLE = frozenset({"user", "feedback"})

State = tuple[tuple[str, int, int], ...]


def by_code(files: Mapping[str, bytes], repo_dir: str) -> list[Repeated]:
    """Statements that the repository makes word for word or surely. CLAUDE.md is not asked: every finding on it names it."""
    if not repo_dir:
        return []
    said = _said(repo_dir, state(repo_dir))
    return [found for path in sorted(files) for found in _in_file(path, files[path], said)] if said else []


def state(repo_dir: str) -> State:
    """What was last written where, of the files that are read."""
    found = []
    for name in WATCHED:
        try:
            seen = (Path(repo_dir) / name).lstat()
        except OSError:
            continue
        found.append((name, seen.st_mtime_ns, seen.st_size))
    return tuple(found)


@functools.lru_cache(maxsize=16)
def _said(repo_dir: str, seen: State) -> deriving.Said | None:
    from dreams.engines.rules import deriving, repository  # noqa: PLC0415 - their patterns are slow to build

    facts = [fact for fact in repository.read(Path(repo_dir), lambda: None) if fact.values]
    return deriving.Said(facts) if facts and seen else None


def _in_file(path: str, data: bytes, said: deriving.Said) -> list[Repeated]:
    if not path.endswith(".md") or path.rpartition("/")[2] == memdir.INDEX_NAME:
        return []
    from dreams.engines.rules import bodies  # noqa: PLC0415 - as above

    document = memdir.parse(data)
    if memdir.memory_type(document, path) in _ABOUT_PEOPLE:
        return []
    units = [unit for unit in bodies.units(path, document) if not unit.frame]
    facts = [(unit, said.by(unit)) for unit in units]
    return [
        Repeated(path, unit.first_line, f"{fact.path}, line {fact.line_no},", fact.quote)
        for unit, fact in facts
        if fact
    ]
