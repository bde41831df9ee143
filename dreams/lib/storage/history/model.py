"""The records of the version history, and its errors, which a person may read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dreams.lib.refusal import Refusal

#: The remedy for a damaged history: an export cannot be merged into an unreadable one.
REMEDY = (
    "Move the folder of the history away and bring back an export of it (`import FILE`); without one the next change "
    "begins a new history. The database has the texts still"
)


class HistoryError(Refusal):
    """The history cannot do the operation; the message names the cause and the remedy."""


class HistoryBusy(HistoryError):
    """Another process is writing to this history."""


class HistoryDamaged(HistoryError):
    """Something stored cannot be read back unchanged; `args` says what."""

    def __str__(self) -> str:
        return f"{self.args[0]}. {REMEDY}."


class HistoryNewer(HistoryDamaged):
    """A newer program wrote it."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownVersion(HistoryError, KeyError):
    """No text with this sha256, or no commit with this id, is in the history."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class Meta:
    """Metadata of a file or directory that git does not store. `mode` has the permission bits, `mtime_ns` nanoseconds."""

    mode: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class State:
    """A complete memory directory at one moment, and the reason for the commit: the content of one commit.

    `files`: path below the memory directory (`/` between names, surrogateescape) → bytes. `manifest`: the same paths,
    and directories too ("" is the memory directory itself). `at` must be aware.
    """

    files: Mapping[str, bytes]
    manifest: Mapping[str, Meta]
    subject: str
    trailers: Mapping[str, str]
    at: datetime
    author: str


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One line of a manifest. A directory has no sha256; `size` is in bytes."""

    sha256: str | None
    size: int
    meta: Meta | None


@dataclass(frozen=True, slots=True)
class Commit:
    """One stored state. `at` has whole seconds, as in git."""

    id: str
    at: datetime
    author: str
    subject: str
    trailers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HistoryDamage:
    """A problem that `verify` found, where, and what a person can do about it."""

    what: str
    where: str
    remedy: str = REMEDY
