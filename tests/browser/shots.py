"""Pictures of pages, light and dark, wide and narrow, from a running server. For looking at them, not a test.

    with served() as address:                       # a throw-away server over the configured database
        shoot(address, [("inbox", "/"), ("settings", "/settings/")], Path("/somewhere/outside"))

As a script: `python -m tests.browser.shots OUT_DIR NAME=PATH…` takes them of the shared world of the
tests, over a data directory that is thrown away.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

# The one that has no windows takes less than half of the CPU for a page, and shows the same.
CHROMIUM = (
    os.environ.get("MEMORYWEB_CHROMIUM")
    or shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
    or "/usr/bin/chromium"
)
ARGUMENTS = ["--no-sandbox", "--disable-quic", "--disable-background-networking", "--no-first-run"]
WIDTHS = {"wide": 1280, "narrow": 390}
SCHEMES = ("light", "dark")


def launch(playwright: Playwright) -> Browser:
    """A Chromium with a profile of its own that talks to nobody but the page's server."""
    return playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)


def log_in(page: Page, address: str) -> None:
    """Through a one-time link, as a person does."""
    from dreams.services.login import make_link

    page.goto(address + outside_loop(make_link).path)
    page.wait_for_url(f"{address}/")


def outside_loop(function):
    """Playwright's own event loop runs in this thread, where Django refuses to touch the database."""
    found = []
    thread = threading.Thread(target=lambda: found.append(_closing(function)))
    thread.start()
    thread.join()
    return found[0]


def _closing(function):
    from django.db import connections

    try:
        return function()
    finally:
        connections.close_all()


def shoot(
    address: str,
    pages: Sequence[tuple[str, str]],
    folder: Path,
    widths: Sequence[str] = tuple(WIDTHS),
    schemes: Sequence[str] = SCHEMES,
) -> list[str]:
    """Save `<name>-<width>-<scheme>.png` for each page; return what the browser's console complained about."""
    from playwright.sync_api import sync_playwright

    folder.mkdir(parents=True, exist_ok=True)
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.on(
            "console", lambda m: m.type in ("error", "warning") and complaints.append(f"{page.url}: {m.text}")
        )
        page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
        log_in(page, address)
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            for width in widths:
                for name, path in pages:
                    page.set_viewport_size({"width": WIDTHS[width], "height": 900})
                    page.goto(address + path)
                    _stretch(page, WIDTHS[width])
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png")
        browser.close()
    return complaints


def _stretch(page: Page, width: int) -> None:
    """As tall as the page: a picture of a scrolled page would show a sticky bar in its middle."""
    height = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": width, "height": max(900, min(height, 8000))})


@contextmanager
def served() -> Iterator[str]:
    """The address of a server over the configured database, in a thread of this process."""
    import waitress
    from django.conf import settings
    from django.contrib.staticfiles.handlers import StaticFilesHandler
    from django.core.wsgi import get_wsgi_application

    server = waitress.create_server(
        StaticFilesHandler(get_wsgi_application()), host="127.0.0.1", port=0, threads=4
    )
    settings.PORT = int(server.effective_port)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()


def main(arguments: list[str]) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from django.core.management import call_command

    from tests.world.rows import make_world

    call_command("migrate", verbosity=0)
    make_world()
    pages = [(name, path) for name, _, path in (argument.partition("=") for argument in arguments[1:])]
    with served() as address:
        for complaint in shoot(address, pages, Path(arguments[0])):
            sys.stderr.write(complaint + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
