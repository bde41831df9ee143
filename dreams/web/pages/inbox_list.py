"""The list of what waits as the inbox shows it: narrowed, sorted and grouped as the address says."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from dreams.services.inbox import waiting
from dreams.services.inbox.waiting import Item, Kind
from dreams.web.paging import chosen, number_or_none

FINDINGS: Mapping[str, str] = {
    "confirm": "To confirm",
    "warnings": "Warnings only",
    "none": "Nothing found",
}
SORTS: Mapping[str, str] = {
    "": "What needs you most",
    "oldest": "Oldest first",
    "newest": "Newest first",
    "project": "By project name",
    "small": "Smallest first",
}
#: Filters are no help among fewer than these.
FEW = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address says; an empty field narrows nothing."""

    project: int | None = None
    kind: str = ""
    finding: str = ""
    sort: str = ""
    is_grouped: bool = False
    all_selected: bool = False

    @property
    def is_narrowed(self) -> bool:
        return bool(self.project or self.kind or self.finding)


def asked_of(given: QueryDict) -> Asked:
    return Asked(
        project=number_or_none(given.get("project")),
        kind=chosen(given.get("kind"), list(Kind)),
        finding=chosen(given.get("finding"), list(FINDINGS)),
        sort=chosen(given.get("sort"), list(SORTS)),
        is_grouped=given.get("group") == "project",
        all_selected=given.get("select") == "all",
    )


@dataclass(frozen=True, slots=True)
class Group:
    """Items under one heading; the heading is empty where the list is not grouped."""

    title: str
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Listing:
    """`waits` is everything that is not put off, `groups` what of it is shown, `later` what is put off.

    `to_review` counts what has a decision open, as the title does; `to_finish` all other proposals.
    """

    asked: Asked
    groups: Sequence[Group]
    shown: int
    waits: int
    to_review: int
    to_finish: int
    projects: Sequence[tuple[int, str]]
    kinds: Sequence[Kind]
    oldest: Item | None
    later: Sequence[Item]

    @property
    def has_filters(self) -> bool:
        return self.waits >= FEW or self.asked.is_narrowed

    @property
    def findings(self) -> Mapping[str, str]:
        return FINDINGS

    @property
    def sorts(self) -> Mapping[str, str]:
        return SORTS


def listing(now: dt.datetime, asked: Asked) -> Listing:
    everything = waiting.waiting(now)
    items = [item for item in everything if item.snooze is None]
    shown = _sorted([item for item in items if _passes(item, asked)], asked.sort)
    return Listing(
        asked=asked,
        groups=_groups(shown) if asked.is_grouped else [Group("", shown)],
        shown=len(shown),
        waits=len(items),
        to_review=sum(item.kind is Kind.REVIEW for item in items),
        to_finish=sum(item.kind not in (Kind.REVIEW, Kind.QUESTIONS, Kind.JOB) for item in items),
        projects=sorted(
            {item.project_pk: item.project for item in items if item.project_pk}.items(), key=_name
        ),
        kinds=sorted({item.kind for item in items}, key=list(Kind).index),
        oldest=min(items, key=lambda item: item.since, default=None),
        later=sorted((item for item in everything if item.snooze), key=_comes_back),
    )


def _name(project: tuple[int, str]) -> str:
    return project[1].casefold()


def _comes_back(item: Item) -> tuple[bool, float]:
    until = item.snooze.until if item.snooze else None
    return (until is None, until.timestamp() if until else 0)


def _passes(item: Item, asked: Asked) -> bool:
    return (
        (asked.project is None or item.project_pk == asked.project)
        and asked.kind in ("", item.kind)
        and asked.finding in ("", _finding(item))
    )


def _finding(item: Item) -> str:
    if item.facts is None:
        return ""
    return "confirm" if item.facts.to_confirm else "warnings" if item.facts.warnings else "none"


_KEYS: Mapping[str, Callable[[Item], Any]] = {
    "oldest": lambda item: item.since.timestamp(),
    "newest": lambda item: -item.since.timestamp(),
    "project": lambda item: item.project.casefold(),
    "small": lambda item: item.facts.counts.undecided if item.facts else 0,
}


def _sorted(items: list[Item], by: str) -> list[Item]:
    """Sorting is stable: what is equal keeps the order of need."""
    return sorted(items, key=_KEYS[by]) if by else items


def _groups(items: Sequence[Item]) -> list[Group]:
    """By project, in the order in which each comes up first."""
    found: dict[int | None, list[Item]] = {}
    for item in items:
        found.setdefault(item.project_pk, []).append(item)
    return [Group(rows[0].project, rows) for rows in found.values()]


def next_after(now: dt.datetime, key: str = "") -> Item | None:
    """What to do after the item `key`, or first of all; None when nothing else waits."""
    items = [item for item in waiting.waiting(now) if item.snooze is None and not item.host]
    keys = [item.key for item in items]
    at = keys.index(key) + 1 if key in keys else 0
    others = [*items[at:], *items[:at]]
    return next((item for item in others if item.key != key), None)
