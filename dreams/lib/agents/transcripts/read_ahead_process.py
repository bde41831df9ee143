"""A process that reads whole transcripts for another one, which starts it (`ahead`). Pure: no Django.

Tasks come on standard input, answers go to standard output; it ends with the input, so none outlives its parent. A
plain pipe and not `multiprocessing`: that refuses to work below the queue's daemonic workers, and starts the parent's
main module again.
"""

from __future__ import annotations

import signal
import sys
from typing import IO

import msgspec

from .reader import Reader
from .whole_file import TooMuch, Whole, read_whole

MAX_FRAME = 1 << 30  # above it a length is garbage; chosen
_SIZE_BYTES = 4  # of the length before each frame


class Task(msgspec.Struct, array_like=True):
    """Files to read, in order."""

    number: int
    paths: list[bytes]


class Answer(msgspec.Struct, array_like=True):
    """One packed `Whole` for each path; None where the file must be read by whoever asked."""

    number: int
    files: list[bytes | None]


_pack = msgspec.msgpack.Encoder().encode
_task = msgspec.msgpack.Decoder(Task).decode
_answer = msgspec.msgpack.Decoder(Answer).decode
unpack = msgspec.msgpack.Decoder(Whole).decode
"""Packed `Whole` → Whole. Raises msgspec.DecodeError."""


def send(target: IO[bytes], message: Task | Answer) -> None:
    """Raises OSError when nobody listens any more."""
    data = _pack(message)
    target.write(len(data).to_bytes(_SIZE_BYTES, "big") + data)
    target.flush()


def receive(source: IO[bytes]) -> bytes | None:
    """The next message, None at the end of the input (also in the middle of a message). Raises OSError."""
    head = source.read(_SIZE_BYTES)
    size = int.from_bytes(head, "big")
    if len(head) < _SIZE_BYTES or size > MAX_FRAME:
        return None
    data = source.read(size)
    return data if len(data) == size else None


def receive_answer(source: IO[bytes]) -> Answer | None:
    """As `receive`. Raises msgspec.DecodeError for what no child of ours sends."""
    data = receive(source)
    return None if data is None else _answer(data)


def _read(path: bytes, reader: Reader) -> bytes | None:
    # Whatever is wrong with a file is found again, and told, by the one who asked.
    try:
        return _pack(read_whole(path, reader))
    except (OSError, TooMuch, ValueError, ArithmeticError, LookupError, TypeError, RecursionError):
        return None


def main() -> None:
    # The terminal's Ctrl-C reaches this process too; its parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, target, reader = sys.stdin.buffer, sys.stdout.buffer, Reader()
    try:
        while (data := receive(source)) is not None:
            task = _task(data)
            send(target, Answer(task.number, [_read(path, reader) for path in task.paths]))
    except BrokenPipeError:
        sys.stdout = None  # else the exit tries, loudly, to flush it
