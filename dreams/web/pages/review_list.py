"""The list of files beside the changes: where the review is in each, and the filters above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from dreams.lib import diff
from dreams.lib.files.text import plural
from dreams.models import FileChange
from dreams.services import review
from dreams.web.pages.review_loaded import WORST, Loaded
from dreams.web.pages.review_shown import (
    FILTERS,
    LETTERS,
    Asked,
    Batch,
    Passing,
    Window,
    batch,
    kinds,
    passes,
)

# What is decided is neither undecided nor to be viewed.
ALWAYS: Final = frozenset({"", "findings"})
# A list that is longer is walked page by page.
LISTED: Final = 200
LINE: Final = 24


@dataclass(frozen=True, slots=True)
class Entry:
    """One file in the list. `dots` are verdicts in the order of its changes; `findings` are those that nobody confirmed,
    `worst` the gravest of them."""

    pk: int
    folder: str
    name: str
    was: str
    letter: str
    kind: str
    added: int
    removed: int
    dots: tuple[str, ...]
    worst: str
    findings: int
    confirmed: int
    is_viewed: bool
    note: str

    @property
    def key(self) -> str:
        """The file's number for addresses and ids; a template writes numbers for people, which takes longer."""
        return str(self.pk)

    @property
    def is_long(self) -> bool:
        """Folder and name do not fit on one line of the list."""
        return len(self.folder) + len(self.name) > LINE

    @property
    def folder_shown(self) -> str:
        return diff.visible(self.folder)

    @property
    def name_shown(self) -> str:
        return diff.visible(self.name)

    @property
    def was_shown(self) -> str:
        return diff.visible(self.was)

    @property
    def dots_words(self) -> str:
        counted = Counter(self.dots)
        done = ("approved", "edited", "rejected", "undone")
        said = [f"{counted[word]} {word}" for word in done if counted[word]]
        return ", ".join([*said, *([f"{counted['pending']} undecided"] if counted["pending"] else [])])


def entry_of(loaded: Loaded, file: FileChange) -> Entry:
    pks = {part.pk for part in loaded.parts_of(file)}
    rows = [hunk for pk in pks for hunk in loaded.hunks[pk]]
    said = [finding for pk in pks for finding in loaded.found_in.get(pk, ())]
    found = [finding for finding in said if finding.confirmed_at is None]
    folder, slash, name = file.path.rpartition("/")
    old = loaded.renames.get(file.pk)
    return Entry(
        pk=file.pk,
        folder=folder + slash,
        name=name,
        was=old.path if old else "",
        letter="R" if old else LETTERS[file.kind],
        kind="Renamed" if old else file.get_kind_display(),
        added=sum(hunk.new_count for hunk in rows),
        removed=sum(hunk.base_count for hunk in rows),
        dots=tuple("undone" if hunk.undone_in_id else hunk.verdict for hunk in loaded.hunks[file.pk]),
        worst=min((f.severity for f in found), key=WORST.index, default=""),
        findings=len(found),
        confirmed=len(said) - len(found),
        is_viewed=review.is_viewed(file),
        note="conflict" if file.conflict else "" if file.rebase_confirmed else "changed since",
    )


@dataclass(frozen=True, slots=True)
class Filter:
    """A part of the list that one link leads to; `count` is of decisions."""

    label: str
    count: int
    href: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Listing:
    """One page of the list of files: `first` of `count` that pass; `batch` is what the page of changes shows."""

    entries: list[Entry]
    count: int
    first: int
    filters: list[Filter]
    kinds: list[tuple[str, str]]
    folders: list[str]
    viewed: int
    files: int
    batch: Batch
    size: str
    before: str
    after: str

    @property
    def last(self) -> int:
        return self.first + len(self.entries) - 1

    @property
    def viewed_words(self) -> str:
        return f"{self.viewed} of {plural(self.files, 'file')} viewed"


def listing(found: Passing, shown: Window) -> Listing:
    loaded, asked = found.loaded, found.asked
    # A file alone is looked at beside the whole list.
    files = found.files if asked.is_narrowed else loaded.shown_files
    page = files[asked.start : asked.start + LISTED]
    after = asked.start + LISTED
    own_kinds, folders = choices(loaded)
    return Listing(
        entries=[entry_of(loaded, file) for file in page],
        count=len(files),
        first=asked.start + 1,
        filters=[_filter(loaded, asked, key) for key in FILTERS if loaded.is_open or key in ALWAYS],
        kinds=own_kinds,
        folders=folders,
        viewed=sum(review.is_viewed(file) for file in loaded.shown_files),
        files=len(loaded.shown_files),
        batch=batch(loaded, "listed", shown.decisions),
        size=plural(len(found.decisions), "decision"),
        before=asked.to(loaded.proposal, start=max(0, asked.start - LISTED)) if asked.start else "",
        after=asked.to(loaded.proposal, start=after) if after < len(files) else "",
    )


def _filter(loaded: Loaded, asked: Asked, key: str) -> Filter:
    return Filter(
        FILTERS[key],
        sum(any(passes(loaded, hunk, key) for hunk in one.hunks) for one in loaded.decisions),
        asked.to(loaded.proposal, show=key, start="", page="", hunk="", view=""),
        key == asked.show,
    )


def choices(loaded: Loaded) -> tuple[list[tuple[str, str]], list[str]]:
    """The kinds and the folders that this proposal has: what a narrowing can be made from."""
    there: set[str] = {hunk.operation.kind for hunk in loaded.all_hunks if hunk.operation}
    there |= {"R" if file.pk in loaded.renames else LETTERS[file.kind] for file in loaded.shown_files}
    folders = {f"{file.path.rpartition('/')[0]}/" for file in loaded.shown_files if "/" in file.path}
    return [(key, label) for key, label in kinds().items() if key in there], sorted(folders)


def entries_of(loaded: Loaded, files: Collection[int]) -> list[Entry]:
    """Those of the list that a verdict on these files changes."""
    return [entry_of(loaded, file) for file in loaded.shown_files if file.pk in files]
