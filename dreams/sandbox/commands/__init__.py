"""The commands on offer, by name. Each is compiled from its arguments (where refusals are raised) and then run."""

from __future__ import annotations

from ..process import Compile
from . import (
    awk,
    basic,
    cat,
    cmp,
    columns,
    conditions,
    cut,
    date,
    diff,
    filters,
    find,
    grep,
    heads,
    jq,
    kinds,
    ls,
    paths,
    sed,
    sort,
    stat,
    sums,
    tr,
    tree,
    uniq,
    wc,
    xargs,
)

_MODULES = (
    awk,
    basic,
    cat,
    cmp,
    columns,
    conditions,
    cut,
    date,
    diff,
    filters,
    find,
    grep,
    heads,
    jq,
    kinds,
    ls,
    paths,
    sed,
    sort,
    stat,
    sums,
    tr,
    tree,
    uniq,
    wc,
    xargs,
)
_COMMANDS: dict[str, Compile] = {}
for _module in _MODULES:
    _COMMANDS.update(_module.COMMANDS)


def find_command(name: str) -> Compile | None:
    """The command of this exact name; `./cat` and `/bin/cat` are other programs and not on offer."""
    return _COMMANDS.get(name)


def known_commands() -> list[str]:
    return sorted(_COMMANDS)
