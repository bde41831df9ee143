"""Why a command line was not run, or not to its end."""

from __future__ import annotations


class Refused(Exception):
    """The line asks for something that is not on offer. The message names the refused part; nothing was run."""


class UsageError(Exception):
    """A command was called in a way that the ordinary tool, too, answers with an error and no output."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class LimitReached(Exception):
    """A cap on time, bytes, names or memory was met; what was printed until then is kept."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class LineTooLong(LimitReached):
    """One line is more than can be looked at; where files are searched one by one, the next one still is."""
