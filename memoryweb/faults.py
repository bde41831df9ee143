"""Unexpected errors: one line for whoever watches the terminal, the traceback in a file of the data directory."""

import datetime as dt
import logging
import os
from pathlib import Path

# Two of them are kept, so that a fault that comes back every minute fills no disk.
MAX_BYTES = 1_000_000
TRACEBACK = "Traceback (most recent call last):"


def file_in(data_dir: Path) -> Path:
    return data_dir / "logs" / "faults.log"


def keep(file: Path, traceback: str) -> str:
    """Add a traceback to `file`; says in a sentence where it is, or why it is nowhere."""
    entry = f"{dt.datetime.now(dt.UTC).isoformat()}\n{traceback.rstrip()}\n\n"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > MAX_BYTES:
            file.replace(file.with_suffix(".log.1"))
        # A message may quote a memory: nobody else reads it.
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as log:
            log.write(entry)
    except OSError as error:
        return f"The log cannot be written either ({error.strerror})."
    return f"Its traceback is in {file}."


class OneLine(logging.Formatter):
    """A record as one line; what it caught goes to the file of faults."""

    def __init__(self, data_dir: Path, format: str) -> None:
        super().__init__(format)
        self._file = file_in(data_dir)

    def format(self, record: logging.LogRecord) -> str:
        plain = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        said, caught = super().format(plain), record.exc_info
        if caught and caught[1] is not None:
            where = keep(self._file, f"{said}\n{self.formatException(caught)}")
            return f"{_one_line(said)}: {type(caught[1]).__name__}: {_one_line(str(caught[1]))}. {where}"
        # The queue tells of a failed task with the whole traceback in its message.
        before, mark, _ = said.partition(TRACEBACK)
        if not mark:
            return _one_line(said)
        return f"{_one_line(before).rstrip(' :')}. {keep(self._file, said)}"


def _one_line(text: str) -> str:
    """Without line breaks, and without what would move a terminal's cursor."""
    return "".join(char if char.isprintable() else "�" for char in " ".join(text.split()))
