"""What a page shows of secrets: they are masked until somebody asks, and known all the while."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dreams.lib.secrets.masking import Mask


@dataclass(frozen=True, slots=True)
class Sight:
    """`known` finds every secret of the texts on a page; `is_bare`: somebody asked to see them."""

    known: Mask
    is_bare: bool

    @classmethod
    def of(cls, texts: Iterable[str], *, is_bare: bool) -> Sight:
        return Sight(Mask.of(texts), is_bare)

    @property
    def mask(self) -> Mask:
        """Hides those that nobody asked to see."""
        return Mask() if self.is_bare else self.known

    @property
    def secrets(self) -> int:
        """How many different ones there are."""
        return len(self.known.shown)
