"""Marks of pictures and of where lines come from can be told from their ground, in both themes."""

from __future__ import annotations

import re

from tests.web.test_static import STATIC, _contrast
from tests.world.cases import each

MARKS = [
    *(f"series-{n}" for n in (1, 2, 3, 4, 5, "rest")),
    *(f"source-{kind}" for kind in ("dream", "session", "hand", "outside", "found")),
]


@each("theme", [0, 1])
def test_every_mark_stands_out_from_the_panel(theme: int) -> None:
    parts = (STATIC / "css/tokens.css").read_text().split("@media")
    tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", parts[theme]))
    assert {
        name: _contrast(tokens[name], tokens["panel"])
        for name in MARKS
        if _contrast(tokens[name], tokens["panel"]) < 3
    } == {}


@each("theme", [0, 1])
def test_a_busier_day_stands_out_more(theme: int) -> None:
    parts = (STATIC / "css/tokens.css").read_text().split("@media")
    tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", parts[theme]))
    contrasts = [_contrast(tokens[f"heat-{level}"], tokens["panel"]) for level in range(5)]
    assert contrasts == sorted(contrasts)
    assert contrasts[-1] >= 3
