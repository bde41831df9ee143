"""One memory file: BOM, frontmatter and body, written back byte for byte; its type and its file name. PURE."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from dreams.lib.memdir.frontmatter import MEMORY_TYPES, Frontmatter, block_of, head_length, parse_block
from dreams.lib.memdir.text import (
    BOM,
    decode,
    dominant_newline,
    encode,
    has_mixed_newlines,
    replace_lines,
    with_newlines,
)


@dataclass(frozen=True)
class Document:
    """A memory file in pieces; `bom + head + body` is the file.

    `head` is the frontmatter with both its `---` lines, empty when there is none. `newline` is the line end most
    lines have. Line numbers are those of the file, from 1.
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
        """The frontmatter, read when first asked for; None when the file has no such block."""
        return parse_block(block_of(self.head)) if self.head else None

    @property
    def body_start_line(self) -> int:
        """The line of the file where the body starts."""
        return self.head.count("\n") + 1

    def to_bytes(self) -> bytes:
        """The file's bytes. Raises MemoryEditError when an edit put half a surrogate pair into the text."""
        return self.bom + encode(self.text)


def parse(data: bytes) -> Document:
    """Take a file apart; never fails, and `parse(data).to_bytes() == data` for any bytes."""
    bom = BOM if data.startswith(BOM) else b""
    return from_text(decode(data[len(bom) :]), bom)


def from_text(text: str, bom: bytes = b"") -> Document:
    """The same for text that is already decoded."""
    cut = head_length(text)
    return Document(bom, text[:cut], text[cut:], dominant_newline(text), _is_utf8(text))


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def with_body(document: Document, body: str) -> Document:
    """The document with another body, frontmatter untouched.

    Line ends become the document's own (browser forms send CRLF, engines LF), except in a file that mixes them:
    there each line keeps what it has. The result is what a reader of the new bytes would see.
    """
    if not has_mixed_newlines(document.text):
        body = with_newlines(body, document.newline)
    head = document.head
    if body and head and not head.endswith("\n"):
        head += document.newline
    return from_text(head + body, document.bom)


def with_lines(document: Document, start: int, stop: int, lines: list[str]) -> Document:
    """Replace lines `start` up to but not including `stop` of the file (see `replace_lines`)."""
    return from_text(replace_lines(document.text, start, stop, lines, document.newline), document.bom)


# --- Type and kind of a file ----------------------------------------------------------------------------------------------

INDEX_NAME = "MEMORY.md"


def memory_type(document: Document, path: str) -> str | None:
    """What the frontmatter says, else what the file name's prefix says, else None.

    A word that is none of the four types is given back as it stands.
    """
    stated = (document.frontmatter.type or "").strip() if document.frontmatter else ""
    if stated:
        return stated.lower() if stated.lower() in MEMORY_TYPES else stated
    stem = PurePosixPath(path).name.lower().replace("-", "_")
    return next((kind for kind in MEMORY_TYPES if stem.startswith(kind + "_")), None)


def is_team(path: str) -> bool:
    """Whether a file, by its path below the memory directory, is shared with others."""
    return path.startswith("team/")


def is_log(path: str) -> bool:
    """Whether it is a log that the agent keeps by day or by session: read, and never changed."""
    return path.startswith("logs/")
