"""Which changes an earned policy may apply: those that remove nothing and are based on the person's words. PURE.

The kind that an engine gives a change is not trusted: a model may call anything a date. The lines themselves show
whether a word is lost. Never routine: removing a file, line or statement, secrets, shared team memory, anything from
the agent's own log, and a model's addition without a person's turn that is not a question as evidence.
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

#: The kinds that trust can be earned for. The others remove something, or are made by a person.
ROUTINE_KINDS: tuple[OperationKind, ...] = ("learn", "date", "index")
# The parts of a row that carry meaning: words, numbers with their sign, and "≠", "!" or "~~". Its layout does not.
_WORD = re.compile(r"(?<!\w)[-−]?\d+(?:[.,:]\d+)*(?!\w)|\w+|[^\w\s\-–—*()\[\].,:;\"'“”‘’`]")
_ISO_DAY = r"(?:on )?\d{4}-\d\d-\d\d"
# Only whether a phrase names a day matters here, not which; some do so on certain weekdays only.
_SOME_DAYS = tuple(dt.date(2001, 1, 1) + dt.timedelta(days=61 * number) for number in range(7))
Part = tuple[DraftFile, DraftHunk]


def routine(draft: Draft, edits: Sequence[Edit], *, by_model: bool) -> frozenset[str]:
    """The keys of the operations of `draft` that a policy may be offered for."""
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
    """Whether all steps of an operation are of its kind, or rows of the index."""
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
    """The removed and the added lines of one file; one replaced line may be two hunks."""
    hunks = [hunk.hunk for file, hunk in parts if file is of]
    old = [line for hunk in hunks for line in hunk.base_lines if line.strip()]
    return old, [line for hunk in hunks for line in hunk.new_lines if line.strip()]


def _may_be_touched(file: DraftFile) -> bool:
    return file.new is not None and file.path.endswith(".md") and not is_shared(file.path)


def is_shared(path: str) -> bool:
    """Whether it is shared team memory, below a folder `team` in any case and at any depth: no policy may change it."""
    return "team" in path.casefold().split("/")[:-1]


def _keeps_what_it_says(hunk: DraftHunk) -> bool:
    """Whether it has no secret, and the engine reports no line as lost."""
    lines = "".join((*hunk.hunk.base_lines, *hunk.hunk.new_lines))
    return not secrets.spans(lines) and all(fate.kind == "kept-in" for fate in hunk.fates)


def _only_adds(file: DraftFile, old: Sequence[str], new: Sequence[str]) -> bool:
    return not old


def _same_words(file: DraftFile, old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether only index rows change: new ones, or the same words in another layout."""
    return memdir.is_index(file.path) and (not old or _rows(old) == _rows(new))


def _only_dates(file: DraftFile, old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether the lines differ only in phrases that name a day."""
    return len(old) == len(new) > 0 and all(map(_only_dated, old, new))


def _only_dated(old: str, new: str) -> bool:
    return old != new and any(_with_days(old, day).fullmatch(new) for day in _SOME_DAYS)


def _with_days(line: str, day: dt.date) -> re.Pattern[str]:
    """A pattern for `line` in which each phrase that names a day may be any written date."""
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
    """The operations of `draft` whose lines do not match their kind."""
    parts = _by_operation(draft)
    return frozenset(
        key
        for key, operation in draft.operations.items()
        if (fits := _IS_WHAT_IT_IS_CALLED.get(operation.kind))
        and not all(fits(file, *_sides(parts[key], file)) for file, _ in parts.get(key, ()))
    )


def _is_said_by_the_person(kind: OperationKind, parts: Sequence[Part]) -> bool:
    """Whether each addition has a person's turn as evidence. An index row may use that of its memory."""
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
    """Whether it is a statement: asking "shall we skip the tests?" is not one."""
    return bool(quote.strip()) and "?" not in quote


def _rows(lines: Iterable[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(_WORD.findall(line.casefold())) for line in lines)
