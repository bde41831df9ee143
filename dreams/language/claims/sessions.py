"""The transcripts below a folder as evidence, each read once and a few kept. Pure."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path

from dreams import safefs
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.reading import read
from dreams.language.claims.verdict import Verdict, check

KEPT = 64  # sessions in memory at a time: rows of a batch come in any order
MOST_SESSIONS = 2_000
MOST_UNITS = 600_000  # of all sessions kept together, about 300 MB
_ORDER = {"supported": 0, "contradicted": 1, "unsupported": 2}


class Sessions:
    """Looks claims up in one named session, or in all below the folder. Raises OSError for the folder itself."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._root = safefs.Root.open(folder)
        self._read: OrderedDict[str, Evidence] = OrderedDict()

    def check(self, claim: str, session: str, before_line: int | None = None) -> Verdict:
        """Raises ValueError, naming the session, when it cannot be read."""
        return check(self._evidence(session), claim, before_line)

    def check_all(self, claim: str) -> tuple[str, Verdict]:
        """(session, verdict): the first session that supports the claim, else one that contradicts it, else the last."""
        best: tuple[str, Verdict] = ("", Verdict("unsupported", (), "there is no session"))
        for session in self.names():
            try:
                found = self.check(claim, session)
            except ValueError:
                continue
            if not best[0] or _ORDER[found.verdict] < _ORDER[best[1].verdict]:
                best = session, found
            if found.verdict == "supported":
                break
        return best

    def names(self) -> list[str]:
        """The transcripts below the folder, by path."""
        entries = [entry for entry in self._root.walk(limit=200_000) if isinstance(entry, safefs.Found)]
        return [entry.rel for entry in entries if entry.rel.endswith(".jsonl")][:MOST_SESSIONS]

    def _evidence(self, session: str) -> Evidence:
        known = self._read.get(session)
        if known is None:
            known = self._read[session] = self._opened(session)
            self._forget_the_oldest()
        self._read.move_to_end(session)
        return known

    def _opened(self, session: str) -> Evidence:
        try:
            with self._root.open_file(Path(session).as_posix()) as file:
                return read(file.fileno())
        except (OSError, safefs.SafeFsError) as error:
            why = getattr(error, "strerror", None) or error
            raise ValueError(f"the transcript {session[:200]!r} cannot be read: {why}") from error

    def _forget_the_oldest(self) -> None:
        while len(self._read) > 1 and (
            len(self._read) > KEPT or sum(len(known.units) for known in self._read.values()) > MOST_UNITS
        ):
            self._read.popitem(last=False)
