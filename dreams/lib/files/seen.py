"""The numbers by which a changed file is noticed, as rows store them. Pure: no Django.

A column has 64 bits with a sign: it ends in the years 1677 and 2262, which a file's time need not, and an inode may have 64
bits without one, for example on mergerfs.
"""

import os


def seen(found: os.stat_result) -> tuple[int, int, int]:
    """(size, mtime in nanoseconds, inode)."""
    return found.st_size, storable_ns(found.st_mtime_ns), signed(found.st_ino)


def storable_ns(ns: int) -> int:
    return max(-(2**63), min(ns, 2**63 - 1))


def signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number
