"""What every page of projects, memories, sessions, dreams, usage and audit has in common."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import AbstractUser
from django.test import Client
from django.urls import reverse

from tests.world.rows import World

INLINE = re.compile(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", re.IGNORECASE)
TAG = re.compile(r"<[^>]+>")

PAGES: dict[str, Callable[[World], str]] = {
    "projects": lambda world: reverse("projects"),
    "in several projects": lambda world: reverse("projects-several"),
    "project": lambda world: reverse("project", args=[world.project.pk]),
    "project memories": lambda world: reverse("project", args=[world.project.pk]) + "?show=memories",
    "project sessions": lambda world: reverse("project", args=[world.project.pk]) + "?show=sessions",
    "project timeline": lambda world: reverse("project", args=[world.project.pk]) + "?show=timeline",
    "empty project": lambda world: reverse("project", args=[world.other.pk]),
    "memory": lambda world: reverse("memory", args=[world.memory.pk]),
    "memory source": lambda world: reverse("memory", args=[world.memory.pk]) + "?view=source",
    "compare": lambda world: reverse("memory-compare", args=[world.memory.pk]),
    "blame": lambda world: reverse("memory-blame", args=[world.memory.pk]),
    "at a moment": lambda world: reverse("project-at", args=[world.project.pk]),
    "file at a moment": lambda world: (
        reverse("project-at", args=[world.project.pk]) + f"?path={world.memory.path}"
    ),
    "between moments": lambda world: reverse("project-between", args=[world.project.pk]),
    "bring back": lambda world: reverse("project-restore", args=[world.project.pk]) + "?when=2000-01-01",
    "edit": lambda world: reverse("memory-edit", args=[world.memory.pk]),
    "forget": lambda world: reverse("memory-forget", args=[world.memory.pk]),
    "move": lambda world: reverse("memory-move", args=[world.memory.pk]),
    "session": lambda world: reverse("session", args=[world.session.pk]),
    "dreams": lambda world: reverse("dreams"),
    "dream": lambda world: reverse("dream", args=[world.dream.public_id]),
    "usage": lambda world: reverse("usage"),
    "audit": lambda world: reverse("audit") + "?check=1",
}
CHANGES: dict[str, Callable[[World], str]] = {
    "dream now": lambda world: reverse("project-dream", args=[world.project.pk]),
    "trust": lambda world: reverse("project-trust", args=[world.project.pk]),
    "propose a moment": lambda world: reverse("project-propose", args=[world.project.pk]),
    "restore": lambda world: reverse("memory-restore", args=[world.memory.pk]),
    "into its index row": lambda world: reverse("memory-index-row", args=[world.memory.pk]),
    "cancel": lambda world: reverse("dream-cancel", args=[world.dream.public_id]),
}


def _unlabelled(text: str) -> list[str]:
    labelled = set(re.findall(r'<label[^>]*\sfor="([^"]+)"', text))
    found = []
    for control in re.findall(r"<(?:select|textarea|input)\b[^>]*>", text):
        if 'type="hidden"' in control or "data-keys-switch" in control or 'type="radio"' in control:
            continue
        own = re.search(r'\sid="([^"]+)"', control)
        if not ("aria-label" in control or (own and own.group(1) in labelled)):
            found.append(control)
    return found


def test_a_page_has_one_heading_one_main_nothing_inline_each_id_once_and_a_label_for_each_control(
    browser: Client, world: World
) -> None:
    for name, address in PAGES.items():
        response = browser.get(address(world))
        text = response.content.decode()
        assert response.status_code == 200, name
        assert len(re.findall(r"<h1[ >]", text)) == 1, name
        assert len(re.findall(r"<main[ >]", text)) == 1, name
        assert not INLINE.search(text), name
        ids = re.findall(r'\sid="([^"]+)"', text)
        assert len(ids) == len(set(ids)), name
        assert _unlabelled(text) == [], name


def test_a_stranger_sees_nothing(client: Client, world: World) -> None:
    for name, address in PAGES.items():
        response = client.get(address(world))
        assert response.status_code == 302, name
        assert response["Location"].startswith("/login/"), name


def test_a_change_is_a_post_and_nothing_else(browser: Client, world: World) -> None:
    assert {name: browser.get(at(world)).status_code for name, at in CHANGES.items()} == dict.fromkeys(
        CHANGES, 405
    )


def test_the_address_of_a_button_leads_to_the_page_that_has_it(browser: Client) -> None:
    said = browser.get("/projects/7/dream/").content.decode()
    assert '<a class="button primary" href="/projects/7/">Back to its page</a>' in said
    assert ">To the inbox</a>" in browser.get("/settings/policies/7/end/").content.decode()


def test_a_change_without_the_forms_token_is_refused(owner: AbstractUser, world: World) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(owner)
    assert {name: strict.post(at(world)).status_code for name, at in CHANGES.items()} == dict.fromkeys(
        CHANGES, 403
    )


@pytest.mark.more
def test_asked_by_htmx_a_page_is_its_part_alone(browser: Client, world: World) -> None:
    for name in PAGES.keys() - {"edit", "forget", "move", "in several projects"}:
        text = browser.get(PAGES[name](world), headers={"HX-Request": "true"}).content.decode()
        assert "<html" not in text, name
        assert TAG.sub("", text).strip(), name


def test_the_templates_hold_no_mark_that_turns_escaping_off() -> None:
    folder = Path(__file__).resolve().parents[2] / "templates"
    for template in folder.rglob("*.html"):
        assert not re.search(r"\|\s*safe\b|autoescape off", template.read_text()), template
