"""Command lines are read as bash and shlex read them, or refused by name."""

import shlex
import string

import pytest
from hypothesis import given, strategies as s

from dreams.lib.sandbox.process import Refused
from dreams.lib.sandbox.tokenizer import parse
from tests.world.cases import each
from tests.world.strategies import tries


def words(line: str) -> list[str]:
    (pipeline,) = parse(line)
    (simple,) = pipeline.commands
    return [word.text for word in simple.words]


@each(
    ("line", "expected"),
    [
        ("ls -la", ["ls", "-la"]),
        ("cat 'my notes.md' \"b c\"", ["cat", "my notes.md", "b c"]),
        ("echo a'b'\"c\"d", ["echo", "abcd"]),
        (r"echo \* a\ b", ["echo", "*", "a b"]),
        (r'echo "a\"b\\c\d"', ["echo", r'a"b\c\d']),
        (r"echo 'a\b$x`y`'", ["echo", r"a\b$x`y`"]),
        ('grep "x$" a', ["grep", "x$", "a"]),
        ('grep "Hello!" a', ["grep", "Hello!", "a"]),
        ("find . ! -name a", ["find", ".", "!", "-name", "a"]),
        (r"find . \( -name a \)", ["find", ".", "(", "-name", "a", ")"]),
        ("echo '' \"\"", ["echo", "", ""]),
        ("[ -f a ]", ["[", "-f", "a", "]"]),
        ("echo a#b", ["echo", "a#b"]),
        ("ls\n", ["ls"]),
        ("echo a=b", ["echo", "a=b"]),
        ("xargs -I {} echo x{}y", ["xargs", "-I", "{}", "echo", "x{}y"]),
    ],
)
def test_words_and_quotes_are_read_as_bash_reads_them(line: str, expected: list[str]) -> None:
    assert words(line) == expected


def test_operators_join_pipelines() -> None:
    found = parse("a | b && c || d; e")
    assert [(one.after, len(one.commands)) for one in found] == [(";", 2), ("&&", 1), ("||", 1), (";", 1)]


def test_two_redirections_of_errors_are_read_the_last_one_counts() -> None:
    (pipeline,) = parse("ls 2>/dev/null | wc 2>&1 2>/dev/null")
    assert [simple.stderr for simple in pipeline.commands] == ["dropped", "dropped"]
    assert parse("ls 2>&1")[0].commands[0].stderr == "joined"


@each(
    ("line", "part"),
    [
        ("echo $HOME", "'$'"),
        ('echo "$HOME"', "'$'"),
        ("echo $'a'", "'$'"),
        ('echo $"a"', "'$'"),
        ("echo $(id)", "'$'"),
        ('echo "$(id)"', "'$'"),
        ("echo `id`", "backtick"),
        ('echo "`id`"', "backtick"),
        ("echo {a,b}", "'{'"),
        ("echo {}{a,b}", "'{'"),
        ("echo {{},b}", "'{'"),
        ("echo {},b}", "'}'"),
        ("cat ~/x", "'~'"),
        ("ls > x", "'>'"),
        ("ls >> x", "'>'"),
        ("ls 1>x", "'>'"),
        ("ls 2>x", "'>'"),
        ("ls 2>/dev/nullx", "'>'"),
        ("ls x2>/dev/null", "'>'"),
        ("ls 12>/dev/null", "'>'"),
        ("ls >| x", "'>'"),
        ("cat <x <y", "'<'"),
        ("cat < *.md", "wildcard"),
        ("cat < 2>/dev/null", "'>'"),
        ("cat a<b", "'<'"),
        ("cat <", "'<'"),
        ("cat < | cat", "'<'"),
        ("cat <&3", "'<'"),
        ("cat <(id)", "'<'"),
        ("cat <> x", "'<'"),
        ("< x", "redirection"),
        ("cat << EOF", "'<'"),
        ("cat <<< x", "'<'"),
        ("ls &", "'&'"),
        ("ls &> x", "'&'"),
        ("ls |& cat", "'|&'"),
        ("(ls)", "'('"),
        ("ls;;ls", "';;'"),
        ("ls\nid", "line break"),
        ("ls\\\nid", "line break"),
        ("ls\rid", "carriage return"),
        ("ls '\r'", "carriage return"),
        ("ls \x1b[0m", "U+001B"),
        ("ls \u200bx", "U+200B"),
        ("ls '\u202e'", "U+202E"),
        ("ls\u00a0x", "U+00A0"),
        ("ls \ud800", "U+D800"),
        ("A=1 ls", "setting a variable"),
        ("A+=1 ls", "setting a variable"),
        ("a[0]=1", "setting a variable"),
        ("!!", "'!'"),
        ("! ls", "'!'"),
        ("ls !x", "'!'"),
        ("# hi", "'#'"),
        ("ls # hi", "'#'"),
        ("ls 'x", "never closed"),
        ('ls "x', "never closed"),
        ("ls x\\", "backslash at the end"),
        ("ls | | wc", "no command"),
        ("&& ls", "no command"),
        ("ls &&", "no command"),
        ("ls |", "no command"),
        ("| ls", "no command"),
        ("2>/dev/null", "without a command"),
        ("ls;" * 21, "more than 20"),
        ("a" * 20_000, "characters"),
    ],
)
def test_everything_else_is_refused_and_the_part_is_named(line: str, part: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse(line)
    assert part in str(refusal.value)


def test_twenty_commands_are_read() -> None:
    assert len(parse(";".join(["ls"] * 20))) == 20


_PIECE = s.one_of(
    s.text(string.ascii_letters + string.digits + "_./,:@%+=^-]!#", min_size=1, max_size=6),
    s.text(string.printable.replace("\n", "").replace("\r", "").replace("'", ""), max_size=6).map(
        lambda x: f"'{x}'"
    ),
    s.text(string.ascii_letters + " !;|&<>(){}*?~#'", max_size=6).map(lambda x: f'"{x}"'),
    s.sampled_from(["\\ ", "\\*", "\\|", "\\$", "\\'", '\\"', "\\\\", " ", "  ", "\t"]),
)


@tries(130, 400)
@given(s.lists(_PIECE, max_size=12))
def test_an_accepted_line_has_the_words_that_shlex_finds(pieces: list[str]) -> None:
    line = "echo " + "".join(pieces)
    try:
        found = words(line)
    except Refused:
        return
    assert found == shlex.split(line)


@tries(130, 400)
@given(s.text(s.sampled_from("ab \t|&;<>(){}$`'\"\\*?[]!#~=-2/\r\n\x00\u200bé"), max_size=30))
def test_any_text_is_read_or_refused_and_words_of_two_operators_never_mix(line: str) -> None:
    try:
        pipelines = parse(line)
    except Refused as refusal:
        assert str(refusal)
        return
    assert all(simple.words for pipeline in pipelines for simple in pipeline.commands)
    # What a shell would act on stands in a word only if it was quoted, so a bare line has none of it.
    if not set(line) & set("'\"\\"):
        texts = [word.text for pipeline in pipelines for simple in pipeline.commands for word in simple.words]
        assert not any(set(text.replace("{}", "")) & set("|&;<>(){}$`~\r\x00\u200b") for text in texts)
