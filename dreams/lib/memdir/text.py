"""Lines, bytes and code regions of a memory file, for the other modules. PURE.

A line ends at LF or CRLF, as git and the agents count. A lone CR, form feed or U+2028 is text: counting those as line
ends would make our line numbers differ from everybody else's.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from dreams.lib.diff.lines import split_lines

BOM = b"\xef\xbb\xbf"

FENCE = re.compile(r"[ \t]*(?P<run>`{3,}|~{3,})(?P<info>[^\n]*)")
_BACKTICKS = re.compile(r"`+")
_BLOCK_START = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|#{1,6}[ \t]|>|\|)")
_NOT_NEWLINE = re.compile(r"[^\n]")
#: A heading's title, without the spaces and closing marks at its end; run by run, so that a long run takes linear time.
TITLE = r"(?P<title>(?:[^ \t#]++|(?![ \t]*+#*+[ \t]*+\Z)(?:[ \t]++|#++))*)"


class MemoryEditError(ValueError):
    """An edit that cannot be made without changing something else; the message says what to do instead."""


def encode(text: str) -> bytes:
    """The inverse of `files.text.decode`. Raises MemoryEditError for half a surrogate pair, which cannot be encoded."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise MemoryEditError(
            f"Half a surrogate pair at character {error.start}: replace it, no text file can hold it."
        ) from None


def strip_end(line: str) -> str:
    """The line without its LF or CRLF."""
    return line[:-1].removesuffix("\r") if line.endswith("\n") else line


def dominant_newline(text: str) -> str:
    """The most frequent line end; LF if there is none."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf * 2 > text.count("\n") else "\n"


def has_mixed_newlines(text: str) -> bool:
    """Whether the text has both LF and CRLF line ends."""
    return 0 < text.count("\r\n") < text.count("\n")


def with_newlines(text: str, newline: str) -> str:
    """The text with every LF or CRLF replaced by `newline`."""
    return text.replace("\r\n", "\n").replace("\n", newline)


def replace_lines(text: str, start: int, stop: int, lines: Sequence[str], newline: str | None = None) -> str:
    """Replaces lines `start` (1-based) up to but not including `stop` by `lines`, which have no line ends.

    `start == stop` inserts before that line; one past the last line appends. New lines get `newline` (default:
    the most frequent one). A text without a final newline stays without one.
    Raises IndexError for a range outside the text.
    """
    old = split_lines(text)
    if not 1 <= start <= stop <= len(old) + 1:
        raise IndexError(f"Lines {start} to {stop} are not within the {len(old)} lines of this text.")
    end = newline or dominant_newline(text)
    new = [line + end for line in lines]
    merged = old[: start - 1] + new + old[stop - 1 :]
    unterminated = bool(old) and not old[-1].endswith("\n")
    return _reattach(merged, end, terminated=not unterminated)


def _reattach(lines: list[str], newline: str, *, terminated: bool) -> str:
    """Joins lines so that only the last one may lack its end, and does so exactly if the text's last line did."""
    body = [line if line.endswith("\n") else line + newline for line in lines[:-1]]
    for last in lines[-1:]:
        body.append(last if terminated else strip_end(last))
    return "".join(body)


def comment_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each closed HTML comment outside code."""
    if "<!--" not in text:
        return []
    masked = mask_code(text)
    spans: list[tuple[int, int]] = []
    start = masked.find("<!--")
    while start >= 0:
        close = masked.find("-->", start + 4)
        if close < 0:  # none of the later ones is closed either
            break
        spans.append((start, close + 3))
        start = masked.find("<!--", close + 3)
    return spans


def mask_code(text: str) -> str:
    """The text, same length and lines, with fenced code and code spans replaced by NUL characters.

    A search in the result finds nothing inside code, and its positions are valid in the original.
    """
    if "`" not in text and "~~~" not in text:
        return text
    return "".join(_mask_pieces(split_lines(text)))


def _mask_pieces(lines: list[str]) -> Iterator[str]:
    paragraph: list[str] = []
    fence = ""
    for line in lines:
        opened = "" if fence else fence_opened_by(line)
        if fence or opened:
            yield _mask_spans("".join(paragraph))
            paragraph = []
            yield _blank(line)
            fence = "" if fence and closes_fence(line, fence) else fence or opened
            continue
        if _BLOCK_START.match(line) or not line.strip():
            # A stray backtick in one bullet must not pair with one in the next.
            yield _mask_spans("".join(paragraph))
            paragraph = []
        paragraph.append(line)
    yield _mask_spans("".join(paragraph))


def _blank(text: str) -> str:
    return _NOT_NEWLINE.sub("\0", text)


def fence_opened_by(line: str) -> str:
    """The run of backticks or tildes that opens a code fence on this line, else an empty string."""
    match = FENCE.match(line)
    if match is None or (match["run"][0] == "`" and "`" in match["info"]):
        return ""
    return match["run"]


def closes_fence(line: str, fence: str) -> bool:
    """Whether the line closes a fence that was opened by the run `fence`."""
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def _mask_spans(text: str) -> str:
    """Blanks the code spans of one paragraph: a run of backticks up to the next run of the same length."""
    if "`" not in text:
        return text
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    starts_by_length: dict[int, list[int]] = {}
    for start, end in runs:
        starts_by_length.setdefault(end - start, []).append(start)
    pieces: list[str] = []
    done = 0
    for start, end in runs:
        if start < done or _is_escaped(text, start):
            continue
        starts = starts_by_length[end - start]
        position = bisect_left(starts, end)
        if position < len(starts):
            close = starts[position] + end - start
            pieces += [text[done:start], _blank(text[start:close])]
            done = close
    return "".join([*pieces, text[done:]])


def _is_escaped(text: str, position: int) -> bool:
    before = text[max(0, position - 20) : position]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
