"""What is found below a config folder of Claude Code, and what is passed over with a reason."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from dulwich import porcelain

from dreams.lib.agents.base import (
    AgentSource,
    FoundMemory,
    FoundProject,
    FoundTranscript,
    LiveSession,
    Skipped,
)
from dreams.lib.agents.claude_code import ClaudeCode, folder_name, is_slug_of, sessions, slug_of
from dreams.lib.agents.claude_code.instructions import MANAGED
from dreams.lib.agents.claude_code.listing import read_small
from dreams.lib.agents.claude_code.settings import MANAGED_FILES, OVERRIDE, Settings
from tests.world.cases import each


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "home" / ".claude"
    (path / "projects").mkdir(parents=True)
    return path


def source(root: Path, **options: object) -> ClaudeCode:
    given = {"env": {}, "home": str(root.parent), "managed_files": (), "managed_instructions": (), **options}
    return ClaudeCode(root, **given)  # type: ignore[arg-type]


def session(root: Path, cwd: Path | str, name: str = "s1", slug: str | None = None) -> Path:
    folder = root / "projects" / (slug or slug_of(str(cwd)))
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text('{"type":"summary"}\n' + json.dumps({"type": "user", "cwd": str(cwd)}) + "\n")
    return path


def projects(found: ClaudeCode) -> list[FoundProject]:
    return [p for p in found.projects() if isinstance(p, FoundProject)]


def skipped(found: ClaudeCode) -> list[Skipped]:
    return [p for p in found.projects() if isinstance(p, Skipped)]


def repository(path: Path) -> Path:
    (path / ".git").mkdir(parents=True)
    return path


def worktree(repo: Path, path: Path) -> Path:
    git = repo / ".git" / "worktrees" / path.name
    git.mkdir(parents=True)
    (git / "commondir").write_text("../..\n")
    path.mkdir(parents=True)
    (path / ".git").write_text(f"gitdir: {git}\n")
    return path


def test_the_adapter_is_an_agent_source(root: Path) -> None:
    found: AgentSource = source(root)
    assert found.root.agent == "claude-code"


@each(
    ("path", "slug"),
    [
        ("/home/me/my.app_2", "-home-me-my-app-2"),
        ("/h/café", "-h-caf-"),
        ("/h/cafe\u0301", "-h-caf-"),
        ("/h/😀", "-h---"),
        ("C:\\x", "C--x"),
    ],
)
def test_a_slug_is_the_path_with_every_other_character_as_a_dash(path: str, slug: str) -> None:
    assert slug_of(path) == slug


def test_a_long_slug_is_matched_by_its_first_200_characters() -> None:
    path = "/" + "a" * 300
    name = slug_of(path)[:200] + "-1x2y"
    assert is_slug_of(name, path)
    assert not is_slug_of(slug_of(path)[:200], path)
    assert folder_name(path, ["other", name]) == name
    assert len(folder_name(path, [])) == 200


def test_a_root_that_is_a_link_is_resolved_once(root: Path, tmp_path: Path) -> None:
    session(root, "/gone/app")
    (tmp_path / "link").symlink_to(root)
    [project] = projects(source(tmp_path / "link"))
    assert project.memory_dir.startswith(str(root))


def test_a_missing_root_is_empty(tmp_path: Path) -> None:
    found = source(tmp_path / "none")
    assert (list(found.projects()), list(found.live_sessions())) == ([], [])


def test_a_folder_whose_cwd_is_gone_stands_alone(root: Path) -> None:
    session(root, "/gone/app")
    [project] = projects(source(root))
    folder = str(root / "projects" / "-gone-app")
    assert project.memory_dir == f"{folder}/memory"
    assert (project.slug, project.cwd, project.cwd_exists) == ("-gone-app", "/gone/app", False)
    assert project.transcript_folders == (folder,)


def test_worktrees_and_subfolders_share_the_memory_of_their_repository(root: Path, tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    (repo / "src").mkdir()
    places = [repo, repo / "src", worktree(repo, tmp_path / "trees" / "feature")]
    for place in places:
        session(root, place)
    [project] = projects(source(root))
    assert project.memory_dir == str(root / "projects" / slug_of(str(repo)) / "memory")
    assert (project.repo, project.cwd, project.slug) == (str(repo), str(repo), slug_of(str(repo)))
    assert set(project.transcript_folders) == {str(root / "projects" / slug_of(str(p))) for p in places}


def test_a_folder_with_memories_of_its_own_stays_a_project_of_its_own(root: Path, tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    tree = worktree(repo, tmp_path / "tree")
    session(root, repo)
    memory = session(root, tree).parent / "memory"
    memory.mkdir()
    assert len(projects(source(root))) == 1
    (memory / "MEMORY.md").write_text("# x\n")
    assert {p.slug for p in projects(source(root))} == {slug_of(str(repo)), slug_of(str(tree))}


def test_the_cwd_decides_and_not_the_name_of_the_folder(root: Path, tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    session(root, repo, slug="-some-other-name")
    [project] = projects(source(root))
    assert project.slug == slug_of(str(repo))
    assert project.transcript_folders == (str(root / "projects" / "-some-other-name"),)


def test_a_remembered_cwd_is_not_read_again(root: Path) -> None:
    path = session(root, "/gone/app")
    [project] = projects(source(root, cwds=lambda folder: "/known" if folder == str(path.parent) else None))
    assert project.cwd == "/known"


def test_empty_folders_are_no_projects_but_a_memory_without_sessions_is(root: Path) -> None:
    (root / "projects" / "-empty").mkdir()
    (root / "projects" / "-quiet" / "memory").mkdir(parents=True)
    [project] = projects(source(root))
    assert (project.slug, project.transcript_folders) == ("-quiet", ())


def test_sub_agents_are_found_below_their_session_and_outputs_are_left_alone(root: Path) -> None:
    folder = session(root, "/gone/app", "main").parent
    deep = folder / "main" / "subagents" / "workflows" / "w1"
    deep.mkdir(parents=True)
    for path in (deep.parent.parent / "agent-a.jsonl", deep / "agent-b.jsonl", folder / "agent-old.jsonl"):
        path.write_text("{}\n")
    (deep.parent.parent / "agent-a.meta.json").write_text("{}")
    outputs = folder / "main" / "tool-results"
    outputs.mkdir()
    (outputs / "big.jsonl").write_text("{}\n")
    found = [t for t in source(root).transcripts(str(folder)) if isinstance(t, FoundTranscript)]
    assert sorted((t.session_id, t.kind, t.parent) for t in found) == [
        ("agent-a", "subagent", "main"),
        ("agent-b", "subagent", "main"),
        ("agent-old", "subagent", ""),
        ("main", "main", ""),
    ]
    st = (folder / "main.jsonl").stat()
    [main] = [t for t in found if t.kind == "main"]
    assert (main.size, main.mtime_ns, main.inode) == (st.st_size, st.st_mtime_ns, st.st_ino)


def test_what_macos_adds_to_a_copy_of_a_transcript_is_no_session(root: Path) -> None:
    path = session(root, "/srv/app")
    for name in (f"._{path.name}", ".DS_Store"):
        (path.parent / name).write_bytes(b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        ")
    found = [
        entry for entry in sessions.transcripts_in(str(path.parent)) if isinstance(entry, FoundTranscript)
    ]
    assert [entry.path for entry in found] == [str(path)]


def test_odd_entries_are_skipped_with_a_reason_and_stop_nothing(root: Path) -> None:
    folder = session(root, "/gone/app", "good").parent
    (folder / "dangling.jsonl").symlink_to("/nowhere")
    (folder / "two\nlines.jsonl").write_text("{}\n")
    with open(os.fsencode(folder) + b"/\xff.jsonl", "wb"):
        pass
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "dir.jsonl").mkdir()
    found = list(source(root).transcripts(str(folder)))
    assert [t.session_id for t in found if isinstance(t, FoundTranscript)] == ["good"]
    reasons = {s.path.rpartition("/")[2]: s.reason for s in found if isinstance(s, Skipped)}
    assert set(reasons) == {"dangling.jsonl", "two\\nlines.jsonl", "\\udcff.jsonl", "pipe.jsonl", "dir.jsonl"}
    assert all(reasons.values())
    assert reasons["dangling.jsonl"] == "a link; links are not followed"


def test_a_linked_or_oddly_named_project_folder_is_skipped(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (root / "projects" / "-link").symlink_to(tmp_path / "elsewhere")
    (root / "projects" / "-a\nb").mkdir()
    found = source(root)
    assert projects(found) == []
    assert {s.path.rpartition("/")[2] for s in skipped(found)} == {"-link", "-a\\nb"}


def test_a_folder_that_cannot_be_read_is_skipped(root: Path, tmp_path: Path) -> None:
    [gone] = list(source(root).transcripts(str(tmp_path / "none")))
    assert isinstance(gone, Skipped)
    assert "no such file" in gone.reason


def memory_files(found: ClaudeCode, folder: Path) -> dict[str, str]:
    return {m.path: m.kind for m in found.memories(str(folder)) if isinstance(m, FoundMemory)}


def test_memories_are_told_apart_by_their_place(root: Path, tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    for name in (
        "MEMORY.md",
        "user_role.md",
        "team/MEMORY.md",
        "team/a.md",
        "logs/2026/03/01.md",
        "sub/b.md",
    ):
        (memory / name).parent.mkdir(parents=True, exist_ok=True)
        (memory / name).write_text("x")
    (memory / ".consolidate-lock").write_text("1")
    (memory / "data.csv").write_text("x")
    (memory / "link.md").symlink_to(memory / "user_role.md")
    found = source(root)
    assert memory_files(found, memory) == {
        "MEMORY.md": "index",
        "user_role.md": "topic",
        "team/MEMORY.md": "team",
        "team/a.md": "team",
        "logs/2026/03/01.md": "log",
        "sub/b.md": "topic",
    }
    left = {s.path.rpartition("/")[2] for s in found.memories(str(memory)) if isinstance(s, Skipped)}
    assert left == {"data.csv", "link.md"}
    assert memory_files(found, tmp_path / "none") == {}


def test_memories_of_sub_agents_are_projects_with_their_scope(root: Path, tmp_path: Path) -> None:
    repo = repository(tmp_path / "app")
    folder = session(root, repo).parent
    (root / "agent-memory" / "reviewer").mkdir(parents=True)
    (repo / ".claude" / "agent-memory" / "tester").mkdir(parents=True)
    (repo / ".claude" / "agent-memory-local" / "tester").mkdir(parents=True)
    untrusted = [p for p in projects(source(root)) if p.kind == "agent"]
    assert [p.agent for p in untrusted] == ["reviewer"], "what is in a repository waits until it is trusted"
    agents = [p for p in projects(source(root, trusted=str(repo).__eq__)) if p.kind == "agent"]
    assert [(p.agent, p.scope, p.transcript_folders) for p in agents] == [
        ("reviewer", "user", ()),
        ("tester", "project", (str(folder),)),
        ("tester", "local", (str(folder),)),
    ]


def put(path: Path, **values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values))


def test_a_memory_directory_from_the_persons_settings_takes_all_sessions(root: Path) -> None:
    put(root / "settings.json", autoMemoryDirectory="~/notes")
    folders = {str(session(root, cwd).parent) for cwd in ("/gone/a", "/gone/b")}
    [project] = projects(source(root))
    assert project.memory_dir == str(root.parent / "notes")
    assert set(project.transcript_folders) == folders


@pytest.mark.parametrize("trusted", [True, False])
def test_a_memory_directory_from_a_repository_needs_trust(
    root: Path, tmp_path: Path, *, trusted: bool
) -> None:
    repo = repository(tmp_path / "app")
    session(root, repo)
    put(repo / ".claude" / "settings.json", autoMemoryDirectory="/somewhere/else")
    found = source(root, trusted=lambda folder: trusted and folder == str(repo))
    [project] = projects(found)
    assert (project.memory_dir == "/somewhere/else") is trusted
    refused = [s for s in skipped(found) if "trust" in s.reason]
    assert [s.path for s in refused] == ([] if trusted else [str(repo / ".claude" / "settings.json")])


def test_an_override_in_the_environment_wins(root: Path) -> None:
    put(root / "settings.json", autoMemoryDirectory="~/notes")
    session(root, "/gone/a")
    [project] = projects(source(root, env={"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "/over"}))
    assert project.memory_dir == "/over"


def test_memories_left_at_the_default_place_are_not_lost_by_an_override(root: Path) -> None:
    memory = session(root, "/gone/a").parent / "memory"
    memory.mkdir()
    (memory / "a.md").write_text("x")
    put(root / "settings.json", autoMemoryDirectory="/notes")
    assert [(p.memory_dir, len(p.transcript_folders)) for p in projects(source(root))] == [
        ("/notes", 1),
        (str(memory), 0),
    ]


def test_a_relative_memory_directory_is_refused(root: Path) -> None:
    put(root / "settings.json", autoMemoryDirectory="../x")
    session(root, "/gone/a")
    assert any("absolute" in s.reason for s in skipped(source(root)))


def test_settings_say_where_they_come_from(root: Path) -> None:
    plain = source(root).settings()
    assert (plain.auto_memory.value, plain.auto_memory.source, plain.cleanup_days.value) == (
        True,
        "default",
        30,
    )
    assert plain.auto_dream.value is None
    user = str(root / "settings.json")
    put(root / "settings.json", autoMemoryEnabled=False, autoDreamEnabled=False, cleanupPeriodDays=99)
    own = source(root, env={"CLAUDE_CODE_REMOTE": "1"}).settings()
    assert (own.auto_memory.value, own.auto_memory.source) == (False, user)
    assert (own.auto_dream.value, own.cleanup_days.value, own.remote.value) == (False, 99, True)


def test_the_persons_explicit_value_wins_over_a_repositorys(root: Path, tmp_path: Path) -> None:
    put(tmp_path / "app" / ".claude" / "settings.json", autoMemoryEnabled=False)
    assert source(root).settings(str(tmp_path / "app")).auto_memory.value is False
    put(root / "settings.json", autoMemoryEnabled=True)
    assert source(root).settings(str(tmp_path / "app")).auto_memory.value is True


@pytest.mark.parametrize(("value", "on"), [("1", False), ("0", True)])
def test_the_environment_switches_auto_memory_before_all(root: Path, value: str, *, on: bool) -> None:
    put(root / "settings.json", autoMemoryEnabled=not on)
    found = source(root, env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": value}).settings().auto_memory
    assert (found.value, found.source) == (on, "CLAUDE_CODE_DISABLE_AUTO_MEMORY")
    put(root / "settings.json", env={"CLAUDE_CODE_DISABLE_AUTO_MEMORY": value}, autoMemoryEnabled=not on)
    assert source(root).settings().auto_memory.value is on


def test_settings_with_a_byte_order_mark_are_read(root: Path) -> None:
    (root / "settings.json").write_text('\ufeff{"autoMemoryEnabled": false}', encoding="utf-8")
    assert source(root).settings().auto_memory.value is False


def test_broken_settings_are_reported_and_not_used(root: Path) -> None:
    (root / "settings.json").write_text("{nope")
    found = source(root)
    assert found.settings().auto_memory.value is True
    assert [s.path for s in skipped(found)] == [str(root / "settings.json")]


def test_live_sessions_are_those_whose_process_runs(root: Path) -> None:
    for pid, name in ((11, "alive"), (12, "dead")):
        put(root / "sessions" / f"{pid}.json", pid=pid, sessionId=name, cwd="/x")
    put(root / "sessions" / "13.json", sessionId="by-name")
    (root / "sessions" / "14.json").write_text("half")
    alive: Callable[[int], bool] = {11, 13}.__contains__
    found = list(source(root, alive=alive).live_sessions())
    live = sorted((s.session_id, s.pid) for s in found if isinstance(s, LiveSession))
    assert live == [("alive", 11), ("by-name", 13)]
    assert [s.path.rpartition("/")[2] for s in found if isinstance(s, Skipped)] == ["14.json"]


def test_an_entry_of_a_session_that_may_not_be_read_is_named_and_stops_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for pid in (11, 12):
        put(root / "sessions" / f"{pid}.json", pid=pid, sessionId=f"s{pid}")

    def read(name: str, limit: int, *, dir_fd: int | None = None) -> bytes:
        if name == "11.json":
            raise PermissionError(errno.EACCES, "Permission denied")
        return read_small(name, limit, dir_fd=dir_fd)

    monkeypatch.setattr(sessions, "read_small", read)
    found = sorted(
        source(root, alive=lambda _: True).live_sessions(), key=lambda one: isinstance(one, Skipped)
    )
    assert [type(one) for one in found] == [LiveSession, Skipped]
    assert found[1].path.endswith("11.json") and "denied" in found[1].reason.lower()


def test_our_own_process_counts_as_alive(root: Path) -> None:
    put(root / "sessions" / "x.json", pid=os.getpid(), sessionId="me")
    assert [s.pid for s in source(root).live_sessions() if isinstance(s, LiveSession)] == [os.getpid()]


def test_instruction_files_come_in_loading_order(root: Path, tmp_path: Path) -> None:
    repo = tmp_path / "app"
    managed = tmp_path / "managed.md"
    names = [
        "CLAUDE.md",
        ".claude/CLAUDE.md",
        ".claude/rules/a.md",
        ".claude/rules/z/b.md",
        "CLAUDE.local.md",
    ]
    for path in (managed, root / "CLAUDE.md", *(repo / name for name in names), repo / "src" / "CLAUDE.md"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    found = source(root, managed_instructions=(str(managed),)).instruction_files(str(repo / "src"))
    assert [f.path for f in found] == [
        str(managed),
        str(root / "CLAUDE.md"),
        *(str(repo / name) for name in names),
        str(repo / "src" / "CLAUDE.md"),
    ]
    assert [f.scope for f in found[:2]] == ["managed", "user"]


@pytest.mark.parametrize("named", ["/", "~/..", "~/.", "~", "~/../..", "/../"])
def test_a_memory_directory_that_would_hold_everything_is_refused_from_any_source(
    root: Path, named: str
) -> None:
    put(root / "settings.json", autoMemoryDirectory=named)
    settings = Settings(str(root), {}, "/home/dev", ())
    found, refused = settings.memory_directory(None, trusted=True)
    assert found is None and refused
    if named.startswith("/"):
        found, refused = Settings(str(root), {OVERRIDE: named}, "/home/dev", ()).memory_directory(
            None, trusted=True
        )
        assert found is None and refused


def test_a_link_to_the_home_folder_holds_everything_too(root: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (tmp_path / "notes").symlink_to(home)
    put(root / "settings.json", autoMemoryDirectory=str(tmp_path / "notes"))
    found, refused = Settings(str(root), {}, str(home), ()).memory_directory(None, trusted=True)
    assert found is None and refused


def test_an_override_that_is_no_path_stops_no_discovery(root: Path, tmp_path: Path) -> None:
    put(root / "settings.json", env={OVERRIDE: "/notes\0"})
    session(root, repository(tmp_path / "app"))
    assert [Path(found.memory_dir).parent.parent for found in projects(source(root))] == [root / "projects"]


@pytest.mark.parametrize("tracked", [False, True])
@pytest.mark.parametrize("ignored", [False, True, "by the person"])
def test_local_settings_are_trusted_only_where_git_ignores_them(
    tmp_path: Path, root: Path, ignored: bool | str, tracked: bool
) -> None:
    """What is in git's index came with the repository, whatever its ignore file says."""
    home, repo = tmp_path / "home", tmp_path / "repo"
    repo.mkdir()
    porcelain.init(str(repo)).close()
    put(repo / ".claude" / "settings.local.json", autoMemoryDirectory="/somewhere/else")
    if tracked:
        porcelain.add(str(repo), [str(repo / ".claude" / "settings.local.json")])
    if ignored is True:
        (repo / ".gitignore").write_text(".claude/settings.local.json\n")
    if ignored == "by the person":
        (home / ".config" / "git").mkdir(parents=True)
        (home / ".config" / "git" / "ignore").write_text("**/.claude/settings.local.json\n")
    settings = Settings(str(root), {}, str(home), ())
    found, refused = settings.memory_directory(str(repo), trusted=True)
    is_own = bool(ignored) and not tracked
    assert (found.value if found else None) == ("/somewhere/else" if is_own else None)
    assert bool(refused) is not is_own
    assert settings.memory_directory(str(repo), trusted=False)[0] is None, "the project itself is not trusted"


def test_what_an_administrator_manages_is_where_the_agent_has_it() -> None:
    """Sources: the agent's documentation, for Linux and macOS."""
    mac = "/Library/Application Support/ClaudeCode"
    assert {"/etc/claude-code/CLAUDE.md", f"{mac}/CLAUDE.md"} == set(MANAGED)
    assert {"/etc/claude-code/managed-settings.json", f"{mac}/managed-settings.json"} <= set(MANAGED_FILES)
