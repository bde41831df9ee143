"""Cases that the memories alone decide: facts, duplicates, look-alikes, updates, expiries, dates, pinned files. Pure."""

from __future__ import annotations

import datetime as dt

from dreams.dev.dreambench import phrasings
from dreams.dev.dreambench.builder import Builder, claim
from dreams.dev.dreambench.truth import Claim
from dreams.dev.dreambench.words import PEOPLE, SURNAMES, bare, opening

OLD_FROM, OLD_TO = dt.date(2025, 6, 1), dt.date(2025, 10, 1)
NEW_FROM, NEW_TO = dt.date(2025, 10, 5), dt.date(2026, 2, 20)
PASSED_FROM, PASSED_TO = dt.date(2026, 2, 1), dt.date(2026, 5, 1)


def fact(b: Builder) -> None:
    chance = b.rng.random()
    if chance < 0.12:
        return _foreign(b)
    if chance < 0.22:
        return _preference_kept(b)
    attribute = b.rng.choice(b.attributes)
    subject, value = b.words.subject(), b.words.value(attribute.sort)
    text, _, held = b.fact(attribute, subject, value)
    topic = b.place(text)
    if b.rng.random() < 0.15:
        topic.lines.append(b.rng.choice(phrasings.REMARKS))
    b.case("fact", about=text, held_out=held, stands=(claim(subject, value),))
    return None


def _foreign(b: Builder) -> None:
    chosen = b.put(
        phrasings.FRENCH if b.rng.random() < 0.5 else phrasings.KOREAN,
        s=(s := b.words.subject()),
        v=(v := b.words.value("port")),
    )
    b.place(chosen.text)
    b.case("fact", about=chosen.text, held_out=chosen.held_out, stands=(claim(s, v),))


def _preference_kept(b: Builder) -> None:
    """What the person likes stays, also where the agent worked otherwise."""
    topics = [t for t in b.topics if t.kind == "user" and t.open]
    topic = topics[0] if topics else b.topic(kind="user", title="How I work")
    one, other = b.words.subject().strip("`"), b.words.subject().strip("`")
    line = b.rng.choice(
        ("Prefers {a} over {b} for small things.", "Wants {a} to be asked before {b} is touched.")
    )
    topic.lines.append(line.format(a=one, b=other))
    b.case("fact", about=topic.lines[-1], stands=(Claim((bare(one), bare(other))),))


def duplicate(b: Builder) -> None:
    if b.rng.random() < 0.15:
        return _twin_files(b)
    attribute = b.rng.choice(b.attributes)
    subject, value = b.words.subject(), b.words.value(attribute.sort)
    one, wording, held = b.fact(attribute, subject, value)
    other, _, held_too = b.fact(attribute, subject, value, [wording] if b.rng.random() < 0.7 else [])
    other = b.rng.choice(phrasings.DUPLICATE_FRAMES).format(other)
    topic = b.place(one)
    if b.rng.random() < 0.4:
        topic.lines.insert(b.rng.randrange(len(topic.lines) + 1), other)
    else:
        b.place(other, [topic])
    b.case(
        "duplicate",
        about=f"{one} / {other}",
        held_out=held or held_too,
        stands=(claim(subject, value),),
        once=True,
    )
    return None


def _twin_files(b: Builder) -> None:
    """The same note saved twice under two names; a wikilink leads to each of them."""
    one, two = b.topic(is_open=False), b.topic(is_open=False)
    two.title = f"{one.title} notes"
    two.path = f"project_{one.title.lower().replace(' ', '_')}_notes.md"
    two.bullets, two.shape = one.bullets, one.shape
    claims = []
    for attribute in b.rng.sample(b.attributes, 3):
        subject, value = b.words.subject(), b.words.value(attribute.sort)
        one.lines.append(b.fact(attribute, subject, value)[0])
        claims.append(claim(subject, value))
    two.lines = list(one.lines)
    for topic in (one, two):
        b.place(f"More on this in [[{topic.path.removesuffix('.md')}]].")
    b.case("duplicate", about=f"{one.path} and {two.path}", stands=tuple(claims), once=True)
    for topic in b.topics:
        if any("[[" in line for line in topic.lines):
            b.case("link", about=f"links of {topic.path}", link=topic.path)


def look_alike(b: Builder) -> None:
    """Two facts in the same words, but for the value, the place, the environment or the person."""
    attribute = b.rng.choice([a for a in b.attributes if a.sort != "person"])
    subject = b.words.subject()
    value, another = b.words.two_values(attribute.sort)
    form = b.rng.randrange(4)
    if form == 0:  # two services
        other = b.words.other_subject(subject)
        text, wording, held = b.fact(attribute, subject, value)
        pair = text, opening(wording.format(s=other, v=value))
        claims = claim(subject, value), claim(other, value)
    elif form == 1:  # two environments
        text, wording, held = b.fact(attribute, f"{subject} in staging", value)
        pair = text, opening(wording.format(s=f"{subject} in production", v=another))
        claims = _in(subject, "staging", value), _in(subject, "production", another)
    elif form == 2:  # two people of one first name
        return _namesakes(b)
    else:  # two numbers of one thing
        text, wording, held = b.fact(attribute, f"{subject} v2", value)
        pair = text, opening(wording.format(s=f"{subject} v3", v=another))
        claims = _in(subject, "v2", value), _in(subject, "v3", another)
    topic = b.place(pair[0])
    if b.rng.random() < 0.5:
        topic.lines.append(pair[1])
    else:
        b.place(pair[1], [topic])
    b.case("look-alike", about=f"{pair[0]} / {pair[1]}", held_out=held, stands=claims)
    return None


