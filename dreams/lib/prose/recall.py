"""Computes what an agent has for a question: the loaded part of the index, and the memories it would open. PURE.

Modelled on the reference behaviour: at most 200 memories are considered, newest first, without those that the session has
and references for tools in use; at most five are chosen, by name, description and index row, or by a model that sees names
and descriptions; if unsure, none; what is loaded in one session is capped. Every memory that is left out has a reason.
"""

import functools
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from dreams.lib import memdir
from dreams.lib.files.text import decode, encode
from dreams.lib.prose import lexicon
from dreams.lib.prose.statements import statement

# The agent's own constants: memories considered (newest first), first lines read of each, memories opened.
MOST_LOOKED_AT = 200
MOST_CHOSEN = 5
HEAD_LINES = 30
#: Bytes of all memories opened in one session; one that does not fit is cut, or left out if none of its text would fit.
MOST_BYTES = 60_000
#: Least share of a question's weight in a memory's words.
SURE = 0.22
QUESTION_CHARS = 1_000
#: References with warnings are kept even while their tool is in use.
_WARNS = re.compile(
    r"\b(warn(?:ing|s)?|gotchas?|caution|careful|beware|pitfalls?|caveats?|known (?:issues?|bugs?|problems?)|never|"
    r"(?:do|does|must|should)(?: not|n['’]t)|breaks|fails)\b",
    re.IGNORECASE,
)
#: Names of tools that are ordinary words: "Read replicas" is not about the tool.
_ORDINARY = frozenset({"agent", "edit", "read", "search", "skill", "task", "write"})
_NAME_PARTS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class IndexLimits:
    """What an agent loads of the index."""

    max_lines: int = memdir.INDEX_MAX_LINES
    max_bytes: int = memdir.INDEX_MAX_BYTES


@dataclass(frozen=True, slots=True)
class Recalled:
    """A memory that would be opened. `share` is 0 to 1, `words` are the common stems of question and memory."""

    path: str
    share: float
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotChosen:
    """A memory that would not be opened, and why. `share` is 0 if it was not compared with the question."""

    path: str
    why: str
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class LoadedSoFar:
    """What a session already has: memories by path, their bytes, and the tools it uses."""

    shown: Collection[str] = ()
    bytes: int = 0
    tools: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class Picked:
    """The paths a model chose, surest first. Paths that it was not offered are ignored."""

    by: str
    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class Before:
    """What an agent has in its context. `texts` by path, with the index as cut; `cut` names those that did not fit completely."""

    recalled: tuple[Recalled, ...]
    texts: Mapping[str, bytes]
    cut: tuple[str, ...] = ()
    left_out: tuple[NotChosen, ...] = ()


@dataclass(frozen=True, slots=True)
class RecallMemory:
    """A memory to choose from. `about` is name and description as one line of words; `warns`: its first lines warn."""

    path: str
    name: str
    description: str
    words: Mapping[str, float]
    about: str = ""
    is_reference: bool = False
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Shelf:
    """A directory prepared for questions. `having`: the memories that have each word, with its weight there."""

    files: Mapping[str, bytes]
    index: bytes
    entries: tuple[RecallMemory, ...]
    having: Mapping[str, Sequence[tuple[str, float]]]
    older: tuple[str, ...] = ()  # memories that are too old to be considered


def shelf(
    files: Mapping[str, bytes], limits: IndexLimits | None = None, newest: Sequence[str] | None = None
) -> Shelf:
    """Prepare a directory; `newest` are the paths, newest first; without it, by name."""
    limits = limits or IndexLimits()
    index = files.get(memdir.INDEX_NAME, b"")
    loaded = memdir.loaded(index, max_lines=limits.max_lines, max_bytes=limits.max_bytes)
    rows = memdir.parse_index(loaded.text)
    order = list(newest if newest is not None else sorted(files))
    topics = [path for path in order if path in files and memdir.is_topic(path)]
    entries = tuple(
        _entry(path, files[path][:20_000], tuple(rows.rows_for(path))) for path in topics[:MOST_LOOKED_AT]
    )
    having = defaultdict[str, list[tuple[str, float]]](list)
    for entry in entries:
        for word, weight in entry.words.items():
            having[word].append((entry.path, weight))
    return Shelf(
        files=files,
        index=loaded.text.encode("utf-8", "surrogateescape"),
        entries=entries,
        having=having,
        older=tuple(topics[MOST_LOOKED_AT:]),
    )


@functools.lru_cache(maxsize=2 * MOST_LOOKED_AT)
def _entry(path: str, data: bytes, rows: tuple[memdir.IndexRow, ...]) -> RecallMemory:
    """A memory to choose from; its name weighs most, and its index row only counts if it is loaded."""
    head = "\n".join(decode(data).splitlines()[:HEAD_LINES])
    document = memdir.parse(head.encode("utf-8", "surrogateescape"))
    front = document.frontmatter
    stem = PurePosixPath(path).stem.replace("_", " ").replace("-", " ")
    name, description = (front.name if front else None) or stem, (front.description if front else None) or ""
    said = [(2.0, name), (1.5, stem)]
    said += [(1.5, description)] if description else []
    said += [(1.5, f"{row.title} {row.hook}") for row in rows]
    if not description and not rows:
        said += [(1.0, line.lstrip("# ")) for line in head.splitlines() if line.startswith("#")]
    words: dict[str, float] = {}
    for weight, text in said:
        for word in statement(text).weights:
            words[word] = max(weight, words.get(word, 0.0))
    return RecallMemory(
        path,
        name,
        description,
        words,
        _as_words(f"{name} {stem} {description}"),
        memdir.memory_type(document, path) == "reference",
        _WARNS.search(head) is not None,
    )


