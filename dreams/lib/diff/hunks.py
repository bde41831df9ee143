"""Hunks: the changes of one file that a person decides on, with ids made from their content."""

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dreams.lib.diff.lines import LineChange, changes, join_lines, line_end_of, split_lines, terminated
from dreams.lib.diff.refine import refine
from dreams.lib.files.text import with_line_feeds

Granularity = Literal["block", "unit", "rows"]
Choice = bool | str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Removed lines and the lines that replace them. Starts are 0-based line numbers."""

    id: str
    base_start: int
    base_lines: tuple[str, ...]
    new_start: int
    new_lines: tuple[str, ...]

    @property
    def base_end(self) -> int:
        """The first base line after the hunk."""
        return self.base_start + len(self.base_lines)

    @property
    def removed(self) -> str:
        return "".join(self.base_lines)

    @property
    def added(self) -> str:
        return "".join(self.new_lines)

    @property
    def kind(self) -> Literal["add", "remove", "change"]:
        if not self.base_lines:
            return "add"
        return "change" if self.new_lines else "remove"


class HunkMismatchError(ValueError):
    """The hunks do not belong to this text, or a choice is for a hunk that does not exist."""


def hunks(base: str, new: str, *, path: str = "", granularity: Granularity = "unit") -> list[Hunk]:
    """The changes from `base` to `new`, in order; none overlap.

    `granularity="unit"` cuts a changed block into list items, rows, fields and paragraphs that can be decided
    one by one; `"block"` does not cut it. A file added or deleted is one hunk, unless cut into `"rows"`.
    Ids stay the same after edits elsewhere in the file.
    """
    a, b = split_lines(base), split_lines(new)
    found = line_changes(a, b, granularity)
    ids = _ids(path, a, b, found)
    return [
        Hunk(name, c.a0, tuple(a[c.a0 : c.a1]), c.b0, tuple(b[c.b0 : c.b1]))
        for name, c in zip(ids, found, strict=True)
    ]


def line_changes(a: Sequence[str], b: Sequence[str], granularity: Granularity = "unit") -> list[LineChange]:
    """The changes between two lists of lines, cut as by `hunks`."""
    blocks = changes(a, b)
    if granularity == "block" or (granularity == "unit" and not (a and b)):
        return blocks
    return [
        piece.shifted(block.a0, block.b0)
        for block in blocks
        for piece in refine(a[block.a0 : block.a1], b[block.b0 : block.b1])
    ]


def apply_hunks(base: str, hunks: Iterable[Hunk], chosen: Mapping[str, Choice]) -> str:
    """`base` with the chosen hunks applied: True takes a hunk, a text replaces its lines.

    A hunk not in `chosen`, or with False, is not applied. A text without a final line end gets one if more
    follows. Raises HunkMismatchError if `base` is not the text the hunks were made from.
    """
    ordered = sorted(hunks, key=lambda hunk: (hunk.base_start, hunk.new_start))
    unknown = chosen.keys() - {hunk.id for hunk in ordered}
    if unknown:
        raise HunkMismatchError(f"No hunk {', '.join(sorted(unknown))} here; read the proposal again.")
    lines = split_lines(base)
    return join_lines(_pieces(lines, ordered, chosen), line_end_of(lines))


def fitted(hunk: Hunk, text: str) -> str:
    """An edited text with the hunk's line ends."""
    sides = [*hunk.new_lines, *hunk.base_lines]
    line_end = line_end_of(sides)
    plain = with_line_feeds(text)
    if plain and not plain.endswith("\n") and all(map(terminated, sides)):
        plain += "\n"
    return plain.replace("\n", line_end)


def _pieces(lines: list[str], ordered: list[Hunk], chosen: Mapping[str, Choice]) -> Iterator[Sequence[str]]:
    at = 0
    for hunk in ordered:
        if hunk.base_start < at or tuple(lines[hunk.base_start : hunk.base_end]) != hunk.base_lines:
            raise HunkMismatchError(
                f"The text around hunk {hunk.id} is not what it was made from; rebase the proposal first."
            )
        yield lines[at : hunk.base_start]
        choice = chosen.get(hunk.id, False)
        if isinstance(choice, str):
            yield split_lines(choice)
        else:
            yield hunk.new_lines if choice else hunk.base_lines
        at = hunk.base_end
    yield lines[at:]


def _ids(path: str, a: Sequence[str], b: Sequence[str], found: Sequence[LineChange]) -> list[str]:
    """An id for each change, from its content; equal changes differ by their surroundings, then by order.

    Context is used only if needed: an edit of a neighbouring line must not lose a decision.
    """
    contents = [(path, "".join(a[c.a0 : c.a1]), "".join(b[c.b0 : c.b1])) for c in found]
    twins = {content for content, count in Counter(contents).items() if count > 1}
    seen: defaultdict[tuple[str, ...], int] = defaultdict(int)
    ids: list[str] = []
    for content, change in zip(contents, found, strict=True):
        named: tuple[str, ...] = (*content, *_around(a, change)) if content in twins else content
        ids.append(_digest([*named, str(seen[named])]))
        seen[named] += 1
    return ids


def _around(a: Sequence[str], change: LineChange) -> tuple[str, str]:
    """The nearest base lines with text before and after the change."""
    before = next((a[i] for i in range(change.a0 - 1, -1, -1) if a[i].strip()), "")
    behind = next((a[i] for i in range(change.a1, len(a)) if a[i].strip()), "")
    return before, behind


def _digest(parts: Iterable[str]) -> str:
    """Twelve characters a-z and 2-7 (60 bits: no two of a million hunks are alike) from the parts; with lengths, so that
    "ab","c" and "a","bc" differ."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    data = b"".join([len(data).to_bytes(8, "big") + data for data in encoded])
    return base64.b32encode(hashlib.blake2b(data, digest_size=16).digest()[:8])[:12].decode("ascii").lower()
