"""What changed in a memory directory from one state to another, file by file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from dreams.lib.files import text
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.models import Blob, Project
from dreams.services import blobs
from dreams.web.pages import difflines
from dreams.web.pages.difflines import DiffLine

# Beyond these a changed file is named, and its lines are a click away.
MOST_SHOWN = 30
MOST_FILES = 500
MOST_ROWS = 1_500
MOST_SHOWN_BYTES = 2 << 20


@dataclass(frozen=True, slots=True)
class Changed:
    """One file between two moments. `letter` is A, M or D; `rows` is None where only its name is shown."""

    path: str
    pk: int | None
    letter: str
    rows: list[DiffLine] | None
    added: int
    removed: int
    is_cut: bool
    missing: bool


@dataclass(frozen=True, slots=True)
class Between:
    """The changes from one moment to another, by path; `more` files are beyond what a page names."""

    files: list[Changed]
    total: int
    more: int
    added: int
    changed: int
    removed: int

    @property
    def words(self) -> str:
        """ "2 added, 1 removed"."""
        counted = {"added": self.added, "changed": self.changed, "removed": self.removed}
        return ", ".join(f"{count} {what}" for what, count in counted.items() if count)


def between(project: Project, old: Mapping[str, str], new: Mapping[str, str], only: str = "") -> Between:
    """What changed from one state (path → sha256) to another. `only` shows the lines of that file alone."""
    changed = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    wanted = [path for path in changed if path == only] if only else changed[:MOST_FILES]
    shown = set(_within(wanted, old, new))
    texts = blobs.get_many(sha for path in shown for sha in (old.get(path, ""), new.get(path, "")))
    pks = dict(project.memories.filter(path__in=wanted).values_list("path", "pk"))
    letters = [_letter(old.get(path, ""), new.get(path, "")) for path in changed]
    return Between(
        files=[
            _changed(path, pks.get(path), (old.get(path, ""), new.get(path, "")), texts, path in shown)
            for path in wanted
        ],
        total=len(changed),
        more=0 if only else max(0, len(changed) - len(wanted)),
        added=letters.count("A"),
        changed=letters.count("M"),
        removed=letters.count("D"),
    )


def _within(paths: Sequence[str], old: Mapping[str, str], new: Mapping[str, str]) -> Sequence[str]:
    """The paths whose lines are shown: few enough, and not too large together."""
    few = list(islice(paths, MOST_SHOWN))
    shas = {sha for path in few for sha in (old.get(path), new.get(path)) if sha}
    sizes = dict(Blob.objects.filter(sha256__in=shas).values_list("sha256", "size"))
    shown: list[str] = []
    total = 0
    for path in few:
        total += sizes.get(old.get(path, ""), 0) + sizes.get(new.get(path, ""), 0)
        if shown and total > MOST_SHOWN_BYTES:
            break
        shown.append(path)
    return shown


def _letter(old: str, new: str) -> str:
    return "A" if not old else "D" if not new else "M"


def _changed(
    path: str, pk: int | None, shas: tuple[str, str], texts: Mapping[str, bytes], is_shown: bool
) -> Changed:
    letter = _letter(*shas)
    missing = is_shown and any(sha and sha not in texts for sha in shas)
    if not is_shown or missing:
        return Changed(path, pk, letter, None, 0, 0, is_cut=False, missing=missing)
    before, after = (text.decode(texts.get(sha, b"")) for sha in shas)
    rows = masking.rows(Mask.of((before, after)), before, after)
    return Changed(
        path,
        pk,
        letter,
        rows=difflines.lines(rows[:MOST_ROWS]),
        added=sum(row.kind == "ins" for row in rows),
        removed=sum(row.kind == "del" for row in rows),
        is_cut=len(rows) > MOST_ROWS,
        missing=False,
    )
