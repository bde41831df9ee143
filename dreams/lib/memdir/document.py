"""One memory file: BOM, frontmatter and body, written back byte for byte; its type; and an edit of its description alone.
PURE.

That edit changes lines and is then verified: the new block is parsed again, and only the description may differ.
A block too unusual for that (flow mappings, anchors) is refused, never guessed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from dreams.lib.files.text import decode
from dreams.lib.memdir.frontmatter import (
    FIELD_KEYS,
    MEMORY_TYPES,
    PLAIN,
    Frontmatter,
    Value,
    block_of,
    head_length,
    parse_block,
)
from dreams.lib.memdir.text import (
    BOM,
    MemoryEditError,
    dominant_newline,
    encode,
    has_mixed_newlines,
    split_lines,
    strip_end,
    with_newlines,
)

_PLAIN = re.compile(PLAIN)
# Texts that some YAML parser reads as a boolean, null, number, date or merge key.
_AMBIGUOUS = re.compile(
    r"(?:~|null|true|false|yes|no|on|off|y|n|=|<<|\.inf|\.nan|[-+.]?\d[\d_.,:+\-eExXoObBa-fA-FTtZz ]*)",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"(?P<indent> *)(?P<key>[^\W\d][\w.-]*|\"[^\"]+\"|'[^']+')[ \t]*:(?P<rest>(?:[ \t].*)?)", re.DOTALL
)
# A one-line value and the comment after it.
_ONE_LINE = re.compile(
    r"(?P<space>[ \t]*)(?P<value>\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|(?!['\"|>])(?:(?![ \t]#).)*?)"
    r"(?P<tail>[ \t]+#.*|[ \t]*)"
)
_FIELD = "description"


@dataclass(frozen=True)
class Document:
    """A memory file in pieces; `bom + head + body` is the file.

    `head` is the frontmatter with both its `---` lines, empty if there is none. `newline` is the most frequent
    line end. Line numbers are those of the file, from 1.
    """

    bom: bytes
    head: str
    body: str
    newline: str
    is_utf8: bool

    @property
    def text(self) -> str:
        """The whole file as text, without the BOM."""
        return self.head + self.body

    @cached_property
    def frontmatter(self) -> Frontmatter | None:
        """The frontmatter, parsed on first use; None if the file has none."""
        return parse_block(block_of(self.head)) if self.head else None

    @property
    def body_start_line(self) -> int:
        """The file's line where the body starts."""
        return self.head.count("\n") + 1

    def to_bytes(self) -> bytes:
        """The file's bytes. Raises MemoryEditError if an edit put half a surrogate pair into the text."""
        return self.bom + encode(self.text)


def parse(data: bytes) -> Document:
    """Splits a file into its parts; never fails, and `parse(data).to_bytes() == data` for any bytes."""
    bom = BOM if data.startswith(BOM) else b""
    return from_text(decode(data[len(bom) :]), bom)


def from_text(text: str, bom: bytes = b"") -> Document:
    """As `parse`, from decoded text."""
    cut = head_length(text)
    return Document(bom, text[:cut], text[cut:], dominant_newline(text), _is_utf8(text))


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def with_body(document: Document, body: str) -> Document:
    """The document with another body and the same frontmatter.

    Line ends become the document's (browser forms send CRLF, engines LF), except in a file that mixes them:
    there each line keeps its own. The result equals parsing its bytes.
    """
    if not has_mixed_newlines(document.text):
        body = with_newlines(body, document.newline)
    head = document.head
    if body and head and not head.endswith("\n"):
        head += document.newline
    return from_text(head + body, document.bom)


# --- Type and kind of a file ----------------------------------------------------------------------------------------------

INDEX_NAME = "MEMORY.md"


def memory_type(document: Document, path: str) -> str | None:
    """The type in the frontmatter, else from the file name's prefix, else None.

    A word that is none of the four types is returned unchanged.
    """
    stated = (document.frontmatter.type or "").strip() if document.frontmatter else ""
    if stated:
        return stated.lower() if stated.lower() in MEMORY_TYPES else stated
    stem = PurePosixPath(path).name.lower().replace("-", "_")
    return next((kind for kind in MEMORY_TYPES if stem.startswith(kind + "_")), None)


def is_index(path: str) -> bool:
    """Whether the file is the index of its folder."""
    return path.rpartition("/")[2] == INDEX_NAME


def is_topic(path: str) -> bool:
    """Whether the file is a memory, not an index or log."""
    return path.endswith(".md") and not is_index(path) and not is_log(path)


