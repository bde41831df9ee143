"""Two real directories as a subject, and transcripts as turns: the only module here that reads the disk. No Django."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dreams import safefs, transcripts
from dreams.findings.base import Subject
from dreams.findings.comparing import between
from dreams.findings.said import Turn

MAX_FILES = 5_000
MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_TRANSCRIPTS = 1_000
MAX_TRANSCRIPT_BYTES = 256 * 1024 * 1024  # of all transcripts together
MAX_TURNS = 50_000
TURN_CHARS = 8_000
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Directory:
    """Every file below a directory, hidden ones too; `odd` says what is no readable plain file and why."""

    files: Mapping[str, bytes]
    modes: Mapping[str, int]
    links: frozenset[str]
    odd: Mapping[str, str]


def read(folder: Path) -> Directory:
    """Read a directory without following a link. Raises OSError when it cannot be opened."""
    files, modes, links, odd = dict[str, bytes](), dict[str, int](), set[str](), dict[str, str]()
    with safefs.Root.open(folder) as root:
        for entry in root.walk(limit=MAX_FILES):
            if isinstance(entry, safefs.Skipped):
                odd[entry.rel] = entry.why
                continue
            try:
                files[entry.rel] = root.read_bytes(entry.rel, MAX_FILE_BYTES)
            except (OSError, safefs.SafeFsError) as error:
                odd[entry.rel] = f"cannot be read: {error}"
                continue
            modes[entry.rel] = entry.stat.st_mode & 0o7777
            if entry.stat.st_nlink > 1:
                links.add(entry.rel)
    return Directory(files, modes, frozenset(links), odd)


def compare(before: Directory, after: Directory) -> Subject:
    """What changed between two directories; links and modes are looked at too."""
    irregular = {path: why for path, why in after.odd.items() if before.odd.get(path) != why}
    for path in before.modes.keys() & after.modes.keys():
        if before.modes[path] != after.modes[path]:
            irregular[path] = f"has the mode {after.modes[path]:04o} now, and had {before.modes[path]:04o}"
    return between(
        before.files,
        after.files,
        hard_linked=before.links & before.files.keys(),
        irregular=irregular,
    )


def turns_below(folder: Path) -> Iterator[Turn]:
    """The texts of all transcripts below a folder, bounded; an unreadable one stops nothing. Raises OSError for the folder."""
    left, count = MAX_TRANSCRIPT_BYTES, 0
    with safefs.Root.open(folder) as root:
        entries = root.walk(limit=100_000)
        found = [e for e in entries if isinstance(e, safefs.Found) and e.rel.endswith(".jsonl")]
        for entry in sorted(found, key=lambda e: -e.stat.st_mtime_ns)[:MAX_TRANSCRIPTS]:
            left -= entry.stat.st_size
            if left < 0 or count >= MAX_TURNS:
                return
            try:
                with root.open_file(entry.rel) as file:
                    for turn in _turns(file.fileno(), entry.rel):
                        count += 1
                        yield turn
            except (OSError, safefs.SafeFsError):
                continue


def _turns(source: int, place: str) -> Iterator[Turn]:
    offset, line = 0, 1
    while True:
        page = transcripts.page(source, offset, _PAGE, line=line, skip_types=frozenset({"progress"}))
        for turn in page.turns:
            yield from _texts(turn, place)
        if page.after is None or page.after <= offset:
            return
        offset, line = page.after, page.line_after or line


def _texts(turn: transcripts.Turn, place: str) -> Iterator[Turn]:
    """What a person typed is the person's; every other text that arrives as theirs is a tool's or the agent's."""
    if turn.typed:
        yield Turn(place, turn.line, "user", turn.at, turn.typed[:TURN_CHARS])
        return
    for part in turn.parts:
        if part.text and part.kind in {"text", "tool_result"}:
            role = "assistant" if part.kind == "text" and turn.role == "assistant" else "tool"
            yield Turn(place, turn.line, role, turn.at, part.text[:TURN_CHARS])
