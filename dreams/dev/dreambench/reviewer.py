"""A reviewer who knows the truth: of every question the answer that brings a directory closest to it. Pure.

An option's edits are drafted on the directory as the dream found it; they are merged into what is there by now, as the
product does. Where no option makes anything better, things are kept as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dreams.dev.dreambench.judging import States, distance
from dreams.dev.dreambench.passages import Directory, plain
from dreams.dev.dreambench.truth import Case
from dreams.engines.types import Edit, Option, Question
from dreams.lib.diff import merge
from dreams.lib.files import text as texts

MOST_QUESTIONS = 2_000  # of one dream


@dataclass
class Asked:
    """Questions by kind, and of these the ones whose best answer changes something."""

    asked: Counter[str] = field(default_factory=Counter)
    useful: Counter[str] = field(default_factory=Counter)
    kept: list[str] = field(default_factory=list)  # what was asked for nothing


@dataclass
class Reviewer:
    """Answers for one directory. `before` is the directory as it was before the first dream."""

    before: Directory
    cases: Sequence[Case]
    asked: Asked = field(default_factory=Asked)
    answered: set[tuple[str, str]] = field(default_factory=set)

    def answer(self, questions: Iterable[Question], files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files after every question that was not answered before."""
        now = dict(files)
        for question in sorted(questions, key=lambda q: -q.weight)[:MOST_QUESTIONS]:
            key = (question.kind, question.subject)
            if key in self.answered:
                continue
            self.answered.add(key)
            self.asked.asked[question.kind] += 1
            best = self._best(question, now)
            if best is None:
                places = " | ".join(f"{place.path}: {place.text}" for place in question.places)
                self.asked.kept.append(f"{question.kind}: {places}")
            else:
                self.asked.useful[question.kind] += 1
                now = best
        return now

    def _best(self, question: Question, now: Mapping[str, bytes]) -> dict[str, bytes] | None:
        """The files after the best option; None where keeping everything is no worse."""
        cases = self._touched(question)
        least, best = distance(cases, States(self.before, Directory(now))), None
        for option in question.options:
            after = apply(option, now)
            if after is None or after == now:
                continue
            far = distance(cases, States(self.before, Directory(after)))
            if far < least:
                least, best = far, after
        return best

    def _touched(self, question: Question) -> list[Case]:
        """The cases that an option can change: what they are about is named in a file that it changes."""
        edits = [edit for option in question.options for edit in option.edits]
        named = plain("\n".join(part for e in edits for part in (e.path, e.before or "", e.after or "")))
        return [case for case in self.cases if any(word in named for word in _subjects(case))]


def _subjects(case: Case) -> list[str]:
    return [claim.words[0] for claim in (*case.stands, *case.gone)] or [""]


def apply(option: Option, files: Mapping[str, bytes]) -> dict[str, bytes] | None:
    """The files with what an option changes merged in; None where that is in conflict with what was changed since."""
    after = dict(files)
    for path, (old, new) in _steps(option.edits).items():
        current = texts.decode(after[path]) if path in after else None
        made = _merged(path, old, new, current)
        if made is False:
            return None
        if made is None:
            after.pop(path, None)
        elif isinstance(made, str):
            after[path] = texts.encode(made)
    return after


def _steps(edits: Sequence[Edit]) -> dict[str, tuple[str | None, str | None]]:
    """Each file's text before the first edit and after the last."""
    steps: dict[str, tuple[str | None, str | None]] = {}
    for edit in edits:
        steps[edit.path] = (steps[edit.path][0] if edit.path in steps else edit.before, edit.after)
    return steps


def _merged(path: str, old: str | None, new: str | None, current: str | None) -> str | bool | None:
    """The new text, None where the file goes, False for a conflict."""
    if current in (old, new):
        return new
    if old is None or new is None or current is None:
        return None if new is None and current is None else False
    made = merge.merge3(old, current, new, adjacent="merge")
    if made.clean:
        return made.text
    if path.endswith("MEMORY.md"):
        by_row = merge.merge_index(old, current, new)
        return by_row.text if by_row.clean else False
    return False
