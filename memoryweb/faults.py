"""Unexpected errors: one line on the terminal, the traceback in a file of the data directory."""

import datetime as dt
import logging
import os
import re
from pathlib import Path

# Only two files of this size are kept, so that a recurring error cannot fill the disk.
MAX_BYTES = 1_000_000
_FEED = re.compile(r"(/feed/)[^/\s]+")  # followed by the token that opens it
TRACEBACK = "Traceback (most recent call last):"


def file_in(data_dir: Path) -> Path:
    return data_dir / "logs" / "faults.log"


def keep(file: Path, traceback: str) -> str:
    """Adds a traceback to `file`; returns a sentence with its place, or why it could not be written."""
    entry = f"{dt.datetime.now(dt.UTC).isoformat()}\n{traceback.rstrip()}\n\n"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > MAX_BYTES:
            file.replace(file.with_suffix(".log.1"))
        # Private, as a message may quote a memory.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(entry)
    except OSError as error:
        return f"The log cannot be written either ({error.strerror})."
    return f"Its traceback is in {file}."


class OneLine(logging.Formatter):
    """Formats a record as one line and writes its exception to the file of faults."""

    def __init__(self, data_dir: Path, format: str) -> None:
        super().__init__(format)
        self._file = file_in(data_dir)

    def format(self, record: logging.LogRecord) -> str:
        plain = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        said, caught = _FEED.sub(r"\1…", super().format(plain)), record.exc_info
        if caught and caught[1] is not None:
            where = keep(self._file, f"{said}\n{self.formatException(caught)}")
            return f"{_one_line(said)}: {type(caught[1]).__name__}: {_one_line(str(caught[1]))}. {where}"
        # The queue's message about a failed task contains the full traceback.
        before, mark, _ = said.partition(TRACEBACK)
        if not mark:
            return _one_line(said)
        return f"{_one_line(before).rstrip(' :')}. {keep(self._file, said)}"


def _one_line(text: str) -> str:
    """The text without line breaks and control characters."""
    return "".join(char if char.isprintable() else "�" for char in " ".join(text.split()))
