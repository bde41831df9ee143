"""What held until a day that has passed. Only a rule or a state of its own, never what happened or what a deadline says.
Pure but for the recorder."""

from __future__ import annotations

import datetime as dt
import re

from dreams.engines.rules.notes import days
from dreams.engines.rules.notes.bodies import Part
from dreams.engines.rules.notes.removing import fates, free_units, remove, remove_parts
from dreams.engines.rules.notes.tree import Recorder, from_memory
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.types import Citation

MOST_PARTS = 50  # sentences of one dream
_UNTIL = re.compile(
    rf"(?:\b(?:until|till|through|thru|up to|up until)\s+(?:the )?(?:end of\s+)?|[(\[]\s*(?:valid|good|only)?\s*(?:expir(?:es|y)|ends|ending|to be removed|remove|drop|delete|ttl)\s*"
    rf"(?:on|after|by|date)?\s*:?\s*|^(?:expires|expiry|valid to|ends)(?: on)?:?\s+){days.WRITTEN}\s*[)\]]?",
    re.IGNORECASE,
)
_NOT_BEFORE = re.compile(
    rf"^(?:no\b|do not|don['’]t|never)(?P<rest>.*)\bbefore\s+{days.WRITTEN}", re.IGNORECASE
)
_DAY = re.compile(days.WRITTEN, re.IGNORECASE)
_AND_TO = re.compile(r"\s*(?:and|to|until|till|through|thru|[–—-])\s*", re.IGNORECASE)
_FROM = re.compile(r"(?:^|\W)(?:between|from)\s+$", re.IGNORECASE)
_ANY_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
# Told of the past, or of something whose end is itself worth knowing.
_HISTORY = re.compile(
    r"\b(?:was|were|had|did|used to|ran|went|took|made|got|held|kept|led|came|wrote|sold|paid|spent|left|not|never|unless|after|then|afterwards|since|from then|before|because|why|"
    r"certificates?|certs?|licen[cs]es?|contracts?|tokens?|keys?|domains?|support(?:ed|s)?|eol|end[- ]of[- ]life|subscriptions?|warranty|"
    r"deprecated|expir\w+|renew\w*|invoices?|data|deadline|history)\b|n['’]t\b|(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bstays )(?<!\bremains )\b[a-z]{3,}ed\b",
    re.IGNORECASE,
)
_ORDER = re.compile(r"^(?:please\s+)?(?:do not|don['’]t|never|no)\b", re.IGNORECASE)


def expire(rec: Recorder, today: dt.date) -> None:
    """Take out statements whose day has passed; a user's own preferences never go by themselves."""
    found = [
        (unit, day)
        for unit in free_units(rec.tree)
        if rec.tree.kind(unit.path) != "user" and (day := ended(unit.text)) and day < today
    ]
    for unit, day in sorted(found, key=lambda pair: (pair[0].path, -pair[0].first_line)):
        rec.report.checkpoint()
        note = f"It held until {day.isoformat()}, which has passed."
        cited = (from_memory(unit.path, unit.first_line, unit.text, note),)
        if remove(rec, unit, "prune", note, fates(unit, "stated", note=note), cited):
            rec.count("expired", 1)
    _expire_parts(rec, today)


def _expire_parts(rec: Recorder, today: dt.date) -> None:
    """Sentences of paragraphs that go on to say other things."""

    def passed(part: Part) -> str:
        day = ended(part.text) if rec.tree.kind(part.path) != "user" else None
        return f"It held until {day.isoformat()}, which has passed." if day and day < today else ""

    def cite(part: Part) -> Citation:
        return from_memory(part.path, part.first_line, part.text, passed(part))

    rec.count("expired", remove_parts(rec, passed, "", cite, MOST_PARTS))


def ended(text: str) -> dt.date | None:
    """The day until which the whole statement holds, if it says so and says nothing else."""
    if len(sentences(text)) != 1 or "?" in text:
        return None
    found = _span(text) or _last_day(text)
    if found is None:
        return None
    rest, day = found
    return None if _HISTORY.search(_ORDER.sub("", rest)) else day


def _last_day(text: str) -> tuple[str, dt.date] | None:
    """All but "until …", and that day. "Do not merge until …" is a rule like any other; "not available until …" is history."""
    found = list(_UNTIL.finditer(text)) or list(_NOT_BEFORE.finditer(text))
    day = days.written(found[0], last=True) if len(found) == 1 and len(_ANY_YEAR.findall(text)) == 1 else None
    if day is None:
        return None
    before = found[0].groupdict().get("rest") or text[: found[0].start()]
    return f"{before} {text[found[0].end() :]}".strip(), day


def _span(text: str) -> tuple[str, dt.date] | None:
    """All but "between … and …", and the second day."""
    found = list(_DAY.finditer(text))
    if len(found) != 2 or len(_ANY_YEAR.findall(text)) != 2 or not _FROM.search(text[: found[0].start()]):
        return None
    if not _AND_TO.fullmatch(text[found[0].end() : found[1].start()]):
        return None
    day = days.written(found[1], last=True)
    before = _FROM.sub(" ", text[: found[0].start()])
    return (f"{before} {text[found[1].end() :]}".strip(), day) if day else None
