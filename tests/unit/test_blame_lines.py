"""Where each line of a memory came in: every line has an origin, and the origin is where the line really came."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, strategies as st

from dreams.lib.line_origins import LineOrigin, StateLine, lines_of, origins
from tests.world.strategies import edited, texts, tries

FIRST = "# Deploy\n\nThe API runs on host alpha.\nBackups are kept for thirty days.\n"


@st.composite
def histories(draw: st.DrawFn) -> list[str | None]:
    """A file that is edited, removed, and brought back in an earlier state now and then."""
    states: list[str | None] = [draw(texts)]
    for _ in range(draw(st.integers(0, 5))):
        last = next((text for text in reversed(states) if text is not None), "")
        states.append(draw(st.one_of(edited(last), edited(last), st.sampled_from(states), st.none())))
    return states


def _count(text: str | None, line: str) -> int:
    return Counter(lines_of(text or ""))[line]


@tries(20, 80)
@given(histories())
def test_every_line_has_an_origin_that_has_it_and_whose_parent_has_it_less_often(
    states: list[str | None],
) -> None:
    lines = lines_of(states[-1] or "")
    found = origins(states)
    assert len(found) == len(lines)
    for line, origin in zip(lines, found, strict=True):
        here = states[origin.state]
        assert here is not None
        assert lines_of(here)[origin.line] == line
        assert origin.state == 0 or _count(here, line) > _count(states[origin.state - 1], line)


@tries(20, 40)
@given(histories())
def test_an_earlier_place_is_earlier_and_is_a_line_of_that_state(states: list[str | None]) -> None:
    for origin in origins(states):
        first = origin.first
        assert first.state <= origin.state
        assert first.line < len(lines_of(states[first.state] or ""))


@tries(20, 30)
@given(texts, st.integers(1, 4))
def test_a_file_that_never_changed_is_all_of_its_first_state(text: str, times: int) -> None:
    assert origins([text] * times) == [LineOrigin(0, line) for line in range(len(lines_of(text)))]


def test_a_reworded_line_is_of_its_own_state_and_its_neighbours_are_not() -> None:
    found = origins([FIRST, FIRST.replace("alpha", "beta")])
    assert [origin.state for origin in found] == [0, 0, 1, 0]


def test_a_line_that_moved_keeps_the_state_it_came_with() -> None:
    moved = "# Deploy\n\nBackups are kept for thirty days.\nThe API runs on host alpha.\n"
    assert [origin.state for origin in origins([FIRST, moved])] == [0, 0, 0, 0]


def test_words_that_moved_below_a_new_mark_are_new_and_say_where_they_stood() -> None:
    after = "# Deploy\n\nThe API runs on host alpha.\n\n## Backups\n\n- Backups are kept for thirty days.\n"
    before = "Backups are kept for thirty days.\n\n# Deploy\n\nThe API runs on host alpha.\n"
    assert origins([before, after])[-1] == LineOrigin(1, 6, before=StateLine(0, 0))


def test_a_line_brought_back_is_of_the_state_that_brought_it_and_says_where_it_first_stood() -> None:
    found = origins([FIRST, None, FIRST])
    assert [origin.state for origin in found] == [2, 2, 2, 2]
    assert found[2].first == StateLine(0, 2)


def test_other_line_ends_make_no_line_new() -> None:
    windows = FIRST.replace("\n", "\r\n")
    assert [origin.state for origin in origins([FIRST, windows, FIRST.rstrip("\n")])] == [0, 0, 0, 0]


def test_the_first_place_is_found_through_several_returns() -> None:
    states = [FIRST, None, FIRST, "# Deploy\n", FIRST]
    assert origins(states)[3].first == StateLine(0, 3)
