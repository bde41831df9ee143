"""Changing one frontmatter field and nothing else. PURE.

The edit is made on the lines and then proven: the new block is read again, and must differ from the old one in the
named field alone. What is too unusual to edit that way (flow mappings, anchors) is refused, never guessed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dreams.lib.memdir.frontmatter import PLAIN, parse_block

from .document import Document, from_text
from .frontmatter import FIELD_KEYS, TOP_LEVEL_FIELDS, Frontmatter, Value, block_of
from .text import MemoryEditError, split_lines, strip_end

_PLAIN = re.compile(PLAIN)
# Texts that some YAML reader would take for a boolean, null, number, date or merge key.
_AMBIGUOUS = re.compile(
    r"(?:~|null|true|false|yes|no|on|off|y|n|=|<<|\.inf|\.nan|[-+.]?\d[\d_.,:+\-eExXoObBa-fA-FTtZz ]*)",
    re.IGNORECASE,
)
_WORD_OR_MOMENT = re.compile(r"true|false|\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?")
_PLAIN_FIELDS = frozenset({"pinned", "modified", "created"})
_KEY = re.compile(
    r"(?P<indent> *)(?P<key>[^\W\d][\w.-]*|\"[^\"]+\"|'[^']+')[ \t]*:(?P<rest>(?:[ \t].*)?)", re.DOTALL
)
# A value of one line and the comment after it.
_ONE_LINE = re.compile(
    r"(?P<space>[ \t]*)(?P<value>\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|(?!['\"|>])(?:(?![ \t]#).)*?)"
    r"(?P<tail>[ \t]+#.*|[ \t]*)"
)
_ORDER = ("name", "description", "type")


@dataclass(frozen=True, slots=True)
class _ValueSpan:
    """Where a key's value stands among the lines of a block."""

    start: int
    stop: int
    prefix: str
    old: str
    tail: str


def with_field(document: Document, field: str, value: str | bool, *, create: bool = False) -> Document:
    """The document with one field set: name, description, type, pinned, modified (any key of FIELD_KEYS).

    The field is changed where it stands (flat or under `metadata:`), or added in the file's own shape. With
    `create` a file without frontmatter gets some. Raises MemoryEditError when that cannot be done without touching
    anything else, and KeyError for an unknown field.
    """
    text = _as_text(value)
    keys = FIELD_KEYS[field]
    if not document.head:
        return _with_new_head(document, keys[0], text, field, create=create)
    old = document.frontmatter
    if old is None or old.text(field) == text:
        return document
    lines = split_lines(block_of(document.head))
    path = old.place(field) or _new_path(old, field)
    edited = "".join(_edit(lines, path, text, field, document.newline))
    _prove(old, parse_block(edited), field, text)
    fences = split_lines(document.head)
    return from_text(fences[0] + edited + fences[-1] + document.body, document.bom)


