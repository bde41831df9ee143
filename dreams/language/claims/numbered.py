"""Things that are told apart by a number: what is said of "queue 1" says nothing of "queue 0". Pure.

A number behind "port" or "limit" is a value that changes; one behind "queue", "step" or "worker" is half of a name.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict

# Nouns that are numbered where there are several of a kind, as far as their numbers are no measure of anything.
_NUMBERED = """
queue worker shard replica partition bucket node server host machine instance cluster pod rack zone region disk device gpu
core thread process slot lane channel stream pool topic table room desk door gate line floor unit printer screen monitor
step phase stage task subtask job part section chapter appendix point item bullet entry row column figure question rule
invariant criterion requirement scenario case example test fixture option variant plan proposal approach hypothesis
milestone sprint iteration round attempt pass batch wave week day ticket issue story epic message prompt session agent
player team group customer tenant account
"""
_LABEL = re.compile(
    rf"\b({'|'.join(_NUMBERED.split())})s?[ -]?#?(\d{{1,4}})\b(?![.,:]\d|%|\s?(?:ms|kb|mb|gb)\b)",
    re.IGNORECASE,
)


def are_of_others(one: str, other: str) -> bool:
    """Whether both name a numbered thing of one kind, and no number of it in common."""
    mine = _labels(one)
    theirs = _labels(other) if mine else {}
    return any(not mine[noun] & theirs[noun] for noun in mine.keys() & theirs.keys())


@functools.lru_cache(maxsize=1_000)
def _labels(text: str) -> dict[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for match in _LABEL.finditer(text):
        found[match[1].lower()].add(int(match[2]))
    return found
