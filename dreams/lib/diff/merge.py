"""Three-way merge by line, into text or into chunks with conflicts to be resolved.

The rule: an edit conflicts with an edit of the other side that it overlaps, or that inserts at the same place. Edits that
only touch are both taken; the same edit on both sides is taken once. With `keeps_both` what both insert at the same place is
taken too, if nothing is removed there and `ours_first` finds an order for it.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from dreams.lib.diff.hunks import line_changes
from dreams.lib.diff.lines import ended_lines, join_lines, line_end_of, split_lines
from dreams.lib.diff.refine import UnitKind, have_alike_units, indent_of, units

ChunkKind = Literal["stable", "merged", "conflict"]
Side = Literal["ours", "theirs", "both", "base"]


@dataclass(frozen=True, slots=True)
class Edited:
    """A text written by the person who resolves a conflict; a separate type, because the text may be "ours"."""

    text: str


Choice = Side | Edited


@dataclass(frozen=True, slots=True)
class TextLines:
    """Lines of one of the three texts; `start` is their 0-based line number there."""

    start: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the result: unchanged, merged, or in conflict (then without `lines`)."""

    kind: ChunkKind
    base: TextLines
    ours: TextLines
    theirs: TextLines
    lines: tuple[str, ...] = ()


class UnresolvedConflictError(ValueError):
    """A conflict without a choice, or a choice for a conflict that does not exist."""


@dataclass(frozen=True, slots=True)
class Merge:
    """The chunks in the order of the result. `line_end` is added to a line without one that is followed by another."""

    chunks: tuple[Chunk, ...]
    line_end: str = "\n"
    final_newline: bool | None = None

    @property
    def conflicts(self) -> list[Chunk]:
        """The conflicts; `resolve` takes their positions in this list."""
        return [chunk for chunk in self.chunks if chunk.kind == "conflict"]

    @property
    def clean(self) -> bool:
        return not self.conflicts

    @property
    def text(self) -> str:
        """The merged text; raises UnresolvedConflictError while there are conflicts."""
        return self.resolve({})

    def resolve(self, choices: Mapping[int, Choice]) -> str:
        """The text with every conflict, counted from 0, decided; "both" is ours and then theirs."""
        wanted = set(range(len(self.conflicts)))
        if missing := wanted - choices.keys():
            raise UnresolvedConflictError(f"No choice for conflict {_listed(missing)}; choose for each.")
        if unknown := choices.keys() - wanted:
            raise UnresolvedConflictError(f"There is no conflict {_listed(unknown)}; read the merge again.")
        return self._finished(join_lines(self._resolved(choices), self.line_end))

    def _resolved(self, choices: Mapping[int, Choice]) -> Iterator[Sequence[str]]:
        number = 0
        for chunk in self.chunks:
            if chunk.kind == "conflict":
                yield from _chosen(chunk, choices[number])
                number += 1
            else:
                yield chunk.lines

    def _finished(self, text: str) -> str:
        if self.final_newline is None or not text:
            return text
        if self.final_newline:
            return text if text.endswith("\n") else text + self.line_end
        return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _chosen(chunk: Chunk, choice: Choice) -> Iterator[Sequence[str]]:
    if isinstance(choice, Edited):
        yield split_lines(choice.text)
    elif choice == "both":
        yield chunk.ours.lines
        yield chunk.theirs.lines
    else:
        part: TextLines = getattr(chunk, choice)
        yield part.lines


def _listed(numbers: set[int]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))


# --- Merging ----------------------------------------------------------------------------------------------------------

Place = tuple[int, int, tuple[str, ...]]  # the base lines that are replaced, and the new ones


def merge3(base: str, ours: str, theirs: str, *, keeps_both: bool = False) -> Merge:
    """Merges the changes from `base` to `ours` and from `base` to `theirs`."""
    # A text without a final line end grows at its end like any other.
    lines = [ended_lines(split_lines(text)) for text in (base, ours, theirs)]
    return Merge(tuple(merge_lines(*lines, keeps_both=keeps_both)), *ends_of(base, ours, theirs))


def ends_of(base: str, ours: str, theirs: str) -> tuple[str, bool]:
    """The line end of the result, and whether its last line has one: what one side made of it, else as before."""
    texts = base, ours, theirs
    before, here, there = (line_end_of(split_lines(text)) for text in texts)
    was, is_here, is_there = (not text or text.endswith("\n") for text in texts)
    return there if here == before else here, is_there if is_here == was else is_here


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str], *, keeps_both: bool = False
) -> list[Chunk]:
    """`merge3` on lists of lines; the chunks cover all three lists in order."""
    edits = _met(base, _edits("ours", base, ours), _edits("theirs", base, theirs))
    edits.sort(key=lambda edit: (edit.start, edit.end, edit.new_start))
    groups: list[_Group] = []
    for edit in edits:
        if groups and _meets(groups[-1], edit):
            groups[-1].add(edit)
        else:
            groups.append(_Group(edit.start, edit.end, [edit]))
    removed = {at for edit in edits if not edit.lines for at in (edit.start, edit.end)}
    return _chunks(base, groups, removed if keeps_both else None)


