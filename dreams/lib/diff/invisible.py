"""Writes out characters that are invisible or that rearrange the visible ones."""

import re
import unicodedata
from typing import Final

from dreams.lib.diff.lines import line_end_of, split_lines

# Invisible, but not in the categories below: fillers, joiners, selectors, a blank cell.
_UNSEEN: Final = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
)
# A quick test that most lines fail: anything outside printable ASCII, tab and line feed.
_PLAIN: Final = re.compile(r"[\t\n\x20-\x7e]*")
_UNSEEN_CHAR: Final = re.compile(f"[{_UNSEEN}]")
# Letters and marks that are emoji if a selector follows them; all other emoji are symbols.
_PICTURED: Final = "0123456789#*ℹ〰"
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Of pictures only: what this Python's Unicode does not know yet is drawn all the same.
_OF_PICTURES: Final = re.compile("[\U0001f000-\U0001faff]")


def visible(text: str, line_end: str | None = None) -> str:
    """`text` with invisible characters as ⟨U+202E⟩ and undecodable bytes as ⟨0xFF⟩.

    Bidirectional controls, zero-width characters, tags, selectors, line and paragraph separators and all
    control characters but tab and line feed (so ANSI escapes too). A carriage return is shown unless it is part
    of the file's line end: `line_end`, by default the most frequent one of `text`. The parts of an
    emoji are not changed.
    """
    if _PLAIN.fullmatch(text):
        return text
    lines = split_lines(text)
    ends = line_end or line_end_of(lines)
    return "".join(_line(line, ends) for line in lines)


def is_printable(text: str) -> bool:
    """Whether `visible` certainly does not change the text or any part of it."""
    return (text.isascii() and text.isprintable()) or _PLAIN.fullmatch(text) is not None


def is_plain(name: str) -> bool:
    """Whether a file's name has no hidden characters and no line breaks."""
    return visible(name) == name and name.isprintable()


def is_hidden(text: str, place: int) -> bool:
    """Whether `visible` writes out the character at `place` of a line."""
    char, before = text[place], text[place - 1] if place else ""
    return _shown(char, before, text[place + 1 : place + 2]) != char


def _line(line: str, line_end: str) -> str:
    kept = line_end if line.endswith(line_end) else ""
    body = line.removesuffix(kept)
    if body.isprintable() and not _UNSEEN_CHAR.search(body):
        return line
    return "".join(_shown(char, body[i - 1 : i], body[i + 1 : i + 2]) for i, char in enumerate(body)) + kept


def _shown(char: str, before: str, behind: str) -> str:
    if char in "\t\n" or not _hidden(char) or _within_emoji(char, before, behind):
        return char
    if "\udc80" <= char <= "\udcff":
        return f"⟨0x{ord(char) - 0xDC00:02X}⟩"
    return f"⟨U+{ord(char):04X}⟩"


def _hidden(char: str) -> bool:
    is_seen = unicodedata.category(char) not in _HIDDEN_CATEGORIES or _OF_PICTURES.match(char)
    return not is_seen or _UNSEEN_CHAR.match(char) is not None


def _within_emoji(char: str, before: str, behind: str) -> bool:
    """Whether it is a selector or joiner in an emoji; elsewhere they can contain a hidden message."""
    if char == "\ufe0f":
        return before != "" and (_is_symbol(before) or before in _PICTURED)
    return (
        char == "\u200d"
        and behind != ""
        and _is_symbol(behind)
        and (_is_symbol(before) or before == "\ufe0f")
    )


def _is_symbol(char: str) -> bool:
    is_sign = char > "\x7f" and unicodedata.category(char) in ("So", "Sk", "Sm", "Po")
    return is_sign or _OF_PICTURES.match(char) is not None
