"""The decisions that the review page shows: filters and pages.

A filter matches single changes. A decision with a match is shown with all its parts, the others marked; a decision
without one is hidden, and no button of the list decides on it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from django.http import QueryDict

from dreams.models import FileChange, Hunk, Operation, Proposal
from dreams.services import blobs
from dreams.services.apply import undoing
from dreams.services.proposals import decisions
from dreams.web.pages.review_proposal import LoadedDecision, LoadedProposal, address
from dreams.web.pages.review_texts import file_texts
from dreams.web.paging import number_or_none

FILTERS: Final = {
    "": "All",
    "undecided": "Undecided",
    "findings": "With findings",
    "unseen": "In unviewed files",
}
# As they continue "3 decisions …".
FILTERED: Final = {"undecided": "undecided", "findings": "with findings", "unseen": "in unviewed files"}
LETTERS: Final = {"add": "A", "modify": "M", "delete": "D"}
LETTER_WORDS: Final = {"A": "Added", "M": "Changed", "R": "Renamed", "D": "Removed"}
MOST_TYPED: Final = 100
# A review with more changes or about this total height has pages. Pixels at a width of 1,200.
PAGED_FROM: Final = 100
MOST_PIXELS: Final = 16_000
MOST_ON_PAGE: Final = 25
# This many lines of a longer change are shown; the rest is folded.
OPEN_LINES: Final = 40
# Heights of a card without its lines, of the least evidence, and of a line of prose: measured in Chromium at 1,200
# pixels.
_FRAME: Final = 150
_PROOF: Final = 200
_LINE: Final = 42


@dataclass(frozen=True, slots=True)
class ReviewQuery:
    """What the address asks for: one file, a filter of the list, search words, a kind of change, a folder, the start of the
    list, and a page of changes or the change that must be on it."""

    file: int | None = None
    hunk: int | None = None
    page: int = 1
    show: str = ""
    q: str = ""
    kind: str = ""
    folder: str = ""
    start: int = 0
    view: str = ""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.show or self.q or self.kind or self.folder)

    @property
    def is_part(self) -> bool:
        """Whether some decisions may be hidden."""
        return self.is_narrowed or self.file is not None

    @property
    def query(self) -> dict[str, str]:
        return {"show": self.show, "q": self.q, "kind": self.kind, "folder": self.folder}

    def to(self, proposal: Proposal, anchor: str = "", **changes: object) -> str:
        """The address of the page with this filter and `changes`. Absolute, as a refused form is answered at its own address."""
        page = self.page if self.page > 1 else ""
        query = {
            **self.query,
            "start": self.start or "",
            "page": page,
            "hunk": self.hunk,
            "view": self.view,
            **changes,
        }
        given = {key: str(value) for key, value in query.items() if value not in (None, "")}
        return address(proposal, anchor=anchor, **given)

    @property
    def words(self) -> str:
        """ "undecided, dated, in topics/, with “alpha”": the filter in words."""
        said = [FILTERED[self.show]] if self.show else []
        said += [kinds()[self.kind].lower()] if self.kind else []
        said += [f"in {self.folder}"] if self.folder else []
        said += [f"with “{self.q}”"] if self.q else []
        return ", ".join(said)


def kinds() -> dict[str, str]:
    """The kinds to filter by: changes of files, then reasons."""
    return {**LETTER_WORDS, **{kind.value: str(kind.label) for kind in Operation.Kind}}


def parse_query(query: QueryDict) -> ReviewQuery:
    """Parses an address; unknown values are ignored."""
    show, kind = query.get("show", ""), query.get("kind", "")
    return ReviewQuery(
        file=number_or_none(query.get("file")),
        hunk=number_or_none(query.get("hunk")),
        page=number_or_none(query.get("page")) or 1,
        show=show if show in FILTERS else "",
        q=query.get("q", "").strip()[:MOST_TYPED],
        kind=kind if kind in kinds() else "",
        folder=query.get("folder", "")[:MOST_TYPED],
        start=number_or_none(query.get("start")) or 0,
        view=query.get("view", ""),
    )


@dataclass(frozen=True)
class Passing:
    """The changes that match the query, and the decisions that contain them."""

    loaded: LoadedProposal
    asked: ReviewQuery
    hunks: frozenset[int]

    @cached_property
    def decisions(self) -> list[LoadedDecision]:
        return [one for one in self.loaded.decisions if any(hunk.pk in self.hunks for hunk in one.hunks)]

    @cached_property
    def files(self) -> list[FileChange]:
        """The files with a match; without a filter all files, including those without a change."""
        if not self.asked.is_part:
            return self.loaded.shown_files
        touched = {hunk.file_id for hunk in self.loaded.all_hunks if hunk.pk in self.hunks}
        return [f for f in self.loaded.shown_files if touched & {part.pk for part in self.loaded.parts_of(f)}]

    @cached_property
    def undone(self) -> Sequence[Hunk]:
        return undoing.undone_by(self.loaded.proposal)

    def count(self, shown: Iterable[LoadedDecision]) -> int:
        """How many decisions these are: of a written undo those that it undid, as its other pages count them. One of its
        cards can undo several."""
        each = list(shown)
        if not self.undone:
            return len(each)
        if len(each) == len(self.loaded.decisions):
            return decisions.count(self.undone)
        paths = {hunk.file.path for one in each for hunk in one.hunks}
        return decisions.count(hunk for hunk in self.undone if hunk.file.path in paths)

    def goes_with(self, hunk: Hunk) -> bool:
        """Whether it is only shown because another change of its decision matches. After a verdict, none of them may match."""
        is_other = self.asked.is_narrowed and hunk.pk not in self.hunks
        return is_other and any(hunk in one.hunks for one in self.decisions)


def passing(loaded: LoadedProposal, asked: ReviewQuery) -> Passing:
    """Applies the query. Only a search by words reads texts."""
    rows = [hunk for hunk in loaded.all_hunks if asked.file is None or _is_in(loaded, hunk, asked.file)]
    if asked.is_narrowed:
        rows = [hunk for hunk in rows if passes(loaded, hunk, asked.show) and _is_of(loaded, hunk, asked)]
    if asked.q and rows:
        rows = _with_words(loaded, rows, asked.q)
    return Passing(loaded, asked, frozenset(hunk.pk for hunk in rows))


def _is_in(loaded: LoadedProposal, hunk: Hunk, file: int) -> bool:
    """Whether the change is in the file or in its other name."""
    other = _other_name(loaded, hunk)
    return file == hunk.file_id or (other is not None and file == other.pk)


def _other_name(loaded: LoadedProposal, hunk: Hunk) -> FileChange | None:
    return loaded.renames.get(hunk.file_id) or loaded.old_names.get(hunk.file_id)


def passes(loaded: LoadedProposal, hunk: Hunk, show: str) -> bool:
    if show == "undecided":
        return hunk.verdict == Hunk.Verdict.PENDING
    if show == "findings":
        return loaded.has_findings(hunk)
    return show != "unseen" or not loaded.old_names.get(hunk.file_id, hunk.file).is_viewed


def _is_of(loaded: LoadedProposal, hunk: Hunk, asked: ReviewQuery) -> bool:
    letter = "R" if _other_name(loaded, hunk) else LETTERS[hunk.file.kind]
    kind = hunk.operation.kind if hunk.operation else ""
    folder, slash, _ = hunk.file.path.rpartition("/")
    return (not asked.kind or asked.kind in (letter, kind)) and (folder + slash).startswith(asked.folder)


def _with_words(loaded: LoadedProposal, rows: Sequence[Hunk], typed: str) -> list[Hunk]:
    """Changes with all the words in their lines, path or reason. The reason belongs to the whole decision, so if some of
    its changes match without it, only those count."""
    words = typed.casefold().split()
    texts = blobs.get_many(
        sha for row in rows for sha in (row.file.base_sha, row.file.new_sha, row.edited_sha)
    )
    lines: dict[int, str] = {}
    for file in {row.file_id: row.file for row in rows}.values():
        found = file_texts(file, loaded.hunks[file.pk], texts)
        lines |= {
            row.pk: hunk.removed + hunk.added + found.edited.get(row.hunk_id, "") for row, hunk in found.hunks
        }
    alone = {row.pk for row in rows if _has(words, row.file.path, lines[row.pk])}
    told = {decisions.key(row) for row in rows if row.pk in alone}
    return [
        row
        for row in rows
        if row.pk in alone
        or (decisions.key(row) not in told and _has(words, row.file.path, _reason(row), lines[row.pk]))
    ]


def _has(words: Sequence[str], *texts: str) -> bool:
    said = "\n".join(texts).casefold()
    return all(word in said for word in words)


def _reason(row: Hunk) -> str:
    return row.operation.reason if row.operation else ""


def filter_of(found: Passing, key: str) -> dict[str, Any]:
    loaded, asked = found.loaded, found.asked
    return {
        "label": FILTERS[key],
        "count": found.count(
            one for one in loaded.decisions if any(passes(loaded, hunk, key) for hunk in one.hunks)
        ),
        "href": asked.to(loaded.proposal, show=key, start="", page="", hunk="", view=""),
        "is_current": key == asked.show,
    }


def choices(loaded: LoadedProposal) -> tuple[list[tuple[str, str]], list[str]]:
    """The kinds and folders of this proposal, for the filter."""
    there: set[str] = {hunk.operation.kind for hunk in loaded.all_hunks if hunk.operation}
    there |= {"R" if file.pk in loaded.renames else LETTERS[file.kind] for file in loaded.shown_files}
    folders = {f"{file.path.rpartition('/')[0]}/" for file in loaded.shown_files if "/" in file.path}
    words = kinds() | ({Operation.Kind.UNDO.value: "Redone"} if loaded.is_redo else {})
    return [(key, label) for key, label in words.items() if key in there], sorted(folders)


EVERY, OTHERS = "all ", "the other "


@dataclass(frozen=True, slots=True)
class Batch:
    """The undecided decisions on the page that one button decides. `scope` is their name in the form, `which` their
    name on the button: EVERY, OTHERS or nothing."""

    scope: str
    undecided: Sequence[LoadedDecision] = ()
    free: Sequence[LoadedDecision] = ()
    which: str = ""

    def of(self, verdict: str) -> Sequence[LoadedDecision]:
        """The decisions for a verdict: approving takes those without findings and conflicts, rejecting all."""
        return self.free if verdict == Hunk.Verdict.APPROVED else self.undecided

    def digest(self, verdict: str) -> str:
        return decisions.digest([hunk for one in self.of(verdict) for hunk in one.hunks])

    @property
    def approve(self) -> dict[str, Any] | None:
        count = len(self.free)
        is_all = count == len(self.undecided)
        label = f"Approve {self._counted}" if is_all else f"Approve {count:,} without findings"
        return self._button(Hunk.Verdict.APPROVED, label)

    @property
    def reject(self) -> dict[str, Any] | None:
        return self._button(Hunk.Verdict.REJECTED, f"Reject {self._counted}")

    @property
    def _counted(self) -> str:
        """ "all 5", "the other 4", "the last one"."""
        count = len(self.undecided)
        if count == 1:
            return "the last one" if self.which == OTHERS else "1"
        return f"{self.which}{count:,}"

    def _button(self, verdict: str, label: str) -> dict[str, Any] | None:
        count = len(self.of(verdict))
        return (
            {
                "scope": self.scope,
                "verdict": verdict,
                "count": count,
                "digest": self.digest(verdict),
                "label": label,
            }
            if count
            else None
        )


def batch(loaded: LoadedProposal, scope: str, shown: Iterable[LoadedDecision]) -> Batch:
    undecided = [one for one in shown if one.is_open]
    return Batch(scope, undecided, loaded.free(undecided))


def batch_of(found: Passing, scope: str, file: FileChange | None = None) -> Batch:
    """The decisions of a form: `listed` on the page, `file` for those with one file, `all` of the proposal."""
    if scope == "all":
        return everything(found.loaded)
    shown = window(found).decisions
    if file is not None:
        return file_batch(found.loaded, shown, file, found.asked.view)
    return batch(found.loaded, "listed", shown)


def everything(loaded: LoadedProposal) -> Batch:
    made = batch(loaded, "all", loaded.decisions)
    return replace(made, which=EVERY if len(made.undecided) == len(loaded.decisions) else OTHERS)


def file_batch(loaded: LoadedProposal, shown: Sequence[LoadedDecision], file: FileChange, view: str) -> Batch:
    """The decisions shown with a file. The rendered view shows no other file, so it has no decisions that include one."""
    own = {part.pk for part in loaded.parts_of(file)}
    if view == "rendered":
        shown = [one for one in loaded.decisions if {hunk.file_id for hunk in one.hunks} <= own]
    return batch(loaded, "file", [one for one in shown if one.file_id == file.pk])


@dataclass(frozen=True, slots=True)
class Window:
    """One page of decisions: `first` to `last` (1-based) of `total`, as `Passing.count` counts them, and their files."""

    decisions: tuple[LoadedDecision, ...]
    files: tuple[FileChange, ...]
    is_paged: bool = False
    number: int = 1
    pages: int = 1
    first: int = 1
    last: int = 0
    total: int = 0
    before: str = ""
    after: str = ""


def window(passing: Passing) -> Window:
    """The requested page, or the nearest one."""
    found, asked = passing.decisions, passing.asked
    heights = [sum(map(_height, one.hunks)) for one in found]
    if sum(len(one.hunks) for one in found) < PAGED_FROM and sum(heights) <= MOST_PIXELS:
        return Window(tuple(found), tuple(_sections(passing, found)))
    starts = _starts(found, heights)
    number = _page(found, starts, asked)
    first = starts[number - 1]
    last = starts[number] if number < len(starts) else len(found)
    homes = {one.file_id for one in found[first:last]}
    return Window(
        decisions=tuple(found[first:last]),
        files=tuple(file for file in passing.loaded.shown_files if file.pk in homes),
        is_paged=True,
        number=number,
        pages=len(starts),
        first=passing.count(found[:first]) + 1,
        last=passing.count(found[:last]),
        total=passing.count(found),
        before=_link(passing, number - 1) if number > 1 else "",
        after=_link(passing, number + 1) if number < len(starts) else "",
    )


def _sections(passing: Passing, found: Sequence[LoadedDecision]) -> Iterable[FileChange]:
    """The files with a decision, and those shown anyway: the requested file, or without a filter all."""
    homes = {one.file_id for one in found}
    wanted = set() if passing.asked.is_narrowed else {file.pk for file in passing.files}
    return (file for file in passing.loaded.shown_files if file.pk in homes | wanted)


def _link(passing: Passing, number: int) -> str:
    asked = passing.asked
    page = number if number > 1 else ""
    return asked.to(passing.loaded.proposal, "review", file=asked.file, page=page, hunk="")


def _height(row: Hunk) -> int:
    return _FRAME + max(_PROOF, _LINE * min(row.base_count + row.new_count, OPEN_LINES))


def _starts(found: Sequence[LoadedDecision], heights: Sequence[int]) -> list[int]:
    """The index at which each page starts. Pages are limited in number and height. A file is only split if it alone
    exceeds a page."""
    starts, height, file_at = [0], 0, 0
    for index, one in enumerate(heights):
        if found[index].file_id != found[file_at].file_id:
            file_at = index
        height += one
        if index - starts[-1] >= MOST_ON_PAGE or (height > MOST_PIXELS and index > starts[-1]):
            starts.append(file_at if file_at > starts[-1] else index)
            height = sum(heights[starts[-1] : index + 1])
    return starts


def _page(found: Sequence[LoadedDecision], starts: Sequence[int], asked: ReviewQuery) -> int:
    """The requested page, or the one with the requested change."""
    wanted = next((n for n, one in enumerate(found) if asked.hunk in {h.pk for h in one.hunks}), None)
    if wanted is not None:
        return sum(start <= wanted for start in starts)
    return min(max(1, asked.page), len(starts))
