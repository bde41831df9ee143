"""The facts about a project that decide whether it may dream.

Cheap facts are values (one database row); expensive ones are callables without arguments, called only when no
earlier gate is closed. A callable may raise OSError, which then closes its gate and is the reason."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from dreams.lib.locks import LockFact

# Whether a thousand or a hundred thousand are new makes no difference: counting all would take a second.
ENOUGH = 1_000
TWICE = 2
LIVE_GRACE = timedelta(minutes=10)  # chosen: how long a session without a known process counts as live
# The lock file's time is from the file system's clock, which may be slightly ahead of ours.
CLOCK_SKEW_NS = 2_000_000_000
#: The longest wait before a failed dream is tried again.
LONGEST_RETRY = timedelta(days=1)


class Mode(StrEnum):
    """How the agent works in this project."""

    NORMAL = "normal"
    DAILY_LOG = "daily-log"
    REMOTE = "remote"


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting that is on or off, and where it was set (shown to people)."""

    on: bool
    source: str


@dataclass(frozen=True, slots=True)
class InputsFact:
    """Digests of everything a dream would read: now, and at the last dream (None: there was none)."""

    current: str
    last: str | None


@dataclass(frozen=True, slots=True)
class SpendingFact:
    """US dollars: the expected cost of the next dream (or of the work that `what` names), and what was spent in the
    current day and month.

    Days and months start at midnight in `zone`. The rules engine is `free`.
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
    """Whether the chosen engine can be used. `trouble` is a sentence with the remedy, "" if it can."""

    name: str = "rules"
    trouble: str = ""


#: What a dream's proposal waits for: decisions, the submit after all decisions, the write, or a second person.
Waits = Literal["review", "submit", "writing", "second"]


@dataclass(frozen=True, slots=True)
class Facts:
    """One project's facts. With the defaults, only new sessions are missing.

    `clock`: the lock file's mtime in ns, None for never; one stat. `sessions`: the sessions, or their counts.
    `agent_dreams`: the agent's `autoDreamEnabled`, only shown. `log_lines`: the daily-log lines that no dream has read.
    `retry_at`: the earliest next try after `failures` failed dreams in a row.
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

    It is live if its PID in the agent's registry is alive (True); otherwise (dead, or None: not registered) until ten
    minutes after its last byte, as a killed agent leaves its registry entry and a resumed one has none yet. A last byte
    far in the future comes from a wrong clock.
    """
    return registry_pid_alive is True or abs(now - last_byte_at) < LIVE_GRACE


def past(clock_ns: int | None, now_ns: int) -> int | None:
    """When a project was last consolidated (ns); None for never, or for a time in the future from a wrong clock."""
    return None if clock_ns is None or clock_ns > now_ns + CLOCK_SKEW_NS else clock_ns


def detect_mode(remote_environment: str | None, *, logs_written: bool, topic_files: int) -> Mode:
    """The mode, from `CLAUDE_CODE_REMOTE` and the contents of the memory directory.

    Daily-log mode writes `logs/` and no topic files; a directory with both is tidied like any other. `topic_files` counts
    those that none of our dreams wrote.
    """
    if (remote_environment or "").strip().lower() not in ("", "0", "false", "no", "off"):
        return Mode.REMOTE
    return Mode.DAILY_LOG if logs_written and topic_files == 0 else Mode.NORMAL


@dataclass(frozen=True, slots=True)
class SessionFact:
    """One session as the sessions gate needs it, from stored rows and one directory listing.

    `root_id`: the first session in its chain of forks; its own id (or "") when it was not forked.
    `given_back`: a dream used it, but was rolled back or its proposal superseded.
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
    """`plain` and `corrected` sessions count, forks once; `live` and `own` are touched sessions that do not count.

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
        """The sessions that count more than once, in words: "one with a correction counts twice"; empty if there are none."""
        if not self.corrected or self.weight == 1:
            return ""
        one = self.corrected == 1
        heavy = "one with a correction counts" if one else f"{self.corrected:,} with corrections count"
        return f"{heavy} {'twice' if self.weight == TWICE else f'{self.weight:g} times'}"

    def for_gate(self, weight: float, needed: int) -> "Tally":
        """The tally that `count_sessions` would return for these sessions, with the same upper limits."""
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
        """The sessions that were not counted, in words: "; left out: 1 live"."""
        parts = [
            f"{number} {what}"
            for number, what in ((self.live, "live"), (self.own, "created by memoryweb"))
            if number
        ]
        return f"; left out: {', '.join(parts)}" if parts else ""


def count_sessions(
    sessions: Iterable[SessionFact], last_ns: int | None, weight: float, needed: int = ENOUGH
) -> Tally:
    """Counts sessions touched strictly after `last_ns` (None: all) or given back, except live ones and the dreams' own.

    A fork repeats its parent's history, so all forks of one root count as one, corrected when any of them is. Counting
    ends at `needed` or `ENOUGH`, whichever is more.
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
