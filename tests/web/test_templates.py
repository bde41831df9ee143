"""Templates read as templates: no line is longer than an editor shows, and a form names its hidden fields in one tag."""

from __future__ import annotations

import re
from pathlib import Path

from django.template import Context, Template
from django.template.loader import render_to_string

from dreams.web.pages.diffs import Bit, Line, Run, Tie
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
    line = Line(
        "del", 4, (Run(True, (Bit("one"), Bit("`two`", "code"))), Run(False, (Bit(" three"),))), ties=ties
    )
    page = render_to_string("dreams/_review_lines.html", {"lines": [line]})
    [shown] = re.findall(r'<div class="diff-text">(.*?)</div>', page, re.DOTALL)
    text = re.sub(r"<small.*?</small>", "", shown, flags=re.DOTALL)
    assert re.sub(r"<[^>]*>", "", text) == "Removed: one`two` three"
    assert shown.count("<small") == 2 and "<del>" in shown
