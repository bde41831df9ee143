"""Bytes and text: memory files are kept as bytes; text is for reading, comparing and showing."""

import hashlib
import os
import re
from collections.abc import Sequence

# No database takes a NUL (PostgreSQL) or half a character, and a byte that is no UTF-8 is read as one.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def sha256(data: bytes) -> str:
    """The lower-case hex digest that every row, finding and decision refers to."""
    return hashlib.sha256(data).hexdigest()


def decode(data: bytes) -> str:
    """Text that `encode` turns back into exactly `data`, also where it is not UTF-8."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def sha_of(side: str | None) -> str:
    """As `sha256`, of a text; "" of none."""
    return "" if side is None else sha256(encode(side))


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def storable(text: str, limit: int | None = None) -> str:
    """What any database takes, U+FFFD for what it does not, at most `limit` characters."""
    return _UNSTORABLE.sub("\ufffd", text[:limit])


def one_line(text: str) -> str:
    """Every run of white space as one space."""
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, the last one "…" where more was there."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def is_below(path: str, folder: str) -> bool:
    """Whether a path, as it is written, is a folder or in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def with_home(path: str) -> str:
    """`~` and `~user` as a home folder; an unknown `~user` is just a name, where pathlib's answer is an error."""
    return os.path.expanduser(path)  # noqa: PTH111 - see above


def is_folder(path: str | os.PathLike[str]) -> bool:
    """False too where it cannot be looked at, where pathlib's answer is an error."""
    return os.path.isdir(path)  # noqa: PTH112 - see above


def joined(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; "" of none."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def plural(count: int, one: str, many: str | None = None) -> str:
    """`plural(3, "memory", "memories")` is "3 memories"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def quoted(said: str, limit: int = 160) -> str:
    """What was said, in quotation marks, for the end of a sentence: its own full stop would be a second one."""
    return f"“{said[:limit].rstrip('. ')}”"
