"""Shared parts of all charts: frame, axes and ticks as SVG, and a table with the same numbers."""

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from django.utils.html import conditional_escape, escape
from django.utils.safestring import SafeString, mark_safe

from dreams.lib import diff

#: All charts have the same width, so that their labels have the same size everywhere.
MOST_DAYS = 4  # dates below a drawing; chosen
WIDTH = 300
HEIGHT = 150
TOP, RIGHT, BOTTOM, LEFT = 10, 6, 20, 44

Attribute = str | int | float


def number(value: float) -> str:
    """With at most one decimal. Raises ValueError unless it is finite: a browser would draw nothing."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no place in a picture")
    return f"{value:.1f}".removesuffix(".0")


def element(name: str, inside: str = "", /, **attributes: Attribute) -> SafeString:
    """`class_` and `text_anchor` are written `class` and `text-anchor`."""
    # A page draws hundreds of these: `format_html` would take four times as long.
    names = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items()
    )
    # A strict XML parser would stop at a control character in a model's name.
    inside = inside if isinstance(inside, SafeString) else escape(diff.visible(inside))
    whole = f"<{name}{names}>{inside}</{name}>" if inside else f"<{name}{names}/>"
    return mark_safe(whole)  # noqa: S308 - names are our own constants, and the rest is escaped


def _value(value: Attribute) -> str:
    return conditional_escape(value) if isinstance(value, str) else number(value)


def join(parts: Iterable[str]) -> SafeString:
    """Joins the parts; escapes each unless it is already markup."""
    return mark_safe("".join(map(conditional_escape, parts)))  # noqa: S308 - escaped one by one


def text(x: float, y: float, words: str, anchor: str = "middle") -> SafeString:
    return element("text", words, class_="tick", x=x, y=y, text_anchor=anchor) if words else SafeString()


def titled(words: str, *parts: str) -> SafeString:
    """Parts with a tooltip."""
    return element("g", join([element("title", words), *parts]))


def image(key: str, title: str, description: str, parts: Iterable[str], height: int = HEIGHT) -> SafeString:
    """The complete SVG. `key` makes its ids unique on a page."""
    said = [
        element("title", title, id=f"{key}-title"),
        element("desc", description, id=f"{key}-desc"),
    ]
    return element(
        "svg",
        join([*said, *parts]),
        class_="picture-svg",
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{key}-title {key}-desc",
    )


Words = Callable[[float], str]


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of the legend: the class of its mark, and its label."""

    mark: str
    label: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with its summary and its table. Without data `empty` says why, and there is no drawing."""

    key: str
    title: str
    sentence: str = ""
    drawing: SafeString = field(default_factory=SafeString)
    legend: tuple[Key, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    empty: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """The area of a chart that shows data: values from 0 to `top`, and `slots` columns.

    Its vertical range is `above` to `height`, in SVG units.
    """

    top: float
    slots: int
    height: int = HEIGHT
    above: int = 0

    left: ClassVar[float] = LEFT
    right: ClassVar[float] = WIDTH - RIGHT

    @property
    def ground(self) -> float:
        return self.height - BOTTOM

    @property
    def slot(self) -> float:
        return (self.right - self.left) / max(1, self.slots)

    def x(self, place: float) -> float:
        return self.left + self.slot * place

    def y(self, value: float) -> float:
        share = min(1.0, max(0.0, value / self.top)) if self.top > 0 else 0.0
        return self.ground - (self.ground - self.above - TOP) * share

    def frame(self, words: Words) -> list[SafeString]:
        """The baseline and two grid lines."""
        lines = [_line(self, self.ground, "ground")]
        for share in (0.5, 1.0) if self.top else ():
            y = self.y(self.top * share)
            lines += [_line(self, y, "grid"), text(self.left - 5, y + 4, words(self.top * share), "end")]
        return lines

    def days(self, days: Sequence[dt.date]) -> list[SafeString]:
        """A few dates below the baseline, each under its column and inside the chart."""
        every = max(1, -(-len(days) // MOST_DAYS))
        return [
            # The last date is right-aligned: centred it would be cut off.
            text(
                self.x(n + 0.5), self.height - 5, short_day(day), "end" if n > len(days) * 0.92 else "middle"
            )
            for n, day in enumerate(days)
            # The same date is not repeated under the next column.
            if n % every == 0 and (n < every or days[n - every] != day)
        ]


def _line(plot: Plot, y: float, name: str) -> SafeString:
    return element("line", class_=name, x1=plot.left, x2=plot.right, y1=y, y2=y)


def short_day(day: dt.date) -> str:
    return f"{day:%-d %b}"


def long_day(day: dt.date) -> str:
    return f"{day:%-d %B %Y}"


def round_up(value: float) -> float:
    """The next round number whose half is also easy to read. 0 for nothing."""
    if value <= 0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((step * power for step in (1, 2, 3, 4, 5, 6, 8) if step * power >= value), 10 * power)


def size(count: float) -> str:
    """In thousands, as the index's limit of 25 KB is: "820 bytes", "2.5 KB", "1.2 MB"."""
    if count < 1_000:
        return f"{count:.0f} bytes"
    return f"{count / 1_000:.3g} KB" if count < 999_500 else f"{count / 1_000_000:.3g} MB"


def short_size(count: float) -> str:
    """As `size`, but short enough for an axis: "820 B"."""
    return size(count).replace(" bytes", " B")


def whole(count: float) -> str:
    """A count for an axis; empty unless it is a whole number."""
    return f"{count:,.0f}" if count == int(count) else ""
