"""`readonly_shell`, run as people run it."""

import json
import subprocess
from pathlib import Path

import pytest

from dreams.management.commands.readonly_shell import _mounted
from tests.world.command_line import typed
from tests.world.processes import commands as forked

pytestmark = pytest.mark.not_on_postgresql


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("one\ntwo\n")
    (tmp_path / "outside.md").write_text("outside\n")
    return folder


def run(memory: Path, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = forked.environment(memory.parent / "data")
    done = forked.run("readonly_shell", *args, environment=environment, stdin=stdin)
    assert not list(memory.parent.rglob("*sqlite*"))
    return done


def test_a_folder_named_by_a_link_stands_first_for_what_it_leads_to(memory: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(memory)
    mount = _mounted(f"memory={link}")
    mount.root.close()
    assert mount.stands_for == (str(memory), str(link))


@pytest.mark.more
def test_a_batch_answers_each_line_in_order_and_a_bad_one_stops_none(memory: Path) -> None:
    lines = [
        {"cmd": "cat a.md | wc -l"},
        {"cmd": "rm a.md"},
        {"no": 1},
        {"cmd": f"cat {memory}/a.md"},
        {"cmd": "cat ../outside.md"},
    ]
    stdin = "".join(json.dumps(line) + "\n" for line in lines[:2]) + "not json\n"
    stdin += "".join(json.dumps(line) + "\n" for line in lines[2:])
    done = run(memory, "--mount", f"memory={memory}", "--cwd", str(memory), "--batch", stdin=stdin)
    counted, refused, broken, incomplete, read, outside = [
        json.loads(row) for row in done.stdout.splitlines()
    ]
    assert (counted["cmd"], counted["refused"], counted["output"], counted["exit_code"]) == (
        "cat a.md | wc -l",
        False,
        "2\n",
        0,
    )
    assert counted["ms"] >= 0
    assert refused["refused"] is True and "'rm' is not one of the commands" in refused["output"]
    assert refused["exit_code"] != 0
    assert "line 3" in broken["error"] and "'cmd'" in incomplete["error"]
    assert read["output"] == "one\ntwo\n"
    assert outside["exit_code"] == 1 and "outside\n" not in outside["output"]
    assert done.returncode == 0 and done.stderr == ""


def test_one_line_prints_its_output_and_ends_with_its_status(memory: Path) -> None:
    mount = ("--mount", f"memory={memory}")
    assert run(memory, *mount, "-c", "head -1 /memory/a.md").stdout == "one\n"
    assert run(memory, *mount, "-c", "grep -c three /memory/a.md").returncode == 1
    refused = run(memory, *mount, "-c", "cat $HOME")
    assert refused.returncode == 1 and refused.stdout == "" and "'$'" in refused.stderr


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        (["--mount", "memory", "-c", "ls"], 2, "NAME=DIR"),
        (["--mount", "memory=/no/such/folder", "-c", "ls"], 1, "/no/such/folder"),
        (["--mount", "memory={memory}", "--cwd", "/nowhere", "-c", "ls"], 2, "--cwd"),
        (["--mount", "a={memory}", "--mount", "/a/={memory}", "-c", "ls"], 2, "--mount a is given twice"),
        (["-c", "ls"], 2, "--mount"),
        (["--mount", "memory={memory}"], 2, "-c"),
    ],
)
def test_a_wrong_call_ends_with_one_clear_line(
    memory: Path, args: list[str], status: int, words: str
) -> None:
    done = typed("readonly_shell", *[arg.format(memory=memory) for arg in args])
    assert done.returncode == status and words in done.stderr and "Traceback" not in done.stderr


def test_a_person_reads_their_files_as_they_are_by_every_command(memory: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    (memory / "s.jsonl").write_text(json.dumps({"text": f"token is {token}"}) + "\n")
    lines = {
        "cat s.jsonl": token,
        "cut -c1-99 s.jsonl": token,
        "sed 's/text/said/' s.jsonl": token,
        "tr a a < s.jsonl": token,
        "jq -r .text s.jsonl": token,
        "grep -o 'ghp_.*' s.jsonl": token,
        "head -c 40 s.jsonl": token[:20],
        "tail -c 20 s.jsonl": token[-15:],
    }
    stdin = "".join(json.dumps({"cmd": line}) + "\n" for line in lines)
    done = run(memory, "--mount", f"memory={memory}", "--cwd", "/memory", "--batch", stdin=stdin)
    printed = {row["cmd"]: row["output"] for row in map(json.loads, done.stdout.splitlines())}
    assert [line for line, told in lines.items() if told not in printed[line]] == []
