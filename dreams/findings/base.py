"""The input and output types of checks. PURE: no Django, no database, no disk.

A check is a function `check(subject: Subject) -> Iterable[NewFinding]`. The ledger is a check that also
returns one `RemovedLine` per removed line. Keys are derived from content, so that a confirmation stays valid in later runs.
"""

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dreams.conf import Config
from dreams.engines.types import Citation, Fate

Severity = Literal["refuse", "block", "warn", "info"]
Answer = Literal["supported", "unsupported", "contradicted"]
FateName = Literal["kept-in", "merged-into", "superseded-by", "stated", "unexplained"]
SEVERITIES: tuple[Severity, ...] = ("refuse", "block", "warn", "info")


@dataclass(frozen=True, slots=True)
class ChangedHunk:
    """A hunk as it would be written: if a person edited it, `added` is their text.

    Hunks with the same `operation` are decided together; an empty one is decided alone. Starts are 0-based lines in the text before and after; lines carry no line ends.
    """

    path: str
    hunk_id: str
    base_start: int
    removed: tuple[str, ...]
    new_start: int
    added: tuple[str, ...]
    citations: tuple[Citation, ...] = ()
    fates: tuple[Fate, ...] = ()
    by_hand: bool = False
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A line (1-based) of the new text that repeats `place` ("Makefile, line 3"), which says `quote`."""

    path: str
    line_no: int
    place: str
    quote: str


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """What sessions say about a statement: the answer, a short reason, and the place it comes from."""

    answer: Answer
    why: str = ""
    citation: Citation | None = None


@dataclass(frozen=True, slots=True)
class Subject:
    """Two states of a memory directory and the hunks between them."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    hunks: Sequence[ChangedHunk]
    config: Config = field(default_factory=Config)
    #: Instruction files that every session loads (CLAUDE.md and the like): text by name.
    instructions: Mapping[str, str] = field(default_factory=dict)
    scope: str = ""  # of an agent's own memory: user, project or local
    repeated: Sequence[Repeated] = ()  # lines that repeat the project's code
    asked: Sequence[str] = ()  # prompts of past sessions, newest first
    #: Normalised line → when a person rejected it.
    rejected: Mapping[str, dt.date] = field(default_factory=dict)
    hard_linked: frozenset[str] = frozenset()  # paths with more than one hard link
    against: Callable[[str], Citation | None] | None = None  # what sessions say against statements
    #: What sessions say about statements; None: not checked.
    heard: Callable[[str], SessionAnswer | None] | None = None
    #: Path → why it is not a regular file, or its type changed.
    irregular: Mapping[str, str] = field(default_factory=dict)
    #: What several checks need of all files, worked out once.
    memo: dict[object, Any] = field(default_factory=dict, init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class MessageParts:
    """A message in parts, for pages that already show the statement.

    `detail` explains what the rule compared, for people who ask why.
    """

    statement: str = ""
    remark: str = ""
    detail: str = ""


#: Warnings that an engine can fix itself; a person decides about the others.
MENDABLE = frozenset(
    {
        "answer-lost",
        "date-changed",
        "date-relative",
        "date-without-source",
        "in-code",
        "in-git",
        "in-instructions",
        "index-over-budget",
        "judgement",
        "no-evidence",
        "no-type",
        "now-contradicts",
        "reference-holds-content",
        "rejected-before",
        "reworded",
        "row-dangles",
        "row-lost",
        "rule-flipped",
        "says-otherwise",
        "stated-without-evidence",
        "words-without-source",
    }
)


@dataclass(frozen=True, slots=True)
class NewFinding:
    """A finding that is not stored yet. `path` and `hunk_id` are empty if it concerns the whole change. `line_no` is 1-based, in
    the new text. A warning whose `code` is in MENDABLE goes back to the engine before a person sees the change.
    """

    check: str
    code: str
    severity: Severity
    message: str
    remedy: str = ""
    path: str = ""
    hunk_id: str = ""
    line_no: int | None = None
    about: str = ""
    message_parts: MessageParts = MessageParts()

    @property
    def blocks(self) -> bool:
        """Whether it prevents writing, until a person confirms it or for good."""
        return self.severity in ("refuse", "block")

    @property
    def key(self) -> str:
        """The same finding about the same text keeps its key when lines move."""
        parts = "\0".join([self.code, self.path, self.hunk_id, self.about or self.message])
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class RemovedLine:
    """Where one removed line went. `target_line` is 1-based in the new text of `target_path`."""

    path: str
    hunk_id: str
    text: str
    fate: FateName
    target_path: str = ""
    target_line: int | None = None
    target_text: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class JudgedStatement:
    """An added statement compared with the sessions. `line_no` is 1-based in the new text; `key` is the statement's."""

    path: str
    hunk_id: str
    line_no: int
    text: str
    key: str
    heard: SessionAnswer


@dataclass(frozen=True, slots=True)
class FindingsReport:
    findings: tuple[NewFinding, ...] = ()
    ledger: tuple[RemovedLine, ...] = ()
    judged: tuple[JudgedStatement, ...] = ()

    def worst(self) -> Severity | None:
        present = {found.severity for found in self.findings}
        return next((severity for severity in SEVERITIES if severity in present), None)


Check = Callable[[Subject], Iterable[NewFinding]]
