"""What the `markdown` library makes of a text, with the dialect agents write, and without raw HTML and images. PURE.

The library reads an older dialect than agents write. `_Dialect` rewrites a text's lines into that dialect (lists right
after a paragraph, two-space nests, fences inside lists, tables after a paragraph).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element

import markdown as md
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor, LinkInlineProcessor, SimpleTagInlineProcessor
from markdown.preprocessors import Preprocessor

from dreams.lib import memdir
from dreams.lib.markdown.dialect import rewritten

# Name of a memory as `[[name]]` writes it → its page's address, or None where there is none.
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
