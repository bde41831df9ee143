"""A dream of the model engine over real HTTP: what is asked, what is done, what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from dreams.engines.anthropic.loop import BROKE_OFF
from dreams.engines.anthropic.tools import open_tools
from dreams.engines.types import EngineTurn
from tests.world import model as kit
from tests.world.model_server import ScriptedReply, Text, Think, Use, say


def test_a_dream_reads_writes_with_evidence_and_ends_with_its_summary(tmp_path: Path) -> None:
    run = kit.dream(
        tmp_path,
        [
            ScriptedReply(
                (Use("Phase", {"name": "orient"}), Use("Read", {"file_path": "/memory/feedback_testing.md"}))
            ),
            ScriptedReply((Think("Now write."), Text("There is a wish."), kit.learn())),
            say("Learnt one rule about the linter."),
        ],
    )
    assert run.error == "" and run.outcome is not None
    assert run.outcome.summary == "Learnt one rule about the linter."
    (edit,) = run.outcome.edits
    assert (edit.path, edit.before, edit.kind) == ("feedback_linter.md", None, "learn")
    (cited,) = edit.citations
    assert cited.found and cited.role == "user" and cited.line_no == 2 and cited.session_pk == 1
    assert run.files["feedback_linter.md"].decode() == edit.after
    assert run.report.tools == ["Phase", "Read", "Write"]
    assert run.outcome.usage.requests == 3 and run.outcome.usage.cost_usd
    wrote, work = run.report.turns[2].counts, run.report.turns[2].work
    assert (wrote["tools"], work.lines_added, work.lines_removed) == (1, 6, 0)
    assert run.report.turns[2].edits == (edit,)
    assert "refused" not in wrote and "retries" not in wrote
    thought = [
        block for block in run.server.calls[2].body["messages"][-2]["content"] if block["type"] == "thinking"
    ]
    assert thought == [{"type": "thinking", "thinking": "Now write.", "signature": "c2lnbmF0dXJl"}]


def test_a_turn_that_could_not_be_kept_is_told_again_with_its_edits_and_tokens(tmp_path: Path) -> None:
    """A busy database, say. What was told is told once, and what was not is not lost."""

    class Busy(kit.Watched):
        failed = False

        def turn(self, turn: EngineTurn) -> None:
            if turn.edits and not self.failed:
                self.failed = True
                raise OSError("busy")
            super().turn(turn)

    report = Busy()
    with pytest.raises(OSError, match="busy"):
        kit.dream(tmp_path, [ScriptedReply((kit.learn(),)), say("Done.")], report=report)
    [last] = [turn for turn in report.turns if turn.edits]
    assert last.usage.requests == 1 and last.work.lines_added == 6
    assert last.text == BROKE_OFF


def test_calls_of_one_turn_run_in_order_and_their_times_add_up_to_the_time_in_tools(tmp_path: Path) -> None:
    reads = [Use("Bash", {"command": f"cat /memory/*.md | sort -r | head -{n}"}) for n in range(1, 31)]
    writes = [kit.learn(f"feedback_{number}.md") for number in range(3)]
    turn = ScriptedReply((*reads, *writes, Use("Read", {"file_path": "/memory/feedback_2.md"})))
    run = kit.dream(tmp_path, [turn, say("Done.")], open_tools=open_tools)
    assert run.error == "" and run.outcome is not None
    answers = [str(block["content"]) for block in run.server.calls[1].body["messages"][-1]["content"]]
    assert [answer.count("\n") for answer in answers[:3]] == [3, 4, 5], "a line more each, between its tags"
    assert "before every commit" in answers[-1], "what was written before it"
    told = run.report.turns[1]
    assert sum(int(str(tool["ms"])) for tool in told.tools) <= told.work.tool_ms


def test_a_quote_that_does_not_stand_there_is_told_at_once_kept_and_marked(tmp_path: Path) -> None:
    wrong = kit.learn(citations=[{"session": kit.SESSION, "line": 2, "quote": "Never run the linter."}])
    run = kit.dream(tmp_path, [ScriptedReply((wrong,)), say("Done.")])
    (answer,) = run.server.calls[1].body["messages"][-1]["content"]
    assert answer["type"] == "tool_result" and "feedback_linter.md is made." in answer["content"]
    assert "“Never run the linter.” does not appear in" in answer["content"]
    assert run.outcome is not None
    ((cited,),) = [edit.citations for edit in run.outcome.edits]
    assert (cited.found, cited.quote, cited.line_no) == (False, "Never run the linter.", 2)
