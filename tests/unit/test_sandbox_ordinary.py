"""Lines that agents write while they look around are run, and print what they should."""

from __future__ import annotations

import re
from pathlib import Path

from dreams.lib.sandbox.commands import known_commands
from tests.world.cases import each
from tests.world.sandbox import World, world

__all__ = ["world"]


def test_the_documents_name_every_command() -> None:
    text = (Path(__file__).parents[2] / "docs/engines.md").read_text(encoding="utf-8")
    listed = text.split("run or follow links:")[1].split("What they print")[0]
    assert re.findall(r"`([^`]+)`", listed) == known_commands()


@each(
    ("line", "output"),
    [
        ("sed -n '2p;2q' a.md", "type: user\n"),
        ("sed -n '/type/,3p' a.md", "type: user\nb,2\n"),
        ("sed -n '/type/,/b/p;$p' a.md", "type: user\nb,2\na,1\n"),
        ("sed -E 's/([a-z]),([0-9])/\\2-\\1/;/^#/d' a.md", "type: user\n2-b\n1-a\n"),
        ("sed '2,3!d' a.md b.md", "type: user\nb,2\n"),
        ("sed -n '6p;$p' a.md b.md", "type: user\na,1\n"),
        ("ls -S -r topic ls", "ls\n\ntopic:\none.md\n"),
        ("wc -l < a.md", "4\n"),
        ("tr -s ' ' '\\n' < a.md | head -2", "#\nnote\n"),
        ("rg --files topic", "topic/one.md\n"),
        ("find a.md b.md -type f -print -quit", "a.md\n"),
        ("find topic b.md -name '*.md' -print -quit -o -type f | wc -l", "1\n"),
        ("find a.md topic -executable", "topic\n"),
        ("find . -quit", ""),
        ("cmp -s a.md b.md && echo same", "same\n"),
        ("rg 'type: (user|project)' | sort | head -2", "MEMORY.md:type: user\na.md:type: user\n"),
        ("rg -n -g '*.md' note topic", "topic/one.md:1:# note TODO\n"),
        ("rg -t md -l -S Todo | sort | head -1", ""),
        ("rg -i -c todo a.md", "1\n"),
    ],
)
def test_an_ordinary_line_prints_what_it_should(world: World, line: str, output: str) -> None:
    assert world.out(line) == output


REFUSED = [
    "rg --pre cat note",
    "rg -L note",
    "rg -f a.md note",
    "rg -U 'a.b'",
    "jq -f a.md b.md",
    "jq -n --rawfile x a.md '$x'",
    "jq -n --slurpfile x a.md '$x'",
    "jq -L / . a.md",
    "sed 'a x' -e 'w out' a.md",
    "sed '{w out' a.md",
    "sed '1p;e id' a.md",
    "sed 's/a/b/w out' a.md",
]


@each("line", REFUSED)
def test_what_reaches_outside_is_refused(world: World, line: str) -> None:
    was = world.state()
    answer = world.run(line)
    assert answer.refused or answer.exit_code, answer.output
    assert answer.stdout == b"" and world.state() == was


@each(
    "line",
    [
        "sed '" + "!" * 900 + "p' a.md",
        "sed '" + "p;" * 900 + "' a.md",
        "test " + "! " * 1500 + "x",
        "test " + "( " * 600 + "x" + " )" * 600,
        "sort -k" + "9" * 5000 + " a.md",
        "find . " + "! " * 1500 + "-empty",
    ],
)
def test_a_nested_program_is_no_fault_of_the_shell(world: World, line: str) -> None:
    answer = world.run(line)
    assert answer.exit_code != 70, answer.output[-200:]


def test_the_end_of_a_huge_file_is_read_without_the_rest_of_it(world: World) -> None:
    with (world.memory / "huge").open("wb") as huge:
        huge.truncate(20 * 1024**3)
        huge.seek(0, 2)
        huge.write(b"\nlast but one\nlast\n")
    assert world.out("tail -n 2 huge") == "last but one\nlast\n"
    assert world.out("tail -c 5 huge") == "last\n"
    assert world.out("wc -c huge") == f"{20 * 1024**3 + 19} huge\n"


