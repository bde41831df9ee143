"""Templates read as templates: no line is longer than an editor shows, and a form names its hidden fields in one tag."""

from __future__ import annotations

import re
from pathlib import Path

from django.template import Context, Template
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from dreams.web.pages.diffs import Bit, BitRun, DiffLine, Tie
from dreams.web.pages.projects import Figure
from dreams.web.tags import desk
from memoryweb import BASE_DIR

LONGEST = 160
TEMPLATES = sorted(Path(BASE_DIR, "templates").rglob("*.html"))


def test_no_line_of_a_template_is_too_long_to_read() -> None:
    long = [
        f"{path.relative_to(BASE_DIR)}:{number}: {len(line)} characters"
        for path in TEMPLATES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > LONGEST
    ]
    assert TEMPLATES and not long, "\n".join(long)


def test_hidden_fields_are_escaped_and_a_list_is_one_field_for_each_value() -> None:
    template = Template("{% load desk %}{% hidden back=back of=of %}")
    assert template.render(Context({"back": 'a"b', "of": [1200, 3]})) == (
        '<input type="hidden" name="back" value="a&quot;b">'
        '<input type="hidden" name="of" value="1200"><input type="hidden" name="of" value="3">'
    )


def test_a_changed_line_shows_no_end_of_line_that_its_text_has_not() -> None:
    ties = (
        Tie("moved", "Moved to", "b.md, line 3", "#hunk-1"),
        Tie("kept", "Kept in", "c.md", note="as it was"),
    )
    line = DiffLine(
        "del",
        4,
        (BitRun(True, (Bit("one"), Bit("`two`", "code"))), BitRun(False, (Bit(" three"),))),
        ties=ties,
    )
    page = render_to_string("dreams/_review_lines.html", {"lines": [line]})
    [shown] = re.findall(r'<div class="diff-text">(.*?)</div>', page, re.DOTALL)
    text = re.sub(r"<small.*?</small>", "", shown, flags=re.DOTALL)
    assert re.sub(r"<[^>]*>", "", text) == "Removed: one`two` three"
    assert shown.count("<small") == 2 and "<del>" in shown


PART = re.compile(r'{% (?:part|rows) "([^"]+)"')
#: What is not the same each time a piece with the same values is shown: moments, and who asks for which page.
PASSING = re.compile(
    r"\|(?:age|moment|absolute|stamp|date|may)\b|{% (?:query|host|csrf_token|now|get_)|\b(?:request|user|hosts)\."
)


def test_a_piece_that_is_made_once_shows_nothing_that_passes() -> None:
    pieces = {name for path in TEMPLATES for name in PART.findall(path.read_text())}
    assert {"dreams/_inbox_item.html", "dreams/_session_row.html"} <= pieces
    found = [
        f"{name}: {match[0]}"
        for name in pieces
        for match in PASSING.finditer(Path(BASE_DIR, "templates", name).read_text())
    ]
    assert not found, "\n".join(found)


def test_a_piece_shows_what_it_is_given_and_is_made_once_for_the_same() -> None:
    template = Template('{% load desk %}{% part "dreams/_project_figure.html" figure=figure age=age %}')
    first = template.render(Context({"figure": Figure("Memories", "number", 3), "age": ""}))
    assert first.strip() == '<dd class="number">3</dd>'
    before = desk._made_of.cache_info().misses
    assert template.render(Context({"figure": Figure("Memories", "number", 3), "age": ""})) == first
    assert desk._made_of.cache_info().misses == before
    bad = {"figure": Figure("Last dream", "age", None), "age": "<b>"}
    assert "&lt;b&gt;" in template.render(Context(bad))
    assert "<b>" in template.render(Context(bad | {"age": mark_safe("<b>")}))
