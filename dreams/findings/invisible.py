"""Finds characters that cannot be seen or that reorder text: invisible, bidi and tag characters, escapes, bytes. PURE."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from dreams.findings.base import NewFinding, Severity, Subject
from dreams.findings.lines import CheckedLine, added_lines, found_at, standing_lines
from dreams.lib import diff

CHECK = "invisible"
_JOINERS = "\u200c\u200d"
_VARIANTS = range(0xE0100, 0xE01F0)  # of an ideograph
_FLAGS = [
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in land) + "\U000e007f"
    for land in ("gbeng", "gbsct", "gbwls")
]  # England, Scotland and Wales: the only flags made of tag characters
_FLAG = re.compile(f"({'|'.join(_FLAGS)})")
_JOINED_SCRIPTS = ("ARABIC", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA", "MALAYALAM", "SINHALA", "SYRIAC", "MONGOLIAN", "KHMER", "MYANMAR")  # fmt: skip


def check(subject: Subject) -> Iterator[NewFinding]:
    yield from _findings(added_lines(subject), "block")


def standing(subject: Subject) -> Iterator[NewFinding]:
    yield from _findings(standing_lines(subject), "warn")


def _findings(lines: Iterable[CheckedLine], severity: Severity) -> Iterator[NewFinding]:
    for line in lines:
        shown = hidden(line.text, first=line.number == 1)
        if shown:
            names = ", ".join(dict.fromkeys(shown[:20]))
            rule, message, remedy = _told(names)
            about = f"{names} {line.text[:200]}"
            yield found_at(line, CHECK, rule, severity, message, remedy, about=about)


def _told(names: str) -> tuple[str, str, str]:
    """Rule, message and remedy."""
    if "⟨0x" in names and "⟨U+" not in names:  # removing bytes of another encoding would lose letters
        return "not-utf8", f"contains bytes that are not UTF-8: {names}", "Save the file as UTF-8."
    rule = "escape-sequence" if "⟨U+001B⟩" in names else "not-utf8" if "⟨0x" in names else "invisible-text"
    return (
        rule,
        f"contains invisible characters: {names}",
        "Edit the line and remove these characters.",
    )


def hidden(text: str, *, first: bool = False) -> list[str]:
    """The hidden characters of a line, written out; without a byte order mark at the start of its file."""
    text = text.removeprefix("\ufeff") if first else text
    return [diff.visible(text[at], "\n") for at in _places(text)]


def without_hidden(line: str) -> str:
    """A line with its line end, without its `hidden` characters."""
    body = line.rstrip("\r\n")
    gone = {*_places(body)}
    return (
        "".join(char for at, char in enumerate(body) if at not in gone) + line[len(body) :] if gone else line
    )


def _places(text: str) -> Sequence[int]:
    """Where a line's hidden characters are, without the joiners that a script needs, flags and the like."""
    if diff.visible(text, "\n") == text:
        return ()
    flags = {at for flag in _FLAG.finditer(text) for at in range(*flag.span())}
    places = (at for at in range(len(text)) if diff.is_hidden(text, at))
    return [at for at in places if at not in flags and not _needed(text, at)]


def _needed(text: str, place: int) -> bool:
    """Whether it is needed: a joiner of a script, a variant of an ideograph, a sign shown as text ("✔")."""
    if place == 0:
        return False
    char, name = text[place], unicodedata.name(text[place - 1], "")
    if char in _JOINERS:
        return name.startswith(_JOINED_SCRIPTS)
    if ord(char) in _VARIANTS:
        return name.startswith("CJK ")
    return char == "\ufe0e" and unicodedata.category(text[place - 1]) in {"So", "Sm"}
