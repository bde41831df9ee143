"""Lines that would write, run, leave the mounts or tell a secret: refused, or answered without effect."""

import os
from pathlib import Path

import pytest

from tests.world.sandbox import OUTSIDE, World, world

__all__ = ["world"]

REFUSED = [
    # find runs, removes and writes
    "find . -exec touch RAN ;",
    "find . -exec touch RAN \\;",
    "find . -type f -exec cat '{}' +",
    "find . -execdir id \\;",
    "find . -ok rm '{}' \\;",
    "find . -delete",
    "find . -name '*.md' -o -delete",
    "find . -fprint out.txt",
    "find . -fprintf out.txt '%p'",
    "find . -fprint0 out.txt",
    "find . -fls out.txt",
    "find -files0-from a.md",
    "find . -printf '%Z'",
    "find . -newermt 'last tuesday $(id)'",
    # sort writes and runs
    "sort -o a.md b.md",
    "sort -oa.md b.md",
    "sort -uo a.md b.md",
    "sort b.md -o a.md",
    "sort --output=a.md b.md",
    "sort --out=a.md b.md",
    "sort --ou a.md b.md",
    "sort --compress-program=sh b.md",
    "sort --comp=sh b.md",
    "sort -T /tmp b.md",
    "sort --files0-from=a.md",
    "sort -S 1 --parallel=2 b.md",
    # files as lists of files, second operands, checks
    "wc --files0-from=a.md",
    "wc --files0=a.md",
    "uniq a.md new.md",
    "uniq -c a.md new.md",
    "sha256sum -c a.md",
    "md5sum --check a.md",
    "grep --exclude-from=a.md x b.md",
    # never ends
    "tail -f a.md",
    "tail -F a.md",
    "tail --follow a.md",
    "tail -fn1 a.md",
    "tail --retry a.md",
    # abbreviations and clusters with an unknown letter
    "ls --al",
    "ls -lZ",
    "grep --recurs x .",
    "grep -P '(?<!a)b' a.md",
    "grep -P 'a(?!b)' a.md",
    "grep -P '(?<=a+)b' a.md",
    "grep -P 'a(?=b)c' a.md",
    "grep -oP 'x\\Ky|z' a.md",
    "grep -wP 'x\\Ky' a.md",
    "grep -P '(a)\\1' a.md",
    "head --byt=3 a.md",
    "cat --num a.md",
    "cut --bytes 1 --outp=x a.md",
    # sed and awk programs that write or run
    "sed -i s/a/b/ a.md",
    "sed -n -i p a.md",
    "sed -n '1w out' a.md",
    "sed 's/a/b/w out' a.md",
    "sed 's/.*/id/e' a.md",
    "sed '1e id' a.md",
    "sed -f a.md b.md",
    "sed --in-place=.bak p a.md",
    "sed 'r /etc/hosts' a.md",
    "sed -s W a.md",
    "awk 'BEGIN{system(\"id\")}'",
    "awk '{print > \"out\"}' a.md",
    "awk '{print $1 > \"out\"}' a.md",
    "awk '{print $1 | \"sh\"}' a.md",
    "awk '{print} END {system(\"id\")}' a.md",
    "awk 'BEGIN{while((\"id\"|getline x)>0) print x}'",
    'awk \'{printf "%s", ENVIRON["HOME"]}\' a.md',
    "awk '{print ENVIRON[\"HOME\"]}' a.md",
    "awk -f a.md b.md",
    "awk '{print $1}' x=1 a.md",
    # other programs, by any name
    "rm a.md",
    "touch x",
    "tee x",
    "cp a.md x",
    "mv a.md x",
    "ln -s a.md x",
    "mkdir x",
    "chmod 777 a.md",
    "dd if=a.md of=x",
    "truncate -s 0 a.md",
    "bash -c ls",
    "sh a.md",
    "env",
    "env ls",
    "printenv",
    "export A=1",
    "set",
    "declare -p",
    "eval ls",
    "exec ls",
    "source a.md",
    ". a.md",
    "command ls",
    "builtin echo",
    "time ls",
    "nohup ls",
    "timeout 5 ls",
    "sudo ls",
    "python3 -c 1",
    "perl -e 1",
    "git log",
    "git -C /repo status",
    "curl http://localhost",
    "nc -l 1",
    "vi a.md",
    "less a.md",
    "man ls",
    "./ls",
    "/bin/ls",
    "/memory/ls",
    "ls | sh",
    "ls && rm a.md",
    "false && rm a.md",
    "true || rm a.md",
    "ls; rm a.md",
    "l?",
    "*",
    "printf -v x a",
    "printf '%n' a",
    "xargs rm",
    "ls | xargs rm",
    "ls | xargs -I x sh -c x",
    "if true; then ls; fi",
    "for x in a; do ls; done",
    "[[ -f a.md ]]",
    "test -G a.md",
    "stat -f .",
    "stat -L link.md",
    "ls -H out",
    "diff --output=x a.md b.md",
    "nl -bpx a.md",
    # patterns that no linear matcher can take
    "grep '\\(a\\)\\1' a.md",
    "grep -E '(a)\\1' a.md",
    "grep -E 'a{1,5000}' a.md",
]


