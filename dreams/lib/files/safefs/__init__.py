"""Opens files without following links: every read and write of files that others can change uses a `Root`.

A root is chosen by a person and may be a link, so it is resolved once, to a directory handle. Below it
each name is opened from the handle of the directory before it (openat) with O_NOFOLLOW, so a link swapped in
is never followed. Checking a real path first and opening it afterwards would lose that race.

Paths below a root are relative POSIX strings (`team/a.md`); undecodable bytes are surrogates
(`os.fsdecode`). Pure: no Django.
"""

from dreams.lib.files.safefs.root import (
    Root,
    SafeFsError,
    Skipped,
    TooLarge,
    UnsafePath,
    WalkedFile,
    held,
    kind_of,
    reason,
    split,
)
