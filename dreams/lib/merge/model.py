"""What a three-way merge gives: chunks, of which the conflicts wait for a choice."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from dreams.lib.textdiff.lines import join_lines, split_lines

ChunkKind = Literal["stable", "merged", "conflict"]
Side = Literal["ours", "theirs", "both", "base"]

_MARKER: Final = 7


@dataclass(frozen=True, slots=True)
class Edited:
    """A text written by the person who solves a conflict; a type of its own, for a text may read "ours"."""

    text: str


Choice = Side | Edited


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of one of the three texts; `start` is their 0-based line number there."""

    start: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of the result: unchanged, changed without doubt, or in conflict (then without `lines`)."""

    kind: ChunkKind
    base: Part
    ours: Part
    theirs: Part
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """The names of the three texts as a person knows them."""

    ours: str = "now"
    base: str = "before"
    theirs: str = "this dream"


class UnresolvedConflictError(ValueError):
    """A conflict without a choice, or a choice for a conflict that is not there."""


@dataclass(frozen=True, slots=True)
class Merge:
    """The chunks in the order of the result. `line_end` is put where a line without one would be glued."""

    chunks: tuple[Chunk, ...]
    line_end: str = "\n"
    final_newline: bool | None = None

    @property
    def conflicts(self) -> list[Chunk]:
        """The conflicts; their places in this list are the numbers that `resolve` takes."""
        return [chunk for chunk in self.chunks if chunk.kind == "conflict"]

    @property
    def clean(self) -> bool:
        """Whether nothing waits for a choice."""
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

    def with_markers(self, labels: Labels | None = None) -> str:
        """The text with conflicts between <<<<<<<, |||||||, ======= and >>>>>>> lines, to edit by hand."""
        return join_lines(self._marked(labels or Labels()), self.line_end)

    def _resolved(self, choices: Mapping[int, Choice]) -> Iterator[Sequence[str]]:
        number = 0
        for chunk in self.chunks:
            if chunk.kind == "conflict":
                yield from _chosen(chunk, choices[number])
                number += 1
            else:
                yield chunk.lines

    def _marked(self, labels: Labels) -> Iterator[Sequence[str]]:
        for chunk in self.chunks:
            if chunk.kind != "conflict":
                yield chunk.lines
                continue
            yield [f"{'<' * _MARKER} {labels.ours}{self.line_end}"]
            yield chunk.ours.lines
            yield [f"{'|' * _MARKER} {labels.base}{self.line_end}"]
            yield chunk.base.lines
            yield [f"{'=' * _MARKER}{self.line_end}"]
            yield chunk.theirs.lines
            yield [f"{'>' * _MARKER} {labels.theirs}{self.line_end}"]

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
        part: Part = getattr(chunk, choice)
        yield part.lines


def _listed(numbers: set[int]) -> str:
    return ", ".join(str(number) for number in sorted(numbers))
