"""Previews an undo: the difference for each file, and what prevents it."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dreams.engines import drafts
from dreams.lib.files import text
from dreams.lib.files.text import joined, plural
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.models import Hunk, Proposal
from dreams.services import policies, rollback
from dreams.services.apply import undoing
from dreams.services.proposals import decisions, undos
from dreams.services.proposals.rows_to_hunks import renames
from dreams.services.rollback import Preview, Selection, UndoneFile
from dreams.web.pages import diffs

# Further files are only named with what will happen to them; their lines are on the page of their own undo.
MOST_SHOWN = 60
# With more changes there are no boxes to tick: files are undone from the review page.
MOST_CHOICES = 200
# Of what a box of a redo brings back.
MOST_REASONS = 4


@dataclass(frozen=True, slots=True)
class Undo:
    """`digest` covers the files, so that only what was shown is undone."""

    proposal: Proposal
    what: str
    size: str
    decisions: int
    files: tuple[dict[str, Any], ...]
    conflicts: int
    digest: str
    selection: Selection
    choices: tuple[dict[str, Any], ...]
    is_redo: bool
    ends: Sequence[tuple[str, str]]

    @property
    def verb(self) -> str:
        return "Redo" if self.is_redo else "Undo"

    @property
    def doing(self) -> str:
        return "Redoing…" if self.is_redo else "Undoing…"

    @property
    def done(self) -> str:
        return "redone" if self.is_redo else "undone"

    @property
    def chosen(self) -> int:
        return sum(choice["is_chosen"] for choice in self.choices)

    @property
    def will(self) -> str:
        """What it will do, to follow "Will": "change 3 files, bring 1 back and remove 1"."""
        return self._deeds({"M": ("change", ""), "A": ("bring", " back"), "D": ("remove", "")})

    @property
    def did(self) -> str:
        """The same in the past tense."""
        return self._deeds({"M": ("changed", ""), "A": ("brought", " back"), "D": ("removed", "")})

    def _deeds(self, words: Mapping[str, tuple[str, str]]) -> str:
        counted = Counter(file["letter"] for file in self.files if file["is_written"])
        told: list[str] = []
        for letter, (verb, behind) in words.items():
            if number := counted[letter]:
                told.append(f"{verb} {number if told else plural(number, 'file')}{behind}")
        return joined(told or [f"{words['M'][0]} no file"])


def undo(proposal: Proposal, selection: Selection) -> Undo:
    """Reads the current files. Raises rollback.NothingToUndo, review.ReviewRefused."""
    planned = rollback.preview(proposal, selection)
    # The undo itself is one change for each file; a redo counts what it brings back.
    meant, paths = undoing.undone_by(proposal), {file.path for file in planned.files}
    counted = [hunk for hunk in meant if hunk.file.path in paths] or planned.hunks
    is_redo = undos.is_undo(proposal)
    return Undo(
        proposal=proposal,
        what=_what(proposal, selection, counted, is_redo),
        size=size(counted),
        decisions=decisions.count(counted),
        files=tuple(
            _file(file, "the undo" if is_redo else _what_made(proposal), number < MOST_SHOWN, is_redo=is_redo)
            for number, file in enumerate(planned.files)
        ),
        conflicts=len(planned.conflicts),
        digest=_digest(planned),
        selection=selection,
        choices=_choices(proposal, planned, selection, meant),
        is_redo=is_redo,
        ends=policies.earned.ended_by(planned.hunks),
    )


def unticked(proposal: Proposal) -> Undo:
    """The page without a selection: only the boxes, so that nothing can be undone yet."""
    every = undo(proposal, Selection())
    choices = tuple({**choice, "is_chosen": False} for choice in every.choices)
    return replace(
        every, what="some changes", size="", decisions=0, files=(), conflicts=0, digest="", choices=choices
    )


def size(hunks: Sequence[Hunk]) -> str:
    """As the review counts them: a renamed file is one change, although one file is removed and one added."""
    per_file = Counter(hunk.file_id for hunk in hunks)
    alone = [
        (hunk.file, hunk.operation_id) for hunk in hunks if hunk.operation_id and per_file[hunk.file_id] == 1
    ]
    changes = len(hunks) - len(renames(alone))
    return decisions.Counts(decisions=decisions.count(hunks), changes=changes).words


def _what_made(proposal: Proposal) -> str:
    return "this dream" if proposal.dream else "this change"


def chosen(proposal: Proposal, hunk_ids: Sequence[str]) -> Selection:
    """The selection of the ticked boxes; everything if all are ticked."""
    rows = _standing(proposal)
    ticked = {decisions.key(row) for row in rows if row.hunk_id in hunk_ids}
    whole = all(decisions.key(row) in ticked for row in rows)
    return Selection() if whole else Selection(hunk_ids=tuple(hunk_ids))


def of_batch(proposal: Proposal, batch: int) -> Selection:
    """The changes written by one submit; everything if there are no others, or if none of them is left to undo."""
    rows = _standing(proposal)
    written = [row.hunk_id for row in rows if row.applied_in_id == batch]
    return chosen(proposal, written or [row.hunk_id for row in rows])


def _standing(proposal: Proposal) -> list[Hunk]:
    rows = Hunk.objects.filter(
        file__proposal=proposal, applied_in__isnull=False, undone_in__isnull=True
    ).select_related("file", "operation")
    return list(rows.order_by("file__path", "number"))


def _choices(
    proposal: Proposal, planned: Preview, selection: Selection, meant: Sequence[Hunk]
) -> tuple[dict[str, Any], ...]:
    """The boxes; none for the undo of a file, which includes fewer changes than one by decisions."""
    if selection.paths and not selection.hunk_ids:
        return ()
    groups = decisions.grouped(_standing(proposal))
    if len(groups) < 2 or len(groups) > MOST_CHOICES:
        return ()
    undone, is_redo = {hunk.pk for hunk in planned.hunks}, undos.is_redo(proposal)
    return tuple(_choice(rows, undone, meant, is_redo=is_redo) for rows in groups.values())


def _choice(
    rows: Sequence[Hunk], undone: set[int], redone: Sequence[Hunk], *, is_redo: bool
) -> dict[str, Any]:
    """`redone`: what was undone, if this is about its undo; the box says what comes back."""
    paths = {row.file.path for row in rows}
    known = [hunk for hunk in redone if hunk.file.path in paths]
    meant = known or rows
    operations = list({hunk.operation_id: hunk.operation for hunk in meant if hunk.operation}.values())
    kinds = {undos.kind(operation, is_redo=is_redo and not known): None for operation in operations}
    reasons = [operation.reason for operation in operations[:MOST_REASONS]]
    more = len(operations) - MOST_REASONS
    return {
        "value": rows[0].hunk_id,
        "kind": ", ".join(kinds) or "Changed",
        "reason": " ".join([*reasons, f"And {more} more."] if more > 0 else reasons),
        "places": decisions.places(rows),
        "is_chosen": any(row.pk in undone for row in rows),
    }


def _what(proposal: Proposal, selection: Selection, hunks: Sequence[Hunk], is_redo: bool) -> str:
    if selection.hunk_ids:
        of_one = "one change" if len(hunks) == 1 else "one decision"
        return of_one if decisions.count(hunks) == 1 else "some changes"
    if selection.paths:
        return f"what was changed in {', '.join(selection.paths)}"
    if is_redo:
        return "what was undone"
    if proposal.undoes_id:
        return "what was redone"
    return "what a policy applied" if proposal.by_policy else f"all of {_what_made(proposal)}"


def _file(file: UndoneFile, made_by: str, is_shown: bool, *, is_redo: bool) -> dict[str, Any]:
    result = file.offered
    mask = Mask.of(text.decode(side or b"") for side in (file.now, result))
    hunks = drafts.file_hunks(file.path, file.now, result) if is_shown and file.now != result else []
    return {
        "path": file.path,
        "letter": "A" if file.now is None else "D" if result is None else "M",
        "sentence": _sentence(file, result, made_by, is_redo=is_redo),
        "blocks": tuple(
            diffs.blocks(mask(text.decode(file.now or b"")), masking.hunks(mask, hunks), file.path)
        ),
        "is_conflict": file.merged is not None,
        "is_shown": is_shown,
        "is_written": file.changes,
    }


def _sentence(file: UndoneFile, result: bytes | None, made_by: str, *, is_redo: bool) -> str:
    deed, done, before = ("redo", "redone", "before the undo") if is_redo else ("undo", "undone", "before")
    if file.renamed:
        instead = "remove it there" if result is None else "edit it there, or choose to have this one back"
        return f"Its text is in {file.renamed} now, where {'a redo' if is_redo else 'an undo'} does not follow: {instead}."
    if file.merged is not None and file.now is None:
        return f"It was removed since, so you have to choose whether it comes back. This shows the {deed}."
    if file.merged is not None:
        return f"The same place has changed since, so you have to choose. This shows the {deed}; later edits elsewhere are kept."
    if file.now == result:
        return f"It is already as it was {before}; nothing to write."
    if result is None:
        return f"Will be removed: {made_by} added it."
    if file.now is None:
        return "Will be restored."
    if file.restored.mtime_ns is not None:
        return f"Will be exactly as it was {before}: text, permissions and time."
    return (
        f"Only these changes will be {done}."
        if file.is_exact
        else "It has changed since; later edits are kept."
    )


def _digest(planned: Preview) -> str:
    states = [f"{file.path}\0{text.sha_of(file.now)}" for file in planned.files]
    hunks = [str(hunk.pk) for hunk in planned.hunks]
    return hashlib.sha256("\n".join([*states, *hunks]).encode("utf-8", "surrogatepass")).hexdigest()[:24]
