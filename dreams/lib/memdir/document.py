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
_DESCRIPTION = re.compile(r"(?P<indent> *)(?P<quote>[\"']?)description(?P=quote)[ \t]*:(?=[ \t]|$)")
# A one-line value and the comment after it.
_ONE_LINE = re.compile(
    r"(?P<space>[ \t]*)(?P<value>\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|(?!['\"|>])(?:[^ \t]++|(?![ \t]++(?:#|\Z))[ \t]++)*)"
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


def has_text(body: str) -> bool:
    """Whether a body has a line that is neither blank nor a heading."""
    return any(line.strip() and not line.startswith("#") for line in body.split("\n"))


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


def indexes_of(path: str) -> dict[str, str]:
    """The indexes that may list a file, that of the directory and that of its folder; each with the file's path in it."""
    folder, _, name = path.rpartition("/")
    return {INDEX_NAME: path} | ({f"{folder}/{INDEX_NAME}": name} if folder else {})


def is_topic(path: str) -> bool:
    """Whether the file is a memory, not an index or log."""
    return path.endswith(".md") and not is_index(path) and not is_log(path)


def is_team(path: str) -> bool:
    """Whether a file, by its path below the memory directory, is shared with others."""
    return path.startswith("team/")


def is_log(path: str) -> bool:
    """Whether it is a log that the agent writes per day or session, which is read but never changed."""
    return path.startswith("logs/")


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
    edited = "".join(_edit(lines, text, document.newline, is_new=old.place(_FIELD) is None))
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


def _edit(lines: list[str], text: str, newline: str, *, is_new: bool) -> list[str]:
    """The block's lines with another description: in the place that counts, else behind the name, else at the end."""
    every = [(match, at) for at, line in enumerate(lines) if (match := _DESCRIPTION.match(strip_end(line)))]
    found = [each for each in every if not (is_new and each[0]["indent"])]  # a deeper one is another key's
    if not found and not is_new:
        raise _refusal()
    if not found:
        names = [_value_end(lines, at, 0) for at, line in enumerate(lines) if line.startswith("name:")]
        at = names[-1] if names else len(split_lines("".join(lines).rstrip()))
        return [*lines[:at], f"{_FIELD}: {render_value(text)}{newline}", *lines[at:]]
    # The outermost one counts, and of two there the last.
    match, at = min(reversed(found), key=lambda each: len(each[0]["indent"]))
    one_line = _ONE_LINE.fullmatch(match.string, match.end())
    space, old, tail = one_line.group("space", "value", "tail") if one_line else ("", "", "")
    end = lines[at][len(match.string) :]
    said = f"{match[0]}{(old and space) or ' '}{render_value(text, like=old)}{tail}{end}"
    return [*lines[:at], said, *lines[_value_end(lines, at, len(match["indent"])) :]]


def _value_end(lines: list[str], at: int, indent: int) -> int:
    """One past the last line of the value, which continues on deeper indented lines, with blank lines between."""
    end = at + 1
    for number, line in enumerate(lines[at + 1 :], at + 2):
        if line.strip():
            if len(line) - len(line.lstrip(" ")) <= indent:
                break
            end = number
    return end


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
