"""Instruction files and pasted texts are found by search, as long as they are there, trusted and not hidden."""

from __future__ import annotations

import datetime as dt
import html
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dreams.lib.agents.claude_code import ClaudeCode
from dreams.models import HistoryPrompt, InstructionText, Project, SearchText, Session
from dreams.services import discovery, settings_changes
from dreams.services.discovery import instruction_files, prompt_history
from dreams.services.hosts import host
from dreams.services.scheduling import scheduler
from dreams.services.search import index
from tests.world import everything
from tests.world.agent_folder import Root

pytestmark = pytest.mark.django_db
SECRET = "".join(["xK9", "vQ2mPz", "L7wRt"])


@pytest.fixture
def root(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Root:
    """One project with a repository, found and looked at."""
    cache.clear()
    made = Root(tmp_path)
    repo = made.repository("shop")
    settings.ROOTS, settings.DATA_DIR = (made.path,), tmp_path / "data"
    monkeypatch.setenv("HOME", str(made.path.parent))
    monkeypatch.setitem(ClaudeCode.__init__.__kwdefaults__, "managed_instructions", ())
    (repo / "CLAUDE.md").write_text(
        f"---\na: b\n---\n\n# Shop\n\nReviews go to gannet.\npassword = {SECRET}\n@../far.md\n"
    )
    (repo.parent / "far.md").write_text("Far away lives the fulmar.\n")
    (made.path / "CLAUDE.md").write_text("Answer like a wren.\n")
    at = timezone.now().timestamp() - 7_200
    made.session(repo, "one", everything.talk(repo, "one", at, ("hello there", "Hello.")))
    discovery.discover()
    return made


def shop() -> Project:
    return Project.objects.get(name="shop")


def look_again(after: dt.timedelta = dt.timedelta(hours=1)) -> None:
    instruction_files.read_due(host(), timezone.now() + after)


def found(browser: Client, words: str, kind: str = "instructions", **more: str) -> list[str]:
    index.catch_up(5)
    text = browser.get("/search/", {"q": words, "kind": kind, **more}).content.decode()
    return [html.unescape(href) for href in re.findall(r'class="row-title" href="([^"]+)"', text)]


def test_a_file_is_found_and_opened_at_its_line(root: Root, browser: Client) -> None:
    (href,) = found(browser, "gannet")
    row = InstructionText.objects.get(path__endswith="shop/CLAUDE.md")
    assert href == f"/projects/{shop().pk}/instructions/?text={row.pk}&line=7#instruction-line"
    page = browser.get(href).content.decode()
    assert '<mark id="instruction-line">Reviews go to gannet.</mark>' in page
    assert re.search(r"<details[^>]* open>\s*<summary>Text<span class=\"sr-only\"> of CLAUDE.md<", page)
    assert (
        '<mark id="instruction-line"></mark>'
        in browser.get(href.replace("line=7", "line=900")).content.decode()
    )


def test_it_is_the_scheduler_that_reads_and_no_page(root: Root, browser: Client) -> None:
    (root.path / "CLAUDE.md").write_text("Answer like a dipper.\n")
    browser.get(f"/projects/{shop().pk}/instructions/")
    assert not found(browser, "dipper")
    Project.objects.update(instructions_read_at=timezone.now() - dt.timedelta(hours=1))
    cache.clear()
    scheduler.tick()
    assert found(browser, "dipper") and not found(browser, "wren")


def test_a_project_is_looked_at_every_ten_minutes(root: Root, browser: Client) -> None:
    (root.path / "CLAUDE.md").write_text("Answer like a dipper.\n")
    look_again()
    assert found(browser, "dipper")
    (root.path / "CLAUDE.md").write_text("Answer like a siskin.\n")
    look_again(dt.timedelta(hours=1, minutes=9))
    assert not found(browser, "siskin")
    look_again(dt.timedelta(hours=1, minutes=10))
    assert found(browser, "siskin")


def test_what_is_removed_or_loaded_no_more_leaves_the_index(root: Root, browser: Client) -> None:
    index.catch_up(5)
    (root.path / "CLAUDE.md").unlink()
    look_again()
    assert not found(browser, "wren")
    assert not SearchText.objects.filter(text__contains="wren").exists()
    shop_pk = shop().pk
    Project.objects.filter(pk=shop_pk).update(gone_at=timezone.now())
    look_again(dt.timedelta(hours=2))
    assert not InstructionText.objects.exists()


def test_a_file_outside_of_the_repository_is_found_only_while_the_project_is_trusted(
    root: Root, browser: Client
) -> None:
    assert not found(browser, "fulmar")
    settings_changes.set_trusted(shop(), True, actor="me")
    look_again()
    assert found(browser, "fulmar")
    settings_changes.set_trusted(shop(), False, actor="me")
    assert not found(browser, "fulmar"), "at once, not only at the next look"
    look_again()
    assert found(browser, "gannet") and not found(browser, "fulmar")


@pytest.mark.not_on_postgresql
def test_its_secrets_are_neither_kept_nor_found_nor_shown(root: Root, browser: Client) -> None:
    index.catch_up(5)
    assert not found(browser, SECRET)
    assert not InstructionText.objects.filter(text__contains=SECRET).exists()
    assert not SearchText.objects.filter(text__contains=SECRET.lower()).exists()
    index.catch_up(5)
    assert SECRET not in browser.get("/search/", {"q": "password"}).content.decode()


def test_a_secret_in_its_name_is_not_shown_either(root: Root, browser: Client) -> None:
    name = "gh" + "p_x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUa"
    rules = Path(shop().repo_dir) / ".claude" / "rules"
    rules.mkdir(parents=True)
    (rules / f"{name}Ab.md").write_text(f"Herons first.\n@{name}Cd.md\n")
    look_again()
    assert found(browser, "herons")
    pages = [
        browser.get(path).content.decode().replace("<wbr>", "")
        for path in ("/search/?q=herons", f"/projects/{shop().pk}/instructions/")
    ]
    assert all("Herons" in page and name not in page for page in pages), "nor that of one which is missing"


@pytest.mark.not_on_postgresql
def test_what_several_projects_load_is_one_result_that_leads_to_the_one_looked_through(
    root: Root, browser: Client
) -> None:
    other = root.repository("mill")
    at = timezone.now().timestamp() - 9_000
    path = root.session(other, "two", everything.talk(other, "two", at, ("grind", "Yes.")))
    os.utime(path, (at, at))
    discovery.discover()
    (href,) = found(browser, "wren")
    assert href.startswith(f"/projects/{shop().pk}/"), "the one used last"
    mill = Project.objects.get(name="mill")
    (href,) = found(browser, "wren", project=str(mill.pk))
    assert href.startswith(f"/projects/{mill.pk}/")
    index.catch_up(5)
    assert "and 1 more project" in browser.get("/search/", {"q": "wren"}).content.decode()


@pytest.mark.not_on_postgresql
def test_many_and_long_files_are_bounded(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_files, "MOST_FILES", 3)
    repo = Path(shop().repo_dir)
    for number in range(9):
        (repo / f"part{number}").mkdir()
        (repo / f"part{number}/CLAUDE.md").write_text("Only here.\n")
    look_again()
    assert InstructionText.objects.count() == 3
    monkeypatch.setattr(instruction_files, "MOST_CHARS", 30)
    look_again(dt.timedelta(hours=2))
    assert InstructionText.objects.count() == 1


def test_one_that_cannot_be_read_stops_no_other(root: Root, browser: Client) -> None:
    (root.path / "CLAUDE.md").write_bytes(b"\0\xff")
    look_again()
    assert found(browser, "gannet") and not found(browser, "wren")


# --- Pasted texts -------------------------------------------------------------------------------------------------


def test_a_short_paste_is_found_leads_to_its_prompt_and_is_hidden_with_it(
    root: Root, browser: Client
) -> None:
    pasted = {"1": {"id": 1, "type": "text", "content": f"a crane over\npassword = {SECRET}\n"}}
    at = timezone.now().timestamp() - 9_000
    line = everything.prompt(Path(shop().repo_dir), "See [Pasted text #1 +1 lines]", "gone", at, pasted)
    everything.write_text(root.path / "history.jsonl", line)
    discovery.discover()
    row = HistoryPrompt.objects.get()
    session = Session.objects.get(session_id="gone")
    assert found(browser, "crane", "pasted") == [f"/sessions/{session.pk}/prompt/1/"]
    assert (
        f'id="prompt-{row.pk}"'
        in browser.get(f"/sessions/{session.pk}/prompt/1/", follow=True).content.decode()
    )
    assert not found(browser, SECRET, "pasted")
    assert not SearchText.objects.filter(text__contains=SECRET.lower()).exists()
    prompt_history.hide(row.prompt)
    assert not found(browser, "crane", "pasted")
