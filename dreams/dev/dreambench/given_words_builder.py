"""Builds one directory in given wordings: memories, sessions and a repository. Pure."""

import datetime as dt
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dreams.dev.dreambench.builder import BuiltDirectory, BuiltMessage, Claim, DirectoryBuilder
from dreams.dev.dreambench.session_cases import plain
from dreams.dev.dreambench.shapes import Half, Shape, Shapes, Words

LIST_LENGTH = 6  # lines of a list before a new one; chosen
FIRST_DAY = dt.date(2025, 9, 1)
_LAST_DAY = dt.date(2026, 2, 20)
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

    def data(self, shape: str) -> bytes:
        described = (self.description or f"About {self.title}").replace("\n", " ")
        head = ["---", f"name: {self.title}", f"description: {json.dumps(described, ensure_ascii=False)}"]
        head += (
            [f"type: {self.kind}", "---"] if shape == "flat" else ["metadata:", f"  type: {self.kind}", "---"]
        )
        items = [f"- {item}" for item in self.items] if self.bullets else "\n\n".join(self.items).split("\n")
        body = self.body or "\n".join(items)
        lines = [f"# {self.title}"] if shape == "none" else head
        return ("\n".join([*lines, "", body]).rstrip("\n") + "\n").encode()


class GivenWordsBuilder(DirectoryBuilder):
    """Builds one directory from one half of the shapes."""

    def __init__(self, rng: random.Random, words: Words, shapes: Shapes, half: Half, name: str) -> None:
        super().__init__(rng, words, name)
        self.shapes, self.half = shapes, half
        self.files: dict[str, MemoryFile] = {}
        # A name is used for one thing only: forgetting one of two would lose the other.
        self.names: set[str] = set()
        self.shape = rng.choice(("flat", "nested", "none"))
        self.facts = shapes.kind("fact", half)

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
        said = filled(form, slots)
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

    def day(self, first: dt.date = FIRST_DAY, last: dt.date = _LAST_DAY) -> dt.date:
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
        made.body = self._body(shape.texts if shape else ("{fact}",), text, made.title)
        if self.rng.random() < 0.25:
            made.description = text
        if self.rng.random() < 0.25:
            made.hook = text
        return made

    def _body(self, forms: Sequence[str], text: str, title: str) -> str:
        body = self.rng.choice(forms)
        while "{filler}" in body:
            body = body.replace("{filler}", self.filler(), 1)
        return body.replace("{title}", title).replace("{fact}", text)

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

    def say(self, text: str, role: str = "user") -> None:
        asked = [BuiltMessage("user", "what does that page say?")] if role == "tool" else []
        self.rng.choice(self.sessions).messages += [
            *asked,
            BuiltMessage(role, text),
            BuiltMessage("assistant", "Understood."),
        ]

    def directory(self) -> BuiltDirectory:
        files = self.files.values()
        rows = (f"- [{f.title}]({f.path}) — {(f.hook or 'about ' + f.title)[:190]}" for f in files)
        return self.built(((f.path, f.data(self.shape), f.day) for f in files), rows)


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
