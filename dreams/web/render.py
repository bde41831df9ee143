"""Renders Markdown as safe HTML.

Raw HTML and images are off, and `nh3` removes all tags, attributes and schemes from the result but those named here.
"""

import html
from dataclasses import dataclass
from typing import ClassVar

import nh3

from dreams.lib.files.text import storable
from dreams.lib.markdown import Resolver, to_html

# Longer texts are shown as plain text: a page must not wait for a huge file.
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
# Marks, borders and columns are on the side where its script begins; a table may scroll, so it is reached by keyboard.
ADDED = {tag: {"dir": "auto"} for tag in ("ul", "ol", "blockquote")} | {
    "table": {"dir": "auto", "tabindex": "0"}
}
SCHEMES = {"http", "https", "mailto"}


@dataclass(frozen=True, slots=True)
class TemplateResolver:
    """Wraps a resolver for templates, which would call a plain function without an argument."""

    resolve: Resolver
    do_not_call_in_templates: ClassVar[bool] = True

    def __call__(self, name: str) -> str | None:
        return self.resolve(name)


def markdown(text: str, resolve: Resolver | None = None) -> str:
    """`text` as safe HTML; headings start at h2, since the page has an h1.

    `resolve` makes `[[name]]` a link. A text that is longer than MAX_CHARS, nested too deeply or too slow to parse is
    returned as preformatted text.
    """
    text = storable(text)  # a response cannot contain bytes that are not UTF-8
    converted = to_html(text, resolve) if len(text) <= MAX_CHARS else None
    if converted is None:
        return f"<pre>{html.escape(text)}</pre>"
    return nh3.clean(
        converted,
        tags=TAGS,
        attributes=ATTRIBUTES,
        set_tag_attribute_values=ADDED,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
