"""A world by seed and size: directories of at most 150 facts, with cases of every kind. Pure and deterministic."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from dreams.dev.dreambench import memory_cases, session_cases, wordings
from dreams.dev.dreambench.builder import Builder, World, fill
from dreams.dev.dreambench.shapes import Words
from dreams.dev.dreambench.wordings import FOUND, TYPED

MOST_IN_ONE = 150  # facts of one project; chosen
CROWDED_FROM = 30  # facts of a world from which one directory has an index over its budget
# How many of a hundred facts are of a kind; the rest are plain.
SHARES: Mapping[str, tuple[Callable[[Builder], None], float]] = {
    "look-alike": (memory_cases.look_alike, 7),
    "duplicate": (memory_cases.duplicate, 9),
    "update": (memory_cases.update, 6),
    "told": (session_cases.told, 8),
    "flip-back": (session_cases.flip_back, 3),
    "forget": (session_cases.forget, 4),
    "expiry": (memory_cases.expiry, 3),
    "unexpired": (memory_cases.unexpired, 2),
    "cascade": (session_cases.cascade, 3),
    "date": (memory_cases.date, 4),
    "vague": (memory_cases.vague, 4),
    "derived": (memory_cases.derived, 4),
    "not derived": (memory_cases.not_derived, 3),
    "preference": (session_cases.preference, 4),
    "lure": (session_cases.lure, 6),
    "secret": (session_cases.secret, 2),
    "dangling": (memory_cases.dangling, 2),
    "missing row": (memory_cases.missing_row, 2),
    "double row": (memory_cases.double_row, 2),
    "long row": (memory_cases.long_row, 1.5),
    "encoding": (memory_cases.encoding, 3),
    "pinned": (memory_cases.pinned, 2),
    "link": (memory_cases.links, 2),
}


WORDINGS = {"own": wordings.ATTRIBUTES, "found": FOUND, "typed": TYPED}


def make(seed: int, facts: int, wordings: str = "own") -> World:
    """A world of about `facts` facts, told in our own wordings, in `found` ones, or changed in `typed` ones. Raises ValueError for a number out of range."""
    world = World(seed, facts, wordings)
    words = Words(random.Random(f"{seed}/words"))  # noqa: S311 - a benchmark, not a secret
    left, number = facts, 1
    while left > 0:
        size = min(MOST_IN_ONE, left) if left >= 20 or number == 1 else 0
        if not size:
            break
        builder = _builder(world, f"notes-{number}", words)
        fill(builder, SHARES.values(), memory_cases.fact, size)
        _add(world, builder)
        left, number = left - size, number + 1
    if facts >= CROWDED_FROM:
        builder = _builder(world, "crowded", words)
        builder.make_sessions(1)
        memory_cases.crowded(builder, facts)
        _add(world, builder)
    return world


def _builder(world: World, name: str, words: Words) -> Builder:
    rng = random.Random(f"{world.seed}/{name}")  # noqa: S311 - as above
    words.rng = rng
    return Builder(rng, words, wordings.Deal(world.seed, rng), name, WORDINGS[world.wordings])


def _add(world: World, b: Builder) -> None:
    world.directories.append(b.directory())
    world.cases += b.cases
