"""What leaves a memory for certain: superseded by a newer day, past its day, said by the repository, or a secret. Pure but
for the recorder."""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dreams.engines.rules.notes import bodies, days
from dreams.engines.rules.notes.bodies import LineStatement, Part, units
from dreams.engines.rules.notes.removing import fates, free_units, remove, remove_parts
from dreams.engines.rules.notes.tree import NewText, Recorder, Tree, from_memory, is_index, is_log, is_team
from dreams.engines.rules.notes.wording import sentences
from dreams.engines.rules.repository import CodeFact, Repository, facts
from dreams.engines.types import Citation
from dreams.lib import memdir
from dreams.lib.files.text import quoted
from dreams.lib.prose import comparing, lexicon
from dreams.lib.prose.dates.roles import is_past
from dreams.lib.prose.exchanges import is_last_number, words_of
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.statements import statement
from dreams.lib.prose.values import read
from dreams.lib.secrets import redact as redaction
from dreams.lib.secrets.spotting import is_for_apps, spans

_SO = r"(?:as of|since|from|(?:last )?updated?|status|starting|checked|confirmed|verified)"
_FIRST = re.compile(
    rf"^(?:\*\*)?[\[(]?{_SO}\s+{days.WRITTEN}[\])]?(?:\*\*)?\s*[:,–—-]?\s*(?=\S)", re.IGNORECASE
)
_LAST = re.compile(rf",?\s*[(\[]?{_SO}\s+{days.WRITTEN}[)\]]?\s*[.!]?$", re.IGNORECASE)
_HEAD_END = re.compile(r"[,;(—–]| - ")
COMMON = 60  # statements that have a word, before it finds none
LEAST_SAID = 2  # words of an old state


@dataclass(frozen=True, slots=True)
class Dated:
    """A statement without its day."""

    unit: LineStatement
    day: dt.date
    text: str


def supersede(rec: Recorder, today: dt.date) -> None:
    """Each old statement that one newer one takes the place of goes. What is dated ahead does not hold yet."""
    units = (unit for unit in free_units(rec.tree) if rec.tree.kind(unit.path) != "user")
    every = [one for unit in units if (one := _dated(unit)) and one.day <= today]
    newer: dict[int, list[Dated]] = defaultdict(list)
    for old, new in _pairs(every):
        rec.report.checkpoint()
        if _supersedes(rec, old, new):
            newer[every.index(old)].append(new)
    met = [each for found in newer.values() for each in found]
    for place in sorted(newer, key=lambda at: (every[at].unit.path, -every[at].unit.first_line)):
        # Three of one form are of three things, or a log of one.
        if len(newer[place]) == 1 and met.count(newer[place][0]) == 1 and every[place] not in met:
            rec.count("superseded", _remove(rec, every[place].unit, newer[place][0]))


def _dated(unit: LineStatement) -> Dated | None:
    """A statement of how things are on its one day."""
    match = _FIRST.match(unit.text) or _LAST.search(unit.text)
    day = days.written(match) if match else None
    text = f"{unit.text[: match.start()]}{unit.text[match.end() :]}".strip().rstrip(" .!") if match else ""
    dates = [value for value in read(text).values if value.kind == "date"]
    if (
        day is None
        or dates
        or is_past(_HEAD_END.split(text, maxsplit=1)[0])
        or len(words_of(text)) < LEAST_SAID
    ):
        return None
    return Dated(unit, day, text)


def _pairs(every: Sequence[Dated]) -> Iterator[tuple[Dated, Dated]]:
    """(older, newer) that share words."""
    having: dict[str, list[int]] = defaultdict(list)
    for place, one in enumerate(every):
        for word in words_of(one.text):
            having[word].append(place)
    near = {
        (a, b)
        for places_of in having.values()
        if len(places_of) <= COMMON
        for a in places_of
        for b in places_of
    }
    return ((every[a], every[b]) for a, b in sorted(near) if every[a].day < every[b].day)


def _supersedes(rec: Recorder, old: Dated, new: Dated) -> bool:
    one, two = (replace(each.unit, text=each.text) for each in (old, new))
    if one.frame != two.frame or not bodies.places_agree(rec.tree, one, two):
        return False
    if read(old.text).environments != read(new.text).environments:
        return False
    gone, come = words_of(old.text) - words_of(new.text), words_of(new.text) - words_of(old.text)
    if not gone:
        return True
    return len(gone) == len(come) == 1 and is_last_number(
        old.text, next(iter(gone)), new.text, next(iter(come))
    )


