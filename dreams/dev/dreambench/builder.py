"""Builds one directory: topics, index rows, sessions, a repository, and the cases they are for. Pure."""

import datetime as dt
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from dreams.dev.dreambench.shapes import ATTRIBUTES, SAID, Attribute, Chosen, Deal, Words, bare, opening

# The truth of a generated directory: claims that a memory can make, and cases with their expected outcome.

OWN_KINDS: Mapping[str, str] = {
    "fact": "a plain fact is kept",
    "duplicate": "two wordings of one fact become one",
    "look-alike": "two facts that differ in one word both stay",
    "update": "of two dated statements the newer one stays",
    "told": "a fact that only a session changed is changed",
    "flip-back": "a fact that was changed and changed back stays",
    "forget": "what a person asked to forget goes, and nothing beside it",
    "expiry": "what held until a day that has passed goes",
    "unexpired": "what holds until a day to come stays",
    "cascade": "a fact that depends on a changed one is flagged or changed",
    "date": "a relative date that can be worked out is written out, once its question is answered",
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
    "crowded": "an index over its limits is loaded whole afterwards, and its facts stay",
    "pinned": "a pinned memory stays byte for byte",
    "link": "a wikilink still leads somewhere",
    "encoding": "line ends, byte order marks and odd bytes stay",
}
# Additional kinds of worlds in given wordings.
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


#: A statement that a memory can make: all words are in one passage, the last of them in its own text. A word may be several
#: ("juniper mailer"); headings and the file name count for all but the last.
Claim = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One expected outcome. Empty fields are not checked.

    `stands` must be stated afterwards, `gone` must not be stated as current, `once` requires a single passage for the
    first of `stands`; `day` is the date that its passage must name, `undated` forbids one; `flagged` are words that a note
    of the engine must have; `same` are paths whose bytes must be kept, `marks` those whose line ends and odd bytes must;
    `row` is the file that exactly one row must link to, `long` one whose row must not be shortened; `fits` requires an
    index within its budget; `link` is the file that must have no broken wikilink.
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
class BuiltMessage:
    """One message of a session, from the person, the agent or a tool."""

    role: str
    text: str


@dataclass
class MadeSession:
    """A transcript; `at` is the ISO time of its first message."""

    name: str
    at: str
    messages: list[BuiltMessage] = field(default_factory=list)


