"""What the tokenizer accepts, the host's own bash splits the same way; whatever else it is given, it refuses."""

import random
import subprocess
import tempfile

import pytest
from hypothesis import given, settings, strategies as s

from dreams.lib.sandbox.process import Refused
from dreams.lib.sandbox.tokenizer import MOST_COMMANDS, parse
from tests.world.strategies import tries

# Nothing here can name a file of the empty folder in which bash runs, so globs stay as they are written.
_ALPHABET = "ab0-_./,:@%+=^!#{}[]*?~'\"\\ \t$`|&;<>()é\n\r\x00\u200b"
_CHUNK = s.one_of(
    s.sampled_from(
        [
            "'a b'",
            '"a b"',
            "a\\ b",
            "'",
            '"',
            "\\",
            "''",
            '""',
            "{}",
            "{a,b}",
            "$'x'",
            '$"x"',
            "2>&1",
            "2>/dev/null",
        ]
    ),
    s.sampled_from(
        ["'$x'", '"\\$x"', '"a\\"b"', "\\'", "'\\'", '"\\\\"', "a'b'c\"d\"", "x=y", "[a]", "*.md", "-n", "--"]
    ),
    s.sampled_from(
        [" | ", " && ", " || ", "; ", "|", ";", " ", "  ", "\t", "é", "#", "a#b", "!", "!a", "~", "~/x"]
    ),
    s.text(_ALPHABET, max_size=4),
)
LINES = s.lists(_CHUNK, min_size=1, max_size=14).map("".join)


def _accepted(line: str) -> list[list[str]] | None:
    """The words of each command, or None when the line is refused."""
    try:
        pipelines = parse(line)
    except Refused as refusal:
        assert str(refusal)
        return None
    if any(simple.stdin for pipeline in pipelines for simple in pipeline.commands):
        return None  # bash would look for the file; another test reads one
    return [[word.text for word in simple.words] for pipeline in pipelines for simple in pipeline.commands]


def _bash(script: str) -> list[list[str]]:
    """What a script prints: rows of words, all of them in one run of bash, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-s"],
            input=script.encode(),
            cwd=folder,
            env={"LC_ALL": "C.UTF-8", "HOME": "/nowhere", "PATH": "/nowhere"},
            capture_output=True,
            timeout=30,
            check=True,
        )
    assert done.stderr == b"", done.stderr
    return [row.split("\0")[:-1] for row in done.stdout.decode().split("\1\0")[:-1]]


@pytest.mark.more
@settings(max_examples=20, deadline=None)
@given(s.lists(LINES, min_size=40, max_size=40))
def test_one_command_has_the_words_that_bash_finds(lines: list[str]) -> None:
    kept: dict[str, list[str]] = {}
    for line in lines:
        found = _accepted("x " + line)
        # Behind an operator bash would look for a command of that name; operators have a test of their own.
        if (
            found is not None
            and len(found) == 1
            and "2>" not in line
            and not line.rstrip(" \t").endswith(";")
        ):
            kept[line] = found[0][1:]
    rows = _bash("".join(f"printf '%s\\0' {line}\nprintf '\\1\\0'\n" for line in kept))
    for line, words in zip(kept, rows, strict=True):
        assert words == (kept[line] or [""]), line


@pytest.mark.more
@settings(max_examples=20, deadline=None)
@given(s.lists(s.lists(LINES, min_size=2, max_size=4), min_size=15, max_size=15), s.randoms())
def test_operators_part_commands_where_bash_parts_them(groups: list[list[str]], dice: random.Random) -> None:
    """Each command becomes a bash function's call that prints its words, so that only the parting is looked at."""
    lines: list[str] = []
    wanted: list[list[str]] = []
    for group in groups:
        commands = ["w " + part for part in group if (_accepted("w " + part) or [[], []])[1:] == []]
        # A line end is taken at the very end alone.
        commands = [c for c in commands if not c.rstrip(" \t").endswith((";", "\n"))]
        if len(commands) < 2:
            continue
        line = (
            "".join(command + dice.choice([" && ", ";", " ; ", "&&"]) for command in commands[:-1])
            + commands[-1]
        )
        found = _accepted(line)
        assert found is not None, line
        lines.append(line)
        wanted += found
    script = "w() { printf '%s\\0' w \"$@\"; printf '\\1\\0'; }\n"
    assert _bash(script + "\n".join(lines) + "\n") == wanted


@tries(200, 600)
@given(s.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for encoding in ("utf-8", "latin-1"):
        found = _accepted(data.decode(encoding, "surrogateescape"))
        assert found is None or (all(found) and len(found) <= MOST_COMMANDS)


@tries(200, 600)
@given(LINES)
def test_any_line_of_shell_pieces_is_read_or_refused(line: str) -> None:
    found = _accepted(line)
    assert found is None or all(words for words in found)


@pytest.mark.more
@tries(100, 300)
@given(LINES, s.integers(0, 100), s.characters())
def test_one_character_put_into_a_line_is_no_fault(line: str, at: int, char: str) -> None:
    _accepted(line[:at] + char + line[at:])
