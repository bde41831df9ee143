"""What is served beside the pages: nothing from elsewhere, nothing inline, htmx exactly as published."""

from __future__ import annotations

import re
from pathlib import Path

import django_htmx

from dreams.web.tags.icons import ICONS
from memoryweb import BASE_DIR
from tests.world.cases import each

STATIC = Path(BASE_DIR) / "static"
TEMPLATES = Path(BASE_DIR) / "templates"


def test_the_vendored_htmx_is_the_one_that_its_package_brings() -> None:
    original = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"
    assert (STATIC / "vendor/htmx/htmx.min.js").read_bytes() == original.read_bytes()
    assert "Zero-Clause BSD" in (STATIC / "vendor/htmx/LICENSE").read_text()


@each("file", sorted(STATIC.glob("css/*.css")))
def test_a_style_sheet_loads_nothing_and_names_only_tokens_that_exist(file: Path) -> None:
    text = file.read_text()
    assert not re.search(r"@import|url\(|https?:", text)
    tokens = set(re.findall(r"(--[\w-]+):", (STATIC / "css/tokens.css").read_text()))
    assert set(re.findall(r"var\((--[\w-]+)", text)) <= tokens
    assert text.count("{") == text.count("}")


@each("file", sorted(STATIC.glob("js/*.js")))
def test_a_script_of_ours_evaluates_and_fetches_nothing(file: Path) -> None:
    assert not re.search(r"\beval\(|new Function|innerHTML|document\.write|https?:|fetch\(", file.read_text())


@each("file", sorted(TEMPLATES.rglob("*.html")))
def test_a_template_has_nothing_inline_and_loads_from_nowhere_else(file: Path) -> None:
    text = file.read_text()
    of_html = re.sub(r"{%.*?%}", "", text)  # a tag's own word may begin like an event
    assert not re.search(r"\sstyle=|\son\w+=|<style|javascript:|hx-on|hx-vals=.js:", of_html)
    assert not re.search(r"<script(?![^>]*\ssrc=\"{% static)", text)
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text)
    assert "|safe" not in text
    for form in re.findall(r"<form[^>]*method=\"post\".*?</form>", text, re.DOTALL):
        is_read_too = 'formmethod="get"' in form
        # A field of a form that is also sent by GET would be written into the address: there the button that posts has it.
        assert ("{% csrf_token %}" in _with_includes(form)) != is_read_too
        assert is_read_too == ('name="csrfmiddlewaretoken" value="{{ csrf_token }}"' in text)


def _with_includes(text: str) -> str:
    """With the templates that it includes: the hidden inputs of a card's forms are one of them."""
    names = re.findall(r"{% include \"(dreams/[\w.]+)\"", text)
    return text + "".join((TEMPLATES / name).read_text() for name in names)


def test_every_icon_that_a_template_asks_for_exists() -> None:
    asked = {
        name
        for file in TEMPLATES.rglob("*.html")
        for name in re.findall(r"{% icon \"([\w-]+)\"", file.read_text())
    }
    assert asked <= set(ICONS)


def _channels(colour: str) -> tuple[float, float, float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return linear[0], linear[1], linear[2]


def _contrast(one: str, two: str) -> float:
    light = sorted(
        (0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (_channels(one), _channels(two))), reverse=True
    )
    return (light[0] + 0.05) / (light[1] + 0.05)


TEXT_ON_GROUND = [
    *(("ink", ground) for ground in ("ground", "panel", "sunken", "accent-soft")),
    *(("soft", ground) for ground in ("ground", "panel", "sunken", "gutter")),
    *((name, f"{name}-ground") for name in ("ok", "warn", "block", "info")),
    *((name, "panel") for name in ("ok", "warn", "block", "info", "accent")),
    *((f"{name}-ink", ground) for name in ("ins", "del") for ground in (name, f"{name}-mark")),
    ("moved-ink", "moved"),
    ("accent", "ground"),
    ("accent", "accent-soft"),
    ("accent-ink", "accent"),
]


@each("theme", [0, 1])
@each(("text", "ground"), TEXT_ON_GROUND)
def test_text_can_be_read_in_both_themes(text: str, ground: str, theme: int) -> None:
    parts = (STATIC / "css/tokens.css").read_text().split("@media")
    tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", parts[theme]))
    assert _contrast(tokens[text], tokens[ground]) >= 4.5


@each("theme", [0, 1])
def test_borders_of_controls_and_the_focus_ring_can_be_seen(theme: int) -> None:
    parts = (STATIC / "css/tokens.css").read_text().split("@media")
    tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", parts[theme]))
    assert _contrast(tokens["line"], tokens["panel"]) >= 3
    assert _contrast(tokens["focus"], tokens["ground"]) >= 3
