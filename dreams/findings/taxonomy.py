"""What does not belong in memory: judgements, what is told elsewhere, a rejected line come back, a lost row. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from dreams import memdir
from dreams.findings import budget, elsewhere, filing
from dreams.findings.added import (
    Line,
    added_lines,
    found_at,
    is_bookkeeping,
    new_lines,
    standing_lines,
)
from dreams.findings.base import Found, Severity, Subject, Told
from dreams.findings.statements.units import keyed, units_of
from dreams.language import similarity
from dreams.text import decode, plural

CHECK = "taxonomy"
_NOT = r"(?:very |really |too |so |quite |often |always |a bit |a |an |just |simply |such )*"
_WHOSE = r"(?:the |my |our |their |his |her |this |that )"
# "The HTTP client" is no person: a client is one only right behind whose it is.
_PERSON = (
    rf"(?:{_WHOSE}?(?:user|he|she|developer|dev|engineer|colleague|coworker|co-worker|manager|boss|"
    rf"customer|teammate|reviewer|designer|intern|contractor|team lead|lead|CTO|CEO|PM|product owner|tester|owner|maintainer)|{_WHOSE}client)"
)
_NAME = r"(?-i:[A-Z][a-z]{2,15})"
_VERB = r"(?:is|are|was|seems|appears|can be|tends to be|looks)"
# Of a thing some of these are no judgement of a person ("Imports are lazy", "Safari is annoying"): those need a person.
_OF_ANYONE = (
    r"(?:incompetent|rude|clueless|arrogant|unprofessional|dishonest|untrustworthy|ignorant|unskilled|careless|childish|moody|hot-headed|passive-aggressive|narcissistic|idiot|moron|jerk|imbecile|"
    r"difficult person|slow learner|(?:bad|poor|terrible|awful|lousy|mediocre|sloppy|lazy) (?:developer|programmer|engineer|manager|coder|communicator|listener|colleague))"
)
_OF_PERSONS = (
    r"(?:lazy|stupid|dumb|annoying|terrible|hopeless|useless|unreliable|sloppy|crazy|a pain|impatient and rude|"
    r"stubborn|condescending|immature|selfish|bossy|whiny|not (?:very )?(?:bright|smart|competent|good at \w+)|"
    r"bad at (?:his|her|their) job|(?:bad|terrible|awful) at (?:math|maths|communication|spelling|names|people|coding|programming|design|writing)\b)"
)
_JUDGEMENT = re.compile(
    rf"\b(?:{_PERSON}\s+{_VERB}\s+{_NOT}(?:{_OF_ANYONE}|{_OF_PERSONS})|{_NAME}\s+{_VERB}\s+{_NOT}{_OF_ANYONE}|"
    rf"(?:{_PERSON}|{_NAME})\s+(?:has no idea what|does(?: not|n['’]t) know what (?:he|she|they) (?:is|are) doing|can(?:not|['’]t) be trusted)|"
    rf"{_PERSON}\s+(?:overreacts|(?:easily )?gets (?:easily )?(?:angry|upset|defensive)))\b",
    re.IGNORECASE,
)


def check(subject: Subject) -> Iterator[Found]:
    hunks = {hunk.path: hunk.hunk_id for hunk in reversed(subject.hunks)}
    for path in sorted(hunks.keys() & subject.after.keys()):
        yield from filing.findings(path, subject.after[path], hunks[path])
    yield from _rejected(subject)
    yield from _rows_lost(subject)
    lines = list(new_lines(subject))
    yield from _judgements(lines)
    yield from elsewhere.findings(subject, lines, "warn")


def standing(subject: Subject) -> Iterator[Found]:
    filed = [f for path in sorted(subject.after) for f in filing.findings(path, subject.after[path], "")]
    yield from filing.together(filed)
    yield from _rows_standing(subject.after)
    lines = list(standing_lines(subject))
    yield from _judgements(lines)
    yield from elsewhere.findings(subject, lines, "info")


def _rows_standing(files: Mapping[str, bytes]) -> Iterator[Found]:
    """Rows of an index that lead nowhere, memories beside an index that no row leads to, and no index at all."""
    listed = _pointed_to(files)
    topics = budget.topics(files)
    if topics and memdir.INDEX_NAME not in files:
        yield Found(
            CHECK, "no-index", "warn", f"There is no {memdir.INDEX_NAME} that can be read: an agent loads nothing of {plural(len(topics), 'memory', 'memories')}.",
            f"Write a {memdir.INDEX_NAME} with one short row for each.", about=memdir.INDEX_NAME,
        )  # fmt: skip
    for path in sorted(listed.keys() - files.keys()):
        yield Found(
            CHECK, "row-dangles", "warn", f"A row of {listed[path]} points to {path}, which is not there.",
            "Take the row out, or bring the memory back.", listed[path], about=path,
        )  # fmt: skip
    folders = {path.rpartition("/")[0] for path in files if path.rpartition("/")[2] == memdir.INDEX_NAME}
    for path in sorted(files.keys() - listed.keys()):
        folder, _, name = path.rpartition("/")
        if folder in folders and name != memdir.INDEX_NAME:
            yield Found(
                CHECK, "not-listed", "info", f"{path} is in no row of the index beside it: sessions may not find it.",
                "Give it a row, or remove it.", path, about=path,
            )  # fmt: skip


def _rows_lost(subject: Subject) -> Iterator[Found]:
    """Memories that no row points to any more, and rows that point to a memory which left: sessions find neither."""
    before, after = _pointed_to(subject.before), _pointed_to(subject.after)
    for path in sorted((before.keys() - after.keys()) & subject.after.keys()):
        index = before[path]
        yield Found(
            CHECK, "row-lost", "warn", f"{path} is in no index any more: sessions will not find it.",
            f"Keep its row in {index}, or remove the memory too.", *_place(subject, index, path), None, path,
        )  # fmt: skip
    for path in sorted(after.keys() - subject.after.keys()):
        if path in subject.before or path not in before:
            yield Found(
                CHECK, "row-dangles", "warn", f"A row of {after[path]} points to {path}, which is not there.",
                "Remove the pointer and keep what the row says, or keep the memory.", *_place(subject, after[path], path), None, path,
            )  # fmt: skip


def _pointed_to(files: Mapping[str, bytes]) -> dict[str, str]:
    """The memories that an index names, each with the index."""
    found: dict[str, str] = {}
    for index in sorted(path for path in files if path.rpartition("/")[2] == memdir.INDEX_NAME):
        folder = index.rpartition("/")[0]
        for row in memdir.parse_index(decode(files[index])).rows:
            for target in row.targets if row.is_memory_target else ():
                found.setdefault(f"{folder}/{target}" if folder else target, index)
    return found


def _place(subject: Subject, index: str, target: str) -> tuple[str, str]:
    """Path and hunk of the change that a lost or dangling row comes from: the row's own, else its memory's."""
    name = target.rpartition("/")[2]
    rows = (
        hunk
        for hunk in subject.hunks
        if hunk.path == index and any(name in line for line in (*hunk.removed, *hunk.added))
    )
    gone = (hunk for hunk in subject.hunks if hunk.path == target)
    return next(((hunk.path, hunk.hunk_id) for hunk in chain(rows, gone)), (index, ""))


def _judgements(lines: Iterable[Line]) -> Iterator[Found]:
    for line in lines:
        match = _JUDGEMENT.search(line.text[:2000])
        if match:
            yield _found(
                line,
                "judgement",
                "warn",
                f"judges a person: “{match[0][:80]}”",
                "Say what to do, not what somebody is like.",
            )


def _rejected(subject: Subject) -> Iterator[Found]:
    """Once for changes that are decided together."""
    if not subject.rejected:
        return
    before = {keyed(u.text) for path, data in subject.before.items() for u in units_of(path, data)}
    told = set[str]()
    for line in added_lines(subject):
        key = similarity.normalised(line.text)
        day = subject.rejected.get(key)
        together = line.hunk.operation or line.hunk_id if line.hunk else ""
        if day is None or not key or key in before or together in told or is_bookkeeping(subject, line):
            continue
        told.add(together)
        when = f"You rejected this on {day:%-d %b %Y}."
        yield Found(
            CHECK, "rejected-before", "warn", f"{line.path}, line {line.number}: {when}", "Reject it again, or approve it if it is right now.",
            line.path, line.hunk_id, line.number, " ".join(line.text.split())[:300], Told(remark=when),
        )  # fmt: skip


def _found(line: Line, code: str, severity: Severity, says: str, remedy: str) -> Found:
    return found_at(line, CHECK, code, severity, says, remedy)
