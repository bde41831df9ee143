"""Projects to choose from in a field, where no two may read alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dreams.models import Project
from dreams.services import hosts
from dreams.web.tags.desk import short_path


def told_apart(choices: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """(id, name) of projects; those that share a name say on which host, or else where, they are. No query where none do."""
    rows = list(choices)
    often = Counter(name for _, name in rows)
    shared = [pk for pk, name in rows if often[name] > 1]
    if not shared:
        return rows
    names = hosts.names()
    found = Project.objects.filter(pk__in=shared).values_list("pk", "name", "host", "repo_dir", "memory_dir")
    owners = Counter((name, owner) for _, name, owner, _, _ in found)
    where = {
        pk: names.get(owner, owner) if owners[name, owner] == 1 else short_path(repo or folder)
        for pk, name, owner, repo, folder in found
    }
    return [(pk, f"{name} ({where[pk]})" if where.get(pk) else name) for pk, name in rows]
