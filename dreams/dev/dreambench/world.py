"""A world: directories whose statements have the shapes of a folder. Pure.

Each directory uses one half of the shapes (`work-1`, `report-1`, …). Most memories have one statement, as agents write
them; some are lists. Subjects are unique in a world, so that no case affects another.
"""

import datetime as dt
import json
import random
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from dreams.dev.dreambench import own_cases
from dreams.dev.dreambench.builder import (
    FIRST_DAY,
    LAST_DAY,
    BuiltDirectory,
    Case,
    Claim,
    DirectoryBuilder,
    Maker,
    MemoryFile,
    World,
    alike,
    claim_of,
    dated,
    day_forms,
    fill,
    filled,
    word_of,
)
from dreams.dev.dreambench.passages import DirectoryPassages, plain
from dreams.dev.dreambench.shapes import HALVES, OWN, Shape, Words, read

MOST_IN_ONE = 150  # facts of one project; chosen
CROWDED_FROM = 30  # from so many facts on, one directory of our own world has an index over its budget
_SAID_LATER = frozenset({"told", "dependent", "preference"})  # their new statement is in a session


# --- Cases ----------------------------------------------------------------------------------------------------------


def fact(m: DirectoryBuilder) -> None:
    """One value of a subject, or two different ones that are no contradiction."""
    said, name = m.subject()
    values: list[str] = []
    sorts = set()
    for shape in m.rng.sample(m.facts, min(len(m.facts), 1 + (m.rng.random() < 0.4))):
        value = m.value(shape.sort)
        if shape.sort in sorts or any(alike(value, other) for other in values):
            continue
        sorts.add(shape.sort)
        values.append(value)
        text = filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value})
        m.put(text, said)
        m.case("fact", text, stands=(claim_of(name, value),))


def same_fact(m: DirectoryBuilder) -> None:
    """One fact, worded in two to five ways in as many memories."""
    shape = m.pick("fact", lambda s: len(s.texts) > 1)
    if not shape:
        return
    said, name = m.subject()
    value = m.value(shape.sort)
    texts = list(shape.texts)
    m.rng.shuffle(texts)
    texts = [filled(t, {"{subject}": said, "{value}": value}) for t in texts[: m.rng.randrange(2, 6)]]
    placed: list[MemoryFile] = []
    for text in texts:
        placed.append(m.put(text, said, placed))
    m.case("same fact", " / ".join(texts), stands=(claim_of(name, value),), once=True)


def same_body(m: DirectoryBuilder) -> None:
    """Copies of a memory under names like `_2` and `_4`, with only labels, blank lines or the order of items changed."""
    first, claims = _several(m, m.rng.randrange(1, 4))
    for suffix in m.rng.sample(("_2", "_3", "_4", "_v2", "-copy"), m.rng.randrange(1, 4)):
        copy = MemoryFile(
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


def shared_lines(m: DirectoryBuilder) -> None:
    """Two memories with some identical lines and some different ones."""
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


def _several(m: DirectoryBuilder, count: int) -> tuple[MemoryFile, list[Claim]]:
    said, _ = m.subject()
    file, claims = m.file(said), []
    for _ in range(count):
        shape, (own, name) = m.rng.choice(m.facts), m.subject()
        value = m.value(shape.sort)
        file.items.append(filled(m.rng.choice(shape.texts), {"{subject}": own, "{value}": value}))
        claims.append(claim_of(name, value))
    return file, claims


def _close(m: DirectoryBuilder, file: MemoryFile) -> None:
    """Closes this memory and its copies for more items: the items become a body."""
    for other in m.files.values():
        if other.path.startswith(file.path.removesuffix(".md")) and other.items:
            other.body = (
                "\n".join(f"- {i}" for i in other.items) if other.bullets else "\n\n".join(other.items)
            )


def environment(m: DirectoryBuilder) -> None:
    """The same fact for two environments: both are kept, even with the same value."""
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
        filled(form, {"{subject}": said, "{env}": e, "{value}": v}) for e, v in zip(envs, pair, strict=True)
    ]
    first = m.put(texts[0], said)
    if not first.body and m.rng.random() < 0.5:
        first.items.append(texts[1])
    else:
        m.put(texts[1], said, [first])
    claims = tuple((name, plain(e), plain(v)) for e, v in zip(envs, pair, strict=True))
    m.case("environment", " / ".join(texts), stands=claims)


def look_alike(m: DirectoryBuilder) -> None:
    """Two subjects with one value, in the same words."""
    shape = m.rng.choice(m.facts)
    said, name = m.subject()
    other, other_name = m.sibling(said)
    value, form = m.value(shape.sort), m.rng.choice(shape.texts)
    texts = [filled(form, {"{subject}": s, "{value}": value}) for s in (said, other)]
    first = m.put(texts[0], said)
    m.put(texts[1], other, [first] if m.rng.random() < 0.7 else ())
    m.case("look-alike", " / ".join(texts), stands=(claim_of(name, value), claim_of(other_name, value)))


