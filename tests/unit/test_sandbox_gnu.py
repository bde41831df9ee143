"""Output and status equal the host's own GNU tools, byte for byte, on generated lines over a generated tree."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.shell_differential import Maker, alike, compare, host_answer, make_tree
from dreams.lib.files.safefs import Root
from dreams.lib.sandbox import Mount, Shell, Tree

SEED = 20_260


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("gnu").resolve() / "tree"
    made.mkdir()
    make_tree(made, SEED)
    return made


@pytest.fixture
def shell(folder: Path) -> Iterator[Shell]:
    tree = Tree([Mount("memory", Root.open(folder.parent), (str(folder.parent),))])
    yield Shell(tree, str(folder))
    tree.close()


def test_generated_lines_print_what_gnu_prints(folder: Path) -> None:
    maker = Maker.seeded(SEED)
    differing, refused = compare([maker.line() for _ in range(500)], folder)
    assert [one.line for one in refused] == []
    assert [(one.line, one.host, one.ours.stdout) for one in differing] == []


ORDINARY = [
    'grep -rn "foo" . --include=*.md | head -20',
    "find . -name '*.md' -mtime -700 | sort | tail -5",
    "ls -la topic",
    "ls -lt | head",
    "wc -l *.md",
    "cat a.md b.md | grep o | sort | uniq -c | sort -rn | head",
    "stat -c '%n %s' a.md",
    "ls topic missing 2>/dev/null | wc -l",
    "grep -c '' a.md b.md",
    "grep -l foo *.md || echo none",
    "head -n 3 a.md && tail -n 2 b.md",
    "find . -type f -size +0 -not -path './.hidden/*' | sort",
    "find . -maxdepth 1 -type d | sort",
    "cut -d, -f1 data.csv | sort -u",
    "sort -t, -k2,2nr -k1,1 data.csv | head -4",
    "grep -v '^$' a.md | wc -l",
    "grep -n -A2 -B1 'type:' a.md",
    "grep -ohE '[a-z]+:' *.md | sort | uniq -c",
    "diff -u a.md b.md | head -12",
    "cat a.md | tr 'a-z' 'A-Z' | head -2",
    "tail -n +3 a.md | head -2",
    "cd topic && wc -c *.md",
    "echo start; ls; echo end",
    "[ -f a.md ] && echo yes || echo no",
    "cat nums.txt | sort -n | uniq",
    "ls -1 | grep md$",
    "cat -n a.md | sed -n '2,4p'",
    "du -a topic | cut -f2 | sort",
    "sha256sum a.md | cut -d' ' -f1",
    "grep -oP '\\d+' data.csv",
    "grep -nP '^(foo|note)\\b.*?o' a.md b.md",
    "grep -ciP 'FOO|bar' a.md",
    "grep -noP 'type: \\K[a-z]+(?=r)' a.md",
    "grep -oP '(?<=o)o' a.md",
    "printf 'user\\r\\n[\\t]\\\\t\\n' | sed 's/\\r$//; s/[^\\t]*\\t/<&>/; s/\\\\t/!/ # why'",
    "printf 'a\\033[31mb\\n' | sed -E 's/\\x1B\\[[0-9;]*m/\\x26\\o101\\d66/g; s|\\||-|'",
    "printf 'an\\nb\\n' | sed 'N; s/[\\n]/+/; y/n/\\r/'",
    "sed -z 's/\\n/,/g' a.md",
    "wc -c a.md b.md",
]


@pytest.mark.parametrize("line", ORDINARY)
def test_an_ordinary_line_runs_and_prints_what_gnu_prints(shell: Shell, folder: Path, line: str) -> None:
    line = line.replace("md$", "'md$'")
    ours = shell.run(line)
    assert not ours.refused, ours.output
    assert alike(line, ours, host_answer(line, folder))
