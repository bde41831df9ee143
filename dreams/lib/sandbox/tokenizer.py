"""A strict parser of one command line: words, quotes, globs, `|`, `&&`, `||`, `;`, and three redirections.

It accepts only what bash, sh and this parser read alike, and refuses everything else by name. No shell runs the
line, so a wrong reading could at worst show another file of the mounts; refusing prevents even that.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from typing import Literal

from dreams.lib.diff.invisible import is_hidden
from dreams.lib.sandbox.process import Refused

LONGEST_LINE = 16_384  # characters of a command line; chosen
MOST_COMMANDS = 20  # in it; chosen
MOST_WORDS = 2_000  # in one of them; chosen

Stderr = Literal["shown", "dropped", "joined"]
Connector = Literal["&&", "||", ";"]


@dataclass(frozen=True, slots=True)
class Word:
    """One argument. `glob` is set if it has unquoted wildcards: the text with quoted ones escaped."""

    text: str
    glob: str | None = None


@dataclass(slots=True)
class Simple:
    """One command of a pipeline, the file that it reads instead of the pipe, and the target of its error output."""

    words: list[Word] = field(default_factory=list)
    stdin: str | None = None
    stderr: Stderr = "shown"


@dataclass(slots=True)
class Pipeline:
    """Commands joined by `|`, and the operator before them."""

    after: Connector
    commands: list[Simple] = field(default_factory=lambda: [Simple()])


_PRINTABLE = re.compile(r"[\t\x20-\x7e]*")
_REDIRECTION = re.compile(r"2>(/dev/null|&1)(?=[ \t|;&]|$)")
_INPUT = re.compile(r"<[ \t]*(?=[^<>&|;() \t])")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\[[^]]*\])?\+?=")
_PLAIN = re.compile(r"[A-Za-z0-9_./,:@%+=^\]-]+")
# In double quotes bash treats `$` before one of these (or the closing quote) as plain text.
_LITERAL_DOLLAR_BEFORE = ' "|)'

_REFUSED = {
    "$": "'$' (variables, $(…) and $'…' are not expanded; write the text out, in single quotes if it is a pattern; use && and || for $?, and a wildcard instead of a loop, as in head -n 3 *.md)",
    "`": "a backtick (command substitution); run that command by itself first",
    "{": "'{' (brace expansion); name each file, or quote it if it is meant as text",
    "}": "'}' (brace expansion); quote it if it is meant as text",
    "~": "'~' (home directory); name a path below a mount",
    "(": "'(' (subshells and functions); quote it or write \\( if it is meant as text",
    ")": "')' (subshells and functions); quote it or write \\) if it is meant as text",
    "<": "'<' (here-documents, <(…), and an input without a blank before it); name the file: cat FILE |",
    ">": "'>' (output redirection); only 2>/dev/null and 2>&1, without a blank, are read; nothing is written here, so leave it out",
    "&": "'&' (background jobs and &>); only && joins commands",
}


def parse(line: str) -> list[Pipeline]:
    """The pipelines of one command line, or Refused with the unsupported part."""
    text = line[:-1] if line.endswith("\n") and not line.endswith("\\\n") else line
    _refuse_unreadable(text)
    return _Reader(text).read()


def _refuse_unreadable(text: str) -> None:
    if len(text) > LONGEST_LINE:
        raise Refused(f"a line of {len(text):,} characters; at most {LONGEST_LINE:,}")
    if _PRINTABLE.fullmatch(text):
        return
    for char in text:
        if char == "\n":
            raise Refused("a line break; join commands with && or ; on one line")
        if char == "\r":
            raise Refused("a carriage return (U+000D)")
        if _invisible(char):
            raise Refused(f"an invisible or undefined character (U+{ord(char):04X})")


def _invisible(char: str) -> bool:
    # U+FE0F is part of many emoji; a space of another width cannot be told from a plain one.
    return char not in "\t \ufe0f" and (is_hidden(char, 0) or unicodedata.category(char) == "Zs")


class _Reader:
    """Parses a line from left to right. `_word` is None between words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._pipelines = [Pipeline(";")]
        self._text_of_word: list[str] | None = None
        self._glob: list[str] = []
        self._wild = False
        self._names_input = False  # the next word is the file after `<`

    def read(self) -> list[Pipeline]:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._end_word()
        return self._finished()

    def _finished(self) -> list[Pipeline]:
        last = self._pipelines[-1]
        if last.after == ";" and len(last.commands) == 1 and not last.commands[0].words:
            if last.commands[0].stderr != "shown" or last.commands[0].stdin is not None:
                raise Refused("a redirection without a command")
            self._pipelines.pop()
        else:
            self._refuse_empty("at the end of the line")
        return self._pipelines

    @property
    def _simple(self) -> Simple:
        return self._pipelines[-1].commands[-1]

    def _step(self, char: str) -> None:
        if char in " \t":
            self._end_word()
            self._at += 1
        elif char in "|&;":
            self._operator(char)
        elif char == "'":
            self._single()
        elif char == '"':
            self._double()
        elif char == "\\":
            self._escaped()
        elif self._text_of_word is None and not self._names_input and self._redirected():
            return
        elif self._text.startswith("{}", self._at):
            # Nothing to expand: every shell keeps an empty pair, and people write `xargs -I {}`.
            self._add("{}", quoted=False)
            self._at += 2
        elif char in _REFUSED:
            raise Refused(_REFUSED[char])
        else:
            self._bare(char)

    def _redirected(self) -> bool:
        found = _REDIRECTION.match(self._text, self._at)
        if found is not None:
            self._simple.stderr = "dropped" if found[1] == "/dev/null" else "joined"
        else:
            found = _INPUT.match(self._text, self._at) if self._simple.stdin is None else None
            self._names_input = found is not None
        self._at = found.end() if found else self._at
        return found is not None

    # Words

    def _add(self, text: str, *, quoted: bool) -> None:
        if self._text_of_word is None:
            self._text_of_word = []
        self._text_of_word.append(text)
        self._glob.append(re.sub(r"([*?\[\]\\!^-])", r"\\\1", text) if quoted else text)

    def _bare(self, char: str) -> None:
        if self._text_of_word is None:
            self._refuse_at_start(char)
        if found := _PLAIN.match(self._text, self._at):
            self._add(found[0], quoted=False)
            self._at = found.end()
            return
        self._wild = self._wild or char in "*?["
        self._add(char, quoted=False)
        self._at += 1

    def _refuse_at_start(self, char: str) -> None:
        if char == "#":
            raise Refused("'#' (a comment); quote it if it is meant as text")
        if char == "!":
            # A shell does not change "!=".
            alone = self._text[self._at + 1 : self._at + 2].strip(" \t") in ("", "=")
            if not alone or not self._simple.words:
                raise Refused("'!' (history expansion or negation); quote it if it is meant as text")
        if not self._simple.words and (found := _ASSIGNMENT.match(self._text, self._at)):
            raise Refused(f"{found[0][:40]!r} (setting a variable); name the command first")

    def _single(self) -> None:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            raise Refused("a single quote that is never closed")
        self._add(self._text[self._at + 1 : end], quoted=True)
        self._at = end + 1

    def _double(self) -> None:
        self._add("", quoted=True)
        self._at += 1
        while True:
            char = self._text[self._at : self._at + 1]
            if not char:
                raise Refused("a double quote that is never closed")
            self._at += 1
            if char == '"':
                return
            self._add(self._in_double(char), quoted=True)

    def _in_double(self, char: str) -> str:
        behind = self._text[self._at : self._at + 1]
        if char == "`":
            raise Refused(_REFUSED["`"])
        if char == "$" and (not behind or behind not in _LITERAL_DOLLAR_BEFORE):
            raise Refused(_REFUSED["$"])
        if char == "\\" and behind and behind in '$`"\\':
            self._at += 1
            return behind
        return char

    def _escaped(self) -> None:
        behind = self._text[self._at + 1 : self._at + 2]
        if not behind:
            raise Refused("a backslash at the end of the line")
        self._add(behind, quoted=True)
        self._at += 2

    def _end_word(self) -> None:
        if self._text_of_word is None:
            return
        text = "".join(self._text_of_word)
        if self._names_input:
            if self._wild:
                raise Refused("a wildcard behind '<'; name the file")
            self._simple.stdin, self._names_input, self._text_of_word = text, False, None
            self._glob = []
            return
        self._simple.words.append(
            Word(text, "".join(self._glob) if self._wild and text not in ("[", "[[") else None)
        )
        if len(self._simple.words) > MOST_WORDS:
            raise Refused(f"more than {MOST_WORDS:,} words in one command")
        self._text_of_word, self._glob, self._wild = None, [], False

    # Operators

    def _operator(self, char: str) -> None:
        self._end_word()
        pair = self._text[self._at : self._at + 2]
        if pair in ("|&", ";;", ";&"):
            raise Refused(f"'{pair}'")
        if char == "&" and pair != "&&":
            raise Refused(_REFUSED["&"])
        self._refuse_empty(f"before '{pair if pair in ('&&', '||') else char}'")
        self._at += len(pair) if pair in ("&&", "||") else 1
        if pair == "&&":
            self._pipelines.append(Pipeline("&&"))
        elif pair == "||":
            self._pipelines.append(Pipeline("||"))
        elif char == ";":
            self._pipelines.append(Pipeline(";"))
        else:
            self._pipelines[-1].commands.append(Simple())

    def _refuse_empty(self, where: str) -> None:
        if not self._simple.words:
            raise Refused(f"no command {where}")
        commands = sum(len(pipeline.commands) for pipeline in self._pipelines)
        if commands > MOST_COMMANDS:
            raise Refused(f"more than {MOST_COMMANDS} commands on one line")