@dataclass(frozen=True, slots=True)
class _Edit:
    side: Literal["ours", "theirs"]
    start: int
    end: int
    new_start: int
    lines: tuple[str, ...]
    behind: int  # where the side's edit before it ends
    before: int  # where the side's next edit begins

    @property
    def place(self) -> Place:
        return self.start, self.end, self.lines

    def at(self, place: Place) -> "_Edit":
        return replace(self, start=place[0], end=place[1], lines=place[2])


@dataclass(slots=True)
class _Group:
    """Edits that are merged or in conflict together, over base lines `[start, end)`."""

    start: int
    end: int
    edits: list[_Edit] = field(default_factory=list)

    def add(self, edit: _Edit) -> None:
        self.edits.append(edit)
        self.end = max(self.end, edit.end)

    def part(self, side: Literal["ours", "theirs"], base: Sequence[str]) -> tuple[str, ...]:
        """The group's lines on this side."""
        out: list[str] = []
        at = self.start
        for edit in self.edits:
            if edit.side == side:
                out.extend([*base[at : edit.start], *edit.lines])
                at = edit.end
        return (*out, *base[at : self.end])

    def sides(self) -> set[str]:
        return {edit.side for edit in self.edits}


def _edits(side: Literal["ours", "theirs"], base: Sequence[str], new: Sequence[str]) -> list[_Edit]:
    found = line_changes(base, new)
    since, until = [0, *(c.a1 for c in found)], [*(c.a0 for c in found[1:]), len(base)]
    return [
        _Edit(side, c.a0, c.a1, c.b0, tuple(new[c.b0 : c.b1]), behind, before)
        for c, behind, before in zip(found, since, until, strict=False)
    ]


def _met(base: Sequence[str], ours: Sequence[_Edit], theirs: Sequence[_Edit]) -> list[_Edit]:
    """The edits of both sides. The same paragraph can be cut before or behind a blank line: where both sides added or removed
    it and only one cut differs, both get the same, so that it is taken once."""
    ours, theirs = (
        [_outside(base, each, others) for each in edits] for edits, others in ((ours, theirs), (theirs, ours))
    )
    last = {edit: _last_place(base, edit) for edit in (*ours, *theirs)}
    apart = {each.place for each in ours} ^ {each.place for each in theirs}
    same = {last[each] for each in ours} & {last[each] for each in theirs}
    return [each.at(last[each]) if each.place in apart and last[each] in same else each for each in last]


def _outside(base: Sequence[str], edit: _Edit, others: Sequence[_Edit]) -> _Edit:
    """What is added inside lines that the other side removes, moved before them if it gives the same text there."""
    holes = (other.start for other in others if not other.lines and other.start < edit.start < other.end)
    hole = next(holes, edit.start) if edit.start == edit.end else edit.start
    if not edit.behind <= hole < edit.start:
        return edit
    between = tuple(base[hole : edit.start])
    moved = (*between, *edit.lines)[: len(edit.lines)]
    return edit.at((hole, hole, moved)) if (*moved, *between) == (*between, *edit.lines) else edit


def _last_place(base: Sequence[str], edit: _Edit) -> Place:
    """The last place at which what is added or removed there gives the same text."""
    start, end, lines = edit.place
    if lines and start < end:
        return edit.place
    moved, by = lines or base[start:end], 0
    while end + by < edit.before and base[end + by] == moved[by % len(moved)]:
        by += 1
    first = by % len(moved)
    return start + by, end + by, (*lines[first:], *lines[:first])


def _meets(group: _Group, edit: _Edit) -> bool:
    return edit.start < group.end or any(_at_one_place(other, edit) for other in group.edits)


def _at_one_place(one: _Edit, other: _Edit) -> bool:
    """Whether both sides insert here."""
    return one.side != other.side and one.start == one.end == other.start == other.end


