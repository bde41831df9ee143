"""Safe writing of a set of files to one directory: all or none after recovery, atomic for each file.

A plan has the expected and the new content of each file. This order makes a crash harmless:

1. every new and old text is in the journal and on disk: each fsynced, or many by one flush of the file system;
2. the journal's record is fsynced;
3. each new file is complete in its folder under a dotfile name, with mode, owner, attributes and mtime, fsynced;
4. each is swapped in by an exchanging rename; the replaced file is hashed, and put back if it was not expected;
5. the directories are fsynced;
6. the commit record is fsynced; then the old files are moved away, and kept for a while next to the journal.

Nothing is swapped while somebody has a file open for writing, and nothing committed while they have an old one open.
Before 6 everything is undone, after it everything is finished, by the failing run itself or by `recover`. The promise
is "all or none after recovery", not "at once": POSIX cannot replace several files at once. Works on any
directory, without a database. Pure: no Django.
"""

from .late_texts import Late, collect_late, handed_over
from .plan import Applied, BadPlan, DirState, FileOp, JournalBusy, Plan, Result, sha256_of
from .recovery import (
    abandon,
    forget_texts,
    plan_ids,
    read_journal,
    recover,
    texts,
    verify_journals,
)
from .run import run
from .system import System
