"""Splits a directory into passages and finds claims in them. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

#: A statement that a memory can make: all words are in one passage, the last of them in its own text. A word may be several
#: ("juniper mailer"); headings and the file name count for all but the last.
Claim = tuple[str, ...]

INDEX_LINES, INDEX_BYTES = 200, 25_000  # the part of an index that an agent loads
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"^#{1,6}\s+")
_MARKS = re.compile(r"[-_`*\"'“”‘’«»\[\]()]+")
_PAST = re.compile(
    r"\b(?:formerly|previously|earlier|was|were|used to|no longer|until|history|archived?|superseded|replaced|before that|moved from|instead of|not)\b|~~"
)
_LINK = re.compile(r"\[\[([^\]|#\n]+)")
_TARGET = re.compile(r"\]\(([^)\s]+\.md)\)")


def plain(text: str) -> str:
    """Lower case, single spaces, no markup: "`copper-indexer`" reads "copper indexer"."""
    return " ".join(_MARKS.sub(" ", text.casefold()).split())


@dataclass(frozen=True)
class Passage:
    """A bullet, paragraph, heading or field; `place` has its headings and the name of its file."""

    path: str
    text: str
    place: str = ""
    summary: bool = False  # an index row or a field: it repeats other text

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def with_place(self) -> str:
        return f"{self.plain} {plain(self.place)}"

    def names(self, claim: "Claim") -> bool:
        """Whether all words but the last are here or in its place."""
        return all(_pattern(word).search(self.with_place) for word in claim[:-1])

    def says(self, claim: "Claim") -> bool:
        return bool(_pattern(claim[-1]).search(self.plain)) and self.names(claim)

    def around(self, word: str) -> Iterator[re.Pattern[str]]:
        """The passage with anything in place of this word, once for each time that it has it."""
        for found in _pattern(word).finditer(self.plain):
            start, end = self.plain[: found.start()], self.plain[found.end() :]
            if start or end:
                yield re.compile(f"{re.escape(start)}.+{re.escape(end)}")

    @property
    def is_past(self) -> bool:
        return bool(_PAST.search(f"{self.text} {self.place}".casefold()))


class DirectoryPassages:
    """The passages of a directory's Markdown files."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.passages = [
            p for path in sorted(files) if path.endswith(".md") for p in _read(path, files[path])
        ]
        self.known = {(p.plain, p.place) for p in self.passages}
        # A cache: each claim is looked up several times per state.
        self._holding: dict[Claim, list[Passage]] = {}

    def holding(self, claim: Claim) -> list[Passage]:
        if claim not in self._holding:
            letters = plain(claim[-1])
            self._holding[claim] = [p for p in self.passages if letters in p.plain and p.says(claim)]
        return self._holding[claim]

    def says(self, claim: Claim) -> bool:
        return bool(self.holding(claim))

    def times(self, claim: Claim) -> int:
        """How often it is stated, without summaries."""
        return sum(not p.summary for p in self.holding(claim))

    @property
    def over(self) -> float:
        """By how many lines plus hundreds of bytes the index exceeds what is loaded of it."""
        index = self.files.get("MEMORY.md", b"").strip()
        return max(0, index.count(b"\n") + 1 - INDEX_LINES) + max(0, len(index) - INDEX_BYTES) / 100

    @property
    def fits(self) -> bool:
        return self.over == 0

    def rows(self, target: str) -> list[str]:
        """The lines of the index that link to a file."""
        return [line for line in self._text("MEMORY.md").split("\n") if f"]({target})" in line]

    def broken_links(self, path: str) -> list[str]:
        stems = {PurePosixPath(p).stem for p in self.files}
        return [
            name for name in _LINK.findall(self._text(path)) if PurePosixPath(name.strip()).stem not in stems
        ]

    def dangling(self) -> set[str]:
        return set(_TARGET.findall(self._text("MEMORY.md"))) - self.files.keys()

    def _text(self, path: str) -> str:
        return self.files.get(path, b"").decode("utf-8", "replace")


@lru_cache(maxsize=4096)
def _read(path: str, data: bytes) -> tuple[Passage, ...]:
    return tuple(_passages(path, data.decode("utf-8", "replace")))


@lru_cache(maxsize=4096)
def _pattern(word: str) -> re.Pattern[str]:
    """Matches the complete word; a number may have a unit ("30s", "14d")."""
    unit = r"(?=[a-z]{1,2}\b)|" if word[-1:].isdigit() else ""
    return re.compile(rf"(?<![\w.]){re.escape(plain(word))}(?:{unit}(?!\w|\.\w))")


def _passages(path: str, text: str) -> Iterator[Passage]:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    start = 0
    if lines and lines[0].strip() == "---" and "---" in (rest := [line.strip() for line in lines[1:]]):
        start = rest.index("---") + 2
        for line in lines[1 : start - 1]:
            name, _, value = line.strip().partition(":")
            if name in {"name", "description"} and value.strip():
                yield Passage(path, value.strip(), summary=True)
    is_index = PurePosixPath(path).name == "MEMORY.md"
    headings: list[tuple[int, str]] = []
    for block in _blocks(lines[start:]):
        if _HEADING.match(block):
            level = len(block) - len(block.lstrip("#"))
            headings = [h for h in headings if h[0] < level] + [(level, block.lstrip("# "))]
            yield Passage(path, block.lstrip("# "), summary=True)
        else:
            place = " ".join(
                [*(title for _, title in headings), "" if is_index else PurePosixPath(path).stem]
            )
            # An index line without a link is the only copy of its statement.
            yield Passage(path, block, place, summary=is_index and "](" in block)


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """Headings, list items with their continuation lines, and paragraphs."""
    held: list[str] = []
    for line in lines:
        begins = not line.strip() or bool(_ITEM.match(line) or _HEADING.match(line))
        if begins and held:
            yield " ".join(held)
            held = []
        if line.strip():
            held.append(_ITEM.sub("", line).strip() if _ITEM.match(line) else line.strip())
            if _HEADING.match(line):
                yield held.pop()
    if held:
        yield " ".join(held)
