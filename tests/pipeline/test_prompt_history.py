"""The agent's prompt history: prompts whose transcript is gone stay, each once, and never count towards a dream."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dreams.models import HistoryFile, HistoryPrompt, Project, Prompt, Session
from dreams.services.dreaming import dream_inputs
from dreams.services.scheduling import next_dream
from tests.world.agent_folder import Root, append, typed
from tests.world.two_hosts import TwoHosts

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db
SECRET = "sk-ant-" + "api03-" + "A1b2" * 20
AT = 1_772_445_600_000  # milliseconds: 2026-03-02 10:00


@pytest.fixture
def app(root: Root) -> Path:
    app = root.repository("app")
    root.session(app, "here", [typed("Hello there", cwd=str(app), sessionId="here")])
    return app


def entry(text: str, app: Path, session: str = "gone", at: int = AT, **more: object) -> bytes:
    line = {"display": text, "pastedContents": {}, "timestamp": at, "project": str(app), "sessionId": session}
    return json.dumps({key: value for key, value in (line | more).items() if value != ""}).encode() + b"\n"


def write(root: Root, *lines: bytes) -> None:
    (root.path / "history.jsonl").write_bytes(b"".join(lines))


def kept() -> list[str]:
    return list(HistoryPrompt.objects.order_by("prompt__offset").values_list("prompt__text", flat=True))


@pytest.mark.not_on_postgresql
def test_a_session_whose_transcript_is_gone_keeps_its_prompts(root: Root, app: Path) -> None:
    write(root, entry("Use tabs", app), entry("Ship it on Friday", app, at=AT + 60_000))
    root.discover()
    found = Session.objects.get(session_id="gone")
    assert found.project == Project.objects.get() and found.gone_at is not None
    assert (found.title, found.user_turns, found.assistant_turns) == ("Use tabs", 2, 0)
    assert found.started_at is not None and found.last_at is not None
    assert (found.last_at - found.started_at).seconds == 60
    assert kept() == ["Use tabs", "Ship it on Friday"]


def test_two_hosts_with_the_same_home_have_each_their_own_prompts(
    root: Root, app: Path, settings: SettingsWrapper, tmp_path: Path
) -> None:
    write(root, entry("Use tabs", app))
    two = TwoHosts(settings, tmp_path)
    root.discover()
    with two.there():
        root.discover()
        root.discover()
    root.discover()
    found = Prompt.objects.values_list("session__project__host", "text").order_by("text")
    hosts = set(Project.objects.values_list("host", flat=True))
    assert len(hosts) == 2
    assert sorted(found) == sorted((host, text) for host in hosts for text in ("Hello there", "Use tabs"))
    assert len(kept()) == 2


def test_what_a_transcript_has_is_not_doubled(root: Root, app: Path) -> None:
    write(
        root, entry("Hello there", app, "here"), entry("Hello  there", app, ""), entry("/clear", app, "here")
    )
    root.discover()
    assert list(Prompt.objects.values_list("text", flat=True)) == ["Hello there"]
    assert Session.objects.count() == 1


def test_a_prompt_gives_way_when_its_transcript_comes(root: Root, app: Path) -> None:
    write(root, entry("Use tabs", app, "late"))
    root.discover()
    assert kept() == ["Use tabs"]
    root.session(app, "late", [typed("Use tabs", cwd=str(app), sessionId="late")])
    root.discover()
    assert kept() == [] and Prompt.objects.filter(text="Use tabs").count() == 1
    assert Session.objects.get(session_id="late").gone_at is None


@pytest.mark.not_on_postgresql
def test_prompts_stay_when_a_transcript_that_was_read_goes(root: Root, app: Path) -> None:
    write(root, entry("Hello there", app, "here"))
    root.discover()
    (root.folder(app) / "here.jsonl").unlink()
    root.discover()
    assert list(Prompt.objects.values_list("text", flat=True)) == ["Hello there"] and kept() == []


@pytest.mark.not_on_postgresql
def test_such_a_session_counts_for_no_dream(root: Root, app: Path) -> None:
    write(root, *(entry(f"Remember that rule {n} holds.", app, f"gone{n}") for n in range(9)))
    root.discover()
    project = Project.objects.get()
    tally = next_dream.tally_sessions([project], timezone.now())[project.pk]
    assert tally.plain + tally.corrected + tally.live == 1
    assert [row.session_id for row in dream_inputs.unused(project.sessions.all())] == ["here"]
    assert project.sessions.count() == 10


@pytest.mark.not_on_postgresql
def test_only_what_was_appended_is_read(root: Root, app: Path) -> None:
    write(root, entry("One", app), b"not json\n", b'{"display": 5}\n', entry("Two", app, at=AT + 1)[:-9])
    root.discover()
    row = HistoryFile.objects.get()
    assert (kept(), row.malformed_lines, row.line_no) == (["One"], 2, 3)
    at = row.offset
    append(root.path / "history.jsonl", entry("Two", app, at=AT + 1)[-9:] + b"{half\n")
    root.discover()
    row.refresh_from_db()
    assert (kept(), row.malformed_lines, row.line_no) == (["One", "Two"], 3, 5)
    assert row.offset > at


def test_a_history_that_was_replaced_is_read_anew_and_loses_nothing(root: Root, app: Path) -> None:
    write(root, entry("One", app), entry("Two", app, at=AT + 1))
    root.discover()
    write(root, entry("Two", app, at=AT + 1))
    root.discover()
    assert sorted(kept()) == ["One", "Two"]


def test_pastes_are_kept_apart_short_ones_with_their_text_and_images_counted(root: Root, app: Path) -> None:
    pasted = {
        "1": {"id": 1, "type": "text", "content": f"key {SECRET} " + "x" * 2_000},
        "2": {"id": 2, "type": "text", "contentHash": "00ff00ff"},
        "3": {"id": 3, "type": "image", "content": "AAAA"},
        "4": {"id": 4, "type": "text", "contentHash": "../../etc/passwd"},
        "5": 7,
    }
    write(root, entry("See [Pasted text #1] and [Image #3]", app, pastedContents=pasted))
    root.discover()
    row = HistoryPrompt.objects.get()
    first, second = row.pastes
    assert row.prompt.text == "See [Pasted text #1] and [Image #3]"
    assert len(first["text"]) <= 1_024 and SECRET not in first["text"] and first["text"].startswith("key ")
    assert (second["hash"], second["text"], row.images) == ("00ff00ff", "", 1)


def test_a_prompt_without_a_session_stands_with_others_of_its_kind(root: Root, app: Path) -> None:
    write(root, entry("Old one", app, ""), entry("Older one", app / "src", "", at=AT - 5))
    root.discover()
    assert kept() == ["Old one", "Older one"]
    assert {row.title for row in Session.objects.exclude(session_id="here")} == {"Prompts without a session"}


def test_prompts_of_a_folder_that_nobody_knows_wait_until_it_is_known(root: Root, app: Path) -> None:
    other = root.repository("other")
    write(root, entry("Elsewhere", other))
    root.discover()
    assert (kept(), HistoryFile.objects.get().unplaced) == ([], 1)
    root.session(other, "new", [typed("Hi", cwd=str(other))])
    root.discover()
    assert (kept(), HistoryFile.objects.get().unplaced) == (["Elsewhere"], 0)


def test_a_secret_is_not_kept(root: Root, app: Path) -> None:
    write(root, entry(f"The key is {SECRET}", app))
    root.discover()
    assert SECRET not in kept()[0] and SECRET not in Session.objects.get(session_id="gone").title


@pytest.mark.sweep
def test_ten_thousand_lines_take_no_query_each(root: Root, app: Path) -> None:
    write(root, *(entry(f"Prompt {n}", app, f"s{n % 100}", at=AT + n) for n in range(10_000)))
    with CaptureQueriesContext(connection) as queries:
        root.discover()
    assert HistoryPrompt.objects.count() == 10_000 and Session.objects.count() == 101
    assert len(queries) < 300
    with CaptureQueriesContext(connection) as queries:
        root.discover()
    assert not any("INSERT" in query["sql"] for query in queries)


def test_a_link_in_the_place_of_the_history_is_not_followed(root: Root, app: Path, tmp_path: Path) -> None:
    (tmp_path / "far").write_bytes(entry("Use tabs", app))
    (root.path / "history.jsonl").symlink_to(tmp_path / "far")
    report = root.discover()
    assert kept() == [] and any(skip.path.endswith("history.jsonl") for skip in report.skipped)


def test_a_pipe_in_the_place_of_the_history_is_named_in_words(root: Root) -> None:
    os.mkfifo(root.path / "history.jsonl")
    [skip] = root.discover().skipped
    assert skip.path.endswith("history.jsonl") and skip.reason == "not a regular file"
