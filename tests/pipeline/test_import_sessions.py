"""Transcripts → sessions, tokens, prompts: each counted once, whatever shape it comes in."""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

import pytest
from django.db.models import Sum
from django.utils import timezone

from dreams.models import MemoryWrite, Prompt, RequestUsage, Session, TranscriptFile
from dreams.services.discovery import importing
from tests.world.agent_folder import Root, answer, append, lines, session, typed

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


def tokens() -> tuple[int, int]:
    found = RequestUsage.objects.aggregate(i=Sum("input_tokens"), o=Sum("output_tokens"))
    return found["i"] or 0, found["o"] or 0


@pytest.mark.also_on_postgresql
def test_a_session_is_described_by_its_records(root: Root, app: Path) -> None:
    base = {"cwd": str(app), "gitBranch": "main", "version": "2.1.0", "sessionId": "s1"}
    path = root.session(
        app,
        "s1",
        [
            typed("Please fix the tests", **base),
            answer("m1", **base),
            typed("No, use the real database", timestamp="2026-03-02T11:00:00Z", **base),
            {"type": "ai-title", "aiTitle": "Fix the tests"},
            {"type": "a-type-nobody-knows", "data": {"x": [1, None]}},
        ],
    )
    root.discover()
    found = session("s1")
    assert (found.title, found.branch, found.cwd, found.version) == (
        "Fix the tests",
        "main",
        str(app),
        "2.1.0",
    )
    assert (found.lines, found.user_turns, found.assistant_turns, found.corrections) == (5, 2, 1, 1)
    assert found.started_at == dt.datetime(2026, 3, 2, 10, 0, tzinfo=dt.UTC)
    assert found.last_at == dt.datetime(2026, 3, 2, 11, 0, tzinfo=dt.UTC)
    assert (found.size, found.own, found.gone_at) == (path.stat().st_size, False, None)
    assert list(Prompt.objects.values_list("text", "line_no")) == [
        ("Please fix the tests", 1),
        ("No, use the real database", 3),
    ]


def test_lines_that_repeat_a_requests_usage_count_once_by_the_largest(root: Root, app: Path) -> None:
    root.session(app, "s1", [answer("m1", tokens=(10, 1)), answer("m1", tokens=(10, 20)), answer("m2")])
    root.discover()
    assert tokens() == (20, 40)


def test_cache_writes_are_kept_by_lifetime_and_add_up(root: Root, app: Path) -> None:
    record = answer("m1")
    record["message"]["usage"] |= {  # type: ignore[index]  # a dict, as made above
        "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_1h_input_tokens": 100, "ephemeral_5m_input_tokens": 200},
        "cache_read_input_tokens": 7,
    }
    root.session(app, "s1", [record])
    root.discover()
    found = RequestUsage.objects.get()
    assert (found.cache_write_5m_tokens, found.cache_write_1h_tokens, found.cache_read_tokens) == (
        200,
        100,
        7,
    )


@pytest.mark.also_on_postgresql
def test_a_fork_is_a_session_but_what_it_copied_counts_once(root: Root, app: Path) -> None:
    shared = [typed("First"), answer("m1")]
    root.session(app, "s1", [*shared, answer("m2")])
    root.session(app, "s2", [*shared, typed("Second"), answer("m3")])
    root.discover()
    assert Session.objects.count() == 2
    assert session("s1").root_key == session("s2").root_key is not None
    assert tokens() == (30, 60)
    assert sorted(Prompt.objects.values_list("text", flat=True)) == ["First", "Second"]


def test_sub_agents_belong_to_their_session_and_are_none_themselves(root: Root, app: Path) -> None:
    root.session(app, "s1", [typed("Go"), answer("m1")])
    root.session(app, "s1/subagents/agent-a", [answer("m2", isSidechain=True, sessionId="s1")])
    root.session(app, "s1/subagents/deep/agent-b", [answer("m3", isSidechain=True, sessionId="s1")])
    root.session(app, "agent-c", [answer("m4", isSidechain=True, sessionId="s1")])
    report = root.discover()
    assert report.sessions == 1
    found = Session.objects.get()
    assert found.files.filter(kind="subagent").count() == 3
    assert found.requests.count() == 4
    assert found.lines == 2
    assert root.discover().bytes_read == 0


def test_tokens_of_a_sub_agent_count_when_its_session_is_gone(root: Root, app: Path) -> None:
    root.session(app, "s1/subagents/agent-a", [answer("m2", isSidechain=True, sessionId="s1")])
    assert root.discover().sessions == 0
    assert tokens() == (10, 20)
    assert session("s1").gone_at is not None
    root.session(app, "s1", [typed("Go")])
    assert root.discover().sessions == 1
    assert session("s1").gone_at is None
    assert session("s1").files.count() == 2


@pytest.mark.parametrize("sub_agent_first", [True, False])
def test_a_replay_of_a_message_under_a_new_request_counts_once(
    root: Root, app: Path, sub_agent_first: bool
) -> None:
    def main() -> None:
        root.session(app, "s1", [answer("m1", "r1")])

    def sub_agent() -> None:
        root.session(app, "s1/subagents/agent-a", [answer("m1", "r2", isSidechain=True, sessionId="s1")])

    for make in (sub_agent, main) if sub_agent_first else (main, sub_agent):
        make()
        root.discover()
    assert list(RequestUsage.objects.values_list("sidechain", flat=True)) == [False]


def test_two_records_on_one_line_are_both_read(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [])
    glued = lines([typed("One")]).rstrip() + lines([typed("Two")])
    path.write_bytes(glued)
    root.discover()
    assert set(Prompt.objects.values_list("text", flat=True)) == {"One", "Two"}


def test_a_half_written_last_line_is_read_once_it_is_whole(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One")])
    whole = lines([typed("Two")])
    append(path, whole[:40])
    root.discover()
    first = session("s1")
    assert (first.size, first.malformed_lines) == (path.stat().st_size - 40, 0)
    assert Prompt.objects.count() == 1
    append(path, whole[40:])
    report = root.discover()
    assert report.bytes_read == len(whole)
    assert session("s1").size == path.stat().st_size
    assert list(Prompt.objects.values_list("text", "line_no")) == [("One", 1), ("Two", 2)]


def test_a_damaged_line_is_noted_and_its_neighbours_are_read(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One")])
    append(path, b'{"type": "user", "mess\xff\n' + lines([typed("Two")]))
    root.discover()
    assert session("s1").malformed_lines == 1
    (problem,) = TranscriptFile.objects.get().problems
    assert (problem["line"], bool(problem["reason"])) == (2, True)
    assert Prompt.objects.count() == 2


def test_appending_reads_only_what_is_new_and_goes_on_counting(root: Root, app: Path) -> None:
    path = root.session(app, "s1", [typed("One"), answer("m1", tokens=(10, 1))])
    root.discover()
    more = [answer("m1", tokens=(10, 30)), typed("Two")]
    append(path, more)
    assert root.discover().bytes_read == len(lines(more))
    found = session("s1")
    assert (found.lines, found.user_turns, found.assistant_turns) == (4, 2, 1)
    assert tokens() == (10, 30)


def test_writes_to_memory_files_are_found_with_their_place(root: Root, app: Path) -> None:
    result = {"filePath": "/x/memory/fact.md", "originalFile": "Before\n", "content": "After\n"}
    first = typed("Hello")
    root.session(app, "s1", [first, typed("", toolUseResult=result)])
    root.discover()
    assert list(MemoryWrite.objects.values_list("path", "offset")) == [
        ("/x/memory/fact.md", len(lines([first])))
    ]


@pytest.mark.also_on_postgresql
def test_text_that_a_database_cannot_hold_is_kept_as_far_as_it_can(root: Root, app: Path) -> None:
    root.session(app, "s1", [typed("a\0b \ud800 c", gitBranch="x" * 500)])
    root.discover()
    assert Prompt.objects.get().text.startswith("a\ufffdb")
    assert len(session("s1").branch) == 255


def test_absurd_numbers_and_dates_stop_nothing(root: Root, app: Path) -> None:
    far = root.session(
        app, "s1", [typed("Hello", timestamp="9999-12-31T23:59:59Z"), answer("m1", tokens=(10**30, 5))]
    )
    os.utime(far, (14_000_000_000, 14_000_000_000))
    root.session(app, "s2", [answer("m2")])
    root.discover()
    assert RequestUsage.objects.count() == 2
    assert tokens() == (2**53 + 10, 25)
    assert root.discover().bytes_read == 0


@pytest.mark.also_on_postgresql
def test_no_session_ended_after_its_file_was_written_began_before_agents_or_gave_tokens_back(
    root: Root, app: Path
) -> None:
    records = [
        typed("Hello"),
        typed("Later", timestamp="2999-01-01T00:00:00Z"),
        typed("Once", timestamp=12),
        typed("Dead clock", timestamp="1970-01-01T00:00:00.000Z"),
    ]
    root.session(app, "s1", [*records, answer("m1", tokens=(5, -7))])
    root.discover()
    found = session("s1")
    assert (found.started_at, found.last_at) == (dt.datetime(2026, 3, 2, 10, tzinfo=dt.UTC), found.touched_at)
    assert tokens() == (5, 0)


def test_a_file_from_before_agents_says_nothing_of_when_its_session_ended(root: Root, app: Path) -> None:
    os.utime(root.session(app, "s1", [typed("Hello")]), (0, 0))
    root.session(app, "s2", [typed("Ahead", timestamp="2999-01-01T00:00:00Z")])
    os.utime(root.session(app, "s3", [typed("Both", timestamp="2999-01-01T00:00:00Z")]), (0, 0))
    root.discover()
    both = session("s3").last_at
    assert both and both <= timezone.now()
    assert session("s1").last_at == session("s1").started_at == dt.datetime(2026, 3, 2, 10, tzinfo=dt.UTC)
    assert session("s2").last_at == session("s2").started_at == session("s2").touched_at


def test_an_empty_transcript_is_a_session_with_nothing_in_it(root: Root, app: Path) -> None:
    root.session(app, "s1", [])
    report = root.discover()
    assert (report.sessions, report.bytes_read) == (1, 0)
    assert (session("s1").title, session("s1").size) == ("", 0)


def test_a_large_transcript_is_written_in_chunks_with_the_same_result(
    root: Root, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dreams.services.discovery.importing.ROWS_AT_ONCE", 3)
    monkeypatch.setattr("dreams.services.discovery.importing.LINES_AT_ONCE", 2)
    root.session(app, "s1", [record for n in range(10) for record in (typed(f"Text {n}"), answer(f"m{n}"))])
    root.discover()
    assert tokens() == (100, 200)
    assert (session("s1").lines, Prompt.objects.count()) == (20, 10)
    assert root.discover().bytes_read == 0


def test_the_path_of_a_session_is_in_memory_once(
    root: Root, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be a hundred thousand of them until the import ends."""
    again: list[bool] = []
    write = importing.Chunk._put

    def put(chunk: importing.Chunk) -> None:
        write(chunk)
        paths = {owner: owner for owner in chunk._sessions}
        again.extend(owner is not paths[owner] for owner in chunk._ids)

    monkeypatch.setattr(importing.Chunk, "_put", put)
    for number in range(3):
        root.session(app, f"s{number}", [typed("Please fix the tests")])
    root.discover()
    assert again == [False] * 3
