"""What agents left unfinished follows their transcripts: imported, appended to, resumed, replaced."""

from __future__ import annotations

import datetime as dt
import json
import os
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dreams.models import OpenEnd, Prompt, Session, TranscriptFile
from dreams.services import session_notes
from dreams.services.search import finding, index
from dreams.services.search.query import parse
from tests.world.agent_folder import Record, Root, append, project, session, typed, write

pytestmark = pytest.mark.django_db
SECRET = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"


def called(name: str, call: str = "c", **given: object) -> Record:
    block = {"type": "tool_use", "id": call, "name": name, "input": given}
    at = "2026-03-02T10:01:00.000Z"
    return {"type": "assistant", "timestamp": at, "message": {"role": "assistant", "content": [block]}}


def todos(**items: str) -> Record:
    return called("TodoWrite", todos=[{"content": name, "status": status} for name, status in items.items()])


def made(call: str, name: str) -> Record:
    block = {"type": "tool_result", "tool_use_id": call, "content": "ok"}
    return {"type": "user", "message": {"content": [block]}, "toolUseResult": {"task": {"id": name}}}


def left() -> list[tuple[str, str]]:
    return [(one.subject, one.status) for one in session_notes.open_ends(project())]


def test_unfinished_tasks_are_kept_with_their_line(root: Root, app: Path) -> None:
    root.session(app, "s1", [typed("Go"), todos(Read="completed", Mend="in_progress", Ship="pending")])
    root.discover()
    assert left() == [("Mend", "in_progress"), ("Ship", "pending")]
    row = OpenEnd.objects.get(subject="Ship")
    assert (row.number, row.line_no, row.session.session_id) == (2, 2, "s1")
    assert row.at is not None and row.at.isoformat() == "2026-03-02T10:01:00+00:00"


def test_what_is_appended_goes_on_with_the_same_tasks(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("Go"), called("TaskCreate", "a", subject="Read")])
    root.discover()
    append(path, [made("a", "1"), called("TaskCreate", "b", subject="Mend")])
    root.discover()
    append(path, [made("b", "2"), called("TaskUpdate", taskId="2", addBlockedBy=["1"])])
    root.discover()
    assert left() == [("Read", "pending"), ("Mend", "pending")]
    assert OpenEnd.objects.get(subject="Mend").blocked_by == ["Read"]
    append(path, [called("TaskUpdate", taskId="1", status="completed")])
    root.discover()
    assert left() == [("Mend", "pending")]
    assert OpenEnd.objects.get().blocked_by == []
    append(path, [called("TaskUpdate", taskId="2", status="completed")])
    root.discover()
    assert left() == []


def test_a_resumed_session_tells_its_tasks_once_as_the_newer_file_left_them(root: Root, app: Path) -> None:
    begun = [typed("Go"), todos(Read="pending", Mend="pending")]
    root.session(app, "s1", begun)
    root.discover()
    path = root.session(app, "s2", begun)
    root.discover()
    assert left() == [("Read", "pending"), ("Mend", "pending")]
    append(path, [todos(Read="completed", Mend="completed")])
    root.discover()
    assert left() == []


def test_other_sessions_keep_their_own(root: Root, app: Path) -> None:
    root.session(app, "s1", [typed("Go"), todos(Read="pending")])
    root.session(app, "s2", [typed("Go on"), todos(Mend="pending")])
    root.session(app, "s3", [typed("Nothing to note")])
    root.discover()
    assert sorted(left()) == [("Mend", "pending"), ("Read", "pending")]


def test_a_replaced_transcript_takes_its_tasks_along(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("Go"), todos(Read="pending")])
    root.discover()
    write(path, [typed("Anew")])
    root.discover()
    assert left() == []


def test_secrets_are_left_out_of_what_is_kept(root: Root, app: Path) -> None:
    root.session(app, "s1", [typed("Go"), called("TodoWrite", todos=[{"content": f"Rotate {SECRET}"}])])
    root.discover()
    assert SECRET not in OpenEnd.objects.get().subject
    assert SECRET.encode() not in bytes(TranscriptFile.objects.get().state)


