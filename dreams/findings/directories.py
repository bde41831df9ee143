"""Compares two states of a directory on disk, with what sessions say about the added statements. PURE."""

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from dreams.conf import Config
from dreams.engines import drafts
from dreams.engines.types import Citation
from dreams.findings.base import ChangedHunk, Subject
from dreams.findings.ledger import facts
from dreams.findings.ledger.state import DirectoryStatements, PlacedStatement
from dreams.findings.ledger.units import units_of_lines
from dreams.lib.agents import transcripts
from dreams.lib.files import safefs
from dreams.lib.files.workspace import MAX_FILE_BYTES
from dreams.lib.prose import claims


def between(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    *,
    config: Config | None = None,
    instructions: Mapping[str, str] | None = None,
    hard_linked: frozenset[str] = frozenset(),
    irregular: Mapping[str, str] | None = None,
) -> Subject:
    """The changes from `before` to `after` as a subject for checks."""
    hunks = [
        ChangedHunk(
            path,
            hunk.id,
            hunk.base_start,
            tuple(line.rstrip("\r\n") for line in hunk.base_lines),
            hunk.new_start,
            tuple(line.rstrip("\r\n") for line in hunk.new_lines),
        )
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
        for hunk in drafts.file_hunks(path, before.get(path), after.get(path))
    ]
    return Subject(
        before,
        after,
        hunks,
        config or Config(),
        instructions or {},
        hard_linked=hard_linked,
        irregular=irregular or {},
    )


LIKE = 0.5  # the share of a statement's words that a quote must have
QUOTES = 3  # of one statement
CONTEXT = 2000  # characters of context around a quote


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """A text of a session; `role` is user, assistant or tool, `line` the 1-based line of the transcript."""

    place: str
    line: int | None
    role: str
    at: dt.datetime | None
    text: str


class Said:
    """Texts of sessions, searchable by words; a person's words come before those of agents and tools."""

    def __init__(self, turns: Iterable[SessionTurn]) -> None:
        self._turns = list(turns)
        texts = {f"{number:09}": turn.text for number, turn in enumerate(self._turns)}
        self._sentences = DirectoryStatements(
            dict.fromkeys(texts, b""), lambda number: units_of_lines(texts[number].split("\n"))
        )
        self._heard = claims.SessionText()
        for number, turn in enumerate(self._turns, start=1):
            self._heard.add(turn.text, number, turn.role, prose=turn.role != "tool")

    def against(self, text: str) -> Citation | None:
        """The place that contradicts a statement, if there is one."""
        found = claims.check(self._heard, text)
        if found.answer != "contradicted" or not found.evidence:
            return None
        quote = found.evidence[0]
        return self._cited(self._turns[quote.line - 1], quote.quote)

    def citations(self, text: str) -> list[Citation]:
        """Quotes with at least half of the words of `text`, best first."""
        likest = [s for s in self._sentences.most_similar(text) if facts.coverage(text, s.unit.text) >= LIKE]
        likest.sort(key=lambda s: (self._of(s).role != "user", -facts.coverage(text, s.unit.text)))
        return [self._cited(self._of(s), s.unit.text[:CONTEXT]) for s in likest[:QUOTES]]

    def _of(self, standing: PlacedStatement) -> SessionTurn:
        return self._turns[int(standing.path)]

    @staticmethod
    def _cited(turn: SessionTurn, quote: str) -> Citation:
        return Citation(
            "transcript",
            quote,
            turn.place,
            line_no=turn.line,
            role=turn.role,
            at=turn.at,
            context=turn.text[:CONTEXT],
        )


def with_citations(subject: Subject, said: Said) -> Subject:
    """The subject with quotes added to hunks that have none, and with statements that sessions contradict."""
    hunks = [_cited(hunk, said) for hunk in subject.hunks]
    return replace(subject, hunks=hunks, against=said.against)


def _cited(hunk: ChangedHunk, said: Said) -> ChangedHunk:
    if hunk.citations:
        return hunk
    found = [c for unit in units_of_lines(hunk.added) for c in said.citations(unit.text)]
    return replace(hunk, citations=tuple(dict.fromkeys(found)))


MAX_FILES = 5_000  # as a dream reads (`lib/files/workspace.py`)
MAX_TRANSCRIPTS = 1_000  # the newest; chosen
MAX_TRANSCRIPT_BYTES = 256 * 1024 * 1024  # of all transcripts together
MAX_TURNS = 50_000  # of all of them together; chosen
TURN_CHARS = 8_000  # of one turn; chosen
_PAGE = 500  # transcript lines read at once; chosen


@dataclass(frozen=True, slots=True)
class Directory:
    """All files below a directory, including hidden ones; `odd` maps what is not a readable regular file to the reason."""

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
    """The changes between two directories, including links and modes."""
    irregular = {path: why for path, why in after.odd.items() if before.odd.get(path) != why}
    for path in before.modes.keys() & after.modes.keys():
        if before.modes[path] != after.modes[path]:
            irregular[path] = f"has mode {after.modes[path]:04o} now, and had {before.modes[path]:04o}"
    return between(
        before.files,
        after.files,
        hard_linked=before.links & before.files.keys(),
        irregular=irregular,
    )


def turns_below(folder: Path) -> Iterator[SessionTurn]:
    """The texts of all transcripts below a folder, bounded; unreadable ones are skipped. Raises OSError for the folder."""
    left, count = MAX_TRANSCRIPT_BYTES, 0
    with safefs.Root.open(folder) as root:
        entries = root.walk(limit=100_000)
        found = [e for e in entries if isinstance(e, safefs.WalkedFile) and e.rel.endswith(".jsonl")]
        for entry in sorted(found, key=lambda e: -e.stat.st_mtime_ns)[:MAX_TRANSCRIPTS]:
            if entry.stat.st_size > left or count >= MAX_TURNS:
                continue
            left -= entry.stat.st_size
            try:
                with root.open_file(entry.rel) as file:
                    for turn in _turns(file.fileno(), entry.rel):
                        count += 1
                        yield turn
            except (OSError, safefs.SafeFsError):
                continue


def _turns(source: int, place: str) -> Iterator[SessionTurn]:
    offset, line = 0, 1
    while True:
        page = transcripts.page(source, offset, _PAGE, line=line, skip_types=frozenset({"progress"}))
        for turn in page.turns:
            yield from _texts(turn, place)
        if page.after is None or page.after <= offset:
            return
        offset, line = page.after, page.line_after or line


def _texts(turn: transcripts.Turn, place: str) -> Iterator[SessionTurn]:
    """The texts with their true author: not everything that is recorded as the user's was typed by a person."""
    if turn.typed:
        yield SessionTurn(place, turn.line, "user", turn.at, turn.typed[:TURN_CHARS])
        return
    for part in turn.parts:
        if part.text and part.kind in {"text", "tool_result"}:
            role = "assistant" if part.kind == "text" and turn.role == "assistant" else "tool"
            yield SessionTurn(place, turn.line, role, turn.at, part.text[:TURN_CHARS])
