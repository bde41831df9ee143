"""Links between memories: `[[wikilinks]]` and Markdown links to other files, outside code. PURE."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from posixpath import normpath
from urllib.parse import quote, unquote

from .text import mask_code

# A wikilink may not contain brackets or line ends, so the search is linear.
_WIKILINK = re.compile(r"\[\[(?P<target>[^\[\]|#\n]+)(?P<heading>#[^\[\]|\n]*)?(?P<label>\|[^\[\]\n]*)?\]\]")
# Alternatives in a repetition differ in their first character, and a text is limited, so that no input makes the search slow.
_LINK = re.compile(
    r"(?<!!)\[(?P<text>(?:[^\[\]\n\\]|\\.|\[[^\[\]\n]*\]){0,1000})\]"
    r"\((?P<inner>[ \t]*<[^<>\n]*>[^()\n]*|[^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)"
)
_UNCLOSED = re.compile(r"\s*<[^>\n]*$")  # a target that begins so is none
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_SAFE_IN_TARGET = "/-_.~!*,;=@&+$'"
_ESCAPED = re.compile(r"\\([\[\]\\`*_])")


@dataclass(frozen=True, slots=True)
class WikiLink:
    """`[[target#heading|label]]` at text[start:end]; heading and label without their `#` and `|`."""

    start: int
    end: int
    target: str
    heading: str | None
    label: str | None


@dataclass(frozen=True, slots=True)
class MarkdownLink:
    """`[text](path#anchor "title")` at text[start:end]; the path is decoded and without `./`. `is_memory`: it is a Markdown
    file inside the memory directory.

    text[start + 1 : text_end] is the link text as written, text[target_start:target_end] path and anchor.
    """

    start: int
    end: int
    text: str
    path: str
    anchor: str
    text_end: int
    target_start: int
    target_end: int
    is_memory: bool


def is_memory_path(written: str) -> bool:
    """Whether a link's target, as written, can be a memory: a `.md` file in the directory or below, by no URL, absolute
    or home path. Only as written is a colon (`%3A` in a file's name) told from that of a URL."""
    path = clean_path(written)
    inside = not _SCHEME.match(written) and not path.startswith(("/", "~", "..", "\\"))
    return inside and path.lower().endswith(".md") and "\0" not in path


def wikilinks(text: str) -> list[WikiLink]:
    """All wikilinks outside code, in order."""
    if "[[" not in text:
        return []
    return [_wikilink(match) for match in _WIKILINK.finditer(mask_code(text))]


def _wikilink(match: re.Match[str]) -> WikiLink:
    heading, label = match["heading"], match["label"]
    return WikiLink(
        match.start(),
        match.end(),
        match["target"].strip(),
        None if heading is None else heading[1:].strip(),
        None if label is None else label[1:].strip(),
    )


def markdown_links(text: str, masked: str | None = None) -> list[MarkdownLink]:
    """All inline links outside code, in order, without images. `masked` is `mask_code(text)`, if the caller has it."""
    if "](" not in text:
        return []
    found = _LINK.finditer(mask_code(text) if masked is None else masked)
    return [_markdown_link(match, text) for match in found if not _UNCLOSED.match(match["inner"])]


def _markdown_link(match: re.Match[str], text: str) -> MarkdownLink:
    start, end = _target_span(text, *match.span("inner"))
    path, hash_sign, anchor = text[start:end].partition("#")
    return MarkdownLink(
        match.start(),
        match.end(),
        unescape(text[match.start("text") : match.end("text")]),
        clean_path(path),
        hash_sign + anchor,
        match.end("text"),
        start,
        end,
        is_memory_path(path),
    )


def _target_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of path and anchor inside the parentheses, without angle brackets, title and spaces."""
    inner = text[start:end].lstrip()
    start = end - len(inner)
    if inner.startswith("<"):
        return start + 1, text.index(">", start, end)
    if inner.rstrip().endswith('"') and ' "' in inner:
        end = text.index(' "', start, end)
    return start, start + len(text[start:end].rstrip())


def unescape(text: str) -> str:
    """Link text as a person sees it."""
    return _ESCAPED.sub(r"\1", text)


def clean_path(raw: str) -> str:
    """A link's path as a file name: decoded, without `./` and double slashes, in its own Unicode form."""
    if not raw or _SCHEME.match(raw):
        return raw
    path = unquote(raw, errors="surrogateescape").strip()
    if not path:
        return ""
    tail = "/" if path.endswith("/") and path != "/" else ""
    return normpath(path) + tail


def encode_path(path: str) -> str:
    """The path, encoded for use in a link."""
    return quote(path, safe=_SAFE_IN_TARGET) if path.isascii() else _quote_ascii(path)


def _quote_ascii(path: str) -> str:
    # Names in other scripts stay readable; agents write them unencoded.
    return "".join(char if ord(char) > 0x7F else quote(char, safe=_SAFE_IN_TARGET) for char in path)


def same_target(left: str, right: str) -> bool:
    """Whether two link targets mean the same memory, with or without `.md`."""
    return _target_key(left) == _target_key(right)


@lru_cache(maxsize=20_000)
def _target_key(target: str) -> str:
    path = clean_path(target)
    stem = path[:-3] if path.lower().endswith(".md") else path
    return unicodedata.normalize("NFC", stem).casefold()


def retarget(text: str, old: str, new: str) -> str:
    """Changes the target of every wikilink and Markdown link from `old` to `new`, both file names in the memory directory.

    Headings, labels, anchors, titles and the presence of `.md` in wikilinks stay. Code is not changed.
    """
    pieces: list[str] = []
    done = 0
    for start, end, replacement in sorted(_replacements(text, old, new)):
        if start >= done:
            pieces += [text[done:start], replacement]
            done = end
    return "".join([*pieces, text[done:]])


def _replacements(text: str, old: str, new: str) -> Iterator[tuple[int, int, str]]:
    for link in wikilinks(text):
        if same_target(link.target, old):
            keeps_ending = link.target.lower().endswith(".md")
            start = text.index(link.target, link.start)
            yield start, start + len(link.target), new if keeps_ending else new.removesuffix(".md")
    for found in markdown_links(text):
        if found.is_memory and same_target(found.path, old):
            in_angles = text[found.target_start - 1] == "<"
            yield (
                found.target_start,
                found.target_end,
                (new if in_angles else encode_path(new)) + found.anchor,
            )
