"""What happened since the reporter was last told: each token, millisecond, line and edit once. PURE.

A turn that is told is kept, whatever happens to the process next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dreams.engines.anthropic.asking import Asker, Timing
from dreams.engines.anthropic.budget import joined
from dreams.engines.anthropic.tools import Toolbox
from dreams.engines.types import Cancelled, Edit, EngineError, Reporter, Work

BROKE_OFF = "It broke off here."


@dataclass(slots=True)
class Teller:
    """Stands between the conversation and the reporter."""

    report: Reporter
    asker: Asker
    toolbox: Toolbox
    tool_ms: int = 0
    _usages: int = 0
    _edits: int = 0
    _timing: Timing = field(default_factory=Timing)

    def turn(
        self,
        text: str,
        *,
        tools: Sequence[Mapping[str, object]] = (),
        files: Sequence[str] = (),
        counts: Mapping[str, int] | None = None,
    ) -> None:
        """One turn, with everything that was not told yet. Raises Cancelled."""
        edits = tuple(self.toolbox.writer.edits[self._edits :])
        try:
            self.report.turn(
                self.toolbox.phase,
                text,
                tools=tools,
                files=files,
                counts=counts,
                usage=joined(self.asker.spent[self._usages :]),
                work=self._work(edits),
                edits=edits,
            )
        except (Cancelled, EngineError):
            # The turn is kept; what was raised is about going on. Any other fault kept nothing: it is told again.
            self._is_told()
            raise
        self._is_told()

    def _is_told(self) -> None:
        self._edits, self._usages = len(self.toolbox.writer.edits), len(self.asker.spent)
        self._timing, self.tool_ms = replace(self.asker.timing), 0

    def rest(self) -> None:
        """At an early end: what was spent or changed and not told yet, so that nothing of it is lost. Why it ended is
        the dream's to say, which says it once."""
        spent = self._usages < len(self.asker.spent) or self._timing != self.asker.timing
        if spent or self._edits < len(self.toolbox.writer.edits):
            self.turn(BROKE_OFF)

    def _work(self, edits: Sequence[Edit]) -> Work:
        now, before = self.asker.timing, self._timing
        added, removed = lines_changed(edits)
        return Work(
            api_ms=now.api_ms - before.api_ms,
            api_ms_without_retries=now.api_ms_without_retries - before.api_ms_without_retries,
            tool_ms=self.tool_ms,
            lines_added=added,
            lines_removed=removed,
        )


def lines_changed(edits: Sequence[Edit]) -> tuple[int, int]:
    """Lines that the edits added and removed."""
    added = removed = 0
    for edit in edits:
        before, after = Counter((edit.before or "").splitlines()), Counter((edit.after or "").splitlines())
        added, removed = added + (after - before).total(), removed + (before - after).total()
    return added, removed
