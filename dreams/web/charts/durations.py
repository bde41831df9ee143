"""How long runs took: one pin each on a scale of seconds to hours, its head in the shape of how it ended."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from dreams.lib import ages
from dreams.lib.files.text import plural
from dreams.web.charts import svg
from dreams.web.charts.base import Key, Picture, Plot, long_day

MOST = 40
# Dreams take a second or an hour; on an even scale all short ones would be one flat line.
_TICKS = ((1.0, "1 s"), (10.0, "10 s"), (60.0, "1 min"), (600.0, "10 min"), (3_600.0, "1 h"))
_KEYS = {
    "completed": Key("pin-completed", "completed", "dot"),
    "failed": Key("pin-failed", "failed", "cross"),
    "killed": Key("pin-killed", "cancelled", "square"),
}


@dataclass(frozen=True, slots=True)
class Run:
    """A run that is over. `state` is completed, failed or killed."""

    day: dt.date
    seconds: float
    state: str
    name: str


def durations(key: str, title: str, runs: Sequence[Run], empty: str) -> Picture:
    """`runs` oldest first; of more than forty the last forty."""
    runs = runs[-MOST:]
    if not runs:
        return Picture(key, title, empty=empty)
    longest = max(run.seconds for run in runs)
    plot = Plot(_height(max(longest, 10.0)) * 1.04, len(runs))
    states = [state for state in _KEYS if any(run.state == state for run in runs)]
    counted = ", ".join(f"{sum(run.state == state for run in runs)} {_KEYS[state].label}" for state in states)
    middle = sorted(run.seconds for run in runs)[len(runs) // 2]
    sentence = f"{plural(len(runs), 'dream')}: {counted}. Half took {span(middle)} or less, the longest {span(longest)}."
    parts = [*_frame(plot), *(_pin(plot, place, run) for place, run in enumerate(runs))]
    parts += plot.days([run.day for run in runs])
    return Picture(
        key,
        title,
        sentence,
        svg.image(key, title, sentence, parts),
        legend=tuple(_KEYS[state] for state in states),
        head=("Day", "Dream", "Took", "Ended"),
        rows=tuple(
            (long_day(run.day), run.name, span(run.seconds), _KEYS[run.state].label) for run in reversed(runs)
        ),
    )


def span(seconds: float) -> str:
    return ages.exact(dt.timedelta(seconds=max(1, round(seconds))))


def _height(seconds: float) -> float:
    """Each tenfold length is one step higher; a second and less lie on the ground."""
    return math.log10(max(1.0, seconds))


def _frame(plot: Plot) -> list[SafeString]:
    ground = svg.element("line", class_="ground", x1=plot.left, x2=plot.right, y1=plot.ground, y2=plot.ground)
    lines = [ground, svg.text(plot.left - 5, plot.ground, "1 s", "end")]
    for seconds, label in _TICKS[1:]:
        y = plot.y(_height(seconds))
        if _height(seconds) <= plot.top:
            lines.append(svg.element("line", class_="grid", x1=plot.left, x2=plot.right, y1=y, y2=y))
            lines.append(svg.text(plot.left - 5, y + 4, label, "end"))
    return lines


def _pin(plot: Plot, place: int, run: Run) -> SafeString:
    x, y = plot.x(place + 0.5), plot.y(_height(run.seconds))
    stem = svg.element("line", class_="stem", x1=x, x2=x, y1=plot.ground, y2=y)
    said = f"{run.name}, {long_day(run.day)}: {span(run.seconds)}, {_KEYS[run.state].label}"
    return svg.titled(said, stem, head(run.state, x, y))


def head(state: str, x: float, y: float) -> SafeString:
    """A shape for each end, so that it is not told by colour alone."""
    mark = _KEYS[state].mark
    if state == "failed":
        a, b, c, d = (svg.number(v) for v in (x - 3, x + 3, y - 3, y + 3))
        return svg.element("path", class_=mark, d=f"M{a} {c} L{b} {d} M{a} {d} L{b} {c}")
    if state == "killed":
        return svg.element("rect", class_=mark, x=x - 3, y=y - 3, width=6, height=6)
    return svg.element("circle", class_=mark, cx=x, cy=y, r=3)
