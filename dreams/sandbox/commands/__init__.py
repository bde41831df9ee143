"""The commands on offer, by name. Each is compiled from its arguments (where refusals are raised) and then run."""

from __future__ import annotations

from importlib import import_module

from ..process import Compile

# Once, as text: as imports and as a tuple the list would stand here twice.
_MODULES = [
    "awk",
    "basic",
    "cat",
    "cmp",
    "columns",
    "conditions",
    "cut",
    "date",
    "diff",
    "filters",
    "find",
    "grep",
    "heads",
    "jq",
    "kinds",
    "ls",
    "paths",
    "sed",
    "sort",
    "stat",
    "sums",
    "tr",
    "tree",
    "uniq",
    "wc",
    "xargs",
]
_COMMANDS: dict[str, Compile] = {}
for _module in _MODULES:
    _COMMANDS.update(import_module(f"{__name__}.{_module}").COMMANDS)


def find_command(name: str) -> Compile | None:
    """The command of this exact name; `./cat` and `/bin/cat` are other programs and not on offer."""
    return _COMMANDS.get(name)


# What to write instead of commands that are asked for in vain.
_INSTEAD = {
    "rg": "grep -rn",
    "ag": "grep -rn",
    "ack": "grep -rn",
    "fd": "find . -name",
    "less": "cat or head",
    "more": "cat or head",
    "bat": "cat -n",
    "xxd": "cat -A",
    "od": "cat -A",
    "hexdump": "cat -A",
    "strings": "grep -a",
    "exa": "ls",
    "eza": "ls",
    "for": "a wildcard, as in head -n 3 *.md, or xargs",
    "while": "a wildcard, as in head -n 3 *.md, or xargs",
    "perl": "sed or awk",
    "python": "awk or jq",
    "python3": "awk or jq",
}


def unknown(name: str) -> str:
    """Why a command is not run, and what to write instead."""
    instead = f"; use {_INSTEAD[name]}" if name in _INSTEAD else f" ({', '.join(known_commands())})"
    return f"{name[:60]!r} is not one of the commands here{instead}"


def known_commands() -> list[str]:
    return sorted(_COMMANDS)
