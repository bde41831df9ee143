"""Pictures are true to their numbers: inside their frame, finite, told in words, and with a table beside them."""

from __future__ import annotations

import datetime as dt
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from dreams.lib import diff
from dreams.web.charts import shapes
from dreams.web.charts.drawings import (
    LEVELS,
    MOST_SERIES,
    Measure,
    by_day,
    level,
    over_time,
    ranked,
    stacked,
)
from dreams.web.charts.shapes import Picture, Plot, round_up
from tests.world.cases import each

TODAY = dt.date(2026, 11, 21)
DAYS = [TODAY - dt.timedelta(n) for n in range(400)][::-1]
amounts = st.one_of(st.integers(0, 10**13), st.floats(0, 1e12))


def words(value: float) -> str:
    return f"{value:g}"


def _numbers(node: ET.Element) -> Iterator[tuple[str, float]]:
    """Every place in an element as ("x" or "y", value)."""
    box = {name: float(value) for name, value in node.attrib.items() if name in _AXES}
    for name, value in box.items():
        yield _AXES[name], value
    yield "x", box.get("x", 0) + box.get("width", 0)
    yield "y", box.get("y", 0) + box.get("height", 0)
    for place, value in enumerate(re.findall(r"-?[\d.]+", node.attrib.get("d", ""))):
        yield "xy"[place % 2], float(value)


_AXES = {"x": "x", "x1": "x", "x2": "x", "cx": "x", "width": "x"} | dict.fromkeys(
    ("y", "y1", "y2", "cy", "height"), "y"
)


def _check(picture: Picture) -> None:
    if picture.empty:
        assert not picture.drawing
        assert not picture.rows
        return
    root = ET.fromstring(picture.drawing)  # noqa: S314 - our own drawing
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    title, desc = root[0], root[1]
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], desc.attrib["id"]]
    assert title.text == diff.visible(picture.title)
    assert diff.visible(picture.sentence) in (desc.text or "")
    for node in root.iter():
        for axis, value in _numbers(node):
            assert math.isfinite(value)
            assert -0.1 <= value <= (width if axis == "x" else height) + 0.1, ET.tostring(node)
        for name in ("width", "height"):
            assert float(node.attrib.get(name, 0)) >= 0
        assert "style" not in node.attrib
    assert picture.rows
    assert all(len(row) == len(picture.head) for row in picture.rows)


@settings(max_examples=15, deadline=None)
@given(st.lists(amounts, max_size=70))
def test_an_amount_over_time_stays_in_its_frame(values: list[float]) -> None:
    days = DAYS[: len(values)]
    measures = [Measure("Size", values, words, words), Measure("Files", values[::-1], words, words)]
    picture = over_time("k", "Growth", days, measures, "None yet.")
    _check(picture)
    assert bool(picture.empty) == (not any(values))


@settings(max_examples=15, deadline=None)
@given(st.dictionaries(st.sampled_from(DAYS), st.integers(0, 10**9), max_size=60), st.sampled_from(DAYS))
def test_a_calendar_stays_in_its_frame(counts: dict[dt.date, int], today: dt.date) -> None:
    _check(by_day("k", "Sessions", counts, today, "None yet."))


@settings(max_examples=15, deadline=None)
@given(
    st.integers(1, 90),
    st.dictionaries(
        st.text(min_size=1, max_size=8),
        st.dictionaries(st.sampled_from(DAYS[-90:]), amounts, max_size=20),
        max_size=8,
    ),
)
def test_bars_stay_in_their_frame(count: int, found: dict[str, dict[dt.date, float]]) -> None:
    _check(stacked("k", "Tokens", DAYS[-count:], ranked(found), words, "None yet."))


def test_what_is_no_number_is_refused_and_not_drawn() -> None:
    for value in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="no place in a picture"):
            shapes.number(value)


def test_names_are_escaped_and_never_markup() -> None:
    name = '<script>"&'
    picture = stacked("k", name, [TODAY], ranked({name: {TODAY: 3}}), words, "")
    assert "<script" not in picture.drawing
    _check(picture)


def test_no_data_is_a_sentence_and_no_drawing() -> None:
    assert by_day("k", "Sessions", {}, TODAY, "No session yet.").empty == "No session yet."
    assert (
        over_time("k", "Growth", [TODAY], [Measure("Size", [0], words, words)], "Nothing.").empty
        == "Nothing."
    )


def test_the_table_has_what_the_bars_have_and_names_the_rest() -> None:
    many = {f"m{n}": {TODAY: 100 - n} for n in range(MOST_SERIES + 3)}
    picture = stacked("k", "Tokens", [TODAY], ranked(many), words, "")
    assert picture.head == ("Day", "m0", "m1", "m2", "m3", "m4", "others", "All")
    assert picture.rows == (("21 November 2026", "100", "99", "98", "97", "96", "282", "772"),)


def test_a_calendar_counts_its_twelve_weeks_and_no_more() -> None:
    picture = by_day("k", "Sessions", {TODAY: 2, DAYS[0]: 5}, TODAY, "")
    assert picture.sentence == "2 sessions in 12 weeks, most on 21 November 2026: 2."
    assert picture.rows == (("21 November 2026", "2"),)
    assert picture.drawing.count("<rect") == 7 * 11 + TODAY.weekday() + 1


@each(("value", "top"), [(0, 0), (1, 1), (7, 8), (9, 10), (11, 20), (2_530, 3_000), (0.03, 0.03)])
def test_a_scale_ends_at_a_number_that_people_read(value: float, top: float) -> None:
    assert round_up(value) == pytest.approx(top)


def test_more_is_higher_and_darker() -> None:
    plot = Plot(100, 3)
    assert plot.y(0) == plot.ground > plot.y(10) > plot.y(100) >= shapes.TOP
    assert [level(n, 100) for n in (0, 1, 25, 26, 100)] == [0, 1, 1, 2, LEVELS]


def test_an_amount_of_one_day_is_compared_with_nothing() -> None:
    def sentence(*values: int) -> str:
        days = [TODAY - dt.timedelta(n) for n in reversed(range(len(values)))]
        return over_time("k", "Growth", days, [Measure("Size", values, words, words)], "").sentence

    assert sentence(7) == "7."
    assert sentence(7, 7) == "7 now, the same as on 20 November 2026."


def test_the_table_of_an_amount_over_time_has_the_days_on_which_it_changed() -> None:
    days = [TODAY - dt.timedelta(3 - n) for n in range(4)]
    size = Measure("Size", [5, 5, 7, 7], words, words)
    picture = over_time("k", "Growth", days, [size, Measure("Files", [1, 1, 1, 2], words, words)], "")
    assert picture.sentence == "7, 2 now; 5, 1 on 18 November 2026."
    assert picture.head == ("Day", "Size", "Files")
    assert picture.rows == (
        ("21 November 2026", "7", "2"),
        ("20 November 2026", "7", "1"),
        ("18 November 2026", "5", "1"),
    )
