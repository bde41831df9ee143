"""Counting the sessions that are new for a dream. Pure; one pass, no stat."""

from collections.abc import Iterable
from dataclasses import dataclass

from dreams.gates.facts import SessionFact


@dataclass(frozen=True, slots=True)
class Tally:
    """`plain` and `corrected` count, forks once; `live` and `own` are touched sessions that were left out."""

    plain: int
    corrected: int
    live: int
    own: int
    weight: float

    @property
    def score(self) -> float:
        return self.plain + self.corrected * self.weight

    def in_words(self, needed: int) -> str:
        total = self.plain + self.corrected
        noun = "session" if needed == 1 else "sessions"
        if self.score == total:
            return f"{total} of {needed} {noun}"
        heavy = f"the {self.corrected} with corrections count {self.weight:g} each"
        return f"{self.score:g} of {needed} {noun} ({total} in all; {heavy})"

    def left_out(self) -> str:
        """What a person may miss in the count: "; left out: 1 live"."""
        parts = [
            f"{number} {what}" for number, what in ((self.live, "live"), (self.own, "of our own")) if number
        ]
        return f"; left out: {', '.join(parts)}" if parts else ""


def count_sessions(sessions: Iterable[SessionFact], last_ns: int | None, weight: float) -> Tally:
    """Sessions touched strictly after `last_ns` (None: ever) or given back, neither live nor the dreams' own.

    A fork repeats its parent's history, so all forks of one root are one, corrected when one of them is.
    """
    roots: dict[str, bool] = {}
    live = own = 0
    for session in sessions:
        if not (session.given_back or last_ns is None or session.mtime_ns > last_ns):
            continue
        if session.own:
            own += 1
        elif session.live:
            live += 1
        else:
            root = session.root_id or session.session_id
            roots[root] = roots.get(root, False) or session.corrected
    corrected = sum(roots.values())
    return Tally(len(roots) - corrected, corrected, live, own, weight)