def _remove(rec: Recorder, unit: LineStatement, new: Dated) -> bool:
    note = f"Newer, of {new.day.isoformat()}."
    reason = f"A newer statement of {new.day.isoformat()} says otherwise: {quoted(new.unit.text)}."
    cited = (
        from_memory(new.unit.path, new.unit.first_line, new.unit.text, "the newer one"),
        from_memory(unit.path, unit.first_line, unit.text),
    )
    told = fates(unit, "superseded-by", new.unit.path, new.unit.text, note)
    return remove(rec, unit, "update", reason, told, cited)


# --- Expiring -------------------------------------------------------------------------------------------------------

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
    r"\b(?:was|were|had|did|used|ran|went|took|made|got|held|kept|led|came|wrote|sold|paid|spent|left|not|never|unless|after|then|afterwards|since|from then|before|because|why|"
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


# --- Deriving -------------------------------------------------------------------------------------------------------

LEAST_WORDS = 3  # that say something: fewer stand in any repository by chance


def derive(rec: Recorder, repo: Repository | None) -> None:
    """Take out what the repository says; what is about the person or how to work with them stays."""
    found = facts(repo)
    if not found:
        return
    said = Said(found)
    units = [unit for unit in free_units(rec.tree) if rec.tree.kind(unit.path) not in {"user", "feedback"}]
    for unit in sorted(units, key=lambda each: (each.path, -each.first_line)):
        rec.report.checkpoint()
        fact = None if unit.frame else said.by(unit)
        if fact is not None and _remove_derived(rec, unit, fact):
            rec.count("derived", 1)


def _remove_derived(rec: Recorder, unit: LineStatement, fact: CodeFact) -> bool:
    note = f"{fact.path} says it, line {fact.line_no}: {quoted(fact.quote)}."
    cited = Citation("repository", fact.quote, place=fact.path, line_no=fact.line_no)
    return remove(rec, unit, "prune", note, fates(unit, "stated", note=note), (cited,))


class Said:
    """The repository's facts, to look a statement up in."""

    def __init__(self, found: Sequence[CodeFact]) -> None:
        self._code: dict[str, list[CodeFact]] = defaultdict(list)
        for fact in found:
            for key in keys_of(f"`{fact.values[-1]}` {fact.values[0]}"):
                self._code[key].append(fact)

    def by(self, unit: LineStatement) -> CodeFact | None:
        """The fact that says all that the statement and the headings above it say."""
        if len([word for word in statement(unit.text).weights if word not in lexicon.GENERIC]) < LEAST_WORDS:
            return None
        fact = self._by_code(unit)
        return fact if fact and _place_adds_nothing(unit, fact) else None

    def _by_code(self, unit: LineStatement) -> CodeFact | None:
        keys = keys_of(unit.text)
        plain = f" {comparing.normalised(unit.text)} "
        near = {id(fact): fact for key in keys for fact in self._code.get(key, ())}
        for fact in near.values():
            named = all(f" {comparing.normalised(value)} " in plain for value in fact.values)
            if named and keys <= keys_of(fact.words) and not statement(unit.text).negations:
                return fact
        return None


def _place_adds_nothing(unit: LineStatement, fact: CodeFact) -> bool:
    """Below "Staging", or in a file about 2.x, the same words say something else."""
    around = statement(". ".join([*unit.headings, unit.path.removesuffix(".md").replace("_", " ")]))
    told = statement(f"{unit.text}. {fact.words}")
    return around.environments <= told.environments and around.numbers <= told.numbers


# --- Redacting ------------------------------------------------------------------------------------------------------


