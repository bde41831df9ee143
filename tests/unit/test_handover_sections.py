"""Hand-over notes have ten fixed sections, whatever stands in them."""

from __future__ import annotations

import re

from hypothesis import given, strategies as st

from dreams.engines.handover import sections
from dreams.engines.handover.sections import ALL_TOKENS, SECTIONS
from dreams.web.render import markdown
from tests.world.cases import each

HEADINGS = [f"# {section.heading}" for section in SECTIONS]


def headings(text: str) -> list[str]:
    """As a reader of Markdown sees them."""
    return re.findall(r"<h[1-6][^>]*>(.*?)</h[1-6]>", markdown(text))


def plain(names: list[str]) -> list[str]:
    return [name.removeprefix("# ") for name in names]


def test_there_are_ten_sections_in_the_order_of_the_agents_own_notes() -> None:
    assert [section.name for section in SECTIONS] == [
        "title",
        "state",
        "task",
        "files",
        "workflow",
        "errors",
        "system",
        "learnings",
        "results",
        "worklog",
    ]
    assert headings(sections.written({})) == plain(HEADINGS)


@each(
    "body",
    [
        "# Another heading",
        "Text\n\n### Deeper",
        "Text\n===",
        "Text\n---",
        "Text\n-",
        "- # In a list",
        "> ## In a quote",
        "1. ## Numbered",
        "```\nan open fence",
        "````py\n```\nstill open",
        "~~~\nopen",
        "<!-- open",
        "<pre>\nopen",
        "  <script>x",
        "# Title\n_What the session was about, in a few words._\n\nmine",
    ],
)
def test_no_text_makes_a_heading_or_swallows_one(body: str) -> None:
    text = sections.written(dict.fromkeys(sections.NAMES, body))
    assert [line for line in text.splitlines() if line.startswith("# ")] == HEADINGS
    assert headings(text) == plain(HEADINGS)


@given(st.dictionaries(st.sampled_from(sections.NAMES), st.text(alphabet="ab #`~<>-=\n!pre_*", max_size=60)))
def test_what_is_written_is_read_again(bodies: dict[str, str]) -> None:
    text = sections.written(bodies)
    assert [line for line in text.splitlines() if line.startswith("# ")] == HEADINGS
    again = sections.read(text)
    assert sections.written(again) == text


def test_names_that_are_no_section_are_left_out() -> None:
    assert "mine" not in sections.written({"mine": "mine", "Title": "mine"})


def test_all_together_stay_below_the_hard_limit_and_short_sections_stay_whole() -> None:
    bodies = dict.fromkeys(sections.NAMES[:3], "word " * 40000) | {"worklog": "- a\n- b"}
    kept = sections.read(sections.written(bodies))
    assert sum(map(len, kept.values())) <= ALL_TOKENS * 3.5
    assert kept["worklog"] == "- a\n- b"
    assert kept["title"].endswith("(shortened)")


def test_secrets_are_left_out() -> None:
    token = "ghp_" + "k4Vn8ZsD1xQ7mB2rW9cH6tA3sL0jGpIeOuFy"
    assert token not in sections.written({"learnings": f"The token is {token}."})