def test_a_line_without_end_stops_one_file_and_not_the_search(world: World) -> None:
    with (world.memory / "huge").open("wb") as huge:
        huge.truncate(100 * 1024**2)
    found = world.run("grep -rl note .")
    assert "./topic/one.md" in found.output and "huge: stopped at a line" in found.output
    assert found.exit_code == 2


@each(
    ("name", "instead"),
    [
        ("awk", "cut"),
        ("xargs", "wildcard"),
        ("tree", "find"),
        ("tac", "tail"),
        ("python3", "jq"),
        ("fd", "find"),
        ("git", "/repo"),
        ("rm", "Delete"),
        ("env", "empty"),
    ],
)
def test_a_command_that_is_not_on_offer_names_what_to_use_instead(
    world: World, name: str, instead: str
) -> None:
    answer = world.run(f"{name} a.md")
    assert answer.refused and instead in answer.output


@each(
    ("line", "remedy"),
    [
        ("sort -g a.md", "sort knows -V -f -h -k -n -r -s -t -u here"),
        ("diff -y a.md b.md", "diff knows"),
        ("sort -c a.md", "sort FILE | cmp - FILE"),
        ("which jq", "jq, ls"),
        ("tac a.md", "nl -ba FILE | sort -rn"),
        ("[[ -f a.md ]] && echo x", "use [ … ]"),
        ('for f in *.md; do head -3 "$f"; done', "head -n 3 *.md"),
        ("stat -c %m a.md", "%n"),
        ("find . -wholename './a*'", "use -path"),
        ("ls --full-time", "--time-style=full-iso"),
        ("cut -d, -f2 --complement a.md", "-f1,3-"),
        ("[ -f a.md -a -f b.md ] && echo both", "[ … ] && [ … ]"),
        ("[ \\( -f a.md \\) ] && echo yes", "[ … ] && [ … ]"),
        ("[ a.md -nt b.md ] && echo newer", "find -newer"),
        ("find . -readable", "leave it out"),
        ("printf '%.1f' 2", "%d"),
        ("cat -b a.md", "use -n"),
        ("nl -w 3 a.md", "sed"),
        ("sort -k1.2 a.md", "cut the part out"),
        ("sort -b a.md", "sed"),
        ("sort -k2,2nb a.md", "skip blanks without b"),
        ("sort -k2nb a.md", "skip blanks without b"),
        ("head -c 4K a.md", "without a unit, as in -c 4096"),
        ("tail -n 1K a.md", "without a unit"),
        ("jq --tab . a.md", "use -c"),
        ("sed -s -n '$p' a.md b.md", "once for each file"),
        ("sed -n '$=' a.md", "wc -l"),
        ("sed -n '/type/,+1p' a.md", "the line's number"),
        ("sed -n '0,/e/p' a.md", "the first line is 1"),
        ("sed 's/e/E/2' a.md", "g, p and i"),
        ("head -n -2 a.md", "wc -l"),
        ("tail -c +5 a.md", "tail -n +2"),
        ("grep '\\<note' a.md", "use \\b"),
        ("sed 's/note\\>/x/' a.md", "use \\b"),
    ],
)
def test_a_refused_option_or_loop_names_what_to_use_instead(world: World, line: str, remedy: str) -> None:
    answer = world.run(line)
    assert answer.refused and remedy in answer.output


def test_tr_without_characters_to_put_in_says_so_and_changes_nothing(world: World) -> None:
    answer = world.run("tr a '' < a.md")
    assert answer.exit_code and "string2 must be non-empty" in answer.output and "type" not in answer.output


def test_find_names_the_file_that_it_should_compare_with_and_that_is_not_there(world: World) -> None:
    assert "find: 'gone.md': No such file" in world.run("find . -newer gone.md").output


