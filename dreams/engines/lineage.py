"""One line through several steps of an engine: dated, then reworded, then gone. PURE: no Django, no disk.

Each step tells only of the line as it found it. What a person sees is the line as it stood before the dream, so what
became of it is what the last step says.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from dreams.engines.types import Edit, Fate, FateKind

#: Of two steps in a row the one that keeps less is what happened: a line that was dated and then forgotten is forgotten.
_WEIGHT: tuple[FateKind, ...] = ("kept-in", "merged-into", "superseded-by", "stated")
_Line = tuple[str, str]  # path, text


class Lineage:
    """What the steps say of each line, in their order."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        self._told: dict[_Line, list[tuple[int, Fate]]] = defaultdict(list)
        self._was: dict[_Line, list[str]] = defaultdict(list)
        for place, edit in enumerate(edits):
            for fate in edit.fates:
                self._told[edit.path, fate.text.strip()].append((place, fate))
                if fate.target_path == edit.path and fate.target_text:
                    self._was[edit.path, fate.target_text.strip()].append(fate.text.strip())

    def between(self, path: str, removed: Iterable[str], added: Iterable[str]) -> set[str]:
        """What the removed lines became within the file, and what the added ones were, before and after these aside."""
        ends = {*removed, *added}
        return (self._spread(path, removed, self._became) | self._spread(path, added, self._were)) - ends

    def fates(self, path: str, removed: Iterable[str]) -> list[Fate]:
        """What became of each removed line in the end."""
        return [
            self._followed(place, fate)
            for line in dict.fromkeys(text.strip() for text in removed)
            for place, fate in self._told.get((path, line), ())
        ]

    @staticmethod
    def _spread(path: str, lines: Iterable[str], step: Callable[[_Line], Sequence[str]]) -> set[str]:
        found, todo = set[str](), [*lines]
        while todo:
            new = [other for other in step((path, todo.pop())) if other not in found]
            found.update(new)
            todo += new
        return found

    def _were(self, line: _Line) -> Sequence[str]:
        return self._was.get(line, ())

    def _became(self, line: _Line) -> list[str]:
        path = line[0]
        return [
            f.target_text.strip()
            for _, f in self._told.get(line, ())
            if f.target_path == path and f.target_text
        ]

    def _followed(self, place: int, fate: Fate) -> Fate:
        seen: set[_Line] = set()
        while (line := (fate.target_path, fate.target_text.strip())) not in seen and line[1]:
            seen.add(line)
            later = next(((at, f) for at, f in self._told.get(line, ()) if at > place), None)
            if later is None:
                break
            place, other = later
            kind = max(fate.kind, other.kind, key=_WEIGHT.index)
            fate = replace(other, text=fate.text, kind=kind, note=other.note or fate.note)
        return fate