def _in(subject: str, place: str, value: str) -> Claim:
    return Claim((bare(subject), place, value.strip("`").lower()))


def _namesakes(b: Builder) -> None:
    first = b.rng.choice(PEOPLE)
    one, two = b.rng.sample(SURNAMES, 2)
    subject, other = b.words.subject(), b.words.subject()
    attribute = next(a for a in b.attributes if a.sort == "person")
    left, wording, held = b.fact(attribute, subject, f"{first} {one}")
    right = opening(
        wording.format(s=other if b.rng.random() < 0.5 else f"{subject} abroad", v=f"{first} {two}")
    )
    topic = b.place(left)
    topic.lines.append(right)
    claims = claim(subject, f"{first} {one}"), Claim((f"{first} {two}".lower(),))
    b.case("look-alike", about=f"{left} / {right}", held_out=held, stands=claims)


def update(b: Builder) -> None:
    attribute = b.rng.choice(b.attributes)
    subject = b.words.subject()
    old, new = b.words.two_values(attribute.sort)
    before, wording, held = b.fact(attribute, subject, old)
    after, _, _ = b.fact(attribute, subject, new, [] if b.rng.random() < 0.6 else [wording])
    lines = [
        b.deal.draw(phrasings.DATED_OLD).text.format(day=b.day(OLD_FROM, OLD_TO), fact=before),
        b.deal.draw(phrasings.DATED_NEW).text.format(day=b.day(NEW_FROM, NEW_TO), fact=after),
    ]
    if b.rng.random() < 0.3:
        lines.reverse()
    topic = b.place(lines[0])
    if b.rng.random() < 0.5:
        topic.lines.append(lines[1])
    else:
        b.place(lines[1], [topic])
    b.case(
        "update",
        about=" / ".join(lines),
        held_out=held,
        stands=(claim(subject, new),),
        gone=(claim(subject, old),),
    )


def expiry(b: Builder) -> None:
    subject, day = b.words.subject(), b.day(PASSED_FROM, PASSED_TO)
    chosen = b.put(phrasings.EXPIRED, s=subject, day=day)
    b.place(chosen.text)
    b.case("expiry", about=chosen.text, held_out=chosen.held_out, gone=(claim(subject, day),))


def unexpired(b: Builder) -> None:
    subject, day = b.words.subject(), b.day(dt.date(2090, 1, 1), dt.date(2099, 1, 1))
    chosen = b.put(phrasings.EXPIRED, s=subject, day=day)
    b.place(chosen.text)
    b.case("unexpired", about=chosen.text, held_out=chosen.held_out, stands=(claim(subject, day),))


def date(b: Builder) -> None:
    topics = [t for t in b.topics if t.title.startswith("Log of") and len(t.lines) < 4]
    topic = topics[0] if topics else b.topic(title=f"Log of {b.words.subject().strip('`')}", is_open=False)
    wording, days = b.rng.choice(phrasings.RESOLVABLE)
    back = b.rng.randrange(2, 9) if days is None else -days
    subject = b.words.subject()
    topic.lines.append(opening(wording.format(s=subject, n=back)))
    day = (topic.day - dt.timedelta(days=back)).isoformat()
    held = wording in b.deal.parts([w for w, _ in phrasings.RESOLVABLE])[1]
    about = f"{topic.lines[-1]} (written {topic.day.isoformat()})"
    b.case("date", about=about, held_out=held, stands=(Claim((bare(subject),)),), day=day)


def vague(b: Builder) -> None:
    subject = b.words.subject()
    chosen = b.put(phrasings.VAGUE, s=subject)
    b.place(chosen.text)
    b.case(
        "vague", about=chosen.text, held_out=chosen.held_out, stands=(Claim((bare(subject),)),), undated=True
    )


def pinned(b: Builder) -> None:
    """A pinned file that says what another file says too, and says it better there."""
    topic = b.topic(is_open=False)
    topic.pinned = True
    topic.shape = "nested" if topic.shape == "none" else topic.shape
    for number in range(2):
        attribute = b.rng.choice(b.attributes)
        subject, value = b.words.subject(), b.words.value(attribute.sort)
        text, _, _ = b.fact(attribute, subject, value)
        topic.lines.append(text)
        if number == 0:
            b.place(text)
    topic.lines.append("It was all written yesterday.")
    b.case("pinned", about=topic.path, same=(topic.path,))
