"""The interface of all engines: what an engine gets, may do and returns.

An engine works on the workspace only. Each change is an `Edit`: one step on one file with a reason and
evidence. Edits that share an operation key only make sense together and are decided together.
"""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Literal, Protocol, Self

from dreams.conf import Config
from dreams.engines.tokens import ModelUsage, PriceTable
from dreams.lib.files.text import encode
from dreams.lib.files.workspace import Workspace

Phase = Literal["orient", "gather", "consolidate", "prune"]
OperationKind = Literal[
    "learn", "merge", "date", "index", "demote", "update", "prune", "edit", "copy", "restore", "undo"
]
EvidenceSource = Literal["transcript", "memory", "file", "history", "repository", "agent"]
FateKind = Literal["kept-in", "merged-into", "superseded-by", "stated"]
QuestionKind = Literal[
    "same", "changed", "conflict", "forget", "expired", "derived", "leans", "gone", "index", "learn"
]


#: All kinds of questions and their answers, besides `later`, which every kind has. Labels are in `models/questions.py`.
QUESTIONS: Mapping[QuestionKind, tuple[str, ...]] = {
    "same": ("merge", "keep"),
    "changed": ("replace", "keep", "history", "both"),
    "conflict": ("first", "second", "keep"),
    "forget": ("remove", "keep"),
    "expired": ("remove", "past", "keep"),
    "derived": ("remove", "keep"),
    "leans": ("update", "keep"),
    "gone": ("remove", "update", "keep"),
    "index": ("demote", "keep"),
    "learn": ("learn", "keep"),
}
#: Between two checks whether to stop: soon for a person who pressed Cancel.
LOOK_SECONDS = 0.1


class Cancelled(Exception):
    """A person cancelled the dream, or its worker is stopping."""


class EngineError(Exception):
    """The engine cannot go on; the message is one line for a person, with the remedy."""