def update(m: DirectoryBuilder) -> None:
    """An older statement and a newer one, by the days in them or the ages of their memories."""
    shape = m.rng.choice(m.facts)
    said, name = m.subject()
    old, new = m.two_values(shape.sort)
    early = m.day(FIRST_DAY, dt.date(2025, 11, 20))
    late = m.day(dt.date(2025, 12, 10), LAST_DAY)
    with_day = m.pick("dated") if m.rng.random() < 0.4 else None
    texts = []
    for value, day in ((old, early), (new, late)):
        text = filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value})
        texts.append(dated(with_day.texts[0], day).replace("{fact}", text) if with_day else text)
    first = m.put(texts[0], said, day=early)
    m.put(texts[1], said, [first], day=late)
    m.case("update", " / ".join(texts), stands=(claim_of(name, new),), gone=(claim_of(name, old),))


def told(m: DirectoryBuilder) -> None:
    """A fact in one or two memories that a person changed in a session."""
    shape = m.pick("fact", lambda s: bool(s.told))
    if not shape:
        return
    said, name = m.subject()
    old, new = m.two_values(shape.sort)
    placed: list[MemoryFile] = []
    for form in m.rng.sample(shape.texts, min(len(shape.texts), 1 + (m.rng.random() < 0.3))):
        placed.append(m.put(filled(form, {"{subject}": said, "{value}": old}), said, placed))
    text = filled(m.rng.choice(shape.told), {"{subject}": said, "{value}": new, "{old}": old})
    m.say(text)
    m.case("told", text, stands=(claim_of(name, new),), gone=(claim_of(name, old),))


def dependent(m: DirectoryBuilder) -> None:
    """A runbook that depends on a value that a person changed in a session."""
    shape = m.pick("fact", lambda s: bool(s.told and s.leans))
    if not shape:
        return
    said, name = m.subject()
    old, new = m.two_values(shape.sort)
    form = m.rng.choice(shape.leans)
    word = word_of(form, shape.texts)
    if not word:
        return
    told = m.rng.choice(shape.texts)
    first = m.put(filled(told, {"{subject}": said, "{value}": old}), said)
    leaning = filled(form, {"{subject}": said, "{value}": old})
    m.put(leaning, said, [first])
    text = filled(m.rng.choice(shape.told), {"{subject}": said, "{value}": new, "{old}": old})
    m.say(text)
    # The value itself changes too: a reviewer who knows the truth answers for both.
    for kind, about, own in (("told", text, word_of(told, shape.leans)), ("dependent", leaning, word)):
        stands, gone = ((name, own, plain(value)) for value in (new, old))
        if own:
            m.case(kind, about, stands=(stands,), gone=(gone,))


def forget(m: DirectoryBuilder, *, by_value: bool) -> None:
    """What a person asked to forget, with its value or by its name alone."""
    texts = [text for shape in m.shapes.kind("forget", m.half) for text in shape.texts]
    asked = [text for text in texts if ("{fact}" in text or "{value}" in text) == by_value]
    if not asked:
        return
    shape, (said, name) = m.rng.choice(m.facts), m.subject()
    value, another = m.two_values(shape.sort)
    form = m.rng.choice(shape.texts)
    text = filled(form, {"{subject}": said, "{value}": value})
    first = m.put(text, said)
    if m.rng.random() < 0.2:
        m.put(filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value}), said, [first])
    neighbour, neighbour_name = m.sibling(said)
    m.put(filled(form, {"{subject}": neighbour, "{value}": another}), neighbour)
    request = filled(m.rng.choice(asked), {"{fact}": text.rstrip("."), "{subject}": said, "{value}": value})
    m.say(request)
    m.case(
        f"forget {'value' if by_value else 'name'}",
        request,
        gone=(claim_of(name, value),),
        stands=(claim_of(neighbour_name, another),),
    )


def until(m: DirectoryBuilder, kind: str, first: dt.date, last: dt.date) -> None:
    """What holds until a day between these."""
    day = m.day(first, last)
    shape = m.pick("expiry")
    if not shape:
        return
    said, name = m.subject()
    form = m.rng.choice(shape.texts)
    text = filled(dated(form, day), {"{subject}": said})
    m.put(text, said, day=m.day(FIRST_DAY, dt.date(2026, 1, 20)))
    slot = next(slot for slot in day_forms(day) if slot in form)
    m.case(kind, text, **{"gone" if kind == "expiry" else "stands": ((name, plain(day_forms(day)[slot])),)})


def from_code(m: DirectoryBuilder, *, same: bool) -> None:
    shape = m.pick("code", lambda s: same or bool(s.more))
    if not shape:
        return
    word = "-".join(m.words.pair())
    _put_code(m.repo, shape, word)
    form = m.rng.choice(shape.texts if same else shape.more)
    text = form.replace("{word}", word)
    m.put(text, m.words.theme())  # a title that names it would remain
    if same:
        m.case("derived", f"{text} ({shape.file})", gone=((plain(word),),))
        return
    own = word_of(form, shape.texts)
    m.case(
        "not derived",
        f"{text} ({shape.file})",
        stands=((plain(word), own) if own else (plain(word),),),
    )


