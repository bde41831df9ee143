"""One directory while it is being made: topics, index rows, sessions and a repository, and the cases they are for. Pure."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from dreams.dev.dreambench.truth import Case, Claim, Directory, Message, Session
from dreams.dev.dreambench.wordings import ATTRIBUTES, Attribute, Chosen, Deal
from dreams.dev.dreambench.words import Words, bare, opening

FIRST_DAY = dt.date(2025, 11, 3)  # of the memories
SESSIONS_FROM = dt.date(2026, 3, 2)
PER_TOPIC = 6
_TITLES = (
    "Ingest side", "Night jobs", "Public edge", "Partner traffic", "Back office", "Search and ranking", "Billing path",
    "Reporting", "Mail and notices", "Storage layer", "Image work", "Access and identity", "Migration notes", "Fleet",
    "Data lake", "Customer portal", "Batch windows", "Observability", "Release train", "Legacy corner", "Mobile backends",
    "Webhooks", "Cold archive", "Internal tools", "Experiments", "Compliance", "Capacity", "Edge caches", "Print shop",
    "Warehouse", "Field devices", "Support desk", "Pricing", "Inventory", "Onboarding", "Payments", "Routing", "Media",
)  # fmt: skip


@dataclass
class Topic:
    """One topic file in the making."""

    path: str
    title: str
    kind: str
    day: dt.date
    shape: str
    bullets: bool
    lines: list[str] = field(default_factory=list)
    hook: str = ""
    pinned: bool = False
    open: bool = True  # takes more facts
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


class Builder:
    def __init__(
        self,
        rng: random.Random,
        words: Words,
        deal: Deal,
        name: str,
        attributes: Sequence[Attribute] = ATTRIBUTES,
    ) -> None:
        self.attributes = attributes
        self.rng, self.words, self.deal, self.name = rng, words, deal, name
        self.topics: list[Topic] = []
        self.rows: list[str] = []  # index rows besides those of the topics
        self.unlisted: set[str] = set()
        self.sessions: list[Session] = []
        self.repo: dict[str, str] = {}
        self.secrets: list[str] = []
        self.cases: list[Case] = []
        self._shape = rng.choice(("flat", "nested", "nested", "mixed"))
        self._titles = list(_TITLES)
        rng.shuffle(self._titles)

    # --- Memory ---------------------------------------------------------------------------------------------------

    def topic(self, *, kind: str = "project", is_open: bool = True, title: str = "") -> Topic:
        """A new topic file."""
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
        """Put a statement into a topic with room, not into one of `besides`."""
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
        """One of several wordings, filled in."""
        chosen = self.deal.draw(options)
        return Chosen(opening(chosen.text.format(**values)), chosen.held_out)

    def day(self, first: dt.date, last: dt.date) -> str:
        return (first + dt.timedelta(days=self.rng.randrange((last - first).days))).isoformat()

    # --- Sessions -------------------------------------------------------------------------------------------------

    def make_sessions(self, count: int) -> None:
        for number in range(count):
            at = dt.datetime.combine(SESSIONS_FROM + dt.timedelta(days=number), dt.time(9, 12), dt.UTC)
            self.sessions.append(Session(f"{self.name}-{number:02}", at.isoformat()))

    def say(self, *messages: Message, after: int = -1) -> int:
        """Put messages into one session, later than session `after`; its number."""
        number = (
            self.rng.randrange(after + 1, len(self.sessions)) if after + 1 < len(self.sessions) else after
        )
        self.sessions[number].messages += messages
        return number

    # --- Truth ----------------------------------------------------------------------------------------------------

    def case(self, kind: str, **about: object) -> None:
        name = f"{self.name}/{kind}-{sum(case.kind == kind for case in self.cases) + 1}"
        self.cases.append(Case(kind, name, self.name, **about))  # type: ignore[arg-type]  # the fields of a case

    def directory(self) -> Directory:
        made = Directory(self.name, repo=self.repo, sessions=self.sessions, secrets=self.secrets)
        for topic in self.topics:
            made.files[topic.path] = topic.data()
            made.days[topic.path] = topic.day.isoformat()
        made.files["MEMORY.md"] = self._index().encode()
        made.days["MEMORY.md"] = (SESSIONS_FROM - dt.timedelta(days=1)).isoformat()
        return made

    def _index(self) -> str:
        rows = [
            f"- [{t.title}]({t.path}) — {t.hook or f'notes on {t.title.lower()}'}"
            for t in self.topics
            if t.path not in self.unlisted
        ]
        rows += self.rows
        return "\n".join(["# Memory", "", *rows]) + "\n"


def _letters(number: int) -> str:
    """A word for a number: a number in a file's name would say something about what stands in it."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number)).capitalize() + "x"


def claim(subject: str, value: str) -> Claim:
    return Claim((bare(subject), value.strip("`").lower()))
