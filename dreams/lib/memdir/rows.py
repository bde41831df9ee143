"""The rows of an index, and how one is written. PURE."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .frontmatter import head_length
from .links import clean_path, encode_path, is_memory_path, markdown_links, wikilinks
from .text import (
    comment_spans,
    mask_code,
    split_lines,
    strip_end,
)

RowForm: TypeAlias = Literal["link", "wikilink", "code", "bare", "table"]

DEFAULT_MARKER = "-"
DEFAULT_SEPARATOR = " — "
MAX_ROW_CHARS = 20_000  # a longer line is no index row, only kept

ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>[-*+]|\d{1,9}[.)])(?P<gap>[ \t]+)(?P<rest>.*)")
HEADING = re.compile(r"[ \t]{0,3}(?P<level>#{1,6})[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*")
_SEPARATOR = re.compile(r"[*_]{0,3}(?:[ \t]*(?:—|–|--|->|→|-|:)[*_]{0,3}[ \t]*|[ \t]+)")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}[-:| \t]*")
_CODE_TARGET = re.compile(r"[*_]{0,3}(?P<run>`+)(?P<target>[^`\n]+)(?P=run)")
_BARE_TARGET = re.compile(r"[*_]{0,3}(?P<target>[^\s`\[\]()<>|*:]+\.md)(?![\w/])")
_CHECKBOX = re.compile(r"\[[ xX]\][ \t]+")
_NOT_NEWLINE = re.compile(r"[^\n]")


@dataclass(frozen=True, slots=True)
class IndexRow:
    """One pointer of the index. Lines are those of the file, from 1, `end_line_no` included.

    `hook` is what the row says about its target, continuation lines joined; `lead` is text before the link. Both
    must survive the row: a dangling one can be the only copy of a fact. `target` is the decoded path without anchor;
    `targets` are all memories the row names. `form` says how: only links and wikilinks are pointers for certain,
    a name in code or bare may be one when such a file exists.
    """

    line_no: int
    end_line_no: int
    indent: str
    marker: str
    title: str
    target: str
    anchor: str
    separator: str
    hook: str
    lead: str
    raw: str
    heading: str | None
    form: RowForm
    targets: tuple[str, ...]

    @property
    def is_memory_target(self) -> bool:
        """Whether the row points to a memory: a link or wikilink to a `.md` file within the directory."""
        return self.form in {"link", "wikilink", "table"} and is_memory_path(self.target)

    @property
    def length(self) -> int:
        """Characters the row takes, line ends aside: what ROW_AIM and ROW_MAX are measured against."""
        return len(self.raw)


def render_row(
    title: str,
    target: str,
    hook: str,
    *,
    marker: str = DEFAULT_MARKER,
    separator: str = DEFAULT_SEPARATOR,
    indent: str = "",
    anchor: str = "",
) -> str:
    """One index row without a line end; line breaks in title and hook become blanks."""
    words = " ".join(hook.split())
    tail = f"{separator}{words}" if words else ""
    return f"{indent}{marker} [{escape_title(title)}]({encode_path(target)}{anchor}){tail}"


def escape_title(title: str) -> str:
    """The title as it can stand in a link, on one line."""
    text = " ".join(title.split()).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    # A backtick without a partner would open a code span that runs over the link. In front of it stands a bracket, so
    # that three of them open no fence.
    return text.replace("`", "\\`") if "`" in mask_code(f"[{text}") else text


def visible(text: str) -> str:
    """The text, same length and lines, with BOM, frontmatter, comments and code blanked out by NULs."""
    masked = mask_code(text)
    pieces: list[str] = []
    done = 0
    for start, end in [(0, counted_from(text)), *comment_spans(text)]:
        if start >= done:
            pieces += [masked[done:start], _NOT_NEWLINE.sub("\0", text[start:end])]
            done = end
    return "".join([*pieces, masked[done:]])


def counted_from(text: str) -> int:
    """Where an index starts to count: after BOM and frontmatter."""
    bom = 1 if text.startswith("\ufeff") else 0
    return bom + head_length(text[bom:])


def headings(text: str) -> Iterator[tuple[int, int, str]]:
    """Line number, level and title of each heading."""
    yield from _headings(split_lines(text), split_lines(visible(text)))


def _headings(originals: list[str], masked_lines: list[str]) -> Iterator[tuple[int, int, str]]:
    for number, masked in enumerate(masked_lines, 1):
        match = HEADING.fullmatch(strip_end(masked))
        if match:
            yield number, len(match["level"]), strip_end(originals[number - 1])[slice(*match.span("title"))]


def rows_of(text: str) -> Iterator[IndexRow]:
    """List items and table rows with a link, and items that start with a file name, in order."""
    originals, masked_lines = split_lines(text), split_lines(visible(text))
    titles = {number: title for number, _, title in _headings(originals, masked_lines)}
    heading: str | None = None
    for number, masked in enumerate(masked_lines, 1):
        heading = titles.get(number, heading)
        if number in titles or len(masked) > MAX_ROW_CHARS:
            continue
        row = _row(originals, masked_lines, number, heading)
        if row is not None:
            yield row


def _row(originals: list[str], masked_lines: list[str], number: int, heading: str | None) -> IndexRow | None:
    masked = strip_end(masked_lines[number - 1])
    line = strip_end(originals[number - 1])
    item = ITEM.fullmatch(masked)
    if item is None:
        return _table_row(line, masked, number, heading) if masked.lstrip().startswith("|") else None
    start = item.start("rest")
    box = _CHECKBOX.match(masked, start)
    start = box.end() if box else start
    found = _pointer(line, masked, start)
    if found is None:
        return None
    end = _end_of_row(masked_lines, number)
    more = [strip_end(other) for other in originals[number:end]]
    separator = _SEPARATOR.match(masked, found.end)
    hook_start = separator.end() if separator else found.end
    return IndexRow(
        line_no=number,
        end_line_no=end,
        indent=item["indent"],
        marker=item["marker"],
        title=found.title,
        target=found.target,
        anchor=found.anchor,
        separator=line[found.end : hook_start],
        hook=" ".join([line[hook_start:].strip(), *(other.strip() for other in more)]).strip(),
        lead=line[start : found.start].strip(),
        raw="\n".join([line, *more]),
        heading=heading,
        form=found.form,
        targets=found.targets,
    )


@dataclass(frozen=True, slots=True)
class _Pointer:
    start: int
    end: int
    title: str
    target: str
    anchor: str
    form: RowForm
    targets: tuple[str, ...]


def _pointer(line: str, masked: str, start: int) -> _Pointer | None:
    """What the line points to: its first link to a memory, else its first link, else the name it starts with."""
    pointers = [pointer for pointer in _pointers(line, masked) if pointer.start >= start]
    memories = [pointer for pointer in pointers if is_memory_path(pointer.target)]
    chosen = next(iter(memories or pointers), None)
    if chosen is None:
        return _named(line, masked, start)
    if not memories and masked[start : chosen.start].strip(" \t*_"):
        # A URL somewhere in a sentence makes no row of it.
        return _named(line, masked, start)
    # Bold or italic marks around the link belong to it, not to the text before.
    opened = len(masked[start : chosen.start].rstrip("*_"))
    targets = tuple(dict.fromkeys(pointer.target for pointer in memories))
    return _Pointer(
        start + opened, chosen.end, chosen.title, chosen.target, chosen.anchor, chosen.form, targets
    )


def _pointers(line: str, masked: str) -> list[_Pointer]:
    found = [
        _Pointer(link.start, link.end, link.text, link.path, link.anchor, "link", ())
        for link in markdown_links(line, masked)
        if link.path
    ]
    for wiki in wikilinks(line):
        target = clean_path(wiki.target)
        name = target if target.lower().endswith(".md") else f"{target}.md"
        anchor = f"#{wiki.heading}" if wiki.heading else ""
        found.append(_Pointer(wiki.start, wiki.end, wiki.label or wiki.target, name, anchor, "wikilink", ()))
    return sorted(found, key=lambda pointer: pointer.start)


def _named(line: str, masked: str, start: int) -> _Pointer | None:
    """A path in code or a bare file name right at the start of an item."""
    code = _CODE_TARGET.match(line, start)
    if code and masked[code.start("target")] == "\0" and _looks_like_path(code["target"]):
        return _Pointer(start, code.end(), code["target"], clean_path(code["target"]), "", "code", ())
    bare = _BARE_TARGET.match(masked, start)
    if bare:
        return _Pointer(start, bare.end(), bare["target"], clean_path(bare["target"]), "", "bare", ())
    return None


def _looks_like_path(text: str) -> bool:
    return " " not in text and (text.endswith(".md") or "/" in text.strip("/") or text.endswith("/"))


def _end_of_row(masked_lines: list[str], number: int) -> int:
    """The last line of the item that starts on line `number`: indented text follows it without a blank line."""
    end = number
    for line in masked_lines[number:]:
        text = line.rstrip("\r\n")
        if not text.strip() or text[:1] not in (" ", "\t") or ITEM.match(text):
            break
        end += 1
    return end


def _table_row(line: str, masked: str, number: int, heading: str | None) -> IndexRow | None:
    if _TABLE_RULE.fullmatch(masked):
        return None
    pointers = _pointers(line, masked)
    memories = [pointer for pointer in pointers if is_memory_path(pointer.target)]
    if not pointers:
        return None
    chosen = (memories or pointers)[0]
    before, after = line[: chosen.start].strip(" \t|"), line[chosen.end :].strip(" \t|")
    return IndexRow(
        line_no=number,
        end_line_no=number,
        indent=line[: len(line) - len(line.lstrip())],
        marker="|",
        title=chosen.title,
        target=chosen.target,
        anchor=chosen.anchor,
        separator=" | ",
        hook=after,
        lead=before,
        raw=line,
        heading=heading,
        form="table",
        targets=tuple(dict.fromkeys(pointer.target for pointer in memories)),
    )
