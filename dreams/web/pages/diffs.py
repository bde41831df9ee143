"""Prepares diffs for templates: lines in parts, each with its kind. No database."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from typing import Any

from dreams.lib import diff, memdir
from dreams.lib.diff import DiffRow, Hunk
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask

CONTEXT = 2  # lines; chosen
# A gap shows at most this many lines; the page of the memory has the rest.
MOST_IN_GAP = 400
# A longer line is not prose: it is shown without highlighting.
MOST_LOOKED_AT = 4_000
MARK = {"ins": "+", "del": "−"}
SPOKEN = {"ins": "Added: ", "del": "Removed: "}
_HEADING = re.compile(r"^#{1,6}\s")
_FENCE = re.compile(r"^\s*(```|~~~)")
# Markdown marks stay visible but look quieter.
_LOOKS = re.compile(r"`[^`]+`|(?<=\]\()[^()\s]+(?=\))")
_TARGET = re.compile(r"\]\(([^()\s]*)[^()]*\)")
_FIELD = re.compile(r"^[ \t]*([A-Za-z_][\w-]*):", re.MULTILINE)
# Names for changes that are not prose.
WHAT = {"front": "frontmatter", "row": "index row", "table": "table", "code": "code", "heading": "heading"}


@dataclass(frozen=True, slots=True)
class Bit:
    """A part of a line: plain, code in backticks, or the target of a link."""

    text: str
    look: str = ""


@dataclass(frozen=True, slots=True)
class BitRun:
    """Consecutive bits that are all changed or all unchanged."""

    changed: bool
    bits: tuple[Bit, ...]


@dataclass(frozen=True, slots=True)
class Tie:
    """Where a removed line moved to, or an added one came from. `kind` is moved, kept, stated or lost.

    `quote` is the text at the other place, `note` a remark on it.
    """

    kind: str
    word: str
    place: str = ""
    href: str = ""
    quote: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line to show. `kind` is equal, ins, del or skip; `mark` and `spoken` show it without colour, `note` describes a skip.
    `style` is front, heading, row, table, code or empty."""

    kind: str
    number: int | None
    runs: tuple[BitRun, ...]
    style: str = ""
    note: str = ""
    ties: tuple[Tie, ...] = ()

    @property
    def is_moved(self) -> bool:
        return any(tie.kind == "moved" for tie in self.ties)

    @property
    def is_blank(self) -> bool:
        return not any(bit.text.strip() for run in self.runs for bit in run.bits)

    @property
    def mark(self) -> str:
        return MARK.get(self.kind, "")

    @property
    def spoken(self) -> str:
        return SPOKEN.get(self.kind, "")


@dataclass(frozen=True, slots=True)
class Gap:
    """Unchanged lines that are shown on demand; `more` of them are not on the page."""

    count: int
    lines: tuple[DiffLine, ...]
    what: str = "unchanged"

    @property
    def more(self) -> int:
        return self.count - len(self.lines)


@dataclass(frozen=True, slots=True)
class Block:
    """One hunk with the unchanged lines around it. `fold_at`: how many lines are shown before the fold; None: all.
    `front`: how many lines of frontmatter at its beginning are folded."""

    hunk: Hunk
    above: Gap | None
    lines: tuple[DiffLine, ...]
    below: Gap | None
    notes: tuple[str, ...]
    fold_at: int | None = None
    front: int = 0

    @property
    def front_lines(self) -> tuple[DiffLine, ...]:
        return self.lines[: self.front]

    @property
    def open_lines(self) -> tuple[DiffLine, ...]:
        return self.lines[self.front : self.fold_at]

    @property
    def folded_lines(self) -> tuple[DiffLine, ...]:
        return () if self.fold_at is None else self.lines[self.fold_at :]

    @property
    def what(self) -> str:
        """ "index row", "frontmatter" … if all changed lines are of that kind; else empty."""
        styles = {
            line.style for line in self.lines if line.kind != "equal" and (line.style or any(line.runs))
        }
        return WHAT.get(styles.pop(), "") if len(styles) == 1 else ""

    @property
    def sides(self) -> str:
        """both, ins or del: two columns are only used if neither is empty."""
        if self.hunk.base_lines and self.hunk.new_lines:
            return "both"
        return "ins" if self.hunk.new_lines else "del"


