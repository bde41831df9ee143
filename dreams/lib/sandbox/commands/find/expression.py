"""find's command line: paths, then an expression of tests, operators and actions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from ... import posix
from ...errors import Refused, UsageError
from ...process import Process, raw
from .. import looks
from . import actions, times
from . import visit as visits
from .visit import Test, Visit

_RUNS = "it runs a program; name the files with a wildcard instead, as in head -n 3 *.md"
_REFUSED = {
    **dict.fromkeys(("-exec", "-execdir", "-ok", "-okdir"), _RUNS),
    "-delete": "it removes files",
    **dict.fromkeys(("-fprint", "-fprint0", "-fprintf", "-fls"), "it writes a file"),
    **dict.fromkeys(("-L", "-H", "-follow"), "links are never followed"),
    "-files0-from": "file names are not taken from files",
}
_NOTHING = (
    "-noleaf",
    "-mount",
    "-xdev",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
)
_DEEP = 1_000
_NESTED = 50


@dataclass(slots=True)
class Expression:
    """What decides about each file, and how deep to go."""

    test: Test = field(default=lambda visit: True)
    deepest: int = _DEEP
    shallowest: int = 0
    depth_first: bool = False
    checks: list[Callable[[Process], None]] = field(default_factory=list)

    def prepared(self, process: Process) -> Expression:
        """Ask now for the files to compare with, so that a missing one is told before anything is printed."""
        for check in self.checks:
            check(process)
        return self


def parse(argv: list[str]) -> tuple[list[str], Expression]:
    """Paths and the expression. Raises Refused for what is not on offer, UsageError for bad grammar."""
    words = list(argv)
    while (words and words[0] in ("-P", "-L", "-H", "-D")) or (words and re.fullmatch(r"-O[0-9]?", words[0])):
        if words[0] not in ("-P",):
            raise Refused(f"find {words[0]}: {_REFUSED.get(words[0], 'this option is not on offer')}")
        words.pop(0)
    paths: list[str] = []
    while words and not words[0].startswith("-") and words[0] not in ("(", ")", "!", ","):
        paths.append(words.pop(0))
    return paths, _Parser(words).whole()


class _Parser:
    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0
        self._acts = False
        self._nested = 0
        self._result = Expression()
        self._syntax = "emacs"

    def whole(self) -> Expression:
        if not self._words:
            self._result.test = actions.print_line
            return self._result
        test = self._list()
        if self._at < len(self._words):
            raise UsageError(f"paths must precede expression: `{self._words[self._at]}'")
        self._result.test = test if self._acts else _both(test, actions.print_line)
        return self._result

    def _peek(self) -> str | None:
        return self._words[self._at] if self._at < len(self._words) else None

    def _take(self) -> str:
        word = self._words[self._at]
        self._at += 1
        return word

    def _list(self) -> Test:
        test = self._or()
        while self._peek() == ",":
            self._at += 1
            test = _then(test, self._or())
        return test

    def _or(self) -> Test:
        test = self._and()
        while self._peek() in ("-o", "-or"):
            self._at += 1
            test = _either(test, self._and())
        return test

    def _and(self) -> Test:
        test = self._not()
        while self._peek() not in (None, "-o", "-or", ")", ","):
            if self._peek() in ("-a", "-and"):
                self._at += 1
            test = _both(test, self._not())
        return test

    def _not(self) -> Test:
        word = self._peek()
        if word is None:
            raise UsageError("expected an expression")
        wanted = True
        while self._peek() in ("!", "-not"):
            self._at += 1
            wanted = not wanted
        word = self._peek()
        if word is None:
            raise UsageError("expected an expression")
        inner = self._group() if word == "(" else self._primary(self._take())
        return inner if wanted else lambda visit: not inner(visit)

    def _group(self) -> Test:
        self._at += 1
        self._nested += 1
        if self._nested > _NESTED:
            raise Refused("find: parentheses nested too deeply")
        if self._peek() == ")":
            raise UsageError("invalid expression; empty parentheses are not allowed.")
        test = self._list()
        if self._peek() != ")":
            raise UsageError("invalid expression; expected to find a ')' but didn't see one.")
        self._at += 1
        self._nested -= 1
        return test

    def _primary(self, word: str) -> Test:
        if word in _REFUSED:
            raise Refused(f"find {word}: {_REFUSED[word]}")
        if not word.startswith("-"):
            if word in (")", ","):
                raise UsageError(f"invalid expression; you have used '{word}' in the wrong place")
            raise UsageError(f"paths must precede expression: `{word}'")
        if word in _PLAIN:
            self._acts = self._acts or word in ("-print", "-print0", "-ls")
            return _PLAIN[word]
        if word in ("-depth", "-d"):
            self._result.depth_first = True
            return _yes
        if word in _NOTHING:
            return _yes
        if found := re.fullmatch(r"-newer([acm])([acmt])", word):
            return self._newer(found[1], found[2], self._value(word))
        return self._with_value(word)

    def _value(self, word: str) -> str:
        if self._peek() is None:
            raise UsageError(f"missing argument to `{word}'")
        return self._take()

    def _with_value(self, word: str) -> Test:
        if word in ("-maxdepth", "-mindepth"):
            return self._bound(word, self._value(word))
        if word in ("-newer", "-anewer", "-cnewer"):
            return self._newer({"-newer": "m"}.get(word, word[1]), "m", self._value(word))
        if word in ("-regex", "-iregex"):
            return self._regex(self._value(word), fold=word == "-iregex")
        if word == "-regextype":
            self._syntax = self._value(word)
            return _yes
        if word in _VALUED:
            self._acts = self._acts or word == "-printf"
            return _VALUED[word](word, self._value(word))
        raise Refused(f"find {word}: this is not on offer")

    def _bound(self, word: str, text: str) -> Test:
        if not re.fullmatch(r"[0-9]{1,6}", text):
            raise UsageError(f"Expected a positive decimal integer argument to {word}, but got '{text}'")
        if word == "-maxdepth":
            self._result.deepest = int(text)
        else:
            self._result.shallowest = int(text)
        return _yes

    def _newer(self, which: str, reference: str, text: str) -> Test:
        if reference == "t":
            return times.newer_than_time(which, text)

        def check(process: Process) -> None:
            process.stat(text)

        self._result.checks.append(check)
        return times.newer_than_file(which, reference, text)

    def _regex(self, text: str, *, fold: bool) -> Test:
        extended = self._syntax in ("posix-extended", "posix-egrep", "egrep", "gnu-awk", "posix-awk", "awk")
        if (
            self._syntax not in ("emacs", "findutils-default", "posix-basic", "grep", "sed", "ed")
            and not extended
        ):
            raise Refused(f"find -regextype {self._syntax[:20]}: posix-extended, egrep or emacs are on offer")
        pattern = raw(text)
        if self._syntax in ("emacs", "findutils-default"):
            # Emacs' patterns are basic ones in which + and ? repeat without a backslash.
            pattern = re.sub(rb"\\.|\[\^?\]?[^]]*\]|[+?]", _emacs, pattern, flags=re.DOTALL)
        expression = posix.translate(pattern, extended=extended, fold=fold)
        return visits.path_pattern(posix.compiled(expression))


def _emacs(found: re.Match[bytes]) -> bytes:
    return b"\\" + found[0] if found[0] in (b"+", b"?") else found[0]


def _yes(visit: Visit) -> bool:
    return True


def _no(visit: Visit) -> bool:
    return False


def _both(a: Test, b: Test) -> Test:
    return lambda visit: a(visit) and b(visit)


def _either(a: Test, b: Test) -> Test:
    return lambda visit: a(visit) or b(visit)


def _then(a: Test, b: Test) -> Test:
    def both(visit: Visit) -> bool:
        a(visit)
        return b(visit)

    return both


def _owned(word: str, text: str) -> Test:
    if word == "-user":
        return lambda visit: text in (looks.owner(visit.stat.st_uid), str(visit.stat.st_uid))
    return lambda visit: text in (looks.group(visit.stat.st_gid), str(visit.stat.st_gid))


_PLAIN: dict[str, Test] = {
    "-print": actions.print_line,
    "-print0": actions.print_nul,
    "-ls": actions.list_line,
    "-prune": actions.prune,
    "-quit": actions.leave,
    "-empty": visits.empty,
    "-true": _yes,
    "-false": _no,
    "-readable": _yes,
    "-executable": lambda visit: bool(visit.stat.st_mode & 0o111),
}
_VALUED: dict[str, Callable[[str, str], Test]] = {
    "-name": lambda word, text: visits.named(text, fold=False),
    "-iname": lambda word, text: visits.named(text, fold=True),
    "-path": lambda word, text: visits.pathed(text, fold=False),
    "-wholename": lambda word, text: visits.pathed(text, fold=False),
    "-ipath": lambda word, text: visits.pathed(text, fold=True),
    "-iwholename": lambda word, text: visits.pathed(text, fold=True),
    "-type": lambda word, text: visits.of_type(text),
    "-size": lambda word, text: visits.sized(text),
    "-perm": lambda word, text: visits.permitted(text),
    "-links": lambda word, text: visits.linked(text),
    "-inum": lambda word, text: visits.numbered(text),
    "-printf": lambda word, text: actions.formatted(text),
    **dict.fromkeys(("-mtime", "-atime", "-ctime"), times.days_old),
    **dict.fromkeys(("-mmin", "-amin", "-cmin"), times.minutes_old),
    "-user": _owned,
    "-group": _owned,
}
