"""Markdown as people expect it to look, and as nothing that runs.

The `markdown` library reads an older dialect than agents write. `_Dialect` rewrites a text's lines into that dialect
(lists right after a paragraph, two-space nests, fences inside lists, tables after a paragraph); raw HTML and images
are off; and whatever comes out passes `nh3` with the tags, attributes and schemes named here, and no others.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

import markdown as md
import nh3
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor, LinkInlineProcessor, SimpleTagInlineProcessor
from markdown.preprocessors import Preprocessor

from dreams import memdir
from dreams.web.dialect import rewritten

# Name of a memory as `[[name]]` writes it → its page's address, or None where there is none.
Resolver = Callable[[str], str | None]

# Above this the text is shown as it is: a page must never wait on a file that grew out of hand.
MAX_CHARS = 300_000

TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code"),
    *("em", "strong", "del", "a", "table", "thead", "tbody", "tr", "th", "td", "span"),
}
ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "code": {"class"},
    "ol": {"start"},
    "th": {"align"},
    "td": {"align"},
    "span": {"class"},
}
SCHEMES = {"http", "https", "mailto"}

_BARE_URL = r"(?<![\w/])(https?://[^\s<>\"'`\]]+)"
_WIKILINK = r"\[\[([^\[\]\n|]{1,200})(?:\|([^\[\]\n]{1,200}))?\]\]"
_OUTSIDE = re.compile(r"(?:https?://|mailto:|&#)", re.IGNORECASE)
_TASK = r"^\[([ xX])\](?=\s)"


def markdown(text: str, resolve: Resolver | None = None) -> str:
    """Safe HTML of `text`; headings start at h2, since a page has its own h1.

    `resolve` makes `[[name]]` a link. A text beyond MAX_CHARS, or nested beyond what can be read, comes back as
    plain preformatted text.
    """
    if len(text) > MAX_CHARS:
        return _as_it_is(text)
    try:
        converted = _converter(resolve).convert(text)
    except RecursionError:
        return _as_it_is(text)
    return nh3.clean(
        converted,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )


def _as_it_is(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def _converter(resolve: Resolver | None) -> md.Markdown:
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
    """`![alt](url)` becomes a link that says so: nothing is loaded from anywhere by looking at a note."""

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
    """A task's box as a sign with a word for those who do not see it."""

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
    """The sentence's own punctuation is not part of the address; a bracket is, where it was opened in it."""
    while url and (url[-1] in ".,;:!?*_~" or (url[-1] == ")" and url.count(")") > url.count("("))):
        url = url[:-1]
    return url


class _OwnLinks(md.treeprocessors.Treeprocessor):
    """A link to a sibling's file leads to its page; any other relative link would lead astray on this site."""

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
