"""A world in somebody else's words: directories whose statements have the shapes of a folder that is given. Pure.

Directories are of one half of the shapes each (`work-1`, `report-1`, …). Most memories hold one statement, as agents write
them; some are lists. Subjects are unique in a world, so that no case meddles with another.
"""

from __future__ import annotations

import datetime as dt
import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dreams.dev.dreambench import session_cases, wordings
from dreams.dev.dreambench.builder import Case, Claim, Directory, Message, Session, World
from dreams.dev.dreambench.session_cases import fake_secret, plain
from dreams.dev.dreambench.shapes import HALVES, Half, Shape, Shapes, read
from dreams.dev.dreambench.words import Words

MOST_IN_ONE = 150
MOST_FACTS = 20_000
LIST_LENGTH = 6
_FIRST_DAY = dt.date(2025, 9, 1)
_LAST_DAY = dt.date(2026, 2, 20)
_SESSIONS_FROM = dt.date(2026, 3, 2)
_SAID_LATER = frozenset({"told", "dependent"})  # what is to stand comes with a session
_KINDS_OF_MEMORY = ("project", "project", "project", "reference", "feedback")


@dataclass
class _File:
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


class _Maker:
    """One directory in the making, of one half of the shapes."""

    def __init__(self, rng: random.Random, words: Words, shapes: Shapes, half: Half, name: str) -> None:
        self.rng, self.words, self.shapes, self.half, self.name = rng, words, shapes, half, name
        self.files: dict[str, _File] = {}
        self.sessions: list[Session] = []
        self.repo: dict[str, str] = {}
        self.secrets: list[str] = []
        self.cases: list[Case] = []
        self.shape = rng.choice(("flat", "nested", "none"))
        self.facts = shapes.kind("fact", half)

    # --- Words ----------------------------------------------------------------------------------------------------

    def subject(self) -> tuple[str, str]:
        """(as it is written, as claims name it)."""
        forms = [text for s in self.shapes.kind("subject", self.half) for text in s.texts]
        one, two = self.words.pair()
        return self._named(self.rng.choice(forms or ["{a}-{b}"]), one, two)

    def _named(self, form: str, one: str, two: str) -> tuple[str, str]:
        slots = {"{a}": one, "{b}": two, "{A}": one.title(), "{B}": two.title()}
        said = _filled(form, slots)
        return said, plain(said).removeprefix("the ")

    def sibling(self, said: str) -> tuple[str, str]:
        """Another subject whose name has the same beginning, written in the same form."""
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
            if other != said:
                return other, plain(other).removeprefix("the ")

    def value(self, sort: str) -> str:
        given = self.shapes.values(sort)
        return self.rng.choice(given) if given else self.words.value(sort)

    def two_values(self, sort: str) -> tuple[str, str]:
        one = self.value(sort)
        for _ in range(200):
            other = self.value(sort)
            if not _alike(one, other):
                return one, other
        return one, f"{self.words.value('ident')}"

    def pick(self, kind: str, good: Callable[[Shape], bool] = lambda shape: True) -> Shape | None:
        found = [shape for shape in self.shapes.kind(kind, self.half) if good(shape)]
        return self.rng.choice(found) if found else None

    # --- Memory ---------------------------------------------------------------------------------------------------

    def day(self, first: dt.date = _FIRST_DAY, last: dt.date = _LAST_DAY) -> dt.date:
        return first + dt.timedelta(days=self.rng.randrange((last - first).days))

    def file(self, subject: str, day: dt.date | None = None, suffix: str = "") -> _File:
        """A new memory about a subject."""
        shape = self.pick("title")
        kind = self.rng.choice(_KINDS_OF_MEMORY)
        title = _filled(self.rng.choice(shape.texts) if shape else "{subject}", {"{subject}": subject})
        stem = re.sub(r"[^a-z0-9]+", "_", plain(title)).strip("_") or "note"
        stem = f"{kind}_{stem}" if self.rng.random() < 0.5 else stem
        while f"{stem}{suffix}.md" in self.files:
            stem = f"{stem}_{self.words.pair()[0]}"
        made = _File(f"{stem}{suffix}.md", title.replace("`", ""), kind, day or self.day())
        self.files[made.path] = made
        return made

    def alone(self, text: str, subject: str, day: dt.date | None = None) -> _File:
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

    def among(self, text: str, besides: Sequence[_File] = (), day: dt.date | None = None) -> _File:
        """Put a statement into a memory of several; with a day, into one of about that age."""
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

    def _list(self, day: dt.date | None) -> _File:
        made = self.file(self.words.theme(), day)
        made.bullets = self.rng.random() < 0.7
        return made

    def put(
        self, text: str, subject: str, besides: Sequence[_File] = (), day: dt.date | None = None
    ) -> _File:
        if self.rng.random() < 0.6:
            return self.alone(text, subject, day)
        return self.among(text, besides, day)

    # --- Sessions and truth ---------------------------------------------------------------------------------------

    def make_sessions(self, count: int) -> None:
        for number in range(count):
            at = dt.datetime.combine(_SESSIONS_FROM + dt.timedelta(days=number), dt.time(9, 12), dt.UTC)
            self.sessions.append(Session(f"{self.name}-{number:02}", at.isoformat()))

    def say(self, text: str, role: str = "user") -> None:
        asked = [Message("user", "what does that page say?")] if role == "tool" else []
        self.rng.choice(self.sessions).messages += [
            *asked,
            Message(role, text),
            Message("assistant", "Understood."),
        ]

    def case(self, kind: str, about: str, **more: object) -> None:
        name = f"{self.name}/{kind}-{sum(case.kind == kind for case in self.cases) + 1}"
        self.cases.append(Case(kind, name, self.name, about=about, **more))  # type: ignore[arg-type]  # a case's fields

    def directory(self) -> Directory:
        made = Directory(self.name, repo=self.repo, sessions=self.sessions, secrets=self.secrets)
        rows = []
        for path, file in self.files.items():
            made.files[path] = file.data(self.shape)
            made.days[path] = file.day.isoformat()
            rows.append(f"- [{file.title}]({path}) — {(file.hook or 'about ' + file.title)[:190]}")
        made.files["MEMORY.md"] = "\n".join(["# Memory", "", *rows, ""]).encode()
        made.days["MEMORY.md"] = (_SESSIONS_FROM - dt.timedelta(days=1)).isoformat()
        return made


