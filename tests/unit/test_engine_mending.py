"""What the checks find is told to the model once, over real HTTP, when it says that it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dreams.engines.types import Edit, Problem
from tests.world import model as kit
from tests.world.model_server import ScriptedReply, Use, say

LOSS = Problem(
    "unexplained-loss", "“A rule” no longer appears anywhere.", "Put it back.", "feedback_testing.md", 7, True
)


class Checker:
    """Says `answers` one after the other, the last again and again; keeps what it was asked about."""

    def __init__(self, *answers: list[Problem]) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []

    def __call__(self, edits: Sequence[Edit]) -> Sequence[Problem]:
        self.asked.append(len(edits))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def test_a_model_that_is_told_of_a_loss_goes_on_and_mends_it(tmp_path: Path) -> None:
    checks = Checker([LOSS], [])
    script = [
        ScriptedReply((kit.learn(),)),
        say("Done."),
        ScriptedReply((kit.learn("feedback_second.md"),)),
        say("Mended."),
    ]
    run = kit.dream(tmp_path, script, examine=checks)
    assert run.error == "" and run.outcome is not None
    assert run.outcome.summary == "Mended."
    assert {edit.path for edit in run.outcome.edits} == {"feedback_linter.md", "feedback_second.md"}
    told = run.server.calls[2].body["messages"][-1]
    assert told["role"] == "user"
    text = "\n".join(block["text"] for block in told["content"] if block["type"] == "text")
    assert (
        "1. Must be fixed (feedback_testing.md, line 7): “A rule” no longer appears anywhere. Put it back."
        in text
    )
    assert "The checks found 1 problem, which the model was asked to fix." in run.report.text


def test_it_is_told_once_whatever_it_leaves(tmp_path: Path) -> None:
    checks = Checker([LOSS])
    run = kit.dream(
        tmp_path, [ScriptedReply((kit.learn(),)), say("Done."), say("It is right as it is.")], examine=checks
    )
    assert run.outcome is not None and run.outcome.summary == "It is right as it is."
    assert checks.asked == [1]


def test_nothing_is_checked_where_nothing_was_changed(tmp_path: Path) -> None:
    checks = Checker([LOSS])
    run = kit.dream(tmp_path, [kit.READ, say("Nothing to do.")], examine=checks)
    assert run.outcome is not None and checks.asked == []


def test_hundreds_of_problems_are_told_in_bounds_and_markup_in_them_is_text(tmp_path: Path) -> None:
    many = [Problem("reworded", f"{'x' * 900} </transcript> {n}", "Look.", "a.md", n) for n in range(1, 300)]
    run = kit.dream(
        tmp_path, [ScriptedReply((kit.learn(),)), say("Done."), say("Left.")], examine=Checker(many)
    )
    text = run.server.calls[2].body["messages"][-1]["content"][0]["text"]
    assert len(text) < 20_000
    assert "more of these kinds." in text


def test_a_remedy_is_told_once(tmp_path: Path) -> None:
    many = [replace(LOSS, line_no=number) for number in range(1, 6)]
    run = kit.dream(
        tmp_path, [ScriptedReply((kit.learn(),)), say("Done."), say("Left.")], examine=Checker(many)
    )
    text = run.server.calls[2].body["messages"][-1]["content"][0]["text"]
    assert (text.count(LOSS.message), text.count(LOSS.remedy)) == (5, 1)


def test_the_limit_on_turns_holds_while_mending_too(tmp_path: Path) -> None:
    mends = [ScriptedReply((kit.learn(f"feedback_{number}.md"),)) for number in range(9)]
    run = kit.dream(
        tmp_path,
        [ScriptedReply((kit.learn(),)), say("Done."), *mends],
        examine=Checker([LOSS]),
        max_turns=6,
    )
    assert run.outcome is None and "all its 6 turns" in run.error


def test_without_room_to_mend_finished_work_is_not_put_at_risk(tmp_path: Path) -> None:
    checks = Checker([LOSS])
    run = kit.dream(tmp_path, [ScriptedReply((kit.learn(),)), say("Done.")], examine=checks, max_turns=4)
    assert run.outcome is not None and run.outcome.summary == "Done." and checks.asked == []


def test_a_limit_met_before_anything_was_mended_leaves_the_work_as_it_was(tmp_path: Path) -> None:
    looks = [ScriptedReply((Use("Read", {"file_path": "/memory/MEMORY.md"}),))] * 9
    run = kit.dream(
        tmp_path,
        [ScriptedReply((kit.learn(),)), say("Learnt one rule."), *looks],
        examine=Checker([LOSS]),
        max_turns=6,
    )
    assert run.error == "" and run.outcome is not None and run.calls == 6
    assert run.outcome.summary == "Learnt one rule." and len(run.outcome.edits) == 1
    assert "the work stays as it was" in run.report.text
