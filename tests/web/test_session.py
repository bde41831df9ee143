"""The transcript reader: turns by offset, jumps to a line, folded tools, and a transcript that is gone."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, settings, strategies as st

from dreams.models import DreamRun, DreamSession, Prompt, Session, TranscriptFile
from dreams.web.pages import session as selector, session_turns
from tests.world import rows as world
from tests.world.cases import each


def _line(kind: str, content: Any, **more: Any) -> str:
    record = {
        "type": kind,
        "timestamp": "2026-03-01T10:00:00Z",
        "message": {"role": kind, "content": content},
        **more,
    }
    return json.dumps(record) + "\n"


def _tool(name: str, given: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": "t1", "name": name, "input": given}]


def _result(content: str, *, failed: bool = False) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": failed}]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


@pytest.fixture
def session(db: None, transcript: Path) -> Session:
    return world.make_session(world.make_project(), path=str(transcript), size=1)


def _text(browser: Client, session: Session, query: str = "") -> str:
    return browser.get(reverse("session", args=[session.pk]) + query).content.decode()


def _lines(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="line-(\d+)"', text)]


def test_only_a_dream_that_came_to_something_is_said_to_have_reviewed_a_session(session: Session) -> None:
    Status = DreamRun.Status
    ended = (Status.KILLED, Status.FAILED, Status.FAILED, Status.COMPLETED)
    runs = [world.make_dream(session.project, status) for status in ended]
    world.make_proposal(session.project, runs[2], partial=True)
    for run in runs:
        DreamSession.objects.create(dream=run, session=session)
    assert list(selector.reviewed_by(session)) == [runs[3], runs[2]]


def test_each_speaker_is_named_and_tools_are_folded(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_text(
        _line("user", "Fix the tests")
        + _line("assistant", [{"type": "thinking", "thinking": "Where is it?"}])
        + _line("assistant", _tool("Bash", {"command": "pytest -q"}))
        + _line("user", _result("1 failed", failed=True))
        + _line("assistant", [{"type": "text", "text": "Done, **all** pass."}], isSidechain=True)
    )
    text = _text(browser, session)
    assert "<b>You</b>" in text
    assert "<b>Agent</b>" in text
    assert "<strong>all</strong>" in text
    assert "<b>Sub-agent</b>" in text
    assert re.search(r"<details[^>]*>\s*<summary>[^<]*<svg.*?pytest -q", text, re.DOTALL)
    assert "Failed:" in text
    assert "Thinking" in text
    assert "<details open" not in text.partition('id="turns"')[2]


def test_nothing_in_a_transcript_becomes_markup(browser: Client, session: Session, transcript: Path) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=y> [x](javascript:z) \u202eabc"
    transcript.write_text(
        _line("user", evil)
        + _line("assistant", [{"type": "text", "text": evil}])
        + _line("assistant", _tool("Bash", {"command": evil}))
        + _line("assistant", _tool(f"Tool {evil}", {}))
        + _line("user", _result(evil))
    )
    text = _text(browser, session)
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert 'href="javascript' not in text
    assert "\u202e" not in text
    assert "⟨U+202E⟩abc" in text


def test_a_secret_that_stands_in_a_transcript_is_not_on_the_page(
    browser: Client, session: Session, transcript: Path
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    transcript.write_text(
        _line("user", f"Use {secret} please")
        + _line("assistant", _tool("Bash", {"command": f"export GITHUB_TOKEN={secret}"}))
        + _line("user", _result(f"GITHUB_TOKEN={secret}"))
    )
    Prompt.objects.create(key=3, session=session, offset=0, line_no=1, text=f"Use {secret} please")
    text = _text(browser, session)
    assert secret not in text
    assert "[redacted:" in text


def test_a_jump_marks_its_line_and_shows_what_led_there(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_text("".join(_line("user", f"Turn {n}") for n in range(1, 301)))
    text = _text(browser, session, "?line=200")
    lines = _lines(text)
    assert 200 in lines
    assert lines[0] == 200 - selector.LINES_BEFORE
    assert len(lines) == selector.LINES_PER_PAGE
    assert re.search(r'class="turn you marked" id="line-200"', text)
    assert text.count("The line you were looking for") == 1


def test_a_jump_beyond_the_end_says_so(browser: Client, session: Session, transcript: Path) -> None:
    transcript.write_text(_line("user", "Only this"))
    text = _text(browser, session, "?line=900")
    assert "Line 900 has nothing to show" in text and _lines(text) == [1]


def test_paging_forward_and_back_meets_every_line_once(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_text("".join(_line("user", f"Turn {n} " + "x" * n) for n in range(1, 151)))
    seen: list[int] = []
    query = ""
    for _ in range(5):
        text = _text(browser, session, query)
        seen += _lines(text)
        later = re.search(r'rel="next" href="([^"]+)"', text)
        if not later:
            break
        query = later.group(1).replace("&amp;", "&")
    assert seen == list(range(1, 151))
    earlier = re.search(r'rel="prev" href="([^"]+)"', text)
    assert earlier
    back = _lines(_text(browser, session, earlier.group(1).replace("&amp;", "&")))
    assert back == list(range(61, 121))


def test_the_agents_own_bookkeeping_is_left_out(browser: Client, session: Session, transcript: Path) -> None:
    noise = json.dumps({"type": "progress", "data": {"output": "a-hook-ran"}}) + "\n"
    transcript.write_text(noise * 200 + _line("user", "At last"))
    text = _text(browser, session)
    assert "At last" in text
    assert "a-hook-ran" not in text


def test_a_long_result_is_capped_and_says_by_how_much(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_text(_line("user", _result("y" * (session_turns.RESULT_CHARS + 500))))
    text = _text(browser, session)
    assert "500 more characters are not shown." in text
    assert "y" * (session_turns.RESULT_CHARS + 1) not in text


def test_odd_lines_never_stop_the_others(browser: Client, session: Session, transcript: Path) -> None:
    transcript.write_bytes(
        b'{"type": "user", "broken\n'
        + b"\xff\xfe\n"
        + b"[1, 2]\n"
        + _line("user", "Still here").encode()
        + b'{"type": "user", "message": {"role": "user", "content": "half'
    )
    text = _text(browser, session)
    assert "Still here" in text
    assert "This line cannot be read" in text


def test_lines_in_a_row_that_cannot_be_read_are_told_once_with_their_number(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_bytes(
        b"\xff\xfe\x00garbage\n" * 30 + _line("user", "Still here").encode() + b"{half\n" * 2
    )
    text = _text(browser, session)
    assert re.findall(r"(This line|\d+ lines in a row) cannot be read", text) == [
        "30 lines in a row",
        "2 lines in a row",
    ]
    assert _lines(text) == [1, 31, 32]
    marked = _text(browser, session, "?line=7")
    assert "marked" in marked and 'id="line-7"' in marked, "the line that a link leads to stays apart"


def test_a_transcript_that_is_gone_still_tells_what_was_typed(
    browser: Client, session: Session, transcript: Path
) -> None:
    Prompt.objects.create(
        key=1, session=session, offset=0, line_no=7, text="Use the container", at=timezone.now()
    )
    text = _text(browser, session)
    assert "no longer on disk" in text
    assert text.count("Use the container") == 2
    assert 'id="line-7"' in text


def test_a_link_in_place_of_a_transcript_is_not_followed(
    browser: Client, session: Session, transcript: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text(_line("user", "Not yours to read"))
    transcript.symlink_to(other)
    text = _text(browser, session)
    assert "Not yours to read" not in text
    assert "cannot be read" in text


def test_a_sub_agents_transcript_is_read_when_it_is_this_sessions(
    browser: Client, session: Session, transcript: Path, tmp_path: Path
) -> None:
    transcript.write_text(_line("user", "Main"))
    side = tmp_path / "agent-1.jsonl"
    side.write_text(_line("user", "Aside"))
    TranscriptFile.objects.create(session=session, path=str(transcript))
    own = TranscriptFile.objects.create(session=session, path=str(side), kind=TranscriptFile.Kind.SUBAGENT)
    foreign = TranscriptFile.objects.create(
        session=world.make_session(session.project), path=str(side), kind=TranscriptFile.Kind.SUBAGENT
    )
    assert "Aside" in _text(browser, session, f"?file={own.pk}")
    assert browser.get(reverse("session", args=[session.pk]) + f"?file={foreign.pk}").status_code == 404


def test_the_outline_jumps_to_what_was_typed(browser: Client, session: Session, transcript: Path) -> None:
    transcript.write_text(_line("user", "First") + _line("user", "Second"))
    Prompt.objects.create(key=2, session=session, offset=10, line_no=2, text="Second")
    assert 'href="?line=2#line-2"' in _text(browser, session)
    for number in range(3, 100):
        Prompt.objects.create(key=number, session=session, offset=number * 10, line_no=number, text="More")
    at_99 = _text(browser, session, "?line=99")
    assert 'class="now"><a href="?line=99#line-99" aria-current="location">' in at_99
    assert "Page 2 of 2" in at_99
    assert "Page 1 of 2" in _text(browser, session)


def test_the_page_says_which_of_what_was_typed_are_the_corrections_that_it_counts(
    browser: Client, session: Session, transcript: Path
) -> None:
    for number, text in enumerate(("Add it", "No, use tabs", "Remember the port", "Stop using mocks")):
        Prompt.objects.create(key=number, session=session, offset=number * 10, line_no=number + 1, text=text)
    Session.objects.update(corrections=2)
    text = _text(browser, session)
    assert 'href="#typed">2 corrections</a>' in text
    marked = re.findall(r'prompt-text">([^<]+)</span>(?:(?!</li>).)*>correction</b>', text, re.DOTALL)
    assert marked == ["No, use tabs", "Stop using mocks"]


def test_a_line_is_not_looked_for_forever_in_a_transcript_that_is_cut_meanwhile(
    transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript.write_text(_line("user", "First"))
    read = os.pread

    def cut_first(fd: int, size: int, offset: int) -> bytes:
        os.truncate(transcript, 0)
        return read(fd, size, offset)

    monkeypatch.setattr(os, "pread", cut_first)
    assert selector.place_of_line(str(transcript), 5) == (0, 1)


@each("query", ["?line=abc", "?from=-1", "?to=99999999999999999999", "?line=0", "?file=x"])
def test_an_address_typed_wrong_shows_the_start(
    browser: Client, session: Session, transcript: Path, query: str
) -> None:
    transcript.write_text(_line("user", "First"))
    assert "First" in _text(browser, session, query)


@pytest.mark.more
@settings(max_examples=25, deadline=None)
@given(lengths=st.lists(st.integers(0, 40), min_size=1, max_size=40), data=st.data())
def test_the_offset_of_a_line_is_found_from_any_known_line(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], data: st.DataObject
) -> None:
    raw = b"".join(b"x" * length + b"\n" for length in lengths)
    starts = [sum(length + 1 for length in lengths[:number]) for number in range(len(lengths))]
    path = tmp_path_factory.mktemp("lines") / "s.jsonl"
    path.write_bytes(raw)
    line = data.draw(st.integers(1, len(lengths) + 9))
    known = data.draw(st.integers(1, len(lengths)))
    found = selector.place_of_line(str(path), line, [(known, starts[known - 1])])
    reached = min(line, len(lengths) + 1)
    assert found == ([*starts, len(raw)][reached - 1], reached)
