"""find with its tests and the actions that print. Nothing that runs, removes or writes; no link is followed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.commands import find_tests as tests
from dreams.lib.sandbox.commands.find_tests import Test, Visit
from dreams.lib.sandbox.mounts import trouble
from dreams.lib.sandbox.process import DEEPEST, Process, Refused, Runner, UsageError, below, is_folder

_NESTED = 50  # brackets in an expression; chosen
_RUNS = "it runs a program; name the files with a wildcard instead, as in head -n 3 *.md"
_WRITES = "it writes a file"
_LINKS = "links are never followed"
_REFUSED = {
    **dict.fromkeys(("-exec", "-execdir", "-ok", "-okdir"), _RUNS),
    **dict.fromkeys(("-fprint", "-fprint0", "-fprintf", "-fls"), _WRITES),
    **dict.fromkeys(("-L", "-H", "-follow"), _LINKS),
    **dict.fromkeys(("-user", "-group", "-links", "-inum", "-samefile"), "use ls -l or stat"),
    **dict.fromkeys(
        ("-atime", "-amin", "-ctime", "-cmin", "-anewer", "-cnewer"), "use -mtime, -mmin or -newermt"
    ),
    "-readable": "leave it out: whatever is found can be read",
    **dict.fromkeys(("-wholename", "-iwholename"), "use -path"),
    "-regextype": "-regex knows one syntax; put grep -E behind find for another",
    "-depth": "put sort -r behind it",
    "-delete": "it removes files",
    "-files0-from": "file names are not taken from files",
}
_NOTHING = ("-noleaf", "-mount", "-xdev", "-warn", "-nowarn")


def find(name: str, argv: list[str]) -> Runner:
    words = list(argv)
    while words and (words[0] in ("-P", "-L", "-H", "-D") or re.fullmatch(r"-O[0-9]?", words[0])):
        if words[0] != "-P":
            raise _refused(words[0])
        words.pop(0)
    paths: list[str] = []
    while words and not words[0].startswith("-") and words[0] not in ("(", ")", "!", ","):
        paths.append(words.pop(0))
    expression = _Parser(words).whole()

    def run(process: Process) -> Iterator[bytes]:
        for reference in expression.references:
            try:  # a missing one is reported before anything is printed
                process.stat(reference)
            except (OSError, SafeFsError) as error:
                raise UsageError(f"'{reference}': {trouble(error)}") from None
        walk = _Walk(process, expression)
        try:
            for path in paths or ["."]:
                yield from walk.from_operand(path)
        except tests.Quit:
            yield b"".join(walk.out)

    return run


COMMANDS = {"find": find}


def _refused(word: str) -> Refused:
    return Refused(f"find {word}: {_REFUSED.get(word, 'this is not on offer')}")


# --- The expression -----------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Expression:
    """The test for each file, the depth limits, and the files used for comparison."""

    test: Test = tests.print_line
    deepest: int = DEEPEST
    shallowest: int = 0
    references: list[str] = field(default_factory=list)


class _Parser:
    """Recursive descent: `-o`, `-a`, `!`, parentheses, then one test or action."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._at = 0
        self._acts = False
        self._nested = 0
        self._result = _Expression()

    def whole(self) -> _Expression:
        if self._words:
            test = self._or()
            if self._at < len(self._words):
                raise UsageError(f"paths must precede expression: `{self._words[self._at]}'")
            self._result.test = test if self._acts else _both(test, tests.print_line)
        return self._result

    def _peek(self) -> str | None:
        return self._words[self._at] if self._at < len(self._words) else None

    def _take(self) -> str:
        word = self._peek()
        if word is None:
            raise UsageError("expected an expression")
        self._at += 1
        return word

    def _or(self) -> Test:
        test = self._and()
        while self._peek() in ("-o", "-or"):
            self._at += 1
            test = _either(test, self._and())
        return test

    def _and(self) -> Test:
        test = self._not()
        while self._peek() not in (None, "-o", "-or", ")"):
            if self._peek() in ("-a", "-and"):
                self._at += 1
            test = _both(test, self._not())
        return test

    def _not(self) -> Test:
        wanted = True
        while self._peek() in ("!", "-not"):
            self._at += 1
            wanted = not wanted
        word = self._take()
        inner = self._group() if word == "(" else self._primary(word)
        return inner if wanted else lambda visit: not inner(visit)

    def _group(self) -> Test:
        self._nested += 1
        if self._nested > _NESTED:
            raise Refused("find: parentheses nested too deeply")
        if self._peek() == ")":
            raise UsageError("invalid expression; empty parentheses are not allowed.")
        test = self._or()
        if self._peek() != ")":
            raise UsageError("invalid expression; expected to find a ')' but didn't see one.")
        self._at += 1
        self._nested -= 1
        return test

    def _primary(self, word: str) -> Test:
        if word in _REFUSED:
            raise _refused(word)
        if word == ",":
            raise Refused("find ,: run find once for each expression")
        if word == ")":
            raise UsageError("invalid expression; you have used ')' in the wrong place")
        if not word.startswith("-"):
            raise UsageError(f"paths must precede expression: `{word}'")
        if word in tests.ALONE:
            self._acts = self._acts or word in ("-print", "-print0", "-ls")
            return tests.ALONE[word]
        return tests.yes if word in _NOTHING else self._with_value(word)

    def _with_value(self, word: str) -> Test:
        newer = re.fullmatch(r"-newer(mt)?", word)
        if word not in (*tests.VALUED, "-maxdepth", "-mindepth") and newer is None:
            raise _refused(word)
        if self._peek() is None:
            raise UsageError(f"missing argument to `{word}'")
        value = self._take()
        if newer is not None:
            if newer[1] is not None:
                return tests.newer_than_time(value)
            self._result.references.append(value)
            return tests.newer_than_file(value)
        if word in ("-maxdepth", "-mindepth"):
            if not re.fullmatch(r"[0-9]{1,6}", value):
                raise UsageError(f"Expected a positive decimal integer argument to {word}, but got '{value}'")
            if word == "-maxdepth":
                self._result.deepest = min(int(value), DEEPEST)
            else:
                self._result.shallowest = int(value)
            return tests.yes
        self._acts = self._acts or word == "-printf"
        return tests.VALUED[word](word, value)


def _both(a: Test, b: Test) -> Test:
    return lambda visit: a(visit) and b(visit)


def _either(a: Test, b: Test) -> Test:
    return lambda visit: a(visit) or b(visit)


# --- The walk -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Walk:
    process: Process
    expression: _Expression
    out: list[bytes] = field(default_factory=list)

    def from_operand(self, path: str) -> Iterator[bytes]:
        stat = self.process.attempt(self.process.stat, path, wording="'{}': {}")
        if stat is None:
            return
        name = path.rstrip("/").rsplit("/", 1)[-1] or "/"
        yield from self._visit(Visit(path, name, stat, 0, path, self.process, self.out))

    def _visit(self, visit: Visit) -> Iterator[bytes]:
        self.process.meter.tick()
        if visit.depth >= self.expression.shallowest:
            self.expression.test(visit)
        if self.out:
            yield b"".join(self.out)
            self.out.clear()
        if is_folder(visit.stat) and visit.depth < self.expression.deepest and not visit.pruned:
            yield from self._below(visit)

    def _below(self, visit: Visit) -> Iterator[bytes]:
        process = self.process
        for entry in process.attempt(process.entries, visit.path, wording="'{}': {}") or ():
            path = below(visit.path, entry.name)
            yield from self._visit(
                Visit(path, entry.name, entry.stat, visit.depth + 1, visit.start, process, self.out)
            )
