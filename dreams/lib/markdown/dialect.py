"""CommonMark's lines in the words of the older dialect that the `markdown` library reads. PURE.

That library wants four spaces for each level of a list, a blank line before a list or a table that follows a
paragraph, and fences at the left margin. Agents write none of that. One pass over the lines, with a stack of the
open lists' indents, puts it right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_ITEM = re.compile(r"^( *)([-*+]|\d{1,9}[.)])( +|$)(.*)$")
_FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)")
_NO_HEADING = re.compile(r"^( {0,3})(#+[^#\s])")
_RULE = re.compile(r"^ {0,3}([-*_])( *\1){2,} *$")
_TABLE_RULE = re.compile(r"^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$")
_LEVEL = " " * 4
# Deeper lists are read as this deep: no note is, and the library's own recursion stays small.
MAX_DEPTH = 12


@dataclass(slots=True)
class _Open:
    """One open list: the column of its markers, of its text, and whether it is numbered."""

    marker: int
    text: int
    ordered: bool


@dataclass(slots=True)
class _State:
    lines: list[str]
    out: list[str] = field(default_factory=list)
    lists: list[_Open] = field(default_factory=list)
    in_paragraph: bool = False
    after_blank: bool = True
    # The lines since the last blank one begin with an item: only then does the next item need no blank line.
    in_items: bool = False
    # How deep that first item stands: the library reads no shallower one in the same run of lines.
    first_depth: int = 0


def rewritten(lines: list[str]) -> list[str]:
    state = _State([line.expandtabs(4) for line in lines])
    number = 0
    while number < len(state.lines):
        number = _step(state, number)
    return state.out


def _step(state: _State, number: int) -> int:
    """Write line `number` (or the whole fence that starts there); return the next line's number."""
    line = state.lines[number]
    if not line.strip():
        state.out.append("")
        state.in_paragraph, state.after_blank, state.in_items = False, True, False
        return number + 1
    fence = _FENCE.match(line)
    if fence and "`" not in fence[3]:
        return _fence(state, number, fence)
    item = None if _RULE.match(line) else _ITEM.match(line)
    if item and _starts_item(state, item):
        _item(state, item)
    else:
        _text(state, number)
    state.after_blank = False
    return number + 1


def _starts_item(state: _State, item: re.Match[str]) -> bool:
    indent, marker, body = len(item[1]), item[2], item[4]
    if state.lists:
        # Four beyond the innermost text is code within the item, unless it only continues a paragraph.
        return indent < state.lists[-1].text + 4
    if indent > 3:
        return False
    if not state.in_paragraph:
        return True
    # In the middle of a sentence only a list that surely is one: "1986. A great year" is not.
    return bool(body.strip()) and (not marker[0].isdigit() or marker[:-1] == "1")


def _item(state: _State, item: re.Match[str]) -> None:
    indent, marker, gap, body = len(item[1]), item[2], len(item[3]), item[4]
    ordered = marker[0].isdigit()
    while len(state.lists) > 1 and indent < state.lists[-2].text:
        state.lists.pop()
    is_nested = bool(state.lists) and indent >= state.lists[-1].text
    sibling = state.lists.pop() if state.lists and not is_nested else None
    # A list right after a sentence, or one of the other kind, needs the blank line that the author left out.
    is_new = sibling is None or sibling.ordered != ordered
    is_apart = not state.in_items or len(state.lists) < state.first_depth or (is_new and not is_nested)
    if is_apart and state.out and state.out[-1]:
        state.out.append("")
    if is_apart or state.after_blank:
        state.first_depth = len(state.lists)
    if gap > 4 or not body:
        gap = 1
    state.lists.append(_Open(indent, indent + len(marker) + gap, ordered))
    depth = min(len(state.lists), MAX_DEPTH) - 1
    sign = f"{marker[:-1]}." if ordered else "-"
    state.out.append(f"{_LEVEL * depth}{sign} {body.lstrip()}")
    state.in_paragraph = state.in_items = True


def _text(state: _State, number: int) -> None:
    line = state.lines[number]
    indent = len(line) - len(line.lstrip())
    _close_lists(state, indent)
    depth = min(len(state.lists), MAX_DEPTH)
    body = line[state.lists[-1].text :] if state.lists and indent >= state.lists[-1].text else line
    if depth and (state.in_paragraph and not state.after_blank):
        body = body.lstrip()
    is_apart = _table_starts(state, number) or (depth > 0 and _HEADING.match(body) is not None)
    if is_apart and state.in_paragraph:
        state.out.append("")
    if state.after_blank or is_apart:
        state.in_items = False
    body = _NO_HEADING.sub(r"\1\\\2", body)
    state.out.append(_LEVEL * depth + body)
    state.in_paragraph = not (_HEADING.match(body) or _RULE.match(body))


def _close_lists(state: _State, indent: int) -> None:
    """A paragraph left of an item's text ends it, unless it lazily carries on the item's sentence."""
    if not state.after_blank and state.in_paragraph:
        return
    closed = False
    while state.lists and indent < state.lists[-1].text:
        state.lists.pop()
        closed = True
    if closed and not state.lists and state.out and state.out[-1]:
        state.out.append("")


def _table_starts(state: _State, number: int) -> bool:
    below = state.lines[number + 1] if number + 1 < len(state.lines) else ""
    return "|" in state.lines[number] and "|" in below and _TABLE_RULE.match(below) is not None


def _fence(state: _State, number: int, fence: re.Match[str]) -> int:
    """At the margin a fence is kept; inside a list, where the library knows none, it becomes indented code."""
    indent, sign = len(fence[1]), fence[2]
    state.after_blank = True
    _close_lists(state, indent)
    end = _fence_end(state.lines, number, sign)
    body = [_outdented(line, indent) for line in state.lines[number + 1 : end]]
    if state.out and state.out[-1]:
        state.out.append("")
    if state.lists:
        pad = _LEVEL * (min(len(state.lists), MAX_DEPTH) + 1)
        state.out += [pad + line if line.strip() else "" for line in body] + [""]
    else:
        info = re.sub(r"[^\w+#-].*", "", fence[3].strip())
        # Longer than any run inside, so that the library does not close it early.
        long = sign[0] * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}|~{3,}", "\n".join(body)))])
        state.out += [f"{long}{info}", *body, long, ""]
    state.in_paragraph, state.after_blank = False, True
    return end + 1


def _fence_end(lines: list[str], start: int, sign: str) -> int:
    closing = re.compile(rf"^ *{re.escape(sign[0])}{{{len(sign)},}} *$")
    for number in range(start + 1, len(lines)):
        if closing.match(lines[number]):
            return number
    return len(lines)


def _outdented(line: str, indent: int) -> str:
    lead = len(line) - len(line.lstrip())
    return line[min(indent, lead) :]
