"""Explains where a line comes from: a dream's change with its evidence, the session that wrote it, or a person.

Loads everything about one memory at once, so that the number of queries does not grow with its lines.
"""

import datetime as dt
import os
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dreams.lib import memdir
from dreams.lib.files import text
from dreams.lib.line_origins import MIN_KNOWN, LineOrigin, StateLine, added_at, lines_of, origins
from dreams.models import FileChange, Hunk, LedgerEntry, Memory, MemoryWrite, Session, TranscriptFile, Version
from dreams.services import blobs, proposals

#: Older states than these are not read: lines of the oldest state read may be older than it.
MAX_STATES = 200
MAX_BYTES = 12 << 20


@dataclass(frozen=True, slots=True)
class Chain:
    """`states` are oldest first. `is_cut`: earlier ones exist, so lines of the first may be older than it.

    `missing` names the last version if its bytes are not stored; there are no lines then.
    """

    states: tuple[Version, ...]
    lines: tuple[str, ...]
    origins: tuple[LineOrigin, ...]
    is_cut: bool
    missing: str = ""


def chain(memory: Memory, until: Version) -> Chain:
    """The states of `memory` up to its version `until`, within the limits. Two queries, and one per 500 texts."""
    rows = memory.versions.filter(number__lte=until.number)
    newest = list(rows.select_related("proposal__dream").order_by("-number", "-pk")[: MAX_STATES + 1])
    kept = _within(newest)
    states = tuple(reversed(kept))
    texts = blobs.get_many(state.sha256 for state in states)
    if until.sha256 and until.sha256 not in texts:
        return Chain(states, (), (), is_cut=False, missing=until.sha256[:12])
    # Skip a state whose bytes are lost: its lines count as added by the next stored one.
    readable = tuple(state for state in states if not state.sha256 or state.sha256 in texts)
    decoded = [text.decode(texts[state.sha256]) if state.sha256 else None for state in readable]
    last = decoded[-1] if decoded else None
    return Chain(
        readable, tuple(lines_of(last or "")), tuple(origins(decoded)), is_cut=len(kept) < len(newest)
    )


def _within(newest: list[Version]) -> list[Version]:
    """As many of the newest as the limits allow, at least one."""
    kept: list[Version] = []
    size = 0
    for row in newest[:MAX_STATES]:
        size += row.size
        if kept and size > MAX_BYTES:
            break
        kept.append(row)
    return kept


#: Transcript records read for one page, newest first: each may be some hundred kilobytes.
MAX_WRITES = 60
MAX_FILES = 20
MAX_ARRIVALS = 2_000  # ledger entries read for the page of one file
# A write is in its transcript a moment before it is on disk, and the clocks may differ by seconds.
SLACK = dt.timedelta(seconds=10)
# Changes made outside memoryweb, by an agent or anybody else.
UNSEEN = frozenset({Version.Origin.FOUND, Version.Origin.OUTSIDE})


@dataclass(frozen=True, slots=True)
class Write:
    """An agent's write to the file, from a transcript. `added` is None if it can no longer be read.

    `subagent` is the row of the sub-agent's transcript that has it.
    """

    session: Session
    offset: int
    at: dt.datetime
    added: frozenset[str] | None = None
    subagent: int | None = None


@dataclass(frozen=True, slots=True)
class LineCause:
    """What added a line. `hunk` is set for a dream's change, `write` for an agent's write.

    `came_from` are the memories that a dream moved the words from. `sure` is False where a session wrote to the file at
    that time but its text can no longer be read.
    """

    version: Version
    hunk: Hunk | None = None
    write: Write | None = None
    came_from: tuple[str, ...] = ()
    sure: bool = True


@dataclass(frozen=True, slots=True)
class LineCauses:
    """The data to find the cause of each line of one memory; `of` returns it for one line."""

    chain: Chain
    first_seen: dt.datetime
    hunks: Mapping[int, Sequence[tuple[Hunk, frozenset[str]]]] = field(default_factory=dict)
    writes: Sequence[Write] = ()
    arrivals: Mapping[int, Sequence[tuple[str, str]]] = field(default_factory=dict)

    def of(self, place: StateLine, line: str) -> LineCause:
        """The cause of `line`, which was added at `place`."""
        version = self.chain.states[place.state]
        if version.origin in UNSEEN:
            return self._unseen(place.state, version, line.strip())
        return LineCause(
            version, hunk=self._hunk(version, place.line, line), came_from=self._came_from(version, line)
        )

    def _came_from(self, version: Version, line: str) -> tuple[str, ...]:
        """The other memories from which the same proposal moved the line."""
        words = line.strip()
        if len(words) < MIN_KNOWN:
            return ()
        arrived = self.arrivals.get(version.proposal_id or 0, ())
        return tuple(dict.fromkeys(path for path, text in arrived if text in words or words in text))

    def _hunk(self, version: Version, at: int, line: str) -> Hunk | None:
        """The proposal's hunk that has this line; of several, the nearest."""
        found = [hunk for hunk, lines in self.hunks.get(version.proposal_id or 0, ()) if line in lines]
        return min(found, key=lambda hunk: abs(hunk.new_start - at), default=None)

    def _unseen(self, state: int, version: Version, line: str) -> LineCause:
        # A file's mtime may be older than its text, as copies and clones keep or set it.
        found = version.origin == Version.Origin.FOUND
        seen = max(version.at, self.first_seen) if found else version.at
        before = [write for write in self.writes if write.at <= seen + SLACK]
        wrote = next((write for write in before if line in (write.added or ())), None)
        if wrote is not None:
            return LineCause(version, write=wrote)
        previous = self.chain.states[state - 1].at if state else None
        blind = [
            write
            for write in before
            if write.added is None and (previous is None or write.at > previous - SLACK)
        ]
        return LineCause(version, write=blind[0], sure=False) if len(blind) == 1 else LineCause(version)


