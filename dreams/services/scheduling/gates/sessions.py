"""Counting the sessions that are new for a dream. Pure; one pass that ends early, no stat."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Nobody needs to know whether a thousand or a hundred thousand are new: counting all of them would take a second.
ENOUGH = 1_000
TWICE = 2


@dataclass(frozen=True, slots=True)
class SessionFact:
    """One session as the session gate needs it; all of it comes from stored rows and one directory listing.

    `root_id`: the session it was forked from, at any distance; its own id (or "") when it was not forked.
    `given_back`: learned from once, but that dream was rolled back or its proposal superseded.
    """

    session_id: str
    root_id: str
    mtime_ns: int
    live: bool = False
    own: bool = False
    given_back: bool = False
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """`plain` and `corrected` count, forks once; `live` and `own` are touched sessions that were left out.

    `ended_early`: there may be more of each.
    """

    plain: int
    corrected: int
    live: int
    own: int
    weight: float
    ended_early: bool = False

    @property
    def score(self) -> float:
        return self.plain + self.corrected * self.weight

    def in_words(self, needed: int) -> str:
        total = self.plain + self.corrected
        if self.ended_early:
            return f"{total:,} or more sessions, where {needed:,} are needed,"
        noun = "session" if needed == 1 else "sessions"
        if self.score == total:
            return f"{total} of {needed} {noun}"
        return f"{self.score:g} of {needed} {noun}, {self.heavy},"

    @property
    def heavy(self) -> str:
        """How many count for more than one, in words: "one counts twice"; empty where none does."""
        if not self.corrected or self.weight == 1:
            return ""
        heavy = "one counts" if self.corrected == 1 else f"{self.corrected:,} count"
        return f"{heavy} {'twice' if self.weight == TWICE else f'{self.weight:g} times'}"

    def for_gate(self, weight: float, needed: int) -> Tally:
        """As `count_sessions` would have it of so many sessions, which asks for no more than anybody wants to know of."""
        enough = max(needed, ENOUGH)
        corrected = min(self.corrected, enough)
        plain = min(self.plain, enough - corrected)
        return Tally(
            plain,
            corrected,
            min(self.live, ENOUGH),
            min(self.own, ENOUGH),
            weight,
            plain + corrected >= enough,
        )

    def left_out(self) -> str:
        """What a person may miss in the count: "; left out: 1 live"."""
        parts = [
            f"{number} {what}" for number, what in ((self.live, "live"), (self.own, "of our own")) if number
        ]
        return f"; left out: {', '.join(parts)}" if parts else ""


def count_sessions(
    sessions: Iterable[SessionFact], last_ns: int | None, weight: float, needed: int = ENOUGH
) -> Tally:
    """Sessions touched strictly after `last_ns` (None: ever) or given back, neither live nor the dreams' own.

    A fork repeats its parent's history, so all forks of one root are one, corrected when one of them is. No more are
    asked for once there are as many as `needed`, and as anybody wants to know of.
    """
    roots: dict[str, bool] = {}
    live = own = 0
    enough = max(needed, ENOUGH)
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
        if len(roots) >= enough:
            break
    corrected = sum(roots.values())
    return Tally(len(roots) - corrected, corrected, live, own, weight, len(roots) >= enough)
