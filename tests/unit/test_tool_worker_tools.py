"""Read, Grep and Glob: the same as a plain search line by line would find, and bounded."""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import re2
from hypothesis import given, strategies as st

from dreams.lib.files.safefs import Root
from dreams.lib.sandbox import CommandLimits, Mount, Tree
from dreams.lib.sandbox.tool_worker.tools import Tools
from dreams.lib.secrets import redact
from tests.world.cases import each
from tests.world.strategies import tries


def tools(folder: Path, limits: CommandLimits | None = None) -> Tools:
    return Tools(Tree([Mount("m", Root.open(folder))]), limits or CommandLimits())


def ask(folder: Path, name: str, **given_: Any) -> str:
    made = tools(folder)
    try:
        return made.run(name, given_).text
    finally:
        made.tree.close()


WORDS = st.lists(st.sampled_from(["ab", "b", "\r", " ", "é", "x" * 30]), max_size=5).map("".join)
LINES = st.lists(WORDS, max_size=12)
PATTERNS = st.sampled_from(
    ["b", "^ab", "b$", "a.*b", "^$", "é", "[^a]b", "(?i)AB", "x{20,}", "\\Aab", "ab\\z"]
)


@given(LINES, PATTERNS, st.integers(0, 2), st.integers(0, 2), st.booleans())
@tries(50, 150)
def test_grep_finds_what_a_search_line_by_line_finds(
    lines: list[str], pattern: str, before: int, after: int, end: bool
) -> None:
    body = "\n".join(lines) + ("\n" if end else "")
    with tempfile.TemporaryDirectory() as base:
        (Path(base) / "f.md").write_bytes(body.encode())
        text = ask(Path(base), "Grep", pattern=pattern, **{"-B": before, "-A": after}, head_limit=900)
    shown = body.split("\n")
    shown = shown[:-1] if not shown[-1] else shown
    bare = [line.rstrip("\r") for line in shown]
    hits = [number for number, line in enumerate(bare) if re2.search(pattern, line)]
    near = {n for hit in hits for n in range(hit - before, hit + after + 1) if 0 <= n < len(bare)}
    wanted = [
        f"/m/f.md{':' if n in hits else '-'}{n + 1}{':' if n in hits else '-'}{bare[n]}" for n in sorted(near)
    ]
    assert text == ("\n".join(wanted) or "No match.")