def _chunks(base: Sequence[str], groups: Sequence[_Group], apart: Collection[int] | None) -> list[Chunk]:
    """`apart` are the places where what both sides insert stays a conflict; None for all."""
    out: list[Chunk] = []
    at = ours_at = theirs_at = 0

    def put(kind: ChunkKind, parts: tuple[Sequence[str], ...], lines: Sequence[str]) -> None:
        nonlocal at, ours_at, theirs_at
        from_base, from_ours, from_theirs = map(tuple, parts)
        places = TextLines(at, from_base), TextLines(ours_at, from_ours), TextLines(theirs_at, from_theirs)
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
            continue
        both: tuple[str, ...] = ()
        if apart is not None and group.start == group.end and group.start not in apart:
            first = ours_first(base[: group.start], ours, theirs, base[group.end :])
            both = () if first is None else (*ours, *theirs) if first else (*theirs, *ours)
        put("merged" if both else "conflict", (before, ours, theirs), both)
    if at < len(base):
        put("stable", (base[at:], base[at:], base[at:]), base[at:])
    return out


# --- What both sides add at one place -----------------------------------------------------------------------------------

_HEADING: Final = re.compile(r"(#{1,6})\s")
_NO_HEADING: Final = 7  # below all six levels
_FENCE: Final = re.compile(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
# The border of a frontmatter, or what makes the line above it a heading.
_BORDER: Final = re.compile(r"\s*(?:-{3,}|={3,})\s*$")
_NUMBERED: Final = re.compile(r"\s*\d{1,9}[.)]\s")
# "Never do:" and "**Never do**" head what is below; "**Why:** it broke" is said of what is above.
_LEAD: Final = re.compile(r"(?!\s*[-*+] ).*:[*_]*\s*$|\s*(\*\*|__)[^*_]+\1\s*$")
_REMARK: Final = re.compile(r"\s*(?:[-*+] )?(?:\*\*|__)[^*_]+(?::(?:\*\*|__)|(?:\*\*|__):)\s*\S")
_LIKE: Final = {UnitKind.ROW: UnitKind.ITEM, UnitKind.FIELD: UnitKind.PARAGRAPH}


def ours_first(
    before: Sequence[str], ours: Sequence[str], theirs: Sequence[str], after: Sequence[str]
) -> bool | None:
    """Whether `ours` is the first of both; None if a person must choose, as one may repeat or contradict the other, or
    no order leaves each in its section, list and paragraph."""
    if any(map(_in_code, (before, ours, theirs))) or any(map(_BORDER.match, (*ours, *theirs))):
        return None
    same = {line.strip() for line in ours} & {line.strip() for line in theirs} - {""}
    if same or have_alike_units(ours, theirs):
        return None
    for first, second in ((ours, theirs), (theirs, ours)):
        if _fits(before, first, second, after):
            return first is ours
    return None


def _in_code(lines: Sequence[str]) -> bool:
    """Whether a code block is open at the end."""
    fence = ""
    for line in lines:
        if not fence:
            found = _FENCE.match(line)
            fence = found[1] if found else ""
        elif len(line.strip()) >= len(fence) and not line.strip().strip(fence[0]):
            fence = ""
    return bool(fence)


def _fits(before: Sequence[str], first: Sequence[str], second: Sequence[str], after: Sequence[str]) -> bool:
    if _takes_in(first, second) or _takes_in(first, after):
        return False
    if _is_joined(first, second) and not _is_one_block(first, second):
        return False
    is_torn = _is_joined(before, second) and not _is_joined(before, first)
    return not (is_torn or (_is_joined(first, after) and not _is_joined(second, after)))


def _takes_in(lines: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether `rest` would begin in a section or a list item of `lines`, below what leads a list, or as a remark on it."""
    begins = next(filter(str.strip, rest), None)
    if begins is None:
        return False
    if _REMARK.match(begins) or (_level(begins) == _NO_HEADING and any(map(_LEAD.match, lines))):
        return True
    said = list(filter(str.strip, lines))
    return _level(begins) > min(map(_level, said), default=_NO_HEADING) or indent_of(begins) > min(
        map(indent_of, said), default=0
    )


def _level(line: str) -> int:
    found = _HEADING.match(line)
    return len(found[1]) if found else _NO_HEADING


def _is_joined(upper: Sequence[str], lower: Sequence[str]) -> bool:
    """Whether no blank line or heading is between the two."""
    is_joined = bool(upper and lower and upper[-1].strip() and lower[0].strip())
    return is_joined and _level(lower[0]) == _NO_HEADING


def _is_one_block(upper: Sequence[str], lower: Sequence[str]) -> bool:
    """Whether both are items of one list, rows of one table or lines of one paragraph, and their order says nothing."""
    kinds = {_LIKE.get(kind, kind) for kind in (units(upper)[-1].kind, units(lower)[0].kind)}
    return len(kinds) == 1 and not _NUMBERED.match(lower[0])