# --- Cases ----------------------------------------------------------------------------------------------------------


def fact(m: _Maker) -> None:
    """One thing's value, or two of its values, which must not be taken for a contradiction."""
    said, name = m.subject()
    values: list[str] = []
    sorts = set()
    for shape in m.rng.sample(m.facts, min(len(m.facts), 1 + (m.rng.random() < 0.4))):
        value = m.value(shape.sort)
        if shape.sort in sorts or any(_alike(value, other) for other in values):
            continue
        sorts.add(shape.sort)
        values.append(value)
        text = _filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value})
        m.put(text, said)
        m.case("fact", text, stands=(_claim(name, value),))


def same_fact(m: _Maker) -> None:
    """One fact, put in two to five ways in as many memories."""
    shape = m.pick("fact", lambda s: len(s.texts) > 1)
    if not shape:
        return
    said, name = m.subject()
    value = m.value(shape.sort)
    texts = list(shape.texts)
    m.rng.shuffle(texts)
    texts = [_filled(t, {"{subject}": said, "{value}": value}) for t in texts[: m.rng.randrange(2, 6)]]
    placed: list[_File] = []
    for text in texts:
        placed.append(m.put(text, said, placed))
    m.case("same fact", " / ".join(texts), stands=(_claim(name, value),), once=True)


def same_body(m: _Maker) -> None:
    """A memory saved again under names like `_2` and `_4`: the same but for its labels, blank lines and the order of items."""
    first, claims = _several(m, m.rng.randrange(1, 4))
    for suffix in m.rng.sample(("_2", "_3", "_4", "_v2", "-copy"), m.rng.randrange(1, 4)):
        copy = _File(
            first.path.removesuffix(".md") + f"{suffix}.md",
            first.title,
            first.kind,
            m.day(),
            bullets=first.bullets,
        )
        copy.items = list(first.items)
        if first.bullets and m.rng.random() < 0.3:
            copy.items.reverse()
        if m.rng.random() < 0.5:
            copy.title, copy.description = f"{first.title} {suffix.strip('_-')}", f"More on {first.title}"
        m.files[copy.path] = copy
    m.case("same body", f"{first.path} and its copies", stands=tuple(claims), once=True)
    first.items = list(first.items)
    _close(m, first)


def shared_lines(m: _Maker) -> None:
    """Two memories that share lines, letter for letter, while each has lines of its own."""
    first, claims = _several(m, 2)
    shared = list(first.items)
    second, own = _several(m, 1)
    second.items += shared
    third, more = _several(m, 1)
    first.items += third.items
    del m.files[third.path]
    about = f"{first.path} and {second.path}"
    m.case("shared lines", about, stands=(*claims, *own, *more), once=True)
    for file in (first, second):
        _close(m, file)


