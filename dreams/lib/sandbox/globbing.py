"""Expands globs of operands over the mounts as bash would: `*`, `?`, `[…]`, sorted, dotfiles only if named."""

import re
import stat as st
from functools import lru_cache

import re2

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.mounts import MountedPath, Tree
from dreams.lib.sandbox.patterns import CLASSES
from dreams.lib.sandbox.process import CommandMeter, raw
from dreams.lib.sandbox.tokenizer import Word

MOST_MATCHES = 20_000  # of one pattern; chosen


def expand(words: list[Word], tree: Tree, cwd: str, meter: CommandMeter) -> list[str]:
    """The arguments of a command. A word without a match stays unchanged."""
    out: list[str] = []
    for word in words:
        # A word that begins like an option is never expanded, so no file name becomes an option.
        glob = None if word.text.startswith("-") else word.glob
        found = sorted(_walk(glob, tree, cwd, meter), key=raw) if glob is not None else []
        out += [f"./{path}" if path.startswith("-") else path for path in found] or [word.text]
    return out


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
    return re.search(r"[*?[]", re.sub(r"\\.", "", pattern, flags=re.DOTALL)) is not None


def unescaped(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def matches(pattern: str, name: str, *, fold: bool = False) -> bool:
    """Whether the complete name matches, as fnmatch(3) without flags in the C locale."""
    return compiled(pattern, fold).fullmatch(raw(name)) is not None


# A class, a byte or a range of a set; and the parts of a pattern. What is read of a set is never given back (`?>`, `*+`):
# a bracket behind a backslash, or as the first of a set, does not close it.
_CLASS = rb"\[:(?:" + "|".join(CLASSES).encode() + rb"):\]"
_ITEM = rb"(?>" + _CLASS + rb"|(?:\\.|%s)(?:-(?:\\.|[^\]]))?)"
_PIECE = re.compile(rb"\[([!^]?+)(" + _ITEM % b"." + _ITEM % rb"[^\]]" + rb"*+)\]|\\?.", re.DOTALL)
_PARTS = re.compile(_CLASS + rb"|\\?(.)(?:-\\?(.))?", re.DOTALL)


@lru_cache(maxsize=512)
def compiled(pattern: str, fold: bool = False) -> re2._Regexp:
    """A shell pattern as a linear-time expression over bytes."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.dot_nl = True
    options.case_sensitive = not fold
    try:
        return re2.compile(_PIECE.sub(_translated, raw(pattern)), options)
    except re2.error:
        return re2.compile(rb"[^\x00-\xff]", options)  # a reversed range matches nothing


def _translated(piece: re.Match[bytes]) -> bytes:
    if piece[2] is None:
        return {b"*": b".*", b"?": b"."}.get(piece[0]) or _literal(piece[0][-1:])
    return b"[" + (b"^" if piece[1] else b"") + _PARTS.sub(_set_item, piece[2]) + b"]"


def _set_item(item: re.Match[bytes]) -> bytes:
    if item[1] is None:
        return item[0]
    return _literal(item[1]) + (b"-" + _literal(item[2]) if item[2] else b"")


def _literal(byte: bytes) -> bytes:
    return b"\\x%02x" % ord(byte)