class LimitReached(EngineError):
    """This dream reached a limit; the message names the setting. A retry would most likely end the same way."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote that supports an edit. `line_no` is 1-based; `offset` is the byte offset of that line."""

    source: EvidenceSource
    quote: str
    place: str = ""
    session_pk: int | None = None
    line_no: int | None = None
    offset: int | None = None
    role: str = ""
    at: dt.datetime | None = None
    context: str = ""
    found: bool = True
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a removed line. `text` is the original line without its line end."""

    text: str
    kind: FateKind
    target_path: str = ""
    target_text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """One step on one file: its full text before and after (None: no such file), and why."""

    path: str
    before: str | None
    after: str | None
    operation: str
    kind: OperationKind
    reason: str
    citations: tuple[Citation, ...] = ()
    fates: tuple[Fate, ...] = ()

    @property
    def as_bytes(self) -> list[bytes]:
        """The texts before and after, those that there are."""
        return [encode(side) for side in (self.before, self.after) if side is not None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement is: a line of a memory, or of a session (then `path` is the transcript and `session_pk` is set).

    `line_no` is 1-based, in the file before the dream; `text` is the full statement.
    """

    path: str
    line_no: int | None
    text: str
    session_pk: int | None = None
    offset: int | None = None
    role: str = ""
    at: dt.datetime | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to a question, with the edits it would make.

    The edits are based on the directory before the dream, not on its result; none means that nothing changes.
    For a question of kind `index` each row is an edit whose `operation` is the path that the row links to.
    """

    id: str
    label: str
    edits: tuple[Edit, ...] = ()


KEEP = Option("keep", "Leave as it is")  # every question has this answer


@dataclass(frozen=True, slots=True)
class Repeated:
    """A prompt that says what memory or an instruction file says already: `statement`, in their words."""

    citation: Citation
    statement: str


@dataclass(frozen=True, slots=True)
class Question:
    """Something an engine noticed and cannot decide.

    `subject` identifies what it is about, besides the kind: words of the subject and rare values, no line numbers. A
    question of the same kind and subject is not asked twice. `weight` is 0 to 1: how much an answer would help.
    """

    kind: QuestionKind
    subject: str
    why: str
    places: tuple[Place, ...]
    options: tuple[Option, ...]
    citations: tuple[Citation, ...] = ()
    weight: float = 0.5


@dataclass(frozen=True, slots=True)
class SessionBrief:
    """A session to learn from: bytes `from_byte` to `to_byte` of its transcript are new.

    `no_answer`: the transcript was deleted and only the prompts are known; lines and bytes are those that they had there, or in the
    prompt history.
    """

    pk: int
    session_id: str
    path: Path
    title: str
    last_at: dt.datetime | None
    from_byte: int
    to_byte: int
    corrections: int
    prompts: "tuple[PromptBrief, ...]" = ()
    no_answer: bool = False


@dataclass(frozen=True, slots=True)
class PromptBrief:
    """A prompt that a person typed in the new part of a session. `noted`: the agent wrote memory before the next prompt."""

    text: str
    line_no: int
    offset: int
    at: dt.datetime | None
    noted: bool = False


@dataclass(frozen=True, slots=True)
class LineDate:
    """The day that a line of a memory dates from, and how that is known.

    `ours`: a dream or an undo wrote it; the day its statement dates from is unknown.
    `believable` is False for the mtime of a file that was probably copied or restored: enough for a question, not for
    a change.
    """

    day: dt.date
    source: EvidenceSource
    note: str
    ours: bool = False
    believable: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """A check's finding about the current work. `line_no` is 1-based, in the new text; `operations` are those affected.

    `blocks`: a person has to confirm it, or cannot even do that.
    """

    code: str
    message: str
    remedy: str
    path: str = ""
    line_no: int | None = None
    blocks: bool = False
    operations: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LogBrief:
    """A daily log of the agent, as it is now. `day` is from its name; no dream has read the lines `new` (1-based) yet."""

    path: str
    day: dt.date | None
    text: str
    new: frozenset[int]


@dataclass(frozen=True, slots=True)
class Job:
    """All input of an engine. `line_dates[path]` has one entry per line of that file, None where unknown.

    `examine` returns what the checks would show a person about the current workspace. An engine calls it once, when
    it considers itself done, and fixes what it can: that is its work, not the person's.

    `hand_edited` are the paths that the person edited in memoryweb in the last week: like pinned memories, they are
    not changed without asking.

    `instructions` is what every session loads anyway: the texts of CLAUDE.md and similar, by name, in loading order.

    `logs` has the daily logs with new lines: the agent wrote them about its sessions; they are not the person's words.

    `agent` names the agent that owns this memory (empty for the project), `scope` is user, project or local.

    `prices` has the current prices of models, empty if not needed.

    `known` are statements that were proposed to the person elsewhere and are not to be proposed again.

    `left_unlisted` are the memories that the person was asked about and left without an index row.

    `described_then`: the line of an index row → the description that its file had when the row was written, if it has another one now.
    """

    project_name: str
    repo_dir: Path | None
    workspace: Workspace
    sessions: Sequence[SessionBrief]
    line_dates: Mapping[str, Sequence[LineDate | None]]
    config: Config
    now: dt.datetime
    time_zone: dt.tzinfo
    examine: Callable[[Sequence[Edit]], Sequence[Problem]] = lambda edits: ()
    hand_edited: frozenset[str] = frozenset()
    prices: PriceTable = field(default_factory=dict)
    known: tuple[str, ...] = ()
    left_unlisted: frozenset[str] = frozenset()
    instructions: Mapping[str, str] = field(default_factory=dict)
    logs: Sequence[LogBrief] = ()
    agent: str = ""
    scope: str = ""
    described_then: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Usage:
    """Tokens and cost of requests. `cost_usd` is None when any of them has no price; `by_model` shows which."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    cost_usd: Decimal | None = Decimal(0)
    requests: int = 0
    by_model: tuple[ModelUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowance:
    """Dollars left in a budget wider than this dream; `of` names the budget and its setting."""

    dollars: Decimal
    of: str


@dataclass(frozen=True, slots=True)
class Work:
    """How a turn spent its time, in milliseconds, and the lines that its edits added and removed."""

    api_ms: int = 0
    api_ms_without_retries: int = 0
    tool_ms: int = 0
    lines_added: int = 0
    lines_removed: int = 0

    @classmethod
    def on(cls, edits: Sequence[Edit]) -> Self:
        """The lines that the edits added and removed."""
        added = removed = 0
        for edit in edits:
            before, after = (Counter((text or "").splitlines()) for text in (edit.before, edit.after))
            added, removed = added + (after - before).total(), removed + (before - after).total()
        return cls(lines_added=added, lines_removed=removed)


@dataclass(slots=True)
class Outcome:
    """What the engine did. The final texts are in the workspace; `edits` are the steps to them, in order. `usage`
    is the sum over the turns."""

    edits: list[Edit] = field(default_factory=list)
    summary: str = ""
    questions: list[Question] = field(default_factory=list)
    repeated: list[Repeated] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class EngineTurn:
    """One message of the engine. `usage`, `work` and `edits` are those since the last turn, each reported once."""

    phase: Phase
    text: str
    tools: Sequence[Mapping[str, object]] = ()
    files: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    work: Work = field(default_factory=Work)
    edits: Sequence[Edit] = ()


class Reporter(Protocol):
    """How an engine reports what it does. Every call may raise Cancelled."""

    def turn(self, turn: EngineTurn) -> None:
        """Stores the turn, whatever happens next."""

    def checkpoint(self) -> None:
        """Call at least once a second of work: raises Cancelled when the dream is to stop."""


class Silent:
    """A reporter for work that nobody watches and nothing stops."""

    def turn(self, turn: EngineTurn) -> None:
        pass

    def checkpoint(self) -> None:
        pass


class Engine(Protocol):
    name: str

    def run(self, job: Job, report: Reporter) -> Outcome: ...
