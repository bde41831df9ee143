"""Generated command lines: what agents write, over the names of `_shell_tree`."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from bench._shell_tree import NAMES, ODD_BYTES

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
            *ODD_BYTES,
            "'odd names/sp ace.md'",
            "'odd names/ünï.md'",
            "'odd names/'*",
            "odd\\ names/-dash.md",
            "'odd names'",
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
        # A second name would be written over, and is refused.
        file = self.file()
        options = self.some(["-c", "-d", "-u", "-i", "-f 1", "-s 2", "-w 3"])
        return f"uniq {options} {'a.md' if '*' in file else file}"

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
            "2{p;q}",
            "2{p;q;}",
            "/o/{s/o/0/;p}",
            "/foo/{/bar/d}",
            "1,4{/o/!d;s/^/> /}",
            "2!{s/a/A/;b};s/$/!/",
            "y/abc/xyz/",
            "y/abc/x\\ny/",
            "l",
            "l 20",
            "2i inserted",
            "2i\\inserted",
            "$a appended \\t x",
            "1a\\  two blanks",
            "2c changed",
            "2,3c changed",
            "/o/c changed",
            "$!N;s/\\n/ /",
            "N;P;D",
            "$!N;P;D",
            "N;N;s/\\n/+/g",
            ":a;N;$!ba;s/\\n/,/g",
            ":a;$!{N;ba};s/\\n/,/g",
            ":a;s/^\\(x*\\)o/\\1x/;ta",
            "s/o/0/;t;s/^/no /",
            "s/o/0/;Te;s/^/yes /;:e",
            "1!G;h;$!d",
            "G",
            "H;$!d;x;s/\\n/,/g",
            "x;p;x",
            "n;d",
            "n;n;s/^/3 /",
            "$!n;s/^/x/",
            "2q5",
            "2Q",
            "$!d",
            "/foo/,/bar/{//!d}",
            "/o/s//0/g",
            "s/\\w\\+/\\u&/g",
            "s/\\([a-z]*\\) \\(.*\\)/\\U\\1\\E \\2/",
            "s/[A-Z]/\\l&/",
            "2,~3p",
            "2~3d",
            "0~2d",
            "/a/,3d",
            "/a/,+2s/^/+/",
            "1,/o/d",
            "z;s/^$/empty/",
            "/^$/N;/^\\n$/D",
            "s/\\n/x/",
            "s/[^,]*,//2",
            "s/a\\|b/<&>/g",
            "s/.*/[&]/;s/x/y/3g",
            "=;p",
            "2,4!s/^/- /",
            "s/\\//|/g",
            "s,a,/,g",
            "$s/$/\\nend/",
            "1s/^/start\\n/",
            "/x/,$p",
            "2,2p",
            "/foo/I,/BAR/Ip",
            "/x/I p",
        ]
        script = self.rng.choice(scripts)
        return f"sed {self.rng.choice(['', '', '-n', '-s', '-n -s'])} '{script}' {self.rng.choice(['a.md', 'b.md no_newline.txt', '*.md', 'missing a.md', 'no_newline.txt data.csv', 'empty.txt'])}"

    def more(self) -> str:
        lines = [
            "du -s topic",
            "du -sh .",
            "du -a topic",
            "du -b topic",
            "du -d 1 .",
            "du -ch *.md",
            "du a.md b.md",
            "sha256sum *.md",
            "stat -c %N 'odd names'/*",
            "sort -V long.txt blank.txt",
            "ls 'odd names'",
            "ls -l 'odd names'",
            "find 'odd names' -type f",
            "ls -v 'odd names'",
            "ls -b 'odd names' .odd",
            "cmp a.md b.md",
            "cmp -s a.md a.md",
            "cmp -s a.md b.md",
            "cmp long.txt a.md",
            "cmp empty.txt a.md",
            "cmp a.md missing",
            "diff --unified=1 a.md b.md | tail -n +3",
            "diff --unified a.md b.md | tail -n +3",
            "ls -l --time-style=+%Y-%m-%d *.md",
            "ls -l --time-style='+%d %b %k:%M %s' topic",
            "ls -l --block-size=K *.txt",
            "ls -ls --block-size=1 topic",
            "ls -l --si *.txt",
            "ls -lh --si *.txt",
            "ls -l --si -h *.txt",
            "find . -name '*.md' -ls",
            "find .odd 'odd names' -ls",
            "find . -perm -u+w -name 'a*'",
            "find . -perm /u+x,g+x",
            "find . -perm u=rw,g=r,o=r",
            "printf '%05.2f|%e|%g\\n' 3.14159 1000 0.5",
            "printf -- '---\\n'",
            "du --apparent-size -s topic",
            "du -sh --apparent-size *.md",
            "sed -E 's/(a|ab)(c|bcd)?/[\\1]/' a.md",
            "sed -E 's/^([a-z]+) ([a-z]+)/\\2 \\1/' a.md",
            "cat -n a.md | sed -n '3,5p'",
            "sed -n -e 1p -e '$p' a.md b.md",
        ]
        return self.rng.choice(lines)

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
                "test 3 -gt 2",
                "[ a = b ]",
                "test ! -e missing",
                "echo *.md",
                "echo 'a  b' c",
                "[ -n x -a -z '' ]",
                "printf '%5s|%-5s|%03d\\n' a b 7",
                "ls -l .odd",
                "ls -F .odd",
                "stat -c %N .odd/link.md",
            ]
        )
