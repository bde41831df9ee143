"""The demo's model plays a believable dream: it writes what was asked for, with evidence, and not what is known."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from dreams.dev.fake_server.scripted_model import Wish
from dreams.engines.anthropic.probe import probe
from dreams.engines.types import Problem
from tests.world import model as kit
from tests.world.cases import each
from tests.world.model_server import NAMED, DemoModel, ModelServer


def test_a_wish_becomes_a_memory_and_a_row_that_stand_or_fall_together(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, DemoModel())
    assert run.error == "" and run.outcome is not None
    assert [(edit.path, edit.operation) for edit in run.outcome.edits] == [
        ("feedback_run_the_linter_before_every_commit.md", "feedback_run_the_linter_before_every_commit.md"),
        ("MEMORY.md", "feedback_run_the_linter_before_every_commit.md"),
    ]
    assert all(cited.found and cited.role == "user" for edit in run.outcome.edits for cited in edit.citations)
    assert not any(tool["refused"] for turn in run.report.turns for tool in turn.tools)
    assert [turn.phase for turn in run.report.turns] == [
        "orient",
        "orient",
        "gather",
        "consolidate",
        "consolidate",
    ]


def test_what_is_known_is_not_written_again(tmp_path: Path) -> None:
    known = {**kit.FILES, "feedback_linter.md": "Run the linter before every commit.\n"}
    run = kit.dream(tmp_path, DemoModel(), files=known)
    assert run.outcome is not None and run.outcome.edits == [] and "change nothing" in run.outcome.summary


def test_it_leaves_what_the_checks_find_to_the_person_and_keeps_its_summary(tmp_path: Path) -> None:
    found = Problem("reworded", "It reads otherwise now.", "Look.", "MEMORY.md")
    run = kit.dream(tmp_path, DemoModel(), examine=lambda edits: [found])
    assert run.outcome is not None and run.calls == 5
    assert run.outcome.summary.startswith("I wrote down 1 wish") and run.outcome.summary.endswith("to weigh.")


def test_without_an_index_it_makes_one(tmp_path: Path) -> None:
    run = kit.dream(tmp_path, DemoModel(), files={})
    assert run.files["MEMORY.md"].startswith(b"# Memory\n\n- [Run the linter")


@each(
    ("quote", "text", "title"),
    [
        ("remember that amounts are rounded half to even", "Amounts are rounded half to even.", "Amounts are rounded half to even"),
        ("no, never use exclamation marks in mails", "Never use exclamation marks in mails.", "Never use exclamation marks in mails"),
        ("please remember: we never add a dependency unseen", "We never add a dependency unseen.", "We never add a dependency unseen"),
        ("From now on, sign every tag with the key.", "Sign every tag with the key.", "Sign every tag with the key"),
        ("please remember: we do not add a dependency without checking its size first", "We do not add a dependency without checking its size first.", "We do not add a dependency without checking its size first"),
        ("from now on run the tests with `make test-db`, it starts all", "Run the tests with `make test-db`, it starts all.", "Run the tests with make test-db"),
        ("always test the whole thing on the small phone and on the tablet and on the watch", "Always test the whole thing on the small phone and on the tablet and on the watch.", "Always test the whole thing on the small phone …"),
    ],
)  # fmt: skip
def test_the_persons_words_are_kept_without_their_opening(quote: str, text: str, title: str) -> None:
    wish = Wish("s", 1, quote)
    assert (wish.text, wish.title) == (text, title)
    assert dataclasses.replace(wish, quote="I prefer tabs").kind == "user"


@each(
    ("quote", "kind"),
    [
        ("remember that amounts are rounded half to even", "project"),
        ("remember that the nightly import needs the VPN", "project"),
        ("remember that we never push on a Friday", "feedback"),
        ("from now on run the linter first", "feedback"),
        ("I prefer short answers, always", "user"),
    ],
)
def test_a_wish_is_of_the_kind_that_its_words_say(quote: str, kind: str) -> None:
    assert Wish("s", 1, quote).kind == kind


@each("name", NAMED)
def test_the_demo_answers_a_test_of_the_connection_as_every_server_would(name: str) -> None:
    with ModelServer(DemoModel(), dialect=NAMED[name]) as server:
        assert probe("claude-sonnet-5-5", {"ANTHROPIC_BASE_URL": server.url}).ok