@dataclass
class BuiltDirectory:
    """One memory directory before a dream, with its sessions and repository. Texts are bytes; `days` are ISO days of files."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    days: dict[str, str] = field(default_factory=dict)
    sessions: list[MadeSession] = field(default_factory=list)
    repo: dict[str, str] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)

    @property
    def sources(self) -> str:
        """All input besides the memories."""
        said = [message.text for session in self.sessions for message in session.messages]
        return "\n".join([*said, *self.repo, *self.repo.values()])


MOST_FACTS = 20_000  # of one world; chosen


@dataclass
class World:
    """Raises ValueError for a number of facts out of range."""

    seed: int
    facts: int
    wordings: str = "own"
    directories: list[BuiltDirectory] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    given: str = ""  # the folder of its shapes
    refused: list[str] = field(default_factory=list)  # lines of that folder that are not usable

    def __post_init__(self) -> None:
        if not 10 <= self.facts <= MOST_FACTS:
            raise ValueError(f"The number of facts must be from 10 to {MOST_FACTS:,}.")

    def cases_of(self, directory: str) -> list[Case]:
        return [case for case in self.cases if case.directory == directory]


FIRST_DAY = dt.date(2025, 11, 3)  # of the memories
SESSIONS_FROM = dt.date(2026, 3, 2)
PER_TOPIC = 6  # lines of a topic before a new file; chosen
_TITLES = (
    "Ingest side", "Night jobs", "Public edge", "Partner traffic", "Back office", "Search and ranking", "Billing path",
    "Reporting", "Mail and notices", "Storage layer", "Image work", "Access and identity", "Migration notes", "Fleet",
    "Data lake", "Customer portal", "Batch windows", "Observability", "Release train", "Legacy corner", "Mobile backends",
    "Webhooks", "Cold archive", "Internal tools", "Experiments", "Compliance", "Capacity", "Edge caches", "Print shop",
    "Warehouse", "Field devices", "Support desk", "Pricing", "Inventory", "Onboarding", "Payments", "Routing", "Media",
)  # fmt: skip


@dataclass
class Topic:
    """One topic file being built."""

    path: str
    title: str
    kind: str
    day: dt.date
    shape: str
    bullets: bool
    lines: list[str] = field(default_factory=list)
    hook: str = ""
    pinned: bool = False
    open: bool = True  # accepts more facts
    newline: str = "\n"
    bom: bool = False
    final: bool = True
    odd: bytes = b""

    def data(self) -> bytes:
        text = "\n".join([*self._head(), "", *self._body()]) + ("\n" if self.final else "")
        raw = text.replace("\n", self.newline).encode() + self.odd
        return b"\xef\xbb\xbf" + raw if self.bom else raw

    def _head(self) -> list[str]:
        if self.shape == "none":
            return [f"# {self.title}"]
        pinned = ["pinned: true"] * self.pinned
        named = ["---", f"name: {self.title}", f"description: Notes on {self.title.lower()}"]
        if self.shape == "flat":
            return [*named, f"type: {self.kind}", *pinned, "---"]
        return [*named, "metadata:", f"  type: {self.kind}", *(f"  {line}" for line in pinned), "---"]

    def _body(self) -> list[str]:
        if self.bullets:
            return [f"- {line}" for line in self.lines]
        return "\n\n".join(self.lines).split("\n")


class DirectoryBuilder:
    """A directory being built, with its cases."""

    def __init__(self, rng: random.Random, words: Words, name: str) -> None:
        self.rng, self.words, self.name = rng, words, name
        self.sessions: list[MadeSession] = []
        self.repo: dict[str, str] = {}
        self.secrets: list[str] = []
        self.cases: list[Case] = []

    def case(self, kind: str, about: str, **more: object) -> None:
        name = f"{self.name}/{kind}-{sum(case.kind == kind for case in self.cases) + 1}"
        self.cases.append(Case(kind, name, self.name, about=about, **more))  # type: ignore[arg-type]  # a case's fields

    def built(self, files: Iterable[tuple[str, bytes, dt.date]], rows: Iterable[str]) -> BuiltDirectory:
        """The directory of these files (path, bytes and day) and of an index with these rows."""
        made = BuiltDirectory(self.name, repo=self.repo, sessions=self.sessions, secrets=self.secrets)
        index = "\n".join(["# Memory", "", *rows, ""]).encode()
        for path, data, day in (*files, ("MEMORY.md", index, SESSIONS_FROM - dt.timedelta(days=1))):
            made.files[path], made.days[path] = data, day.isoformat()
        return made

    def make_sessions(self, count: int) -> None:
        for number in range(count):
            at = dt.datetime.combine(SESSIONS_FROM + dt.timedelta(days=number), dt.time(9, 12), dt.UTC)
            self.sessions.append(MadeSession(f"{self.name}-{number:02}", at.isoformat()))


class OwnWordsBuilder(DirectoryBuilder):
    def __init__(
        self,
        rng: random.Random,
        words: Words,
        deal: Deal,
        name: str,
        attributes: Sequence[Attribute] = ATTRIBUTES,
    ) -> None:
        super().__init__(rng, words, name)
        self.attributes, self.deal = attributes, deal
        self.topics: list[Topic] = []
        self.rows: list[str] = []  # additional index rows
        self.unlisted: set[str] = set()
        self._shape = rng.choice(("flat", "nested", "nested", "mixed"))
        self._titles = list(_TITLES)
        rng.shuffle(self._titles)

    # --- Memory ---------------------------------------------------------------------------------------------------

    def topic(self, *, kind: str = "project", is_open: bool = True, title: str = "") -> Topic:
        number = len(self.topics) + 1
        title = title or (self._titles.pop() if self._titles else f"{_letters(number)} corner")
        stem = title.lower().replace(" ", "_")
        shape = self.rng.choice(("flat", "nested", "none")) if self._shape == "mixed" else self._shape
        path = f"{kind}_{stem}.md"
        day = FIRST_DAY + dt.timedelta(days=self.rng.randrange(0, 90))
        made = Topic(path, title, kind, day, shape, self.rng.random() < 0.6, open=is_open)
        self.topics.append(made)
        return made

    def place(self, line: str, besides: Sequence[Topic] = ()) -> Topic:
        """Adds a statement to a topic with room that is not in `besides`."""
        free = [
            t
            for t in self.topics
            if t.open and t.kind == "project" and len(t.lines) < PER_TOPIC and t not in besides
        ]
        chosen = self.rng.choice(free) if free and self.rng.random() < 0.8 else self.topic()
        chosen.lines.append(line)
        return chosen

    # --- Facts ----------------------------------------------------------------------------------------------------

    def fact(
        self, attribute: Attribute, subject: str, value: str, besides: Sequence[str] = ()
    ) -> tuple[str, str, bool]:
        """(statement, the wording used, held out)."""
        chosen = self.deal.draw(attribute.said, besides)
        return opening(chosen.text.format(s=subject, v=value)), chosen.text, chosen.held_out

    def put(self, options: Sequence[str], **values: str) -> Chosen:
        """Fills in one of several wordings."""
        chosen = self.deal.draw(options)
        return Chosen(opening(chosen.text.format(**values)), chosen.held_out)

    def day(self, first: dt.date, last: dt.date) -> str:
        return (first + dt.timedelta(days=self.rng.randrange((last - first).days))).isoformat()

    # --- Sessions -------------------------------------------------------------------------------------------------

    def say(self, *messages: BuiltMessage, after: int = -1) -> int:
        """Adds messages to a session later than session `after`; returns its number."""
        number = (
            self.rng.randrange(after + 1, len(self.sessions)) if after + 1 < len(self.sessions) else after
        )
        self.sessions[number].messages += messages
        return number

    # --- Truth ----------------------------------------------------------------------------------------------------

    def directory(self) -> BuiltDirectory:
        listed = (t for t in self.topics if t.path not in self.unlisted)
        rows = [f"- [{t.title}]({t.path}) — {t.hook or f'notes on {t.title.lower()}'}" for t in listed]
        return self.built(((t.path, t.data(), t.day) for t in self.topics), [*rows, *self.rows])


def _letters(number: int) -> str:
    """A number as letters: digits in a file name could match a value in it."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number)).capitalize() + "x"


def claim(subject: str, value: str) -> Claim:
    return (bare(subject), value.strip("`").lower())


Made = TypeVar("Made", bound=DirectoryBuilder)


def fill(
    directory: Made,
    shares: Iterable[tuple[Callable[[Made], None], float]],
    rest: Callable[[Made], None],
    size: int,
    *,
    least: int = 0,
) -> None:
    """Makes about `size` cases in random order: each kind by its percentage, the remainder (or `least`) by `rest`."""
    directory.make_sessions(max(4, size // 10))
    plan = [make_one for make_one, share in shares for _ in range(max(1, round(share * size / 100)))]
    plan += [rest] * max(least, size - len(plan))
    directory.rng.shuffle(plan)
    for make_one in plan:
        make_one(directory)
    for session in directory.sessions:
        asked, answered = directory.rng.choice(SAID["small_talk"])
        session.messages += [BuiltMessage("user", asked), BuiltMessage("assistant", answered)]
