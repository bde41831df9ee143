"""What an agent has before it for a question: the loaded part of the index, and the memories it would open. PURE.

Modelled on the reference behaviour: at most 200 memories are looked at, the newest first; at most five are chosen, by
name, description and index row; unsure means none; what is loaded in one session is capped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from dreams.lib import memdir
from dreams.lib.files.text import decode
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import statement

MOST_LOOKED_AT = 200
MOST_CHOSEN = 5
HEAD_LINES = 30
#: Of all memories opened for one question; a longer one is cut.
MOST_BYTES = 60_000
#: The share of a question's weight that a memory's own words must have: under it the answer is "none".
SURE = 0.22
QUESTION_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What an agent loads of the index."""

    max_lines: int = memdir.INDEX_MAX_LINES
    max_bytes: int = memdir.INDEX_MAX_BYTES


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that would be opened. `share` is 0 to 1, `words` are the stems that question and memory have in common."""

    path: str
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Before:
    """What an agent has before it. `texts` are by path, the index as cut; `cut` names those that did not fit whole."""

    recalled: tuple[Recalled, ...]
    texts: Mapping[str, bytes]
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    words: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Shelf:
    """A directory prepared for questions."""

    files: Mapping[str, bytes]
    index: bytes
    entries: tuple[_Entry, ...]
    rarity: Mapping[str, float] = field(default_factory=dict)
    beyond: int = 0


def shelf(
    files: Mapping[str, bytes], limits: Limits | None = None, newest: Sequence[str] | None = None
) -> Shelf:
    """`newest` are the paths in the order in which an agent looks at them; without it, by name."""
    limits = limits or Limits()
    index = files.get(memdir.INDEX_NAME, b"")
    loaded = memdir.loaded(index, max_lines=limits.max_lines, max_bytes=limits.max_bytes)
    rows = memdir.parse_index(loaded.text)
    order = list(newest if newest is not None else sorted(files))
    topics = [path for path in order if path in files and _is_topic(path)]
    entries = tuple(_entry(path, files[path], rows) for path in topics[:MOST_LOOKED_AT])
    return Shelf(
        files=files,
        index=loaded.text.encode("utf-8", "surrogateescape"),
        entries=entries,
        rarity=_rarity(entries),
        beyond=max(0, len(topics) - MOST_LOOKED_AT),
    )


def _is_topic(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".md") and not path.startswith("logs/") and name != memdir.INDEX_NAME


def _entry(path: str, data: bytes, rows: memdir.Index) -> _Entry:
    """Its own name weighs most; what the index says of it counts only where the row is loaded."""
    head = "\n".join(decode(data[:20_000]).splitlines()[:HEAD_LINES])
    front = memdir.parse(head.encode("utf-8", "surrogateescape")).frontmatter
    stem = PurePosixPath(path).stem.replace("_", " ").replace("-", " ")
    said = [(2.0, (front.name if front else None) or stem), (1.5, stem)]
    said += [(1.5, front.description)] if front and front.description else []
    said += [(1.5, f"{row.title} {row.hook}") for row in rows.rows_for(path)]
    if not (front and front.description) and not rows.rows_for(path):
        said += [(1.0, line.lstrip("# ")) for line in head.splitlines() if line.startswith("#")]
    words: dict[str, float] = {}
    for weight, text in said:
        for word in statement(text).weights:
            words[word] = max(weight, words.get(word, 0.0))
    return _Entry(path, words)


def _rarity(entries: Sequence[_Entry]) -> dict[str, float]:
    """A word that every memory's description has tells none from another."""
    counts = Counter(word for entry in entries for word in entry.words)
    return {word: math.log(1 + len(entries) / count) for word, count in counts.items()}


def rank(where: Shelf, question: str, most: int = MOST_CHOSEN) -> list[Recalled]:
    """The memories an agent would open for `question`, surest first; none where it is unsure."""
    asked = statement(question[:QUESTION_CHARS]).weights
    # A word that no memory is described with says little about which one is meant.
    rare = math.log(1 + max(1, len(where.entries))) / 2
    weights = {
        word: weight * where.rarity.get(word, rare) * (0.3 if word in lexicon.GENERIC else 1.0)
        for word, weight in asked.items()
    }
    whole = sum(weights.values())
    found = [_scored(entry, weights, whole) for entry in where.entries] if whole else []
    sure = [one for one in found if one.share >= SURE and set(one.words) - lexicon.GENERIC]
    return sorted(sure, key=lambda one: (-one.share, one.path))[:most]


def _scored(entry: _Entry, weights: Mapping[str, float], whole: float) -> Recalled:
    shared = [word for word in weights if word in entry.words]
    score = sum(weights[word] * entry.words[word] / 2 for word in shared)
    return Recalled(entry.path, min(1.0, score / whole), tuple(sorted(shared, key=lambda w: -weights[w])))


def load(where: Shelf, question: str) -> Before:
    """The index's loaded part and the memories chosen for `question`, within the cap."""
    chosen = rank(where, question)
    texts = {memdir.INDEX_NAME: where.index} if where.index else {}
    left, cut = MOST_BYTES, list[str]()
    for one in chosen:
        data = where.files[one.path]
        if len(data) > left:
            cut.append(one.path)
            data = data[:left].rpartition(b"\n")[0]
        texts[one.path] = data
        left -= len(data)
    return Before(tuple(chosen), texts, tuple(cut))
