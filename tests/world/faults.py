"""Every fault × moment, and the required outcome of the dream: the rows of the table in docs/engines.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tests.world.model import EVENTS
from tests.world.model_server import Fault, closed, ended, error_event, garbage, reset, stalled, status

HEADS = ("headers", "half headers")
MOMENTS: dict[str, str | int] = {
    "before the headers": "headers",
    "in the headers": "half headers",
    **{f"in `{event}`": event for event in EVENTS},
    "between two events": "after content_block_start",
    "at any byte": 700,
}
#: The request of the dream that fails: its first, the one after the reads, the one after the checks.
FIRST, AFTER_READS, MENDING = "in the first request", "between two turns with tools", "while mending"
TURN = {FIRST: 0, AFTER_READS: 1, MENDING: 3}


@dataclass(frozen=True, slots=True)
class Row:
    """`turn`: the request that fails. `lasts`: all its attempts fail. `requests`: all attempts for that turn.

    `paid`: the failed requests are counted, as far as the server reported their use.
    """

    what: str
    moment: str
    fault: Fault
    turn: int = 1
    lasts: bool = False
    end: str = "completed"
    requests: int = 2
    paid: bool = False
    says: str = ""

    @property
    def name(self) -> str:
        return f"{self.what}{' for good' if self.lasts else ''} {self.moment}".replace("`", "")


CUTS: dict[str, Callable[[str | int], Fault]] = {
    "the connection closes": closed,
    "the connection is reset": reset,
    "the stream ends early": ended,
    "silence": stalled,
    "garbage": garbage,
    "an error event": error_event,
}
#: Both need a started stream.
NEED_A_HEAD = {"the stream ends early", "an error event"}
#: Each waits for a timeout: a few tests show as much as all.
SILENT_MOMENTS = {"before the headers", "in the headers", "in `content_block_delta`", "in `message_stop`"}
AT_ONCE = [
    (status(401, "invalid x-api-key"), "ANTHROPIC_API_KEY"),
    (status(402, "no credit"), "Top up"),
    (status(403, "not allowed"), "ANTHROPIC_API_KEY"),
    (status(404, "Not found"), "ANTHROPIC_BASE_URL"),
    (status(404, "model: claude-none"), "does not know the model"),
    (status(400, "tools: unsupported"), "refuses the request"),
]


def broken_streams() -> Iterator[Row]:
    for what, fault in CUTS.items():
        for moment, at in MOMENTS.items():
            if (what in NEED_A_HEAD and at in HEADS) or (what == "silence" and moment not in SILENT_MOMENTS):
                continue
            # The counts are in the first event: if it was complete, the request is billed.
            yield Row(what, moment, fault(at), paid=at not in (*HEADS, "message_start"))
        yield Row(what, MENDING, fault("content_block_delta"), TURN[MENDING], paid=True)


def error_answers() -> Iterator[Row]:
    for code in (429, 500, 529):
        for moment, turn in TURN.items():
            yield Row(f"HTTP {code}", moment, status(code), turn)
    for code in (408, 409, 502, 503, 504):
        yield Row(f"HTTP {code}", AFTER_READS, status(code))
    yield Row("HTTP 429 with `retry-after: 3600`", AFTER_READS, status(429, retry_after="3600"))


def for_good() -> Iterator[Row]:
    often = "gave no whole answer in several tries"
    last = Row("", "in every try", status(500), lasts=True, end="failed", requests=10, says=often)
    yield replace(last, what="HTTP 500")
    yield replace(last, what="HTTP 429", fault=status(429))
    yield replace(last, what="HTTP 529", fault=status(529), requests=13)
    yield replace(last, what="the connection closes", fault=closed("headers"))
    yield replace(last, what="the stream ends early", fault=ended("message_delta"), paid=True)
    yield replace(last, what="garbage", fault=garbage("content_block_stop"), paid=True)
    too_long = replace(last, what="HTTP 413", fault=status(413), requests=2, says="larger context")
    yield replace(too_long, moment=AFTER_READS, lasts=False, end="completed", says="")
    yield too_long


def at_once() -> Iterator[Row]:
    for fault, says in AT_ONCE:
        for moment, turn in TURN.items() if fault.code == 401 else [(AFTER_READS, 1)]:
            what = f"HTTP {fault.code}, “{fault.message}”"
            yield Row(what, moment, fault, turn, lasts=True, end="failed", requests=1, says=says)


ROWS = [*broken_streams(), *error_answers(), *for_good(), *at_once()]


# --- As Markdown --------------------------------------------------------------------------------------------------


def table() -> str:
    """One line for the faults with the same moments and the same outcome."""
    lines = [
        "| Fault | When | Requests | Ends | Clock | Proposal | Paid for |",
        "|---|---|---|---|---|---|---|",
    ]
    faults: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for what, outcome, moments in _by_fault():
        faults.setdefault((outcome, moments), []).append(what)
    for (outcome, moments), found in faults.items():
        lines.append(f"| {'; '.join(found)} | {', '.join(moments)} | {outcome} |")
    return "\n".join(lines)


def _by_fault() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(fault, outcome, moments), in the order of the rows."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in ROWS:
        what = row.what + (", each time" if row.lasts and row.requests > 1 else "")
        found.setdefault((what, _outcome(row)), []).append(row.moment)
    for (what, outcome), moments in found.items():
        yield what, outcome, tuple(dict.fromkeys(moments))


def _outcome(row: Row) -> str:
    moves, made = ("moves", "yes") if row.end == "completed" else ("stays", "no")
    paid = "every request" if row.paid else "whole answers"
    return f"{row.requests} | {row.end} | {moves} | {made} | {paid}"
