"""Cases that only our own world has: dates, wishes, broken indexes, odd encodings. Pure."""

import datetime as dt
from collections.abc import Sequence

from dreams.dev.dreambench.builder import Claim, DirectoryBuilder, Maker, MemoryFile, claim_of, filled
from dreams.dev.dreambench.passages import INDEX_BYTES, plain
from dreams.dev.dreambench.shapes import SAID


def _fact(m: DirectoryBuilder) -> tuple[str, str, Claim]:
    """(a statement, its subject as written, its claim)."""
    shape, (said, name) = m.rng.choice(m.facts), m.subject()
    value = m.value(shape.sort)
    text = filled(m.rng.choice(shape.texts), {"{subject}": said, "{value}": value})
    return text, said, claim_of(name, value)


def _memory(m: DirectoryBuilder, text: str, said: str) -> MemoryFile:
    """A memory of this text and nothing else, also not in its description."""
    made = m.file(said)
    made.body = text
    return made


def flip_back(m: DirectoryBuilder) -> None:
    shape = m.rng.choice([each for each in m.facts if each.told])
    (said, name), (value, other) = m.subject(), m.two_values(shape.sort)
    slots = {"{subject}": said}
    m.put(filled(m.rng.choice(shape.texts), {**slots, "{value}": value}), said)
    first, later = sorted(m.rng.sample(range(len(m.sessions)), 2))
    m.say(filled(m.rng.choice(shape.told), {**slots, "{value}": other, "{old}": value}), at=first)
    back = filled(m.rng.choice(shape.told), {**slots, "{value}": value, "{old}": other})
    m.say(back, at=later)
    m.case("flip-back", back, stands=(claim_of(name, value),), gone=(claim_of(name, other),))


def mistake(m: DirectoryBuilder) -> None:
    """A lure that a person typed and took back at once."""
    shape, (said, name) = m.rng.choice(m.facts), m.subject()
    value, other = m.two_values(shape.sort)
    form = m.rng.choice(shape.texts)
    true, false = (filled(form, {"{subject}": said, "{value}": each}) for each in (value, other))
    m.put(true, said)
    at = m.rng.randrange(len(m.sessions))
    for told in m.rng.choice(SAID["mistakes"]):
        m.say(filled(told, {"{false}": false, "{true}": true}), at=at)
    m.case("lure", false, stands=(claim_of(name, value),), gone=(claim_of(name, other),))


def date(m: DirectoryBuilder) -> None:
    one, (said, name) = m.rng.choice(SAID["resolvable"]), m.subject()
    back = -one["days"] if "days" in one else m.rng.randrange(2, 9)
    made = _memory(m, filled(one["said"], {"{subject}": said, "{n}": str(back)}), m.words.theme())
    day = (made.day - dt.timedelta(days=back)).isoformat()
    m.case("date", f"{made.body} (written {made.day.isoformat()})", stands=((name,),), day=day)


def vague(m: DirectoryBuilder) -> None:
    said, name = m.subject()
    text = filled(m.rng.choice(SAID["vague"]), {"{subject}": said})
    m.among(text)
    m.case("vague", text, stands=((name,),), undated=True)


def preference(m: DirectoryBuilder) -> None:
    wording, named = m.rng.choice(SAID["wishes"])
    slots = {slot: "-".join(m.words.pair()) for slot in ("{a}", "{b}")}
    said = filled(wording, slots)
    m.say(said)
    m.case("preference", said, stands=(tuple(plain(slots[slot]) for slot in named),))


# --- Files and the index --------------------------------------------------------------------------------------------


def dangling(m: DirectoryBuilder) -> None:
    text, said, claim = _fact(m)
    stem = plain(said).replace(" ", "_")
    m.rows.append(f"- [{plain(said)}](project_{stem}.md) — {text}")
    m.case("dangling", m.rows[-1], stands=(claim,))


def missing_row(m: DirectoryBuilder) -> None:
    text, said, claim = _fact(m)
    made = _memory(m, text, said)
    m.unlisted.add(made.path)
    m.case("missing row", made.path, stands=(claim,), row=made.path)


def double_row(m: DirectoryBuilder) -> None:
    text, said, claim = _fact(m)
    made = _memory(m, text, said)
    hook = m.rng.choice((f"about {made.title}", "see there", f"what to know about {made.title}"))
    m.rows.append(f"- [{made.title}]({made.path}) — {hook}")
    m.case("double row", m.rows[-1], stands=(claim,), row=made.path)


def long_row(m: DirectoryBuilder) -> None:
    """A long row in an index with room for it."""
    path, claims = _verbose(m, 300)
    m.case("long row", path, stands=claims, long=path)


def _verbose(m: DirectoryBuilder, least: int) -> tuple[str, tuple[Claim, ...]]:
    """A memory with a long row whose text is nowhere else: (its path, the row's claims)."""
    text, said, _ = _fact(m)
    made = _memory(m, text, said)
    facts = list[tuple[str, str, Claim]]()
    while sum(len(each) for each, _, _ in facts) < least:
        facts.append(_fact(m))
    m.unlisted.add(made.path)
    m.rows.append(f"- [{made.title}]({made.path}) — {' '.join(each for each, _, _ in facts)}")
    return made.path, tuple(claim for _, _, claim in facts)


def crowded(m: DirectoryBuilder, facts: int) -> None:
    """An index that is too long to be loaded completely."""
    rows = max(10, facts // 6)
    made = [_verbose(m, INDEX_BYTES // rows + 20) for _ in range(rows)]
    stands = tuple(claim for _, claims in made for claim in claims)
    m.case("crowded", f"{rows} long rows", stands=stands, fits=True)


def pinned(m: DirectoryBuilder) -> None:
    """A pinned memory that repeats another one."""
    text, said, _ = _fact(m)
    made = _memory(m, f"{text}\n\nIt was all written yesterday.", said)
    made.pinned = True
    m.put(text, said, [made])
    m.case("pinned", made.path, same=(made.path,))


def encoding(m: DirectoryBuilder) -> None:
    said, _ = m.subject()
    facts = [_fact(m) for _ in range(2)]
    form = m.rng.choice(("crlf", "bom", "no final line end", "odd bytes"))
    lines = [text for text, _, _ in facts]
    if form != "odd bytes":  # what makes an engine write the file
        lines.append(lines[0])
    made = _memory(m, "\n".join(f"- {line}" for line in reversed(lines)), said)
    made.newline = "\r\n" if form == "crlf" else "\n"
    made.bom, made.final = form == "bom", form != "no final line end"
    made.odd = "Café à Orléans\n".encode("latin-1") if form == "odd bytes" else b""
    stands = tuple(claim for _, _, claim in facts)
    m.case("encoding", f"{made.path}: {form}", stands=stands, marks=(made.path,))


def link(m: DirectoryBuilder) -> None:
    """A wikilink from one memory to another."""
    (text, said, _), (other, its_subject, _) = _fact(m), _fact(m)
    target = _memory(m, other, its_subject)
    source = _memory(m, f"{text}\n\nSee [[{target.path.removesuffix('.md')}]] for the rest.", said)
    m.case("link", f"links of {source.path}", link=source.path)


# Each with its percentage of facts.
SHARES: Sequence[tuple[Maker, float]] = (
    (flip_back, 3),
    (mistake, 2),
    (date, 4),
    (vague, 4),
    (preference, 4),
    (dangling, 2),
    (missing_row, 2),
    (double_row, 2),
    (long_row, 1.5),
    (encoding, 3),
    (pinned, 2),
    (link, 2),
)
