"""The facts about a project that decide whether it may dream.

Cheap facts are values (one database row); expensive ones are callables without arguments, asked only when no
earlier gate is closed. A callable may raise OSError: its gate is then closed, with that as the reason."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from dreams.lib.locks import LockFact

# Nobody needs to know whether a thousand or a hundred thousand are new: counting all of them would take a second.
ENOUGH = 1_000
TWICE = 2
LIVE_GRACE = timedelta(minutes=10)  # chosen: a session of which no process is known counts as live so long
# The lock file is dated by the file system's clock, which may run a moment ahead of ours.
CLOCK_SKEW_NS = 2_000_000_000
#: No failed dream waits longer for its next try.
LONGEST_RETRY = timedelta(days=1)


class Mode(StrEnum):
    """How the agent works in this project."""

    NORMAL = "normal"
    DAILY_LOG = "daily-log"
    REMOTE = "remote"


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting that is on or off, and where that was decided (shown to people)."""

    on: bool
    source: str


@dataclass(frozen=True, slots=True)
class InputsFact:
    """Digests of all that a dream would read: now, and when the last dream read it (None: there was none)."""

    current: str
    last: str | None


@dataclass(frozen=True, slots=True)
class SpendingFact:
    """US dollars: what the next dream, or what else `what` names, is expected to cost, and what was spent in the
    running day and month.

    Days and months begin at midnight in `zone`. The rules engine is `free`.
    """

    free: bool = True
    what: str = "a dream"
    estimate: Decimal = Decimal(0)
    today: Decimal = Decimal(0)
    month: Decimal = Decimal(0)
    project_month: Decimal = Decimal(0)
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class EngineFact:
    """Whether the chosen engine can be asked at all. `trouble` is a sentence with the remedy, "" where it can."""

    name: str = "rules"
    trouble: str = ""


#: What a dream's proposal waits for: decisions; to be written, decided as it is; or a second person.
Waits = Literal["review", "writing", "second"]


@dataclass(frozen=True, slots=True)
class Facts:
    """One project's facts. The defaults describe a project on which nothing but the evidence is missing.

    `clock`: the lock file's mtime in ns, None for never; one stat. `sessions`: each of them, or how many there are. `agent_dreams`: the agent's own
    `autoDreamEnabled`, shown only. `log_lines`: how many lines of daily logs no dream has read. `retry_at`: earliest next try after `failures` failed dreams in a row.
    """

    paused: bool = False
    project_on: bool = True
    is_watched: bool = True
    agent_dreams: bool | None = None
    open_proposal: str | None = None
    proposal_waits: Waits = "review"
    memory: Switch = Switch(True, "the default")
    mode: Mode = Mode.NORMAL
    last_scan_at: datetime | None = None
    retry_at: datetime | None = None
    failures: int = 0
    clock: Callable[[], int | None] = lambda: None
    sessions: "Callable[[], Iterable[SessionFact] | Tally]" = lambda: ()
    log_lines: Callable[[], int] = lambda: 0
    inputs: Callable[[], InputsFact] = lambda: InputsFact("", None)
    engine: Callable[[], EngineFact] = EngineFact
    spending: Callable[[], SpendingFact] = SpendingFact
    lock: Callable[[], LockFact] = LockFact


def is_live(registry_pid_alive: bool | None, last_byte_at: datetime, now: datetime) -> bool:
    """True while a session may still be written to.

    Its PID in the agent's registry is alive (True), else (dead, or None for not registered) until ten minutes
    after its last byte: a killed agent leaves a registry entry, and a resumed one has none yet. A byte from long
    after now is of a clock that ran ahead.
    """
    return registry_pid_alive is True or abs(now - last_byte_at) < LIVE_GRACE


def past(clock_ns: int | None, now_ns: int) -> int | None:
    """When a project was last consolidated (ns); None for never, and where a clock ran ahead and says later than now."""
    return None if clock_ns is None or clock_ns > now_ns + CLOCK_SKEW_NS else clock_ns


def detect_mode(remote_environment: str | None, *, logs_written: bool, topic_files: int) -> Mode:
    """Mode from `CLAUDE_CODE_REMOTE` and from what the memory directory holds.

    Daily-log mode leaves `logs/` and no topic file; a directory that has both is tidied like any other. `topic_files` are
    those that no dream of ours distilled.
    """
    if (remote_environment or "").strip().lower() not in ("", "0", "false", "no", "off"):
        return Mode.REMOTE
    return Mode.DAILY_LOG if logs_written and topic_files == 0 else Mode.NORMAL


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
        """How many count for more than one, in words: "one with a correction counts twice"; empty where none does."""
        if not self.corrected or self.weight == 1:
            return ""
        one = self.corrected == 1
        heavy = "one with a correction counts" if one else f"{self.corrected:,} with corrections count"
        return f"{heavy} {'twice' if self.weight == TWICE else f'{self.weight:g} times'}"

    def for_gate(self, weight: float, needed: int) -> "Tally":
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
            f"{number} {what}"
            for number, what in ((self.live, "live"), (self.own, "created by memoryweb"))
            if number
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
