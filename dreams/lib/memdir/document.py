"""One memory file: BOM, frontmatter and body, written back byte for byte; its type and its file name. PURE."""

import unicodedata
from collections.abc import Iterable
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


# --- Type and file name ----------------------------------------------------------------------------------------------

INDEX_NAME = "MEMORY.md"
SLUG_MAX_BYTES = 120  # leaves room for prefix, number and ending below the 255 bytes a file system allows


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


def name_key(file_name: str) -> str:
    """Equal for two names that some file system takes for one: case and Unicode form put aside."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", file_name).casefold())


def slug_for(name: str) -> str:
    """Letters and digits of any language in lower case, everything else as single underscores."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).lower())
    kept = "".join(char if _belongs_in_name(char) else " " for char in text[:400])
    slug = "_".join(kept.split()).encode("utf-8")[:SLUG_MAX_BYTES].decode("utf-8", "ignore")
    return slug.strip("_") or "memory"


def _belongs_in_name(char: str) -> bool:
    # Marks are parts of letters in many scripts; without them words would break apart.
    return char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"}


def safe_file_name(name: str, kind: str | None, existing: Iterable[str]) -> str:
    """A fresh file name such as `feedback_run_tests.md`, numbered when an existing one would collide."""
    slug = slug_for(name.removesuffix(".md"))
    prefix = f"{slug_for(kind)}_" if kind else ""
    stem = slug if slug.startswith(prefix) else prefix + slug
    taken = {name_key(other) for other in existing} | {name_key(INDEX_NAME)}
    candidate, number = f"{stem}.md", 2
    while name_key(candidate) in taken:  # ends after at most one try per existing name
        candidate, number = f"{stem}_{number}.md", number + 1
    return candidate
