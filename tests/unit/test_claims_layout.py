"""Which lines of a text stand under which: the body under its function, the list under its title."""

from dreams.lib.prose.claims import SessionText
from dreams.lib.prose.claims.evidence import pieces_of
from tests.world.cases import each


def above(text: str, *, prose: bool) -> dict[str, list[str]]:
    evidence = SessionText()
    evidence.add(text, 1, "tool", prose=prose)
    texts = [unit.text for unit in evidence.units]
    return {texts[place]: [texts[over] for over in evidence.above(place)] for place in range(len(texts))}


def test_a_body_stands_under_its_function_whatever_numbers_a_tool_put_before_the_lines() -> None:
    numbered = "  7\u2192func one() {\n  8\u2192\treturn two()\n  9\u2192}\n 10\u2192func three() {"
    found = above(numbered, prose=False)
    assert found["return two()"] == ["func one() {"]
    assert found["func three() {"] == []


@each(
    ("text", "prose", "bare"),
    [
        ("  7\u2192limit: 4", False, ["limit: 4"]),
        (" 41\tlimit: 4\n 42\tburst: 9", False, ["limit: 4", "burst: 9"]),
        ("404: not found", False, ["404: not found"]),  # a line of its own, and no listing
        ("3. Raise the limit\n### 2. The burst", True, ["Raise the limit", "### The burst"]),
        ("The limit is 3. It holds.", True, ["The limit is 3.", "It holds."]),
        ("See 2d. `limit` for it.", True, ["See 2d. `limit` for it."]),
    ],
)
def test_where_a_line_stands_is_no_part_of_what_it_says(text: str, prose: bool, bare: list[str]) -> None:
    assert [piece.text for piece in pieces_of(text, prose=prose)] == bare


def test_items_stand_under_their_title_and_titles_under_their_heading() -> None:
    found = above("# Plan\n**Steps**:\n- read it\n  - slowly\n- write it\n# Notes\nNothing.", prose=True)
    assert found["- slowly"] == ["- read it", "**Steps**:", "# Plan"]
    assert found["- write it"] == ["**Steps**:", "# Plan"]
    assert found["Nothing."] == ["# Notes"]


def test_comments_stand_under_the_line_that_they_are_right_over() -> None:
    code = "/**\n * Halves the current.\n * Never on Sundays.\n */\ndim(): void;\n\n// Of nothing.\n\n# The lamp\nlamp()\n"
    found = above(code, prose=False)
    assert found["* Halves the current."] == found["* Never on Sundays."] == ["dim(): void;"]
    assert found["// Of nothing."] == found["dim(): void;"] == []
    assert found["# The lamp"] == ["lamp()"]


@each(
    ("text", "prose", "read"),
    [
        ("  // Dims the lamp for as long as the current\n  // is low. Then stops.\n", False, ["// Dims the lamp for as long as the current is low.", "Then stops."]),
        ('"""Dims the lamp for as long as the current\nis low."""', False, ['"""Dims the lamp for as long as the current is low."""']),
        ("- The lamp is dimmed for as long as the current\n  is low\n- next", True, ["- The lamp is dimmed for as long as the current is low", "- next"]),
        ("The lamp is dimmed for as long as it needs to be:\nat night", True, ["The lamp is dimmed for as long as it needs to be:", "at night"]),
        ("dim_the_lamp(for_as_long_as, the_current, is_low)\nstop()", False, ["dim_the_lamp(for_as_long_as, the_current, is_low)", "stop()"]),
        ("//nolint:lamp orders a tool to look away from here\n// is low", False, ["//nolint:lamp orders a tool to look away from here", "// is low"]),
    ],
)  # fmt: skip
def test_a_sentence_over_several_lines_is_one(text: str, prose: bool, read: list[str]) -> None:
    laid = list(pieces_of(text, prose=prose))
    assert [piece.text for piece in laid] == read
    assert all((piece.shown or piece.text) in text for piece in laid)


def test_what_stands_under_a_line_ends_where_the_next_one_is_as_far_out() -> None:
    evidence = SessionText()
    evidence.add("a:\n  b:\n    c\n  d\ne", 1, "tool", prose=False)
    assert list(evidence.under(0, 10, 5)) == [1, 2, 3]
    assert list(evidence.under(1, 10, 5)) == [2]
    assert list(evidence.under(0, 2, 5)) == [1, 2]
    assert list(evidence.under(4, 10, 5)) == []


@each("prose", [True, False])
def test_a_very_long_line_is_cut_and_stays_in_its_place(prose: bool) -> None:
    cut = list(pieces_of("x" * 1500, prose=prose))
    assert [len(piece.text) for piece in cut] == [600, 600, 300]
    assert len({piece.depth for piece in cut}) == 1
