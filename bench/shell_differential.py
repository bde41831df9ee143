"""Are the sandbox's commands byte for byte what GNU's tools print? Generated command lines over a generated tree.

    .venv/bin/python bench/shell_differential.py [--lines 3000] [--seed 1] [--show 20]

Each line goes to the host's own shell (LC_ALL=C, TZ=UTC) and to the sandbox; output and status must be equal.
Error texts are not compared. A refused line counts apart: the generator asks only for what is on offer.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.safefs import Root
from dreams.sandbox import Answer, Limits, Mount, Shell, Tree

WORDS = [
    "deploy",
    "error",
    "note",
    "TODO",
    "foo",
    "bar",
    "Foo",
    "the",
    "user",
    "type:",
    "docker",
    "x1",
    "42",
    "3.5",
    "-7",
    "1K",
    "ünïcode",
    "a_b",
    "a-b",
    "[x]",
    "a.b",
]
NAMES = [
    "MEMORY.md",
    "a.md",
    "b.md",
    "build.md",
    "my notes.md",
    "empty.txt",
    "data.csv",
    "nums.txt",
    "no_newline.txt",
]
FOLDERS = ["topic", "topic/deep", ".hidden", "logs"]
PATTERNS = [
    "foo",
    "Foo",
    "^a",
    "e$",
    "o*",
    "fo\\+",
    "[a-z]*",
    "[[:digit:]]+",
    "a.b",
    "a\\.b",
    "x\\|y",
    "note",
    "^$",
    "t[oO]",
    "\\bfoo\\b",
    "\\<foo",
    "bar\\>",
    "\\w\\+",
    "b\\{1,2\\}",
    "^.*e",
    "[^a-z]",
    "type: [a-z]*",
    "\\(fo\\)o",
    "*a",
    "-x",
    "[]x[]",
    "a\\?",
    ".",
    "",
    "ü",
    "\\.",
    "[0-9][0-9]*",
    "\\[x\\]",
]
EXTENDED = [
    "foo|bar",
    "(foo|fo)o?",
    "[0-9]+",
    "^(a|b)",
    "b{2}",
    "e+$",
    "x?1",
    "(a|ab)(c|bcd)?",
    "a{1",
    "()",
    "a**",
    "^*",
    "[[:upper:]][a-z]+",
    "\\w+-\\w+",
    "(^|x)f",
    "fo{1,}",
    "a||b",
    "t(ype|odo)",
    "\\S+",
    "*x",
    "a|*b",
    "\\bthe\\b",
    ".{3}",
]


def make_tree(base: Path, seed: int) -> None:
    """Ordinary notes, odd names, tables, numbers, links, a FIFO and a binary file."""
    rng = random.Random(seed)
    for folder in FOLDERS:
        (base / folder).mkdir(parents=True)
    for folder in ["", *FOLDERS]:
        for name in rng.sample(NAMES, 6) if folder else NAMES:
            (base / folder / name).write_text(_content(rng, name), encoding="utf-8")
    (base / "bin.dat").write_bytes(b"foo\n\0bar foo\nbaz\n")
    (base / "crlf.txt").write_bytes(b"one\r\ntwo\tx\r\n\x01\x7f\xe9\n")
    # Where no glob reaches: the host's tools follow links and wait for ever at a FIFO, ours do not.
    odd = base / ".odd"
    odd.mkdir()
    (odd / "-x").write_text("dash foo\n")
    (odd / "link.md").symlink_to("../a.md")
    (odd / "dangling").symlink_to("nowhere")
    os.mkfifo(odd / "pipe.fifo")
    (base / "run.sh").write_text("#!/bin/sh\necho foo\n")
    (base / "run.sh").chmod(0o755)
    _age(base, rng)


def _content(rng: random.Random, name: str) -> str:
    if name == "empty.txt":
        return ""
    if name == "data.csv":
        return "".join(f"{rng.choice(WORDS)},{rng.randint(0, 30)},{rng.choice('abc')}\n" for _ in range(25))
    if name == "nums.txt":
        numbers = [
            "0",
            "-1",
            "10",
            "9",
            "1.5",
            "1.50",
            "-0",
            "  7",
            "1K",
            "2M",
            "900",
            "x",
            "",
            "007",
            "1e3",
            "-3.2",
            "3.10",
        ]
        return "".join(f"{rng.choice(numbers)}\n" for _ in range(40))
    lines = [
        " ".join(rng.choices(WORDS, k=rng.randint(0, 7)))
        + rng.choice(["", "", " ", "\t" + rng.choice(WORDS)])
        for _ in range(rng.randint(3, 30))
    ]
    text = "\n".join(line for line in lines for _ in range(rng.choice([1, 1, 1, 2, 3])))
    return text if name == "no_newline.txt" else text + "\n"


def _age(base: Path, rng: random.Random) -> None:
    now = time.time()
    ages = [0.5, 3, 30, 90, 1000, 5000, 20_000, 300_000]
    for path in sorted(base.rglob("*"), key=lambda path: -len(path.parts)):
        # Not on a whole day or minute, so that the two runs cannot fall on different sides of it.
        at = now - rng.choice(ages) * 3600 - 1234.5
        os.utime(path, (at, at), follow_symlinks=False)


@dataclass(slots=True)
class Maker:
    """Makes command lines; every choice comes from one seed."""

    rng: random.Random

    @classmethod
    def seeded(cls, seed: int) -> Maker:
        return cls(random.Random(seed))

    def line(self) -> str:
        kinds: list[tuple[int, Callable[[], str]]] = [
            (50, self.command),
            (
                30,
                lambda: " | ".join([self.command(), *[self.filter() for _ in range(self.rng.randint(1, 3))]]),
            ),
            (6, lambda: f"{self.command()} {self.rng.choice(['&&', '||', ';'])} {self.command()}"),
            (4, lambda: f"cd {self.rng.choice(['topic', 'logs', 'topic/deep'])} && {self.command()}"),
            (4, lambda: f"{self.command()} 2>/dev/null"),
            (3, lambda: f"{self.command()} 2>/dev/null | {self.filter()}"),
        ]
        return self.rng.choices([make for _, make in kinds], [weight for weight, _ in kinds])[0]()

    def command(self) -> str:
        makers = [self.grep] * 6 + [self.find] * 5 + [self.ls] * 3 + [self.sort] * 3 + [self.heads] * 4
        makers += [self.wc] * 2 + [
            self.cat,
            self.cut,
            self.uniq,
            self.nl,
            self.stat,
            self.diff,
            self.diff,
            self.small,
            self.sed,
            self.sed,
            self.more,
        ]
        return self.rng.choice(makers)()

    def filter(self) -> str:
        return self.rng.choice(
            [
                lambda: (
                    f"grep {self.some(['-v', '-i', '-c', '-n', '-o', '-w', '-E', '-x'])} {self.pattern()}"
                ),
                lambda: f"sort {self.sort_options()}",
                lambda: f"uniq {self.some(['-c', '-d', '-u', '-i'])}",
                lambda: f"head {self.rng.choice(['-3', '-n 2', '-c 20', '-n -2', ''])}",
                lambda: f"tail {self.rng.choice(['-3', '-n 2', '-c 20', '-n +3', '+2', ''])}",
                lambda: f"wc {self.some(['-l', '-w', '-c', '-L'])}",
                lambda: f"cut {self.cut_options()}",
                lambda: f"tr {self.tr_options()}",
                lambda: "cat -n",
                lambda: "nl",
                lambda: "tac",
                lambda: f"cat {self.some(['-A', '-n', '-s', '-E', '-b'])}",
            ]
        )().strip()

    def some(self, options: list[str], most: int = 2) -> str:
        return " ".join(self.rng.sample(options, self.rng.randint(0, most)))

    def file(self) -> str:
        odd = [
            "'my notes.md'",
            "missing.md",
            ".odd/-x",
            "topic/a.md",
            "bin.dat",
            "crlf.txt",
            "topic",
            "logs/b.md",
            "../a.md",
        ]
        return (
            self.rng.choice([*NAMES[:4], *NAMES[5:], self.rng.choice(odd)])
            .replace("my notes.md", "'my notes.md'")
            .replace("''", "'")
        )

    def files(self) -> str:
        globs = [
            "*.md",
            "*.txt",
            "topic/*",
            "*/a.md",
            "[ab].md",
            "?.md",
            "no*match",
            "*",
            ".h*/*.md",
            "topic/*.md",
        ]
        return " ".join(
            self.rng.choice(globs) if self.rng.random() < 0.3 else self.file()
            for _ in range(self.rng.choice([1, 1, 1, 2, 3]))
        )

    def folder(self) -> str:
        return self.rng.choice(
            [".", "topic", "topic/", "./topic", "logs", ".hidden", ". topic", "missing", "a.md", ""]
        )

    def pattern(self, extended: bool = False) -> str:
        pool = EXTENDED if extended else PATTERNS
        if self.rng.random() < 0.3:
            return f"-e '{self.rng.choice(pool)}' -e '{self.rng.choice(pool)}'"
        text = self.rng.choice(pool)
        return f"'{text}'" if not text.startswith("-") else f"-e '{text}'"

    def grep(self) -> str:
        extended = self.rng.random() < 0.4
        options = [
            "-i",
            "-n",
            "-l",
            "-L",
            "-c",
            "-v",
            "-w",
            "-x",
            "-o",
            "-h",
            "-H",
            "-q",
            "-s",
            "-a",
            "-I",
            "-b",
        ]
        options += [
            "-A 1",
            "-B1",
            "-C 2",
            "-m 2",
            "-m1",
            "--color=never",
            "-2",
            "-no",
            "-in",
            "--max-count=3",
        ]
        chosen = self.some(options, 3) + (" -E" if extended else self.rng.choice(["", "", "", " -F", " -G"]))
        if self.rng.random() < 0.45:
            names = [
                "--include='*.md'",
                "--include=*.txt",
                "--exclude='a*'",
                "--exclude-dir=deep",
                "--exclude-dir='.*'",
            ]
            return f"grep -r{self.rng.choice(['', 'n', 'l', 'i'])} {chosen} {self.some(names)} {self.pattern(extended)} {self.folder()}"
        return f"grep {chosen} {self.pattern(extended)} {self.files()}"

    def find(self) -> str:
        tests = [
            "-name '*.md'",
            "-iname 'A*'",
            "-type f",
            "-type d",
            "-type f,l",
            "-maxdepth 1",
            "-mindepth 2",
            "-empty",
            "-path '*deep*'",
            "-size +0",
            "-size -2",
            "-size +100c",
            "-mtime -7",
            "-mtime +30",
            "-mtime 0",
            "-mmin -60",
            "-mmin +500",
            "-newer a.md",
            "-not -name '*.txt'",
            "! -type d",
            "-newermt 2020-01-01",
            "-perm -100",
            "-name '[ab].*'",
            "-regex '.*/[ab]\\.md'",
            "-name topic -prune",
            "-links 1",
            "-depth",
            "-true",
            "-perm 644",
        ]
        ends = [
            "",
            "",
            "",
            "-print",
            "-print0",
            "-printf '%f %s\\n'",
            "-printf '%p %d %m %y %h\\n'",
            "-printf '%T@ %P\\n'",
            "-printf '%TY-%Tm-%Td %k %M\\n'",
            "-quit",
            "-print -quit",
        ]
        parts = self.rng.sample(tests, self.rng.randint(0, 3))
        glue = self.rng.choice([" ", " ", " ", " -o ", " -a "])
        body = glue.join(parts)
        if len(parts) > 1 and self.rng.random() < 0.3:
            body = f"\\( {body} \\)"
        return f"find {self.folder()} {body} {self.rng.choice(ends)}"

    def ls(self) -> str:
        options = [
            "-l",
            "-a",
            "-A",
            "-1",
            "-t",
            "-r",
            "-S",
            "-h",
            "-R",
            "-d",
            "-F",
            "-p",
            "-i",
            "-s",
            "-n",
            "-g",
            "-o",
            "-lt",
            "-la",
            "-lh",
            "-ltr",
            "-X",
            "-v",
            "--full-time",
            "-G",
            "--sort=size",
            "--group-directories-first",
            "--time-style=long-iso",
            "-lc",
            "-Q",
            "--file-type",
            "-B",
            "-I '*.md'",
        ]
        return f"ls {self.some(options, 3)} {self.rng.choice([self.folder(), self.files(), ''])}"

    def sort_options(self) -> str:
        options = [
            "-n",
            "-r",
            "-u",
            "-f",
            "-b",
            "-s",
            "-h",
            "-V",
            "-k2",
            "-k2,2",
            "-k 2n",
            "-t,",
            "-k1,1 -k3nr",
            "-k2.2,3b",
            "-d",
            "-M",
            "-i",
        ]
        return self.some(options, 3)

    def sort(self) -> str:
        return f"sort {self.sort_options()} {self.rng.choice([self.files(), 'nums.txt', 'data.csv'])}"

    def heads(self) -> str:
        counts = ["-n 3", "-5", "-n5", "-q -n 2", "-v", "", "--lines=4", "-n -3"]
        if self.rng.random() < 0.5:
            return f"head {self.rng.choice([*counts, '-c 30', '-c -9'])} {self.files()}"
        if self.rng.random() < 0.2:
            # tail -c gives up at a folder; ours goes on.
            return f"tail -c {self.rng.choice(['30', '+10', '0'])} a.md b.md"
        return f"tail {self.rng.choice([*counts, '-n +4'])} {self.files()}"

    def wc(self) -> str:
        return f"wc {self.some(['-l', '-w', '-c', '-m', '-L'])} {self.files()}"

    def cat(self) -> str:
        return f"cat {self.some(['-n', '-b', '-s', '-E', '-T', '-v', '-A', '-e', '-t'])} {self.files()}"

    def cut_options(self) -> str:
        return self.rng.choice(
            [
                "-d, -f1",
                "-d ' ' -f2-",
                "-f2",
                "-c1-5",
                "-b3,1",
                "-d: -f1 -s",
                "-d, -f1,3 --output-delimiter=-",
                "-c-3,5-",
                "--complement -c2-4",
                "-d' ' -f-2",
            ]
        )

    def cut(self) -> str:
        return f"cut {self.cut_options()} {self.files()}"

    def uniq(self) -> str:
        return f"uniq {self.some(['-c', '-d', '-u', '-i', '-f 1', '-s 2', '-w 3'])} {self.file()}"

    def nl(self) -> str:
        return f"nl {self.some(['-ba', '-w 3', '-s: ', '-nln', '-v 5', '-i2'])} {self.file()}".replace(
            "-s: ", "-s:"
        )

    def tr_options(self) -> str:
        return self.rng.choice(
            [
                "a-z A-Z",
                "-d ' '",
                "-s o",
                "'[:upper:]' '[:lower:]'",
                "-cd '[:alnum:]\\n'",
                "' ' '\\n'",
                "-s ' ' '\\n'",
                "abc x",
                "-d '\\n'",
                "-c '[:print:]\\n' '?'",
                "a-c '[x*]'",
            ]
        )

    def stat(self) -> str:
        formats = [
            "-c '%n %s'",
            "-c %Y",
            "--format='%a %A %U %F'",
            "-c '%y|%i|%h|%b|%o'",
            "--printf='%n\\t%s\\n'",
            "-c '%N'",
            "-c '%10s %-8a|'",
        ]
        return f"stat {self.rng.choice(formats)} {self.files()}"

    def diff(self) -> str:
        options = ["", "-u", "-q", "-i", "-w", "-b", "-U 1", "-s", "-u0"]
        a, b = self.rng.choice(
            [
                ("a.md", "b.md"),
                (self.file(), self.file()),
                ("topic/a.md", "a.md"),
                ("nums.txt", "logs/nums.txt"),
            ]
        )
        return f"diff {self.rng.choice(options)} {a} {b}"

    def sed(self) -> str:
        scripts = [
            "2p",
            "1,3p",
            "$p",
            "/foo/p",
            "/foo/,/bar/p",
            "2,/e/p",
            "/o/,+1p",
            "1~2p",
            "0,/a/p",
            "/foo/!p",
            "$=",
            "3q",
            "s/o/0/",
            "s/o/0/g",
            "s/o/0/2",
            "s/\\(fo\\)\\(o\\)/\\2\\1/",
            "s/[a-z]*/<&>/",
            "s/x*/-/g",
            "s/^/> /",
            "s/$/ </",
            "/^$/d",
            "1d",
            "$d",
            "2,4d",
            "s/foo/bar/p",
            "s/FOO/x/I",
            "s|a.b|a/b|g",
            "1p;3p",
            "/note/d;s/a/A/g",
            "5,2p",
            "/x/I p",
        ]
        script = self.rng.choice(scripts)
        return f"sed {self.rng.choice(['', '-n'])} '{script}' {self.rng.choice(['a.md', 'b.md no_newline.txt', '*.md', 'missing a.md', 'no_newline.txt data.csv', 'empty.txt'])}"

    def more(self) -> str:
        return self.rng.choice(
            [
                "ls *.md | xargs wc -l",
                "find . -type f -name '*.md' -print0 | xargs -0 grep -l foo",
                "ls *.csv | xargs -I '{}' echo 'x {}'",
                "seq 7 | xargs -n 3 echo",
                "echo a 'b c' | xargs",
                "ls missing | xargs -r wc",
                "grep -rl foo topic | xargs head -n 1",
                "du -s topic",
                "du -sh .",
                "du -a topic",
                "du -b topic",
                "du -d 1 .",
                "du -ch *.md",
                "du a.md b.md",
                "md5sum a.md b.md",
                "sha256sum *.md",
                "sha1sum missing a.md",
                "cat a.md | sha512sum",
                "paste a.md b.md",
                "paste -sd, nums.txt",
                "paste -d: nums.txt a.md data.csv",
                "paste -s a.md b.md",
                "comm empty.txt empty.txt",
                "comm -3 empty.txt a.md",
                "sed -E 's/(a|ab)(c|bcd)?/[\\1]/' a.md",
                "sed -E 's/^([a-z]+) ([a-z]+)/\\2 \\1/' a.md",
                "cat -n a.md | sed -n '3,5p'",
                "sed -n -e 1p -e '$p' a.md b.md",
            ]
        )

    def small(self) -> str:
        return self.rng.choice(
            [
                "pwd",
                "echo foo bar",
                "echo -n x",
                "echo -e 'a\\tb'",
                "printf '%s\\n' a b",
                "printf '%d-%s\\n' 1 x 2 y",
                "true",
                "false",
                "basename topic/a.md .md",
                "dirname topic/a.md",
                "test -f a.md",
                "[ -d topic ]",
                "[ -s empty.txt ]",
                "seq 3",
                "seq 2 2 9",
                "test 3 -gt 2",
                "[ a = b ]",
                "test ! -e missing",
                "realpath a.md",
                "tac a.md",
                "echo *.md",
                "echo 'a  b' c",
                "[ -n x -a -z '' ]",
                "printf '%5s|%-5s|%03d\\n' a b 7",
                "readlink .odd/link.md",
                "ls -l .odd",
                "ls -F .odd",
                "stat -c %N .odd/link.md",
            ]
        )


@dataclass(frozen=True, slots=True)
class Difference:
    line: str
    host: tuple[int, bytes]
    ours: Answer


def host_answer(line: str, folder: Path) -> tuple[int, bytes]:
    env = {"LC_ALL": "C", "TZ": "UTC", "PATH": os.environ["PATH"]}
    done = subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=folder,
        env=env,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=20,
        check=False,
    )
    return done.returncode, done.stdout


def compare(lines: list[str], folder: Path) -> tuple[list[Difference], list[Difference]]:
    """(lines that differ, lines that were refused)."""
    differing, refused = [], []
    # One folder more than the lines reach, so that `..` can be told on both sides.
    tree = Tree([Mount("memory", Root.open(folder.parent), (str(folder.parent),))])
    shell = Shell(tree, str(folder), Limits(output_chars=10_000_000))
    for line in lines:
        ours, host = shell.run(line), host_answer(line, folder)
        if ours.refused:
            refused.append(Difference(line, host, ours))
        elif (ours.exit_code, ours.stdout) != host:
            differing.append(Difference(line, host, ours))
    tree.close()
    return differing, refused


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10)
    args = parser.parse_args()
    maker = Maker.seeded(args.seed)
    lines = [maker.line() for _ in range(args.lines)]
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base).resolve() / "tree"
        folder.mkdir()
        make_tree(folder, args.seed)
        differing, refused = compare(lines, folder)
    for one in differing[: args.show]:
        print(
            f"--- {one.line}\n  host {one.host[0]} {one.host[1][:400]!r}\n  ours {one.ours.exit_code} {one.ours.stdout[:400]!r} {one.ours.output[-150:]!r}"
        )
    for one in refused[: args.show]:
        print(f"refused: {one.line}: {one.ours.output[:100]!r}")
    counts = Counter(one.line.split()[0] for one in differing)
    print(f"{args.lines} lines, {len(differing)} differ {dict(counts)}, {len(refused)} refused")


if __name__ == "__main__":
    main()
