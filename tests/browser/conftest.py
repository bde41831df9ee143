"""A real Chromium against a live server. Where there is none, each test says by name that it did not run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import expect, sync_playwright

from dreams.services.login import ensure_owner
from tests.browser import shots
from tests.browser.windows import SECONDS, Windows

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from pytest_django.fixtures import SettingsWrapper
    from pytest_django.live_server_helper import LiveServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not Path(shots.CHROMIUM).exists():
        pytest.skip(f"no Chromium at {shots.CHROMIUM}; set MEMORYWEB_CHROMIUM")
    # Playwright's loop lives in this thread, where Django would refuse the tests' own queries.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    # What comes at all comes in much less; a machine that is busy with something else takes more than the usual five.
    expect.set_options(timeout=SECONDS * 1000)
    with sync_playwright() as playwright:
        browser = shots.launch(playwright)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def address(live_server: LiveServer, settings: SettingsWrapper) -> str:
    """Where the live server answers; its port is the served one."""
    settings.PORT = live_server.thread.port
    return f"http://127.0.0.1:{live_server.thread.port}"


@pytest.fixture(scope="session")
def windows(chromium: Browser) -> Windows:
    return Windows(chromium)


@pytest.fixture
def visitor(windows: Windows, address: str) -> Iterator[Page]:
    """A browser window of someone not logged in; anything its console complains about fails the test."""
    with windows.one(address) as page:
        yield page


@pytest.fixture
def plain(windows: Windows, address: str) -> Iterator[Page]:
    """The same, where no script runs."""
    with windows.one(address, java_script_enabled=False) as page:
        yield page


@pytest.fixture
def phone(windows: Windows, address: str) -> Iterator[Page]:
    """The same, in the hand."""
    with windows.one(
        address,
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    ) as page:
        yield page


@pytest.fixture
def window(visitor: Page, address: str) -> Page:
    """The owner's browser window, let in before its first page; that a link does so is told in test_frame."""
    client = Client()
    client.force_login(ensure_owner())
    name = settings.SESSION_COOKIE_NAME
    visitor.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": address}])
    return visitor