def blocks(base: str, hunks: Sequence[Hunk], path: str, *, folds: bool = True, only: str = "") -> list[Block]:
    """One block for each hunk, or for `only` one, in order of `base`; without `folds` nothing can be unfolded in it."""
    ordered = sorted(hunks, key=lambda h: (h.base_start, h.new_start))
    rows = diff.rows(base, ordered, None)
    runs = [(key, list(group)) for key, group in groupby(rows, key=lambda row: row.hunk)]
    after = "".join(row.text + row.end for row in rows if row.kind != "del")
    styles = _Styles(_styles_of(base, path), _styles_of(after, path))
    changed = {key: rows for key, rows in runs if key is not None}
    gaps = [_Parted.of(*gap) for gap in _between(runs, [h.id for h in ordered])]
    return [
        Block(
            hunk=hunk,
            above=_gap(gaps[0].hidden, styles) if folds and not number else None,
            lines=tuple(
                line_of(row, styles.of(row))
                for row in [*gaps[number].lead, *changed.get(hunk.id, []), *gaps[number + 1].trail]
            ),
            below=_gap(gaps[number + 1].hidden, styles) if folds else None,
            notes=tuple(notes(hunk, _is_front(changed.get(hunk.id, ()), styles))),
        )
        for number, hunk in enumerate(ordered)
        if only in ("", hunk.id)
    ]


FEW_MORE = 8  # lines that are not worth folding; chosen


@dataclass(slots=True)
class Room:
    """How many more lines fit on a card, and how many of them unfolded. Each block uses some."""

    lines: int
    open_lines: int

    def fitted(self, blocks: Sequence[Block]) -> tuple[tuple[Block, ...], int]:
        """The blocks, folded or cut if they are long, and the number of lines cut."""
        lines = sum(len(block.lines) for block in blocks)
        folds = lines > self.open_lines + FEW_MORE
        out = []
        for block in blocks:
            kept = replace(block, lines=block.lines[: self.lines])
            is_folded = folds and len(kept.lines) > self.open_lines
            out.append(replace(kept, fold_at=self.open_lines) if is_folded else kept)
            self.lines -= len(kept.lines)
            self.open_lines = max(0, self.open_lines - len(kept.lines))
        return tuple(out), lines - sum(len(block.lines) for block in out)


def without_frontmatter(block: Block) -> Block:
    """Folds the frontmatter of a new memory and the empty line below it."""
    front = sum(1 for _ in takewhile(lambda line: line.style == "front", block.lines))
    if front and front < len(block.lines) and block.lines[front].is_blank:
        front += 1
    return replace(block, front=front) if front < len(block.lines) else block


