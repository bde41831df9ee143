"""The checkup page: what the checks say of the memories as they stand, by file."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from dreams import checkup, textdiff
from dreams.findings.base import Found
from dreams.models import Project
from dreams.text import plural

MOST = 300
_LINE = re.compile(r"^,? lines? [\d,]+\b")


@dataclass(frozen=True, slots=True)
class Said:
    severity: str
    line_no: int | None
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class File:
    """`pk` is None for what is said of the whole directory, which has no path either."""

    path: str
    pk: int | None
    said: list[Said]


@dataclass(frozen=True, slots=True)
class Page:
    files: list[File]
    warnings: int
    notes: int
    more: int
    memories: int
    secrets: int

    @property
    def sentence(self) -> str:
        parts = [plural(self.warnings, "thing to look at", "things to look at")] if self.warnings else []
        parts += [plural(self.notes, "remark")] if self.notes else []
        looked = plural(self.memories, "file")
        return f"{' and '.join(parts)} in {looked}." if parts else f"Nothing to say of {looked}."


def page(project: Project) -> Page:
    made = checkup.look(project)
    pks = dict(project.memories.filter(gone_at__isnull=True).values_list("path", "pk"))
    by_path: dict[str, list[Said]] = defaultdict(list)
    for found in made.found[:MOST]:
        by_path[found.path].append(_said(found))
    return Page(
        files=[File(path, pks.get(path), said) for path, said in by_path.items()],
        warnings=made.warnings,
        notes=made.notes,
        more=max(0, len(made.found) - MOST),
        memories=made.memories,
        secrets=sum(found.check == "secrets" for found in made.found),
    )


def _said(found: Found) -> Said:
    message = textdiff.visible(without_place(found.message, found.path))
    return Said(found.severity, found.line_no, message, textdiff.visible(found.remedy))


def without_place(message: str, path: str) -> str:
    """ "a.md, line 6 holds …" → "Holds …": the file stands above it on the page, and the line beside it."""
    if not path or not message.startswith(path):
        return message
    rest = _LINE.sub("", message[len(path) :]).lstrip()
    return rest[:1].upper() + rest[1:] if rest[:1].isalpha() else message
