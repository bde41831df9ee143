"""PURE: a commit message of one subject line and git trailers, written and read back exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dreams.lib.files.text import one_line

_KEY = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}\Z")


def to_bytes(text: str) -> bytes:
    """UTF-8 in which names that are not UTF-8 keep their own bytes; NUL, which git forbids, is dropped."""
    text = text.replace("\0", "")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte
        return text.encode("utf-8", "replace")


def to_text(raw: bytes) -> str:
    """The inverse of `to_bytes`."""
    return raw.decode("utf-8", "surrogateescape")


def dump(subject: str, trailers: Mapping[str, str]) -> bytes:
    """The bytes of a commit message.

    Raises ValueError for a trailer name that git could not read back.
    """
    lines = [one_line(subject.replace("\0", "")) or "(no message)", ""]
    for key, value in trailers.items():
        if not _KEY.match(key):
            raise ValueError(f"{key!r} is no trailer name; use letters, digits and hyphens")
        first, *more = value.split("\n")
        # Git's own way to go on in the next line is a leading space; a blank one would end the trailers.
        lines += [f"{key}: {first}", *(f" {_guarded(line)}" for line in more)]
    return to_bytes("\n".join(lines) + "\n")


def load(raw: bytes) -> tuple[str, dict[str, str]]:
    """Subject and trailers; lines of a foreign commit that are no trailers are left out."""
    subject, _, body = to_text(raw).removesuffix("\n").partition("\n\n")
    trailers: dict[str, str] = {}
    key = ""
    for line in body.split("\n"):
        name, colon, value = line.partition(": ")
        if line.startswith(" ") and key:
            trailers[key] += "\n" + line[1:].removeprefix(".")
        elif colon and _KEY.match(name):
            key = name
            trailers[key] = value
    return one_line(subject), trailers


def identity(author: str) -> bytes:
    """`author` as git's `Name <address>`; a plain name gets an address that leads nowhere."""
    name = re.sub(r"[<>\r\n]", " ", author).strip() or "unknown"
    return to_bytes(name) + b" <memoryweb@localhost>"


def author_of(raw: bytes) -> str:
    """The name in a git identity."""
    return to_text(raw.rpartition(b" <")[0] or raw)


def _guarded(line: str) -> str:
    return f".{line}" if not line.strip() or line.startswith(".") else line
