"""What the agent sums up and a person agrees to at once is the person's word; what is only ordered, reported or doubted is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.world.rules import Dreamt, conversation, dream, memory

LINES = (
    "Parcels are labelled with Zebrix.",
    "The sorter listens on port 7100.",
    "Stocktaking is on Mondays at 06:00.",
    "Labels are kept for 90 days.",
)
SUMMED_UP = "So from now on parcels are labelled with Labelo, not Zebrix."


def after(folder: Path, *turns: str) -> Dreamt:
    """A dream over a talk that begins with a greeting; the agent's turn is the first of `turns`."""
    files = {
        "depot.md": memory("".join(f"- {line}\n" for line in LINES), name="depot", description="the depot"),
        "MEMORY.md": "- [Depot](depot.md) — the depot\n",
    }
    return dream(folder, files, [conversation(folder / "talk.jsonl", "good morning", *turns)])


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        "Exactly.",
        "right, do that",
        "yep, that's right",
        "yes, Labelo",
        "yes, since monday",
        "yes, and also fix the failing test",
        "Correct! Now run the tests please",
        "yes. can you update the docs too?",
    ],
)
def test_an_answer_that_keeps_nothing_back_makes_a_summary_the_persons_word(
    tmp_path: Path, answer: str
) -> None:
    dreamt = after(tmp_path, SUMMED_UP, answer)
    assert "- Parcels are labelled with Labelo.\n" in dreamt.text("depot.md")


@pytest.mark.parametrize(
    ("turn", "now"),
    [
        ("So the sorter listens on port 7200 now?", "port 7200."),
        ("Understood: stocktaking is on Fridays now, not on Mondays.", "on Fridays at 06:00."),
        ("Just to confirm: your labels are kept for 60 days now, not 90 days. Is that right?", "for 60 days."),
        ("I looked at the depot first.\n\nSo the sorter listens on port 7200 now, right?", "port 7200."),
        ("So the sorter listens\non port 7200 now?", "port 7200."),
        ("To sum up:\n\n- the sorter listens on port 7200 now\n- labels are kept for 60 days now\n\nCorrect?", "60 days."),
    ],
)  # fmt: skip
def test_a_summary_is_found_in_the_ways_in_which_it_is_held_out(tmp_path: Path, turn: str, now: str) -> None:
    assert now in after(tmp_path, turn, "yes").text("depot.md")


def test_the_evidence_shows_the_words_of_the_agent_as_such_and_the_answer_behind_them(tmp_path: Path) -> None:
    (edit,) = after(tmp_path, SUMMED_UP, "yes").edits
    agent, person = edit.citations
    assert (agent.role, agent.quote, agent.line_no) == ("assistant", SUMMED_UP, 2)
    assert (person.role, person.quote, person.line_no) == ("user", "yes", 3)
    assert agent.offset is not None
    assert person.offset is not None
    assert agent.offset < person.offset
    assert edit.reason.startswith("You agreed to this: “So from now on")


@pytest.mark.parametrize(
    "answer",
    [
        "yes but only for the small ones",
        "maybe",
        "yes, probably",
        "yes for now",
        "yes...",
        "right?",
        "yes, Zebrix",
        "yes, starting next month",
        "exactly what I was afraid of",
        "correct me if I'm wrong but Zebrix is still there",
        "ok",
        "sounds good",
        "yes please",
        "no",
    ],
)
def test_an_answer_that_keeps_something_back_agrees_to_nothing(tmp_path: Path, answer: str) -> None:
    assert not after(tmp_path, SUMMED_UP, answer).edits


@pytest.mark.parametrize(
    "turn",
    [
        # Orders for this once.
        "Shall I change the sorter to listen on port 7200 in the config?",
        "Labels are to be kept for 60 days instead of 90 days from now on. Proceed?",
        "The plan: the sorter listens on port 7200 now. Does this look right before I start?",
        # The answer is one to something else.
        "So the sorter listens on port 7200 now. Shall I update the docs?",
        "So the sorter listens on port 7200 now? And what about the old one?",
        "So the sorter listens on port 7200 now. Let me know if the tests should run.",
        # Reported, quoted, supposed, or one of several.
        "Done: the sorter listens on port 7200 now.",
        "I moved the sorter from port 7100 to port 7200.",
        "The wiki says that the sorter listens on port 7200 now. Is that right?",
        "```\nthe sorter listens on port 7200 now\n```\nIs that right?",
        "> The sorter listens on port 7200 now.\n\nIs that right?",
        "Should I take it that\nthe sorter listens on port 7200 now?",
        "- only in a demo:\n  the sorter listens on port 7200 now\n\nCorrect?",
        "Imagine the following. The sorter listens on port 7200 now. Is that right?",
        "The sorter listens on port 7200 now, or 7300. Right?",
        "So the sorter of the test rig listens on port 7200 now?",
    ],
)
def test_a_yes_to_an_order_a_report_or_something_else_confirms_no_fact(tmp_path: Path, turn: str) -> None:
    assert not after(tmp_path, turn, "yes").edits


def test_the_next_prompt_takes_back_what_was_agreed_to(tmp_path: Path) -> None:
    assert not after(tmp_path, SUMMED_UP, "yes", "All right.", "no wait, that was another depot").edits


def test_what_was_agreed_to_is_learnt_where_the_person_asks_for_that(tmp_path: Path) -> None:
    turn = "So every pallet gets a blue sticker before it leaves the hall?"
    learnt = after(tmp_path, turn, "yes, remember that")
    assert any("every pallet gets a blue sticker" in learnt.text(path) for path in learnt.after)
    (tmp_path / "other").mkdir()
    assert not after(tmp_path / "other", turn, "yes").edits


def test_a_transcript_that_is_gone_or_was_written_anew_confirms_nothing(tmp_path: Path) -> None:
    talk = conversation(tmp_path / "talk.jsonl", "good morning", SUMMED_UP, "yes")
    files = {"depot.md": memory(f"- {LINES[0]}\n"), "MEMORY.md": "- [Depot](depot.md)\n"}
    talk.path.write_bytes(talk.path.read_bytes()[7:])
    for folder in ("anew", "gone"):
        (tmp_path / folder).mkdir()
        assert not dream(tmp_path / folder, files, [talk]).operations("update")
        talk.path.unlink(missing_ok=True)
