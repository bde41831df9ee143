"""Builds one directory: topics, index rows, sessions, a repository, and the cases they are for. Pure."""

import datetime as dt
import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from dreams.dev.dreambench.passages import Claim, plain
from dreams.dev.dreambench.shapes import SAID, Half, Shape, Shapes, Words

# The truth of a generated directory: claims that a memory can make, and cases with their expected outcome.

KINDS: Mapping[str, str] = {
    "fact": "a plain fact is kept",
    "same fact": "one fact in two to five memories, put in as many ways, becomes one",
    "same body": "a memory saved again under another name becomes one",
    "shared lines": "lines that two memories share become one, and what only one says stays",
    "environment": "the same of two environments: both stay",
    "look-alike": "two facts that differ in one word both stay",
    "update": "of two dated statements the newer one stays",
    "told": "a fact that only a session changed is changed",
    "dependent": "a statement that leans on a changed value has the new one",
    "forget value": "what a person asked to forget, with its value, goes",
    "forget name": "what a person asked to forget, by its name alone, goes",
    "expiry": "what held until a day that has passed goes",
    "unexpired": "what holds until a day to come stays",
    "derived": "what the code or CLAUDE.md says already goes",
    "not derived": "what the code says otherwise, or says less of, stays",
    "lure": "what nobody stated as a fact is not learnt",
    "secret": "a secret that was typed is not learnt",
    # Only in our own world.
    "flip-back": "a fact that was changed and changed back stays",
    "date": "a relative date that can be worked out is written out, once its question is answered",
    "vague": "a vague date is left as it is",
    "preference": "what a person wishes for the future is learnt",
    "dangling": "a row whose file is gone, the only copy of a fact, stays",
    "missing row": "a file that no row points to gets one",
    "double row": "two rows for one file become one",
    "long row": "a long row of an index that fits stays as it is",
    "crowded": "an index over its limits is loaded whole afterwards, and its facts stay",
    "pinned": "a pinned memory stays byte for byte",
    "link": "a wikilink still leads somewhere",
    "encoding": "line ends, byte order marks and odd bytes stay",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One expected outcome. Empty fields are not checked.

    `stands` must be stated afterwards, `gone` must not be stated as current, `once` requires a single passage for the
    first of `stands`; `day` is the date that its passage must name, `undated` forbids one; `same` are paths whose bytes must be kept, `marks` those whose line ends and odd bytes must;
    `row` is the file that exactly one row must link to, `long` one whose row must not be shortened; `fits` requires an
    index within its budget; `link` is the file that must have no broken wikilink.
    """

    kind: str
    name: str
    directory: str
    about: str = ""
    stands: tuple[Claim, ...] = ()
    gone: tuple[Claim, ...] = ()
    once: bool = False
    day: str = ""
    undated: bool = False
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
    directories: list[BuiltDirectory] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    given: str = ""  # the folder of its shapes
    refused: list[str] = field(default_factory=list)  # lines of that folder that are not usable

    def __post_init__(self) -> None:
        if not 10 <= self.facts <= MOST_FACTS:
            raise ValueError(f"The number of facts must be from 10 to {MOST_FACTS:,}.")

    def cases_of(self, directory: str) -> list[Case]:
        return [case for case in self.cases if case.directory == directory]


SESSIONS_FROM = dt.date(2026, 3, 2)
FIRST_DAY, LAST_DAY = dt.date(2025, 9, 1), dt.date(2026, 2, 20)  # of the memories
LIST_LENGTH = 6  # lines of a list before a new one; chosen
_KINDS_OF_MEMORY = ("project", "project", "project", "reference", "feedback")


@dataclass
class MemoryFile:
    path: str
    title: str
    kind: str
    day: dt.date
    body: str = ""
    description: str = ""
    hook: str = ""
    items: list[str] = field(default_factory=list)
    bullets: bool = True
    pinned: bool = False
    newline: str = "\n"
    bom: bool = False
    final: bool = True
    odd: bytes = b""

    def data(self, shape: str) -> bytes:
        shape = "nested" if self.pinned and shape == "none" else shape
        pinned = ["pinned: true"] * self.pinned
        described = (self.description or f"About {self.title}").replace("\n", " ")
        head = ["---", f"name: {self.title}", f"description: {json.dumps(described, ensure_ascii=False)}"]
        own = [f"type: {self.kind}", *pinned]
        head += [*own, "---"] if shape == "flat" else ["metadata:", *(f"  {line}" for line in own), "---"]
        items = [f"- {item}" for item in self.items] if self.bullets else "\n\n".join(self.items).split("\n")
        body = self.body or "\n".join(items)
        lines = [f"# {self.title}"] if shape == "none" else head
        text = "\n".join([*lines, "", body]).rstrip("\n") + "\n" * self.final
        return b"\xef\xbb\xbf" * self.bom + text.replace("\n", self.newline).encode() + self.odd


class DirectoryBuilder:
    """A directory being built from one half of the shapes, with its cases."""

    def __init__(self, rng: random.Random, words: Words, shapes: Shapes, half: Half, name: str) -> None:
        self.rng, self.words, self.name = rng, words, name
        self.sessions: list[MadeSession] = []
        self.repo: dict[str, str] = {}
        self.secrets: list[str] = []
        self.cases: list[Case] = []
        self.shapes, self.half = shapes, half
        self.files: dict[str, MemoryFile] = {}
        self.unlisted: set[str] = set()
        self.rows: list[str] = []  # additional index rows
        # A name is used for one thing only: forgetting one of two would lose the other.
        self.names: set[str] = set()
        self.shape = rng.choice(("flat", "nested", "none"))
        self.facts = shapes.kind("fact", half)

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

    # --- Words ----------------------------------------------------------------------------------------------------

    def subject(self) -> tuple[str, str]:
        """(as written, as in claims)."""
        forms = [text for s in self.shapes.kind("subject", self.half) for text in s.texts]
        while True:
            one, two = self.words.pair()
            said, name = self._named(self.rng.choice(forms or ["{a}-{b}"]), one, two)
            if self._is_free(name):
                return said, name

    def _named(self, form: str, one: str, two: str) -> tuple[str, str]:
        slots = {"{a}": one, "{b}": two, "{A}": one.title(), "{B}": two.title()}
        said = filled(f" {form}", slots)[1:]  # no sentence begins with it yet
        return said, plain(said).removeprefix("the ")

    def sibling(self, said: str) -> tuple[str, str]:
        """Another subject with the same first word, written in the same form."""
        first = re.search(r"[A-Za-z][a-z]+", said.removeprefix("the "))
        while True:
            one, two = self.words.pair()
            if (
                first
                and (last := re.search(r"[A-Za-z][a-z]+(?=[^A-Za-z]*$)", said))
                and last.start() > first.start()
            ):
                new = two.title() if last[0][:1].isupper() else two
                other = f"{said[: last.start()]}{new}{said[last.end() :]}"
            else:
                other = f"{one}-{two}"
            if self._is_free(name := plain(other).removeprefix("the ")):
                return other, name

    def _is_free(self, name: str) -> bool:
        """Whether no thing had this name; from now on one has."""
        known = len(self.names)
        self.names.add(name)
        return len(self.names) > known

    def value(self, sort: str) -> str:
        given = self.shapes.values(sort)
        return self.rng.choice(given) if given else self.words.value(sort)

    def two_values(self, sort: str) -> tuple[str, str]:
        one = self.value(sort)
        for _ in range(200):
            other = self.value(sort)
            if not alike(one, other):
                return one, other
        return one, self.words.value("ident")

    def pick(self, kind: str, good: Callable[[Shape], bool] = lambda shape: True) -> Shape | None:
        found = [shape for shape in self.shapes.kind(kind, self.half) if good(shape)]
        return self.rng.choice(found) if found else None

    # --- Memory ---------------------------------------------------------------------------------------------------

    def day(self, first: dt.date = FIRST_DAY, last: dt.date = LAST_DAY) -> dt.date:
        return first + dt.timedelta(days=self.rng.randrange((last - first).days))

    def file(self, subject: str, day: dt.date | None = None, suffix: str = "") -> MemoryFile:
        shape = self.pick("title")
        kind = self.rng.choice(_KINDS_OF_MEMORY)
        title = filled(self.rng.choice(shape.texts) if shape else "{subject}", {"{subject}": subject})
        stem = re.sub(r"[^a-z0-9]+", "_", plain(title)).strip("_") or "note"
        stem = f"{kind}_{stem}" if self.rng.random() < 0.5 else stem
        while f"{stem}{suffix}.md" in self.files:
            stem = f"{stem}_{self.words.pair()[0]}"
        made = MemoryFile(f"{stem}{suffix}.md", title.replace("`", ""), kind, day or self.day())
        self.files[made.path] = made
        return made

    def alone(self, text: str, subject: str, day: dt.date | None = None) -> MemoryFile:
        """A memory of one statement."""
        made = self.file(subject, day)
        shape = self.pick("body")
        body = self.rng.choice(shape.texts if shape else ("{fact}",))
        while "{filler}" in body:
            body = body.replace("{filler}", self.filler(), 1)
        made.body = body.replace("{title}", made.title).replace("{fact}", text)
        if self.rng.random() < 0.25:
            made.description = text
        if self.rng.random() < 0.25:
            made.hook = text
        return made

    def filler(self) -> str:
        shape = self.pick("filler")
        return self.rng.choice(shape.texts) if shape else ""

    def among(self, text: str, besides: Sequence[MemoryFile] = (), day: dt.date | None = None) -> MemoryFile:
        """Adds a statement to a memory of several; with a day, to one of about that age."""
        free = [
            f
            for f in self.files.values()
            if not f.body
            and len(f.items) < LIST_LENGTH
            and f not in besides
            and (day is None or abs((f.day - day).days) <= 3)
        ]
        made = self.rng.choice(free) if free and self.rng.random() < 0.85 else self._list(day)
        made.items.insert(self.rng.randrange(len(made.items) + 1), text)
        return made

    def _list(self, day: dt.date | None) -> MemoryFile:
        made = self.file(self.words.theme(), day)
        made.bullets = self.rng.random() < 0.7
        return made

    def put(
        self, text: str, subject: str, besides: Sequence[MemoryFile] = (), day: dt.date | None = None
    ) -> MemoryFile:
        if self.rng.random() < 0.6:
            return self.alone(text, subject, day)
        return self.among(text, besides, day)

    # --- Sessions and truth ---------------------------------------------------------------------------------------

    def say(self, text: str, role: str = "user", at: int | None = None) -> None:
        """In the session of this number, else in any."""
        asked = [BuiltMessage("user", "what does that page say?")] if role == "tool" else []
        session = self.rng.choice(self.sessions) if at is None else self.sessions[at]
        session.messages += [
            *asked,
            BuiltMessage(role, text),
            BuiltMessage("assistant", "Understood."),
        ]

    def directory(self) -> BuiltDirectory:
        """Its rows name each file that has no row of its own."""
        files = self.files.values()
        listed = (f for f in files if f.path not in self.unlisted)
        rows = [f"- [{f.title}]({f.path}) — {(f.hook or 'about ' + f.title)[:190]}" for f in listed]
        return self.built(((f.path, f.data(self.shape), f.day) for f in files), [*rows, *self.rows])


# --- Filling in -----------------------------------------------------------------------------------------------------


def filled(form: str, slots: Mapping[str, str]) -> str:
    for slot, text in slots.items():
        form = form.replace(slot, text)
    return f"{form[:1].upper()}{form[1:]}" if form.startswith("the ") else form


def dated(form: str, day: dt.date) -> str:
    return filled(form, day_forms(day))


def day_forms(day: dt.date) -> dict[str, str]:
    return {
        "{day}": day.isoformat(),
        "{day_long}": f"{day.day} {day:%B %Y}",
        "{day_us}": f"{day:%B} {day.day}, {day.year}",
    }


def claim_of(name: str, value: str) -> Claim:
    return (name, plain(value))


def alike(one: str, other: str) -> bool:
    """Whether a claim with one value would match the other value."""
    left, right = plain(one), plain(other)
    return left in right or right in left


def word_of(form: str, others: Sequence[str]) -> str:
    """The longest word of a shape that no other has, to find the statement again."""
    known = set(" ".join(plain(re.sub(r"\{\w+\}", " ", text)) for text in others).split())
    own = re.findall(r"[a-z]{4,}", plain(re.sub(r"\{\w+\}", " ", form)))
    return max((word for word in own if word not in known), key=len, default="")


Maker = Callable[[DirectoryBuilder], None]


def fill(
    directory: DirectoryBuilder,
    shares: Iterable[tuple[Maker, float]],
    rest: Maker,
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
