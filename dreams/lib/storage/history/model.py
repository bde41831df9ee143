"""The words of the version history: small frozen records and the errors a person may read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dreams.lib.refusal import Refusal

#: What helps where something of a history is damaged: an export is not joined with what cannot be read.
REMEDY = (
    "Move the folder of the history away and bring back an export of it (`import FILE`); without one the next change "
    "begins a new history. The database has the texts still"
)


class HistoryError(Refusal):
    """The history cannot do what was asked; the message names the thing and the remedy."""


class HistoryBusy(HistoryError):
    """Another process is writing to this history."""


class HistoryDamaged(HistoryError):
    """Something that was stored cannot be read back as it was stored; `args` has what."""

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
    """What git does not keep of a file or directory. `mode` holds permission bits, `mtime_ns` nanoseconds."""

    mode: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class State:
    """A whole memory directory at one moment, and why it is as it is: what one commit keeps.

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
    """One kept state. `at` is cut to whole seconds, as git keeps no more."""

    id: str
    at: datetime
    author: str
    subject: str
    trailers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class HistoryDamage:
    """What `verify` found, where, and what a person can do about it."""

    what: str
    where: str
    remedy: str
