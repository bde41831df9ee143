"""Accessibility rules over the page that is open. The rules are put into it once, as they are half a megabyte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

Form = tuple[str, int, Sequence[str]]
COLOURS = ("color-contrast", "link-in-text-block")
# What depends on the width.
LAYOUT = ("target-size", "scrollable-region-focusable")
# In the light by all rules; in the dark only colours differ, and in a narrow window the layout and what it uncovers.
FORMS: Sequence[Form] = (
    ("light", 1280, ()),
    ("dark", 1280, COLOURS),
    ("dark", 390, (*LAYOUT, "color-contrast")),
)

_AXE = Axe().axe_script
_RUN = """options => axe.run(document, options).then(found => found.violations.map(
    one => one.id + ": " + one.nodes.map(node => node.html.slice(0, 200)).join(" | ")))"""


def bring_rules(page: Page) -> None:
    """After each load of a page, before it is judged."""
    page.evaluate(_AXE)


def broken_rules(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """What breaks one of `rules`, or any rule at all, with the elements that do."""
    # Nothing is fetched beforehand: that is for sound and for styles of other hosts, and there are none.
    options: dict[str, object] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    found: list[str] = page.evaluate(_RUN, options)
    return found


def judge(page: Page, forms: Sequence[Form] = FORMS) -> list[str]:
    """What is wrong with the page that is open, in each of its `forms`; it is loaded once."""
    bring_rules(page)
    wrong: list[str] = []
    for scheme, width, rules in forms:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type] # one of the two
        page.set_viewport_size({"width": width, "height": 900})
        form = f"{page.url}, {scheme}, {width} px"
        wrong += [f"{form}: {found}" for found in broken_rules(page, rules)]
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            wrong.append(f"{form}: {wide} px wide")
    return wrong
