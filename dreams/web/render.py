"""Markdown as people expect it to look, and as nothing that runs.

Raw HTML and images are off, and whatever comes out passes `nh3` with the tags, attributes and schemes named here, and
no others.
"""

import html
from dataclasses import dataclass
from typing import ClassVar

import nh3

from dreams.lib.files.text import storable
from dreams.lib.markdown import Resolver, to_html

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


@dataclass(frozen=True, slots=True)
class TemplateResolver:
    """A resolver that a template can hand on: a plain function it would call without a name."""

    resolve: Resolver
    do_not_call_in_templates: ClassVar[bool] = True

    def __call__(self, name: str) -> str | None:
        return self.resolve(name)


def markdown(text: str, resolve: Resolver | None = None) -> str:
    """Safe HTML of `text`; headings start at h2, since a page has its own h1.

    `resolve` makes `[[name]]` a link. A text beyond MAX_CHARS, nested beyond what can be read, or slower to read than a
    page may wait comes back as plain preformatted text.
    """
    text = storable(text)  # a byte that is no UTF-8 has no place in a page
    converted = to_html(text, resolve) if len(text) <= MAX_CHARS else None
    if converted is None:
        return f"<pre>{html.escape(text)}</pre>"
    return nh3.clean(
        converted,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
