"""Secrets on the pages of a memory, on a conflict and in the terminal: masked until somebody asks, and never lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from dreams.engines.types import Edit
from dreams.models import AuditEntry, FileChange, Hunk, Memory, Proposal
from dreams.services import review
from dreams.services.memories import syncing
from dreams.services.proposals import rebase
from tests.world import directory as world

pytestmark = pytest.mark.django_db
TOKEN = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
NEWER = "ghp_" + TOKEN[:3:-1]
MASKED = "ghp_••••••••iO"
KEY = "\n".join(
    [
        "-----BEGIN " + "PRIVATE KEY-----",
        "MIIEvQ" + "IBADANBgkq" * 5,
        "x9Kd" * 14,
        "-----END " + "PRIVATE KEY-----",
    ]
)
BEFORE = f"---\ndescription: uses {TOKEN}\n---\n\n# Deploy\n\nDeploys use {TOKEN}.\n\nOn Friday.\n\n{KEY}\n"


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    files = {"deploy.md": BEFORE, "MEMORY.md": f"- [Deploy](deploy.md): {TOKEN}\n"}
    return world.make_project(tmp_path, files).memories.get(path="deploy.md")


@pytest.fixture
def conflict(memory: Memory) -> FileChange:
    """Approved, then changed outside in the same line; each side has a token of its own."""
    after = BEFORE.replace("On Friday.", f"Since May with {NEWER}.")
    made = world.propose(memory.project, Edit("deploy.md", BEFORE, after, "token", "update", "A new token."))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    outside = BEFORE.replace("On Friday.", f"On Monday with {TOKEN}.")
    (world.folder(memory.project) / "deploy.md").write_text(outside)
    file = made.files.get()
    assert rebase.rebase(file, outside.encode()) == "conflict"
    return file


def _show(browser: Client, memory: Memory, show: str = "1", back: str = "") -> str:
    form = {"show": show, "back": back}
    response = browser.post(reverse("memory-secrets", args=[memory.pk]), form)
    assert response.status_code == 303
    return str(response["Location"])


def _pages(memory: Memory) -> list[str]:
    here = f"/memories/{memory.pk}/"
    moment = f"/projects/{memory.project_id}/at/?path=deploy.md"
    return [here, f"{here}?view=source", f"{here}blame/", moment, f"{moment}&view=source"]


def _text(browser: Client, address: str) -> str:
    response = browser.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_no_page_of_a_memory_shows_its_secrets_until_somebody_asks(browser: Client, memory: Memory) -> None:
    for address in _pages(memory):
        text = _text(browser, address)
        assert TOKEN not in text and MASKED in text, address
        assert KEY.splitlines()[1] not in text and "2 secrets masked." in text, address
    _show(browser, memory)
    for address in _pages(memory):
        assert TOKEN in _text(browser, address), address
    entry = AuditEntry.objects.get(action="memory.secrets_shown")
    assert entry.object_id == "deploy.md" and entry.actor and TOKEN not in str(entry.data)
    _show(browser, memory, "0")
    assert TOKEN not in _text(browser, _pages(memory)[0])
    assert AuditEntry.objects.filter(action="memory.secrets_shown").count() == 1


def test_lists_and_what_leaves_with_it_show_none_either(browser: Client, memory: Memory) -> None:
    project = f"/projects/{memory.project_id}/"
    for address in (
        f"{project}?show=memories",
        f"{project}at/",
        f"{project}recall/?q=deploy",
        f"/memories/{memory.pk}/forget/",
        "/search/?q=deploys",
    ):
        text = _text(browser, address)
        assert TOKEN not in text and (MASKED in text or "[redacted: github-token]" in text), address


def test_only_text_as_it_stands_can_be_edited_and_an_edit_loses_nothing(
    browser: Client, memory: Memory
) -> None:
    edit = f"/memories/{memory.pk}/edit/"
    asks = _text(browser, edit)
    assert "<textarea" not in asks and "This text has 2 secrets" in asks and TOKEN not in asks
    assert _show(browser, memory, back=edit) == edit
    field = _text(browser, edit).split("<textarea")[1].split("</textarea>")[0]
    assert TOKEN in field and KEY.splitlines()[1] in field and "•" not in field
    typed = BEFORE.replace("On Friday.", "On Monday.")
    browser.post(edit, {"content": typed, "base_sha": memory.sha256})
    assert (world.folder(memory.project) / "deploy.md").read_text() == typed


@pytest.mark.parametrize("back", ["https://elsewhere.example/", "//elsewhere.example/", "memories/"])
def test_the_way_back_stays_here(browser: Client, memory: Memory, back: str) -> None:
    assert _show(browser, memory, back=back) == f"/memories/{memory.pk}/"


def test_what_is_typed_over_a_secret_comes_back_as_it_was_typed(browser: Client, memory: Memory) -> None:
    """It changed outside meanwhile: the text in the field is what somebody wrote, and only its picture is masked."""
    (world.folder(memory.project) / "deploy.md").write_text(BEFORE + f"\nAlso {NEWER}.\n")
    syncing.refresh(memory.project)
    form = {"content": f"All new: {NEWER}\n", "base_sha": memory.sha256}
    response = browser.post(f"/memories/{memory.pk}/edit/", form)
    beside, field = response.content.decode().split("<textarea")
    typed, after = field.split("</textarea>")
    assert response.status_code == 409 and f"All new: {NEWER}" in typed
    assert NEWER not in beside and NEWER not in after and TOKEN not in after


def test_a_conflict_shows_none_and_keeps_what_is_chosen(browser: Client, conflict: FileChange) -> None:
    address = f"/review/{conflict.proposal.public_id}/conflict/{conflict.pk}/"
    text = _text(browser, address)
    assert TOKEN not in text and NEWER not in text and "3 secrets masked." in text
    assert "My own text" not in text and "show the secrets above first" in text
    state = {"state": rebase.conflict_state(conflict)}
    looked = browser.post(address, {**state, "choice-0": "theirs", "look": "1"}).content.decode()
    assert NEWER not in looked and "ghp_••••••••" in looked
    # A choice that the page never offered writes nothing, least of all nothing in the place of the lines.
    assert browser.post(address, {**state, "choice-0": "edit"}).status_code == 422
    form = {"show": "1", "file": conflict.pk, "conflict": "1"}
    back = browser.post(f"/review/{conflict.proposal.public_id}/secrets/", form)
    assert back["Location"] == address
    shown = _text(browser, address)
    assert NEWER in shown and "My own text" in shown
    assert browser.post(address, {**state, "choice-0": "theirs"}).status_code == 303
    conflict.refresh_from_db()
    assert not conflict.conflict


def test_the_terminal_shows_them_only_with_its_flag(
    conflict: FileChange, capsys: pytest.CaptureFixture[str]
) -> None:
    made: Proposal = conflict.proposal

    def said(*flags: str) -> str:
        call_command("proposal", made.public_id, *flags)
        return capsys.readouterr().out

    assert NEWER not in said("--diff") and "Since May with ghp_••••••••" in said()
    assert NEWER not in said("--diff", "--json")
    assert not AuditEntry.objects.filter(action="review.secrets_shown").exists()
    hunk = json.loads(said("--diff", "--json", "--show-secrets"))["files"][0]["hunks"][0]
    assert f"Since May with {NEWER}." in hunk["added"]
    assert AuditEntry.objects.get(action="review.secrets_shown").data["by_command"] is True
