"""What a check looks at and what it may say. PURE: no Django, no database, no disk.

A check is a function `check(subject: Subject) -> Iterable[Found]`. The ledger is a check too: besides findings it
gives one `RemovedLine` per removed line. Keys come from content, so that a confirmation survives a new run.
"""

import datetime as dt
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from dreams.conf import Config
from dreams.engines.types import Citation, Fate

Severity = Literal["refuse", "block", "warn", "info"]
Answer = Literal["supported", "unsupported", "contradicted"]
FateName = Literal["kept-in", "merged-into", "superseded-by", "stated", "unexplained"]
SEVERITIES: tuple[Severity, ...] = ("refuse", "block", "warn", "info")


@dataclass(frozen=True, slots=True)
class ChangedHunk:
    """A hunk as it would be written: `added` is the decided text where a person edited it.

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
    """A line (1-based) of the directory as it would be that says what `place` ("Makefile, line 3") says, in the words of `quote`."""

    path: str
    line_no: int
    place: str
    quote: str
    by: Literal["code", "git"] = "code"


@dataclass(frozen=True, slots=True)
class SessionAnswer:
    """What sessions say of a statement: the answer, why in a few words, and the place that it rests on."""

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
    instructions: Mapping[str, str] = field(
        default_factory=dict
    )  # what every session is told anyway: the texts of CLAUDE.md and its kin, by name
    scope: str = ""  # of an agent's own memory: user, project or local
    repeated: Sequence[Repeated] = ()  # what the project's code says already
    asked: Sequence[str] = ()  # what people typed in past sessions, the newest first
    rejected: Mapping[str, dt.date] = field(
        default_factory=dict
    )  # normalised line → when a person rejected it
    hard_linked: frozenset[str] = frozenset()  # paths with more than one hard link
    against: Callable[[str], Citation | None] | None = None  # what sessions say against a statement
    heard: Callable[[str], SessionAnswer | None] | None = (
        None  # what sessions say of a statement; None: not looked at
    )
    irregular: Mapping[str, str] = field(
        default_factory=dict
    )  # path → why it is no plain file, or is another kind now


@dataclass(frozen=True, slots=True)
class MessageParts:
    """A message in parts, for a page that shows one of them already: the statement, and what is said of it.

    `detail` is what the rule was held against, for who asks why.
    """

    statement: str = ""
    remark: str = ""
    detail: str = ""


#: Warnings that an engine can mend by doing its work better; the others are for a person to weigh.
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
    """One thing to say. `path` and `hunk_id` are empty for a finding on the whole. `line_no` is 1-based, in the new text.

    A warning whose `code` is in MENDABLE is told to the engine before a person sees its work.
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
        """Whether nothing is written before a person said yes to it, or at all."""
        return self.severity in ("refuse", "block")

    @property
    def key(self) -> str:
        """The same thing said of the same text keeps its key when lines move."""
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
    """One added statement held against the sessions. `line_no` is 1-based in the new text; `key` is the statement's."""

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
