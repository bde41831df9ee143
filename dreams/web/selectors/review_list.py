"""The list of files and the bar at the foot: where the review stands, and what submitting it would do."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dreams import review
from dreams.models import FileChange, Finding, Hunk
from dreams.text import plural
from dreams.web.selectors.review_loaded import WORST, Loaded, address

LETTERS = {"add": "A", "modify": "M", "delete": "D"}
FILTERS = {"": "All", "undecided": "Undecided", "findings": "With findings", "unseen": "Not viewed"}
BAR_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Entry:
    """One file in the list. `dots` are verdicts in the order of the hunks."""

    pk: int
    folder: str
    name: str
    letter: str
    kind: str
    added: int
    removed: int
    added_width: float
    removed_width: float
    dots: tuple[str, ...]
    worst: str
    findings: int
    is_viewed: bool
    href: str
    note: str

    @property
    def dots_words(self) -> str:
        counted = Counter(self.dots)
        said = [f"{counted[word]} {word}" for word in ("approved", "edited", "rejected") if counted[word]]
        undecided = counted["pending"]
        return ", ".join([*said, *([f"{undecided} undecided"] if undecided else [])])


@dataclass(frozen=True, slots=True)
class Bar:
    """Where the review stands, and what submitting it would do."""

    total: int
    approved: int
    rejected: int
    files: int
    rest: int
    waiting: int
    digest: str

    @property
    def decided(self) -> int:
        return self.approved + self.rejected

    @property
    def undecided(self) -> int:
        return self.total - self.decided

    @property
    def rest_is_all(self) -> bool:
        return self.rest == self.undecided

    @property
    def is_quick(self) -> bool:
        """Nothing wants a closer look: no finding, no conflict, no verdict so far. One button does it all."""
        return self.total > 0 and self.rest == self.total

    @property
    def sentence(self) -> str:
        """What "Submit review" does."""
        if not self.decided:
            return "Decide on a change first; nothing is written before you submit."
        said = []
        if self.approved:
            said.append(f"Writes {plural(self.approved, 'change')} to {plural(self.files, 'file')}")
        if self.rejected:
            said.append(f"{'leaves' if said else 'Leaves'} out {self.rejected}")
        if self.undecided:
            said.append(f"{'leaves' if said else 'Leaves'} {self.undecided} undecided for a later dream")
        return ", ".join(said) + "."


def entries(loaded: Loaded, show: str = "") -> list[Entry]:
    return [e for e in (entry_of(loaded, file) for file in loaded.files) if passes(e, show)]


def bar(loaded: Loaded) -> Bar:
    taken = [hunk for hunk in loaded.all_hunks if hunk.is_taken]
    in_way = [
        finding
        for finding in loaded.findings
        if finding.stands_in_the_way and (finding.hunk_id is None or finding.hunk_id in {h.pk for h in taken})
    ]
    return Bar(
        total=len(loaded.all_hunks),
        approved=len(taken),
        rejected=sum(hunk.verdict == Hunk.Verdict.REJECTED for hunk in loaded.all_hunks),
        files=len({hunk.file_id for hunk in taken}),
        rest=len(loaded.without_findings(loaded.all_hunks)),
        waiting=len(in_way),
        digest=loaded.digest,
    )


def passes(entry: Entry, show: str) -> bool:
    if show == "undecided":
        return "pending" in entry.dots
    if show == "findings":
        return entry.findings > 0
    return not (show == "unseen" and entry.is_viewed)


def entry_of(loaded: Loaded, file: FileChange) -> Entry:
    hunks = loaded.hunks[file.pk]
    found = [f for f in loaded.findings if f.file_id == file.pk and f.severity != Finding.Severity.INFO]
    added, removed = sum(h.new_count for h in hunks), sum(h.base_count for h in hunks)
    scale = BAR_WIDTH / max(added + removed, BAR_WIDTH / 4)
    folder, _, name = file.path.rpartition("/")
    return Entry(
        pk=file.pk,
        folder=f"{folder}/" if folder else "",
        name=name,
        letter=LETTERS[file.kind],
        kind=file.get_kind_display(),
        added=added,
        removed=removed,
        added_width=round(added * scale, 1),
        removed_width=round(removed * scale, 1),
        dots=tuple(hunk.verdict for hunk in hunks),
        worst=min((f.severity for f in found), key=WORST.index, default=""),
        findings=len(found),
        is_viewed=review.is_viewed(file),
        href=address(loaded.proposal, file=file.pk, anchor=f"file-{file.pk}"),
        note="conflict" if file.conflict else "" if file.rebase_confirmed else "changed since",
    )
