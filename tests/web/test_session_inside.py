"""Looking for words inside a transcript, going to a place in it, and what is folded, linked or only named there."""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given, settings, strategies as st

from dreams.lib.agents.transcripts import search
from dreams.lib.agents.transcripts.turns import Turn, page
from dreams.models import RequestUsage, Session, TranscriptFile
from dreams.services.search.query import fold
from tests.world import rows as world

START = dt.datetime(2026, 3, 1, 10, tzinfo=dt.UTC)


def _line(kind: str, content: Any, minute: int = 0, *, ascii_only: bool = True, **more: Any) -> str:
    at = (START + dt.timedelta(minutes=minute)).isoformat()
    record = {"type": kind, "timestamp": at, "message": {"role": kind, "content": content}, **more}
    return json.dumps(record, ensure_ascii=ascii_only) + "\n"


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


@pytest.fixture
def session(db: None, transcript: Path) -> Session:
    return world.make_session(world.make_project(), path=str(transcript), size=1, started_at=START)


def _text(browser: Client, session: Session, **query: object) -> str:
    return browser.get(reverse("session", args=[session.pk]), query).content.decode()


def _marked(text: str) -> list[int]:
    return [int(number) for number in re.findall(r'marked" id="line-(\d+)"', text)]


def _links(text: str, rel: str) -> list[str]:
    return re.findall(rf'rel="{rel}" data-key="." href="[^"]*line=(\d+)', text)


def test_a_search_leads_to_the_first_match_and_from_one_to_the_next(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_text(
        "".join(_line("user", f"Turn {n}{' with a needle' * (n % 50 == 0)}") for n in range(1, 201))
    )
    first = _text(browser, session, q="NEEDLE")
    assert _marked(first) == [50]
    assert "<mark>needle</mark>" in first
    assert re.search(r"<b>1</b> of\s+<b>4</b> turns with\s", first), "not that only one of four holds it"
    assert (_links(first, "prev"), _links(first, "next")) == ([], ["100"])
    third = _text(browser, session, q="needle", line=150)
    assert (_links(third, "prev"), _links(third, "next")) == (["100"], ["200"])
    between = _text(browser, session, q="needle", line=120)
    assert (_links(between, "prev"), _links(between, "next")) == (["100"], ["150"])


def test_a_match_in_a_folded_result_is_opened(browser: Client, session: Session, transcript: Path) -> None:
    call = [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}]
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "all fine\nthe needle"}]
    transcript.write_text(_line("assistant", call) + _line("user", result) + _line("user", "<b>needle</b>"))
    text = _text(browser, session, q="the needle")
    assert re.search(r'<details class="fold piece" open>.*?the needle', re.sub(r"</?mark>", "", text), re.S)
    assert "<b>needle" not in text


def test_nothing_found_and_a_word_too_short_are_said(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_text(_line("user", "Hello"))
    assert "No turn holds" in _text(browser, session, q="absent")
    assert "at least two characters" in _text(browser, session, q="x")
    transcript.unlink()
    assert "no longer on disk" in _text(browser, session, q="absent")


def test_a_search_that_was_cut_short_says_how_far_it_came_and_goes_on(
    browser: Client, session: Session, transcript: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transcript.write_text("".join(_line("user", f"needle {n}") for n in range(1, 11)))
    monkeypatch.setattr(search, "MAX_HITS", 4)
    first = _text(browser, session, q="needle")
    assert "<b>4 or more</b>" in first
    further = re.search(r'href="\?([^"]*look=(\d+)[^"]*)"', first)
    assert further
    offset, line = int(further[2]), int(re.search(r"look_line=(\d+)", further[1])[1])
    assert page(transcript, offset, 1).turns[0].line == line
    assert _marked(_text(browser, session, q="needle", look=offset, look_line=line)) == [line]


def _is_plain(character: str) -> bool:
    """Not one of the rare ones that fold to two letters ("ß"), or to another form of their own script."""
    folded = fold(character)
    return len(folded) == 1 and (folded.isascii() or character in (folded, folded.upper(), folded.title()))


@pytest.mark.more
@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=2, max_size=6),
        min_size=1,
        max_size=8,
    ),
    ascii_only=st.booleans(),
    data=st.data(),
)
def test_words_are_found_in_every_way_in_which_json_can_write_them(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], ascii_only: bool, data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("t") / "s.jsonl"
    file.write_text("".join(_line("user", f'a "{word}"\n/ b', ascii_only=ascii_only) for word in words))
    sought = fold(data.draw(st.sampled_from(words)))
    if not sought.strip() or not all(map(_is_plain, "".join(words))):
        return

    def holds(turn: Turn) -> bool:
        return sought in fold(turn.text)

    expected = [n for n, word in enumerate(words, 1) if sought in fold(f'a "{word}"\n/ b')]
    found = search.find_within(file, [sought], holds)
    assert [hit.line for hit in found.hits] == expected
    assert found.complete


def test_a_line_is_gone_to_beside_the_words_that_were_searched(
    browser: Client, session: Session, transcript: Path
) -> None:
    transcript.write_text("".join(_line("user", f"Turn {n}", n) for n in range(120)))
    assert _marked(_text(browser, session, line="7")) == [7]
    text = _text(browser, session, line="7", q="Turn 90")
    form = text.partition('class="filters goto"')[2].partition("</form>")[0]
    assert _marked(text) == [7]
    assert 'name="line"' in form and 'name="q" value="Turn 90"' in form


def test_turns_of_a_sub_agent_are_folded_together(
    browser: Client, session: Session, transcript: Path
) -> None:
    aside = [_line("assistant", [{"type": "text", "text": f"Aside {n}"}], isSidechain=True) for n in range(2)]
    aside.insert(0, _line("user", "Explore the parser", isSidechain=True))
    transcript.write_text(_line("user", "Go") + "".join(aside) + _line("user", "Thanks"))
    text = _text(browser, session)
    assert text.count('class="aside-block"') == 1
    assert '<b>Sub-agent</b><span class="soft">3 turns<' in text
    assert "<b>Task</b>" in text
    assert '<details class="fold">' in text
    assert '<details class="fold" open>' in _text(browser, session, line=3)


def test_a_sub_agents_answer_links_to_its_own_transcript(
    browser: Client, session: Session, transcript: Path, tmp_path: Path
) -> None:
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]
    transcript.write_text(_line("user", result, toolUseResult={"agentId": "abc123"}))
    own = TranscriptFile.objects.create(
        session=session, path=str(tmp_path / "agent-abc123.jsonl"), kind=TranscriptFile.Kind.SUBAGENT
    )
    assert f'href="?file={own.pk}"' in _text(browser, session).partition('id="turns"')[2]


def test_pictures_are_named_and_a_compaction_divides(
    browser: Client, session: Session, transcript: Path
) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 40_960}}
    boundary = {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"}
    transcript.write_text(_line("user", [picture]) + json.dumps(boundary) + "\n" + _line("user", "On"))
    text = _text(browser, session)
    assert "A picture (image/png, 30 KB), not shown." in text
    assert 'class="turn-divider"' in text
    assert "AAAA" not in text


def test_tokens_are_told_by_model(browser: Client, session: Session, transcript: Path) -> None:
    transcript.write_text(_line("user", "Hello"))
    for key in (1, 2):
        RequestUsage.objects.create(
            key=key,
            session=session,
            model="a-model",
            input_tokens=1_000,
            cache_read_tokens=9,
            output_tokens=250,
        )
    assert "2.0 k in, 18 from cache, 500 out" in _text(browser, session)
