"""Finds characters that cannot be seen or that reorder text: invisible, bidi and tag characters, escapes, bytes. PURE."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from dreams.findings.base import NewFinding, Severity, Subject
from dreams.findings.lines import CheckedLine, added_lines, found_at, standing_lines
from dreams.lib import diff

CHECK = "invisible"
_SHOWN = re.compile(r"⟨(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})⟩")
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
    """The hidden characters of a line, written out; without a byte order mark at the start and joiners that a script needs."""
    if first:
        text = text.removeprefix("\ufeff")
    if text.isascii() and text.isprintable():
        return []
    for flag in _FLAGS:
        text = text.replace(flag, "")
    bare = "".join(char for place, char in enumerate(text) if not _needed(text, place))
    return _SHOWN.findall(diff.visible(_SHOWN.sub("", bare), "\n"))


def without_hidden(line: str) -> str:
    """A line with its line end, without its `hidden` characters."""
    body = line.rstrip("\r\n")
    parts = _FLAG.split(body)
    return "".join(part if at % 2 else _bare(part) for at, part in enumerate(parts)) + line[len(body) :]


def _bare(text: str) -> str:
    if diff.visible(text, "\n") == text:
        return text
    kept = (at for at in range(len(text)) if _needed(text, at) or not diff.is_hidden(text, at))
    return "".join(text[at] for at in kept)


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
