"""Every page: it comes up, for the owner alone, with one h1 and one main, without anything inline."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client, override_settings
from django.urls import reverse

from dreams.models import Override
from dreams.web.urls import urlpatterns
from tests.world.cases import each
from tests.world.rows import World

PAGES = ["inbox", "health", "settings", "engines"]
INLINE = re.compile(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)


@pytest.mark.parametrize("name", PAGES)
def test_a_stranger_is_led_to_the_login_and_back(client: Client, db: None, name: str) -> None:
    response = client.get(reverse(name))
    assert response.status_code == 302
    assert response["Location"].startswith("/login/")


@each("name", PAGES)
def test_a_page_has_one_heading_and_nothing_inline(browser: Client, world: World, name: str) -> None:
    response = browser.get(reverse(name))
    text = response.content.decode()
    assert response.status_code == 200
    assert len(re.findall(r"<h1[ >]", text)) == 1
    assert len(re.findall(r"<main[ >]", text)) == 1
    assert not INLINE.search(text)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_and_its_addresses_say_get_or_post_and_no_more(
    browser: Client, world: World, name: str
) -> None:
    assert browser.delete(reverse(name)).status_code == 405


@pytest.mark.more
def test_a_number_that_no_row_can_have_is_a_page_that_is_not_there(browser: Client, world: World) -> None:
    found = {}
    for one in urlpatterns:
        if one.pattern.converters and one.name not in ("feed", "logout"):
            kinds = {name: type(kind).__name__ for name, kind in one.pattern.converters.items()}
            given = {name: 10**30 if kind == "IntConverter" else "x" for name, kind in kinds.items()}
            address = reverse(one.name, kwargs=given)
            found |= {address: max(browser.get(address).status_code, browser.post(address).status_code)}
    assert found and set(found.values()) <= {404, 405}, found


def test_made_up_projects_are_said_to_be_made_up(browser: Client, tmp_path: Path) -> None:
    banner = "made-up projects"
    with override_settings(DEMO_ROOT=tmp_path / "demo"):
        assert banner not in browser.get("/").content.decode()
        with override_settings(ROOTS=(tmp_path / "demo",)):
            assert banner in browser.get("/").content.decode()
            Override.objects.create(key="roots", value=str(tmp_path / "own"), changed_by="owner")
            assert banner not in browser.get("/").content.decode()


def test_a_stranger_learns_nothing_from_the_frame(client: Client, world: World) -> None:
    text = client.get("/login/").content.decode()
    assert "(1)" not in text
    assert "acme-api" not in text
    assert "Log out" not in text
