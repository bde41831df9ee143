"""Config folders → projects and transcript folders."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from dreams.lib.agents import registry
from dreams.lib.files.seen import seen
from dreams.models import Project, Session, TranscriptFolder
from dreams.services import discovery
from dreams.services.doctor import work
from dreams.services.memories import syncing
from tests.world.agent_folder import Root, closed_to_us, project, reasons, session, typed

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]


def test_worktrees_of_a_repository_share_one_memory_directory_and_bring_their_folders(root: Root) -> None:
    app = root.repository("app")
    tree = root.worktree(app, "feature")
    root.session(app, "s1")
    root.session(tree, "s2")
    root.memory(app, "fact.md")
    report = root.discover()
    assert (report.projects, report.sessions, report.memories) == (1, 2, 1)
    found = project()
    assert (found.name, found.repo_dir) == ("app", str(app))
    assert found.memory_dir == str(root.folder(app) / "memory")
    assert set(found.folders.values_list("cwd", flat=True)) == {str(app), str(tree)}


def test_the_name_of_a_project_is_one_line_without_hidden_characters(root: Root) -> None:
    # Mails, the feed, notices and pages name it.
    root.session(root.repository("app\n\x1b[31mNow\u202e"), "s1")
    root.discover()
    assert project().name == "app ⟨U+001B⟩[31mNow⟨U+202E⟩"


def test_a_folder_whose_cwd_is_gone_stands_alone(root: Root) -> None:
    app = root.repository("app")
    root.session(app, "s1")
    root.session(app / "no-longer", "s2")
    assert root.discover().projects == 2
    alone = Project.objects.get(slug__endswith="no-longer")
    assert alone.memory_dir == str(root.folder(app / "no-longer") / "memory")


@pytest.mark.also_on_postgresql
def test_sessions_of_a_removed_worktree_that_the_agent_made_stay_with_its_repository(root: Root) -> None:
    app = root.repository("app")
    tree = root.worktree(app, "feature", app / ".claude" / "worktrees" / "feature")
    (tree / "src").mkdir()
    root.session(tree / "src", "s1")
    assert root.discover().projects == 1
    shutil.rmtree(tree)
    assert root.discover().projects == 1
    found = project()
    assert (found.name, found.repo_dir) == ("app", str(app))
    assert found.memory_dir == str(root.folder(app) / "memory")
    shutil.rmtree(app)
    root.discover()
    assert Project.objects.get(gone_at=None).memory_dir == str(root.folder(tree / "src") / "memory")


def test_a_worktree_without_a_repository_is_not_of_the_one_in_which_the_server_was_started(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.repository("app"))
    root.session(Path("/.claude/worktrees/gone"), "s1")
    root.discover()
    assert project().repo_dir == "/.claude/worktrees/gone"


def test_a_folder_whose_cwd_goes_takes_its_sessions_with_it_unread(root: Root) -> None:
    app = root.repository("app")
    tree = root.worktree(app, "feature")
    root.session(app, "s1")
    root.session(tree, "s2")
    root.discover()
    first = session("s2")
    shutil.rmtree(tree)
    report = root.discover()
    assert (report.projects, report.bytes_read) == (2, 0)
    moved = session("s2")
    assert moved.pk == first.pk
    assert moved.project_id != first.project_id
    assert Session.objects.count() == 2


def test_projects_of_the_same_folder_name_are_told_apart(root: Root) -> None:
    root.session(root.repository("one/app"), "s1")
    root.session(root.repository("two/app"), "s2")
    root.discover()
    assert set(Project.objects.values_list("name", flat=True)) == {"one/app", "two/app"}


def test_a_folder_with_neither_sessions_nor_memory_is_no_project(root: Root) -> None:
    root.folder("/somewhere/empty")
    assert root.discover().projects == 0


def test_a_project_without_a_memory_directory_is_known_before_its_first_dream(root: Root) -> None:
    root.session(root.repository("app"), "s1")
    report = root.discover()
    assert (report.projects, report.memories) == (1, 0)
    assert not Path(project().memory_dir).exists()


@pytest.mark.also_on_postgresql
def test_a_project_that_vanishes_is_marked_and_comes_back(root: Root) -> None:
    app = root.repository("app")
    root.session(app, "s1")
    root.discover()
    key = project().history_key
    shutil.move(root.folder(app), root.base / "aside")
    shutil.rmtree(root.folder(app))
    assert root.discover().projects == 0
    assert project().gone_at is not None and project().unwatched_at is None
    assert session("s1").gone_at is not None
    assert TranscriptFolder.objects.get().gone_at is not None
    shutil.move(root.base / "aside", root.path / "projects" / project().slug)
    report = root.discover()
    assert (report.projects, report.bytes_read) == (1, 0)
    assert (project().gone_at, project().history_key) == (None, key)
    assert session("s1").gone_at is None
    assert TranscriptFolder.objects.get().gone_at is None


def test_a_link_to_the_config_folder_is_the_folder_itself(root: Root) -> None:
    root.session(root.repository("app"), "s1")
    link = root.base / "link"
    link.symlink_to(root.path)
    root.discover()
    report = discovery.discover([link, root.path])
    assert (report.projects, report.sessions, report.bytes_read) == (1, 1, 0)


def test_other_config_folders_are_left_as_they_are(root: Root, tmp_path: Path) -> None:
    other = Root(tmp_path / "other")
    other.session(other.repository("lib"), "s9")
    other.discover()
    root.session(root.repository("app"), "s1")
    assert root.discover().projects == 1
    assert Project.objects.filter(gone_at__isnull=True).count() == 2


def test_a_missing_config_folder_is_said_and_stops_nothing(root: Root) -> None:
    root.session(root.repository("app"), "s1")
    report = discovery.discover([root.base / "nowhere", root.path])
    assert report.projects == 1
    assert reasons(report) == {"nowhere": "a folder that does not exist"}


def test_a_config_folder_that_cannot_be_looked_at_stops_nothing(root: Root, settings: Any) -> None:
    """As one of another user; for root it is a name that no disk takes."""
    root.session(root.repository("app"), "s1")
    odd = root.base / ("x" * 300)
    report = discovery.discover([odd, root.path])
    assert report.projects == 1 and reasons(report)[odd.name] == "a folder that does not exist"
    settings.ROOTS = (odd, root.path)
    assert work.roots().state == "warn" and str(odd) in work.roots().said
    assert work.watched().state != "bad"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("memories/MEMORY.md", "Codex’s folder"),
        ("workspace/MEMORY.md", "OpenClaw’s folder"),
        ("SOUL.md", "OpenClaw’s folder"),
        ("MEMORY.md", "a folder of memories"),
        ("memories/core.md", "a folder with nothing of Claude Code’s in it"),
    ],
)
def test_a_folder_of_another_agent_is_named_and_what_is_read_instead(
    root: Root, file: str, said: str
) -> None:
    root.session(root.repository("app"), "s1")
    other = root.base / "other"
    (other / file).parent.mkdir(parents=True)
    (other / file).write_text("model = 1\n")
    report = discovery.discover([other, root.path])
    assert report.projects == 1 and list(reasons(report)) == ["other"]
    assert (
        reasons(report)["other"].startswith(said)
        and "memoryweb reads Claude Code’s" in reasons(report)["other"]
    )
    new = root.base / "new"
    (new / file).parent.mkdir(parents=True)
    (new / "config.toml").touch()  # any agent's, or none's
    assert "Codex" not in registry.why_unread(new)
    for name in (file, "settings.json"):
        (new / name).write_text("{}\n")
    found = discovery.discover([new, root.path])
    assert found.skipped == (), "a config folder may have such a file, also before its first project"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("sessions/2026/11/29/rollout-1.jsonl", "Codex’s"),
        ("projects/app/agent-transcripts/1.jsonl", "Cursor’s"),
        ("GEMINI.md", "Gemini CLI’s"),
    ],
)
def test_a_folder_of_another_agent_with_files_named_as_ours_is_named_too(
    tmp_path: Path, file: str, said: str
) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    for name in (file, "settings.json", "history.jsonl"):
        (tmp_path / name).write_text("{}\n")
    assert registry.why_unread(tmp_path).startswith(said)


@pytest.mark.parametrize(
    ("name", "agent"), [(".codex", "Codex"), (".cursor", "Cursor"), (".gemini", "Gemini CLI")]
)
def test_a_folder_of_another_agent_is_known_by_its_name_until_ours_has_projects_in_it(
    tmp_path: Path, name: str, agent: str
) -> None:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "settings.json").write_text("{}\n")
    assert registry.why_unread(folder).startswith(f"{agent}’s folder; memoryweb reads Claude Code’s")
    (folder / "projects" / "-home-me-app" / "memory").mkdir(parents=True)
    assert registry.why_unread(folder) == ""


def test_files_with_times_that_no_column_takes_are_read_and_stop_no_other(root: Root) -> None:
    """Disks hold years far beyond 2262."""
    app = root.repository("app")
    root.session(app, "s1")
    root.memory(app, "fact.md")
    notes = root.folder(app) / "s1" / "session-memory" / "summary.md"
    notes.parent.mkdir(parents=True)
    notes.write_text("# Notes\n")
    typed_then = {"display": "hi", "timestamp": 1_760_000_000_000, "project": str(app), "sessionId": "s2"}
    (root.path / "history.jsonl").write_text(f"{json.dumps(typed_then)}\n")
    for file in (path for path in root.path.rglob("*") if path.is_file()):
        os.utime(file, (14_000_000_000, 14_000_000_000))
    for _ in range(2):
        report = root.discover()
        assert report.skipped == () and (report.sessions, report.memories) == (1, 1)
    assert Session.objects.count() == 2 and report.bytes_read == 0
    assert syncing.is_unchanged(project())


def test_an_inode_of_64_bits_without_a_sign_is_stored_with_one() -> None:
    found: Any = SimpleNamespace(st_size=1, st_mtime_ns=-(2**70), st_ino=2**64 - 1)
    assert seen(found) == (1, -(2**63), -1)


@pytest.mark.parametrize("file", ["agents/reviewer.md", "commands/release.md"])
def test_a_folder_with_only_a_persons_agents_or_commands_may_be_ours(tmp_path: Path, file: str) -> None:
    (tmp_path / file).parent.mkdir()
    (tmp_path / file).write_text("Be brief.\n")
    assert registry.why_unread(tmp_path) == ""


def test_a_folder_with_sessions_is_ours_whatever_else_lies_in_it(root: Root) -> None:
    root.session(root.repository("app"), "s1")
    (root.path / "GEMINI.md").symlink_to("CLAUDE.md")
    (root.path / "CLAUDE.md").write_text("Be brief.\n")
    report = discovery.discover([root.path])
    assert report.projects == 1 and report.skipped == ()


def test_agent_memory_is_a_project_of_its_own_and_counts_no_session_twice(root: Root) -> None:
    app = root.repository("app")
    root.session(app, "s1")
    for place in (
        root.path / "agent-memory" / "reviewer",
        app / ".claude" / "agent-memory" / "tester",
        app / ".claude" / "agent-memory-local" / "tester",
    ):
        place.mkdir(parents=True)
        (place / "MEMORY.md").write_text("- [Fact](fact.md) — one\n")
        (place / "fact.md").write_text("One\n")
    report = root.discover()
    assert (report.projects, report.memories) == (2, 1)
    assert reasons(report)["agent-memory"].endswith("read once it is trusted")
    Project.objects.filter(kind="auto").update(trusted=True)
    report = root.discover()
    assert (report.projects, report.sessions, report.memories) == (4, 1, 3)
    agents = Project.objects.filter(kind="agent").order_by("scope")
    assert [(p.scope, p.agent_name) for p in agents] == [
        ("local", "tester"),
        ("project", "tester"),
        ("user", "reviewer"),
    ]
    assert Session.objects.get().project.kind == "auto"
    assert agents[1].folders.count() == 1
    assert len(set(Project.objects.values_list("slug", flat=True))) == 4
    assert root.discover().bytes_read == 0


def test_a_repository_may_name_its_memory_directory_only_when_it_is_trusted(root: Root) -> None:
    app, target = root.repository("app"), root.base / "notes"
    root.session(app, "s1")
    target.mkdir()
    (target / "fact.md").write_text("One\n")
    (app / ".claude").mkdir()
    (app / ".claude" / "settings.json").write_text(json.dumps({"autoMemoryDirectory": str(target)}))
    report = root.discover()
    assert "trust the project" in reasons(report)["settings.json"]
    assert project().memory_dir == str(root.folder(app) / "memory")
    Project.objects.update(trusted=True)
    report = root.discover()
    assert (report.memories, report.bytes_read) == (1, 0)
    assert session("s1").project.memory_dir == str(target)


def test_the_agents_own_switches_are_kept_with_where_they_come_from(root: Root) -> None:
    settings = root.path / "settings.json"
    settings.write_text(json.dumps({"autoMemoryEnabled": False, "cleanupPeriodDays": 90}))
    root.session(root.repository("app"), "s1")
    root.discover()
    assert project().agent_settings == {
        "auto_memory": False,
        "auto_memory_source": str(settings),
        "auto_dream": None,
        "auto_dream_source": "the default",
        "cleanup_days": 90,
        "cleanup_days_source": str(settings),
    }


def test_names_that_are_not_text_are_passed_over_with_the_reason(root: Root) -> None:
    app = root.repository("app")
    root.session(app, "s1")
    odd = os.fsencode(root.folder(app)) + b"/\xff.jsonl"
    Path(os.fsdecode(odd)).write_bytes(b'{"type":"user"}\n')
    os.mkdir(os.fsencode(root.path / "projects") + b"/-caf\xe9")
    report = root.discover()
    assert report.sessions == 1
    assert [r.partition(";")[0] for r in reasons(report).values()] == [
        "the name holds characters that cannot be shown (a line break, or not UTF-8)"
    ] * 2


def test_a_repository_whose_path_is_not_text_stops_nothing(root: Root) -> None:
    app, odd = root.repository("app"), root.base / "odd"
    root.session(app, "s1")
    git = root.base / os.fsdecode(b"gitdir-\xff")
    odd.mkdir()
    git.mkdir()
    (git / "commondir").write_text(".\n")
    (odd / ".git").write_bytes(b"gitdir: " + os.fsencode(git) + b"\n")
    root.session(odd, "s2")
    report = root.discover()
    assert report.sessions == 2
    assert Session.objects.count() == 2


def test_an_unreadable_folder_is_said_and_what_is_below_it_is_not_gone(root: Root) -> None:
    app, lib = root.repository("app"), root.repository("lib")
    root.session(app, "s1")
    root.session(lib, "s2")
    root.discover()
    closed = root.folder(app)
    with closed_to_us(closed):
        report = root.discover()
    assert reasons(report) == {closed.name: "permission denied"}
    assert session("s1").gone_at is None
    assert Project.objects.filter(gone_at__isnull=True).count() == 2


def test_live_sessions_are_those_whose_process_runs(root: Root) -> None:
    root.session(root.repository("app"), "s1")
    root.discover()
    (root.path / "sessions").mkdir()
    for name, pid in (("s1", os.getpid()), ("s0", 2**30)):
        entry = {"pid": pid, "sessionId": name, "cwd": "/"}
        (root.path / "sessions" / f"{pid}.json").write_text(json.dumps(entry))
    assert discovery.live_session_ids(project()) == {"s1"}


def test_sessions_of_our_own_dreams_are_known_as_such(root: Root, settings: object) -> None:
    ours = f"{settings.DATA_DIR}/workspaces/d12345678"  # type: ignore[attr-defined]  # pytest-django's own
    root.session("/home/me/app", "s1", [typed("Tidy up", cwd=ours)])
    root.session("/home/me/app", "s2", [typed("Tidy up", cwd=ours.replace("workspaces", "workspaces-not"))])
    root.discover()
    assert [session("s1").own, session("s2").own] == [True, False]


@pytest.mark.also_on_postgresql
def test_one_project_can_be_refreshed_alone(root: Root) -> None:
    app = root.repository("app")
    root.session(app, "s1")
    root.memory(app, "fact.md")
    root.discover()
    root.session(app, "s2")
    root.memory(app, "more.md")
    lock = root.memory(app, ".consolidate-lock", "123")
    os.utime(lock, (1_700_000_000, 1_700_000_000))
    discovery.refresh(project())
    found = project()
    assert found.sessions.count() == 2
    assert found.memories.count() == 2
    assert found.last_consolidated_at is not None
    assert found.last_consolidated_at.timestamp() == 1_700_000_000
    assert found.last_session_at is not None
    assert found.last_session_at <= timezone.now()
