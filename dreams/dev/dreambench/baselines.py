"""Two systems to compare with: one that does nothing, and a merge that goes by how alike lines look. Pure.

They stand for what is easily built; both work on plain directories, as any other system that is scored by `--score`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from rapidfuzz import fuzz

from dreams.dev.dreambench.builder import Directory

ALIKE = 80.0  # of 100
_LINE = re.compile(r"^(?P<mark>\s*(?:[-*+]\s+)?)(?P<text>\S.*)$")
Baseline = Callable[[Directory], Mapping[str, bytes]]


def nothing(directory: Directory) -> Mapping[str, bytes]:
    return directory.files


def naive_merge(directory: Directory) -> Mapping[str, bytes]:
    """Of lines that look alike the newer one wins; what a person typed is newer than all of them."""
    lines = [
        (directory.days[path], path, number, match["text"])
        for path, data in directory.files.items()
        if path != "MEMORY.md"
        for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"))
        if (match := _LINE.match(line))
        and len(line) > 20
        and not line.startswith(("#", "---", "name:", "desc"))
    ]
    gone, kept = set[tuple[str, int]](), list[tuple[str, int, str]]()
    for _, path, number, text in sorted(lines, reverse=True):
        if any(fuzz.ratio(text, other) >= ALIKE for _, _, other in kept):
            gone.add((path, number))
        else:
            kept.append((path, number, text))
    said = _told(directory, kept)
    return {path: _written(path, data, gone, said) for path, data in directory.files.items()}


def _told(directory: Directory, kept: list[tuple[str, int, str]]) -> dict[tuple[str, int], str]:
    """Lines that something typed looks like, with what was typed last."""
    found = {}
    typed = [m.text for s in directory.sessions for m in s.messages if m.role == "user" and len(m.text) > 20]
    for text in typed:
        best = max(kept, key=lambda line: fuzz.ratio(text, line[2]), default=None)
        if best and fuzz.ratio(text, best[2]) >= ALIKE:
            found[best[0], best[1]] = text
    return found


def _written(
    path: str, data: bytes, gone: set[tuple[str, int]], said: Mapping[tuple[str, int], str]
) -> bytes:
    lines = []
    for number, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n")):
        match = _LINE.match(line)
        if (path, number) in said and match:
            lines.append(f"{match['mark']}{said[path, number]}")
        elif (path, number) not in gone:
            lines.append(line)
    return "\n".join(lines).encode("utf-8", "surrogateescape")


BASELINES: Mapping[str, Baseline] = {"nothing": nothing, "naive merge": naive_merge}
