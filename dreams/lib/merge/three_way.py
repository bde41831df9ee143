"""Three-way merge by line.

The rule: an edit conflicts with an edit of the other side that it overlaps or touches, that is, when no line
unchanged on both sides stands between them; the same edit on both sides is taken once. With
`adjacent="merge"` edits that only touch are both taken, unless both insert at the same place or one of them
ends in a line without a line end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from dreams.lib.merge.model import Chunk, ChunkKind, Merge, Part
from dreams.lib.textdiff.hunks import Granularity, line_changes
from dreams.lib.textdiff.lines import line_end_of, split_lines, terminated

Adjacent = Literal["conflict", "merge"]


def merge3(base: str, ours: str, theirs: str, *, adjacent: Adjacent = "conflict") -> Merge:
    """The changes from `base` to `ours` and from `base` to `theirs`, brought together."""
    lines = split_lines(base), split_lines(ours), split_lines(theirs)
    return Merge(tuple(merge_lines(*lines, adjacent=adjacent)), _line_end(*lines))


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], *, adjacent: Adjacent = "conflict"
) -> list[Chunk]:
    """`merge3` on lists of lines; the chunks cover all three lists in order."""
    # Touching edits end in one group below: only where they may stay apart is it worth cutting them finer.
    cut: Granularity = "unit" if adjacent == "merge" else "block"
    edits = [*_edits("ours", base, ours, cut), *_edits("theirs", base, theirs, cut)]
    edits.sort(key=lambda edit: (edit.start, edit.end, edit.new_start))
    groups: list[_Group] = []
    for edit in edits:
        if groups and _touches(groups[-1], edit, adjacent):
            groups[-1].add(edit)
        else:
            groups.append(_Group(edit.start, edit.end, [edit]))
    return _chunks(base, groups)


@dataclass(frozen=True, slots=True)
class _Edit:
    side: Literal["ours", "theirs"]
    start: int
    end: int
    new_start: int
    lines: tuple[str, ...]


@dataclass(slots=True)
class _Group:
    """Edits that stand or fall together, over base lines `[start, end)`."""

    start: int
    end: int
    edits: list[_Edit] = field(default_factory=list)

    def add(self, edit: _Edit) -> None:
        self.edits.append(edit)
        self.end = max(self.end, edit.end)

    def part(self, side: Literal["ours", "theirs"], base: Sequence[str]) -> tuple[str, ...]:
        """The group's lines as this side has them."""
        out: list[str] = []
        at = self.start
        for edit in self.edits:
            if edit.side == side:
                out.extend([*base[at : edit.start], *edit.lines])
                at = edit.end
        return (*out, *base[at : self.end])

    def sides(self) -> set[str]:
        return {edit.side for edit in self.edits}


def _edits(
    side: Literal["ours", "theirs"], base: Sequence[str], new: Sequence[str], cut: Granularity
) -> list[_Edit]:
    return [_Edit(side, c.a0, c.a1, c.b0, tuple(new[c.b0 : c.b1])) for c in line_changes(base, new, cut)]


def _touches(group: _Group, edit: _Edit, adjacent: Adjacent) -> bool:
    if adjacent == "conflict" or edit.start < group.end:
        return edit.start <= group.end
    if edit.start > group.end:
        return False
    return any(_at_one_place(other, edit) or _unended(other) for other in group.edits)


def _at_one_place(one: _Edit, other: _Edit) -> bool:
    """Both insert here: which goes first is for a person to say."""
    return one.side != other.side and one.start == one.end == other.start == other.end


def _unended(edit: _Edit) -> bool:
    return bool(edit.lines) and not terminated(edit.lines[-1])


def _chunks(base: Sequence[str], groups: Sequence[_Group]) -> list[Chunk]:
    out: list[Chunk] = []
    at = ours_at = theirs_at = 0

    def put(kind: ChunkKind, parts: tuple[Sequence[str], ...], lines: Sequence[str]) -> None:
        nonlocal at, ours_at, theirs_at
        from_base, from_ours, from_theirs = map(tuple, parts)
        places = Part(at, from_base), Part(ours_at, from_ours), Part(theirs_at, from_theirs)
        out.append(Chunk(kind, *places, tuple(lines)))
        at, ours_at, theirs_at = (p.start + len(p.lines) for p in places)

    for group in groups:
        if group.start > at:
            stable = base[at : group.start]
            put("stable", (stable, stable, stable), stable)
        before = base[group.start : group.end]
        ours, theirs = group.part("ours", base), group.part("theirs", base)
        if ours == theirs or len(group.sides()) == 1:
            changed = theirs if "theirs" in group.sides() else ours
            put("merged", (before, ours, theirs), changed)
        else:
            put("conflict", (before, ours, theirs), ())
    if at < len(base):
        put("stable", (base[at:], base[at:], base[at:]), base[at:])
    return out


def _line_end(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> str:
    """The line end the result has: what one side changed it to, else what it was."""
    before, here, there = line_end_of(base), line_end_of(ours), line_end_of(theirs)
    return there if here == before else here
