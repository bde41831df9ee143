"""Converts a text with the `markdown` library, in the dialect agents write, without raw HTML and images. PURE.

The library reads an older dialect than agents write. `_Dialect` rewrites a text's lines into that dialect (lists right
after a paragraph, two-space nests, fences inside lists, tables after a paragraph)."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

import markdown as md
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor, LinkInlineProcessor, SimpleTagInlineProcessor
from markdown.preprocessors import Preprocessor

from dreams.lib import memdir

_ITEM = re.compile(r"^( *)([-*+]|\d{1,9}[.)])( +|$)(.*)$")
_FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)$")
_HEADING = re.compile(r"^ {0,3}#{1,6}(\s|$)")
_NO_HEADING = re.compile(r"^( {0,3})(#+[^#\s])")
_RULE = re.compile(r"^ {0,3}([-*_])( *\1){2,} *$")
_TABLE_RULE = re.compile(r"^ *\|? *:?-+:? *(\| *:?-+:? *)*\|? *$")
_LEVEL = " " * 4
# Deeper lists are treated as this deep: notes are not so deep, and the library's recursion stays small.
MAX_DEPTH = 12


@dataclass(slots=True)
class _Open:
    """One open list: the columns of its markers and its text, and whether it is numbered."""

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
    # The lines since the last blank one begin with an item: only then the next item needs no blank line.
    in_items: bool = False
    # The depth of that first item: the library accepts no shallower one in the same run of lines.
    first_depth: int = 0


def rewritten(lines: list[str]) -> list[str]:
    state = _State([line.expandtabs(4) for line in lines])
    number = 0
    while number < len(state.lines):
        number = _step(state, number)
    return state.out


def _step(state: _State, number: int) -> int:
    """Writes line `number` (or the fence that starts there); returns the next line's number."""
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
        # Four columns beyond the innermost text is code in the item, unless it only continues a paragraph.
        return indent < state.lists[-1].text + 4
    if indent > 3:
        return False
    if not state.in_paragraph:
        return True
    # Inside a sentence only a certain list starts one: "1986. A great year" does not.
    return bool(body.strip()) and (not marker[0].isdigit() or marker[:-1] == "1")


def _item(state: _State, item: re.Match[str]) -> None:
    indent, marker, gap, body = len(item[1]), item[2], len(item[3]), item[4]
    ordered = marker[0].isdigit()
    while len(state.lists) > 1 and indent < state.lists[-2].text:
        state.lists.pop()
    is_nested = bool(state.lists) and indent >= state.lists[-1].text
    sibling = state.lists.pop() if state.lists and not is_nested else None
    # A list right after a sentence, or of another kind, needs the blank line that the author omitted.
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
    """Closes the lists that a line ends: one left of the item's text does, unless it continues the item's paragraph."""
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
    """Keeps a fence at the margin; in a list, where the library supports none, makes it indented code."""
    indent, sign = len(fence[1]), fence[2]
    state.after_blank = True
    _close_lists(state, indent)
    end = _fence_end(state.lines, number, sign)
    body = [line[min(indent, len(line) - len(line.lstrip())) :] for line in state.lines[number + 1 : end]]
    if state.out and state.out[-1]:
        state.out.append("")
    if state.lists:
        pad = _LEVEL * (min(len(state.lists), MAX_DEPTH) + 1)
        state.out += [pad + line if line.strip() else "" for line in body] + [""]
    else:
        info = re.sub(r"[^\w+#-].*", "", fence[3].strip())
        # Longer than any run inside, so that the library does not close the fence early.
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


# The name of a memory as in `[[name]]` → its page's address, or None.
Resolver = Callable[[str], str | None]

_BARE_URL = r"(?<![\w/])(https?://[^\s<>\"'`\]]+)"
_WIKILINK = r"\[\[([^\[\]\n|]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]"
_OUTSIDE = re.compile(r"(?:https?://|mailto:|&#)", re.IGNORECASE)
_TASK = r"^\[([ xX])\](?=\s)"


def converter(resolve: Resolver | None) -> md.Markdown:
    return md.Markdown(
        extensions=["fenced_code", "sane_lists", "tables", _Dialect(resolve)],
        extension_configs={"tables": {"use_align_attribute": True}},
        output_format="html",
    )


