"""The conflict page: the merged text, and each conflict that a person has to resolve."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from dreams.lib import diff
from dreams.lib.diff import merge
from dreams.lib.files import text
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.models import FileChange, Proposal
from dreams.services.proposals import rebase, undos
from dreams.web.hidden_secrets import Sight
from dreams.web.pages import diffs
from dreams.web.pages.diffs import DiffLine, Gap

CONTEXT = 3  # lines, as diff -u shows
# Automatically merged lines are shown, but not hundreds of them.
MOST_MERGED = 60
LABELS = {"ours": "Now on disk", "theirs": "This dream", "base": "Before"}
THEIRS = {
    Proposal.Origin.DREAM: "This dream",
    Proposal.Origin.ROLLBACK: "This undo",
    Proposal.Origin.RESTORE: "This restore",
    Proposal.Origin.COPIED: "This copy",
}


@dataclass(frozen=True, slots=True)
class Pane:
    """One of the three texts of a conflict. `is_gone`: the file does not exist on this side."""

    side: str
    label: str
    lines: tuple[DiffLine, ...]
    is_gone: bool

    @property
    def is_empty(self) -> bool:
        return not self.lines


@dataclass(frozen=True, slots=True)
class Segment:
    """Lines without a conflict, or one conflict."""

    lines: tuple[DiffLine, ...] = ()
    gap: Gap | None = None
    after: tuple[DiffLine, ...] = ()
    is_merged: bool = False
    place: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    file: FileChange
    theirs: str
    segments: tuple[Segment, ...]
    count: int
    state: str
    sight: Sight

    @property
    def has_merged(self) -> bool:
        """Whether it shows lines that only one side changed."""
        return any(segment.is_merged for segment in self.segments)


def conflict(
    file: FileChange,
    chosen: Mapping[int, str] | None = None,
    typed: Mapping[int, str] | None = None,
    *,
    is_bare: bool = False,
) -> Conflict:
    """Raises rebase.NoConflict."""
    sides = rebase.sides_of(file)
    theirs = THEIRS.get(Proposal.Origin(file.proposal.origin), "This change")
    labels = {**LABELS, "theirs": "This redo" if undos.is_redo(file.proposal) else theirs}
    merged = rebase.three_way(sides, file.path)
    texts = (text.decode(side or b"") for side in (sides.now, sides.wanted, sides.base))
    sight = Sight.of(texts, is_bare=is_bare)
    gone = {"ours": sides.now is None, "theirs": sides.wanted is None, "base": sides.base is None}
    segments: list[Segment] = []
    number = 0
    for chunk in merged.chunks:
        if chunk.kind != "conflict":
            segments.append(_clear(chunk, sight.mask))
            continue
        panes = _panes(chunk, labels, gone, sight.mask)
        segments.append(
            Segment(
                place=_place(number, chunk, panes, chosen or {}, typed or {}, any(gone.values()), sight.mask)
            )
        )
        number += 1
    return Conflict(
        file=file,
        theirs=labels["theirs"],
        segments=tuple(segments),
        count=number,
        state=rebase.conflict_state(file),
        sight=sight,
    )


def solution(
    file: FileChange, choices: Mapping[int, merge.Choice], *, removes: bool, is_bare: bool = False
) -> dict[str, Any]:
    """An unresolved conflict keeps the text on disk. Raises rebase.NoConflict."""
    sides = rebase.sides_of(file)
    merged = rebase.three_way(sides, file.path)
    count = sum(chunk.kind == "conflict" for chunk in merged.chunks)
    now = text.decode(sides.now or b"")
    result = "" if removes else merged.resolve({n: choices.get(n, "ours") for n in range(count)})
    mask = Sight.of((now, result), is_bare=is_bare).mask
    hunks = masking.hunks(mask, diff.hunks(now, result, path=file.path))
    return {
        "blocks": tuple(diffs.blocks(mask(now), hunks, file.path)),
        "open": count - len(choices),
        "removes": removes,
    }


def _clear(chunk: merge.Chunk, mask: Mask) -> Segment:
    lines = diffs.plain_lines(mask("".join(chunk.lines)), first=chunk.ours.start + 1)
    is_merged = chunk.kind == "merged"
    if tuple(chunk.lines) != tuple(chunk.ours.lines):
        # Line numbers are those of the current file, which does not have these lines.
        lines = tuple(replace(line, number=None) for line in lines)
    if len(lines) <= (MOST_MERGED if is_merged else 2 * CONTEXT + 1):
        return Segment(lines=lines, is_merged=is_merged)
    hidden = lines[CONTEXT:-CONTEXT]
    gap = Gap(len(hidden), hidden[: diffs.MOST_IN_GAP], "merged" if is_merged else "unchanged")
    return Segment(lines[:CONTEXT], gap, lines[-CONTEXT:], is_merged)


def _panes(
    chunk: merge.Chunk, labels: Mapping[str, str], gone: Mapping[str, bool], mask: Mask
) -> tuple[Pane, ...]:
    """The texts now, by this dream and before; the first two with their changes since before marked."""
    base = "".join(chunk.base.lines)
    return (
        Pane("ours", labels["ours"], _against(base, chunk.ours, mask), gone["ours"]),
        Pane("theirs", labels["theirs"], _against(base, chunk.theirs, mask), gone["theirs"]),
        Pane("base", labels["base"], diffs.plain_lines(mask(base), first=chunk.base.start + 1), gone["base"]),
    )


def _against(base: str, part: merge.TextLines, mask: Mask) -> tuple[DiffLine, ...]:
    """The lines of one side, with changed words marked."""
    rows = masking.rows(mask, base, "".join(part.lines), None)
    return tuple(
        DiffLine(row.kind, part.start + (row.new_no or 0), diffs.runs(row))
        for row in rows
        if row.kind != "del"
    )


def _place(
    number: int,
    chunk: merge.Chunk,
    panes: tuple[Pane, ...],
    chosen: Mapping[int, str],
    typed: Mapping[int, str],
    is_whole: bool,
    mask: Mask,
) -> dict[str, Any]:
    both = "".join([*chunk.ours.lines, *chunk.theirs.lines]).replace("\r\n", "\n")
    content = typed.get(number, both)
    return {
        "number": number,
        "panes": panes,
        "chosen": chosen.get(number, ""),
        "typed": content,
        "rows": min(18, max(3, content.count("\n") + 1)),
        "is_whole": is_whole,
        # Typed text is shown again unmasked.
        "hides": 0 if typed.get(number) else mask.count(content),
    }