def test_the_tasks_of_a_sub_agents_file_are_not_the_sessions(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("Go"), todos(Read="pending")])
    inner = {**todos(Inner="pending"), "isSidechain": True, "agentId": "a1", "sessionId": "s1"}
    write(path.with_suffix("") / "subagents" / "agent-a1.jsonl", [inner])
    root.discover()
    assert left() == [("Read", "pending")]


def test_the_command_lists_them(root: Root, app: Path) -> None:
    root.session(app, "s1", [typed("Go"), todos(Mend="in_progress")])
    root.discover()
    (row,) = _told(json=True)["open_ends"]
    assert row == {
        "subject": "Mend",
        "status": "in_progress",
        "blocked_by": [],
        "session": "s1",
        "title": "Go",
        "line": 2,
        "last_seen": "2026-03-02T10:01:00+00:00",
    }
    out = StringIO()
    call_command("open_ends", str(project().pk), stdout=out)
    assert "Mend" in out.getvalue() and "in progress" in out.getvalue()
    OpenEnd.objects.all().delete()
    assert _told(json=True) == {"open_ends": [], "total": 0}


def _told(**options: object) -> dict[str, Any]:
    out = StringIO()
    call_command("open_ends", str(project().pk), stdout=out, **options)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_nothing_is_written_for_transcripts_without_tasks(root: Root, app: Path) -> None:
    root.session(app, "s1")
    root.discover()
    assert session("s1").lines == 1 and not OpenEnd.objects.exists()


def test_the_update_reads_transcripts_of_the_last_days_once_more(root: Root, app: Path) -> None:
    """As after an update: sessions that were read before anybody looked for tasks in them."""
    long_ago = timezone.now() - dt.timedelta(days=40)
    for name in ("new", "old"):
        path = root.session(app, name, [typed(f"Go {name}"), todos(Mend="pending"), typed("Go on")])
        if name == "old":
            os.utime(path, (long_ago.timestamp(), long_ago.timestamp()))
    root.discover()
    OpenEnd.objects.all().delete()
    Session.objects.update(used_bytes=50)
    before = list(Prompt.objects.order_by("key").values())
    import_module("dreams.migrations.0032_open_ends").read_again(apps, None)
    root.discover()
    assert [one.session.session_id for one in OpenEnd.objects.all()] == ["new"]
    assert list(Prompt.objects.order_by("key").values()) == before
    assert session("new").used_bytes == 50


def test_a_session_is_found_by_what_it_left_unfinished_until_it_is_finished(
    root: Root, app: Path, browser: Client
) -> None:
    def hits(word: str) -> list[finding.SessionHit]:
        index.catch_up(5)
        wanted = parse(word)
        return finding.session_hits(finding.sessions(wanted, finding.Filters()), wanted)

    path = root.session(app, "s1", [typed("Go"), todos(Mend="in_progress", Zeppelin="pending")])
    root.discover()
    (hit,) = hits("zeppelin")
    assert (hit.session, hit.is_task, hit.excerpts[0].line) == (session("s1"), True, 2)
    text = browser.get("/search/", {"q": "zeppelin"}).content.decode()
    assert f"/sessions/{hit.session.pk}/?line=2#line-2" in text
    append(path, [todos(Mend="in_progress", Zeppelin="completed", Balloon="pending")])
    root.discover()
    assert hits("zeppelin") == [] and hits("balloon")
    append(path, [todos(Mend="completed", Balloon="completed")])
    root.discover()
    assert hits("balloon") == [] and hits("mend") == []


def test_tasks_of_an_earlier_database_are_found_after_it_was_brought_up_to_date(
    root: Root, app: Path
) -> None:
    root.session(app, "s1", [typed("Go"), todos(Mend="pending")])
    root.discover()
    index.catch_up(5)
    assert session("s1").title_indexed_at is not None
    migration = import_module("dreams.migrations.0043_open_ends_in_search")
    migration.search_again(apps, None)
    assert session("s1").title_indexed_at is None
