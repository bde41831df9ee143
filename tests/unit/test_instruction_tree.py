"""The instruction files that an agent loads in a folder: in its order, with what they include, and what is wrong."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from dreams.lib.agents.base import InstructionFile
from dreams.lib.agents.claude_code import ClaudeCode


class Tree:
    """A home with the agent's folder and a repository, and what is loaded there."""

    def __init__(self, base: Path) -> None:
        self.base, self.home, self.repo = base, base / "home", base / "home" / "app"
        self.root = self.home / ".claude"
        self.root.mkdir(parents=True)
        self.repo.mkdir()

    def put(self, path: str, text: str | bytes) -> Path:
        file = self.repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def files(
        self, cwd: str = "", *, trusted: bool = False, conditional: bool = True
    ) -> list[InstructionFile]:
        agent = ClaudeCode(self.root, env={}, home=str(self.home), managed_files=(), managed_instructions=())
        return agent.instruction_files(
            str(self.repo / cwd), repo=str(self.repo), trusted=trusted, conditional=conditional
        )

    def told(self, cwd: str = "", *, trusted: bool = False) -> list[tuple[str, str]]:
        """(path below the home, problem or when)."""
        return [
            (os.path.relpath(file.path, self.home), file.problem or file.when)
            for file in self.files(cwd, trusted=trusted)
        ]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_an_including_file_comes_before_what_it_includes_with_hop_and_line(tree: Tree) -> None:
    tree.put("CLAUDE.md", "Rules.\n\nSee @docs/a.md for more.\n")
    tree.put("docs/a.md", "Then @b.md.\n")
    tree.put("docs/b.md", "The end.\n")
    tree.put("CLAUDE.local.md", "Mine.\n")
    found = tree.files()
    assert [(Path(f.path).name, f.depth, f.line, f.scope) for f in found] == [
        ("CLAUDE.md", 0, None, "project"),
        ("a.md", 1, 3, "project"),
        ("b.md", 2, 1, "project"),
        ("CLAUDE.local.md", 0, None, "local"),
    ]
    assert found[2].included_by == str(tree.repo / "docs/a.md") and found[2].text == "The end.\n"


def test_a_path_is_relative_to_its_file_or_to_the_home_or_absolute(tree: Tree) -> None:
    outside = tree.base / "absolute.md"
    outside.write_text("far")
    (tree.home / "mine.md").write_text("near")
    tree.put("sub/beside.md", "x")
    tree.put("with space.md", "y")
    tree.put(
        "CLAUDE.md", f"@sub/../sub/beside.md @~/mine.md @{outside} @with\\ space.md @./sub/beside.md#part\n"
    )
    assert tree.told(trusted=True) == [
        ("app/CLAUDE.md", ""),
        ("app/sub/beside.md", ""),
        ("mine.md", ""),
        ("../absolute.md", ""),
        ("app/with space.md", ""),
        ("app/sub/beside.md", "doubled"),
    ]


def test_what_is_outside_the_repository_is_read_only_when_it_is_trusted(tree: Tree) -> None:
    (tree.home / "mine.md").write_text("near")
    (tree.root / "CLAUDE.md").write_text("@~/mine.md\n")  # a person's own file may include anything
    tree.put("CLAUDE.md", "@../other.md @/etc/hostname\n")
    (tree.home / "other.md").write_text("other")
    tree.put("linked.md", "")
    (tree.repo / "linked.md").unlink()
    (tree.repo / "linked.md").symlink_to(tree.home / "other.md")
    tree.put("CLAUDE.local.md", "@linked.md\n")
    told = dict(tree.told())
    assert told["mine.md"] == "" and told["other.md"] == "outside" and told["app/linked.md"] == "outside"
    assert all(not file.text for file in tree.files() if file.problem)
    trusted = dict(tree.told(trusted=True))
    assert trusted["other.md"] == "" and trusted["app/linked.md"] == "doubled"


def test_a_link_within_the_repository_is_followed(tree: Tree) -> None:
    tree.put("AGENTS.md", "Run make.\n")
    (tree.repo / "CLAUDE.md").symlink_to("AGENTS.md")
    assert [(Path(file.path).name, file.text) for file in tree.files()] == [("CLAUDE.md", "Run make.\n")]


def test_four_hops_are_followed_and_the_fifth_is_told(tree: Tree) -> None:
    tree.put("CLAUDE.md", "@f1.md\n")
    for number in range(1, 101):
        tree.put(f"f{number}.md", f"@f{number + 1}.md\n")
    assert tree.told() == [
        ("app/CLAUDE.md", ""),
        *((f"app/f{number}.md", "") for number in range(1, 5)),
        ("app/f5.md", "too deep"),
    ]


def test_a_circle_and_a_second_inclusion_end_where_they_are(tree: Tree) -> None:
    tree.put("CLAUDE.md", "@a.md @c.md\n")
    tree.put("a.md", "@b.md\n")
    tree.put("b.md", "@CLAUDE.md @c.md\n")
    tree.put("c.md", "x\n")
    assert tree.told() == [
        ("app/CLAUDE.md", ""),
        ("app/a.md", ""),
        ("app/b.md", ""),
        ("app/CLAUDE.md", "circle"),
        ("app/c.md", ""),
        ("app/c.md", "doubled"),
    ]