def _put_code(repo: dict[str, str], shape: Shape, word: str) -> None:
    """Adds code to the repository: text is appended to the file; an object is a new file, in a folder if the name is taken."""
    if isinstance(shape.content, str) and not shape.file.endswith(".json"):
        repo[shape.file] = f"{repo.get(shape.file, '')}{shape.content.replace('{word}', word)}\n"
        return
    path = shape.file if shape.file not in repo else f"packages/{word}/{Path(shape.file).name}"
    content = shape.content if isinstance(shape.content, str) else json.dumps(shape.content, indent=2)
    repo[path] = content.replace("{word}", word) + "\n"


def lure(m: DirectoryBuilder) -> None:
    """Text that is pasted, quoted or supposed: nobody stated it as a fact."""
    asked, shape = m.pick("lure"), m.rng.choice(m.facts)
    if not asked:
        return
    said, name = m.subject()
    value, other = m.two_values(shape.sort)
    m.put(filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value}), said)
    false = filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": other})
    text = m.rng.choice(asked.texts).replace("{fact}", false)
    m.say(text, asked.role if asked.role in {"user", "assistant", "tool"} else "user")
    m.case("lure", text, stands=(claim_of(name, value),), gone=(claim_of(name, other),))


def fake_secret(words: Words) -> str:
    letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    head = words.rng.choice(("gh" + "p_", "gl" + "pat-", "xox" + "b-"))
    return head + "".join(words.rng.choice(letters) for _ in range(36))


def secret(m: DirectoryBuilder) -> None:
    """One typed secret, and one in memory."""
    shape = m.pick("secret")
    if not shape:
        return
    for typed in (True, False):
        said, _ = m.subject()
        made = fake_secret(m.words)
        text = filled(m.rng.choice(shape.texts), {"{subject}": said, "{secret}": made})
        m.say(text) if typed else m.put(text, said)
        m.secrets.append(made)
        m.case("secret", "a typed secret" if typed else "a secret in memory", gone=((plain(made),),))


# Percentage of facts of each kind; the rest are plain.
SHARES: Mapping[str, tuple[Maker, float]] = {
    "same fact": (same_fact, 14),
    "same body": (same_body, 5),
    "shared lines": (shared_lines, 4),
    "environment": (environment, 7),
    "look-alike": (look_alike, 6),
    "update": (update, 8),
    "told": (told, 8),
    "dependent": (dependent, 6),
    "forget value": (partial(forget, by_value=True), 5),
    "forget name": (partial(forget, by_value=False), 5),
    "expiry": (partial(until, kind="expiry", first=dt.date(2026, 2, 1), last=dt.date(2026, 6, 1)), 5),
    "unexpired": (partial(until, kind="unexpired", first=dt.date(2090, 1, 1), last=dt.date(2099, 1, 1)), 3),
    "derived": (partial(from_code, same=True), 6),
    "not derived": (partial(from_code, same=False), 4),
    "lure": (lure, 6),
    "secret": (secret, 2),
}


def make(seed: int, facts: int, folder: Path | None = None) -> World:
    """A world of about `facts` facts in the shapes of a folder; without one in ours, with cases that only it has.

    Raises ValueError and NoShapes.
    """
    shapes = read(folder or OWN)
    world = World(seed, facts, given=str(folder or ""), refused=shapes.refused)
    shares = [*SHARES.values(), *(() if folder else own_cases.SHARES)]
    words = Words(random.Random(f"{seed}/strangers"))  # noqa: S311 - a benchmark, not a secret
    halves = [half for half in HALVES if shapes.kind("fact", half)]
    for half, own in zip(halves, _parts(facts, len(halves)), strict=True):
        for number, size in enumerate(_parts(own, -(-own // MOST_IN_ONE)), start=1):
            rng = random.Random(f"{seed}/{half}-{number}")  # noqa: S311 - as above
            words.rng = rng
            maker = DirectoryBuilder(rng, words, shapes, half, f"{half}-{number}")
            fill(maker, shares, fact, size, least=size // 10)
            _add(world, maker)
    if facts >= CROWDED_FROM and not folder:
        rng = words.rng = random.Random(f"{seed}/crowded")  # noqa: S311 - as above
        maker = DirectoryBuilder(rng, words, shapes, halves[0], f"{halves[0]}-crowded")
        maker.make_sessions(1)
        own_cases.crowded(maker, facts)
        _add(world, maker)
    return world


def _add(world: World, maker: DirectoryBuilder) -> None:
    made = maker.directory()
    world.directories.append(made)
    world.cases += _readable(maker.cases, made)


def _readable(cases: Sequence[Case], made: BuiltDirectory) -> list[Case]:
    """The cases whose statements are found in the directory: a shape may hide its value."""
    before = DirectoryPassages(made.files)

    def is_readable(case: Case) -> bool:
        stands = () if case.kind in _SAID_LATER else case.stands
        gone = () if case.kind in {"lure", "secret", "flip-back"} else case.gone
        return all(before.says(claim) for claim in (*stands, *gone))

    return list(filter(is_readable, cases))


def _parts(whole: int, count: int) -> list[int]:
    return [whole // count + (number < whole % count) for number in range(count)]
