"""Browser windows that tests share. To open one costs as much as four pages; each test finds it as if it were new."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

SIZE = {"width": 1280, "height": 720}
SECONDS = 30  # more than any machine needs for what is waited for


def until(page: Page, found: Callable[[], bool]) -> None:
    """Wait for what `expect` cannot ask, while the page goes on."""
    end = time.monotonic() + SECONDS
    while not found() and time.monotonic() < end:
        page.wait_for_timeout(20)


class Line:
    """Requests to addresses that match a pattern wait, while it is held, until the block ends.

    Made before the page is opened: what a page sends right after Chromium was told to stop its requests may still pass.
    """

    def __init__(self, page: Page, pattern: str) -> None:
        self._page = page
        self._is_held = False
        self._waiting: list[Route] = []
        page.route(pattern, self._meet)

    def _meet(self, route: Route) -> None:
        if self._is_held:
            self._waiting.append(route)
        else:
            route.continue_()

    @contextmanager
    def held(self) -> Iterator[None]:
        self._is_held = True
        try:
            yield
            until(self._page, lambda: bool(self._waiting))
            assert self._waiting, "nothing was sent"
        finally:
            self._is_held = False
            for route in self._waiting:
                route.continue_()


#: How htmx reports a request that a later one replaced, as `hx-sync` asks. A failed one has other words, too.
REPLACED = ("htmx:afterRequest", "htmx:sendAbort")


@dataclass
class _Window:
    """What its console complained of, and whatever it asked of another host."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        heard = self.complaints.append
        self.page.on(
            "console", lambda m: m.type == "error" and not m.text.startswith(REPLACED) and heard(m.text)
        )
        self.page.on("pageerror", lambda error: heard(str(error)))
        self.page.on("request", lambda asked: _is_elsewhere(asked.url) and heard(f"asked for {asked.url}"))

    def forget(self, address: str, kind: dict[str, Any]) -> None:
        """What a new window would not know: who is logged in, what was kept, how it was made to look."""
        page = self.page
        if page.url.startswith(address):
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")
        page.context.clear_cookies()
        page.set_viewport_size(kind.get("viewport", SIZE))
        page.emulate_media(
            media="null",
            color_scheme="null",
            forced_colors="null",
            reduced_motion=kind.get("reduced_motion", "null"),
        )
        page.mouse.move(0, 0)
        self.complaints.clear()


class Windows:
    """One window of each kind, opened when it is first asked for."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._open: dict[str, _Window] = {}

    @contextmanager
    def one(self, address: str, **kind: Any) -> Iterator[Page]:
        """A page of the `kind` that `Browser.new_context` takes. One that cannot be made as new is not used again."""
        name = repr(kind)
        window = self._open.pop(name, None) or _Window(self._browser.new_context(**kind).new_page())
        yield window.page
        complaints = list(window.complaints)
        window.forget(address, kind)
        self._open[name] = window
        assert complaints == []


def _is_elsewhere(url: str) -> bool:
    return urlsplit(url).hostname not in ("127.0.0.1", "localhost", None)