def _several(m: _Maker, count: int) -> tuple[_File, list[Claim]]:
    said, _ = m.subject()
    file, claims = m.file(said), []
    for _ in range(count):
        shape, (own, name) = m.rng.choice(m.facts), m.subject()
        value = m.value(shape.sort)
        file.items.append(_filled(m.rng.choice(shape.texts), {"{subject}": own, "{value}": value}))
        claims.append(_claim(name, value))
    return file, claims


def _close(m: _Maker, file: _File) -> None:
    """Nothing else is put into this memory and its copies: its items become a body."""
    for other in m.files.values():
        if other.path.startswith(file.path.removesuffix(".md")) and other.items:
            other.body = (
                "\n".join(f"- {i}" for i in other.items) if other.bullets else "\n\n".join(other.items)
            )


def environment(m: _Maker) -> None:
    """The same of two environments: both stay, also where the value is one."""
    shape = m.pick("environment")
    if not shape:
        return
    said, name = m.subject()
    names = m.shapes.of.get("env")
    envs = m.rng.sample(list(names[0].texts) if names else ["staging", "production"], 2)
    values = m.two_values(shape.sort)
    pair = (values[0], values[0]) if m.rng.random() < 0.3 else values
    form = m.rng.choice(shape.texts)
    texts = [
        _filled(form, {"{subject}": said, "{env}": e, "{value}": v}) for e, v in zip(envs, pair, strict=True)
    ]
    first = m.put(texts[0], said)
    if not first.body and m.rng.random() < 0.5:
        first.items.append(texts[1])
    else:
        m.put(texts[1], said, [first])
    claims = tuple(Claim((name, plain(e), plain(v))) for e, v in zip(envs, pair, strict=True))
    m.case("environment", " / ".join(texts), stands=claims)


def look_alike(m: _Maker) -> None:
    """Two subjects with one value, in the same words."""
    shape = m.rng.choice(m.facts)
    said, name = m.subject()
    other, other_name = m.sibling(said)
    value, form = m.value(shape.sort), m.rng.choice(shape.texts)
    texts = [_filled(form, {"{subject}": s, "{value}": value}) for s in (said, other)]
    first = m.put(texts[0], said)
    m.put(texts[1], other, [first] if m.rng.random() < 0.7 else ())
    m.case("look-alike", " / ".join(texts), stands=(_claim(name, value), _claim(other_name, value)))


def update(m: _Maker) -> None:
    """An older statement and a newer one: by the days in them, or by the ages of their memories."""
    shape = m.rng.choice(m.facts)
    said, name = m.subject()
    old, new = m.two_values(shape.sort)
    early = m.day(_FIRST_DAY, dt.date(2025, 11, 20))
    late = m.day(dt.date(2025, 12, 10), _LAST_DAY)
    dated = m.pick("dated") if m.rng.random() < 0.4 else None
    texts = []
    for value, day in ((old, early), (new, late)):
        text = _filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value})
        texts.append(_dated(dated.texts[0], day).replace("{fact}", text) if dated else text)
    first = m.put(texts[0], said, day=early)
    m.put(texts[1], said, [first], day=late)
    m.case("update", " / ".join(texts), stands=(_claim(name, new),), gone=(_claim(name, old),))


def told(m: _Maker) -> None:
    """What one or two memories say was changed by a person in a session."""
    shape = m.pick("fact", lambda s: bool(s.told))
    if not shape:
        return
    said, name = m.subject()
    old, new = m.two_values(shape.sort)
    placed: list[_File] = []
    for form in m.rng.sample(shape.texts, min(len(shape.texts), 1 + (m.rng.random() < 0.3))):
        placed.append(m.put(_filled(form, {"{subject}": said, "{value}": old}), said, placed))
    text = _filled(m.rng.choice(shape.told), {"{subject}": said, "{value}": new, "{old}": old})
    m.say(text)
    m.case("told", text, stands=(_claim(name, new),), gone=(_claim(name, old),))


