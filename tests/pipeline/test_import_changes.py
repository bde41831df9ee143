"""Transcripts that shrink, are replaced, vanish, come back, or fail: rows follow, and nothing is lost or doubled."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.db import DataError

from dreams.models import Prompt, RequestUsage, Session, TranscriptFile
from dreams.services.discovery import importing
from tests.world.agent_folder import (
    Root,
    answer,
    append,
    closed_to_us,
    reasons,
    same_length,
    session,
    typed,
    write,
)

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


def texts() -> list[str]:
    return sorted(Prompt.objects.values_list("text", flat=True))


def test_a_transcript_that_shrank_is_read_anew(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One"), answer("m1"), typed("Two")])
    root.discover()
    Session.objects.update(used_bytes=path.stat().st_size)
    write(path, [typed("Three")])
    assert root.discover().bytes_read == path.stat().st_size
    found = session("s1")
    assert (found.lines, found.used_bytes, found.size) == (1, 0, path.stat().st_size)
    assert texts() == ["Three"]
    assert RequestUsage.objects.count() == 0


def test_a_transcript_that_came_from_a_backup_is_read_anew_and_is_no_news_for_a_dream(
    root: Root, app: Path
) -> None:
    path = root.session(app, "s1", [typed("One"), answer("m1")])
    root.discover()
    used = path.stat().st_size
    Session.objects.update(used_bytes=used)
    path.rename(root.base / "backup")
    root.discover()
    path.write_bytes((root.base / "backup").read_bytes())
    append(path, [typed("Two")])
    root.discover()
    assert (texts(), session("s1").used_bytes) == (["One", "Two"], used)


def test_a_transcript_replaced_by_one_of_the_same_size_is_read_anew(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One"), answer("m1")])
    root.discover()
    same_length(path, b"One", b"Two")
    root.discover()
    assert texts() == ["Two"]
    assert RequestUsage.objects.count() == 1


@pytest.mark.also_on_postgresql
def test_a_transcript_overwritten_in_place_and_grown_is_read_anew(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One")])
    root.discover()
    Session.objects.update(used_bytes=50)
    write(path, [typed("Another"), typed("And more")])
    root.discover()
    assert texts() == ["And more", "Another"]
    assert session("s1").used_bytes == 0


def test_a_touched_transcript_is_touched_and_not_read(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One")])
    root.discover()
    Session.objects.update(used_bytes=5)
    os.utime(path, (1_900_000_000, 1_900_000_000))
    assert root.discover().bytes_read == 0
    assert session("s1").touched_at.timestamp() == 1_900_000_000
    assert session("s1").used_bytes == 5
    assert texts() == ["One"]


@pytest.mark.also_on_postgresql
def test_what_forks_share_survives_the_one_that_was_read_first(root: Root, app: Path) -> None:
    shared = [typed("Shared"), answer("m1")]
    first = root.session(app, "s1", shared)
    os.utime(first, (1_700_000_000, 1_700_000_000))
    root.session(app, "s2", [*shared, typed("Fork")])
    root.discover()
    assert Prompt.objects.get(text="Shared").session == session("s1")
    write(first, [typed("New")])
    root.discover()
    assert texts() == ["Fork", "New", "Shared"]
    assert Prompt.objects.get(text="Shared").session == session("s2")
    assert RequestUsage.objects.get().session == session("s2")
    assert root.discover().bytes_read == 0


def test_sub_agents_tokens_survive_a_replaced_main_transcript(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One"), answer("m1")])
    root.session(app, "s1/subagents/agent-a", [answer("m2", isSidechain=True, sessionId="s1")])
    root.discover()
    write(path, [typed("Anew")])
    root.discover()
    assert list(RequestUsage.objects.values_list("sidechain", flat=True)) == [True]


def test_a_replaced_sub_agents_transcript_keeps_what_was_learnt_of_the_session(root: Root, app: Path) -> None:
    root.session(app, "s1", [typed("One"), answer("m1")])
    sub = root.session(
        app, "s1/subagents/agent-a", [answer("m2", isSidechain=True), answer("m3", isSidechain=True)]
    )
    root.discover()
    Session.objects.update(used_bytes=9)
    write(sub, [answer("m4", isSidechain=True)])
    root.discover()
    assert RequestUsage.objects.count() == 2
    assert (texts(), session("s1").used_bytes) == (["One"], 9)


def test_a_vanished_transcript_keeps_its_rows_and_comes_back_unread(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One"), answer("m1")])
    root.session(app, "s2")
    root.discover()
    path.rename(root.base / "aside")
    assert root.discover().sessions == 1
    assert session("s1").gone_at is not None
    assert RequestUsage.objects.count() == 1
    (root.base / "aside").rename(path)
    report = root.discover()
    assert (report.sessions, report.bytes_read) == (2, 0)
    assert session("s1").gone_at is None
    assert TranscriptFile.objects.filter(gone_at__isnull=False).count() == 0


def test_a_transcript_that_came_back_grown_goes_on(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One")])
    root.discover()
    path.rename(root.base / "aside")
    root.discover()
    (root.base / "aside").rename(path)
    append(path, [typed("Two")])
    root.discover()
    assert session("s1").gone_at is None
    assert texts() == ["One", "Two"]


def test_what_a_vanished_session_said_moves_to_a_session_that_repeats_it(root: Root, app: Path) -> None:
    said = typed("Said once")
    path = root.session(app, "s1", [said])
    root.discover()
    path.unlink()
    root.session(app, "s2", [said])
    root.discover()
    assert Prompt.objects.get().session == session("s2")


def test_a_transcript_that_cannot_be_read_is_said_and_read_when_it_can(root: Root, app: Path) -> None:
    closed = root.session(app, "s1")
    root.session(app, "s2")
    with closed_to_us(closed):
        report = root.discover()
    assert reasons(report) == {"s1.jsonl": "permission denied"}
    assert list(Session.objects.values_list("session_id", flat=True)) == ["s2"]
    assert not root.discover().skipped
    assert Session.objects.count() == 2


@pytest.mark.also_on_postgresql
def test_a_crash_between_removing_and_reading_is_repaired_by_the_next_discovery(
    root: Root, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = [typed("Shared"), answer("m1")]
    first = root.session(app, "s1", shared)
    os.utime(first, (1_700_000_000, 1_700_000_000))
    root.session(app, "s2", shared)
    root.session(app, "s1/subagents/agent-a", [answer("m2", isSidechain=True)])
    root.discover()
    write(first, [typed("New")])
    with monkeypatch.context() as patch:
        patch.setattr(importing.rows, "put_files", _die)
        with pytest.raises(KeyboardInterrupt):
            root.discover()
    root.discover()
    assert texts() == ["New", "Shared"]
    assert RequestUsage.objects.count() == 2


@pytest.mark.also_on_postgresql
def test_what_the_database_refuses_of_one_session_does_not_stop_the_others(
    root: Root, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(4):
        root.session(app, f"s{n}", [typed("poison" if n == 2 else f"Text {n}"), answer(f"m{n}")])
    root.session(app, "s3/subagents/agent-a", [answer("m9", isSidechain=True, sessionId="s3")])
    real = importing.rows.put_prompts

    def put(rows: Sequence[tuple[object, ...]]) -> None:
        if any("poison" in row for row in rows):
            raise DataError("refused")
        real(rows)  # type: ignore[arg-type]  # rows as they came

    with monkeypatch.context() as patch:
        patch.setattr(importing.rows, "put_prompts", put)
        report = root.discover()
    assert reasons(report) == {"s2.jsonl": "the database refused what it holds; see the log"}
    assert texts() == ["Text 0", "Text 1", "Text 3"]
    assert RequestUsage.objects.count() == 4
    assert not root.discover().skipped
    assert (len(texts()), RequestUsage.objects.count()) == (4, 5)


def _die(*_: object) -> None:
    raise KeyboardInterrupt