@pytest.mark.parametrize("line", REFUSED)
def test_a_hostile_line_is_refused_and_nothing_changes(world: World, line: str) -> None:
    was = world.state()
    answer = world.run(line)
    assert answer.refused, answer.output
    assert answer.output.startswith("refused: ") and answer.output.endswith("Nothing was run.\n")
    assert answer.exit_code != 0 and answer.stdout == b""
    assert world.state() == was


def test_a_refused_part_late_in_the_line_keeps_the_earlier_parts_from_running(world: World) -> None:
    answer = world.run("cat a.md; ls; uniq a.md b.md")
    assert answer.refused and "note" not in answer.output


def test_a_glob_never_becomes_an_option_or_a_command(world: World) -> None:
    """`-rf` stands in the folder; `sort -o*`-like names must stay names."""
    (world.memory / "-o").write_text("x\n")
    (world.memory / "--output=RAN").write_text("x\n")
    assert "./-rf" in world.out("ls *").split("\n")
    assert not world.run("sort *").refused
    assert not world.run("sort -- *").refused
    assert world.out("echo -*") == "-*\n"
    assert not (world.memory / "RAN").exists()


def test_a_program_of_the_folder_named_like_a_command_is_never_run(world: World) -> None:
    (world.memory / "grep").write_text(f"#!/bin/sh\ntouch {world.memory}/RAN\n")
    (world.memory / "grep").chmod(0o755)
    assert "a.md" in world.out("ls")
    assert world.out("grep -c note a.md") == "1\n"
    assert not (world.memory / "RAN").exists()


def test_no_line_tells_the_environment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = "-".join(["marker", "of", "environment"])
    monkeypatch.setenv("SANDBOX_TEST_MARKER", marker)
    for line in (
        "cat /proc/self/environ",
        "cat /proc/1/environ",
        "grep -a . /proc/self/environ",
        "find /proc -name environ",
        "strings /proc/self/environ",
        "printf '%s' SANDBOX_TEST_MARKER",
        "echo SANDBOX_TEST_MARKER",
        "ls -la /proc/self",
        "env | grep SANDBOX",
        "stat /proc/self/environ",
        "cd /proc/self && cat environ",
    ):
        assert marker not in world.run(line).output


def test_each_way_to_a_secret_outside_ends_in_an_error(world: World) -> None:
    lines = [
        "cat link.md",
        "cat out/secret",
        "grep -r . out",
        "grep -f link.md a.md",
        "grep -rf out/secret .",
        "head -c 100 ./link.md",
        "tail -n +1 link.md",
        "sort link.md",
        "diff link.md a.md",
        "diff -r out topic",
        "find out/ -type f",
        "wc link.md",
        "nl link.md",
        "cut -c1- link.md",
        "tac link.md",
        "cat out/*",
        "cd out && cat secret",
        "ls out/",
        "uniq link.md",
        "rev link.md",
    ]
    for line in lines:
        answer = world.run(line)
        assert OUTSIDE not in answer.output and OUTSIDE[::-1] not in answer.output, line
        assert answer.exit_code != 0 or line.startswith("find"), line


def test_the_package_imports_nothing_that_runs_programs() -> None:
    package = Path(__file__).parents[2] / "dreams/lib/sandbox"
    paths = [
        path for path in sorted(package.rglob("*.py")) if "tool_worker" not in path.parts
    ]  # that is a process
    sources = {path.name: path.read_text() for path in paths}
    assert len(sources) > 15
    forbidden = (
        "subprocess",
        "ctypes",
        "multiprocessing",
        "os.system",
        "os.exec",
        "os.spawn",
        "os.popen",
        "os.fork",
        "pty",
        "socket",
    )
    forbidden += ("eval(", "exec(", "__import__", "importlib", "django", "os.environ", "getenv", "shutil")
    forbidden += (
        "os.remove",
        "os.unlink",
        "os.rename",
        "os.replace",
        "os.mkdir",
        "write_text",
        "write_bytes",
        ".mkdirs(",
    )
    for name, text in sources.items():
        code = "\n".join(
            line
            for line in text.splitlines()
            if line.startswith(("import ", "from ")) or "os." in line or "(" in line
        )
        for word in forbidden:
            assert not any(_uses(line, word) for line in code.splitlines()), (name, word)


def _uses(line: str, word: str) -> bool:
    """Whether a line of code uses a name, not as a part of another one or of a text."""
    at = line.find(word)
    while at >= 0:
        before = line[at - 1 : at]
        if not (before.isalnum() or before in ("_", ".", "'", '"', "-")) and line[:at].count('"') % 2 == 0:
            return True
        at = line.find(word, at + 1)
    return False


def test_a_run_opens_no_process_and_writes_no_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*args: object, **kwargs: object) -> None:
        raise AssertionError("a program was started")

    for name in ("system", "fork", "execv", "execve", "posix_spawn", "popen"):
        monkeypatch.setattr(os, name, forbidden)
    was = world.state()
    for line in (
        "ls -la",
        "cat *.md | sort -u",
        "find . -name '*.md'",
        "grep -rn note .",
        "stat a.md",
        "diff a.md b.md",
    ):
        assert not world.run(line).refused
    assert world.state() == was