class _Dialect(Extension):
    def __init__(self, resolve: Resolver | None) -> None:
        super().__init__()
        self.resolve = resolve

    def extendMarkdown(self, md: md.Markdown) -> None:
        md.preprocessors.deregister("html_block")
        md.inlinePatterns.deregister("html")
        for name in ("image_link", "image_reference", "short_image_ref"):
            md.inlinePatterns.deregister(name)
        md.preprocessors.register(_Rewrite(md), "dialect", 28)
        md.inlinePatterns.register(_NoImage(r"\!\[", md), "no_image", 172)
        md.inlinePatterns.register(_Wikilink(_WIKILINK, self.resolve), "wikilink", 171)
        md.inlinePatterns.register(_Task(_TASK, md), "task", 174)
        md.inlinePatterns.register(_BareUrl(_BARE_URL, md), "bare_url", 115)
        md.inlinePatterns.register(SimpleTagInlineProcessor(r"(~~)(?=\S)(.+?\S)~~", "del"), "del", 65)
        md.treeprocessors.register(_LowerHeadings(md), "lower_headings", 5)
        md.treeprocessors.register(_OwnLinks(md, self.resolve), "own_links", 4)


class _Rewrite(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return rewritten(lines)


class _NoImage(LinkInlineProcessor):
    """`![alt](url)` becomes a link labelled as an image, so that viewing a note loads nothing."""

    def handleMatch(  # type: ignore[override] # the parent's stub knows one shape of match only
        self, m: re.Match[str], data: str
    ) -> tuple[Element | None, int | None, int | None]:
        element, start, end = super().handleMatch(m, data)
        if isinstance(element, Element):
            element.text = f"image: {element.text or 'without words'}"
            return element, start, end
        return None, None, None


class _Wikilink(InlineProcessor):
    def __init__(self, pattern: str, resolve: Resolver | None) -> None:
        super().__init__(pattern)
        self.resolve = resolve

    def handleMatch(  # type: ignore[override] # as above
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        name = m.group(1).strip()
        address = self.resolve(name) if self.resolve else None
        element = Element("a" if address else "span")
        element.set("class", "wikilink" if address else "wikilink missing")
        if address:
            element.set("href", address)
        element.text = (m.group(2) or name).strip()
        return element, m.start(0), m.end(0)


class _Task(InlineProcessor):
    """A task's checkbox as a symbol, with a word for screen readers."""

    def handleMatch(  # type: ignore[override] # as above
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        done = m.group(1) != " "
        element = Element("span", {"class": "task done" if done else "task"})
        element.text = "☑" if done else "☐"
        return element, m.start(0), m.end(0)


class _BareUrl(InlineProcessor):
    def handleMatch(  # type: ignore[override] # as above
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        url = _without_trail(m.group(1))
        element = Element("a", {"href": url})
        element.text = md.util.AtomicString(url)
        return element, m.start(0), m.start(0) + len(url)


def _without_trail(url: str) -> str:
    """The address without punctuation of the sentence; a bracket belongs to it only if opened in it."""
    while url and (url[-1] in ".,;:!?*_~" or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    return url


class _OwnLinks(md.treeprocessors.Treeprocessor):
    """Links to another memory's file point to its page; other relative links, which are invalid on this site, are removed."""

    def __init__(self, md: md.Markdown, resolve: Resolver | None) -> None:
        super().__init__(md)
        self.resolve = resolve

    def run(self, root: Element) -> None:
        for element in root.iter("a"):
            if "wikilink" in element.get("class", "") or _OUTSIDE.match(element.get("href", "")):
                continue
            href = element.attrib.pop("href", "")
            address = self._address(href)
            if address:
                element.set("href", address)
            elif self.resolve and memdir.is_memory_path(href):
                element.set("class", "wikilink missing")

    def _address(self, href: str) -> str | None:
        name = href.removeprefix("./").partition("#")[0]
        return self.resolve(name.removesuffix(".md")) if self.resolve and name.endswith(".md") else None


class _LowerHeadings(md.treeprocessors.Treeprocessor):
    def run(self, root: Element) -> None:
        for element in root.iter():
            if re.fullmatch(r"h[1-6]", element.tag):
                element.tag = f"h{min(6, int(element.tag[1]) + 1)}"