# Recorded from GNU's tools in the C locale; `bench/shell_differential.py` compares thousands more with those of the machine.
RECORDED = [
    ("grep -rn \"one\\|TODO\" topic --include='*.md' | head -20", "topic/one.md:1:# note TODO\n"),
    ("cat a.md b.md | grep o | sort | uniq -c | sort -rn | head -1", "      2 # note TODO\n"),
    ("ls topic missing 2>/dev/null | wc -l", "2\n"),
    ("grep -c '' a.md b.md", "a.md:4\nb.md:4\n"),
    ("grep -l zzz *.md || echo none", "none\n"),
    ("head -n 1 a.md && tail -n 2 b.md", "# note TODO\nb,2\na,1\n"),
    ("head -n 1 a.md b.md", "==> a.md <==\n# note TODO\n\n==> b.md <==\n# note TODO\n"),
    ("find . -maxdepth 1 -type f -name '*.md' -not -path './M*' | sort", "./a.md\n./b.md\n./my notes.md\n"),
    ("find . -type d \\( -name topic -o -name x \\) -printf '%p %y %d\\n'", "./topic d 1\n"),
    ("cut -d, -f1 a.md | sort -u", "# note TODO\na\nb\ntype: user\n"),
    ("sort -t, -k2,2nr -k1,1 a.md | head -2", "b,2\na,1\n"),
    ("grep -v '^$' a.md | wc -l", "4\n"),
    ("grep -n -A2 -B1 'type:' a.md", "1-# note TODO\n2:type: user\n3-b,2\n4-a,1\n"),
    ("grep -oE '[a-z]+:' a.md b.md | sort | uniq -c", "      1 a.md:type:\n      1 b.md:type:\n"),
    ("cat a.md | tr 'a-z' 'A-Z' | head -2", "# NOTE TODO\nTYPE: USER\n"),
    ("tail -n +3 a.md | head -1", "b,2\n"),
    ("cd topic && wc -c *.md", "31 one.md\n"),
    ("[ -f a.md ] && echo yes || echo no", "yes\n"),
    ("[ 3 -gt 2 ] && [ 2 -le 2 ] && [ b != a ] && echo yes", "yes\n"),
    ("printf 'cat catalog bobcat cat\\n' | grep -ow cat", "cat\ncat\n"),
    ("printf 'cat_a cats-cat\\n' | grep -ow 'cat[a-z-]*'", "cats-cat\n"),
    ("printf 'a\\303\\251\\177\\001\\n' | cat -A", "aM-CM-)^?^A$\n"),
    ("ls -l --time-style='+%z %Z' a.md | grep -o '+0000 UTC'", "+0000 UTC\n"),
    ("ls -1 | grep 'md$' | head -3", "MEMORY.md\na.md\nb.md\n"),
    ("cat -n a.md | sed -n '2,4p'", "     2\ttype: user\n     3\tb,2\n     4\ta,1\n"),
    ("cat -A a.md | head -1", "# note TODO$\n"),
    ("nl -ba a.md | tail -1", "     4\ta,1\n"),
    ("sha256sum a.md | cut -c1-12", "f5f11169af1e\n"),
    ("grep -oP '\\d+' a.md", "2\n1\n"),
    ("grep -noP 'type: \\K[a-z]+(?=r)' a.md", "2:use\n"),
    ("grep -oP '(?<=T)O' a.md", "O\n"),
    ("grep -ciP 'TYPE|b' a.md", "2\n"),
    (
        "printf 'user\\r\\n[\\t]\\\\t\\n' | sed 's/\\r$//; s/[^\\t]*\\t/<&>/; s/\\\\t/!/ # why' | cat -A",
        "user$\n<[^I>]!$\n",
    ),
    ("printf 'a\\033[31mb\\n' | sed -E 's/\\x1B\\[[0-9;]*m/\\x26/g; s|\\||-|'", "-a&b\n"),
    ("printf 'b 2\\na 10\\na 9\\n' | sort -k1,1 -k2nr", "a 10\na 9\nb 2\n"),
    ("printf '1.10\\n1.9\\n1.2\\n' | sort -V | tr '\\n' ' '", "1.2 1.9 1.10 "),
    ("printf '2K\\n1M\\n3\\n' | sort -h | head -1", "3\n"),
    ("wc -c a.md b.md", "31 a.md\n31 b.md\n62 total\n"),
    ("wc a.md", " 4  7 31 a.md\n"),
    ("wc -lw a.md a.md a.md a.md | tail -2", "  4   7 a.md\n 16  28 total\n"),
    ("[ -e none.md ] || echo no", "no\n"),
    ("find a.md -perm /0; find a.md -perm 000", "a.md\n"),
    ("sed 's/\\(a\\|b\\),/<\\1>/' a.md | tail -2", "<b>2\n<a>1\n"),
    ("diff a.md topic/one.md && echo same", "same\n"),
    ("printf 'x\\ntype: user\\nb,2\\na,1\\n' | diff a.md -", "1c1\n< # note TODO\n---\n> x\n"),
    ("cmp a.md my\\ notes.md && echo same", "same\n"),
    ("stat -c '%n %F' a.md topic", "a.md regular file\ntopic directory\n"),
    ("test -d topic && basename topic/one.md .md; dirname topic/one.md", "one\ntopic\n"),
    ("printf '%s-%03d|%5s\\n' a 7 2.2", "a-007|  2.2\n"),
    ('echo "a  b" \'c"d\' e\\ f', 'a  b c"d e f\n'),
    ("du -b a.md | cut -f1", "31\n"),
    ("uniq -d < a.md | wc -l", "0\n"),
    ("cat none.md 2>&1 | wc -l", "1\n"),
    ("printf '%d %d %d %x\\n' 0x1F -012 +7 0xff", "31 -10 7 ff\n"),
    ("printf '%d|%s%%\\n' '' x", "0|x%\n"),
    ("printf '%d\\n' many 2>&1", "printf: many: invalid number\n0\n"),
    ("wc -c a.md none.md topic/one.md 2>&1 | sed -n 2p", "wc: none.md: No such file or directory\n"),
    ("grep -c note a.md none.md 2>&1 | cat", "a.md:1\ngrep: none.md: No such file or directory\n"),
]


