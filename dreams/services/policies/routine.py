"""Which changes an earned policy may apply: those that remove nothing and rest on what the person said. PURE.

What an engine calls a change is not believed: a model may call anything a date. Whether a word is lost is read off the
lines themselves. Never routine: what removes a file, a line or a statement, secrets, the memory a team shares, what the
agent's own log says, and what a model adds without a turn of the person as evidence that is no question.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dreams.engines.drafts import Draft, DraftFile, DraftHunk, DraftOperation
from dreams.engines.types import Edit, OperationKind
from dreams.lib import memdir
from dreams.lib.prose import dates
from dreams.lib.secrets import spotting as secrets

#: The kinds that trust can be earned for. The others remove something, or are a person's own.
ROUTINE_KINDS: tuple[OperationKind, ...] = ("learn", "date", "index")
# What says something in a row: words, numbers with their sign, and "≠", "!" or "~~". How a row is put together is not.
_WORD = re.compile(r"(?<!\w)[-−]?\d+(?:[.,:]\d+)*(?!\w)|\w+|[^\w\s\-–—*()\[\].,:;\"'“”‘’`]")
_ISO_DAY = r"(?:on )?\d{4}-\d\d-\d\d"
# Which day a phrase names does not matter here, only that it names one; some do on certain weekdays only.
_SOME_DAYS = tuple(dt.date(2001, 1, 1) + dt.timedelta(days=61 * number) for number in range(7))
Part = tuple[DraftFile, DraftHunk]


def routine(draft: Draft, edits: Sequence[Edit], *, by_model: bool) -> frozenset[str]:
    """The operations of `draft` that a policy may be offered for, by their keys."""
    kinds, parts = _kinds_of_steps(edits), _by_operation(draft)
    return frozenset(
        key
        for key, operation in draft.operations.items()
        if _is_one_kind(operation, kinds) and _is_routine(operation.kind, parts.get(key, []), by_model)
    )


def _by_operation(draft: Draft) -> Mapping[str, list[Part]]:
    parts: dict[str, list[Part]] = {}
    for file in draft.files:
        for hunk in file.hunks:
            parts.setdefault(hunk.operation, []).append((file, hunk))
    return parts


def _kinds_of_steps(edits: Iterable[Edit]) -> Mapping[str, set[OperationKind]]:
    found: dict[str, set[OperationKind]] = {}
    for edit in edits:
        found.setdefault(edit.operation, set()).add(edit.kind)
    return found


def _is_one_kind(operation: DraftOperation, kinds: Mapping[str, set[OperationKind]]) -> bool:
    """An operation is named by the most telling of its steps; the others may only be rows of the index."""
    made = set().union(*(kinds.get(step, set()) for step in operation.steps))
    return operation.kind in ROUTINE_KINDS and made <= {operation.kind, "index"}


def _is_routine(kind: OperationKind, parts: Sequence[Part], by_model: bool) -> bool:
    files = {file.path: file for file, _ in parts}
    return (
        bool(parts)
        and all(map(_may_be_touched, files.values()))
        and all(_keeps_what_it_says(hunk) for _, hunk in parts)
        and not any(cited.role == "log" for _, hunk in parts for cited in hunk.citations)
        and all(_LOSES_NOTHING[kind](file, *_sides(parts, file)) for file in files.values())
        and (not by_model or _is_said_by_the_person(kind, parts))
    )


def _sides(parts: Iterable[Part], of: DraftFile) -> tuple[list[str], list[str]]:
    """The lines of one file that go and that come; one line put in place of another may be two hunks."""
    hunks = [hunk.hunk for file, hunk in parts if file is of]
    old = [line for hunk in hunks for line in hunk.base_lines if line.strip()]
    return old, [line for hunk in hunks for line in hunk.new_lines if line.strip()]


def _may_be_touched(file: DraftFile) -> bool:
    return file.new is not None and file.path.endswith(".md") and not is_shared(file.path)


def is_shared(path: str) -> bool:
    """Whether others have this memory too: no policy of any kind changes it, wherever a folder `team` is and however it is spelt."""
    return "team" in path.casefold().split("/")[:-1]


def _keeps_what_it_says(hunk: DraftHunk) -> bool:
    """No secret in it, and the engine itself says of no line that it went."""
    lines = "".join((*hunk.hunk.base_lines, *hunk.hunk.new_lines))
    return not secrets.spans(lines) and all(fate.kind == "kept-in" for fate in hunk.fates)


def _only_adds(file: DraftFile, old: Sequence[str], new: Sequence[str]) -> bool:
    return not old


def _same_words(file: DraftFile, old: Sequence[str], new: Sequence[str]) -> bool:
    """Rows of the index: new ones, or the same words written anew."""
    return memdir.is_index(file.path) and (not old or _rows(old) == _rows(new))


def _only_dates(file: DraftFile, old: Sequence[str], new: Sequence[str]) -> bool:
    """Line by line the same text, but for phrases that name a day."""
    return len(old) == len(new) > 0 and all(map(_only_dated, old, new))


def _only_dated(old: str, new: str) -> bool:
    return old != new and any(_with_days(old, day).fullmatch(new) for day in _SOME_DAYS)


def _with_days(line: str, day: dt.date) -> re.Pattern[str]:
    """`line`, where each phrase that names a day may be written out, in whatever digits."""
    at, pattern = 0, ""
    for span in dates.resolve(line, day):
        written = re.sub(r"\d", r"\\d", re.escape(span.written))
        pattern += f"{re.escape(line[at : span.start])}(?:{re.escape(span.text)}|{written}|{_ISO_DAY})"
        at = span.end
    return re.compile(pattern + re.escape(line[at:]))


def _in_an_index(file: DraftFile, old: Sequence[str], new: Sequence[str]) -> bool:
    return memdir.is_index(file.path)


_LOSES_NOTHING = {"learn": _only_adds, "index": _same_words, "date": _only_dates}
_IS_WHAT_IT_IS_CALLED = {**_LOSES_NOTHING, "index": _in_an_index}


def miscalled(draft: Draft) -> frozenset[str]:
    """The operations of `draft` whose lines show that they are not of the kind that they are called."""
    parts = _by_operation(draft)
    return frozenset(
        key
        for key, operation in draft.operations.items()
        if (fits := _IS_WHAT_IT_IS_CALLED.get(operation.kind))
        and not all(fits(file, *_sides(parts[key], file)) for file, _ in parts.get(key, ()))
    )


def _is_said_by_the_person(kind: OperationKind, parts: Sequence[Part]) -> bool:
    """Whatever is added has a turn of the person as evidence. A row of the index may have that of its memory."""
    for file, hunk in parts:
        adds = not any(line.strip() for line in hunk.hunk.base_lines)
        if adds and not _is_typed(parts if memdir.is_index(file.path) else [(file, hunk)]):
            return False
    return kind != "learn" or _is_typed(parts)


def _is_typed(parts: Iterable[Part]) -> bool:
    return any(
        cited.source == "transcript" and cited.role == "user" and cited.found and _says_something(cited.quote)
        for _, hunk in parts
        for cited in hunk.citations
    )


def _says_something(quote: str) -> bool:
    """Who asks "shall we skip the tests?" has not said so."""
    return bool(quote.strip()) and "?" not in quote


def _rows(lines: Iterable[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(_WORD.findall(line.casefold())) for line in lines)
