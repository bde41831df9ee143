"""Memory directories → rows, as discovery finds them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dreams.lib import memdir
from dreams.lib.agents.claude_code import listing
from dreams.models import Memory, Project, Version
from dreams.services.memories import syncing
from tests.world.agent_folder import Root, closed_to_us, project, reasons

pytestmark = pytest.mark.django_db


def test_topics_and_team_memories_are_counted_indexes_and_logs_are_not(root: Root) -> None:
    app = root.repository("app")
    for name in ("MEMORY.md", "fact.md", "team/MEMORY.md", "team/rule.md", "logs/2026/03/02.md"):
        root.memory(app, name)
    assert root.discover().memories == 2
    kinds = dict(Memory.objects.values_list("path", "kind"))
    assert kinds["logs/2026/03/02.md"] == "log"
    assert kinds["team/rule.md"] == "team"
    assert project().mode == ""


def test_a_directory_of_logs_alone_is_the_agents_daily_log_mode(root: Root) -> None:
    app = root.repository("app")
    root.memory(app, "MEMORY.md")
    root.memory(app, "logs/2026/03/02.md")
    root.discover()
    assert project().mode == "daily-log"


def test_line_ends_and_every_other_byte_are_kept(root: Root) -> None:
    data = "\ufeff---\r\nname: Ü\r\n---\r\n\r\nOne\r\nTwo without an end".encode()
    root.memory(root.repository("app"), "fact.md", data)
    root.discover()
    assert syncing.contents(project()) == {"fact.md": data}


def test_a_file_that_is_no_memory_is_passed_over_and_never_read(root: Root) -> None:
    app = root.repository("app")
    root.memory(app, "fact.md")
    root.memory(app, "picture.png", b"\x89PNG")
    (root.folder(app) / "memory" / "elsewhere.md").symlink_to("/etc/hostname")
    report = root.discover()
    assert report.memories == 1
    assert reasons(report) == {
        "picture.png": "not a Markdown file",
        "elsewhere.md": "a link; links are not followed",
    }


def test_a_new_file_that_is_too_large_to_read_is_named(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dreams.lib.files.workspace.MAX_FILE_BYTES", 1_000)
    app = root.repository("app")
    root.memory(app, "fact.md")
    root.memory(app, "big.md", "x" * 1_001)
    for _ in range(2):
        report = root.discover()
        assert reasons(report) == {"big.md": "is larger than the limit of 1,000 bytes"}
        assert report.memories == 1, "as the list of projects counts them"
    assert list(Memory.objects.values_list("path", flat=True)) == ["fact.md"]


@pytest.mark.not_on_postgresql
def test_an_edit_from_outside_is_seen_as_a_version_and_no_edit_as_none(root: Root) -> None:
    fact = root.memory(root.repository("app"), "fact.md", "One\n")
    root.discover()
    root.discover()
    fact.write_text("One and two\n")
    root.discover()
    assert list(Version.objects.order_by("pk").values_list("origin", flat=True)) == ["found", "outside"]


@pytest.mark.not_on_postgresql
def test_a_memory_that_vanished_keeps_its_row_and_comes_back(root: Root) -> None:
    fact = root.memory(root.repository("app"), "fact.md", "One\n")
    root.memory(root.repository("other"), "kept.md")
    root.discover()
    fact.unlink()
    assert root.discover().memories == 1
    assert Memory.objects.get(path="fact.md").gone_at is not None
    fact.write_text("One\n")
    assert root.discover().memories == 2
    assert Memory.objects.get(path="fact.md").gone_at is None


def test_one_project_whose_memories_fail_does_not_stop_the_others(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    root.memory(root.repository("bad"), "fact.md", "unreadable\n")
    root.memory(root.repository("good"), "fact.md")
    real = memdir.parse

    def parse(data: bytes) -> memdir.Document:
        if data == b"unreadable\n":
            raise RuntimeError("the disk\nsays no")
        return real(data)

    monkeypatch.setattr(memdir, "parse", parse)
    report = root.discover()
    assert [skip.reason for skip in report.skipped] == ["its memories could not be read: the disk says no"]
    assert Memory.objects.get().project.slug.endswith("good")


def test_the_memories_of_new_projects_are_saved_together(root: Root) -> None:
    for name in ("one", "two", "three"):
        root.memory(root.repository(name), "fact.md", f"{name}\n")
    with CaptureQueriesContext(connection) as asked:
        assert root.discover().memories == 3
    assert Version.objects.filter(origin="found").count() == 3
    added = [query["sql"] for query in asked if query["sql"].startswith('INSERT INTO "dreams_memory"')]
    assert len(added) == 1


def test_one_edit_among_many_memories_costs_as_many_queries_as_among_few(root: Root) -> None:
    slug, asked = root.repository("app"), list[int]()
    for most in (3, 20):
        for number in range(most):
            root.memory(slug, f"fact_{number}.md", f"{number}\n")
        root.discover()
        root.memory(slug, "fact_0.md", f"One of {most}\n")
        with CaptureQueriesContext(connection) as queries:
            assert syncing.refresh(Project.objects.get()) == ["fact_0.md"]
        asked.append(len(queries))
    assert asked[0] == asked[1]


def test_a_memory_whose_name_holds_a_line_break_is_counted_as_it_is_versioned(root: Root) -> None:
    root.memory(root.repository("app"), "two\nlines.md")
    report = root.discover()
    assert not reasons(report)
    assert report.memories == 1
    assert Memory.objects.get().path == "two\nlines.md"


def test_of_more_files_than_are_listed_the_first_are_read(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_FILES", 3)
    app = root.repository("app")
    for name in "abcd":
        root.memory(app, f"{name}.md")
    report = root.discover()
    assert [skip.reason for skip in report.skipped] == ["more than 3 files; the rest was not read"]
    assert report.memories == 3 and Memory.objects.exists()


@pytest.mark.not_on_postgresql
def test_of_more_than_are_named_a_page_does_not_say_that_these_are_all(
    root: Root, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Project, "MOST_LEFT_ALONE", 2)
    app = root.repository("app")
    root.memory(app, "fact.md")
    for name in "abc":
        (root.folder(app) / "memory" / f"{name}.md").symlink_to("/etc/hostname")
    root.discover()
    page = " ".join(browser.get(reverse("project", args=[project().pk])).content.decode().split())
    assert "At least 2 things in this folder are not read" in page


def test_a_memory_folder_that_cannot_be_read_is_named_once_and_what_is_kept_is_still_listed_and_exported(
    root: Root, tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    app = root.repository("app")
    root.memory(app, "fact.md")
    root.discover()
    folder = root.folder(app) / "memory"
    with closed_to_us(folder):
        report = root.discover()
        call_command("history", str(project().pk))
        call_command("export", str(project().pk), str(tmp_path / "kept"))
    assert [(skip.path, skip.reason) for skip in report.skipped] == [(str(folder), "permission denied")]
    assert "fact.md" in capsys.readouterr().out and (tmp_path / "kept").stat().st_size
    assert Memory.objects.get().gone_at is None
    said = [record.getMessage() for record in caplog.records if "as last seen" in record.getMessage()]
    assert len(said) == 2 and all(f"{folder}: Permission denied" in one for one in said)


@pytest.mark.not_on_postgresql
def test_what_is_not_read_is_named_on_the_projects_page_and_by_its_checkup(
    root: Root, browser: Client
) -> None:
    app = root.repository("app")
    root.memory(app, "fact.md")
    folder = root.folder(app) / "memory"
    (folder / "elsewhere.md").symlink_to("/etc/hostname")
    (folder / "topics.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    root.discover()
    for name in ("project", "project-checkup"):
        page = browser.get(reverse(name, args=[project().pk])).content.decode()
        assert [path in page for path in ("elsewhere.md", "topics.md", "pipe.md")] == [True] * 3, name
        assert "picture.png" not in page
    assert "3 things in this folder are not read, and left alone" in " ".join(
        browser.get(reverse("project", args=[project().pk])).content.decode().split()
    )
    for path in ("elsewhere.md", "pipe.md"):
        (folder / path).unlink()
    (folder / "topics.md").rmdir()
    root.discover()
    assert "left alone" not in browser.get(reverse("project", args=[project().pk])).content.decode()


def test_a_secret_in_the_name_of_what_is_not_read_is_kept_nowhere(root: Root) -> None:
    app, token = root.repository("app"), "gh" + "p_x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
    root.memory(app, "fact.md")
    (root.folder(app) / "memory" / f"key_{token}.md").symlink_to("/etc/hostname")
    report = root.discover()
    [[name, why]] = project().left_alone
    assert token not in name and name.startswith("key_") and "link" in why
    [skip] = report.skipped
    assert skip.path.endswith(f"memory/{name}"), "as `discover` and the scheduler tell it"