def _as_text(value: str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _with_new_head(document: Document, key: str, text: str, field: str, *, create: bool) -> Document:
    if not create:
        raise MemoryEditError(
            f"This file has no frontmatter to hold “{field}”: allow a new block to be added."
        )
    end = document.newline
    gap = end if document.body and not document.body.startswith(("\n", "\r\n")) else ""
    head = f"---{end}{key}: {render_value(text, field=field)}{end}---{end}"
    return from_text(head + gap + document.body, document.bom)


def _new_path(old: Frontmatter, field: str) -> tuple[str, ...]:
    key = FIELD_KEYS[field][0]
    return ("metadata", key) if old.shape == "nested" and field not in TOP_LEVEL_FIELDS else (key,)


def _edit(lines: list[str], path: tuple[str, ...], text: str, field: str, newline: str) -> list[str]:
    start, stop, indent = 0, len(lines), ""
    for parent in path[:-1]:
        place = _find(lines, parent, start, stop, "")
        if place is None:
            raise _refusal(field)
        start, stop = place.start + 1, place.stop
        indent = _child_indent(lines, start, stop)
    place = _find(lines, path[-1], start, stop, indent)
    if place is None:
        at = _insertion_point(lines, path[-1], start, stop)
        return [*lines[:at], f"{indent}{path[-1]}: {render_value(text, field=field)}{newline}", *lines[at:]]
    end = lines[place.start][len(strip_end(lines[place.start])) :]
    rendered = render_value(text, field=field, like=place.old)
    return [*lines[: place.start], f"{place.prefix}{rendered}{place.tail}{end}", *lines[place.stop :]]


def _find(lines: list[str], key: str, start: int, stop: int, indent: str) -> _ValueSpan | None:
    """The last line of this depth with the key (the one that counts), with the lines its value takes."""
    found = None
    for number in range(start, stop):
        match = _KEY.fullmatch(strip_end(lines[number]))
        if match and match["indent"] == indent and match["key"].strip("'\"") == key:
            found = (number, match)
    if found is None:
        return None
    number, match = found
    value = _ONE_LINE.fullmatch(match["rest"])
    prefix = strip_end(lines[number])[: match.start("rest")]
    space, old, tail = (value["space"], value["value"], value["tail"]) if value else ("", "", "")
    if not old:
        space = " "
    return _ValueSpan(
        number, _value_end(lines, number, stop, len(indent)), prefix + (space or " "), old, tail
    )


def _value_end(lines: list[str], number: int, stop: int, indent: int) -> int:
    """One past the last line that belongs to the value: what follows is indented deeper, blank lines between."""
    end = number + 1
    for position in range(number + 1, stop):
        line = strip_end(lines[position])
        if not line.strip():
            continue
        if len(line) - len(line.lstrip(" ")) <= indent:
            break
        end = position + 1
    return end


def _child_indent(lines: list[str], start: int, stop: int) -> str:
    for line in lines[start:stop]:
        content = line.lstrip(" ")
        if content.strip() and not content.startswith("#"):
            return line[: len(line) - len(content)]
    return "  "


def _insertion_point(lines: list[str], key: str, start: int, stop: int) -> int:
    """After the keys that customarily come before this one; others go last, before trailing blank lines."""
    if key in _ORDER and start == 0:
        for earlier in reversed(_ORDER[: _ORDER.index(key)]):
            place = _find(lines, earlier, start, stop, "")
            if place:
                return place.stop
        if key == "name":
            return start
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return stop


def _prove(old: Frontmatter, new: Frontmatter, field: str, text: str) -> None:
    if new.text(field) != text:
        raise _refusal(field)
    others = [other for other in FIELD_KEYS if other != field]
    if any(old.text(other) != new.text(other) for other in others):
        raise _refusal(field)
    if old.problem is None and (new.problem or _without(old.raw, field) != _without(new.raw, field)):
        raise _refusal(field)


def _without(raw: Mapping[str, Value], field: str) -> dict[str, Value]:
    keys = FIELD_KEYS[field]
    result = {key: value for key, value in raw.items() if key not in keys}
    nested = result.get("metadata")
    if isinstance(nested, dict):
        result["metadata"] = {key: value for key, value in nested.items() if key not in keys}
    return result


def _refusal(field: str) -> MemoryEditError:
    return MemoryEditError(
        f"The frontmatter is too unusual to change “{field}” alone: give each key its own plain line first."
    )


def render_value(text: str, *, field: str = "", like: str = "") -> str:
    """The text as a YAML value that reads back the same, quoted when YAML needs it, or as `like` is quoted."""
    if field in _PLAIN_FIELDS and not like.startswith(("'", '"')) and _WORD_OR_MOMENT.fullmatch(text):
        return text
    single = "'" + text.replace("'", "''") + "'"
    printable = _PLAIN.fullmatch("x" + text.replace(":", ".").replace("#", ".") + "x") is not None
    if like.startswith("'") and printable:
        return single
    if text and not like.startswith('"') and _PLAIN.fullmatch(text) and not _AMBIGUOUS.fullmatch(text):
        return text
    return _double_quoted(text, printable=printable)


def _double_quoted(text: str, *, printable: bool) -> str:
    """Letters of any language stay readable; what YAML does not allow raw is escaped."""
    if printable:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return "".join(['"', *(_escaped(char) for char in text), '"'])


def _escaped(char: str) -> str:
    if ord(char) > 0xFFFF:
        return char
    if ord(char) >= 0xA0 and _PLAIN.fullmatch("x" + char):
        return char
    escaped = json.dumps(char)[1:-1]
    return f"\\x{ord(char):02x}" if ord(char) in range(0x7F, 0xA0) else escaped
