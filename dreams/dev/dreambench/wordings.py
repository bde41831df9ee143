"""How facts are worded, in two vocabularies: our own wordings, and wordings found in public files. Pure.

`wordings.toml` has them. The seed splits the wordings into common and held-out ones.
"""

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
#: Wordings by what they are for.
SAID: Mapping[str, Sequence[Any]] = {name: told for name, told in _FILE.items() if isinstance(told, list)}
VOCABULARY: Mapping[str, list[str]] = {name: words.split() for name, words in _FILE["vocabulary"].items()}
VALUES: Mapping[str, list[str]] = _FILE["values"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of a service. `said` are its wordings in a note, `told` those of a person who changes it."""

    sort: str
    said: Sequence[str]
    told: Sequence[str]
    leaning: str  # a fact that depends on the value


def _attributes(whose: str) -> Sequence[Attribute]:
    each = _FILE["attributes"].items()
    return [Attribute(sort, **one[whose], leaning=one["leaning"]) for sort, one in each]


ATTRIBUTES, FOUND = _attributes("own"), _attributes("found")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A wording, and whether it is held out."""

    text: str
    held_out: bool


class Deal:
    """Draws wordings. The seed decides which third of each list is held out; half of all draws come from it."""

    def __init__(self, seed: int, rng: random.Random) -> None:
        self._seed = seed
        self._rng = rng

    def parts(self, options: Sequence[str]) -> tuple[list[str], list[str]]:
        """(common, held out), always the same for a seed."""
        order = list(dict.fromkeys(options))
        random.Random(f"{self._seed}/{order[0]}").shuffle(order)  # noqa: S311 - a benchmark, not a secret
        cut = max(1, len(order) // 3) if len(order) > 1 else 0
        return order[cut:], order[:cut]

    def draw(self, options: Sequence[str], besides: Sequence[str] = ()) -> Chosen:
        common, held = self.parts(options)
        left = [[o for o in part if o not in besides] for part in (common, held)]
        part = 1 if left[1] and (not left[0] or self._rng.random() < 0.5) else 0
        return Chosen(self._rng.choice(left[part] or list(options)), part == 1)
