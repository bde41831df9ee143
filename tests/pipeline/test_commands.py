"""The commands as people script them: JSON on stdout, exit codes, bare slugs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from dreams.management.base import table
from dreams.management.commands.apply import why_refused
from dreams.models import FileChange, Finding, Memory, Proposal
from dreams.services.review import BlockingFinding
from tests.world import directory as world
from tests.world.cases import each
from tests.world.command_line import typed
from tests.world.manifest import manifest
from tests.world.processes import commands as forked
from tests.world.processes.servers import with_database

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db(transaction=True)

SLUG = "-home-dev-app"
ROOT = Path(__file__).parents[2]


class Shell:
    """Commands over a root of their own."""

    def __init__(self, base: Path) -> None:
        self.root = base / "claude"
        self.memory = self.root / "projects" / SLUG / "memory"
        world.put(self.memory / "MEMORY.md", world.INDEX)
        world.put(self.memory / "feedback_testing.md", world.TESTING)
        world.put(self.memory / "project_deploy.md", world.DEPLOY)
        world.write_sessions(self.root, 6, slug=SLUG)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return typed(*arguments)

    def json(self, *arguments: str, code: int = 0):
        done = self.run(*arguments, "--json")
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout)


class Processes(Shell):
    """The same over a data directory of their own too, each command a process that knows nothing of the one before."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        (base / "home").mkdir()
        self.env = forked.environment(
            with_database(base / "data"),
            MEMORYWEB_ROOTS=str(self.root),
            MEMORYWEB_TIME_ZONE="UTC",
            HOME=str(base / "home"),
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return forked.run(*arguments, environment=self.env)


@pytest.fixture
def shell(tmp_path: Path, settings: SettingsWrapper) -> Shell:
    made = Shell(tmp_path)
    settings.ROOTS = (made.root,)
    return made


@pytest.fixture
def discovered(shell: Shell) -> Shell:
    shell.json("discover")
    return shell


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    return Processes(tmp_path)


def test_a_dream_that_is_refused_says_so_in_one_line(discovered: Shell):
    (discovered.memory / ".consolidate-lock").mkdir()
    done = discovered.run("dream", SLUG, "--force")
    assert done.returncode == 1 and done.stdout == ""
    assert "move it away" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.more
def test_a_dream_that_is_refused_has_the_fields_of_one_that_ran(discovered: Shell):
    ran = discovered.json("dream", SLUG, "--force")
    refused = discovered.json("dream", SLUG, code=1)
    assert refused["status"] == "refused" and refused["dream"] is None and refused["proposal"] is None
    assert refused["error"] and refused["files"] == [] and refused["turns"] == 0
    assert refused.keys() <= ran.keys() and refused["usage"].keys() <= ran["usage"].keys()
    assert not any(refused["usage"].values()) and "cost_usd" in refused["usage"]


@each("command", ["gates", "extract", "verify", "search words --project"])
def test_an_empty_name_is_no_project_and_never_all_of_them(discovered: Shell, command: str) -> None:
    done = discovered.run(*command.split(), "")
    assert done.returncode == 1 and done.stderr.startswith("No project ''.")


@each(
    "command",
    ["projects --host", "doctor --host", "gates --now", "instructions app --cwd", "readonly_shell --cwd"],
)
def test_an_option_with_nothing_in_it_is_not_one_that_is_left_out(discovered: Shell, command: str) -> None:
    """As of a variable of a script that is not set."""
    done = discovered.run(*command.split(), "")
    option = command.rsplit(maxsplit=1)[-1]
    assert done.returncode == 2 and f"argument {option}: it is empty" in done.stderr
    assert done.stdout == ""


def test_a_refusal_is_one_line_whatever_a_name_has(discovered: Shell) -> None:
    done = discovered.run("history", "no\tsuch\nproject")
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    done = discovered.run("projects", "--host", "no\tsuch\nhost")
    assert done.stderr == "No host is called no⟨U+0009⟩such⟨U+000A⟩host. `hosts` lists them.\n"


def test_what_nobody_can_confirm_is_answered_with_the_command_that_rejects_it() -> None:
    file = FileChange(path="my notes.md")
    says = {
        severity: why_refused(
            BlockingFinding(Finding(severity=severity, file=file)), Proposal(public_id="p1")
        )
        for severity in ("block", "refuse")
    }
    assert says["block"].endswith("or: decide p1 --approve --confirm-findings")
    assert says["refuse"].endswith("or: decide p1 --reject --path 'my notes.md'")


def test_a_session_of_another_project_is_not_read_for_this_one(discovered: Shell) -> None:
    world.write_sessions(discovered.root, 1, slug="-home-dev-other")
    discovered.json("discover")
    session = next((discovered.root / "projects/-home-dev-other").glob("*.jsonl")).stem
    done = discovered.run("extract", SLUG, "--session", session)
    assert done.returncode == 1 and f"{session} is of -home-dev-other, not of {SLUG}" in done.stderr


@pytest.mark.parametrize("words", [("export", SLUG), ("settings", "export")])
def test_an_export_replaces_only_a_plain_file(
    discovered: Shell, tmp_path: Path, words: tuple[str, ...]
) -> None:
    kept, pipe, link = tmp_path / "kept", tmp_path / "pipe", tmp_path / "link"
    kept.write_text("mine")
    os.mkfifo(pipe)
    link.symlink_to(kept)
    for target in (pipe, link):
        done = discovered.run(*words, str(target))
        assert (done.returncode, done.stderr) == (1, f"{target}: Not a plain file. Name another one.\n")
    assert pipe.is_fifo() and link.is_symlink() and kept.read_text() == "mine"
    assert discovered.run(*words, str(kept)).returncode == 0 and kept.read_text(errors="replace") != "mine"


def test_a_file_that_cannot_be_written_or_read_is_named_with_the_remedy(
    discovered: Shell, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    nowhere, folder = tmp_path / "nowhere" / "file", tmp_path / "folder"
    for words in (("export", SLUG), ("settings", "export")):
        done = discovered.run(*words, str(nowhere))
        assert (done.returncode, done.stderr) == (
            1,
            f"{nowhere}: No such file or directory. Name an existing folder, or another file.\n",
        )
        done = discovered.run(*words, str(folder))
        assert (done.returncode, done.stderr) == (
            1,
            f"{folder}: Is a directory. Name a file, not a folder.\n",
        )
    done = discovered.run("settings", "import", str(nowhere))
    assert done.returncode == 1 and done.stderr == (
        f"{nowhere}: No such file or directory. Name an existing folder, or another file.\n"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claude", "folder"], "nothing is left behind"


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_that_is_none_is_wrong_usage(port: str) -> None:
    for command in ("serve", "model_server"):
        done = typed(command, "--port", port)
        assert done.returncode == 2 and "a port is a number from 0 to 65535" in done.stderr


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("words", [("history", "-any"), ("audit",), ("search", "any")])
def test_a_limit_below_one_is_wrong_usage(words: tuple[str, ...]) -> None:
    done = typed(*words, "--limit", "0")
    assert done.returncode == 2 and "a limit is a number from 1, not '0'" in done.stderr
    assert "not '-1'" in typed(*words, "--limit", "-1").stderr


def test_from_discover_to_rollback_by_command_with_a_bare_slug(shell: Shell) -> None:
    before = manifest(shell.memory)
    found = shell.json("discover")
    assert (found["projects"], found["sessions"], found["skipped"]) == (1, 6, [])
    assert shell.json("discover")["bytes_read"] == 0

    (gated,) = shell.json("gates", SLUG)["projects"]
    assert gated["open"] and all(gate["reason"] for gate in gated["gates"])

    dreamt = shell.json("dream", "--engine", "rules", SLUG)
    assert dreamt["status"] == "completed" and dreamt["files"]
    assert without_lock(manifest(shell.memory)) == without_lock(before)

    shown = shell.json("proposal", dreamt["dream"], "--diff")
    assert shown["proposal"] == dreamt["proposal"]
    added = [line for file in shown["files"] for hunk in file["hunks"] for line in hunk["added"]]
    assert any("queue 3 is drained by hand" in line for line in added)
    assert all(hunk["evidence"] for file in shown["files"] for hunk in file["hunks"])

    learnt = next(hunk["id"] for file in shown["files"] for hunk in file["hunks"] if file["kind"] == "add")
    secret = "ghp_" + "q7Rk2WvX9cT4pB1zN8hQ3dJ5sL6yG0fAuEoM"
    (shell.root / "edit.md").write_text(f"- Queue 3 needs {secret}\n")
    shell.json("decide", dreamt["dream"], "--edit", str(shell.root / "edit.md"), "--hunk", learnt)
    shell.json("decide", dreamt["dream"], "--approve")
    words = shell.run("proposal", dreamt["dream"]).stdout
    assert "+ - Queue 3 needs ghp_•" in words and secret not in words
    held = shell.json("apply", dreamt["dream"], code=1)
    assert held["applied"] == [] and "has an open finding" in held["error"]
    words = shell.run("decide", dreamt["dream"], "--approve", "--hunk", learnt).stdout
    assert words.endswith("\n2 changes decided; nothing is written before `apply`.\n")

    decided = shell.json("decide", dreamt["dream"], "--approve", "--confirm-findings", "--reason", "all good")
    assert {row["verdict"] for row in decided["decided"]} == {"approved"}
    applied = shell.json("apply", dreamt["proposal"])
    assert {w["path"] for w in applied["applied"]} == {file["path"] for file in shown["files"]}

    preview = shell.json("rollback", dreamt["dream"], "--preview")
    assert {row["outcome"] for row in preview["files"]} <= {"restored", "removed"}
    shell.json("rollback", dreamt["dream"])
    assert without_lock(manifest(shell.memory)) == without_lock(before)

    again = shell.json("rollback", dreamt["dream"])
    assert again["already"] and "nothing to undo" in again["said"][0]


def without_lock(found):
    """The tree but for the lock file, and the root's own mtime that its coming moves."""
    return {path: entry for path, entry in found.items() if path not in (".consolidate-lock", "")}


@pytest.mark.sweep
def test_a_stale_file_makes_apply_exit_1_until_it_is_confirmed(processes: Processes) -> None:
    processes.json("discover")
    dreamt = processes.json("dream", SLUG)
    processes.json("decide", dreamt["dream"], "--approve", "--confirm-findings")
    index = processes.memory / "MEMORY.md"
    index.write_text(index.read_text() + "- [Later](later.md) — from a live session\n")
    refused = processes.json("apply", dreamt["dream"], code=1)
    assert [w["path"] for w in refused["rebased"]] == ["MEMORY.md"]
    assert not [w for w in refused["applied"] if w["path"] == "MEMORY.md"]
    processes.json("apply", dreamt["dream"], "--rebased")
    assert "from a live session" in index.read_text()


@pytest.mark.more
def test_a_version_comes_back_as_a_new_change(processes: Processes) -> None:
    processes.json("discover")
    path = processes.memory / "project_deploy.md"
    path.write_text(world.DEPLOY.replace("alpha", "beta"))
    versions = processes.json("history", SLUG, "project_deploy.md")["versions"]
    assert [v["origin"] for v in versions] == ["outside", "found"]
    processes.json("restore", SLUG, "project_deploy.md", "--version", versions[1]["version"][:12])
    assert path.read_text() == world.DEPLOY
    assert processes.json("history", SLUG, "project_deploy.md")["versions"][0]["origin"] == "restore"


@pytest.mark.more
def test_all_memories_of_a_day_come_back_by_a_proposal_that_is_undone_like_any_other(
    discovered: Shell,
) -> None:
    then, before = timezone.now().isoformat(), texts(discovered.memory)
    world.put(discovered.memory / "project_deploy.md", world.DEPLOY.replace("alpha", "beta"))
    world.put(discovered.memory / "later.md", "Written later.\n")
    (discovered.memory / "feedback_testing.md").unlink()
    since = manifest(discovered.memory)

    preview = discovered.json("restore", SLUG, "--to", then, "--preview")
    outcomes = {"feedback_testing.md": "restored", "later.md": "removed", "project_deploy.md": "restored"}
    assert {row["path"]: row["outcome"] for row in preview["files"]} == outcomes
    assert "- Written later." in preview["files"][1]["diff"]
    assert preview["proposal"] is None and not Proposal.objects.exists()
    assert (
        "project_deploy.md: restored\n" in discovered.run("restore", SLUG, "--to", then, "--preview").stdout
    )

    made = discovered.json("restore", SLUG, "--to", then)
    assert made["files"] == preview["files"] and manifest(discovered.memory) == since
    discovered.json("decide", made["proposal"], "--approve", "--confirm-findings")
    discovered.json("apply", made["proposal"])
    assert texts(discovered.memory) == before
    discovered.json("rollback", made["proposal"], "--path", "later.md")
    assert (discovered.memory / "later.md").read_text() == "Written later.\n"
    assert (discovered.memory / "feedback_testing.md").exists()


def texts(folder: Path) -> dict[str, str]:
    found = without_lock(manifest(folder))
    return {path: entry.sha256 for path, entry in found.items() if entry.sha256}


def test_one_memory_of_a_day_comes_back_alone_and_a_day_with_all_as_now_proposes_nothing(
    discovered: Shell,
) -> None:
    then = timezone.now().isoformat()
    for name in ("project_deploy.md", "feedback_testing.md"):
        world.put(discovered.memory / name, "Changed since.\n")
    assert "Nothing differs" in discovered.run("restore", SLUG, "--to", f"{timezone.localdate()}").stdout
    discovered.run("restore", SLUG, "project_deploy.md", "--to", then)
    [made] = Proposal.objects.all()
    assert (made.state, [file.path for file in made.files.all()]) == ("open", ["project_deploy.md"])


def test_a_day_before_the_first_check_is_said_to_be(discovered: Shell) -> None:
    assert "before memoryweb’s first check" in discovered.run("restore", SLUG, "--to", "2020-01-01").stdout


@each(
    ("arguments", "code", "said"),
    [
        (("gates", "-home-dev-nothing"), 1, "No project"),
        (("gates", "--nope"), 2, "unrecognized arguments: --nope"),
        (("gates", "--now", "yesterday"), 2, "is not an ISO time"),
        (("gates", "--now", "2026-03-01T10:00:00"), 2, "has no offset"),
        (("gates", "--now", "9999-12-31T23:59:59+00:00"), 2, "choose a year from 2 to 9998"),
        (("gates", "--now", "0001-01-01T00:00:00+00:00"), 2, "choose a year from 2 to 9998"),
        (("extract", "--session", ""), 1, "No session ''"),
        (("dream", SLUG, "--engine", "oracle"), 2, "invalid choice"),
        (("apply", "d00000000"), 1, "No dream"),
        (("decide", "d00000000"), 2, "required"),
        (("restore", SLUG, "MEMORY.md", "--version", "abc"), 2, "too short"),
        (("restore", SLUG, "MEMORY.md"), 2, "required"),
        (("restore", SLUG, "--version", "abcdef"), 2, "restores one PATH"),
        (("restore", SLUG, "--to", "last Friday"), 2, "is no day or time"),
        (("restore", SLUG, "nothing.md", "--to", "2026-03-01"), 1, "nothing.md is no memory of"),
    ],
)
def test_bad_input_is_one_clear_line_and_an_exit_code(
    discovered: Shell, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = discovered.run(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr and "Traceback" not in done.stderr
    assert done.stdout == ""
    assert said in discovered.json(*arguments, code=code)["error"]


@pytest.mark.not_on_postgresql
def test_a_command_that_there_is_not_is_wrong_usage(processes: Processes) -> None:
    for words in (("nothing",), ("help", "nothing")):
        done = processes.run(*words)
        assert done.returncode == 2 and "Unknown command: 'nothing'" in done.stderr


@pytest.mark.not_on_postgresql
def test_help_says_what_each_command_does_and_its_usage_names_no_option_of_django(
    processes: Processes,
) -> None:
    done = processes.run("help")
    ours = done.stdout.partition("Commands of Django")[0]
    commands = {path.stem for path in (ROOT / "dreams/management/commands").glob("[a-z]*.py")}
    assert commands == {
        line.split()[0] for line in ours.splitlines() if line[:3].strip() and line[:2] == "  "
    }
    assert "  apply           Submit the review and write what was approved" in ours
    assert "--pythonpath" not in (usage := processes.run("answer", "--help").stdout)
    assert "--row PATH" in usage


def test_a_slug_of_two_projects_is_refused_with_the_candidates(shell: Shell, tmp_path: Path) -> None:
    other = tmp_path / "other/projects" / SLUG / "memory"
    world.put(other / "MEMORY.md", world.INDEX)
    world.write_sessions(tmp_path / "other", 1, slug=SLUG)
    shell.json("discover", "--root", str(shell.root), "--root", str(tmp_path / "other"))
    done = shell.run("gates", SLUG)
    assert done.returncode == 2
    assert str(shell.memory) in done.stderr and str(other) in done.stderr
    assert shell.json("gates", str(other))["projects"][0]["memory_dir"] == str(other)


@pytest.mark.not_on_postgresql
def test_a_bad_configuration_is_refused_with_the_remedy(processes: Processes) -> None:
    processes.env |= {"MEMORYWEB_TASK_TIMEOUT": "3600", "MEMORYWEB_TASK_RETRY": "3600"}
    done = processes.run("projects")
    assert done.returncode == 1
    assert "Set MEMORYWEB_TASK_RETRY above MEMORYWEB_TASK_TIMEOUT." in done.stderr


@pytest.mark.not_on_postgresql
def test_a_bad_environment_value_is_named(processes: Processes) -> None:
    processes.env["MEMORYWEB_WORKERS"] = "many"
    done = processes.run("projects")
    assert done.returncode == 1
    assert "MEMORYWEB_WORKERS" in done.stderr and "Traceback" not in done.stderr
    assert processes.json("projects", code=1)["error"] == done.stderr.strip()
    assert processes.run("help").stderr == done.stderr


def test_a_memory_with_a_line_feed_in_its_name_is_recalled_in_one_line(tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"heron\nport.md": "# Heron\n\nThe heron listens on port 8080.\n"})
    done = typed("recall", str(project.pk), "which port has the heron?")
    assert done.stdout.startswith("heron⟨U+000A⟩port.md: ")


def test_a_memory_whose_name_is_too_long_for_this_system_is_not_said_to_have_changed(tmp_path: Path) -> None:
    """Its history may come from another one."""
    project = world.make_project(tmp_path)
    (world.folder(project) / "project_deploy.md").unlink()
    row, name = Memory.objects.get(path="project_deploy.md"), "n" * 300 + ".md"
    Memory.objects.filter(pk=row.pk).update(path=name)
    done = typed("restore", str(project.pk), name, "--version", row.sha256)
    assert done.returncode == 1 and "Nothing was restored: cannot be read" in done.stderr
    assert "File name too long" in done.stderr


@pytest.mark.not_on_postgresql
@pytest.mark.more
def test_a_refusal_that_names_a_file_spells_out_what_moves_a_terminals_cursor(discovered: Shell) -> None:
    name = "notes\x1b[2J\x07.md"
    world.put(discovered.memory / name, "One line.\n")
    discovered.json("discover")
    done = discovered.run("restore", SLUG, name, "--version", "f" * 64)
    assert done.returncode == 1 and "notes⟨U+001B⟩[2J⟨U+0007⟩.md" in done.stderr
    assert "\x1b" not in done.stderr and done.stderr.endswith("\n")


@pytest.mark.not_on_postgresql
def test_json_spells_out_what_moves_a_terminals_cursor_or_turns_a_line(discovered: Shell) -> None:
    name = "notes\x9b2J\u202e.md"
    world.put(discovered.memory / name, "One line.\n")
    discovered.json("discover")
    done = discovered.run("history", SLUG, "--json")
    assert "\x9b" not in done.stdout and "\u202e" not in done.stdout
    assert name in {version["path"] for version in json.loads(done.stdout)["versions"]}


@pytest.mark.more
def test_a_terminal_without_a_character_shows_its_number(processes: Processes) -> None:
    """A process of its own: the encoding is that of its start."""
    environment = {**processes.env, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    world.put(
        processes.memory / "feedback_testing.md", world.TESTING.replace("Snapshots", "“Größe”: Snapshots")
    )

    def run(*words: str) -> subprocess.CompletedProcess[bytes]:
        typed = [sys.executable, "manage.py", *words]
        return subprocess.run(typed, env=environment, cwd=ROOT, capture_output=True, check=False)

    assert run("discover").returncode == 0
    shown = run("search", "snapshots")
    assert shown.returncode == 0 and b"\\u201cGr\xf6\xdfe\\u201d" in shown.stdout, shown.stderr
    found = json.loads(run("search", "snapshots", "--json").stdout)
    assert any("“Größe”" in hit["text"] for hit in found["memories"])


@pytest.mark.not_on_postgresql
@pytest.mark.more
def test_streams_that_are_closed_or_full_end_a_command_in_a_line(processes: Processes) -> None:
    python = f"{shlex.quote(sys.executable)} manage.py"

    def run(line: str) -> tuple[int, str]:
        typed = ["sh", "-c", f"{python} {line}"]
        done = subprocess.run(typed, env=processes.env, cwd=ROOT, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    assert run("discover <&- >&-") == (0, "")
    assert run("gates nothing 2>&-") == (1, "")
    said = "The answer could not be written (No space left on device). Write it elsewhere.\n"
    assert run("projects >/dev/full") == (1, said)
    assert run("projects --json >/dev/full") == (1, said)


@pytest.mark.not_on_postgresql
def test_ctrl_c_while_a_command_starts_is_told_in_a_line(processes: Processes) -> None:
    code = (
        "import os, signal, sys\n"
        # What a shell starts in the background hears no Ctrl-C, nor does what that starts.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Pressing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'dreams.models.projects':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Pressing())\n"
        "from memoryweb.__main__ import run\n"
        "run(['projects'], 'memoryweb')\n"
    )
    typed = [sys.executable, "-c", code]
    done = subprocess.run(typed, env=processes.env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "Stopped.\n")


def test_words_that_are_no_text_are_refused_in_one_line(discovered: Shell) -> None:
    done = discovered.run("search", "caf\udce9")
    assert done.returncode == 1 and "is not text in the encoding of this terminal" in done.stderr


def test_a_line_break_in_a_files_name_begins_no_row_of_a_table() -> None:
    assert table(("memory",), [("a\nb.md",)]) == ["memory", "a⟨U+000A⟩b.md"]
