"""`questions` and `answer`: the JSON that scripts rely on, and words for a person."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dreams.engines.types import Citation, Edit, Option, Place, Question as Asked
from dreams.models import Question
from tests.world import asking, directory as world
from tests.world.asking import ALPHA
from tests.world.command_line import typed

pytestmark = pytest.mark.django_db(transaction=True)

ASK = asking.asks("project_deploy.md", ALPHA, "The API runs on host beta.")


@pytest.fixture
def command() -> Callable[..., tuple[int, str, str]]:
    """Exit code, stdout and stderr of a command line, bare slugs and all."""

    def run(*words: str) -> tuple[int, str, str]:
        done = typed(*words)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def run(command) -> Callable[..., Any]:
    def as_json(*words: str) -> Any:
        code, out, err = command(*words, "--json")
        assert code == 0, err
        return json.loads(out)

    return as_json


@pytest.mark.not_on_postgresql
def test_a_question_is_listed_with_its_places_and_diffs(tmp_path: Path, monkeypatch, run, command) -> None:
    project = world.make_project(tmp_path)
    made = asking.dream(project, monkeypatch, ASK)
    for name in (made.public_id, project.slug, str(project.pk), project.memory_dir):
        (one,) = run("questions", name)["questions"]
        assert (one["kind"], one["state"]) == ("changed", "open")
        assert one["places"] == [{"path": "project_deploy.md", "line": 6, "text": ALPHA, "session": None}]
        assert [(o["id"], o["label"]) for o in one["options"]] == [
            ("replace", "Replace it"),
            ("keep", "Leave as it is"),
        ]
        assert one["options"][0]["diff"] == (
            "--- a/project_deploy.md\n+++ b/project_deploy.md\n@@ -6,1 +6,1 @@\n"
            f"-{ALPHA}\n+The API runs on host beta.\n"
        )
        assert one["options"][1]["diff"] == ""
    assert "replace: Replace it" in command("questions", project.slug)[1]


def test_the_commit_that_removed_a_file_is_in_the_list_of_questions(
    tmp_path: Path, monkeypatch, run, command
) -> None:
    project, note = world.make_project(tmp_path), "Removed in 3f2a91c, 2 May 2026: Drop the old \x1b[31mAPI"
    cited = Citation("repository", "src/api.py", place="src/api.py", note=note)
    asking.dream(project, monkeypatch, lambda job: replace(ASK(job), kind="gone", citations=(cited,)))
    (one,) = run("questions", project.slug)["questions"]
    assert one["evidence"] == [{"path": "src/api.py", "line": None, "text": "src/api.py", "note": note}]
    out = command("questions", project.slug)[1]
    assert "    src/api.py: Removed in 3f2a91c, 2 May 2026: Drop the old " in out and "\x1b" not in out


def test_where_all_questions_wait_behind_more_none_is_said_to_be_shown(
    tmp_path: Path, monkeypatch, command
) -> None:
    project = world.make_project(tmp_path)
    assert command("questions", project.slug)[1] == "No questions.\n"
    asking.dream(project, monkeypatch, ASK)
    Question.objects.update(asked=False)
    shown = command("questions", project.slug)[1]
    assert shown.startswith(
        "No question is shown yet.\n1 more question: `questions … --more` shows the next."
    )
    assert "replace: Replace it" in command("questions", project.slug, "--all")[1]
    assert command("questions", project.slug)[1] == shown, "that shows it to nobody else"
    assert "replace: Replace it" in command("questions", project.slug, "--more")[1]
    assert "replace: Replace it" in command("questions", project.slug)[1], "it stays shown"


def test_an_answer_is_applied_with_its_dream(tmp_path: Path, monkeypatch, run) -> None:
    project = world.make_project(tmp_path)
    made = asking.dream(project, monkeypatch, ASK)
    question = Question.objects.get().public_id
    done = run("answer", made.public_id, question, "replace")
    assert done["state"] == "waiting" and done["proposal"] and done["operation"]
    assert run("questions", project.slug)["questions"][0]["state"] == "waiting"
    applied = run("apply", made.public_id)
    assert [row["path"] for row in applied["applied"]] == ["project_deploy.md"]
    assert run("questions", made.public_id)["questions"][0]["state"] == "answered"
    run("rollback", done["proposal"])
    assert run("questions", project.slug)["questions"][0]["state"] == "open"


def test_keep_later_and_undo_change_nothing(tmp_path: Path, monkeypatch, run) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    question = Question.objects.get().public_id
    for option, state in (("later", "later"), ("undo", "open"), ("keep", "answered"), ("undo", "open")):
        done = run("answer", project.slug, question, option)
        assert (done["operation"], done["proposal"], done["state"]) == (None, None, state)


@pytest.mark.more
@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("-home-dev-app", "q00000000", "keep"), "`questions -home-dev-app` lists them"),
        (("-home-dev-app", "{}", "merge"), "Choose one of: replace, keep, later"),
        (("-home-dev-app", "{}", "replace", "--row", "other.md"), "has no row other.md"),
        (("-nobody", "{}", "keep"), "No project"),
    ],
)
def test_what_is_unknown_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch, command, words, remedy
) -> None:
    project = world.make_project(tmp_path)
    asking.dream(project, monkeypatch, ASK)
    question = Question.objects.get().public_id
    code, out, err = command("answer", *(word.format(question) for word in words), "--json")
    assert (code, json.loads(out)) == (1, {"error": err.strip()})
    assert remedy in err and "Traceback" not in err


@pytest.mark.more
def test_rows_of_the_index_are_answered_one_by_one(tmp_path: Path, monkeypatch, run) -> None:
    project = world.make_project(tmp_path)

    def ask(job) -> Asked:
        text = world.INDEX
        shorter = text.replace("how tests run", "tests")
        both = shorter.replace("where it runs", "hosts")
        edits = (
            Edit("MEMORY.md", text, shorter, "feedback_testing.md", "demote", "Shortens a row."),
            Edit("MEMORY.md", shorter, both, "project_deploy.md", "demote", "Shortens a row."),
        )
        places = (Place("MEMORY.md", 3, text.splitlines()[2]), Place("MEMORY.md", 4, text.splitlines()[3]))
        return Asked("index", "budget", "The index is full.", places, (Option("demote", "Shorten", edits),))

    asking.dream(project, monkeypatch, ask)
    question = Question.objects.get()
    (listed,) = run("questions", project.slug)["questions"]
    assert listed["options"][0]["rows"] == ["feedback_testing.md", "project_deploy.md"]
    assert [option["id"] for option in listed["options"]] == ["demote", "keep"]
    done = run(
        "answer",
        project.slug,
        question.public_id,
        "demote",
        "--row",
        "project_deploy.md",
        "--confirm-findings",
    )
    run("apply", done["proposal"])
    text = (world.folder(project) / "MEMORY.md").read_text()
    assert "how tests run" in text and "— hosts" in text


@pytest.mark.more
def test_what_is_no_longer_asked_is_on_the_checkup(tmp_path: Path, monkeypatch, run, command) -> None:
    project = world.make_project(tmp_path)
    keeps = [asking.asks("project_deploy.md", ALPHA, "No.", subject=str(number)) for number in range(10)]
    asking.dream(project, monkeypatch, *keeps)
    for question in Question.objects.all():
        run("answer", project.slug, question.public_id, "keep")
    asking.dream(project, monkeypatch, ASK)
    question = Question.objects.get(state="open")
    assert run("questions", project.slug)["no_longer_asked"] == ["changed"]
    assert run("checkup", project.slug)["no_longer_asked"] == [
        {"id": question.public_id, "kind": "changed", "why": question.why}
    ]
    assert "no longer asked" in command("checkup", project.slug)[1]
    assert run("answer", project.slug, question.public_id, "replace")["state"] == "waiting"
