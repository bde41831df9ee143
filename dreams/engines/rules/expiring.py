"""What held until a day that has passed. Only a rule or a state of its own, never what happened or what a deadline says.
Pure but for the recorder."""

from __future__ import annotations

import datetime as dt
import re

from dreams.engines.base import Citation
from dreams.engines.rules import days
from dreams.engines.rules.bodies import Part
from dreams.engines.rules.removing import fates, free_units, remove, remove_parts
from dreams.engines.rules.tree import Recorder, from_memory
from dreams.engines.rules.wording import sentences

MOST_PARTS = 50  # sentences of one dream
_UNTIL = re.compile(rf"\b(?:until|till)\s+(?:the end of\s+)?{days.WRITTEN}", re.IGNORECASE)
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
    found = list(_UNTIL.finditer(text))
    if len(found) != 1 or len(_ANY_YEAR.findall(text)) != 1 or len(sentences(text)) != 1:
        return None
    # "Do not merge until …" is a rule like any other; "not available until …" is history.
    rest = _ORDER.sub("", text[: found[0].start()]) + text[found[0].end() :]
    return None if _HISTORY.search(rest) or "?" in rest else days.written(found[0], last=True)
