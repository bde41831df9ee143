"""What the checks find goes back to the engine once, before a person sees it; and policies ask for few findings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.engines.types import Edit, Job, Outcome, Problem, Reporter
from dreams.findings import secrets
from dreams.models import DreamRun, Policy, Project, Proposal
from dreams.services import dreaming, hosts, settings_changes
from dreams.web.pages.dreams import result
from tests.world import directory as world, engines, model as kit
from tests.world.model_server import ModelServer, Script, ScriptedReply, Use, say

pytestmark = pytest.mark.django_db
FACT = "Snapshots are reviewed by hand.\n"
UNSOURCED = "\nThe export runs at 04:00 UTC.\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path)


def _dream(project: Project) -> DreamRun:
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None and run.status == "completed", run and run.error
    return run


class Careless:
    """Drops a fact; where `mends`, puts it back once it is told."""

    name = "scripted"

    def __init__(self, *, mends: bool) -> None:
        self.mends = mends
        self.told: list[list[Problem]] = []

    def run(self, job: Job, report: Reporter) -> Outcome:
        before = job.workspace.read("feedback_testing.md") or ""
        after = before.replace(FACT, "")
        job.workspace.write("feedback_testing.md", after)
        edits = [Edit("feedback_testing.md", before, after, "tidy", "prune", "Shorter.")]
        self.told.append(list(job.examine(edits)))
        if self.mends and self.told[0]:
            job.workspace.write("feedback_testing.md", before)
            edits.append(Edit("feedback_testing.md", after, before, "tidy", "prune", "Put back."))
        return Outcome(edits=edits, summary="Tidied.")


def _use(monkeypatch: pytest.MonkeyPatch, engine: Careless) -> Careless:
    monkeypatch.setattr("dreams.engines.get", lambda name: engine)
    return engine


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_an_engine_is_told_of_an_unexplained_loss_with_place_and_remedy(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = _use(monkeypatch, Careless(mends=False))
    _dream(project)
    [problem] = engine.told[0]
    assert problem.code == "unexplained-loss" and problem.blocks
    assert "Snapshots are reviewed by hand." in problem.message and problem.remedy
    assert problem.path == "feedback_testing.md" and problem.line_no and problem.operations


def _writes(session: str, *, careless: bool) -> ScriptedReply:
    """Four files, each with a fault of its own, or right."""
    heard = {
        "session": session,
        "quote": "queue 0 is drained by hand" if not careless else "Nobody said this.",
    }
    rows = "- [Queue](project_queue.md) — how it is drained\n- [Export](project_export.md) — when it runs\n"
    full = "".join(f"- [Testing](feedback_testing.md) — row {number}\n" for number in range(20))
    day = " since 2031-02-03" if careless else ""
    head = "---\nname: {}\ndescription: {}\ntype: project\n---\n\n"
    files = {
        "feedback_testing.md": world.TESTING.replace(FACT, "") if careless else world.TESTING,
        "MEMORY.md": world.INDEX + rows + (full if careless else ""),
        "project_queue.md": head.format("Queue", "how it is drained") + "Queue 0 is drained by hand.\n",
        "project_export.md": head.format("Export", "how it is drained")
        + f"Queue 0 is drained{day} by hand.\n",
    }
    said = {"session": session, "quote": "queue 0 is drained by hand"}
    cited = {"project_queue.md": heard, "project_export.md": said}
    given = [
        {
            "file_path": f"/memory/{path}",
            "content": text,
            "reason": "Said so.",
            "citations": [cited.get(path, said)],
        }
        for path, text in files.items()
    ]
    return ScriptedReply(tuple(Use("Write", each) for each in given))


@pytest.mark.more
def test_each_kind_of_problem_goes_back_to_a_model_once_and_what_it_mended_is_on_the_page(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loss, a quote that is not there, an index over its budget and a day that nobody named, over the Messages API."""
    settings.ROOTS, settings.DATA_DIR = (tmp_path,), tmp_path / "data"
    project = world.discovered(tmp_path)
    sessions = (tmp_path / "projects/-home-dev-app").glob("*.jsonl")
    session = next(path.stem for path in sessions if "queue 0" in path.read_text())
    settings_changes.set_override("index_max_lines", 20, actor="owner")
    reads = ScriptedReply(
        tuple(Use("Read", {"file_path": f"/memory/{path}"}) for path in ("MEMORY.md", "feedback_testing.md"))
    )
    turns = [
        reads,
        _writes(session, careless=True),
        say("Done."),
        _writes(session, careless=False),
        say("Mended."),
    ]
    engine = AnthropicEngine(patience=kit.QUICK, open_tools=kit.Near)
    monkeypatch.setattr("dreams.engines.get", lambda name: engine)
    with ModelServer(Script(turns)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        asked = dreaming.request(project, DreamRun.Trigger.COMMAND, engine="anthropic", forced=True)
        run = dreaming.run_dream(asked.pk)
    assert run is not None and run.status == "completed", run and run.error
    mended = {item["code"]: item["mended"] for item in run.self_review}
    kinds = {"unexplained-loss", "quote-not-found", "index-over-budget", "date-without-source"}
    assert {kind: mended.get(kind) for kind in kinds} == dict.fromkeys(kinds, True), run.self_review
    assert len(server.calls) == len(turns)  # it is told once
    page = result(run)
    assert page["is_all_mended"] and len(page["mended"]) >= len(kinds)
    proposal = Proposal.of(run)
    assert proposal is not None and not proposal.findings.filter(code__in=kinds).exists()


def test_what_it_left_is_said_too_and_stays_a_finding(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _use(monkeypatch, Careless(mends=False))
    run = _dream(project)
    assert [item["mended"] for item in run.self_review] == [False]
    assert Proposal.of(run) is not None
    assert Proposal.of(run).findings.filter(code="unexplained-loss", severity="block").exists()


@pytest.mark.not_on_postgresql
def test_a_secret_that_was_left_is_not_counted_as_mended_by_a_worker_that_has_just_started(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the host gives its key a process names secrets by one of its own, and a new name looks like a new thing."""
    token = "gh" + "p_" + "q8Rt2" * 7 + "x"

    def leave(job: Job, report: Reporter) -> list[Edit]:
        secrets.use_key(b"a key of its own")
        edits = engines.rewrite("feedback_testing.md", FACT, f"{FACT}\nThe token is {token}.\n")(job, report)
        job.examine(edits)
        hosts.name_secrets()
        return edits

    engines.use(monkeypatch, leave)
    mended = [item["mended"] for item in _dream(project).self_review if item["code"].startswith("secret-")]
    assert mended == [False]


@pytest.mark.more
def test_many_problems_of_one_kind_do_not_crowd_out_another(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"- [Row](feedback_testing.md) — unheard of {number}\n" for number in range(260))

    def overfill(job: Job, report: Reporter) -> list[Edit]:
        edits = engines.rewrite("MEMORY.md", world.INDEX, world.INDEX + rows)(job, report)
        job.examine(edits)
        return edits

    engines.use(monkeypatch, overfill)
    codes = [item["code"] for item in _dream(project).self_review]
    assert {"index-over-budget", "no-evidence"} <= set(codes) and len(codes) <= 40


@pytest.mark.also_on_postgresql
@pytest.mark.parametrize(
    ("accepted", "applied"),
    [pytest.param("none", False, marks=pytest.mark.more), ("info", False), ("warn", True)],
)
def test_a_policy_lets_in_only_what_has_no_worse_finding_than_it_accepts(
    project: Project, monkeypatch: pytest.MonkeyPatch, accepted: str, applied: bool
) -> None:
    Policy.objects.create(operation="add", action="auto")
    settings_changes.set_override("policy_findings", accepted, actor="owner", project=project)
    engines.use(monkeypatch, engines.rewrite("feedback_testing.md", FACT, FACT + UNSOURCED))
    run = _dream(project)
    assert Proposal.of(run) is not None
    assert Proposal.of(run).findings.filter(severity="warn").exists()
    assert Proposal.of(run).by_policy is applied
    text = (world.folder(project) / "feedback_testing.md").read_text()
    assert (UNSOURCED in text) is applied


@pytest.mark.not_on_postgresql
def test_a_change_cannot_write_itself_the_type_that_a_policy_lets_in(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    Policy.objects.create(memory_type="reference", operation="change", action="auto")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    retyped = world.TESTING.replace("type: feedback", "type: reference")
    assert retyped != world.TESTING
    engines.use(monkeypatch, engines.rewrite("feedback_testing.md", world.TESTING, retyped))
    run = _dream(project)
    assert [made.by_policy for made in run.proposals.all()] == [False]
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING


def test_what_blocks_is_let_in_by_no_policy(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for operation in ("add", "change", "remove"):
        Policy.objects.create(operation=operation, action="auto")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    _use(monkeypatch, Careless(mends=False))
    run = _dream(project)
    assert Proposal.of(run) is not None and Proposal.of(run).state == "open"
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING
