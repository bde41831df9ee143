"""Checks what belongs in a memory directory (types, names, index rows) and what does not (judgements, what is said elsewhere,
lines that were rejected before). PURE.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dreams.findings import index_limits
from dreams.findings.base import MessageParts, NewFinding, Severity, Subject
from dreams.findings.ledger.state import DirectoryStatements
from dreams.findings.ledger.units import has_content, units_of, units_of_lines, words_key
from dreams.findings.lines import (
    CheckedLine,
    added_lines,
    found_at,
    is_bookkeeping,
    new_lines,
    standing_lines,
)
from dreams.lib import memdir
from dreams.lib.files.text import decode, encode, plural
from dreams.lib.memdir import names
from dreams.lib.prose import comparing

CHECK = "taxonomy"
POINTER_CHARS = 600  # shorter references are fine, wherever they point
PROSE_PER_POINTER = 1500  # characters of prose per pointer
_POINTER = re.compile(
    r"https?://|\]\(|\[\[|`[^`\n]*[\w.-]/[^`\n]*`|(?:^|[\s(])[~.]?/[\w.-]+/|\b[\w-]+\.(?:md|pdf|html?|docx?|xlsx?)\b|"
    r"\b(?:Slack|Notion|Jira|Linear|Confluence|Grafana|Sentry|Datadog|Figma|wiki|dashboard|ticket|channel|spreadsheet)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*$", re.MULTILINE | re.DOTALL)


def misfiled(path: str, data: bytes, hunk_id: str) -> Iterator[NewFinding]:
    """Findings about a file's type; an index and a log have none."""
    if not memdir.is_topic(path):
        return
    document = memdir.parse(data)
    kind = memdir.memory_type(document, path)
    kinds = ", ".join(memdir.MEMORY_TYPES)
    if kind is None:
        yield _found_in_file(
            path, hunk_id, "no-type", "has no type", f"Give it one of {kinds} in its frontmatter.", 1
        )
    elif kind not in memdir.MEMORY_TYPES:
        says = f"has the type “{kind[:60]}”, which agents do not know"
        yield _found_in_file(path, hunk_id, "unknown-type", says, f"Use one of {kinds}.", 1)
    else:
        named = memdir.memory_type(memdir.parse(b""), path)
        if named and named != kind:
            says = f"is filed as {kind}, but its name says {named}"
            remedy = "Change the type or the name, whichever is wrong."
            yield _found_in_file(path, hunk_id, "wrong-type", says, remedy, 1)
        if kind == "reference" and holds_content(document.body):
            yield _found_in_file(
                path, hunk_id, "reference-holds-content", "is a reference, but contains the content instead of pointing to it",
                "Name the place where it can be read, and keep only what is surprising.",
            )  # fmt: skip


def holds_content(body: str) -> bool:
    """Whether a reference has much text and few pointers to its sources; code counts as text."""
    prose = _FENCE.sub("", body)
    pointers = len({match[0] + prose[match.end() : match.end() + 20] for match in _POINTER.finditer(prose)})
    return len(body) > POINTER_CHARS and pointers * PROSE_PER_POINTER < len(body)


def _found_in_file(
    path: str, hunk_id: str, code: str, says: str, remedy: str, line_no: int | None = None
) -> NewFinding:
    return NewFinding(CHECK, code, "info", f"{path} {says}.", remedy, path, hunk_id, line_no, path)


# A branch of a tree drawing with the name of a file or folder; not table rules, arrows or functions.
_DRAWN = re.compile(r"^\s*(?:[│|]\s*)*(?:[├└|`\\][─-]{2,3}\s*(?=[\w.@-]+(?:/|\.\w))|\+---\s*(?=[\w.]))")
_LOGGED = re.compile(
    r"^\s*(?:[-*+]\s+)?`?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}`?\s*[:—–-]?\s+[\w(\[]"
)
_TOLD_BY_CODE = "Leave it out: the code already says it and is always up to date."
LEAST_DRAWN = 3  # lines of a folder drawing
LEAST_LOGGED = 2  # lines that make a log
_BOX, _TICKED = (re.compile(rf"\s*[-*+]\s+\[{mark}\]\s+\S") for mark in (" ", "[xX]"))
LEAST_OPEN = 2  # unticked boxes; a single one is just style
_RUNS = (
    (_DRAWN, LEAST_DRAWN, "in-code", "shows the repository’s file tree", "Remove it: a session can list the files itself."),
    (_LOGGED, LEAST_LOGGED, "in-git", "lists commits", "Leave it out: git already has it and is always up to date."),
    (
        _BOX, LEAST_OPEN, "task-state", "says how far a task has come, which is soon out of date",
        "Leave it out, or keep what was decided and drop the state.",
    ),
)  # fmt: skip