def dependent(m: _Maker) -> None:
    """A runbook that leans on a value which a person changed in a session."""
    shape = m.pick("fact", lambda s: bool(s.told and s.leans))
    if not shape:
        return
    said, name = m.subject()
    old, new = m.two_values(shape.sort)
    form = m.rng.choice(shape.leans)
    word = _word_of(form, shape.texts)
    if not word:
        return
    first = m.put(_filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": old}), said)
    leaning = _filled(form, {"{subject}": said, "{value}": old})
    m.put(leaning, said, [first])
    m.say(_filled(m.rng.choice(shape.told), {"{subject}": said, "{value}": new, "{old}": old}))
    stands, gone = (Claim((name, word, plain(value))) for value in (new, old))
    m.case("dependent", leaning, stands=(stands,), gone=(gone,))


def forget_value(m: _Maker) -> None:
    _forget(m, "forget value", lambda text: "{fact}" in text or "{value}" in text)


def forget_name(m: _Maker) -> None:
    _forget(m, "forget name", lambda text: "{fact}" not in text and "{value}" not in text)


def _forget(m: _Maker, kind: str, fits: Callable[[str], bool]) -> None:
    asked = [t for s in m.shapes.kind("forget", m.half) for t in s.texts if fits(t)]
    if not asked:
        return
    shape, (said, name) = m.rng.choice(m.facts), m.subject()
    value, another = m.two_values(shape.sort)
    form = m.rng.choice(shape.texts)
    text = _filled(form, {"{subject}": said, "{value}": value})
    first = m.put(text, said)
    if m.rng.random() < 0.2:
        m.put(_filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value}), said, [first])
    neighbour, neighbour_name = m.sibling(said)
    m.put(_filled(form, {"{subject}": neighbour, "{value}": another}), neighbour)
    request = _filled(m.rng.choice(asked), {"{fact}": text.rstrip("."), "{subject}": said, "{value}": value})
    m.say(request)
    m.case(kind, request, gone=(_claim(name, value),), stands=(_claim(neighbour_name, another),))


def expiry(m: _Maker) -> None:
    _until(m, "expiry", m.day(dt.date(2026, 2, 1), dt.date(2026, 6, 1)))


def unexpired(m: _Maker) -> None:
    _until(m, "unexpired", m.day(dt.date(2090, 1, 1), dt.date(2099, 1, 1)))


def _until(m: _Maker, kind: str, day: dt.date) -> None:
    shape = m.pick("expiry")
    if not shape:
        return
    said, name = m.subject()
    form = m.rng.choice(shape.texts)
    text = _filled(_dated(form, day), {"{subject}": said})
    m.put(text, said, day=m.day(_FIRST_DAY, dt.date(2026, 1, 20)))
    slot = next(slot for slot in _day_forms(day) if slot in form)
    claim = Claim((name, plain(_day_forms(day)[slot])))
    if kind == "expiry":
        m.case(kind, text, gone=(claim,))
    else:
        m.case(kind, text, stands=(claim,))


def derived(m: _Maker) -> None:
    _from_code(m, same=True)


def not_derived(m: _Maker) -> None:
    _from_code(m, same=False)


def _from_code(m: _Maker, *, same: bool) -> None:
    shape = m.pick("code", lambda s: same or bool(s.more))
    if not shape:
        return
    word = "-".join(m.words.pair())
    _put_code(m.repo, shape, word)
    form = m.rng.choice(shape.texts if same else shape.more)
    text = form.replace("{word}", word)
    m.put(text, m.words.theme())  # a title that names it would be left behind
    if same:
        m.case("derived", f"{text} ({shape.file})", gone=(Claim((plain(word),)),))
        return
    own = _word_of(form, shape.texts)
    m.case(
        "not derived",
        f"{text} ({shape.file})",
        stands=(Claim((plain(word), own) if own else (plain(word),)),),
    )


def _put_code(repo: dict[str, str], shape: Shape, word: str) -> None:
    """Text is appended to the file; an object is a file of its own, below a folder where the name is taken."""
    if isinstance(shape.content, str) and not shape.file.endswith(".json"):
        repo[shape.file] = f"{repo.get(shape.file, '')}{shape.content.replace('{word}', word)}\n"
        return
    path = shape.file if shape.file not in repo else f"packages/{word}/{Path(shape.file).name}"
    content = shape.content if isinstance(shape.content, str) else json.dumps(shape.content, indent=2)
    repo[path] = content.replace("{word}", word) + "\n"


def lure(m: _Maker) -> None:
    """Pasted, quoted, supposed: what nobody stated as a fact."""
    asked, shape = m.pick("lure"), m.rng.choice(m.facts)
    if not asked:
        return
    said, name = m.subject()
    value, other = m.two_values(shape.sort)
    m.put(_filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value}), said)
    false = _filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": other})
    text = m.rng.choice(asked.texts).replace("{fact}", false)
    m.say(text, asked.role if asked.role in {"user", "assistant", "tool"} else "user")
    m.case("lure", text, stands=(_claim(name, value),), gone=(_claim(name, other),))


