"""What people call a project: its repository's folder name, with as much before it as tells it from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath

from dreams.lib.agents.base import FoundProject

_MOST = 4


def names_of(found: Iterable[FoundProject]) -> dict[str, str]:
    """Names by memory directory: "app", or "work/app" and "play/app" where there are two."""
    projects = list(found)
    names = {project.memory_dir: _name(project, 1) for project in projects}
    for depth in range(2, _MOST + 1):
        count = Counter(names.values())
        doubled = [p for p in projects if count[names[p.memory_dir]] > 1]
        if not doubled:
            return names
        names |= {project.memory_dir: _name(project, depth) for project in doubled}
    count = Counter(names.values())
    return {
        p.memory_dir: names[p.memory_dir] if count[names[p.memory_dir]] == 1 else p.slug for p in projects
    }


def _name(project: FoundProject, depth: int) -> str:
    where = project.repo or project.cwd
    parts = PurePath(where).parts[-depth:] if where else ()
    folder = "/".join(part for part in parts if part != "/")
    if project.kind == "agent":
        return f"{project.agent} ({folder or 'agent memory'})"
    return folder or project.slug
