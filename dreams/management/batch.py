"""JSON lines in, JSON lines out, for all `--batch` commands. Needs neither a database nor valid settings."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO, TextIO

from django.core.management.base import CommandParser

from dreams.management import base

Row = dict[str, object]
LONGEST = 8 * 1024 * 1024  # bytes of one line; a longer one is skipped with an error


def answer(lines: BinaryIO, out: TextIO, reply: Callable[[Row], Row]) -> None:
    """Writes one answer for each line that is not blank, in order, as soon as it is read.

    A line that is not a JSON object, or for which `reply` raises ValueError, is answered with {"error": why}; the next
    ones continue.
    """
    for number, line in enumerate(_lines(lines), start=1):
        if line.strip():
            out.write(json.dumps(_answer(number, line, reply)) + "\n")
            out.flush()


def _lines(lines: BinaryIO) -> Iterable[bytes]:
    while line := lines.readline(LONGEST + 1):
        rest = line
        while len(rest) > LONGEST and not rest.endswith(b"\n"):
            rest = lines.readline(LONGEST + 1)
        yield line


def _answer(number: int, line: bytes, reply: Callable[[Row], Row]) -> Row:
    if len(line) > LONGEST:
        return {"error": f"line {number}: longer than {LONGEST} bytes"}
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"error": f"line {number}: {_unread(error)}"}
    if not isinstance(row, dict):
        return {"error": f"line {number}: not a JSON object"}
    try:
        return reply(row)
    except ValueError as error:
        return {"error": f"line {number}: {error}"}
    except Exception as error:  # a bug on one line must not prevent the answers to the others
        return {"error": f"line {number}: could not be answered ({type(error).__name__})"}


def _unread(error: Exception) -> str:
    """Why a line is not JSON, without line numbers of the parser and words of Python."""
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON ({error.msg} at character {error.pos + 1})"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 (byte {error.start + 1})"
    if isinstance(error, RecursionError):
        return "not read: it is nested too deep"
    return "not read: a number in it has too many digits"


def text_of(row: Row, key: str) -> str:
    """The string under `key`; ValueError if it is missing or something else."""
    value = row.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key!r} must be a string")
    return value


class BatchCommand(base.Command):
    """Base of `resolve_dates`, `similar` and `check_claims`. Subclasses define `reply`, or `replying` if it needs preparation."""

    needs_database = False
    has_json = False  # the answers are always JSON lines

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--batch", action="store_true", required=True, help="read JSON lines from standard input"
        )
        parser.add_argument(
            "--json", action="store_true", help="same as without; the output is always JSON lines"
        )

    def run(self, options: Mapping[str, Any]) -> None:
        answer_standard_input(self.replying(options))

    def replying(self, options: Mapping[str, Any]) -> Callable[[Row], Row]:
        """The function that answers one line."""
        return self.reply

    def reply(self, row: Row) -> Row:
        """The answer to one line. Raises ValueError with the reason if the line is refused."""
        raise NotImplementedError


def answer_standard_input(reply: Callable[[Row], Row]) -> None:
    """Answers standard input on standard output. Raises BadUsage if standard input is closed."""
    if sys.stdin is None:
        raise base.BadUsage("Standard input is closed. Give JSON lines on it.")
    answer(sys.stdin.buffer, sys.stdout, reply)
