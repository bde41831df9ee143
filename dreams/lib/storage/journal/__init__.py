"""Trusted writing of a set of files to one directory: all or none after recovery, atomic for each file.

A plan says what must stand in each place and what shall. The order, which is what makes a crash harmless:

1. every new and old text is in the journal and on disk: each fsynced, or many by one step for the whole file system;
2. the journal's record is fsynced;
3. each new file lies whole beside its place under a dotfile name, with mode, owner, attributes and mtime, fsynced;
4. each is swapped in by an exchanging rename; what came out is hashed, and is put back if it was not expected;
5. the directories are fsynced;
6. the commit record is fsynced; then the old files are taken away, and kept for a while beside the journal.

Nothing is swapped while somebody has one of the files open for writing, and nothing committed while they have an old one.
Before 6 everything is undone, after it everything is finished, by the failing run itself or by `recover`. The promise
is "all or none after recovery", not "at one instant": POSIX cannot replace several files at once. Works on any
directory, without a database. Pure: no Django.
"""

from .late_texts import Late, collect_late, handed_over
from .plan import Applied, BadPlan, DirState, FileOp, JournalBusy, Plan, Result, sha256_of
from .recovery import (
    abandon,
    forget_texts,
    list_journals,
    plan_ids,
    read_journal,
    read_text,
    recover,
    verify_journals,
)
from .run import run
from .system import System
