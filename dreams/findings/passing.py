"""What is true for a while or stands in the code: the state of a task, recipes of debugging, an architecture in prose. PURE.

Each needs two signs that honest memories seldom have together, and is told once for a file: information, never a reason
to remove a fact that stands nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dreams.findings.base import Found
from dreams.findings.ledger.units import Line, found_at
from dreams.lib import memdir
from dreams.lib.memdir.sections import Item

CHECK = "taxonomy"
LEAST_STEPS = 3  # of a list that is a plan; chosen
LEAST_OPEN = 2  # boxes that are not ticked
LEAST_PLACES = 3  # statements that each name a place in the code and what it does

_OPEN_WORK = re.compile(
    r"\b(?:TODO|FIXME|WIP|in progress|still (?:open|to do|missing)|not (?:yet )?(?:done|finished)|remaining|next steps?|"
    r"left to do|blocked on|(?:working|work) on)\b"
)
_NOW = re.compile(
    r"\b(?:today|tonight|tomorrow|this (?:session|morning|afternoon|evening)|next session|right now|at the moment)\b",
    re.IGNORECASE,
)
_BOX = re.compile(r"\s*[-*+]\s+\[ \]\s+\S")
_DEBUGGING = re.compile(
    r"\b(?:debug(?:ging)?|trouble-?shoot(?:ing)?|how to (?:fix|debug|reproduce)|(?:steps|way) to (?:fix|debug|reproduce)|"
    r"(?:fix|repro(?:duction)?) (?:steps|recipe))\b",
    re.IGNORECASE,
)
_COMMAND = re.compile(r"`[^`\n]+`|^\s*\$ \S", re.MULTILINE)
_PLACE = re.compile(
    r"`?(?:[\w.-]+/)+[\w.-]*`?|\b[\w-]+\.(?:py|js|jsx|ts|tsx|go|rs|rb|java|kt|c|cc|cpp|h|cs|php|swift|scala|sql|vue)\b"
)
_DOES = re.compile(
    r"\b(?:contains?|holds?|handles?|implements?|defines?|provides?|exports?|wraps?|calls?|imports?|renders?|parses|"
    r"(?:is|are) responsible for|lives? in|(?:is|are) in|talks? to|depends? on|sits? (?:in|between)|consists? of)\b",
    re.IGNORECASE,
)

_ABOUT_CODE = re.compile(
    r"\b(?:architecture|codebase|(?:project|code|directory|folder|repository|module) (?:structure|layout|overview))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Sign:
    code: str
    says: str
    remedy: str


_TASK = _Sign(
    "task-state",
    "says how far a task has come, which is soon out of date",
    "Leave it out, or keep what was decided and drop the state.",
)
_RECIPE = _Sign(
    "debug-recipe",
    "lists debugging steps: the fix is in the code, and its reason in the commit",
    "Keep the surprising part in one sentence, and leave the steps out.",
)
_ARCHITECTURE = _Sign(
    "architecture",
    "describes how the code is built, which the code shows and keeps up to date",
    "Keep the reason for the decision, and leave the description out.",
)


def passing(files: Mapping[str, bytes], lines: Iterable[Line]) -> Iterator[Found]:
    """One finding for each file and sign, at the first of `lines` that belongs to it."""
    by_path: dict[str, dict[int, Line]] = {}
    for line in lines:
        by_path.setdefault(line.path, {})[line.number] = line
    for path in sorted(by_path.keys() & files.keys()):
        if memdir.is_topic(path):
            yield from _in_file(files[path], by_path[path])


def _in_file(data: bytes, lines: Mapping[int, Line]) -> Iterator[Found]:
    document = memdir.parse(data)
    items = memdir.sections(document.body, document.body_start_line)
    title = (document.frontmatter.name if document.frontmatter else None) or ""
    for sign, numbers in (
        (_TASK, _task_state(items)),
        (_RECIPE, _recipe(items)),
        (_ARCHITECTURE, _architecture(items, title)),
    ):
        first = next((lines[number] for number in numbers if number in lines), None)
        if first is not None:
            yield found_at(first, CHECK, sign.code, "info", sign.says, sign.remedy)


def _said(items: Iterable[Item]) -> Iterator[Item]:
    return (item for item in items if item.kind in ("paragraph", "bullet", "table"))


def _task_state(items: list[Item]) -> list[int]:
    """Open work that is dated by this very day or session, or boxes that wait to be ticked."""
    said = list(_said(items))
    boxes = [item.first_line for item in said if _BOX.match(item.text)]
    dated = [item.first_line for item in said if _OPEN_WORK.search(item.text) and _NOW.search(item.text)]
    return sorted({*dated, *(boxes if len(boxes) >= LEAST_OPEN else ())})


def _recipe(items: list[Item]) -> list[int]:
    """Steps with commands below a heading that speaks of debugging."""
    found: dict[tuple[str, ...], list[Item]] = {}
    for item in items:
        if item.kind in ("bullet", "code") and item.under and _DEBUGGING.search(item.under[-1]):
            found.setdefault(item.under, []).append(item)
    return [
        steps[0].first_line
        for steps in found.values()
        if _steps(steps) >= LEAST_STEPS
        and any(step.kind == "code" or _COMMAND.search(step.text) for step in steps)
    ]


def _steps(items: Iterable[Item]) -> int:
    """A line of a code block is a step too; its fences are none."""
    return sum(len(item.text.splitlines()) - 2 if item.kind == "code" else 1 for item in items)


def _architecture(items: list[Item], title: str) -> list[int]:
    """Most of a memory says of places in the code what they do; below a heading that promises it, a verb is enough."""
    said = list(_said(items))
    found = [item.first_line for item in said if _describes_code(item, title)]
    return found if len(found) >= LEAST_PLACES and 2 * len(found) >= len(said) else []


def _describes_code(item: Item, title: str) -> bool:
    if not _DOES.search(item.text):
        return False
    return bool(_PLACE.search(item.text) or _ABOUT_CODE.search(" ".join([title, *item.under])))
