"""Lines that would write, run, leave the mounts or tell a secret: refused, or answered without effect."""

import os
from pathlib import Path

import pytest

from dreams.lib.sandbox import shell
from tests.world.cases import each
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
    # programs of sed and awk that write or run
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


@each("line", REFUSED)
def test_a_hostile_line_is_refused_and_nothing_changes(world: World, line: str) -> None:
    was = world.state()
    answer = world.run(line)
    assert answer.refused, answer.output
    assert answer.output.startswith("refused: ") and answer.output.endswith("Nothing was run.\n")
    assert answer.exit_code != 0 and answer.stdout == b""
    assert world.state() == was


def test_a_fault_of_ours_ends_its_line_and_not_the_session(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched:
        patched.setattr(shell.Process, "chunks", broken)
        answer = world.run("echo before; cat a.md; echo after")
    assert (answer.exit_code, answer.refused) == (shell.FAULT, False)
    assert answer.output == (
        "before\n[stopped by a fault of this shell (ZeroDivisionError); write the command differently]\n"
    )
    assert world.run("cat a.md").exit_code == 0


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


# Refused, or answered without an effect: an error, or what the mounts hold anyway.
TRIED = r"""
cat < /etc/passwd
cat < link.md
wc -c < out/secret
tr a b < /proc/self/environ
cat < pipe.fifo
cat < .
cat < ../../../home/secret
sort < /etc/shadow
jq . < link.md
sed p < /memory/../home/secret
cat 0< /etc/passwd
cat <> a.md
cat <<< x
cat << EOF
cat < a.md > b.md
sort < a.md -o b.md
grep . < link.md
head -1 < "link.md"
cat < 'out/secret'
cat < a.md < link.md
diff - link.md < a.md
cmp - link.md < a.md
rg --files /etc
rg --files out
rg --files --hidden ..
rg --files -L out
rg --pre sh --files
rg --hostname-bin sh x
rg --search-zip x
rg -z x
sed -n '1w x' a.md
sed -n '$w x' a.md
sed 's/a/b/gw x' a.md
sed 's/a/b/pw x' a.md
sed 's/a/id/ge' a.md
sed '1!e id' a.md
sed -n '/a/,/b/w x' a.md
sed -e p -e 'w x' a.md
sed 'p;w x' a.md
sed --expression='w x' a.md
sed '1r link.md' a.md
sed 'R link.md' a.md
sed -i.bak p a.md
sed --in-place p a.md
sed -ni p a.md
sed -Ei p a.md
sed -s -i p a.md
sed --file=link.md a.md
sed -nf link.md a.md
sed --debug p a.md
sed F link.md
sed 'v;w x' a.md
sed 's#a#b#w x' a.md
sed '\,a,w x' a.md
sed 'y/a/b/;w x' a.md
jq -n env.HOME
jq -n '$ENV|keys'
jq -n '"\(env)"'
jq -n 'input_filename' a.md
jq -n '[inputs]' link.md
jq -R . link.md
jq --slurpfile x link.md -n '$x'
jq --rawfile x link.md -n '$x'
jq --from-file link.md a.md
jq -f link.md
jq -L /tmp . a.md
jq -n 'include "x"; 1'
jq -n 'import "link" as $x; $x'
jq -n '"x"|debug'
jq -n 'halt_error'
jq --seq . a.md
jq -n '$__loc__, $__prog_args'
jq -n 'getpath(["a"]) | input_line_number'
jq -n 'try error catch env'
jq -n '@sh "\(env)"'
jq -n 'def env: 1; env'
jq -n '[limit(1; repeat(env))]'
jq -n '.[env]?'
jq -n '. as {$ENV} | $ENV'
find . -exec cat {} \;
find . -execdir cat {} +
find . -okdir rm {} \;
find / -delete
find . -name a.md -fprintf x '%p'
find . -fls x
find -H out
find out -follow
find . -newer link.md -exec id \;
find . -samefile link.md
find . -files0-from -
find . -printf '%l' -delete
sort -o x a.md
sort --output x a.md
sort -uox a.md
sort -T. a.md
sort --compress-program=./ls a.md
sort --files0-from=link.md
sort --random-source=link.md a.md
sort -R a.md
uniq a.md x
uniq - x
uniq -c -- a.md x
tail -f a.md
tail --pid=1 -f a.md
head -c 1G /dev/zero
cat /dev/zero
cat /dev/tcp/127.0.0.1/80
grep -f link.md a.md
grep -r . /
grep -R nobody out
grep --include=../../home/secret . -r
grep -D read . pipe.fifo
grep -d recurse . out
grep -P '(?{system("id")})' a.md
grep -P '(?R)' a.md
wc --files0-from=link.md
du --files0-from=link.md
du -L out
du -X link.md .
diff --to-file=link.md a.md
diff -r out topic
diff --ifdef=x a.md b.md
cmp -i 0 a.md link.md
stat -L link.md
stat -f /
stat --printf='%C' a.md
ls -L link.md
ls --hyperlink=always
ls --zero out/
printf -v x y
printf '%n' 1
printf '%(%s)T' 1
echo $HOME
echo ${HOME}
echo "$(id)"
echo `id`
echo $((1+1))
cat ~root/.ssh/id_rsa
ls ~+
{ls,-la}
cat a.md | tee x
cat a.md >x
cat a.md 1>x
cat a.md 2>x
cat a.md &>x
cat a.md >&2
ls & id
ls | sh
ls |& cat
! ls
time ls
coproc ls
function f
f() { id; }
alias ls=id
ls;id
ls||id
true&&id
exec 3<a.md
read x < a.md
mapfile < a.md
source a.md
. a.md
eval "ls"
command -v ls
type ls
hash ls
test -v HOME
[ -v PATH ]
test -N a.md
[[ a = a ]]
cd / && cat etc/passwd
cd .. && cat home/secret
cd out && ls
cd link.md
basename -z a.md ; id
dirname a.md && touch x
nl link.md
cut -f1 link.md
tr a b link.md
sha256sum -c link.md
sha256sum link.md out/secret
""".strip().splitlines()


def test_nothing_that_is_tried_has_an_effect_or_shows_what_is_outside(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/of-somebody-else")
    was = world.state()
    for line in TRIED:
        answer = world.run(line)
        shown = [text for text in (OUTSIDE, "root:x", "of-somebody-else", "uid=") if text in answer.output]
        assert not shown and answer.exit_code != 70 and answer.ms < 5_000, (line, answer.output)
        assert answer.refused or answer.exit_code or line.startswith(("rg --files", "grep -r . /")), line
    assert world.state() == was


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
