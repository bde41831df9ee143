"""Accessibility rules over the page that is open. The rules are put into it once, as they are half a megabyte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Colours, width, and the rules: none named is all of them, None is only whether the page fits.
Form = tuple[str, int, Sequence[str] | None]
CONTRAST = "color-contrast"
COLOURS = (CONTRAST, "link-in-text-block")
# What depends on the width.
LAYOUT = ("target-size", "scrollable-region-focusable")
WIDE, NARROW = 1280, 360
# In the light by all rules; in the dark only colours differ, and in a narrow window the layout and what it uncovers.
FORMS: Sequence[Form] = (
    ("light", WIDE, ()),
    ("dark", WIDE, COLOURS),
    ("dark", NARROW, (*LAYOUT, CONTRAST)),
)

_AXE = Axe().axe_script
# Nothing is fetched beforehand: that is for sound and for styles of other hosts, and there are none.
_OPTIONS: Mapping[str, object] = {"resultTypes": ["violations"], "preload": False}
# Of texts that look the same on one page, so many are asked of; chosen: the rule counts the same colours for each.
EACH = 3
# Texts are marked by how they look: their colours, their size and all that lies behind them.
_KINDS = """most => {
    const seen = style => [style.backgroundColor, style.backgroundImage, style.opacity].join(" ");
    const behind = new Map([[document, ""]]);
    const below = node => {
        if (!behind.has(node)) {
            const own = seen(getComputedStyle(node)), more = below(node.parentNode);
            behind.set(node, own === "rgba(0, 0, 0, 0) none 1" ? more : more + "/" + own);
        }
        return behind.get(node);
    };
    const says = element => element.matches("input, select, textarea")
        || [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
    const found = window.textsByLook = new Map();
    for (const element of document.body.querySelectorAll("*")) {
        if (says(element) && element.checkVisibility({opacityProperty: true, visibilityProperty: true})) {
            const style = getComputedStyle(element);
            const look = [below(element), style.color, style.fontSize, style.fontWeight].join(" ");
            if (!found.has(look)) found.set(look, []);
            if (found.get(look).length < most) found.get(look).push(element);
        }
    }
    return [...found.keys()];
}"""
_RUN = """([options, looks]) => {
    const texts = looks.flatMap(look => textsByLook.get(look));
    texts.forEach(text => text.setAttribute("data-new-look", ""));
    axe.configure({rules: [{id: "color-contrast", selector: "[data-new-look]"}]});
    return axe.run(document, options).then(found => {
        texts.forEach(text => text.removeAttribute("data-new-look"));
        return found.violations.map(
            one => one.id + ": " + one.nodes.map(node => node.html.slice(0, 200)).join(" | "));
    });
}"""
_judged: set[str] = set()


def bring_rules(page: Page) -> None:
    """After each load of a page, before it is judged."""
    page.evaluate(_AXE)


def broken_rules(page: Page, rules: Sequence[str] = ()) -> list[str]:
    """What breaks one of `rules`, or any rule at all, with the elements that do.

    Whether a text stands out enough is asked of each look of texts on the first page that has it: it is the slowest rule,
    and all pages have the same frame.
    """
    looks = (
        []
        if rules and CONTRAST not in rules
        else [one for one in page.evaluate(_KINDS, EACH) if one not in _judged]
    )
    _judged.update(looks)
    options = {**_OPTIONS, "runOnly": {"type": "rule", "values": list(rules)}} if rules else _OPTIONS
    found: list[str] = page.evaluate(_RUN, [options, looks])
    return found


def judge(page: Page, forms: Sequence[Form] = FORMS) -> list[str]:
    """What is wrong with the page that is open, in each of its `forms`; it is loaded once."""
    if any(rules is not None for _, _, rules in forms):
        bring_rules(page)
    wrong: list[str] = []
    for scheme, width, rules in forms:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type] # one of the two
        page.set_viewport_size({"width": width, "height": 900})
        form = f"{page.url}, {scheme}, {width} px"
        if rules is not None:
            wrong += [f"{form}: {found}" for found in broken_rules(page, rules)]
        if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
            wrong.append(f"{form}: {wide} px wide")
    return wrong