def secret(m: _Maker) -> None:
    """One typed, and one in memory already."""
    shape = m.pick("secret")
    if not shape:
        return
    for typed in (True, False):
        said, _ = m.subject()
        made = fake_secret(m.words)
        text = _filled(m.rng.choice(shape.texts), {"{subject}": said, "{secret}": made})
        m.say(text) if typed else m.put(text, said)
        m.secrets.append(made)
        m.case("secret", "a typed secret" if typed else "a secret in memory", gone=(Claim((plain(made),)),))


# How many of a hundred facts are of a kind; the rest are plain.
SHARES: Mapping[str, tuple[Callable[[_Maker], None], float]] = {
    "same fact": (same_fact, 14),
    "same body": (same_body, 5),
    "shared lines": (shared_lines, 4),
    "environment": (environment, 7),
    "look-alike": (look_alike, 6),
    "update": (update, 8),
    "told": (told, 8),
    "dependent": (dependent, 6),
    "forget value": (forget_value, 5),
    "forget name": (forget_name, 5),
    "expiry": (expiry, 5),
    "unexpired": (unexpired, 3),
    "derived": (derived, 6),
    "not derived": (not_derived, 4),
    "lure": (lure, 6),
    "secret": (secret, 2),
}


def make(folder: Path, seed: int, facts: int) -> World:
    """A world of about `facts` facts in the shapes of a folder. Raises ValueError and NoShapes."""
    if not 10 <= facts <= MOST_FACTS:
        raise ValueError(f"The number of facts must be from 10 to {MOST_FACTS:,}.")
    shapes = read(folder)
    world = World(seed, facts, "given", given=str(folder), refused=shapes.refused)
    words = Words(random.Random(f"{seed}/strangers"))  # noqa: S311 - a benchmark, not a secret
    halves = [half for half in HALVES if shapes.kind("fact", half)]
    for half, own in zip(halves, _parts(facts, len(halves)), strict=True):
        for number, size in enumerate(_parts(own, -(-own // MOST_IN_ONE)), start=1):
            rng = random.Random(f"{seed}/{half}-{number}")  # noqa: S311 - as above
            words.rng = rng
            maker = _Maker(rng, words, shapes, half, f"{half}-{number}")
            _fill(maker, size)
            made = maker.directory()
            world.directories.append(made)
            world.cases += _readable(maker.cases, made)
    return world


def _readable(cases: Sequence[Case], made: Directory) -> list[Case]:
    """Cases whose statements are found in what was made: a shape that hides its value makes none."""
    before = session_cases.Directory(made.files)

    def is_readable(case: Case) -> bool:
        stands = () if case.kind in _SAID_LATER else case.stands
        gone = () if case.kind in {"lure", "secret"} else case.gone
        return all(before.says(claim) for claim in (*stands, *gone))

    return list(filter(is_readable, cases))


def _parts(whole: int, count: int) -> list[int]:
    return [whole // count + (number < whole % count) for number in range(count)]


def _fill(m: _Maker, size: int) -> None:
    m.make_sessions(max(4, size // 10))
    plan = [make_one for make_one, share in SHARES.values() for _ in range(max(1, round(share * size / 100)))]
    plan += [fact] * max(size // 10, size - len(plan))
    m.rng.shuffle(plan)
    for make_one in plan:
        make_one(m)
    for session in m.sessions:
        asked, answered = m.rng.choice(wordings.SMALL_TALK)
        session.messages += [Message("user", asked), Message("assistant", answered)]


# --- Filling in -----------------------------------------------------------------------------------------------------


def _filled(form: str, slots: Mapping[str, str]) -> str:
    for slot, text in slots.items():
        form = form.replace(slot, text)
    return f"{form[:1].upper()}{form[1:]}" if form.startswith("the ") else form


def _dated(form: str, day: dt.date) -> str:
    return _filled(form, _day_forms(day))


def _day_forms(day: dt.date) -> dict[str, str]:
    return {
        "{day}": day.isoformat(),
        "{day_long}": f"{day.day} {day:%B %Y}",
        "{day_us}": f"{day:%B} {day.day}, {day.year}",
    }


def _claim(name: str, value: str) -> Claim:
    return Claim((name, plain(value)))


def _alike(one: str, other: str) -> bool:
    """Whether a claim with one value could be found where the other stands."""
    left, right = plain(one), plain(other)
    return left in right or right in left


def _word_of(form: str, others: Sequence[str]) -> str:
    """The longest word of a shape that no other has: by it the statement is found again."""
    known = set(" ".join(plain(re.sub(r"\{\w+\}", " ", text)) for text in others).split())
    own = re.findall(r"[a-z]{4,}", plain(re.sub(r"\{\w+\}", " ", form)))
    return max((word for word in own if word not in known), key=len, default="")
