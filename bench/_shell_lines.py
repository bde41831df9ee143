"""Generates command lines like those of agents, with the names of `_shell_tree`; and has real lines of agents."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

# Rows of: weight, command, most options, options, ":", operands. {word} is an entry of POOLS[word]; options and
# entries are separated by two spaces, since they may contain one.
COMMANDS = r"""
60 grep 3 -i  -n  -l  -L  -c  -v  -w  -x  -o  -h  -H  -q  -s  -a  -I  -A 1  -B1  -C 2  -m 2  -2  -no  -in : {basic} {files}
30 grep 3 -i  -n  -l  -c  -v  -w  -x  -o  -h  --max-count=3  --color=never : -E {extended} {files}
30 grep 3 -n  -l  -i  -o  --include='*.md'  --include=*.txt  --exclude='a*'  --exclude-dir=deep : -r {basic} {folder}
50 find 0 : {folder} {tests} {tests} {action}
10 find 0 : {folder} \( {tests} -o {tests} \) {action}
30 ls 3 -l  -a  -A  -1  -t  -r  -S  -h  -R  -d  -F  -lt  -la : {files}
10 ls 2 -l  -t  -r  -R  --time-style=long-iso : {folder}
30 sort 3 -n  -r  -u  -f  -s  -h  -V  -k2  -k2,2  -k 2n  -t,  -k1,1 -k3nr : {files}
20 head 1 -n 3  -5  -n5  -q -n 2  -v  --lines=4  -c 30 : {files}
20 tail 1 -n 3  -5  -n5  -q -n 2  -v  --lines=4  -n +4 : {files}
20 wc 2 -l  -w  -c  -m : {files}
10 cat 1 -n  -A  -nA : {files}
10 cut 0 : {cuts} {files}
10 uniq 2 -c  -d  -u  -i : {file}
10 nl 1 -ba : {file}
10 stat 0 : {formats} {files}
20 diff 1 -u  -q  -i  -w  -b  -U 1  -u0 : {file} {file}
30 sed 1 -n : '{scripts}' {text} {text}
10 cmp 1 -s : {text} {text}
5 du 0 : {sizes}
20 - 0 : {small}
"""
FILTERS = r"""
3 grep 2 -v  -i  -c  -n  -o  -w  -x : {basic}
2 sort 2 -n  -r  -u  -f  -k2 :
2 uniq 1 -c  -d  -u  -i :
2 head 1 -3  -n 2  -c 20 :
2 tail 1 -3  -n 2  -c 20  -n +3  +2 :
1 wc 2 -l  -w  -c :
1 cut 0 : {cuts}
2 tr 0 : {sets}
1 cat 1 -A  -n :
1 nl 0 :
"""
POOLS = {
    "basic": r"""foo  Foo  ^a  e$  o*  fo\+  [a-z]*  [[:digit:]]+  a.b  a\.b  x\|y  note  ^$  t[oO]  \bfoo\b
        \w\+  b\{1,2\}  ^.*e  [^a-z]  \(fo\)o  *a  []x[]  a\?  .  ü  \.  [0-9][0-9]*  \[x\]  type: [a-z]*""",
    "extended": r"""foo|bar  (foo|fo)o?  [0-9]+  ^(a|b)  b{2}  e+$  x?1  (a|ab)(c|bcd)?  a{1  ()  a**  ^*  t(ype|odo)
        [[:upper:]][a-z]+  \w+-\w+  (^|x)f  fo{1,}  a||b  \S+  *x  a|*b  \bthe\b  .{3}""",
    "folder": ".  topic  topic/  ./topic  logs  .hidden  missing  a.md",
    "glob": "*.md  *.txt  topic/*  */a.md  [ab].md  ?.md  no*match  *  .h*/*.md  topic/*.md  'odd names/'*",
    "file": r"""MEMORY.md  a.md  b.md  build.md  data.csv  nums.txt  empty.txt  no_newline.txt  'my notes.md'  missing.md
        .odd/-x  topic/a.md  bin.dat  crlf.txt  topic  logs/b.md  ../a.md  nul.dat  latin.txt  long.txt  cr.txt
        blank.txt  one.txt  ctrl.txt  'odd names/sp ace.md'  'odd names/ünï.md'  odd\ names/-dash.md  'odd names'""",
    "text": "a.md  b.md  *.md  no_newline.txt  data.csv  empty.txt  missing  crlf.txt  ctrl.txt  'odd names/'*",
    "tests": r"""-name '*.md'  -iname 'A*'  -type f  -type d  -type f,l  -maxdepth 1  -mindepth 2  -empty  -path '*deep*'
        -size +0  -size -2  -size +100c  -mtime -7  -mtime +30  -mtime 0  -mmin -60  -mmin +500  -newer a.md
        -not -name '*.txt'  ! -type d  -newermt 2020-01-01  -perm -100  -name '[ab].*'  -regex '.*/[ab]\.md'
        -name topic -prune  -perm 644  -maxdepth 2""",
    "action": r"""  -print  -print0  -printf '%f %s\n'  -printf '%p %d %m %y %h\n'  -printf '%T@ %P\n'  -quit  -print -quit
        -printf '%TY-%Tm-%Td %M\n'  -ls  -executable""",
    "cuts": "-d, -f1  -d ' ' -f2-  -f2  -c1-5  -b3,1  -d: -f1 -s  -d, -f1,3  -c2-4",
    "sets": r"""a-z A-Z  -d ' '  -s o  '[:upper:]' '[:lower:]'  -cd '[:alnum:]\n'  ' ' '\n'  -s ' ' '\n'  abc x  -d '\n'
        -c '[:print:]\n' '?'""",
    "formats": r"""-c '%n %s'  -c %Y  --format='%a %A %U %F'  -c '%y|%i|%h|%b|%o'  -c '%10s %-8a|'""",
    "sizes": "-s topic  -sh .  -a topic  -b topic  -d 1 .  -ch *.md  a.md b.md  --apparent-size -s topic",
    "scripts": r"""2p  1,3p  $p  /foo/p  /foo/,/bar/p  2,/e/p  /foo/!p  3q  s/o/0/  s/o/0/g
        s/\(fo\)\(o\)/\2\1/  s/[a-z]*/<&>/  s/x*/-/g  s/^/> /  s/$/ </  /^$/d  1d  $d  2,4d  s/foo/bar/p  s/FOO/x/I
        s|a.b|a/b|g  1p;3p  /note/d;s/a/A/g  5,2p  2p;2q  2q  $!d  /a/,3d  1,/o/d
        s/a\|b/<&>/g  s/\//|/g  s/.*/[&]/;s/x/y/g  2,4!s/^/- /  s,a,/,g  $s/$/\nend/  1s/^/start\n/
        /x/,$p  2,2p  /foo/I,/BAR/Ip  3d;2,3p  s/\t/\x41/""",
    "small": r"""pwd  echo foo bar  echo -n x  echo -e 'a\tb'  printf '%s\n' a b  printf '%d-%s\n' 1 x 2 y  true  false
        basename topic/a.md .md  dirname topic/a.md  test -f a.md  [ -d topic ]  [ -s empty.txt ]  test 3 -gt 2
        [ a = b ]  test ! -e missing  echo *.md  echo 'a b' c  printf '%5s|%-5s|%03d\n' a b 7
        ls -l .odd  sha256sum a.md""",
}
WRITTEN = r"""
grep -rn "foo" . --include=*.md | head -20
find . -name '*.md' -mtime -700 | sort | tail -5
cat a.md b.md | grep o | sort | uniq -c | sort -rn | head
ls topic missing 2>/dev/null | wc -l
grep -l foo *.md || echo none
find . -type f -size +0 -not -path './.hidden/*' | sort
sort -t, -k2,2nr -k1,1 data.csv | head -4
grep -n -A2 -B1 'type:' a.md
grep -ohE '[a-z]+:' *.md | sort | uniq -c
cd topic && wc -c *.md
[ -f a.md ] && echo yes || echo no
cat -n a.md | sed -n '2,4p'
sha256sum a.md | cut -d' ' -f1
wc -l < a.md
grep -oP '\d+' data.csv
grep -nP '^(foo|note)\b.*?o' a.md b.md
grep -noP 'type: \K[a-z]+(?=r)' a.md
grep -oP '(?<=o)o' a.md
printf 'user\r\n[\t]\\t\n' | sed 's/\r$//; s/[^\t]*\t/<&>/; s/\\t/!/ # why'
printf 'a\033[31mb\n' | sed -E 's/\x1B\[[0-9;]*m/\x26/g; s|\||-|'
""".strip().splitlines()


def _entries(text: str) -> list[str]:
    return [entry.strip() for entry in re.split(r"  +|\n", text) if entry.strip()]


@dataclass(slots=True)
class Maker:
    """Makes command lines; one seed determines every choice."""

    rng: random.Random

    @classmethod
    def seeded(cls, seed: int) -> Maker:
        return cls(random.Random(seed))

    def line(self) -> str:
        kind = self.rng.random()
        if kind < 0.5:
            return self.command(COMMANDS)
        if kind < 0.85:
            filters = [self.command(FILTERS) for _ in range(self.rng.randint(1, 3))]
            return " | ".join([self.command(COMMANDS), *filters])
        if kind < 0.95:
            return f"{self.command(COMMANDS)} {self.rng.choice(['&&', '||', ';'])} {self.command(COMMANDS)}"
        return (
            f"cd {self.rng.choice(['topic', 'logs', 'topic/deep'])} && {self.command(COMMANDS)} 2>/dev/null"
        )

    def command(self, table: str) -> str:
        rows = [row.split(" ", 3) for row in table.strip().splitlines()]
        _, name, most, rest = self.rng.choices(rows, [int(row[0]) for row in rows])[0]
        options, _, operands = f" {rest} ".partition(" : ")
        known = _entries(options)
        chosen = self.rng.sample(known, self.rng.randint(0, min(int(most), len(known))))
        filled = re.sub(r"\{([a-z]+)\}", self._pick, operands.strip())
        return " ".join([*([name] if name != "-" else []), *chosen, filled]).strip()

    def _pick(self, found: re.Match[str]) -> str:
        if found[1] == "files":
            return " ".join(
                self.rng.choice(_entries(POOLS["glob" if self.rng.random() < 0.3 else "file"]))
                for _ in range(self.rng.choice([1, 1, 1, 2, 3]))
            )
        entry = self.rng.choice(_entries(POOLS[found[1]]))
        return f"-e '{entry}'" if found[1] in ("basic", "extended") else entry