def is_team(path: str) -> bool:
    """Whether a file, by its path below the memory directory, is shared with others."""
    return path.startswith("team/")


def is_log(path: str) -> bool:
    """Whether it is a log that the agent writes per day or session, which is read but never changed."""
    return path.startswith("logs/")


@dataclass(frozen=True, slots=True)
class _ValueSpan:
    """The place of a key's value in the lines of a block."""

    start: int
    stop: int
    prefix: str
    old: str
    tail: str


def with_description(document: Document, text: str, *, create: bool = False) -> Document:
    """The document with another description, changed in its place (flat or under `metadata:`), or added after the name.

    With `create` a file without frontmatter gets one. Raises MemoryEditError if that cannot be done without changing
    anything else.
    """
    if not document.head:
        return _with_new_head(document, text, create=create)
    old = document.frontmatter
    if old is None or old.description == text:
        return document
    lines = split_lines(block_of(document.head))
    edited = "".join(_edit(lines, old.place(_FIELD) or (_FIELD,), text, document.newline))
    _prove(old, parse_block(edited), text)
    fences = split_lines(document.head)
    return from_text(fences[0] + edited + fences[-1] + document.body, document.bom)


def _with_new_head(document: Document, text: str, *, create: bool) -> Document:
    if not create:
        raise MemoryEditError(
            f"This file has no frontmatter to hold “{_FIELD}”: allow a new block to be added."
        )
    end = document.newline
    gap = end if document.body and not document.body.startswith(("\n", "\r\n")) else ""
    head = f"---{end}{_FIELD}: {render_value(text)}{end}---{end}"
    return from_text(head + gap + document.body, document.bom)


def _edit(lines: list[str], path: tuple[str, ...], text: str, newline: str) -> list[str]:
    start, stop, indent = 0, len(lines), ""
    for parent in path[:-1]:
        place = _find(lines, parent, start, stop, "")
        if place is None:
            raise _refusal()
        start, stop = place.start + 1, place.stop
        indent = _child_indent(lines, start, stop)
    place = _find(lines, path[-1], start, stop, indent)
    if place is None:
        at = _insertion_point(lines, start, stop)
        return [*lines[:at], f"{indent}{path[-1]}: {render_value(text)}{newline}", *lines[at:]]
    end = lines[place.start][len(strip_end(lines[place.start])) :]
    rendered = render_value(text, like=place.old)
    return [*lines[: place.start], f"{place.prefix}{rendered}{place.tail}{end}", *lines[place.stop :]]


def _find(lines: list[str], key: str, start: int, stop: int, indent: str) -> _ValueSpan | None:
    """The last line of this depth with the key (the one that counts), with the lines of its value."""
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
    """One past the last line of the value, which continues on deeper indented lines, with blank lines between."""
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


def _insertion_point(lines: list[str], start: int, stop: int) -> int:
    """After the name; without a name at the end, before trailing blank lines."""
    if name := _find(lines, "name", start, stop, ""):
        return name.stop
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return stop


def _prove(old: Frontmatter, new: Frontmatter, text: str) -> None:
    if new.description != text:
        raise _refusal()
    if any(old.text(other) != new.text(other) for other in FIELD_KEYS if other != _FIELD):
        raise _refusal()
    if old.problem is None and (new.problem or _without(old.raw) != _without(new.raw)):
        raise _refusal()


def _without(raw: Mapping[str, Value]) -> dict[str, Value]:
    keys = FIELD_KEYS[_FIELD]
    result = {key: value for key, value in raw.items() if key not in keys}
    nested = result.get("metadata")
    if isinstance(nested, dict):
        result["metadata"] = {key: value for key, value in nested.items() if key not in keys}
    return result


def _refusal() -> MemoryEditError:
    return MemoryEditError(
        f"The frontmatter is too unusual to change “{_FIELD}” alone: give each key its own plain line first."
    )


def render_value(text: str, *, like: str = "") -> str:
    """The text as a YAML value that parses to the same text, quoted if YAML needs it, or as `like` is quoted."""
    single = "'" + text.replace("'", "''") + "'"
    printable = _PLAIN.fullmatch("x" + text.replace(":", ".").replace("#", ".") + "x") is not None
    if like.startswith("'") and printable:
        return single
    if text and not like.startswith('"') and _PLAIN.fullmatch(text) and not _AMBIGUOUS.fullmatch(text):
        return text
    return _double_quoted(text, printable=printable)


def _double_quoted(text: str, *, printable: bool) -> str:
    """The text in double quotes: letters of any language unescaped, characters that YAML does not allow escaped."""
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