def causes(memory: Memory, chain: Chain) -> LineCauses:
    """The causes for all lines of `chain`. Reads the database, and at most MAX_WRITES transcript records."""
    used = {chain.states[place.state] for origin in chain.origins for place in (origin.first, origin.here)}
    made = {version.proposal_id for version in used if version.proposal_id is not None}
    unseen = any(version.origin in UNSEEN for version in used)
    return LineCauses(
        chain,
        memory.first_seen_at,
        hunks=_hunks(memory, made),
        writes=_writes(memory) if unseen else (),
        arrivals=_arrivals(memory, made),
    )


def _arrivals(memory: Memory, made: Collection[int]) -> Mapping[int, Sequence[tuple[str, str]]]:
    """By proposal: the path that a line was moved from, and its words in this memory."""
    rows = LedgerEntry.objects.filter(hunk__file__proposal__in=made, target_path=memory.path)
    rows = rows.exclude(hunk__file__path=memory.path).exclude(target_text="")
    found: dict[int, list[tuple[str, str]]] = {}
    places = rows.values_list("hunk__file__proposal", "hunk__file__path", "target_text")
    for proposal, path, words in places[:MAX_ARRIVALS]:
        if len(words.strip()) >= MIN_KNOWN:
            found.setdefault(proposal, []).append((path, words.strip()))
    return found


def _hunks(memory: Memory, made: Collection[int]) -> Mapping[int, Sequence[tuple[Hunk, frozenset[str]]]]:
    """The applied hunks of these proposals to this file, each with the lines that it added."""
    files = FileChange.objects.filter(proposal__in=made, path=memory.path).prefetch_related(
        "hunks__operation", "hunks__evidence__session"
    )
    shas = {sha for file in files for sha in (file.base_sha, file.new_sha)}
    shas |= {hunk.edited_sha for file in files for hunk in file.hunks.all()}
    texts = {sha: text.decode(data) for sha, data in blobs.get_many(shas).items()}
    return {file.proposal_id: list(_of_file(file, texts)) for file in files}


def _of_file(file: FileChange, texts: Mapping[str, str]) -> Iterable[tuple[Hunk, frozenset[str]]]:
    base, new = (lines_of(texts.get(sha, "")) for sha in (file.base_sha, file.new_sha))
    for hunk in file.hunks.all():
        if hunk.applied_in_id is None:
            continue
        lines = proposals.diff_hunk(hunk, base, new).new_lines
        edited = hunk.verdict == Hunk.Verdict.EDITED
        yield hunk, frozenset(lines_of(texts.get(hunk.edited_sha, "")) if edited else lines)


def _writes(memory: Memory) -> Sequence[Write]:
    """Newest first, so that a line written twice is attributed to the later possible write."""
    path = Path(memory.project.memory_dir) / memory.path
    names = {str(path), os.path.realpath(path)}
    rows = MemoryWrite.objects.filter(session__project=memory.project_id, path__in=names, at__isnull=False)
    found = rows.select_related("session").prefetch_related("session__files").order_by("-at", "-pk")
    return [_write(row, row.at, names) for row in found[:MAX_WRITES] if row.at is not None]


def _write(row: MemoryWrite, at: dt.datetime, names: Container[str]) -> Write:
    """Finds the write in the transcript of the session or a sub-agent, as its row has only the offset."""
    files = sorted(row.session.files.all(), key=lambda file: file.kind != TranscriptFile.Kind.MAIN)
    for file in files[:MAX_FILES]:
        try:
            added = added_at(file.path, row.offset, names)
        except OSError:
            # Agents delete old transcripts; the row still shows that there was a write.
            continue
        if added is not None:
            is_main = file.kind == TranscriptFile.Kind.MAIN
            return Write(row.session, row.offset, at, added, None if is_main else file.pk)
    return Write(row.session, row.offset, at)


def written_in(memory: Memory, data: bytes) -> Session | str | None:
    """The session that the memory names (`originSessionId`): its row, or its id if there is none."""
    front = memdir.parse(data).frontmatter
    named = front.origin_session_id if front else None
    if not named:
        return None
    return memory.project.sessions.filter(session_id=named).first() or named
