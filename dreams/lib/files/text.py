"""Bytes and text: memory files are stored as bytes; text is for reading, comparing and showing."""

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

# PostgreSQL rejects NUL, and databases reject lone surrogates, which replace invalid UTF-8 bytes.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def sha256(data: bytes) -> str:
    """The lower-case hex digest that rows, findings and decisions store."""
    return hashlib.sha256(data).hexdigest()


def decode(data: bytes) -> str:
    """Text that `encode` turns back into exactly `data`, even if it is not UTF-8."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def with_texts(value: Any, change: Callable[[str], str], *, keys: bool = False) -> Any:
    """Nested dicts and lists with `change` applied to each text in them, with `keys` to those, too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [with_texts(one, change, keys=keys) for one in value]
    if isinstance(value, dict):
        return {
            change(key) if keys else key: with_texts(one, change, keys=keys) for key, one in value.items()
        }
    return value


def with_line_feeds(text: str) -> str:
    """`text` with LF for every line end: a browser sends CRLF, and a lone CR ends a line too."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decoded(data: bytes | None) -> str | None:
    """As `decode`; None, for no file, stays None."""
    return None if data is None else decode(data)


def sha_of(side: str | bytes | None) -> str:
    """As `sha256`, of bytes or a text; "" for None."""
    data = encode(side) if isinstance(side, str) else side
    return "" if data is None else sha256(data)


def is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def storable(text: str, limit: int | None = None) -> str:
    """The text with U+FFFD for characters a database rejects, at most `limit` characters."""
    return _UNSTORABLE.sub("\ufffd", text[:limit])


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, the last one "…" if the text was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def is_below(path: str, folder: str) -> bool:
    """Whether a path, as written, is the folder or in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def with_home(path: str) -> str:
    """Expands `~` and `~user`; keeps an unknown `~user`, for which pathlib raises."""
    return os.path.expanduser(path)  # noqa: PTH111 - see above


def is_folder(path: str | os.PathLike[str]) -> bool:
    """Whether it is a folder; False if that cannot be checked, where pathlib raises."""
    return os.path.isdir(path)  # noqa: PTH112 - see above


def is_there(path: str | os.PathLike[str]) -> bool:
    """Whether there is something, links followed. Raises OSError if that cannot be said, where `exists` says no from Python
    3.14 on."""
    try:
        os.stat(path)  # noqa: PTH116 - as above
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def joined(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"; "" for none."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]


def plural(count: int, one: str, many: str | None = None) -> str:
    """`plural(3, "memory", "memories")` is "3 memories"."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


_ASCII_END = re.compile(r"[!-~]+$")  # a token that follows a language without spaces


def quoted(said: str, limit: int = 160) -> str:
    """The text in quotation marks for the end of a sentence, without its own full stop. It ends with a whole word: half a token
    would not be recognised as a secret any more."""
    said = said.rstrip(". ")
    kept = said[:limit]
    if said[limit : limit + 1] not in ("", " "):
        kept = kept.rpartition(" ")[0] or _ASCII_END.sub("", kept) or kept
    return f"“{kept.rstrip('. ')}”"