def test_grep_counts_names_filters_and_stops(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.txt"):
        (tmp_path / name).write_text("one fact\n" * 5)
    assert (
        ask(tmp_path, "Grep", pattern="fact", output_mode="files_with_matches", glob="*.md")
        == "/m/a.md\n/m/b.md"
    )
    assert ask(tmp_path, "Grep", pattern="fact", output_mode="count", path="/m/c.txt") == "/m/c.txt:5"
    limited = ask(tmp_path, "Grep", pattern="fact", head_limit=3)
    assert limited.count("one fact") == 3 and "stopped at 3 lines" in limited


def test_a_long_line_is_shown_around_its_match(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text("a" * 50_000 + " from now on " + "b" * 50_000 + "\n")
    text = ask(tmp_path, "Grep", pattern="from now on")
    assert "from now on" in text and len(text) < 1_200 and text.count("…") == 2
    assert "a line of 100,013 characters" in ask(tmp_path, "Read", file_path="/m/s.jsonl")


def test_read_numbers_lines_from_where_it_is_asked_to(tmp_path: Path) -> None:
    (tmp_path / "f.md").write_text("".join(f"line {n}\n" for n in range(1, 50)))
    assert (
        ask(tmp_path, "Read", file_path="/m/f.md", offset=48, limit=5) == "    48\tline 48\n    49\tline 49"
    )
    assert "no such lines" in ask(tmp_path, "Read", file_path="/m/f.md", offset=99)


@each(
    ("pattern", "found"),
    [
        ("/m/*.md", ["/m/a.md"]),
        ("/m/**/*.md", ["/m/a.md", "/m/sub/b.md"]),
        ("**/b.*", ["/m/sub/b.md"]),
        ("/m/?.md", ["/m/a.md"]),
        ("/m/[a-c].md", ["/m/a.md"]),
        ("/m/[!a].md", []),
        ("/m/[!b^\\]*.md", ["/m/a.md"]),
        ("/m/**/*.{txt,md}", ["/m/a.md", "/m/sub/b.md"]),
        ("/m/{a,sub/*}.md", ["/m/a.md", "/m/sub/b.md"]),
        ("/m/{a,b.md", []),
        ("/m/[]a.md", []),
        ("*.md", []),
    ],
)
def test_glob_stars_do_not_cross_folders_but_double_stars_do(
    tmp_path: Path, pattern: str, found: list[str]
) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.md", "sub/b.md"):
        (tmp_path / name).write_text("x")
    assert ask(tmp_path, "Glob", pattern=pattern) == ("\n".join(found) or "No file matches.")


def test_a_choice_of_names_narrows_a_search(tmp_path: Path) -> None:
    for name in ("a.md", "b.jsonl", "c.txt"):
        (tmp_path / name).write_text("found\n")
    text = ask(tmp_path, "Grep", pattern="found", glob="*.{md,jsonl}", output_mode="files_with_matches")
    assert text == "/m/a.md\n/m/b.jsonl"
    assert "against one line" in ask(tmp_path, "Grep", pattern="found", multiline=True)


def test_glob_looks_below_the_path_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.md", "sub/b.md"):
        (tmp_path / name).write_text("x")
    assert ask(tmp_path, "Glob", pattern="*.md", path="/m/sub") == "/m/sub/b.md"


def test_every_call_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "big.md").write_text("a fact\n" * 200_000)
    for limits, name, given_ in (
        (CommandLimits(read_bytes=1_000), "Grep", {"pattern": "nothing"}),
        (CommandLimits(seconds=0.0), "Grep", {"pattern": "nothing"}),
        (CommandLimits(names=0), "Glob", {"pattern": "**"}),
    ):
        made = tools(tmp_path, limits)
        answer = made.run(name, given_)
        assert answer.refused and "stopped after" in answer.text
        made.tree.close()
    made = tools(tmp_path, CommandLimits(output_chars=500))
    assert len(made.run("Read", {"file_path": "/m/big.md"}).text) < 600
    assert len(made.run("Bash", {"command": "cat /m/big.md"}).text) < 700
    made.tree.close()


def _key_lines() -> list[str]:
    return [base64.b64encode(hashlib.sha384(bytes([number])).digest()).decode() for number in range(8)]


def test_no_line_of_a_key_block_is_shown_alone(tmp_path: Path) -> None:
    """A line tells by itself not that it is part of a key; only the whole file does."""
    title, lines = "RSA " + "PRIVATE KEY-----", _key_lines()
    block = "\n".join([f"-----BEGIN {title}", *lines, f"-----END {title}"])
    (tmp_path / "deploy.md").write_text(f"# Deploy\n\nThe key:\n\n```\n{block}\n```\n\nIt is old.\n")
    (tmp_path / "s.jsonl").write_text(
        json.dumps({"text": "x" * (1 << 20)}) + "\n" + json.dumps({"text": f"It is\n{block}\nthanks"}) + "\n"
    )
    piece = lines[4][10:40]
    asked: list[tuple[str, dict[str, Any]]] = [
        ("Bash", {"command": f"grep {piece} /m/deploy.md"}),
        ("Bash", {"command": f"grep -o '{piece}.*' /m/deploy.md | cut -c1-28"}),
        ("Bash", {"command": "sed -n '8,12p' /m/deploy.md | nl"}),
        ("Bash", {"command": f"grep -o '..{piece}.....' /m/s.jsonl"}),
        ("Grep", {"pattern": lines[4][:20], "-A": 2}),
        ("Read", {"file_path": "/m/deploy.md", "offset": 9, "limit": 3}),
    ]
    for name, given_ in asked:
        text = ask(tmp_path, name, **given_)
        assert "[redacted: key]" in text or text == "[exit code 0]\n" or not text, (name, given_)
        assert not any(line[12:36] in text for line in lines), (name, given_)
    for program in (".text", 'select(.text|startswith("It"))|.text|ascii_downcase'):
        text = ask(tmp_path, "Bash", command=f"jq -r '{program}' /m/s.jsonl | tail -3")
        assert text.lower() == "it is\n[redacted: private-key]\nthanks\n", program
    with (tmp_path / "huge.bin").open("wb") as file:
        file.write(b"first line\n")
        file.truncate(1 << 40)
    assert ask(tmp_path, "Bash", command="head -1 /m/huge.bin") == "first line\n"
    assert ask(tmp_path, "Bash", command="grep -c . /m/deploy.md") == "15\n"
    assert "It is old." in ask(tmp_path, "Read", file_path="/m/deploy.md", offset=15)


def test_no_half_of_a_secret_is_shown_and_no_other_text_of_one(tmp_path: Path) -> None:
    """Half a token is not recognised any more: where a line is cut, the whole token is left out."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    said = f"{'word ' * 300}find me, my token is {token} ok {'word ' * 300}"
    (tmp_path / "s.jsonl").write_text(json.dumps({"text": said}) + "\n")
    at = said.index(token) + len('{"text": "')
    calls: list[tuple[str, dict[str, Any]]] = [
        *(("Grep", {"pattern": f"(?:word ){{{before}}}find me"}) for before in range(107, 119)),
        *(("Grep", {"pattern": f'(?:word ){{{behind}}}"'}) for behind in range(238, 252)),
        ("Bash", {"command": f"cut -c1-{at + 20} /m/s.jsonl"}),
        ("Bash", {"command": f"cut -c{at + 20}- /m/s.jsonl"}),
        ("Bash", {"command": "cut -d_ -f2 /m/s.jsonl"}),
        ("Bash", {"command": f"head -c {at + 20} /m/s.jsonl"}),
        ("Bash", {"command": f"tail -c +5 /m/s.jsonl | tail -c {len(said) - at + 5}"}),
        ("Bash", {"command": f"tail -c {len(said) - at + 5} /m/s.jsonl"}),
        ("Bash", {"command": "grep -o 'ghp_.\\{20\\}' /m/s.jsonl"}),
        ("Bash", {"command": "grep -o 'token is .\\{20\\}' /m/s.jsonl"}),
        ("Bash", {"command": "rg -o 'a1B2c3D4e5F6g7H8' /m/s.jsonl"}),
        ("Bash", {"command": "sed 's/\\(.*D4\\).*/\\1/' /m/s.jsonl"}),
        ("Bash", {"command": "sed 's/./&./g' /m/s.jsonl | tr -d ."}),
        ("Bash", {"command": "tr _ ' ' < /m/s.jsonl"}),
        ("Bash", {"command": f"jq -r '.text[0:{said.index(token) + 20}]' /m/s.jsonl"}),
        ("Bash", {"command": "jq -c '.text|split(\"_\")' /m/s.jsonl"}),
        ("Bash", {"command": "jq -rR '.[9:]|ascii_downcase' /m/s.jsonl"}),
        ("Bash", {"command": "jq -r '.text|@base64' /m/s.jsonl | tr -d '\\n'"}),
    ]
    known = [token[n : n + 8] for n in range(len(token) - 7)]
    for name, given_ in calls:
        text = ask(tmp_path, name, **given_)
        if "@base64" in str(given_):
            text = base64.b64decode(text).decode()
        assert len(text) > 20 or "grep -o" in str(given_) or "rg -o" in str(given_), (given_, text)
        shown = redact.redact(text).lower()
        assert not any(part.lower() in shown for part in known), (name, given_, text[-200:])
    (tmp_path / "s.jsonl").write_text(json.dumps({"text": said, "image": "QUJD" * 1_200_000}) + "\n")
    assert token[:20] not in ask(tmp_path, "Bash", command=f"cut -c1-{at + 20} /m/s.jsonl"), (
        "a line over 4 MB"
    )
    body = (tmp_path / "s.jsonl").read_bytes()
    for most in (0, 1, 3_999, 4_001, 131_072, 131_073, 200_000, len(body) - 1, len(body), 10**9):
        text = ask(tmp_path, "Bash", command=f"head -c {most} /m/s.jsonl | wc -c")
        assert int(text) == min(most, len(body)), most
    (tmp_path / "long.txt").write_bytes(b"a b " * 10_000_000)
    assert ask(tmp_path, "Bash", command="tr a c < /m/long.txt | tr -d c | wc -c") == "30000000\n"
    (tmp_path / "short.txt").write_bytes(b"some\n" * 600_000)
    text = ask(tmp_path, "Bash", command="cut -c1 /m/short.txt | tr '\\n' ' ' | tr -d s | wc -c")
    assert text == "600000\n", "many small pieces without a line end"
    made = tools(tmp_path, CommandLimits(output_chars=at + 20))
    assert "ghp_" not in made.run("Bash", {"command": "cat /m/s.jsonl"}).text
    made.tree.close()


def test_a_file_named_like_the_input_of_a_command_is_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert ask(tmp_path, "Read", file_path="-").startswith("Not done: No such file or directory")


def test_what_is_wrong_with_a_pattern_is_told_in_plain_text(tmp_path: Path) -> None:
    assert ask(tmp_path, "Grep", pattern="(((") == "Not done: missing ): ((("