@each(("line", "output"), RECORDED)
def test_a_line_prints_what_the_ordinary_tools_print(world: World, line: str, output: str) -> None:
    assert not world.run(line).refused
    assert world.run(line).stdout.decode() == output


AGENTS_LINES = r"""
ls -la /memory
ls -la /memory /transcripts/project
ls -lt /transcripts/project | head -20
ls -1 /memory/*.md | wc -l
ls -R /memory
ls -lh /repo
ls -t *.md | head -5
ls -laS
ls -d */
ls -A /repo/src
cat MEMORY.md
cat -n MEMORY.md | head -50
cat MEMORY.md a.md b.md
cat "my notes.md"
cat 'my notes.md' | head -20
cat topic/one.md 2>/dev/null || echo "no such file"
cat /memory/MEMORY.md && echo "---" && cat /memory/a.md
head -20 MEMORY.md
head -n 5 *.md
head -c 500 a.md
head -1 /transcripts/project/s1.jsonl
tail -5 MEMORY.md
tail -n +2 a.md
tail -c 200 b.md
tail -100 /transcripts/project/s1.jsonl | grep -i error
wc -l *.md
wc -l MEMORY.md
wc -c *.md | sort -n
wc -lc /memory/*.md | tail -1
find /memory -name "*.md" -type f
find /memory -name '*.md' | sort
find /memory -type f -name "*.md" -exec wc -l {} +
find . -name "*.md" -newer a.md
find /transcripts -name "*.jsonl" -mtime -7
find /transcripts -name "*.jsonl" -type f -size +1k
find /repo -name "*.py" -not -path "*/node_modules/*" | head -50
find . -maxdepth 1 -type f
find . -maxdepth 2 -type d | sort
find . -type f -name "*.md" -printf "%T@ %p\n" | sort -rn | head
find . -type f -printf '%s %p\n' | sort -n | tail -5
find /repo \( -name "*.ts" -o -name "*.tsx" \) -not -path "*/dist/*"
find . -empty
find . -iname '*memory*'
find . -name "*.md" -mmin -60 -ls
find . -path ./topic -prune -o -name '*.md' -print
find . -regex '.*/[ab]\.md'
find . -type f -perm -111
find . -newermt '2026-01-01' -type f
grep -n "type:" *.md
grep -rn "note" . --include="*.md"
grep -rl TODO /memory
grep -ri "todo" /memory | head -5
grep -c "" *.md
grep -n '^#' MEMORY.md
grep -nE '^(#|-) ' MEMORY.md
grep -v '^$' a.md
grep -o '\[[^]]*\]([^)]*)' MEMORY.md
grep -oE 'https?://[^ )]+' *.md
grep -oP '(?<=type: )\w+' *.md
grep -A 3 -B 1 "note" a.md
grep -n -C2 user a.md
grep -l "type: user" *.md | sort
grep -L "type:" *.md
grep -w note *.md
grep -F 'b,2' a.md
grep -e note -e user a.md
grep -q TODO a.md && echo found || echo missing
grep -rn "def " /repo/src --include='*.py'
grep -hn "user" *.md | sort | uniq -c | sort -rn
grep -rnw '/repo' -e 'main'
grep -E "fail|error" /transcripts/project/*.jsonl | wc -l
grep -m 3 error /transcripts/project/s1.jsonl
grep -i "remember\|always\|never" /transcripts/project/s1.jsonl | head -20
grep -rIl main /repo
rg "note"
rg -n TODO /memory
rg -l "type: user"
rg -i -C 2 'todo' a.md
rg --files
rg -g '*.md' -n "user"
rg -t py "def main" /repo
rg -o '\w+: \w+' a.md
rg -c note
sed -n '1,40p' MEMORY.md
sed -n '2p' a.md
sed -n '/^# /p' *.md
sed 's/type: //' a.md | head
sed -e 's/^#* *//' -e '/^$/d' a.md
sed '1,3d' a.md
sed -n '/note/,/user/p' a.md
sed -E 's/([a-z]+),([0-9])/\2 \1/' a.md
sort a.md b.md | uniq -d
sort -u a.md
sort -t, -k2 -n a.md
cut -d: -f1 a.md | sort -u
cut -c1-80 MEMORY.md
tr -s ' ' '\n' < a.md | sort | uniq -c
cat a.md | tr 'A-Z' 'a-z' | tr -cs 'a-z' '\n' | sort | uniq -c | sort -rn | head -10
uniq -c a.md
diff a.md b.md
diff -u a.md b.md && echo same
diff -rq /memory /memory/topic
diff <(sort a.md) <(sort b.md)
cmp a.md b.md && echo identical
stat a.md
stat -c '%y %n' *.md | sort
stat --format='%s %n' *.md
du -sh /memory
du -a /memory | sort -n | tail
sha256sum *.md | sort | cut -c1-64 | uniq -d
basename /memory/a.md .md
dirname /memory/topic/one.md
test -f a.md && echo "exists"
[ -d topic ] && ls topic || true
cd /repo && ls && cat README.md 2>/dev/null
cd /memory && pwd && wc -l MEMORY.md
pwd
echo "=== MEMORY ===" && cat MEMORY.md && echo "=== a ===" && cat a.md
echo -e "a\tb"
printf '%s\n' *.md
jq -r '.type' /transcripts/project/s1.jsonl | sort | uniq -c
jq -r 'select(.type=="user") | .text' /transcripts/project/s1.jsonl | head -5
jq -c '{type, text}' /transcripts/project/s1.jsonl | tail -2
jq -s 'length' /transcripts/project/s1.jsonl
jq -r '.message.content // empty' /transcripts/project/s1.jsonl
head -1 /transcripts/project/s1.jsonl | jq 'keys'
""".strip().splitlines()


def test_of_the_lines_that_agents_write_hardly_one_is_refused_and_then_with_what_to_use(world: World) -> None:
    answers = {line: world.run(line) for line in AGENTS_LINES}
    refused = {line: answer.output for line, answer in answers.items() if answer.refused}
    assert len(refused) <= len(AGENTS_LINES) / 40, refused
    assert all("instead" in output or "name the file" in output for output in refused.values())
    assert [line for line, answer in answers.items() if answer.exit_code > 2] == []
