"""Newest audit entries that are removed are noticed: the last one is known outside of the database too."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from dreams.management.base import BadUsage, Refused
from dreams.models import AuditEntry
from dreams.services import auditlog, doctor, verifying

pytestmark = pytest.mark.django_db
Committing = Callable[..., Any]


@pytest.fixture
def committing(django_capture_on_commit_callbacks: Callable[..., Any]) -> Committing:
    """A block at whose end what waits for the commit runs, as the test's own transaction never commits."""

    def begin() -> contextlib.AbstractContextManager[list[Callable[[], Any]]]:
        connection.run_on_commit.clear()
        found: contextlib.AbstractContextManager[list[Callable[[], Any]]] = (
            django_capture_on_commit_callbacks(execute=True)
        )
        return found

    return begin


@pytest.fixture(autouse=True)
def three_entries(tmp_path, settings, committing: Committing) -> None:
    settings.DATA_DIR = tmp_path
    with committing() as waiting:
        for name in "abc":
            auditlog.record("login", actor=name)
    assert len(waiting) == 1, "once for all entries of a transaction"


def _problems() -> list[str]:
    return [damage.what for damage in verifying.verify().problems]


def test_a_whole_log_is_whole_and_its_head_is_private() -> None:
    assert _problems() == [] and auditlog.head_file().read_text().startswith("3 ")
    assert stat.S_IMODE(auditlog.head_file().stat().st_mode) == 0o600


@pytest.mark.not_on_postgresql
def test_removed_newest_entries_are_named_by_verify_and_doctor() -> None:
    AuditEntry.objects.filter(number__gt=1).delete()
    assert _problems() == ["Audit entries 2 to 3, the newest, were removed."]
    found = next(check for check in doctor.examine() if check.name == "Kept data")
    assert found.state == "bad" and "2 to 3" in found.said
    with pytest.raises(Refused):
        call_command("verify")


def test_the_next_entry_says_so_once_and_it_stays_known(
    committing: Committing,
) -> None:
    AuditEntry.objects.filter(number=3).delete()
    for _ in range(2):
        with committing():
            auditlog.record("login", actor="d")
            auditlog.record("login", actor="e")
    actions = list(AuditEntry.objects.order_by("number").values_list("number", "action"))
    assert actions[2:] == [(3, "audit.cut"), *((number, "login") for number in range(4, 8))]
    assert _problems() == ["Audit entry 3, the newest, was removed."]
    assert auditlog.head_file().read_text().startswith("7 ")


def test_all_of_them_removed_is_noticed_too(committing: Committing) -> None:
    AuditEntry.objects.all().delete()
    with committing():
        auditlog.record("login", actor="d")
    assert _problems() == ["Audit entries 1 to 3, the newest, were removed."]


def test_a_person_who_brought_the_database_back_from_a_copy_says_so(
    committing: Committing, capsys: pytest.CaptureFixture[str]
) -> None:
    AuditEntry.objects.filter(number=3).delete()
    with committing():
        with pytest.raises(BadUsage, match="The reason is empty"):
            call_command("audit", "--explain", " ")
        call_command("audit", "--explain", "The disk was replaced", "--json")
    sentences = [entry["sentence"] for entry in json.loads(capsys.readouterr().out)["entries"]]
    assert "explained why the newest audit entries are missing" in sentences[0]
    assert "The disk was replaced" in sentences[0] and "entry 3 was missing" in sentences[1]
    assert _problems() == []


def test_where_nothing_is_missing_nothing_is_explained() -> None:
    with pytest.raises(Refused, match="No newest entry is missing"):
        call_command("audit", "--explain", "Only trying")
    assert not AuditEntry.objects.filter(action="audit.cut_known").exists()


def test_an_entry_is_kept_though_its_head_cannot_be_written(committing: Committing) -> None:
    head = auditlog.head_file()
    head.unlink()
    (head / "in its place").mkdir(parents=True)
    with committing():
        auditlog.record("login", actor="d")
    assert AuditEntry.objects.get(number=4).actor == "d" and _problems() == []
    assert [path.name for path in head.parent.glob(".audit-head*")] == [head.name] * head.name.startswith(".")


def test_entries_that_are_missing_between_others_are_named_by_their_numbers() -> None:
    AuditEntry.objects.filter(number=2).delete()
    assert "Audit entry 2 is missing." in _problems()
    assert "Audit entry 3 does not follow the one before it." in _problems()
    AuditEntry.objects.filter(number=1).delete()
    assert "Audit entries 1 to 2 are missing." in _problems()


def test_another_entry_in_the_place_of_the_last_is_noticed() -> None:
    last = AuditEntry.objects.get(number=3)
    last.actor = "somebody else"
    last.hash = auditlog._digest(last)
    last.save()
    assert _problems() == ["Audit entry 3 was replaced by another one."]


def test_what_is_rolled_back_never_was(committing: Committing) -> None:
    with committing(), pytest.raises(ZeroDivisionError), transaction.atomic():
        auditlog.record("login", actor="d")
        raise ZeroDivisionError
    assert auditlog.head_file().read_text().startswith("3 ") and _problems() == []


def test_a_slower_process_puts_no_older_head_back() -> None:
    AuditEntry.objects.filter(number=3).update(number=30)
    auditlog._keep_head()
    AuditEntry.objects.filter(number=30).update(number=3)
    assert auditlog.head_file().read_text().startswith("30 ")


def test_two_threads_that_keep_the_head_at_once_have_a_draft_each(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    auditlog.head_file().unlink()
    opened, threads = os.fdopen, itertools.count()
    monkeypatch.setattr("threading.get_ident", lambda: next(threads))

    def beside_another(descriptor: int, mode: str) -> Any:
        monkeypatch.setattr(os, "fdopen", opened)
        auditlog._keep_head()
        return opened(descriptor, mode)

    monkeypatch.setattr(os, "fdopen", beside_another)
    auditlog._keep_head()
    assert auditlog.head_file().read_text().startswith("3 ") and not caplog.records
    assert not list(auditlog.head_file().parent.glob(".audit-head*"))


@pytest.mark.not_on_postgresql
def test_an_entry_survives_a_power_cut_if_the_head_that_names_it_does(
    committing: Committing, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[tuple[str, str]] = []

    def seen(fd: int) -> None:
        flushed.append((Path(f"/proc/self/fd/{fd}").readlink().name, auditlog.head_file().read_text()[:2]))

    monkeypatch.setattr(os, "fsync", seen)
    with committing():
        auditlog.record("login", actor="d")
    log = Path(connection.settings_dict["NAME"]).name + "-wal"
    assert flushed == [(log, "3 ")] and auditlog.head_file().read_text().startswith("4 ")
