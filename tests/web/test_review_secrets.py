"""Secrets in what a review shows: masked until somebody asks, and the same text all the while."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from dreams.engines.types import Edit
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.models import AuditEntry, Hunk, Proposal
from dreams.services import review, secret_purge
from dreams.services.apply import applying
from tests.world import directory as world

pytestmark = pytest.mark.django_db
TOKEN = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
SHORT = "hunter" + "7Qz!"
BEFORE = f"# Deploy\n\nDeploys use {TOKEN}.\n\nThe admin password: {SHORT}\n"


@pytest.fixture
def redaction(tmp_path: Path) -> Proposal:
    project = world.make_project(tmp_path, {"deploy.md": BEFORE})
    made = secret_purge.propose(project, world.ME)
    assert made is not None
    return made


@pytest.fixture
def leaking(tmp_path: Path) -> Proposal:
    """One secret goes without a word, and another one comes."""
    project = world.make_project(tmp_path, {"deploy.md": BEFORE})
    after = BEFORE.replace(f"Deploys use {TOKEN}.", f"The new token is {TOKEN[::-1]}.")
    return world.propose(project, Edit("deploy.md", BEFORE, after, "token", "update", f"It was {TOKEN}."))


def _page(browser: Client, proposal: Proposal, query: str = "") -> str:
    return browser.get(f"/review/{proposal.public_id}/{query}").content.decode()


def _ask(browser: Client, proposal: Proposal, show: str) -> None:
    form = {"show": show, "file": proposal.files.get().pk}
    assert browser.post(f"/review/{proposal.public_id}/secrets/", form).status_code == 303


def test_a_file_with_a_number_of_thousands_of_digits_is_no_file_of_a_form(
    browser: Client, redaction: Proposal
) -> None:
    form = {"show": "1", "file": "9" * 5_000, "conflict": "1"}
    answer = browser.post(f"/review/{redaction.public_id}/secrets/", form)
    assert answer["Location"] == f"/review/{redaction.public_id}/"


def test_no_view_of_a_redaction_shows_the_secret(browser: Client, redaction: Proposal) -> None:
    source = _page(browser, redaction)
    assert "2 secrets masked." in source
    assert "ghp_••••••••iO" in source
    assert "[redacted: github-token]" in source
    applying_page = f"?file={redaction.files.get().pk}&view=rendered"
    for text in (source, _page(browser, redaction, applying_page)):
        assert TOKEN not in text and SHORT not in text and SHORT[:4] not in text
    assert (world.folder(redaction.project) / "deploy.md").read_text() == BEFORE


@pytest.mark.more
def test_its_undo_and_a_comparison_of_its_versions_do_not_either(
    browser: Client, redaction: Proposal
) -> None:
    review.decide(redaction, review.select_hunks(redaction), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(redaction, world.ME)
    assert TOKEN not in (world.folder(redaction.project) / "deploy.md").read_text()
    assert f'href="/projects/{redaction.project_id}/secrets/">Purge …' in _page(browser, redaction)
    memory = redaction.project.memories.get()
    for text in (
        _page(browser, redaction, "undo/"),
        browser.get(f"/memories/{memory.pk}/compare/").content.decode(),
    ):
        assert "ghp_••••••••iO" in text and TOKEN not in text and SHORT not in text


def test_a_secret_for_another_one_is_still_a_difference() -> None:
    old, new = (f"password: {secret}\n" for secret in (SHORT, SHORT.replace("7Qz", "9Kx")))
    assert [(row.kind, row.text) for row in masking.rows(Mask.of((old, new)), old, new)] == [
        ("del", "password: ••••••••"),
        ("ins", "password: ••••••••"),
    ]


@pytest.mark.parametrize("quote", ["", "> ", "    "])
def test_the_short_last_line_of_a_key_is_hidden_wherever_it_is_a_line(quote: str) -> None:
    body = [
        "-----BEGIN " + "PRIVATE KEY-----",
        "MIIEvQIBADANBgkq" * 4,
        "hmQ==",
        "-----END " + "PRIVATE KEY-----",
    ]
    block = "".join(f"{quote}{line}\n" for line in body)
    mask = Mask.of([f"Deploys use\n\n{block}"])
    assert "hmQ==" not in mask(f"{quote}hmQ==\n")
    assert mask("It ends with hmQ== as they do.\n>\n") == "It ends with hmQ== as they do.\n>\n"


def test_what_was_asked_for_is_shown_to_this_visit_and_the_audit_log_says_who_asked(
    browser: Client, redaction: Proposal
) -> None:
    _ask(browser, redaction, "1")
    text = _page(browser, redaction)
    assert TOKEN in text and SHORT in text and "Mask them" in text
    entry = AuditEntry.objects.get(action="review.secrets_shown")
    assert entry.object_id == redaction.public_id and entry.actor
    assert TOKEN not in str(entry.data)
    _ask(browser, redaction, "0")
    assert TOKEN not in _page(browser, redaction)
    assert AuditEntry.objects.filter(action="review.secrets_shown").count() == 1
    assert "Secrets of a proposal shown" in browser.get("/audit/").content.decode()


def test_what_is_said_beside_a_change_is_masked_and_what_is_edited_or_written_is_not(
    browser: Client, leaking: Proposal
) -> None:
    new = TOKEN[::-1]
    text = _page(browser, leaking)
    assert TOKEN not in text and new not in text and "It was [redacted: github-token]." in text
    hunk = review.select_hunks(leaking)[0]
    # Masked text is never what somebody edits: to edit it, they are asked to have it shown.
    assert f'id="text-{hunk.pk}"' not in text and "Show it and edit" in text
    _ask(browser, leaking, "1")
    edit = _page(browser, leaking).split(f'id="text-{hunk.pk}"')[1]
    assert f"The new token is {new}." in edit.split("</textarea>")[0]
    _ask(browser, leaking, "0")
    typed = {"hunk": hunk.pk, "base": hunk.file.base_sha, "text": f"Now it is {new}.\n"}
    shown = browser.post(
        f"/review/{leaking.public_id}/preview/", typed, headers={"HX-Request": "true"}
    ).content.decode()
    assert new not in shown and "••••••••" in shown
    review.decide(leaking, [hunk], Hunk.Verdict.APPROVED, world.ME)
    review.confirm(leaking, list(leaking.findings.filter(severity="block")), world.ME)
    report = applying.apply(leaking, world.ME)
    assert report.complete, report
    assert new in (world.folder(leaking.project) / "deploy.md").read_text()
