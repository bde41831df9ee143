"""The rules engine measured the true way, at a small size: better than both baselines, and never wrong."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from dreams.dev.dreambench import folders, whole_run, world
from dreams.dev.dreambench.builder import Case
from dreams.dev.dreambench.folders import BASELINES
from dreams.dev.dreambench.scoring import JudgedCase, Score
from dreams.engines.rules.engine import RulesEngine
from dreams.engines.types import Edit, Job, Option, Outcome, Question, Reporter
from dreams.management.commands.dreambench import Command
from dreams.models import Project
from tests.world.processes.commands import run

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.not_on_postgresql]


@pytest.fixture
def measured(tmp_path: Path) -> tuple[Score, Score, dict[str, Score]]:
    made = world.make(seed=11, facts=60)
    whole_run.stage(made, tmp_path)
    ran = whole_run.Measured(made, tmp_path, whole_run.inside(made, tmp_path, "rules", lambda line: None))
    others = {name: folders.baseline(made, run) for name, run in BASELINES.items()}
    return ran.score("certain"), ran.score("answered"), others


@pytest.mark.more
def test_the_rules_engine_is_better_than_both_baselines_does_nothing_wrong_and_is_at_rest(
    measured: tuple[Score, Score, dict[str, Score]], tmp_path: Path
) -> None:
    certain, answered, others = measured
    for ours in (certain, answered):
        _is_better(ours, others)
    assert answered.cost.again == [], "dreaming again on what was applied proposes something"
    assert _again_over_copies(tmp_path) == [], "files that were only copied since are dreamt over otherwise"


def _is_better(ours: Score, others: dict[str, Score]) -> None:
    for name, other in others.items():
        assert (ours.facts_kept or 0) >= (other.facts_kept or 0), name
        assert ours.wrong_merges <= other.wrong_merges, name
        assert (ours.right or 0) > (other.right or 0), name
    assert (ours.facts_kept or 0) >= 0.99
    assert ours.wrong_merges == 0
    assert ours.kinds["look-alike"]["wrong"] == 0
    assert ours.invented_dates == [] and ours.invented_words == []
    assert ours.kinds["lure"]["wrong"] == ours.kinds["vague"]["wrong"] == ours.kinds["pinned"]["wrong"] == 0
    assert ours.broken_links == ours.new_dangling == 0


def _again_over_copies(folder: Path) -> list[str]:
    """What a dream proposes once every memory is another file of the same bytes, written now."""
    for path in (folder / "root").rglob("memory/**/*.md"):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
    projects = list(Project.objects.filter(root__startswith=str(folder)))
    assert projects
    return [
        change
        for project in projects
        for proposal in whole_run.dreamt(project, "rules").proposals.all()
        for change in whole_run.changes_of(proposal)
    ]


@pytest.mark.sweep
def test_the_command_measures_in_a_folder_of_its_own(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "MEMORYWEB_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}
    done = run("dreambench", "--facts", "12", "--seed", "3", "--json", environment=home)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["systems"]) == {"rules", "rules, answered", *BASELINES}
    assert found["systems"]["rules"]["facts_kept"] == 1.0
    kept = {path.name for path in (tmp_path / "data").rglob("*")} if (tmp_path / "data").exists() else set()
    assert not any("sqlite" in name for name in kept), "the user's own database was opened"


@pytest.mark.more
def test_a_number_of_facts_out_of_range_is_a_usage_error(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "MEMORYWEB_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}
    done = run("dreambench", "--facts", "3", environment=home)
    assert done.returncode == 2
    assert done.stderr.strip() == "The number of facts must be from 10 to 20,000."


@pytest.mark.sweep
def test_a_folder_of_shapes_is_measured_by_halves_and_what_was_asked_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    rows = [
        {
            "kind": "fact",
            "sort": "path",
            "texts": [f"{{subject}} {w} `{{value}}`", f"look into `{{value}}` when {{subject}} {w} hurts"],
        }
        for w in ("read", "used", "kept", "held", "sent", "made", "cut", "set")
    ]
    (given / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    made = world.make(1, 20, given)
    monkeypatch.setattr(RulesEngine, "run", _asking_of_every_file(RulesEngine.run))
    whole_run.stage(made, tmp_path)
    ran = whole_run.Measured(made, tmp_path, whole_run.inside(made, tmp_path, "rules", lambda line: None))
    certain, answered = ran.score("certain", "work"), ran.score("answered", "work")
    assert not certain.asked and answered.asked["same"] > 0
    assert 0 < answered.useful["same"] <= answered.asked["same"]
    assert answered.kinds["same fact"]["right"] > certain.kinds["same fact"]["right"]
    assert answered.facts_kept == 1.0 and answered.wrong == 0, "an answer by the truth lost something"
    shown = Command(stderr=io.StringIO())
    systems = shown._shown(made, ran, {"given": given, "misses": True})["systems"]
    with_cases = {name for name, one in systems.items() if "misses" in one}
    assert with_cases == {"work: certain", "work: answered"} and "report: answered" in systems
    listed = shown.stderr.getvalue()
    assert listed.count("\n") == sum(map(len, _texts(systems["work: answered"])))


def test_what_was_wrong_before_any_answer_is_listed_before_the_misses() -> None:
    wrong, left = (JudgedCase(Case("update", f"{verdict}-1", "d"), verdict) for verdict in ("wrong", "left"))
    shown = Command(stderr=io.StringIO())
    shown._list_misses(Score(misses=[left, wrong]), Score(misses=[left]))
    assert [line.split()[:2] for line in shown.stderr.getvalue().splitlines()] == [
        ["wrong", "wrong-1:"],
        ["left", "left-1:"],
    ]


def _texts(system: dict[str, Any]) -> list[list[str]]:
    return [one for one in system.values() if isinstance(one, list)]


def _asking_of_every_file(run: Any) -> Any:
    """An engine that asks of each memory whether it may go."""

    def asking(self: RulesEngine, job: Job, report: Reporter) -> Outcome:
        outcome: Outcome = run(self, job, report)
        for path, file in job.workspace.snapshot.files.items():
            edit = Edit(path, file.data.decode(), None, f"prune:{path}", "prune", "")
            outcome.questions.append(Question("same", path, "?", (), (Option("merge", "Remove", (edit,)),)))
        return outcome

    return asking
