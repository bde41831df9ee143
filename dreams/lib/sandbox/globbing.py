"""Expands globs of operands over the mounts as bash would: `*`, `?`, `[…]`, sorted, dotfiles only if named."""

import stat as st
from functools import lru_cache

import re2

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.mounts import MountedPath, Tree
from dreams.lib.sandbox.patterns import CLASSES
from dreams.lib.sandbox.process import CommandMeter
from dreams.lib.sandbox.tokenizer import Word

MOST_MATCHES = 20_000  # of one pattern; chosen


def expand(words: list[Word], tree: Tree, cwd: str, meter: CommandMeter) -> list[str]:
    """The arguments of a command. A word without a match stays unchanged."""
    return [text for word in words for text in _expanded(word, tree, cwd, meter)]


def _expanded(word: Word, tree: Tree, cwd: str, meter: CommandMeter) -> list[str]:
    # A word that begins like an option is never expanded, so no file name becomes an option.
    if word.glob is None or word.text.startswith("-"):
        return [word.text]
    found = sorted(
        _walk(word.glob, tree, cwd, meter), key=lambda path: path.encode("utf-8", "surrogateescape")
    )
    return [f"./{path}" if path.startswith("-") else path for path in found] or [word.text]


def _walk(pattern: str, tree: Tree, cwd: str, meter: CommandMeter) -> list[str]:
    """All matching paths, spelled as typed, component by component.

    Plain components are checked only after a wildcard, or at the end: the folders above a mount's real path do not
    exist here, but lead to it.
    """
    prefixes = ["/"] if pattern.startswith("/") else [""]
    parts = [part for part in pattern.split("/") if part]
    guessed = True
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        folder_wanted = not last or pattern.endswith("/")
        guessed = guessed and not wild(part)
        if guessed and not last:
            prefixes = [_joined(prefix, unescaped(part)) for prefix in prefixes]
            continue
        prefixes = [
            path for prefix in prefixes for path in _component(part, prefix, folder_wanted, tree, cwd, meter)
        ][:MOST_MATCHES]
    return [path + "/" for path in prefixes] if pattern.endswith("/") else prefixes


def _joined(prefix: str, name: str) -> str:
    return prefix + name if not prefix or prefix.endswith("/") else f"{prefix}/{name}"


def _component(part: str, prefix: str, folder: bool, tree: Tree, cwd: str, meter: CommandMeter) -> list[str]:
    if not wild(part):
        path = _joined(prefix, unescaped(part))
        return [path] if _stands(path, folder, tree, cwd) else []
    try:
        entries = tree.entries(tree.place(prefix or ".", cwd))
    except (OSError, SafeFsError):
        return []
    meter.saw(len(entries))
    return [
        _joined(prefix, entry.name)
        for entry in entries
        if (not entry.name.startswith(".") or part.startswith((".", "\\.")))
        and (not folder or st.S_ISDIR(entry.stat.st_mode))
        and matches(part, entry.name)
    ]


def _stands(path: str, folder: bool, tree: Tree, cwd: str) -> bool:
    try:
        place: MountedPath = tree.place(path, cwd)
        return st.S_ISDIR(tree.stat(place).st_mode) or not folder
    except (OSError, SafeFsError):
        return False


def wild(pattern: str) -> bool:
    """Whether it has an unescaped wildcard."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] in "*?[":
            return True
        at += 1
    return False


def unescaped(pattern: str) -> str:
    out: list[str] = []
    at = 0
    while at < len(pattern):
        at += pattern[at] == "\\" and at + 1 < len(pattern)
        out.append(pattern[at])
        at += 1
    return "".join(out)


def matches(pattern: str, name: str, *, fold: bool = False) -> bool:
    """Whether the complete name matches, as fnmatch(3) without flags in the C locale."""
    return compiled(pattern, fold).fullmatch(name.encode("utf-8", "surrogateescape")) is not None


@lru_cache(maxsize=512)
def compiled(pattern: str, fold: bool = False) -> re2._Regexp:
    """A shell pattern as a linear-time expression over bytes."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.dot_nl = True
    options.case_sensitive = not fold
    data = pattern.encode("utf-8", "surrogateescape")
    try:
        return re2.compile(_expression(data), options)
    except re2.error:
        return re2.compile(rb"[^\x00-\xff]", options)  # a reversed range matches nothing


def _expression(data: bytes) -> bytes:
    out: list[bytes] = []
    at = 0
    while at < len(data):
        piece, at = _piece(data, at)
        out.append(piece)
    return b"".join(out)


def literal(byte: int) -> bytes:
    return b"\\x%02x" % byte


def _piece(data: bytes, at: int) -> tuple[bytes, int]:
    char = data[at : at + 1]
    if char == b"*":
        return b".*", at + 1
    if char == b"?":
        return b".", at + 1
    if char == b"[":
        found = _bracket(data, at)
        if found is not None:
            return found
    if char == b"\\" and at + 1 < len(data):
        return literal(data[at + 1]), at + 2
    return literal(data[at]), at + 1


def _bracket(data: bytes, start: int) -> tuple[bytes, int] | None:
    """A bracket expression and its end, or None if it is never closed."""
    at = start + 1
    negated = data[at : at + 1] in (b"!", b"^")
    at += negated
    items: list[bytes] = []
    first = True
    while at < len(data) and (first or data[at : at + 1] != b"]"):
        first = False
        item, at = _item(data, at)
        items.append(item)
    if at >= len(data):
        return None
    return b"[" + (b"^" if negated else b"") + b"".join(items) + b"]", at + 1


def _item(data: bytes, at: int) -> tuple[bytes, int]:
    if data[at : at + 2] == b"[:":
        end = data.find(b":]", at + 2)
        name = data[at + 2 : end].decode("latin-1") if end > 0 else ""
        if name in CLASSES:
            return b"[:" + name.encode() + b":]", end + 2
    low, at = _bracket_byte(data, at)
    if data[at : at + 1] == b"-" and data[at + 1 : at + 2] not in (b"", b"]"):
        high, at = _bracket_byte(data, at + 1)
        return literal(low) + b"-" + literal(high), at
    return literal(low), at


def _bracket_byte(data: bytes, at: int) -> tuple[int, int]:
    if data[at : at + 1] == b"\\" and at + 1 < len(data):
        at += 1
    return data[at], at + 1