@dataclass(frozen=True, slots=True)
class _Parted:
    """Unchanged lines between two hunks: shown below the first, hidden, shown above the second."""

    trail: list[DiffRow]
    hidden: list[DiffRow]
    lead: list[DiffRow]

    @classmethod
    def of(cls, rows: list[DiffRow], is_first: bool, is_last: bool) -> "_Parted":
        trail = 0 if is_first else CONTEXT
        lead = 0 if is_last else CONTEXT
        if len(rows) <= trail + lead + 1:
            # Hiding a single line would save nothing.
            trail = 0 if is_first else len(rows) - (0 if is_last else len(rows) // 2)
            return cls(rows[:trail], [], rows[trail:])
        return cls(rows[:trail], rows[trail : len(rows) - lead], rows[len(rows) - lead :])


def _between(
    runs: Sequence[tuple[str | None, list[DiffRow]]], ids: Sequence[str]
) -> list[tuple[list[DiffRow], bool, bool]]:
    """The unchanged lines before each hunk and after the last, with whether they are the first and the last group."""
    out: list[list[DiffRow]] = [[] for _ in range(len(ids) + 1)]
    place = {name: number for number, name in enumerate(ids)}
    at = 0
    for key, rows in runs:
        if key is None:
            out[at] = rows
        else:
            at = place[key] + 1
    return [(rows, number == 0, number == len(ids)) for number, rows in enumerate(out)]


@dataclass(frozen=True, slots=True)
class _Styles:
    """The style of every line of the old and the new text."""

    old: list[str]
    new: list[str]

    def of(self, row: DiffRow) -> str:
        styles, number = (self.old, row.old_no) if row.kind == "del" else (self.new, row.new_no)
        return styles[number - 1] if number is not None and number <= len(styles) else ""


def _gap(rows: Sequence[DiffRow], styles: _Styles) -> Gap | None:
    lines = tuple(line_of(row, styles.of(row)) for row in rows[:MOST_IN_GAP])
    return Gap(len(rows), lines) if rows else None


def line_of(
    row: DiffRow, style: str = "", cut: Callable[[DiffRow], tuple[BitRun, ...]] | None = None
) -> DiffLine:
    number = row.old_no if row.kind == "del" else row.new_no
    note = "" if row.end or row.kind == "equal" else "no newline at the end"
    return DiffLine(row.kind, number, (cut or runs)(row), style, note)


def difference(before: str, after: str, mask: Mask, most: int) -> dict[str, Any]:
    """The first `most` lines for the comparison of two texts. There may be thousands, so only changes are marked in them."""
    rows = [] if before == after else masking.rows(mask, before, after)
    return {
        "rows": [
            DiffLine("skip", None, (), note=row.text) if row.kind == "skip" else line_of(row, cut=_changes)
            for row in rows[:most]
        ],
        "added": sum(row.kind == "ins" for row in rows),
        "removed": sum(row.kind == "del" for row in rows),
        "is_cut": len(rows) > most,
    }


def _changes(row: DiffRow) -> tuple[BitRun, ...]:
    return tuple(BitRun(one.changed, (Bit(one.text),)) for one in diff.pieces(row))


def runs(row: DiffRow) -> tuple[BitRun, ...]:
    """The row's text split at changes, code and link targets, with invisible characters written out."""
    if row.text and not row.spans and "`" not in row.text and "](" not in row.text:
        return (BitRun(False, (Bit(diff.visible(row.text, "\n")),)),)
    found = _LOOKS.finditer(row.text) if len(row.text) <= MOST_LOOKED_AT else ()
    looks = {m.start(): (m.end(), "code" if m[0][0] == "`" else "target") for m in found}
    # Without spaces at their ends, unless only spaces changed.
    spans = dict(trimmed(row.text, start, end) for start, end in row.spans)
    edges = {0, len(row.text), *spans, *spans.values(), *looks, *(end for end, _ in looks.values())}
    bits: list[tuple[bool, Bit]] = []
    changed_until = look_until = 0
    look = ""
    for start, end in pairwise(sorted(edges)):
        changed_until = spans.get(start, changed_until)
        look_until, look = looks.get(start, (look_until, look))
        text = diff.visible(row.text[start:end], "\n")
        bits.append((start < changed_until, Bit(text, look if start < look_until else "")))
    grouped = groupby(bits, key=lambda pair: pair[0])
    return tuple(BitRun(changed, tuple(bit for _, bit in group)) for changed, group in grouped)


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without spaces at its ends; unchanged if it has only spaces."""
    words = text[start:end].strip()
    start = text.index(words, start) if words else start
    return (start, start + len(words)) if words else (start, end)


def _is_front(rows: Sequence[DiffRow], styles: _Styles) -> bool:
    return bool(rows) and all(styles.of(row) == "front" for row in rows)


def _styles_of(text: str, path: str) -> list[str]:
    """A style per line: frontmatter, headings, fenced code; in an index, its rows."""
    lines = diff.split_lines(text)
    front = memdir.parse(text.encode("utf-8", "surrogateescape")).body_start_line - 1
    styles = ["front"] * front + list(_body_styles(lines[front:]))
    if memdir.is_index(path):
        for row in memdir.parse_index(text).rows:
            for number in range(row.line_no, min(row.end_line_no, len(styles)) + 1):
                styles[number - 1] = "row"
    return styles


def _body_styles(lines: Sequence[str]) -> Iterator[str]:
    fenced = False
    for line in lines:
        is_fence = _FENCE.match(line) is not None
        if is_fence or fenced:
            yield "code"
        elif _HEADING.match(line):
            yield "heading"
        else:
            yield "table" if line.lstrip().startswith("|") else ""
        fenced ^= is_fence


def notes(hunk: Hunk, is_front: bool = False) -> Iterator[str]:
    """Notes on changes that the rendered text does not show."""
    old, new = hunk.removed, hunk.added
    if is_front:
        fields = ", ".join(dict.fromkeys([*_FIELD.findall(old), *_FIELD.findall(new)]))
        yield f"The frontmatter changes, which the text does not show: {fields or 'its fences'}."
        return
    if not hunk.base_lines or not hunk.new_lines:
        return
    if old.replace("\r\n", "\n").rstrip("\n") == new.replace("\r\n", "\n").rstrip("\n"):
        yield "Only line ends change."
    elif old.split() == new.split():
        yield "Only spaces and line breaks change."
    elif _TARGET.sub("]()", old) == _TARGET.sub("]()", new):
        pairs = zip(_TARGET.findall(old), _TARGET.findall(new), strict=False)
        for before, after in pairs:
            if before != after:
                yield f"A link’s target changes, which the text does not show: {diff.visible(before)} → {diff.visible(after)}"


def plain_lines(text: str, *, first: int = 1) -> tuple[DiffLine, ...]:
    rows = diff.rows(text, (), None)
    return tuple(DiffLine("equal", number, runs(row)) for number, row in enumerate(rows, first))
