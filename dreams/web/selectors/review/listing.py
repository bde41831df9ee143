"""The list of files and the bar at the foot: where the review stands, and what submitting it would do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from dreams import review, textdiff
from dreams.models import FileChange, Hunk
from dreams.text import plural
from dreams.web.selectors.review.loaded import WORST, FindingRow, HunkRow, Loaded

LETTERS = {"add": "A", "modify": "M", "delete": "D"}
LINE = 24


@dataclass(frozen=True, slots=True)
class Entry:
    """One file in the list. `dots` are verdicts in the order of the hunks, `kinds` those of its operations; `findings`
    are those that nobody confirmed, `worst` the gravest of them."""

    pk: int
    folder: str
    name: str
    was: str
    letter: str
    kind: str
    kinds: frozenset[str]
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
        return textdiff.visible(self.folder)

    @property
    def name_shown(self) -> str:
        return textdiff.visible(self.name)

    @property
    def was_shown(self) -> str:
        return textdiff.visible(self.was)

    @property
    def dots_words(self) -> str:
        counted = Counter(self.dots)
        said = [
            f"{counted[word]} {word}"
            for word in ("approved", "edited", "rejected", "undone")
            if counted[word]
        ]
        undecided = counted["pending"]
        return ", ".join([*said, *([f"{undecided} undecided"] if undecided else [])])


@dataclass(frozen=True, slots=True)
class Bar:
    """Where the review stands, and what submitting it would do. `clashing` are approved changes of a file that waits for
    a choice: they are not written before; `files` are those of the others."""

    total: int
    approved: int
    clashing: int
    rejected: int
    files: int
    rest: int
    waiting: int
    waits_at: HunkRow | None
    digest: str
    answers: str

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
        if writes := self.approved - self.clashing:
            said.append(f"writes {plural(writes, 'change')} to {plural(self.files, 'file')}")
        if self.clashing:
            said.append(f"holds {self.clashing} until the conflict is solved")
        if self.rejected:
            said.append(f"rejects {self.rejected}")
        if self.undecided:
            said.append(f"{self.undecided} stay undecided for a later dream")
        return ", ".join(said).capitalize() + "."


def bar(loaded: Loaded) -> Bar:
    shown = loaded.shown_hunks
    in_way = _in_the_way(loaded)
    hunks, files = {found.hunk_id for found in in_way}, {f.file_id for f in in_way if f.hunk_id is None}
    return Bar(
        total=len(shown),
        approved=sum(hunk.is_taken for hunk in shown),
        clashing=sum(hunk.is_taken and bool(hunk.file.conflict) for hunk in shown),
        rejected=sum(hunk.verdict == Hunk.Verdict.REJECTED for hunk in shown),
        files=len({hunk.file_id for hunk in shown if hunk.is_taken and not hunk.file.conflict}),
        rest=len(loaded.without_findings(shown)),
        waiting=len(in_way),
        waits_at=next((hunk for hunk in shown if hunk.pk in hunks or hunk.file_id in files), None),
        digest=loaded.digest,
        answers=loaded.answers,
    )


def _in_the_way(loaded: Loaded) -> list[FindingRow]:
    """As `review.in_the_way`: of what is said of a change, a file or the whole, what concerns something approved."""
    taken = [hunk for hunk in loaded.all_hunks if hunk.is_taken]
    hunks, files = {hunk.pk for hunk in taken}, {None, *(hunk.file_id for hunk in taken)}
    return [
        found
        for found in loaded.findings
        if found.stands_in_the_way
        and (found.hunk_id in hunks if found.hunk_id is not None else found.file_id in files)
    ]


def entry_of(loaded: Loaded, file: FileChange) -> Entry:
    rows = [hunk for part in loaded.parts_of(file) for hunk in loaded.hunks[part.pk]]
    pks = {part.pk for part in loaded.parts_of(file)}
    said = [finding for pk in pks for finding in loaded.found_in.get(pk, ())]
    found = [finding for finding in said if not finding.is_confirmed]
    added, removed = sum(h.new_count for h in rows), sum(h.base_count for h in rows)
    folder, _, name = file.path.rpartition("/")
    old = loaded.renames.get(file.pk)
    return Entry(
        pk=file.pk,
        folder=f"{folder}/" if folder else "",
        name=name,
        was=old.path if old else "",
        letter="R" if old else LETTERS[file.kind],
        kind="Renamed" if old else file.get_kind_display(),
        kinds=frozenset(hunk.kind for hunk in rows if hunk.kind),
        added=added,
        removed=removed,
        dots=tuple("undone" if hunk.undone_in_id else hunk.verdict for hunk in loaded.hunks[file.pk]),
        worst=min((f.severity for f in found), key=WORST.index, default=""),
        findings=len(found),
        confirmed=len(said) - len(found),
        is_viewed=review.is_viewed(file),
        note="conflict" if file.conflict else "" if file.rebase_confirmed else "changed since",
    )


def entries(loaded: Loaded) -> Sequence[Entry]:
    return [entry_of(loaded, file) for file in loaded.shown_files]