def redact(rec: Recorder) -> None:
    """One operation for each secret. What an app shows to everybody stays (the checkup names it), and so do pinned and
    hand-edited memories, logs and what may not be written."""
    tree = rec.tree
    for path in sorted(tree.texts):
        if is_log(path) or not tree.writable(path) or tree.settled(path):
            continue
        rec.report.checkpoint()
        text = tree.texts[path]
        found = [span for span in spans(text) if not is_for_apps(text, span)]
        for span in sorted(found, key=lambda span: span.start - span.end):  # one may be a part of another
            taken = {text[span.start : span.end]: span.rule}
            line_no = text.count("\n", 0, span.start) + 1
            quote = redaction.redact(text.split("\n")[line_no - 1].rstrip("\r"))
            kind = span.rule.replace("-", " ")
            reason = (
                f"A secret does not belong in memory ({kind}). If it is live, revoke it: agents have read it."
            )
            cited = (from_memory(path, line_no, quote, "shown without the secret"),)
            after = redaction.without(tree.texts[path], taken)
            rec.count("redacted", rec.operation("edit", [NewText(path, after, reason, citations=cited)]))


LEAST_TO_MERGE = 3  # words with a meaning: two short lines are alike by chance
SHARED_WORDS = 2  # fewer say the same of nothing; most pairs are spared a close look
CHECK_EVERY = 200  # pairs, between two looks whether to stop


def merge_lines(rec: Recorder) -> None:
    """One pass over all statements; each may be removed once. What is kept for another may go in the next round."""
    every = [
        unit for path in _paths(rec.tree) for unit in units(path, rec.tree.document(path)) if _tells(unit)
    ]
    gone: set[LineStatement] = set()
    kept: set[LineStatement] = set()
    pairs: list[tuple[LineStatement, LineStatement]] = []  # (stays, goes)
    words = [frozenset(statement(unit.text).weights) for unit in every]
    for count, (one, two) in enumerate(comparing.candidates([unit.text for unit in every])):
        if count % CHECK_EVERY == 0:
            rec.report.checkpoint()
        if len(words[one] & words[two]) < SHARED_WORDS:
            continue
        pair = _decide(rec.tree, every[one], every[two])
        if pair and pair[0] not in gone and pair[1] not in gone and pair[1] not in kept:
            kept.add(pair[0])
            gone.add(pair[1])
            pairs.append(pair)
    _remove_all(rec, pairs)


def _paths(tree: Tree) -> list[str]:
    return [*tree.topics(), *(path for path in tree.indexes() if not is_team(path))]


def _tells(unit: LineStatement) -> bool:
    """Long enough to be sure about; rows of an index are its own step's work."""
    words = [word for word in statement(unit.text).weights if word not in lexicon.GENERIC]
    is_row = is_index(unit.path) and bool(memdir.parse_index(unit.raw).rows)
    return len(words) >= LEAST_TO_MERGE and not is_row


def _decide(tree: Tree, one: LineStatement, two: LineStatement) -> tuple[LineStatement, LineStatement] | None:
    """Which stays and which goes, or neither."""
    if is_index(one.path) != is_index(two.path):
        return None
    if one.path == two.path and one.headings != two.headings:
        return None  # each says it of what its own heading names
    exact = comparing.normalised(one.text) == comparing.normalised(two.text)
    if one.frame != two.frame or (not exact and not _types_agree(tree, one, two)):
        return None
    found = comparing.same(one.text, two.text)
    if not found.same or not bodies.places_agree(tree, one, two):
        return None
    as_long = exact and len(one.text) == len(two.text)
    return (one, two) if as_long or found.fuller == "a" else (two, one)


def _types_agree(tree: Tree, one: LineStatement, two: LineStatement) -> bool:
    kinds = {tree.kind(one.path), tree.kind(two.path)}
    return len(kinds) == 1 or not kinds & {"user", "feedback"}


def _remove_all(rec: Recorder, pairs: Sequence[tuple[LineStatement, LineStatement]]) -> None:
    """From the last line of a file to the first, so that the numbers of the others hold."""
    for keep, drop in sorted(pairs, key=lambda pair: (pair[1].path, -pair[1].first_line)):
        if drop.path not in rec.tree.texts or keep.path not in rec.tree.texts:
            continue
        place = "further up" if keep.path == drop.path else f"in {keep.path}"
        reason = f"The same is {place}: {quoted(keep.text)}."
        cited = (
            from_memory(keep.path, keep.first_line, keep.text, "what stays"),
            from_memory(drop.path, drop.first_line, drop.text),
        )
        told = fates(drop, "merged-into", keep.path, keep.text)
        rec.count("lines", remove(rec, drop, "merge", reason, told, cited))