def said_elsewhere(
    subject: Subject, lines: Sequence[CheckedLine], severity: Severity
) -> Iterator[NewFinding]:
    """`severity` is for lines of CLAUDE.md, "warn" in a change; what code and git say is information."""
    yield from _in_instructions(subject, lines, severity)
    yield from _in_repository(subject, lines)
    # An index and a log may list open tasks; if none is ticked, a memory may list what to check each time.
    begun = {line.path for line in lines if severity == "warn" or _TICKED.match(line.text)}
    of_memories = [line for line in lines if memdir.is_topic(line.path) and line.path in begun]
    for pattern, least, code, says, remedy in _RUNS:
        yield from _runs(of_memories if code == "task-state" else lines, pattern, least, code, says, remedy)


def _in_instructions(
    subject: Subject, lines: Iterable[CheckedLine], severity: Severity
) -> Iterator[NewFinding]:
    """Lines that repeat the project's instruction files, which every session loads."""
    if not subject.instructions:
        return
    own = set(subject.before.values())  # which they may include
    told_by = ((path, text.encode("utf-8", "replace")) for path, text in subject.instructions.items())
    said = DirectoryStatements({path: content for path, content in told_by if content not in own})
    for line in lines:
        if not has_content(line.text) or len(line.text.split()) < 4:
            continue
        units = [unit for unit in units_of_lines([line.text]) if unit.kind != "heading"]
        told = [said.same_words(unit) or said.container(unit.text) for unit in units]
        if told and all(told) and (first := told[0]):
            says = f"repeats {first.path}, line {first.unit.first_line}"
            remedy = f"Remove it: every session loads {first.path}."
            yield found_at(line, CHECK, "in-instructions", severity, says, remedy)


def _in_repository(subject: Subject, lines: Iterable[CheckedLine]) -> Iterator[NewFinding]:
    places = {(each.path, each.line_no): each for each in subject.repeated}
    for line in lines if places else ():
        if each := places.get((line.path, line.number)):
            says = f"says what {each.place} says already: “{each.quote[:80]}”"
            yield found_at(line, CHECK, "in-code", "info", says, _TOLD_BY_CODE)


def _runs(
    lines: Iterable[CheckedLine], pattern: re.Pattern[str], least: int, code: str, says: str, remedy: str
) -> Iterator[NewFinding]:
    """One finding per file with enough such lines, at the first one."""
    found: dict[str, list[CheckedLine]] = defaultdict(list)
    for line in lines:
        if pattern.match(line.text[:300]):
            found[line.path].append(line)
    for some in found.values():
        if len(some) >= least:
            yield found_at(some[0], CHECK, code, "info", says, remedy)


_NOT = r"(?:very |really |too |so |quite |often |always |a bit |a |an |just |simply |such )*"
_WHOSE = r"(?:the |my |our |their |his |her |this |that )"
# "The HTTP client" is not a person; "my client" is.
_PERSON = (
    rf"(?:{_WHOSE}?(?:user|he|she|developer|dev|engineer|colleague|coworker|co-worker|manager|boss|"
    rf"customer|teammate|reviewer|designer|intern|contractor|team lead|lead|CTO|CEO|PM|product owner|tester|owner|maintainer)|{_WHOSE}client)"
)
_NAME = r"(?-i:[A-Z][a-z]{2,15})"
_VERB = r"(?:is|are|was|seems|appears|can be|tends to be|looks)"
# Words that also describe things ("Imports are lazy", "Safari is annoying") need a person beside them.
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


def check(subject: Subject) -> Iterator[NewFinding]:
    hunks = {hunk.path: hunk.hunk_id for hunk in reversed(subject.hunks)}
    for path in sorted(hunks.keys() & subject.after.keys()):
        before = misfiled(path, subject.before[path], "") if path in subject.before else ()
        had = {each.code for each in before}  # is no fault of this change: Health tells it
        yield from (f for f in misfiled(path, subject.after[path], hunks[path]) if f.code not in had)
    yield from _rejected(subject)
    yield from _rows_lost(subject)
    lines = list(new_lines(subject))
    yield from _judgements(lines)
    yield from said_elsewhere(subject, lines, "warn")


def standing(subject: Subject) -> Iterator[NewFinding]:
    filed = [f for path in sorted(subject.after) for f in misfiled(path, subject.after[path], "")]
    untyped = sum(each.code == "no-type" for each in filed)
    few = 2 * untyped <= len(index_limits.topics(subject.after))  # else types are not in use here
    yield from (each for each in filed if few or each.code != "no-type")
    yield from _rows_standing(subject.after)
    lines = list(standing_lines(subject))
    yield from _judgements(lines)
    yield from said_elsewhere(subject, lines, "info")


