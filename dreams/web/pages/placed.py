"""What a check says, for a page that shows its place already: the file stands above it, and the line beside it."""

from __future__ import annotations

import re

_LINE = re.compile(r"^,? lines? [\d,]+\b")
_OF_IT = re.compile(r"(?:Is|Has) ")


def without_place(message: str, path: str) -> str:
    """ "a.md, line 6 holds …" → "Holds …"."""
    if not path or not message.startswith(path):
        return message
    rest = _LINE.sub("", message[len(path) :]).lstrip()
    return as_sentence(f"{rest[:1].upper()}{rest[1:]}") if rest[:1].isalpha() else message


def as_sentence(said: str) -> str:
    """ "Is 1,300 characters long." → "It is …": what begins with a verb that tells nothing alone."""
    return f"It {said[:1].lower()}{said[1:]}" if _OF_IT.match(said) else said
