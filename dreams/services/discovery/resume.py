"""Where to continue reading a file, and which rows to delete if it has been replaced."""

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
from django.db import transaction

from dreams.lib.agents.transcripts import Cursor, FileGrowth, FileMark, FileStat, Scan, Summary, change
from dreams.models import HistoryFile, MemoryWrite, OpenEnd, Prompt, RequestUsage, Session, TranscriptFile

Problems = list[dict[str, int | str]]


class _State(msgspec.Struct, omit_defaults=True):
    """The contents of `TranscriptFile.state`."""

    summary: Summary
    skipping: bool = False


_decode = msgspec.json.Decoder(_State).decode
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Kept:
    """The stored state of one file between two readings."""

    mark: FileMark
    line_no: int
    state: bytes
    problems: Problems


def kept(files: Iterable[int]) -> dict[int, Kept]:
    """The stored states, by the id of the file's row."""
    rows = TranscriptFile.objects.filter(pk__in=list(files))
    return {row.pk: Kept(mark_of(row), row.line_no, bytes(row.state), row.problems) for row in rows}


def mark_of(row: TranscriptFile | HistoryFile) -> FileMark:
    identity = bytes(row.identity).hex()
    head, tail = identity[:16], identity[16:]
    return FileMark(row.device, row.inode % 2**64, row.size, row.mtime_ns, row.offset, head, tail)


def resume(known: Kept | None, fd: int) -> Scan | None:
    """Where to continue a file; a new Scan for one never read, None when it must be read from the start. Raises OSError."""
    if known is None or not known.state:
        return Scan()
    if change(known.mark, fd) is FileGrowth.REPLACED:
        return None
    try:
        state = _decode(known.state)
    except msgspec.DecodeError:
        return None  # written by another version
    return Scan(Cursor(known.mark.offset, known.line_no, state.skipping), state.summary)


def summary_of(state: bytes) -> Summary | None:
    """The summary stored in a file's row; None if it cannot be read."""
    try:
        return _decode(state).summary if state else None
    except msgspec.DecodeError:
        return None  # as above


def state_of(scan: Scan) -> bytes:
    return _encode(_State(scan.summary, scan.cursor.skipping))


def start_over(session: int, *, is_other: bool) -> dict[int, str]:
    """Deletes the rows of a session whose transcript was replaced; returns the files to read again, id → path. What dreams have
    used of it stays used unless its main transcript `is_other`, and no copy of the one before.

    Tokens and prompts that forks share are stored with one of them, so the forks are read again too, without deleting rows.
    All are marked as unread in the same transaction, so after a crash they are read again.
    """
    with transaction.atomic():
        root_key, host = Session.objects.values_list("root_key", "project__host").get(pk=session)
        for model in (RequestUsage, Prompt, MemoryWrite, OpenEnd):
            model.objects.filter(session=session).delete()
        if is_other:
            Session.objects.filter(pk=session).update(used_bytes=0, given_back_at=None)
        files = TranscriptFile.objects.filter(session=session)
        if root_key is not None:
            files |= TranscriptFile.objects.filter(session__root_key=root_key, session__project__host=host)
        paths = dict(files.values_list("pk", "path"))
        TranscriptFile.objects.filter(pk__in=list(paths)).update(
            size=-1, mtime_ns=0, offset=0, line_no=0, state=b"", identity=b""
        )
    return paths


def stat_mark(before: FileStat, offset: int, *, whole: bool) -> tuple[int, int]:
    """(size, mtime) to store; for a file that was not read to its end, values that no listing can match."""
    return (before.size, before.mtime_ns) if whole else (offset, 0)
