"""The version history of a project: a bare git repository in the data directory. No Django here.

Start at `store.HistoryStore`. Below it: `gitrepo` (durable objects and refs), `trees` (one state, with its manifest),
`upkeep` (packing, verifying), `purge`, `bundle` (export and import).
"""

from .model import (
    REMEDY,
    Commit,
    HistoryBusy,
    HistoryDamaged,
    HistoryError,
    ManifestEntry,
    Meta,
    State,
    UnknownVersion,
)
from .store import HistoryStore
