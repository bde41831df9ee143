"""The few SVG elements that pictures are made of, with every number finite and every text escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable

from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dreams.lib import diff

#: All pictures have this width of their own, so that their small print is the same size everywhere.
WIDTH = 300
HEIGHT = 150
TOP, RIGHT, BOTTOM, LEFT = 10, 6, 20, 44

Attribute = str | int | float


def number(value: float) -> str:
    """With one decimal at most. Raises ValueError for what is no finite number: a browser would draw nothing."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no place in a picture")
    return f"{value:.1f}".removesuffix(".0")


def element(name: str, inside: str = "", /, **attributes: Attribute) -> SafeString:
    """`class_` and `text_anchor` are written `class` and `text-anchor`."""
    pairs = ((key.rstrip("_").replace("_", "-"), _value(value)) for key, value in attributes.items())
    names = format_html_join("", ' {}="{}"', pairs)
    # A control character in a model's name would end the drawing for a strict reader.
    inside = inside if isinstance(inside, SafeString) else diff.visible(inside)
    if not inside:
        return format_html("<{}{}/>", mark_safe(name), names)  # noqa: S308 - our own constants
    return format_html("<{0}{1}>{2}</{0}>", mark_safe(name), names, inside)  # noqa: S308 - our own constants


def _value(value: Attribute) -> str:
    return value if isinstance(value, str) else number(value)


def together(parts: Iterable[str]) -> SafeString:
    """One after the other; each escaped unless it is markup already."""
    return mark_safe("".join(map(conditional_escape, parts)))  # noqa: S308 - escaped one by one


def text(x: float, y: float, words: str, anchor: str = "middle") -> SafeString:
    return element("text", words, class_="tick", x=x, y=y, text_anchor=anchor) if words else SafeString()


def titled(words: str, *parts: str) -> SafeString:
    """Parts that say what they are under a pointer."""
    return element("g", together([element("title", words), *parts]))


def image(key: str, title: str, description: str, parts: Iterable[str], height: int = HEIGHT) -> SafeString:
    """The whole picture. `key` makes its ids its own on a page."""
    said = [
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-desc"),
    ]
    return element(
        "svg",
        together([*said, *parts]),
        class_="picture-svg",
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )
