"""What became of each case: done right, left as it was, or done wrong. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from dreams.dev.dreambench.passages import Directory, Passage, plain
from dreams.dev.dreambench.truth import Case

Verdict = Literal["right", "left", "wrong"]
SAID_TWICE = 0.1  # a fact that is said twice is no fault where no case asks for one, but once is better
_DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\b(?:19|20)\d\d\b")


@dataclass(frozen=True)
class Judged:
    case: Case
    verdict: Verdict
    why: str = ""


@dataclass(frozen=True)
class States:
    """A directory before and after a dream, and what the engine said to its person."""

    before: Directory
    after: Directory
    notes: str = ""


def judge(case: Case, states: States) -> Judged:
    """The first thing that is wrong decides, then the first that was left."""
    checks = (_standing, _files, _gone, _once, _dated, _flagged, _index)
    found = [judged for check in checks for judged in check(case, states)]
    for verdict in ("wrong", "left"):
        for judged in found:
            if judged.verdict == verdict:
                return judged
    return Judged(case, "right")


def distance(cases: Iterable[Case], states: States) -> float:
    """How far a directory is from the truth: 0 where all is right, and a lost fact weighs more than all work left undone."""
    return states.after.over / 100 + sum(_distance(case, states) for case in cases)


def _distance(case: Case, states: States) -> float:
    judged = judge(case, states)
    double = sum(max(0, states.after.times(claim) - 1) for claim in case.stands)
    if judged.verdict == "right":
        return SAID_TWICE * double
    lost = sum(states.before.says(claim) and not states.after.says(claim) for claim in case.stands)
    old = sum(len(states.after.holding(claim)) for claim in case.gone)
    fewer = old < sum(len(states.before.holding(claim)) for claim in case.gone)
    if fewer and not all(states.after.says(claim) for claim in case.stands):
        lost += 1  # the old value went from somewhere, and the new one came nowhere
    wrong = 50 if judged.verdict == "wrong" else 0
    return 1 + old + (1 if case.once else SAID_TWICE) * double + 20 * lost + wrong


def _standing(case: Case, states: States) -> Iterable[Judged]:
    for claim in case.stands:
        if states.after.says(claim):
            continue
        if states.before.says(claim):
            yield Judged(case, "wrong", f"lost: {' '.join(claim.words)}")
        elif any(states.before.says(old) and not states.after.says(old) for old in case.gone):
            yield Judged(case, "wrong", f"the old one went, the new one never came: {' '.join(claim.words)}")
        else:
            yield Judged(case, "left", f"not there: {' '.join(claim.words)}")


def _gone(case: Case, states: States) -> Iterable[Judged]:
    for claim in case.gone:
        still = [p for p in states.after.holding(claim) if not _is_history(p, states)]
        if not still:
            continue
        fresh = not states.before.says(claim)
        yield Judged(case, "wrong" if fresh else "left", f"stands: {still[0].text[:120]}")


def _is_history(passage: Passage, states: States) -> bool:
    """Told as past in words that did not stand there before."""
    return passage.is_past and (passage.plain, passage.place) not in states.before.known


def _once(case: Case, states: States) -> Iterable[Judged]:
    if case.once and any(states.after.times(claim) > 1 for claim in case.stands):
        yield Judged(case, "left", "stands twice")


def _dated(case: Case, states: States) -> Iterable[Judged]:
    if not case.day and not case.undated:
        return
    named = {
        day for claim in case.stands for p in states.after.holding(claim) for day in _DAY.findall(p.text)
    }
    named -= {
        day for claim in case.stands for p in states.before.holding(claim) for day in _DAY.findall(p.text)
    }
    wrong = sorted(day for day in named if day != case.day)
    if wrong:
        yield Judged(case, "wrong", f"invented: {wrong[0]}")
    elif case.day and case.day not in named:
        yield Judged(case, "left", "not written out")


def _flagged(case: Case, states: States) -> Iterable[Judged]:
    if case.flagged:
        told = any(all(word in line for word in case.flagged) for line in plain_lines(states.notes))
        changed = {p.plain for p in _leaning(case, states.before)} - {
            p.plain for p in _leaning(case, states.after)
        }
        if not told and not changed:
            yield Judged(case, "left", "not flagged")


def _leaning(case: Case, directory: Directory) -> list[Passage]:
    return [p for p in directory.passages if all(word in p.plain for word in case.flagged)]


def plain_lines(text: str) -> list[str]:
    return [plain(line) for line in text.split("\n")]


def _files(case: Case, states: States) -> Iterable[Judged]:
    for path in case.same:
        if states.after.files.get(path) != states.before.files.get(path):
            yield Judged(case, "wrong", f"{path} was changed")
    for path in case.marks:
        old, new = states.before.files[path], states.after.files.get(path)
        if new is None or _marks(old) != _marks(new):
            yield Judged(case, "wrong", f"{path}: line ends or odd bytes were changed")
    if case.link and (broken := states.after.broken_links(case.link)):
        yield Judged(case, "wrong", f"broken: {broken[0]}")


def _marks(data: bytes) -> tuple[object, ...]:
    odd = frozenset(word for word in data.split() if not _is_utf8(word))
    crlf = data.count(b"\r\n")
    ends = "crlf" if crlf and crlf == data.count(b"\n") else "mixed" if crlf else "lf"
    return ends, data.startswith(b"\xef\xbb\xbf"), data.endswith(b"\n"), odd


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _index(case: Case, states: States) -> Iterable[Judged]:
    if case.row and len(rows := states.after.rows(case.row)) != 1:
        was = len(states.before.rows(case.row))
        yield Judged(case, "left" if len(rows) == was else "wrong", f"{len(rows)} rows point to {case.row}")
    if case.long and states.after.rows(case.long) != states.before.rows(case.long):
        yield Judged(case, "wrong", "the row was changed")
    if case.fits and not states.after.fits:
        yield Judged(case, "left", "the index is over its budget")
