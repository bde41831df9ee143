"""Questions of the model engine: the tool Ask, its checks, and what of them comes out of a dream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dreams.engines.anthropic import prompt
from dreams.engines.anthropic.questions import PER_SHOWN
from dreams.engines.types import QUESTIONS, QuestionKind
from tests.unit.test_engine_tools import one, toolbox
from tests.world import model as kit
from tests.world.cases import each
from tests.world.model_server import ScriptedReply, Use, say

HOST = "The API runs on host alpha."
NEWER = "No, the API runs on host beta since Monday."
REPLACE = {
    "id": "replace",
    "label": "Use the newer host",
    "edits": [{"path": "/memory/project_deploy.md", "old_string": "host alpha", "new_string": "host beta"}],
}
CHANGED: dict[str, Any] = {
    "kind": "changed",
    "why": "A session names another host than the memory.",
    "places": [
        {"session": "project_deploy.md", "quote": HOST},
        {"session": kit.SESSION, "line": 3, "quote": NEWER},
    ],
    "options": [REPLACE],
}


def test_a_dream_hands_back_its_questions_with_drafted_answers_and_changes_nothing_for_them(
    tmp_path: Path,
) -> None:
    run = kit.dream(tmp_path, [ScriptedReply((Use("Ask", CHANGED),)), say("Asked about the host.")])
    assert run.error == "" and run.outcome is not None
    assert run.outcome.edits == []
    assert run.files["project_deploy.md"].decode() == kit.DEPLOY
    (asked,) = run.outcome.questions
    assert (asked.kind, asked.why) == ("changed", "A session names another host than the memory.")
    older, newer = asked.places
    assert (older.path, older.line_no, older.text, older.session_pk) == ("project_deploy.md", 6, HOST, None)
    assert (newer.line_no, newer.text, newer.session_pk, newer.role) == (3, NEWER, 1, "user")
    replace, keep = asked.options
    assert (replace.id, replace.label, keep.id, keep.edits) == ("replace", "Use the newer host", "keep", ())
    assert keep.label == "Leave as it is", "its name in docs/reviewing.md"
    (edit,) = replace.edits
    assert edit.before == kit.DEPLOY and edit.after == kit.DEPLOY.replace("alpha", "beta")
    assert (edit.kind, edit.operation, edit.citations) == ("update", "replace", asked.citations)
    assert [fate.text for fate in edit.fates] == [HOST]


def test_the_tool_is_described_with_the_answers_of_each_kind(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, [say("Nothing.")])
    (tool,) = [tool for tool in run.server.calls[0].body["tools"] if tool["name"] == "Ask"]
    schema = tool["input_schema"]["properties"]
    assert schema["kind"]["enum"] == list(QUESTIONS)
    told = schema["options"]["items"]["properties"]["id"]["description"]
    assert all(f"{kind}: {', '.join(answers)}" in told for kind, answers in QUESTIONS.items())
    rows = dict(prompt.static_sections())["6_asking.md"].splitlines()
    for kind, answers in QUESTIONS.items():
        row = next(row for row in rows if row.startswith(f"| `{kind}` |"))
        assert all(f"`{answer}`" in row for answer in answers), (kind, answers)


def test_without_wanted_questions_there_is_no_such_tool(tmp_path: Path) -> None:
    tools = Use("Ask", CHANGED), Use("Read", {"file_path": "/memory/project_deploy.md"})
    run = kit.dream(tmp_path, [ScriptedReply(tools), say("Done.")], questions_per_dream=0)
    assert run.outcome is not None and run.outcome.questions == []
    assert "Ask" not in [tool["name"] for tool in run.server.calls[0].body["tools"]]
    assert "There is no tool 'Ask'" in str(run.report.turns[1].tools[0]["output"])


def changed(**more: Any) -> dict[str, Any]:
    return {**CHANGED, **more}


def option(**more: Any) -> dict[str, Any]:
    return changed(options=[{**REPLACE, **more}])


def edits(*given: dict[str, Any]) -> dict[str, Any]:
    return option(edits=list(given))


@each(
    ("given", "why"),
    [
        (changed(kind="guess"), "`kind` must be one of"),
        (changed(kind=["changed"]), "`kind` must be one of"),
        (changed(why=" "), "`why` is missing"),
        (changed(places=[]), "`places` must be a list"),
        (changed(places=[{"session": "project_deploy.md", "quote": "host gamma"}]), "could not be found"),
        (changed(places=[{"session": "missing.md", "quote": HOST}]), "could not be found"),
        (changed(places=[{"session": kit.SESSION, "quote": NEWER}]), "at least one memory"),
        (changed(citations=[{"session": kit.SESSION, "quote": "never said"}]), "could not be found"),
        (changed(citations="x"), "`citations` must be a list"),
        (changed(options=[]), "at least one answer"),
        (changed(options=[{"id": "keep", "label": "Keep"}]), "at least one answer"),
        (changed(options="replace"), "`options` must be a list"),
        (changed(options=[REPLACE, REPLACE]), "each at most once"),
        (option(id="merge"), "The answers to `changed` are replace, keep, history"),
        (option(id="later"), "The answers to `changed`"),
        (option(id=["replace"]), "The answers to `changed`"),
        (option(label=""), "`label` is missing"),
        (option(edits=[]), "`keep` changes nothing"),
        (option(edits="x"), "must be a list"),
        (option(id="keep"), "`keep` changes nothing"),
        (
            edits({"path": "/memory/project_deploy.md", "old_string": "gamma", "new_string": "x"}),
            "does not appear",
        ),
        (edits({"path": "/etc/passwd", "content": "x"}), "is not below /memory"),
        (edits({"path": "/memory/logs/2026.md", "content": "x"}), "is a log"),
        (edits({"path": "/memory/project_deploy.md", "content": "new"}), "You have not read"),
        (edits({"path": "/memory/project_deploy.md", "delete": True}), "You have not read"),
        (edits({"path": "/memory/MEMORY.md", "delete": True}), "cannot be removed"),
    ],
)
def test_what_is_not_right_is_an_ordinary_answer_and_no_question(
    tmp_path: Path, given: dict[str, Any], why: str
) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        result = one(box, "Ask", **given)
        assert result.refused and why in result.block["content"]
        assert box.questions.asked == [] and box.writer.edits == []


def test_each_answer_is_drafted_on_the_memories_as_the_dream_found_them(tmp_path: Path) -> None:
    history = {
        "id": "history",
        "label": "Keep as history",
        "edits": [
            {"path": "/memory/project_deploy.md", "old_string": "runs on", "new_string": "ran on"},
            {
                "path": "/memory/project_deploy.md",
                "old_string": "ran on host",
                "new_string": "once ran on host",
            },
        ],
    }
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        assert not one(box, "Ask", **changed(options=[history, REPLACE])).refused
        (asked,) = box.questions.asked
        assert [option.id for option in asked.options] == ["replace", "keep", "history"]
        assert [edit.before for edit in asked.options[0].edits] == [kit.DEPLOY]
        first, second = asked.options[2].edits
        assert first.before == kit.DEPLOY and first.after == second.before
        assert "once ran on host alpha" in (second.after or "")


def test_an_answer_gives_no_reason_for_what_it_removes_from_a_memory_that_the_question_does_not_name(
    tmp_path: Path,
) -> None:
    """“Use the newer host” may not take another memory with it unseen: its lines are for the person to confirm."""
    more = {"path": "/memory/feedback_testing.md", "delete": True}
    claim = {"text": "Use make reset before a run.", "fate": "stated", "note": "It goes with the host."}
    both = {**REPLACE, "edits": [*REPLACE["edits"], more], "removed": [claim]}
    cited = [{"session": "feedback_testing.md", "quote": "Use make reset before a run."}]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        box.writer.saw("feedback_testing.md")
        assert not one(box, "Ask", **changed(options=[both], citations=cited)).refused
        host, testing = box.questions.asked[0].options[0].edits
    assert [fate.text for fate in host.fates] == [HOST]
    assert testing.after is None and testing.fates == ()


def test_a_question_about_a_line_that_the_dream_changes_is_dropped_and_the_model_is_told(
    tmp_path: Path,
) -> None:
    edit = {
        "path": "/memory/project_deploy.md",
        "old_string": "host alpha",
        "new_string": "host beta",
        "reason": "A session says so.",
        "citations": [{"session": kit.SESSION, "quote": NEWER}],
    }
    calls = Use("Ask", CHANGED), Use("Edit", edit), Use("Ask", CHANGED)
    run = kit.dream(tmp_path, [ScriptedReply(calls), say("Moved.")])
    assert run.outcome is not None
    assert len(run.outcome.edits) == 1 and run.outcome.questions == []
    _, moved, again = run.server.calls[1].body["messages"][-1]["content"]
    assert moved["content"].endswith(f"That drops your question “{CHANGED['why']}”.")
    assert again["content"].startswith("Not done: You changed that line in this dream")


def test_the_same_statements_are_asked_about_once(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        assert not one(box, "Ask", **CHANGED).refused
        again = one(box, "Ask", **changed(why="In other words."))
        assert again.refused and "asked already" in again.block["content"]


def test_no_more_questions_are_kept_than_can_be_shown_in_a_few_goes(tmp_path: Path) -> None:
    lines = [f"Server {number} has {number} disks." for number in range(1, 6)]
    files = {
        **kit.FILES,
        "servers.md": "---\ntype: project\n---\n\n" + "".join(f"- {line}\n" for line in lines),
    }
    with kit.job(tmp_path, files, questions_per_dream=1) as job:
        box = toolbox(job)
        for line in lines:
            gone = {"path": "/memory/servers.md", "old_string": f"- {line}\n", "new_string": ""}
            one(
                box,
                "Ask",
                kind="gone",
                why="It is no longer in the inventory.",
                places=[{"session": "servers.md", "quote": line}],
                options=[{"id": "remove", "label": "Remove it", "edits": [gone]}],
            )
        assert len(box.questions.asked) == PER_SHOWN


def test_something_said_in_passing_is_asked_about_with_a_new_memory_as_its_answer(tmp_path: Path) -> None:
    new = {"path": "/memory/feedback_linter.md", "content": "---\ntype: feedback\n---\n\nRun the linter.\n"}
    learn = {"id": "learn", "label": "Remember it", "edits": [new]}
    places = [{"session": kit.SESSION, "quote": kit.WISH}]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        assert not one(
            box, "Ask", kind="learn", why="Perhaps for later.", places=places, options=[learn], usefulness=0.9
        ).refused
        (asked,) = box.questions.asked
        (made,) = asked.options[0].edits
        assert (made.before, made.kind, asked.weight) == (None, "learn", 0.9)
        assert "feedback_linter.md" not in job.workspace.paths()


def test_each_row_of_the_index_is_an_operation_of_its_own(tmp_path: Path) -> None:
    rows = [
        "- [Testing](feedback_testing.md) — how tests run",
        "- [Deploy](project_deploy.md) — where it runs",
    ]
    shorter = [
        {"path": "/memory/MEMORY.md", "old_string": row, "new_string": row.partition(" — ")[0]}
        for row in rows
    ]
    demote = {"id": "demote", "label": "Shorten the selected rows", "edits": shorter}
    places = [{"session": "MEMORY.md", "quote": row} for row in rows]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        assert not one(
            box, "Ask", kind="index", why="The index is too long.", places=places, options=[demote]
        ).refused
        made = box.questions.asked[0].options[0].edits
        assert [edit.operation for edit in made] == ["feedback_testing.md", "project_deploy.md"]
        assert [edit.before for edit in made] == [kit.INDEX, kit.INDEX]
        odd = {
            **demote,
            "edits": [{"path": "/memory/MEMORY.md", "old_string": "# Memory", "new_string": "#"}],
        }
        assert one(box, "Ask", kind="index", why="Again.", places=places[:1], options=[odd]).refused


def test_a_secret_in_the_words_of_a_question_is_cut_out(tmp_path: Path) -> None:
    key = "ghp_" + "a1B2c3D4e5" * 4
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        one(box, "Ask", **changed(why=f"The session has {key}."))
        assert key not in box.questions.asked[0].why


@each("kind", QUESTIONS)
def test_every_kind_offers_to_leave_it_as_it_is(kind: QuestionKind) -> None:
    assert "keep" in QUESTIONS[kind] and "later" not in QUESTIONS[kind]


def test_pages_have_a_word_for_each_kind() -> None:
    from dreams import models

    assert set(models.Question.Kind.values) == set(QUESTIONS)
