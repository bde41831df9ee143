"""The page of a project's secrets: which stand in memories now, which only in what was kept. Never the secret itself."""

from __future__ import annotations

from dataclasses import dataclass

from dreams.lib.files.text import plural
from dreams.models import Project
from dreams.services import secret_purge


@dataclass(frozen=True, slots=True)
class Row:
    """One secret. `places` are (memory's id, path, line)."""

    id: str
    rule: str
    places: list[tuple[int, str, int]]
    paths: list[str]
    kept: str


@dataclass(frozen=True, slots=True)
class Page:
    standing: list[Row]
    kept: list[Row]
    all_looked_at: bool


def page(project: Project) -> Page:
    found = secret_purge.look(project)
    return Page(
        standing=[_row(leak) for leak in found.found if leak.stands],
        kept=[_row(leak) for leak in found.found if not leak.stands],
        all_looked_at=found.all_looked_at,
    )


def _row(leak: secret_purge.Leak) -> Row:
    return Row(
        id=leak.id,
        rule=leak.rule.replace("-", " "),
        places=[(place.memory_pk, place.path, place.line_no) for place in leak.places],
        paths=sorted(leak.paths),
        kept=plural(leak.texts, "stored text"),
    )
