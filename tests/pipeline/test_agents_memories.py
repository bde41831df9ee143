"""An agent's own memory owns that agent's transcripts and dreams by them; one in a repository waits for trust."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from dreams.engines.anthropic import prompt
from dreams.models import DreamRun, DreamSession, Project, RequestUsage, Session
from dreams.services import dreaming
from dreams.services.discovery import agents
from dreams.services.scheduling import gate_inputs, gates
from tests.world import model as kit
from tests.world.agent_folder import Record, Root, answer, append, typed, write

pytestmark = pytest.mark.django_db


def _started(call: str, agent: str) -> Record:
    made = answer(f"m-{call}")
    made["message"]["content"] = [  # type: ignore[index] # a dict
        {"type": "tool_use", "id": call, "name": "Task", "input": {"subagent_type": agent, "prompt": "Look."}}
    ]
    return made


def _ended(call: str, agent_id: str) -> Record:
    content = [{"type": "tool_result", "tool_use_id": call, "content": "Done."}]
    return {
        **typed(""),
        "message": {"role": "user", "content": content},
        "toolUseResult": {"agentId": agent_id},
    }


def _run(root: Root, repo: Path, session: str, agents: dict[str, str]) -> None:
    """A session in which each agent (id → name) ran once, two hours ago."""
    calls = {agent_id: f"call-{session}-{agent_id}" for agent_id in agents}
    records = [typed("Please have it looked at", cwd=str(repo))]
    records += [_started(call, agents[agent_id]) for agent_id, call in calls.items()]
    records += [_ended(call, agent_id) for agent_id, call in calls.items()]
    main = root.session(repo, session, records)
    files = [main]
    for agent_id in agents:
        path = main.with_suffix("") / "subagents" / f"agent-{agent_id}.jsonl"
        told = typed(
            f"Look at {agent_id}", isSidechain=True, agentId=agent_id, sessionId=session, cwd=str(repo)
        )
        write(path, [told, answer(f"a-{agent_id}", isSidechain=True, agentId=agent_id, sessionId=session)])
        files.append(path)
    for path in files:
        os.utime(path, (time.time() - 7200, time.time() - 7200))


def _memory(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- [Fact](fact.md) — one\n")
    (folder / "fact.md").write_text("---\nname: Fact\ntype: project\n---\n\nThe linter runs first.\n")


def _sessions(**of: str) -> list[str]:
    rows = Session.objects.filter(project__kind="agent", gone_at__isnull=True, **of)
    return sorted(rows.values_list("session_id", flat=True))


def test_a_users_agent_owns_its_transcripts_of_all_projects_and_no_other(root: Root) -> None:
    app, shop = root.repository("app"), root.repository("shop")
    _memory(root.path / "agent-memory" / "reviewer")
    _run(root, app, "s1", {"a1": "reviewer", "a2": "Explore"})
    _run(root, shop, "s2", {"b1": "reviewer"})
    report = root.discover()
    assert _sessions() == ["agent-a1", "agent-b1"]
    owner = Project.objects.get(kind="agent")
    row = owner.sessions.get(session_id="agent-a1")
    assert (row.title, row.lines, row.size) == ("Look at a1", 2, Path(row.path).stat().st_size)
    assert owner.last_session_at == max(owner.sessions.values_list("touched_at", flat=True))
    assert report.sessions == 2 and RequestUsage.objects.filter(session__project=owner).count() == 0
    assert RequestUsage.objects.count() == 6, "tokens count in the session that started the agent, once"
    assert root.discover().bytes_read == 0


def test_a_repositorys_agent_is_read_after_trust_and_gone_when_it_is_withdrawn(root: Root) -> None:
    app, shop = root.repository("app"), root.repository("shop")
    _memory(app / ".claude" / "agent-memory" / "tester")
    _run(root, app, "s1", {"a1": "tester"})
    _run(root, shop, "s2", {"b1": "tester"})
    report = root.discover()
    assert not Project.objects.filter(kind="agent").exists()
    assert any("once it is trusted" in skip.reason for skip in report.skipped)
    auto = Project.objects.filter(kind="auto", repo_dir=str(app))
    auto.update(trusted=True)
    root.discover()
    assert _sessions() == ["agent-a1"], "those that ran in this repository"
    auto.update(trusted=False)
    root.discover()
    assert Project.objects.get(kind="agent").gone_at is not None


def test_what_grew_or_went_is_seen(root: Root) -> None:
    app = root.repository("app")
    _memory(root.path / "agent-memory" / "reviewer")
    _run(root, app, "s1", {"a1": "reviewer"})
    root.discover()
    (path,) = Session.objects.filter(project__kind="agent").values_list("path", flat=True)
    size = Path(path).stat().st_size
    with Path(path).open("ab") as file:
        file.write(b'{"type":"assistant","isSidechain":true}\n')
    root.discover()
    assert Session.objects.get(project__kind="agent").size > size
    Path(path).unlink()
    root.discover()
    assert _sessions() == []


@pytest.mark.not_on_postgresql
def test_the_agent_is_known_by_the_file_beside_its_transcript_before_it_answered(root: Root) -> None:
    app = root.repository("app")
    _memory(root.path / "agent-memory" / "reviewer")
    path = root.session(app, "s1").with_suffix("") / "subagents" / "agent-a1.jsonl"
    write(path, [typed("Look", isSidechain=True, agentId="a1", sessionId="s1")])
    root.discover()
    assert _sessions() == []
    path.with_suffix(".meta.json").write_text('{"agentType": "reviewer"}')
    root.discover()
    assert _sessions() == ["agent-a1"]


@pytest.mark.more
def test_it_dreams_by_its_own_sessions(root: Root) -> None:
    app = root.repository("app")
    _memory(root.path / "agent-memory" / "reviewer")
    for number in range(5):
        _run(root, app, f"s{number}", {f"a{number}": "reviewer"})
    root.discover()
    owner = Project.objects.get(kind="agent")
    now = dreaming.request(owner, DreamRun.Trigger.PAGE, forced=True)
    run = dreaming.run_dream(now.pk)
    assert run is not None and run.status == "completed", run and run.error
    reviewed = DreamSession.objects.filter(dream=run).values_list("session__session_id", flat=True)
    assert sorted(reviewed) == [f"agent-a{number}" for number in range(5)]
    everywhere = gate_inputs.Everywhere.load()
    assert isinstance(gate_inputs.case_of(owner, everywhere, run.created_at), gates.Case)


def test_its_sessions_are_read_for_what_a_person_said_and_an_agents_task_is_no_persons(root: Root) -> None:
    app = root.repository("app")
    _memory(root.path / "agent-memory" / "reviewer")
    _run(root, app, "s1", {"a1": "reviewer"})
    path = root.folder(app) / "s1" / "subagents" / "agent-a1.jsonl"
    append(path, [typed("Remember that releases go out on Tuesdays.", isSidechain=True, agentId="a1")])
    os.utime(path, (time.time() - 7200, time.time() - 7200))
    root.discover()
    owner, out = Project.objects.get(kind="agent"), StringIO()
    call_command("extract", str(owner.pk), session="agent-a1", json=True, stdout=out)
    told = json.loads(out.getvalue())
    assert told["caught"] == [] and told["proposal"] is None
    assert owner.sessions.get().caught_bytes == path.stat().st_size, "read to its end"


@pytest.mark.not_on_postgresql
def test_looking_up_agents_is_bounded_and_goes_on_next_time(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = root.repository("app")
    _memory(root.path / "agent-memory" / "reviewer")
    _run(root, app, "s1", {"a1": "reviewer"})
    with monkeypatch.context() as patch:
        patch.setattr(agents, "SECONDS", -1.0)
        root.discover()
    assert _sessions() == []
    root.discover()
    assert _sessions() == ["agent-a1"]


@pytest.mark.more
def test_its_scope_is_in_its_name_on_its_page_and_told_to_the_engine(
    root: Root, browser: Client, tmp_path: Path
) -> None:
    app = root.repository("app")
    _memory(root.path / "agent-memory" / "reviewer")
    for name in ("agent-memory", "agent-memory-local"):
        _memory(app / ".claude" / name / "tester")
    _run(root, app, "s1", {"a1": "tester"})
    root.discover()
    Project.objects.update(trusted=True)
    root.discover()
    names = {project.scope: str(project) for project in Project.objects.filter(kind="agent")}
    assert names == {
        "user": "reviewer (all projects)",
        "project": "tester (app, project)",
        "local": "tester (app, local)",
    }
    pages = {
        scope: browser.get(f"/projects/{Project.objects.get(scope=scope).pk}/").content.decode()
        for scope in names
    }
    assert (
        "project scope: in version control" in pages["project"]
        and "user scope: all projects" in pages["user"]
    )
    assert "local scope" in pages["local"]
    assert "trusting it" not in pages["project"], "a repository is trusted on its own project's page"
    assert all(name in browser.get("/projects/").content.decode() for name in names.values())
    with kit.job(tmp_path / "job") as job:
        told = prompt.briefing(dataclasses.replace(job, agent="tester", scope="project"))
        assert "belongs to the agent" not in prompt.briefing(job)
    assert "This memory belongs to the agent “tester”, scope project. It is in version control" in told


def test_its_session_is_shown_where_the_agent_was_started(root: Root, browser: Client) -> None:
    app = root.repository("app")
    _memory(root.path / "agent-memory" / "reviewer")
    _run(root, app, "s1", {"a1": "reviewer"})
    root.discover()
    own = Session.objects.get(project__kind="agent")
    shown = browser.get(f"/sessions/{own.pk}/?line=1", follow=True)
    main = Session.objects.get(project__kind="auto")
    assert (
        shown.redirect_chain[0][0].startswith(f"/sessions/{main.pk}/?")
        and "line=1" in shown.redirect_chain[0][0]
    )
    assert "Look at a1" in shown.content.decode()
