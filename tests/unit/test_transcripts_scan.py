"""What a scan counts, and that going on later costs and gives the same as reading in one go."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from dreams.lib.agents.transcripts import (
    Batch,
    Cancelled,
    Prompt,
    Reader,
    Scan,
    Summary,
    UsageRow,
    scan,
    uuid_key,
)
from tests.world.cases import each
from tests.world.transcripts import without_replays

T0 = "2026-03-01T10:00:00.000Z"


def user(text: object, uuid: str = "u1", **extra: object) -> dict[str, object]:
    message = {"role": "user", "content": text}
    return {"type": "user", "uuid": uuid, "timestamp": T0, "message": message, **extra}


def answer(message_id: str, output: int, request: str | None = "r1", **extra: object) -> dict[str, object]:
    usage = {"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 5}
    message = {"id": message_id, "role": "assistant", "model": "m", "usage": usage, "content": []}
    uuid = f"{message_id}-{output}"
    return {
        "type": "assistant",
        "uuid": uuid,
        "timestamp": T0,
        "requestId": request,
        "message": message,
        **extra,
    }


def write(path: Path, *records: object) -> Path:
    path.write_bytes(b"".join(json.dumps(r).encode() + b"\n" for r in records))
    return path


def run(path: Path, state: Scan | None = None, **options: object) -> tuple[Scan, list[Batch]]:
    state = state or Scan()
    return state, list(scan(path, state, **options))  # type: ignore[arg-type]


def usage_of(*paths: Path) -> list[UsageRow]:
    return without_replays(row for path in paths for batch in run(path)[1] for row in batch.usage.values())


def prompts_of(path: Path) -> list[Prompt]:
    return [prompt for batch in run(path)[1] for prompt in batch.prompts]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def test_repeated_lines_of_one_request_count_once_with_the_largest_total(file: Path) -> None:
    write(file, answer("a", 1), answer("a", 90), answer("a", 90), answer("b", 7, "r2"))
    assert sorted(row.output for row in usage_of(file)) == [7, 90]


def test_a_request_counts_once_over_forked_files(file: Path, tmp_path: Path) -> None:
    fork = write(tmp_path / "fork.jsonl", answer("a", 90), answer("c", 3, "r3"))
    write(file, answer("a", 90))
    assert sorted(row.output for row in usage_of(file, fork)) == [3, 90]


def test_a_replay_in_a_side_conversation_under_a_new_request_is_left_out(file: Path, tmp_path: Path) -> None:
    side = write(tmp_path / "agent-1.jsonl", answer("a", 200, "other", isSidechain=True))
    write(file, answer("a", 90))
    for order in ((file, side), (side, file)):
        assert [row.output for row in usage_of(*order)] == [90]


def test_lines_without_message_id_count_each(file: Path) -> None:
    one, two = answer("a", 5), answer("a", 6)
    for line in (one, two):
        del line["message"]["id"]  # type: ignore[attr-defined]
    write(file, one, two)
    assert sorted(row.output for row in usage_of(file)) == [5, 6]


def test_usage_that_only_a_progress_line_reports_counts_once(file: Path, tmp_path: Path) -> None:
    inner = answer("a", 9, None)
    write(
        file, {"type": "progress", "data": {"type": "agent_progress", "message": inner}}, {"type": "progress"}
    )
    side = write(tmp_path / "agent-1.jsonl", answer("a", 9, "r", isSidechain=True))
    for files in ((file,), (file, side)):
        assert [row.output for row in usage_of(*files)] == [9]


def test_cache_parts_and_web_searches_are_kept_and_placeholders_left_out(file: Path) -> None:
    line = answer("a", 5)
    line["message"]["usage"] |= {  # type: ignore[index]
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "server_tool_use": {"web_search_requests": 2},
    }
    empty = answer("b", 0)
    empty["message"] |= {"model": "<synthetic>", "usage": {"input_tokens": 0, "output_tokens": 0}}  # type: ignore[operator]
    write(file, line, empty)
    [row] = usage_of(file)
    assert (row.cache_creation, row.cache_creation_1h) == (30, 20)
    assert (row.cache_read, row.web_searches) == (5, 2)
    assert (row.total, row.at) == (50, datetime(2026, 3, 1, 10, tzinfo=UTC))


@each(
    ("written", "read"),
    [(0.0123456, 12_346), (0, 0), ("0.5", None), (-1, None), (1e300, None), (None, None), ({}, None)],
)
def test_the_agents_own_cost_is_read_where_an_early_version_wrote_it(
    file: Path, written: object, read: int | None
) -> None:
    write(file, answer("a", 5) | {"costUSD": written}, answer("b", 5))
    assert [row.agent_micros for row in usage_of(file)] == [read, None]


NOT_TYPED = [
    user("x", isMeta=True),
    user("x", isSidechain=True),
    user("x", isCompactSummary=True),
    user("x", planContent="the plan"),
    user([{"type": "tool_result", "tool_use_id": "t", "content": "x"}], toolUseResult="x"),
    user("[Request interrupted by user for tool use]"),
    user("<local-command-stdout>bye</local-command-stdout>"),
    user(
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"
    ),
    user("<system-reminder>be good</system-reminder>"),
    user("<task-notification>\n<task-id>1</task-id></task-notification>"),
    user(
        "<task-notification>\n<task-id>1</task-id></task-notification>\nFull transcript available at: /tmp/1.output"
    ),
    user("<bash-input>ls</bash-input>"),
    user("Stop hook feedback:\n- tests fail"),
    user("PostToolUse:Edit hook feedback: x"),
    user("This session is being continued from a previous conversation that ran out of context."),
    user("Implement the following plan:\n\n# Plan"),
    {
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "x", "commandMode": "task-notification"},
    },
]


@each("line", NOT_TYPED)
def test_what_was_not_typed_is_no_prompt(file: Path, line: dict[str, object]) -> None:
    assert prompts_of(write(file, line)) == []


@each(
    ("line", "text"),
    [
        (user("plain words"), "plain words"),
        (user([{"type": "text", "text": "see"}, {"type": "image", "source": {"data": "…"}}]), "see"),
        (user("do it <system-reminder>x</system-reminder>now"), "do it now"),
        (user("[Request interrupted by user]\nuse the other file"), "use the other file"),
        (user("<command-name>/init</command-name><command-args>only docs</command-args>"), "only docs"),
        (user("a < b and List<String>"), "a < b and List<String>"),
        (user("lone \ud800 one"), "lone \ufffd one"),
        (
            {"type": "attachment", "uuid": "q", "attachment": {"type": "queued_command", "prompt": "wait"}},
            "wait",
        ),
    ],
)
def test_what_was_typed_is_found_without_its_wrappers(file: Path, line: dict[str, object], text: str) -> None:
    assert [prompt.text for prompt in prompts_of(write(file, line))] == [text]


def test_a_prompt_says_where_it_stands_and_is_known_again_in_a_fork(file: Path) -> None:
    write(file, {"type": "mode"}, user("hello", "abc"))
    [prompt] = prompts_of(file)
    assert (prompt.line, prompt.key) == (2, uuid_key("abc"))
    assert file.read_bytes()[prompt.offset :].startswith(b'{"type": "user"')


@each(
    ("text", "is_one"),
    [
        ("no, use tabs", True),
        ("Actually, that is fine as it was", True),
        ("don't use mocks here", True),
        ("Remember that we deploy on Fridays", False),
        ("Please remember that the nightly export must never run before 04:00", False),
        ("Remember the export.\nNo, it never ran", True),
        ("Remember, I told you to keep the tabs", True),
        ("remember: that's wrong, take it back", True),
        ("remember to sign tags from now on", False),
        ("stop adding comments", True),
        ("there is no cache in the actual code", False),
        ("I don't know what this means", False),
        ("note the remembered value", False),
    ],
)
def test_only_plain_corrections_count_as_corrections(file: Path, text: str, is_one: bool) -> None:
    state, _ = run(write(file, user(text)))
    assert state.summary.corrections == is_one


TITLES = [
    ({"type": "custom-title", "customTitle": "mine"}, "mine"),
    ({"type": "ai-title", "aiTitle": "its"}, "its"),
    ({"type": "last-prompt", "lastPrompt": "last"}, "last"),
    ({"type": "summary", "summary": "sum"}, "sum"),
    (user("typed\nwords"), "typed words"),
    (user("Implement the following plan:\n\n# Plan"), "Implement the following plan: # Plan"),
]


@each("first", range(len(TITLES)))
def test_the_title_is_the_best_one_there_is(file: Path, first: int) -> None:
    write(file, *[line for line, _ in reversed(TITLES[first:])])
    assert run(file)[0].summary.title == TITLES[first][1]


def test_the_summary_knows_times_places_and_turns(file: Path) -> None:
    write(
        file,
        {"type": "progress", "timestamp": "2026-03-01T09:59:59Z", "cwd": "/a"},
        user("hi", sessionId="s", cwd="/a", gitBranch="main", version="2.1.0"),
        answer("a", 1, cwd="/a/b", gitBranch="dev"),
        answer("a", 2, timestamp="2026-03-01T12:00:00+01:00"),
        {"type": "system", "subtype": "compact_boundary"},
        answer("b", 1, timestamp="no time at all"),
    )
    s = run(file)[0].summary
    assert (s.session_id, s.root_uuid, s.version) == ("s", "u1", "2.1.0")
    assert (s.first_at, s.last_at) == (
        datetime(2026, 3, 1, 9, 59, 59, tzinfo=UTC),
        datetime(2026, 3, 1, 11, tzinfo=UTC),
    )
    assert (s.first_cwd, s.last_branch, s.lines) == ("/a", "dev", 6)
    assert (s.user_turns, s.assistant_turns) == (1, 2)


def test_a_file_of_side_conversation_only_is_known_as_such(file: Path) -> None:
    summary = run(write(file, user("go", isSidechain=True, agentId="x"), answer("a", 1, isSidechain=True)))[
        0
    ].summary
    assert (summary.user_turns, summary.assistant_turns) == (0, 0)


def test_writes_to_memory_files_are_noted_by_place_not_by_text(file: Path) -> None:
    memory = "/h/.claude/projects/-x/memory/user_role.md"
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]
    write(
        file,
        user(result, toolUseResult={"filePath": memory, "originalFile": "old text", "oldString": "a"}),
        user(result, toolUseResult={"filePath": memory, "originalFile": None, "type": "create"}),
        user(result, toolUseResult={"filePath": "/h/code/app.md", "originalFile": "x"}),
        user(result, toolUseResult={"filePath": memory, "content": "only read"}),
        user(result, toolUseResult="Error: x"),
        user(result, toolUseResult=[{"type": "text", "text": "x"}]),
    )
    _, [batch] = run(file)
    assert [(w.path, w.line) for w in batch.memory_writes] == [(memory, 1), (memory, 2)]


def test_going_on_reads_only_what_was_appended_and_ends_with_the_same_summary(file: Path) -> None:
    lines = [user("one", "u1"), answer("a", 3), user("no, two", "u2"), answer("b", 4)]
    write(file, *lines[:2])
    state, _ = run(file)
    size = file.stat().st_size
    state.summary = msgspec.json.decode(msgspec.json.encode(state.summary), type=Summary)
    write(file, *lines)
    state, [batch] = run(file, state)
    assert (batch.bytes_read, batch.lines) == (file.stat().st_size - size, 2)
    assert state.summary == run(file)[0].summary


def test_every_batch_leaves_a_state_from_which_nothing_is_lost_or_doubled(file: Path) -> None:
    write(file, *(user(f"text {n}", f"u{n}") for n in range(20)))
    glued = file.read_bytes().replace(b'}\n{"type": "user", "uuid": "u7"', b'}{"type": "user", "uuid": "u7"')
    file.write_bytes(glued)
    for stop_after in range(1, 8):
        state = Scan()
        found: list[int] = []
        for count, batch in enumerate(scan(file, state, batch_lines=3), 1):
            found += [p.key for p in batch.prompts]
            if count == stop_after:
                break
        resumed, batches = run(file, state)
        found += [p.key for b in batches for p in b.prompts]
        assert found == [uuid_key(f"u{n}") for n in range(20)]
        assert resumed.summary.user_turns == 20


def test_a_cancelled_scan_hands_out_what_it_has(file: Path) -> None:
    write(file, *(user(f"text {n}", f"u{n}") for n in range(50)))
    state, seen, calls = Scan(), 0, iter([True, True, False])
    with pytest.raises(Cancelled):
        for batch in scan(file, state, reader=Reader(buffer_bytes=512), progress=lambda _: next(calls)):
            seen += batch.lines
    assert 0 < seen < 50
    _, rest = run(file, state)
    assert seen + sum(batch.lines for batch in rest) == 50


def test_problems_are_counted_and_told(file: Path) -> None:
    file.write_bytes(b"junk\n" + json.dumps(user("x")).encode() + b"\n")
    state, [batch] = run(file)
    assert (state.summary.malformed, [p.line for p in batch.problems]) == (1, [1])


def test_a_session_that_began_with_a_command_is_called_by_it(file: Path) -> None:
    marks = "<command-message>init is analyzing your codebase…</command-message>\n<command-name>/init</command-name>"
    write(file, user(marks))
    assert run(file)[0].summary.title == "/init"
