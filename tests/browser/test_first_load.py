"""What a first visit waits for: no script holds the page up, nothing is loaded that the page does not name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.world.rows import World

# What the browser itself says it waited for before it painted; styles are meant to be waited for, and are few.
_WAITED_FOR = """
() => performance.getEntriesByType('resource')
    .map(one => [new URL(one.name).pathname, one.renderBlockingStatus])
"""
MOST_STYLES = 8


@pytest.mark.more
def test_no_script_holds_a_page_up(window: Page, address: str, world: World) -> None:
    paths = ("/", f"/projects/{world.project.pk}/", f"/review/{world.proposal.public_id}/", "/usage/")
    for path in paths:
        window.goto(address + path, wait_until="networkidle")
        loaded = [tuple(one) for one in window.evaluate(_WAITED_FOR)]
        waited = [name for name, status in loaded if status == "blocking"]
        assert any(name.endswith(".js") for name, _ in loaded)
        assert [name for name in waited if not name.endswith(".css")] == []
        assert 0 < len(waited) <= MOST_STYLES
