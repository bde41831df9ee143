"""The contract of all engines: what one is given, what it may do and what it returns.

An engine works on the workspace only. Each change it makes is an `Edit`: one step on one file with a reason and
evidence. Edits that share an operation key only make sense together and are decided together.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Literal, Protocol

from dreams.conf import Config
from dreams.engines.tokens import ModelUsage, PriceTable
from dreams.lib.files.workspace import Workspace

Phase = Literal["orient", "gather", "consolidate", "prune"]
OperationKind = Literal[
    "learn", "merge", "date", "index", "demote", "update", "prune", "edit", "copy", "undo"
]
EvidenceSource = Literal["transcript", "memory", "file", "history", "repository", "agent"]
FateKind = Literal["kept-in", "merged-into", "superseded-by", "stated"]
QuestionKind = Literal[
    "same", "changed", "conflict", "forget", "expired", "derived", "leans", "gone", "index", "learn"
]


@dataclass(frozen=True, slots=True)
class KindOfQuestion:
    """What a kind of question is answered with, `later` aside, which is one of every kind and needs no option; and what a
    change that an answer makes is called."""

    answers: tuple[str, ...]
    change: OperationKind


#: Every kind of question there is. What pages call it stands in `models/questions.py`.
QUESTIONS: Mapping[QuestionKind, KindOfQuestion] = {
    "same": KindOfQuestion(("merge", "keep"), "merge"),
    "changed": KindOfQuestion(("replace", "keep", "history"), "update"),
    "conflict": KindOfQuestion(("first", "second", "keep"), "update"),
    "forget": KindOfQuestion(("remove", "keep"), "prune"),
    "expired": KindOfQuestion(("remove", "past", "keep"), "prune"),
    "derived": KindOfQuestion(("remove", "keep"), "prune"),
    "leans": KindOfQuestion(("update", "keep"), "update"),
    "gone": KindOfQuestion(("remove", "update", "keep"), "prune"),
    "index": KindOfQuestion(("demote", "keep"), "demote"),
    "learn": KindOfQuestion(("learn", "keep"), "learn"),
}
#: Between two looks whether the work shall stop: soon for whoever pressed Cancel.
LOOK_SECONDS = 0.1


class Cancelled(Exception):
    """A person cancelled the dream, or its worker is told to stop."""


class EngineError(Exception):
    """The engine cannot go on; the message is one line for a person, with the remedy."""


class LimitReached(EngineError):
    """A limit of this dream was met; the message names its setting. The same again would most likely end the same."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A quote that speaks for an edit. `line_no` is 1-based; `offset` is the byte offset of that line."""

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
    """Where a removed line went. `text` is the line as it stood, without its line end."""

    text: str
    kind: FateKind
    target_path: str = ""
    target_text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """One step on one file: its whole text before and after (None: the file does not exist), and why."""

    path: str
    before: str | None
    after: str | None
    operation: str
    kind: OperationKind
    reason: str
    citations: tuple[Citation, ...] = ()
    fates: tuple[Fate, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement is: a line of a memory, or of a session (then `path` is the transcript and `session_pk` is set).

    `line_no` is 1-based, in the file as the dream found it; `text` is the whole statement.
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
    """One answer to a question, with what it would change.

    The edits are drafted on the directory as the dream found it, not on its result; none means that nothing changes.
    For a question of kind `index` each row is an edit whose `operation` is the path that the row leads to.
    """

    id: str
    label: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """Something an engine saw and cannot be sure of.

    `subject` names what it is about (the kind aside): words of the subject and rare values, no line numbers. A question
    of the same kind and subject is not asked twice. `weight` is 0 to 1: how much an answer would help.
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

    `no_answer`: the transcript is gone, and only what was typed is known; lines and bytes are those of the prompt history.
    """

    pk: int
    session_id: str
    path: Path
    title: str
    started_at: dt.datetime | None
    last_at: dt.datetime | None
    from_byte: int
    to_byte: int
    corrections: int
    prompts: "tuple[PromptBrief, ...]" = ()
    no_answer: bool = False


@dataclass(frozen=True, slots=True)
class PromptBrief:
    """What a person typed in the new part of a session."""

    text: str
    line_no: int
    offset: int
    at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class LineDate:
    """The day that a line of a memory counts from, and how that is known.

    `ours`: a dream or an undo put it there, and what it says counts from another day, which nobody knows any more.
    `believable` is False for the mtime of a file that was most likely copied or restored: good for a question, not for a
    change.
    """

    day: dt.date
    source: EvidenceSource
    note: str
    ours: bool = False
    believable: bool = True


@dataclass(frozen=True, slots=True)
class Problem:
    """What a check says of the work as it stands. `line_no` is 1-based, in the new text; `operations` are those it is about.

    `blocks`: a person would have to confirm it, or could not even do that.
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
    """A log that the agent keeps by day, as it is now. `day` comes from its name; the lines `new` (1-based) no dream has read."""

    path: str
    day: dt.date | None
    text: str
    new: frozenset[int]


@dataclass(frozen=True, slots=True)
class Job:
    """Everything an engine may know. `line_dates[path]` has one entry per line of that file, None where unknown.

    `examine` says what the checks would tell a person of the work as it stands in the workspace. An engine asks once,
    when it thinks that it is done, and mends what it can: that is its work, not the person's.

    `hand_edited` are the paths that the person edited in memoryweb in the last week: like pinned memories they are
    asked about, and not changed unasked.

    `instructions` is what every session is told anyway: the texts of CLAUDE.md and its kin, by name, in loading order.

    `logs` has the daily logs with new lines: what the agent wrote of its sessions, and so not the person's own words.

    `agent` names the agent whose own memory it is, with the `scope` in which it has it: user, project or local.

    `prices` is what models cost now, empty where nobody needs to know.

    `known` are statements that were proposed to the person elsewhere: what they say is not to be proposed again.
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
    instructions: Mapping[str, str] = field(default_factory=dict)
    logs: Sequence[LogBrief] = ()
    agent: str = ""
    scope: str = ""


@dataclass(slots=True)
class Usage:
    """What requests used. `cost_usd` is None when any of them has no price; `by_model` says which."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0
    cost_usd: Decimal | None = Decimal(0)
    requests: int = 0
    by_model: tuple[ModelUsage, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowance:
    """Dollars that a budget beyond this dream still allows; `of` names the budget and its setting."""

    dollars: Decimal
    of: str


@dataclass(frozen=True, slots=True)
class Work:
    """Where the time of a turn went, in milliseconds, and the lines that its edits added and removed."""

    api_ms: int = 0
    api_ms_without_retries: int = 0
    tool_ms: int = 0
    lines_added: int = 0
    lines_removed: int = 0


@dataclass(slots=True)
class Outcome:
    """What the engine did. The final texts stand in the workspace; `edits` say how they came to be, in order. `usage`
    is the sum of what the turns told."""

    edits: list[Edit] = field(default_factory=list)
    summary: str = ""
    questions: list[Question] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class EngineTurn:
    """One message of the engine. `usage`, `work` and `edits`: those since the last turn, each told once."""

    phase: Phase
    text: str
    tools: Sequence[Mapping[str, object]] = ()
    files: Sequence[str] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    work: Work = field(default_factory=Work)
    edits: Sequence[Edit] = ()


class Reporter(Protocol):
    """How an engine tells what it does. Every call may raise Cancelled."""

    def turn(self, turn: EngineTurn) -> None:
        """Keeps it, whatever happens next."""

    def checkpoint(self) -> None:
        """Call at least once a second of work: raises Cancelled when the dream is to stop."""


class Silent:
    """A reporter for work that nobody follows and nothing stops."""

    def turn(self, turn: EngineTurn) -> None:
        pass

    def checkpoint(self) -> None:
        pass


class Engine(Protocol):
    name: str

    def run(self, job: Job, report: Reporter) -> Outcome: ...
