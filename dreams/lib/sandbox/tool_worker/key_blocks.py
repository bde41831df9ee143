"""Single lines of a key block, hidden in an answer: no line of one shows by itself what it is, so the files that a call opened
are looked at as a whole. PURE."""

import os
from collections.abc import Iterator

import re2

from dreams.lib.files.safefs import SafeFsError, held
from dreams.lib.sandbox import Tree
from dreams.lib.sandbox.mounts import MountedPath
from dreams.lib.secrets.redact import values, without_keys

CHUNK = 1 << 20  # read at once; chosen
MOST_CHUNKS = 512  # of one file: a huge one's first lines have to come in time; chosen
BEFORE, BEHIND = 200, 64 * 1024  # bytes around a block's title that hold all of it; chosen
RULES = frozenset({"private-key", "putty-key"})  # whose secrets go over several lines
_TITLE = re2.compile(rb"PRIVATE KEY|Private-Lines")


class KeyBlocks:
    """The key blocks of a tree's files. A file is read once for as long as it stays as it is."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], str] = {}

    def hidden(self, answer: str, tree: Tree) -> str:
        """`answer` without any part of a key block of the files that were opened for it."""
        blocks = "\n".join(filter(None, (self._of(tree, place) for place in tree.opened.values())))
        return without_keys(answer, blocks) if blocks else answer

    def _of(self, tree: Tree, place: MountedPath) -> str:
        try:
            with held(tree.open(place)) as fd:
                found = os.fstat(fd)
                key = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
                if key not in self._known:
                    self._known[key] = "\n".join(_blocks(fd))
                return self._known[key]
        except (OSError, SafeFsError):
            return ""  # gone since


def _blocks(fd: int) -> set[str]:
    """Also as JSON means them, where a transcript has `\\n` for a line's end."""
    texts = (each for text in _near_titles(fd) for each in (text, text.replace("\\n", "\n")))
    return {value for text in texts for value, rule in values(text).items() if rule in RULES}


def _near_titles(fd: int) -> Iterator[str]:
    kept = b""
    for _ in range(MOST_CHUNKS):
        if not (data := os.read(fd, CHUNK)):
            return
        kept, done = kept + data, 0
        for title in _TITLE.finditer(kept):
            if title.start() >= done:
                done = title.start() + BEHIND
                yield kept[max(0, title.start() - BEFORE) : done].decode("utf-8", "replace")
        kept = kept[-BEFORE - BEHIND :]