def _as_words(text: str) -> str:
    """Its words in lower case between spaces, so that names of several words can be found."""
    return f" {' '.join(_NAME_PARTS.findall(text.lower()))} "


def candidates(where: Shelf, seen: LoadedSoFar | None = None) -> list[RecallMemory]:
    """The memories that may be chosen."""
    return [entry for entry in where.entries if not _left_out_before(entry, seen or LoadedSoFar())]


def load(
    where: Shelf, question: str, seen: LoadedSoFar | None = None, picked: Picked | None = None
) -> Before:
    """The index's loaded part and the memories an agent would open for `question`, surest first, none if unsure, within what is
    left of the session's cap; and why the others are not. By words, or as a model picked."""
    seen = seen or LoadedSoFar()
    scored = _scored(where, candidates(where, seen), question)
    if picked is None:
        sure = _sure(scored)
    else:
        by_path = {one.path: one for one in scored}
        sure = [by_path[path] for path in dict.fromkeys(picked.paths) if path in by_path]
    chosen, better = sure[:MOST_CHOSEN], {one.path for one in sure[MOST_CHOSEN:]}
    rest = (one for one in scored if one not in chosen)
    left = [NotChosen(one.path, _why_not(one, better, len(chosen), picked), one.share) for one in rest]
    before = ((entry.path, _left_out_before(entry, seen)) for entry in where.entries)
    left += [NotChosen(path, why) for path, why in before if why]
    left += [NotChosen(path, f"older than the {MOST_LOOKED_AT} newest memories") for path in where.older]
    return _loaded(where, chosen, left, seen.bytes)


def _left_out_before(entry: RecallMemory, seen: LoadedSoFar) -> str:
    """Why it is not compared with the question; "" if it is."""
    if entry.path in seen.shown:
        return "already shown in this session"
    if entry.is_reference and not entry.warns:
        tool = next((tool for tool in seen.tools if _is_about(entry, tool)), "")
        return f"a reference for {tool}, which is in use" if tool else ""
    return ""


def _is_about(entry: RecallMemory, tool: str) -> bool:
    """Whether name or description have the tool's name; for `mcp__github__create_issue` the server's or its own."""
    parts = [_as_words(part).strip() for part in tool.split("__") if part.lower() != "mcp"]
    wanted = [f"{part} tool" if part in _ORDINARY else part for part in parts if len(part) > 1]
    return any(f" {part} " in entry.about for part in wanted)


def _scored(
    where: Shelf, entries: Iterable[RecallMemory], question: str, least: float = 0.0
) -> list[Recalled]:
    """Those of a shelf's memories that have `least` of the question, nearest first."""
    # Words that no memory has help little to choose; others less, the more memories have them.
    rare, count = math.log(1 + max(1, len(where.entries))) / 2, len(where.entries)
    weights, scores = dict[str, float](), defaultdict[str, float](float)
    for word, plain in statement(question[:QUESTION_CHARS]).weights.items():
        having = where.having.get(word, ())
        rarity = math.log(1 + count / len(having)) if having else rare
        weights[word] = weight = plain * rarity * (0.3 if word in lexicon.GENERIC else 1.0)
        for path, own in having:
            scores[path] += weight * own / 2
    whole, words = sum(weights.values()) or 1, sorted(weights, key=lambda word: -weights[word])
    found = [
        Recalled(entry.path, share, tuple(filter(entry.words.__contains__, words)))
        for entry in entries
        if (share := min(1.0, scores[entry.path] / whole)) >= least
    ]
    return sorted(found, key=lambda one: (-one.share, one.path))


def _sure(scored: Iterable[Recalled]) -> list[Recalled]:
    return [one for one in scored if one.share >= SURE and set(one.words) - lexicon.GENERIC]


def _why_not(one: Recalled, better: Collection[str], chosen: int, picked: Picked | None) -> str:
    if one.path in better:
        return f"{chosen} others match better"
    if picked is not None:
        return f"not chosen by {picked.by}"
    if not set(one.words) - lexicon.GENERIC:
        return "shares no distinctive word with the question"
    return f"unsure: {one.share:.0%} of the question matches, {SURE:.0%} is needed"


def texts_for(where: Shelf, question: str) -> Mapping[str, bytes]:
    """The texts that `load` loads in a new session, without the reasons, which take ten times as long."""
    sure = _sure(_scored(where, where.entries, question, SURE))
    return _loaded(where, sure[:MOST_CHOSEN], (), 0).texts


def _loaded(where: Shelf, chosen: Sequence[Recalled], others: Iterable[NotChosen], used: int) -> Before:
    texts = {memdir.INDEX_NAME: where.index} if where.index else {}
    left, cut, full = max(0, MOST_BYTES - used), list[str](), list[NotChosen]()
    for one in chosen:
        data = where.files[one.path]
        if len(data) > left:
            head = len(data) - len(encode(memdir.parse(data).body))
            data = data[:left].rpartition(b"\n")[0]
            if not memdir.has_text(decode(data[head:])):
                full.append(NotChosen(one.path, f"a session loads at most {MOST_BYTES:,} bytes", one.share))
                continue
            cut.append(one.path)
        texts[one.path] = data
        left -= len(data)
    recalled = tuple(one for one in chosen if one.path in texts)
    return Before(recalled, texts, tuple(cut), (*full, *others))
