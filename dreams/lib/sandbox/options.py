"""Parses options like GNU getopt, but only known ones with their full names, without abbreviations.

GNU reads `sort --out=x` as `sort --output=x`. Here a long name must be exact or is refused.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from dreams.lib.sandbox.process import Refused, UsageError

Takes = Literal["nothing", "value", "maybe"]  # maybe: only with = or directly after the letter


@dataclass(frozen=True)
class Spec:
    """The options of a command, separated by spaces, each with its spellings, of which the first is its name, as in
    "v n,line-number". `why_not`: refused options with a special reason."""

    flags: str = ""
    values: str = ""
    optional: str = ""
    why_not: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def known(self) -> Mapping[str, tuple[Takes, str]]:
        """Spelling → (whether it takes a value, its name). A flag wins over an option with a value of the same spelling."""
        texts: Mapping[Takes, str] = {"maybe": self.optional, "value": self.values, "nothing": self.flags}
        each = ((takes, names.split(",")) for takes, text in texts.items() for names in text.split())
        return {name: (takes, names[0]) for takes, names in each for name in names}


@dataclass(slots=True)
class Args:
    """Options in the order given, and operands."""

    given: list[tuple[str, str]] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)

    def has(self, name: str) -> bool:
        return any(given == name for given, _ in self.given)

    def last(self, name: str, default: str | None = None) -> str | None:
        return next((value for given, value in reversed(self.given) if given == name), default)

    def all(self, name: str) -> list[str]:
        return [value for given, value in self.given if given == name]

    def last_of(self, *names: str) -> str | None:
        """The last given option among several that exclude each other."""
        return next((given for given, _ in reversed(self.given) if given in names), None)


def read(command: str, spec: Spec, argv: list[str]) -> Args:
    """Raises Refused for an unknown option, UsageError for a missing value."""
    args = Args()
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            args.operands += rest
            break
        if word.startswith("--"):
            _long(command, spec, word[2:], rest, args)
        elif word.startswith("-") and len(word) > 1:
            _short(command, spec, word[1:], rest, args)
        else:
            args.operands.append(word)
    return args


def refuse(command: str, spec: Spec, option: str) -> Refused:
    called = sorted({name for _, name in spec.known.values()})
    known = " ".join(f"-{name}" if len(name) == 1 else f"--{name}" for name in called)
    why = spec.why_not.get(option.lstrip("-")) or f"{command} knows {known or 'no options'} here"
    return Refused(f"{command} {option}: {why}")


def _long(command: str, spec: Spec, word: str, rest: list[str], args: Args) -> None:
    name, equals, value = word.partition("=")
    if len(name) < 2 or name not in spec.known:
        raise refuse(command, spec, f"--{name}")
    takes, called = spec.known[name]
    if takes == "nothing" and equals:
        raise UsageError(f"option '--{name}' doesn't allow an argument", _usage_status(command))
    if takes == "value" and not equals:
        value = _next(command, f"--{name}", rest)
    args.given.append((called, value))


def _short(command: str, spec: Spec, letters: str, rest: list[str], args: Args) -> None:
    for at, letter in enumerate(letters, 1):
        if letter not in spec.known:
            raise refuse(command, spec, f"-{letter}")
        takes, called = spec.known[letter]
        value = "" if takes == "nothing" else letters[at:]
        if takes == "value" and not value:
            value = _next(command, f"-{letter}", rest)
        args.given.append((called, value))
        if takes != "nothing":
            return


def _next(command: str, option: str, rest: list[str]) -> str:
    if not rest:
        raise UsageError(f"option '{option}' requires an argument", _usage_status(command))
    return rest.pop(0)


def _usage_status(command: str) -> int:
    return 2 if command in ("ls", "grep", "egrep", "fgrep", "sort", "diff", "cmp") else 1


# --- Numbers ------------------------------------------------------------------------------------------------------


def digits_of(text: str, complaint: str, status: int = 1) -> int:
    """A number of decimal digits only, or UsageError with `complaint`."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise UsageError(f"{complaint}: '{text}'", status)
    return int(text)
