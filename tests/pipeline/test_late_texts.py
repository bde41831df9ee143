"""What a session writes at the moment of an apply, and no file holds: a version, and a line on the project's page."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from dreams.lib.storage import journal
from dreams.lib.storage.history import HistoryDamaged
from dreams.lib.storage.journal import System
from dreams.models import Proposal, Version
from dreams.services import blobs, review
from dreams.services.apply import applying, writing
from dreams.services.memories import syncing
from tests.world import directory as world

pytestmark = pytest.mark.django_db(transaction=True)
LINE = b"\n- a line through an old handle\n"
NAME = "feedback_testing.md"


@pytest.fixture
def approved(tmp_path: Path, settings: Settings) -> Proposal:
    settings.DATA_DIR = tmp_path / "data"
    proposal = world.all_approved(tmp_path / "root")
    review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
    return proposal


class Slept(System):
    """Another process found the old file before the swap, slept, and has it open after the last look at it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.handle = folder, -1

    def step(self, call: str, what: str) -> None:
        if (call, what) == ("fsync_dir", "commit"):
            for path in self.folder.glob(".memoryweb-*.tmp"):
                if path.read_text() == world.TESTING:
                    self.handle = os.open(path, os.O_WRONLY | os.O_APPEND)


def applied(proposal: Proposal, monkeypatch: pytest.MonkeyPatch) -> Slept:
    system, run = Slept(world.folder(proposal.project)), journal.run
    with monkeypatch.context() as patched:
        patched.setattr(journal, "run", lambda plan, where: run(plan, where, system))
        assert applying.apply(proposal, world.ME).complete
    assert system.handle >= 0
    return system


def asides() -> list[Version]:
    return list(Version.objects.filter(aside_at__isnull=False))


def test_a_late_line_is_an_outside_version_just_before_the_apply_and_in_the_history(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = applied(approved, monkeypatch)
    os.write(system.handle, LINE)
    os.close(system.handle)
    said = writing.recover()
    assert any(NAME in line and "kept as a version" in line for line in said)
    [kept] = asides()
    memory = kept.memory
    assert (memory.path, kept.origin) == (NAME, Version.Origin.OUTSIDE)
    newest, second, *_ = memory.versions.order_by("-number")
    assert (newest.origin, newest.sha256) == (Version.Origin.APPLY, memory.sha256)
    assert second == kept
    with syncing.open_history(approved.project) as store:
        assert store.read(kept.sha256) == world.TESTING.encode() + LINE
    assert writing.recover() == []
    assert len(asides()) == 1


@pytest.mark.more
def test_the_projects_page_says_so_and_leads_there(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch, browser: Client
) -> None:
    address = f"/projects/{approved.project_id}/"
    assert "while changes were being applied" not in browser.get(address).content.decode()
    system = applied(approved, monkeypatch)
    os.write(system.handle, LINE)
    os.close(system.handle)
    writing.recover()
    page = browser.get(address).content.decode()
    assert f"Text written to {NAME} while changes were being applied" in page
    [kept] = asides()
    link = f"/memories/{kept.memory_id}/compare/?a={kept.pk}"
    assert link in page
    assert "a line through an old handle" in browser.get(link).content.decode()


@pytest.mark.not_on_postgresql
def test_a_late_line_is_kept_though_the_history_cannot_be_written(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object) -> None:
        raise HistoryDamaged("a pack cannot be read")

    system = applied(approved, monkeypatch)
    os.write(system.handle, LINE)
    os.close(system.handle)
    with monkeypatch.context() as patched:
        patched.setattr(syncing, "commit", damaged)
        assert [line for line in writing.recover() if NAME in line]
    [kept] = asides()
    assert blobs.get(kept.sha256) == world.TESTING.encode() + LINE


@pytest.mark.not_on_postgresql
def test_a_late_line_waits_for_the_database_that_knows_its_proposal(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = applied(approved, monkeypatch)
    os.write(system.handle, LINE)
    os.close(system.handle)
    name = approved.public_id
    Proposal.objects.update(public_id="p-elsewhere")
    assert not [line for line in writing.recover() if NAME in line] and asides() == []
    Proposal.objects.update(public_id=name)
    assert [line for line in writing.recover() if NAME in line]
    assert [kept.memory.path for kept in asides()] == [NAME]


@pytest.mark.not_on_postgresql
def test_replaced_files_are_gone_after_a_while(
    approved: Proposal, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    os.close(applied(approved, monkeypatch).handle)
    folder = Path(settings.DATA_DIR) / "journal"
    assert list(folder.glob("*/old/*"))
    for old in folder.glob("*/old"):
        os.utime(old, (time.time() - 3600, time.time() - 3600))
    assert writing.recover() == []
    assert not list(folder.glob("*/old/*"))
    assert asides() == []