def _rows_standing(files: Mapping[str, bytes]) -> Iterator[NewFinding]:
    """Index rows without a file, memories without a row, and a missing index."""
    listed = pointed_to(files)
    topics = index_limits.topics(files)
    if topics and memdir.INDEX_NAME not in files:
        yield NewFinding(
            CHECK, "no-index", "warn", f"There is no {memdir.INDEX_NAME} that can be read: an agent loads nothing from {plural(len(topics), 'memory', 'memories')}.",
            f"Write a {memdir.INDEX_NAME} with one short row for each.", about=memdir.INDEX_NAME,
        )  # fmt: skip
    spelt = {names.name_key(path): path for path in files}
    for path in sorted(listed.keys() - files.keys()):
        if there := spelt.get(names.name_key(path), ""):
            listed[there] = listed[path]
        yield NewFinding(
            CHECK, "row-dangles", "warn", f"A row of {listed[path]} points to {path}, {f'but the memory is spelt {there}' if there else 'which is not there'}.",
            "Spell the row as the memory: not every system ignores the difference." if there else "Remove the row, or restore the memory.", listed[path], about=path,
        )  # fmt: skip
    folders = {path.rpartition("/")[0] for path in filter(memdir.is_index, files)}
    for path in sorted(files.keys() - listed.keys()):
        folder, _, name = path.rpartition("/")
        if folder in folders and name != memdir.INDEX_NAME:
            yield NewFinding(
                CHECK, "not-listed", "info", f"{path} has no row in the index of its folder: sessions may not find it.",
                "Give it a row, or remove it.", path, about=path,
            )  # fmt: skip


def _rows_lost(subject: Subject) -> Iterator[NewFinding]:
    """Memories that lost their row, and rows whose memory was removed or never existed."""
    before, after, places = pointed_to(subject.before), pointed_to(subject.after), _places(subject)
    for path in sorted((before.keys() - after.keys()) & subject.after.keys()):
        index = before[path]
        yield NewFinding(
            CHECK, "row-lost", "warn", f"{path} is no longer in any index: sessions will not find it.",
            f"Keep its row in {index}, or remove the memory too.", *places.get(path, (index, "")), None, path,
        )  # fmt: skip
    for path in sorted(after.keys() - subject.after.keys()):
        if path in subject.before or path not in before:
            yield NewFinding(
                CHECK, "row-dangles", "warn", f"A row of {after[path]} points to {path}, which is not there.",
                "Remove the pointer and keep what the row says, or keep the memory.", *places.get(path, (after[path], "")), None, path,
            )  # fmt: skip


def pointed_to(files: Mapping[str, bytes]) -> dict[str, str]:
    """The memories that indexes name, with the index."""
    found: dict[str, str] = {}
    for index in sorted(filter(memdir.is_index, files)):
        folder = index.rpartition("/")[0]
        for row in memdir.parse_index(decode(files[index])).rows:
            for target in row.targets if row.is_memory_target else ():
                found.setdefault(f"{folder}/{target}" if folder else target, index)
    return found


def _places(subject: Subject) -> dict[str, tuple[str, str]]:
    """Memory → path and hunk that caused its lost or dangling row: the row's own, else the memory's."""
    places: dict[str, tuple[str, str]] = {}
    for hunk in sorted(subject.hunks, key=lambda hunk: not memdir.is_index(hunk.path)):
        lines = encode("\n".join((*hunk.removed, *hunk.added)))
        for path in pointed_to({hunk.path: lines}) or (hunk.path,):
            places.setdefault(path, (hunk.path, hunk.hunk_id))
    return places


def _judgements(lines: Iterable[CheckedLine]) -> Iterator[NewFinding]:
    for line in lines:
        if match := _JUDGEMENT.search(line.text[:2000]):
            yield found_at(
                line,
                CHECK,
                "judgement",
                "warn",
                f"judges a person: “{match[0][:80]}”",
                "Say what to do, not what somebody is like.",
            )


def _rejected(subject: Subject) -> Iterator[NewFinding]:
    """Lines that were rejected before, once per operation."""
    if not subject.rejected:
        return
    before = {words_key(u.text) for path, data in subject.before.items() for u in units_of(path, data)}
    told = set[str]()
    for line in added_lines(subject):
        key = comparing.normalised(line.text)
        day = subject.rejected.get(key)
        together = line.hunk.operation or line.hunk_id if line.hunk else ""
        if day is None or not key or key in before or together in told or is_bookkeeping(subject, line):
            continue
        told.add(together)
        when = f"This was rejected on {day:%-d %b %Y}."
        yield NewFinding(
            CHECK, "rejected-before", "warn", f"{line.path}, line {line.number}: {when}", "Reject it again, or approve it if it is right now.",
            line.path, line.hunk_id, line.number, " ".join(line.text.split())[:300], MessageParts(remark=when),
        )  # fmt: skip
