"""What is true of a generated directory: claims that a memory can make, and cases that say what should become of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

OWN_KINDS: Mapping[str, str] = {
    "fact": "a plain fact stays",
    "duplicate": "two wordings of one fact become one",
    "look-alike": "two facts that differ in one word both stay",
    "update": "of two dated statements the newer one stays",
    "told": "a fact that only a session changed is changed",
    "flip-back": "a fact that was changed and changed back stays",
    "forget": "what a person asked to forget goes, and nothing beside it",
    "expiry": "what held until a day that has passed goes",
    "unexpired": "what holds until a day to come stays",
    "cascade": "a fact that leans on a changed one is flagged or changed",
    "date": "a relative date that can be worked out is written out",
    "vague": "a vague date is left as it is",
    "derived": "what the code or CLAUDE.md says already goes",
    "not derived": "what the code says otherwise, or says less of, stays",
    "preference": "what a person wishes for the future is learnt",
    "lure": "what nobody stated as a fact is not learnt",
    "secret": "a secret that was typed is not learnt",
    "dangling": "a row whose file is gone, the only copy of a fact, stays",
    "missing row": "a file that no row points to gets one",
    "double row": "two rows for one file become one",
    "long row": "a long row of an index that fits stays as it is",
    "crowded": "an index over its budget is loaded whole afterwards, and its facts stay",
    "pinned": "a pinned memory stays byte for byte",
    "link": "a wikilink still leads somewhere",
    "encoding": "line ends, byte order marks and odd bytes stay",
}
# Of worlds in somebody else's words, besides those of the same name above.
GIVEN_KINDS: Mapping[str, str] = {
    "same fact": "one fact in two to five memories, put in as many ways, becomes one",
    "same body": "a memory saved again under another name becomes one",
    "shared lines": "lines that two memories share become one, and what only one says stays",
    "environment": "the same of two environments: both stay",
    "dependent": "a statement that leans on a changed value has the new one",
    "forget value": "what a person asked to forget, with its value, goes",
    "forget name": "what a person asked to forget, by its name alone, goes",
}
KINDS = {**OWN_KINDS, **GIVEN_KINDS}


@dataclass(frozen=True, slots=True)
class Claim:
    """Something a memory can say. It stands where all words are in one passage, the last of them in its own text.

    Words may be several ("juniper mailer"); headings and the file's name count for all but the last.
    """

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to get right. Empty fields ask for nothing.

    `stands` must stand afterwards, `gone` must not stand as a present fact, `once` asks for one passage for the first of
    `stands`; `day` is the date that its passage must name, `undated` forbids one; `flagged` are words that a note of the
    engine must have; `same` are paths whose bytes must be kept, `marks` those whose line ends and odd bytes must; `row`
    is the file that exactly one row must point to, `long` one whose row must not be shortened; `fits` asks for an index within its
    budget; `link` is the file that must hold no broken wikilink.
    """

    kind: str
    name: str
    directory: str
    about: str = ""
    held_out: bool = False
    stands: tuple[Claim, ...] = ()
    gone: tuple[Claim, ...] = ()
    once: bool = False
    day: str = ""
    undated: bool = False
    flagged: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    row: str = ""
    long: str = ""
    fits: bool = False
    link: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a session: what a person typed, what the agent said, or what a tool printed."""

    role: str
    text: str


@dataclass
class Session:
    """A transcript; `at` is an ISO moment of its first message."""

    name: str
    at: str
    messages: list[Message] = field(default_factory=list)


@dataclass
class Directory:
    """One memory directory before a dream, with its sessions and repository. Texts are bytes; `days` are ISO days of files."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    days: dict[str, str] = field(default_factory=dict)
    sessions: list[Session] = field(default_factory=list)
    repo: dict[str, str] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)

    @property
    def sources(self) -> str:
        """All that a system is given besides the memories."""
        said = [message.text for session in self.sessions for message in session.messages]
        return "\n".join([*said, *self.repo, *self.repo.values()])


@dataclass
class World:
    seed: int
    facts: int
    wordings: str = "own"
    directories: list[Directory] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    given: str = ""  # the folder whose shapes it has
    refused: list[str] = field(default_factory=list)  # lines of that folder that are no shapes

    def cases_of(self, directory: str) -> list[Case]:
        return [case for case in self.cases if case.directory == directory]


def as_json(world: World) -> dict[str, Any]:
    """The truth alone; the directories are on disk."""
    return {
        "seed": world.seed,
        "facts": world.facts,
        "wordings": world.wordings,
        "from": world.given,
        "kinds": dict(KINDS),
        "secrets": {d.name: d.secrets for d in world.directories},
        "cases": [asdict(case) for case in world.cases],
    }


def cases_from(rows: Iterable[Mapping[str, Any]]) -> list[Case]:
    """Cases as `as_json` wrote them. Raises TypeError or KeyError for something else."""
    return [Case(**{**row, **_tuples(row)}) for row in rows]


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    claims = {name: tuple(Claim(tuple(c["words"])) for c in row.get(name, ())) for name in ("stands", "gone")}
    lists = {name: tuple(row.get(name, ())) for name in ("flagged", "same", "marks")}
    return {**claims, **lists}
