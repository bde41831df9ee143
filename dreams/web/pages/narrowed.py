"""What a list of the past is narrowed to: one kind of thing, and one who did it."""

from __future__ import annotations

from dataclasses import dataclass

# No account is called so: the program itself, and whoever changed a file without it.
SYSTEM, OUTSIDE = "-system", "-outside"
WORDS = {SYSTEM: "system", OUTSIDE: "someone outside"}


@dataclass(frozen=True, slots=True)
class Filter:
    """`who` is a name, SYSTEM or OUTSIDE; what is empty narrows nothing."""

    kind: str = ""
    who: str = ""

    @property
    def is_on(self) -> bool:
        return bool(self.kind or self.who)


EVERYTHING = Filter()
