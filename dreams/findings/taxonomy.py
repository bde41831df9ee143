"""What does not belong in memory or is filed wrongly: no type, a copy of CLAUDE.md, a rejected line come back. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from dreams import memdir
from dreams.findings.added import Line, added_lines, new_lines, standing_lines
from dreams.findings.base import Found, Severity, Subject
from dreams.findings.standing import State
from dreams.findings.units import has_content, keyed, units_of, units_of_lines
from dreams.language import similarity
from dreams.text import decode

CHECK = "taxonomy"
POINTER_CHARS = 2500  # a reference longer than this holds the content instead of a pointer
_POINTER = re.compile(
    r"https?://|\]\(|\[\[|`[^`\n]*/[^`\n]*`|(?:^|\s)[~.]?/[\w.-]+/|\b[\w-]+\.(?:md|py|ts|js|json|ya?ml|toml|pdf|html?)\b"
)
_JUDGEMENT = re.compile(
    r"\b(?:user|he|she|they|developer|colleague|manager|boss|client|teammate|\w+)\s+(?:is|are|was|seems|can be|tends to be)\s+"
    r"(?:very |really |too |so |quite |often |a bit |an? )*(?:lazy|stupid|dumb|incompetent|annoying|rude|clueless|careless|idiot|moron|difficult person|bad (?:developer|programmer|engineer)|terrible)\b",
    re.IGNORECASE,
)


def check(subject: Subject) -> Iterator[Found]:
    hunks = {hunk.path: hunk.hunk_id for hunk in reversed(subject.hunks)}
    for path in sorted(hunks.keys() & subject.after.keys()):
        yield from _type(path, subject.after[path], hunks[path])
    yield from _rejected(subject)
    yield from _rows_lost(subject)
    lines = list(new_lines(subject))
    yield from _judgements(lines)
    yield from _in_instructions(subject, lines, "warn")


def standing(subject: Subject) -> Iterator[Found]:
    for path in sorted(subject.after):
        yield from _type(path, subject.after[path], "")
    lines = list(standing_lines(subject))
    yield from _judgements(lines)
    yield from _in_instructions(subject, lines, "info")


def _type(path: str, data: bytes, hunk_id: str) -> Iterator[Found]:
    if not path.endswith(".md") or path.rpartition("/")[2] == memdir.INDEX_NAME or path.startswith("logs/"):
        return
    document = memdir.parse(data)
    kind = memdir.memory_type(document, path)
    kinds = ", ".join(memdir.MEMORY_TYPES)
    if kind is None:
        yield Found(
            CHECK, "no-type", "info", f"{path} has no type.", f"Give it one of {kinds} in its frontmatter.", path, hunk_id, 1, path
        )  # fmt: skip
    elif kind not in memdir.MEMORY_TYPES:
        yield Found(
            CHECK, "unknown-type", "info", f"{path} has the type “{kind[:60]}”, which agents do not know.", f"Use one of {kinds}.", path, hunk_id, 1, path
        )  # fmt: skip
    elif kind == "reference" and len(document.body) > POINTER_CHARS and not _POINTER.search(document.body):
        yield Found(
            CHECK, "reference-holds-content", "info", f"{path} is a reference, and holds the content instead of a pointer.",
            "Name the place where it can be read, and keep only what is surprising in it.", path, hunk_id, None, path,
        )  # fmt: skip


def _rows_lost(subject: Subject) -> Iterator[Found]:
    """Memories that no row points to any more, and rows that point to a memory which left: sessions find neither."""
    before, after = _pointed_to(subject.before), _pointed_to(subject.after)
    for path in sorted((before.keys() - after.keys()) & subject.after.keys()):
        index = before[path]
        yield Found(
            CHECK, "row-lost", "warn", f"{path} is in no index any more: sessions will not find it.",
            f"Keep its row in {index}, or remove the memory too.", index, _hunk_of(subject, index), None, path,
        )  # fmt: skip
    for path in sorted(after.keys() - subject.after.keys()):
        if path in subject.before or path not in before:
            yield Found(
                CHECK, "row-dangles", "warn", f"A row of {after[path]} points to {path}, which is not there.",
                "Remove the pointer and keep what the row says, or keep the memory.", after[path], _hunk_of(subject, after[path]), None, path,
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


def _hunk_of(subject: Subject, path: str) -> str:
    return next((hunk.hunk_id for hunk in subject.hunks if hunk.path == path and hunk.removed), "")


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
    if not subject.rejected:
        return
    before = {keyed(u.text) for path, data in subject.before.items() for u in units_of(path, data)}
    for line in added_lines(subject):
        key = similarity.normalised(line.text)
        if key and key in subject.rejected and key not in before:
            yield _found(
                line,
                "rejected-before",
                "warn",
                "brings back what was rejected before",
                "Reject it again, or approve it if it is right now.",
            )


def _in_instructions(subject: Subject, lines: Iterable[Line], severity: Severity) -> Iterator[Found]:
    """Lines that the project's instruction files say already: every session loads those anyway."""
    if not subject.instructions.strip():
        return
    said = State({"CLAUDE.md": subject.instructions.encode("utf-8", "replace")})
    for line in lines:
        if not has_content(line.text) or len(line.text.split()) < 4:
            continue
        units = [unit for unit in units_of_lines([line.text]) if unit.kind != "heading"]
        if units and all(said.same_words(u) or said.holder(u.text) for u in units):
            yield _found(
                line,
                "in-instructions",
                severity,
                "says what CLAUDE.md says already",
                "Leave it out: every session loads CLAUDE.md.",
            )


def _found(line: Line, code: str, severity: Severity, says: str, remedy: str) -> Found:
    about = " ".join(line.text.split())[:300]
    return Found(
        CHECK,
        code,
        severity,
        f"{line.path}, line {line.number} {says}.",
        remedy,
        line.path,
        line.hunk_id,
        line.number,
        about,
    )
