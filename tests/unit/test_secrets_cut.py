"""Where a text is too long, no secret is cut in half: half of one is not recognised, and would be stored or sent."""

from __future__ import annotations

import json
from pathlib import Path

from dreams.engines.handover import sections
from dreams.lib.agents import transcripts
from dreams.lib.agents.claude_code import history
from dreams.lib.agents.transcripts.tasks import Task
from dreams.lib.agents.transcripts.turns import TOOL_CAP
from dreams.lib.agents.transcripts.typed_prompts import TEXT_CAP, TITLE_CAP, plain, title_of
from dreams.lib.files.text import quoted
from dreams.lib.secrets.redact import LONGEST, cut, redact
from tests.world.agent_folder import Record, answer, lines
from tests.world.cases import each

# Made from parts: no file may hold what looks like a live credential.
TOKEN = "ghp_" + "q7Lw2ZxN9cV4bR1tY6uK8pM3sD5fH0jAeGiO"
HALF = TOKEN[:16]


def across(most: int) -> str:
    """A text of words with the token over the place where it is cut."""
    words = "word " * (most // 5 + 1)
    return f"{words[: most - len(HALF) - 1]} {TOKEN} {words}"


@each("most", [50, 300, LONGEST, 3 * LONGEST])
def test_a_cut_leaves_out_the_secret_that_it_would_halve_and_keeps_all_else(most: int) -> None:
    long = across(most)
    assert cut(long, most) == long[: most - len(HALF)]
    assert cut(long, len(long)) == long and cut("a " * most, most) == ("a " * most)[:most]
    assert cut(f"{TOKEN} {'a ' * most}", most).startswith(TOKEN)


def test_a_title_says_that_it_was_cut() -> None:
    assert title_of("a" * TITLE_CAP) == "a" * TITLE_CAP
    assert title_of("a " * TITLE_CAP) == ("a " * TITLE_CAP)[: TITLE_CAP - 1] + "…"
    assert len(title_of("a" * 9 * TITLE_CAP)) == TITLE_CAP


def test_titles_tasks_and_prompts_have_no_half_secret() -> None:
    for made, most in ((title_of, TITLE_CAP), (plain, TEXT_CAP)):
        found = made(across(most))
        assert found and len(found) > most / 2 and HALF not in found


def test_what_is_read_of_a_transcript_and_of_the_prompt_history_has_no_half_secret(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    task: Record = {
        "type": "tool_use",
        "id": "c",
        "name": "TodoWrite",
        "input": {"todos": [{"content": across(TITLE_CAP)}]},
    }
    shown: Record = {"type": "tool_result", "tool_use_id": "c", "content": across(TOOL_CAP)}
    records = [
        {**answer(""), "message": {"role": "assistant", "content": [block]}} for block in (task, shown)
    ]
    path.write_bytes(lines(records))
    scan = transcripts.Scan()
    list(transcripts.scan(path, scan))
    [kept] = scan.summary.tasks.unfinished() if scan.summary.tasks else list[Task]()
    [_, turn] = transcripts.page(path, 0, 10).turns
    pasted = {"1": {"id": 1, "type": "text", "content": across(history.INLINE_CHARS)}}
    entry = {"display": across(history.TEXT_CHARS), "pastedContents": pasted, "timestamp": 1, "project": "/w"}
    (tmp_path / history.FILE).write_text(json.dumps(entry) + "\n")
    with (tmp_path / history.FILE).open("rb") as file:
        [prompt] = history.History(file.fileno()).entries()
    for text in (kept.subject, turn.parts[0].text, prompt.display, prompt.pastes[0].text):
        assert len(text) > 200 and HALF not in text


def test_a_section_of_notes_has_no_half_secret() -> None:
    assert HALF not in sections.shortened(across(900), 900 + len(sections.SHORTENED) + 6)


def test_a_quotation_that_is_cut_has_no_half_of_a_secret() -> None:
    """It is cut before a reason is stored, and secrets are taken out then."""
    for before in range(20, 60):
        shown = redact(quoted(f"{'x' * before} the token is {TOKEN} now", 60))
        assert "ghp_" not in shown and shown.startswith("“x") and len(shown) <= 90, shown
    assert quoted("x" * 200, 60) == f"“{'x' * 60}”" and quoted("Two words.", 9) == "“Two words”"
    for before in range(20, 60):
        assert "ghp_" not in redact(quoted(f"{'令' * before}{TOKEN}就是", 60)), "words without spaces"