def test_only_text_is_loaded_and_a_missing_file_is_told(tree: Tree) -> None:
    tree.put(
        "CLAUDE.md",
        "@logo.png @gone.md @docs/ @latin.txt, @big.md ask @someone or me@x.org about @types/node\n",
    )
    tree.put("logo.png", b"\x89PNG\0\0")
    tree.put("latin.txt", "caf\u00e9".encode("latin-1"))
    tree.put("big.md", "x" * 200_001)
    (tree.repo / "docs").mkdir()
    assert tree.told()[1:] == [
        ("app/logo.png", "binary"),
        ("app/gone.md", "missing"),
        ("app/latin.txt", "binary"),
        ("app/big.md", "too large"),
    ]


def test_nothing_in_code_or_a_comment_is_followed_and_comments_are_left_out(tree: Tree) -> None:
    tree.put("CLAUDE.md", "---\nx: y\n---\nOne `@a.md`\n\n```\n@a.md\n```\n<!-- hidden\n@a.md -->Two @b.md\n")
    tree.put("a.md", "a")
    tree.put("b.md", "b")
    whole, included = tree.files()
    assert Path(included.path).name == "b.md" and included.line == 10
    assert "hidden" not in whole.text and "x: y" not in whole.text
    assert whole.text.splitlines()[3] == "One `@a.md`" and whole.text.splitlines()[9] == "Two @b.md"
    assert whole.size == len((tree.repo / "CLAUDE.md").read_bytes())


@pytest.mark.parametrize(
    ("paths", "applies"),
    [
        ('["src/**/*.ts"]', True),
        ('"**/*.{ts,tsx}"', True),
        ("src/**/*.ts, docs/*", True),
        ("src/", True),
        ("src/*.ts", False),
        ("docs/**", False),
        ("**/*.py", False),
    ],
)
def test_a_rule_with_paths_is_loaded_where_a_file_matches(tree: Tree, paths: str, applies: bool) -> None:
    tree.put("src/deep/a.ts", "")
    tree.put("node_modules/x/b.py", "")
    tree.put(".claude/rules/one.md", f"---\npaths: {paths}\n---\nUse tabs.\n")
    tree.put(".claude/rules/two.md", "Always.\n")
    told = dict(tree.told())
    assert ("app/.claude/rules/one.md" in told) == applies and told["app/.claude/rules/two.md"] == ""
    assert not applies or told["app/.claude/rules/one.md"]
    assert [f.path for f in tree.files(conditional=False)] == [str(tree.repo / ".claude/rules/two.md")]


def test_an_unquoted_glob_is_a_glob(tree: Tree) -> None:
    tree.put("a.ts", "")
    tree.put(".claude/rules/one.md", "---\npaths:\n  - **/*.ts\n---\nUse tabs.\n")
    assert tree.told() == [("app/.claude/rules/one.md", "**/*.ts")]
    tree.put(".claude/rules/one.md", "---\npaths:\n  - **/*.py\n---\nUse tabs.\n")
    assert tree.told() == []


def test_a_folder_below_loads_its_own_files_and_those_above(tree: Tree) -> None:
    for folder in ("", "src/", "src/api/", "docs/"):
        tree.put(f"{folder}CLAUDE.md", folder or "top")
        tree.put(f"{folder}CLAUDE.local.md", folder or "top")
    tree.put(".claude/rules/api.md", "---\npaths: src/**\n---\nx\n")
    tree.put("src/api/a.py", "")
    assert [path for path, _ in tree.told("src")] == [
        "app/CLAUDE.md",
        "app/.claude/rules/api.md",
        "app/CLAUDE.local.md",
        "app/src/CLAUDE.md",
        "app/src/CLAUDE.local.md",
        "app/src/api/CLAUDE.md",
        "app/src/api/CLAUDE.local.md",
    ]
    assert [when for _, when in tree.told("src")] == ["", "src/**", "", "", "", "api/", "api/"]
    assert "app/.claude/rules/api.md" not in dict(tree.told("docs"))


def test_whatever_files_say_the_answer_is_bounded(tree: Tree) -> None:
    many = "".join(f"@many/{number}.md\n" for number in range(2_000))
    tree.put("CLAUDE.md", many + "@" * 50_000 + "`" * 50_000 + "<!--" * 10_000)
    for number in range(300):
        tree.put(f"many/{number}.md", "x\n")
    tree.put(".claude/rules/slow.md", "---\npaths: '" + "**/*a" * 30 + "'\n---\nx\n")
    tree.put("a" * 200 + "/" + "a" * 200 + ".b", "")
    begun = time.process_time()
    assert len(tree.files()) <= 200
    assert time.process_time() - begun < 3


def test_what_cannot_be_read_stops_nothing(tree: Tree) -> None:
    (tree.repo / "CLAUDE.md").symlink_to("nowhere.md")
    (tree.repo / "CLAUDE.local.md").mkdir()
    os.mkfifo(tree.repo / "pipe.md")
    (tree.root / "CLAUDE.md").write_text(f"@{tree.repo}/pipe.md fine\n")
    told = dict(tree.told())
    assert told[".claude/CLAUDE.md"] == "" and told["app/CLAUDE.md"] == "missing"
    assert told["app/CLAUDE.local.md"] == "unreadable"
