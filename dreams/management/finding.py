"""A finding in words: how grave, where, what, and below it what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def words(one: Mapping[str, Any], *, explain: bool = False) -> Iterator[str]:
    """`one` has `severity`, `path`, `line`, `message`, `remedy` and `rule`; most messages begin with their place."""
    place = f"{one['path']}, line {one['line']}" if one["line"] else one["path"]
    where = f"{place}: " if place and not one["message"].startswith(one["path"]) else ""
    # A name may hold a line break, and a finding is one line.
    yield f"{one['severity']:6} {where}{one['message']}".replace("\n", "⟨U+000A⟩")
    if one["remedy"]:
        yield f"       {one['remedy']}"
    if explain:
        yield f"       Rule {one['check']}/{one['code']}: {one['rule']}"
