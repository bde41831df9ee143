"""grep, egrep, fgrep: bytes, C locale, leftmost-longest; -R walks like -r and follows no link."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import re2

from dreams.safefs import SafeFsError

from .. import posix
from ..errors import Refused, UsageError
from ..globbing import matches
from ..limits import Meter
from ..mounts import Place, trouble
from ..options import Args, Spec, read
from ..process import Process, Runner, is_folder, raw
from .numbers import plain

_DEPTH = 64
_PIECE = 64 * 1024
_GREP = Spec(
    flags={
        **{letter: letter for letter in "EFGHILUZabchilnoqrsvwxyz"},
        "R": "r",
        "extended-regexp": "E",
        "fixed-strings": "F",
        "basic-regexp": "G",
        "with-filename": "H",
        "no-filename": "h",
        "files-without-match": "L",
        "files-with-matches": "l",
        "null": "Z",
        "text": "a",
        "byte-offset": "b",
        "count": "c",
        "ignore-case": "i",
        "no-ignore-case": "no-i",
        "line-number": "n",
        "only-matching": "o",
        "quiet": "q",
        "silent": "q",
        "recursive": "r",
        "dereference-recursive": "r",
        "no-messages": "s",
        "invert-match": "v",
        "word-regexp": "w",
        "line-regexp": "x",
        "line-buffered": "line-buffered",
        "no-group-separator": "no-separator",
    },
    values={
        "A": "A",
        "after-context": "A",
        "B": "B",
        "before-context": "B",
        "C": "C",
        "context": "C",
        "e": "e",
        "regexp": "e",
        "f": "f",
        "file": "f",
        "m": "m",
        "max-count": "m",
        "d": "d",
        "directories": "d",
        "D": "D",
        "devices": "D",
        "include": "include",
        "exclude": "exclude",
        "exclude-dir": "exclude-dir",
        "binary-files": "binary",
        "label": "label",
        "group-separator": "separator",
    },
    optional={"color": "color", "colour": "color"},
    why_not={
        "P": "Perl patterns are not on offer; use -E",
        "perl-regexp": "Perl patterns are not on offer; use -E",
        "exclude-from": "patterns for names are not taken from files",
    },
)


@dataclass(slots=True)
class _Plan:
    """What one grep was asked to do."""

    args: Args
    line: re2._Regexp  # does a line match
    block: re2._Regexp  # can a block of lines hold a match: a quick first look
    each: re2._Regexp  # the next match in a line, for -o
    patterns: list[bytes]
    before: int
    after: int
    most: int | None
    binary: str
    words: bool
    invert: bool
    numbered: bool
    mode: str  # "lines", "count", "names", "names-without", "quiet" or "only"
    end: bytes

    @property
    def context(self) -> bool:
        return self.mode in ("lines", "only") and (self.before > 0 or self.after > 0)


@dataclass(slots=True)
class _State:
    """What is carried from one file to the next."""

    matched: bool = False
    failed: bool = False
    printed: bool = False
    done: bool = False
    named: bool = False
    out: list[bytes] = field(default_factory=list)


def grep(name: str, argv: list[str]) -> Runner:
    args = read(name, _GREP, _classic(argv))
    if args.has("z"):
        raise Refused("grep -z: lines that end in NUL are not on offer")
    if args.last("color") not in (None, "", "never", "auto", "no", "none", "tty", "if-tty"):
        raise Refused("grep --color: only never and auto are on offer")
    given = args.all("e")
    if not given and not args.has("f"):
        if not args.operands:
            raise UsageError("usage: grep [OPTION]... PATTERNS [FILE]...", 2)
        given = [args.operands.pop(0)]
    syntax = {"egrep": "E", "fgrep": "F"}.get(name) or args.last_of("E", "F", "G") or "G"
    texts = [raw(text) for text in given]
    if not args.has("f"):
        plan = _plan(args, texts, syntax)
        return lambda process: _run(process, plan)
    _plan(args, texts or [b""], syntax)
    return lambda process: _run(process, _plan(args, texts + _from_files(process, args), syntax))


def _classic(argv: list[str]) -> list[str]:
    """`-3` as `-C 3`, also among other letters where it ends the word."""
    out: list[str] = []
    for index, word in enumerate(argv):
        if word == "--":
            return out + argv[index:]
        if (
            len(word) > 1
            and word[0] == "-"
            and word[1:].isdigit()
            and word.isascii()
            and not _is_value(argv, index)
        ):
            out += ["-C", word[1:]]
        else:
            out.append(word)
    return out


def _is_value(argv: list[str], index: int) -> bool:
    return index > 0 and argv[index - 1] in ("-e", "-f", "-m", "-A", "-B", "-C")


def _from_files(process: Process, args: Args) -> list[bytes]:
    patterns: list[bytes] = []
    for path in args.all("f"):
        try:
            lines = process.held(process.lines(process.chunks(path)))
        except (OSError, SafeFsError) as error:
            raise UsageError(f"{path}: {trouble(error)}", 2) from None
        patterns += [line.removesuffix(b"\n") for line in lines]
    return patterns


def _plan(args: Args, texts: list[bytes], syntax: str) -> _Plan:
    fold = (args.last_of("i", "y", "no-i") or "no-i") != "no-i"
    expressions = [_expression(text, syntax, fold) for text in dict.fromkeys(texts)]
    whole = b"|".join(b"(?:" + each + b")" for each in expressions) if expressions else b"[^\\x00-\\xff]"
    words = args.has("w") and not args.has("x")
    line = _bounded(whole, lines=args.has("x"), words=words)
    before, after = _context(args)
    most = plain(args.last("m") or "", "invalid max count", 2) if args.has("m") else None
    return _Plan(
        args=args,
        line=posix.compiled(line),
        block=posix.compiled(b"(?m:" + line + b")"),
        each=posix.compiled(b"^(?:" + whole + b")$" if args.has("x") else whole),
        patterns=texts,
        before=before,
        after=after,
        most=most,
        binary=_binary(args),
        words=words,
        invert=args.has("v"),
        numbered=args.has("n"),
        mode=_mode(args),
        end=b"\n",
    )


def _expression(text: bytes, syntax: str, fold: bool) -> bytes:
    if syntax == "F":
        return posix.fixed(text, fold=fold)
    return posix.translate(text, extended=syntax == "E", fold=fold)


def _bounded(whole: bytes, *, lines: bool, words: bool) -> bytes:
    if lines:
        return b"^(?:" + whole + b")$"
    if words:
        edge = b"[^0-9A-Za-z_]"
        return b"(?:^|" + edge + b")(?:" + whole + b")(?:" + edge + b"|$)"
    return whole


def _context(args: Args) -> tuple[int, int]:
    def number(letter: str) -> int | None:
        text = args.last(letter)
        return None if text is None else plain(text, f"{text}: invalid context length argument", 2)

    both = number("C") or 0
    before, after = number("B"), number("A")
    return both if before is None else before, both if after is None else after


def _binary(args: Args) -> str:
    kind = args.last("binary", "binary") or ""
    if kind not in ("binary", "text", "without-match"):
        raise UsageError("unknown binary-files type", 2)
    return {"a": "text", "I": "without-match"}.get(args.last_of("a", "I") or "", kind)


def _mode(args: Args) -> str:
    if args.has("q"):
        return "quiet"
    last = args.last_of("l", "L")
    if last is not None:
        return "names" if last == "l" else "names-without"
    if args.has("c"):
        return "count"
    return "only" if args.has("o") else "lines"


# Files


def _run(process: Process, plan: _Plan) -> Iterator[bytes]:
    state = _State()
    args = plan.args
    recursive = args.has("r") or args.last("d") == "recurse"
    if plan.mode != "names-without" and _never(plan):
        process.status = 1
        return
    operands = args.operands or (["."] if recursive else ["-"])
    plainly = not args.operands and recursive  # names without the leading ./
    for path in operands:
        if state.done:
            break
        state.named = len(operands) > 1
        yield from _operand(process, plan, state, path, recursive=recursive, plainly=plainly)
    process.status = _status(plan, state)


def _never(plan: _Plan) -> bool:
    """Whether no line can be selected; then GNU opens no file."""
    everything = plan.invert and plan.patterns == [b""] and not (plan.args.has("w") or plan.args.has("x"))
    return plan.most == 0 or everything


def _status(plan: _Plan, state: _State) -> int:
    if state.matched and (plan.mode == "quiet" or not state.failed):
        return 0
    return 2 if state.failed else 1


def _named(plan: _Plan, state: _State, *, below: bool) -> bool:
    choice = plan.args.last_of("H", "h")
    return choice == "H" if choice else state.named or below


def _operand(
    process: Process, plan: _Plan, state: _State, path: str, *, recursive: bool, plainly: bool
) -> Iterator[bytes]:
    if path == "-":
        yield from _scan(process, plan, state, process.stdin, plan.args.last("label") or "(standard input)")
        return
    try:
        place = process.tree.place(path, process.cwd)
        folder = is_folder(process.tree.stat(place))
        if folder and recursive:
            if plainly or not _skipped(plan, path, folder=True, named=True):
                yield from _folder(process, plan, state, place, "" if plainly else path, 0)
        elif (folder and plan.args.last("d") == "skip") or _skipped(plan, path, folder=folder, named=True):
            return
        else:
            yield from _file(process, plan, state, path, below=False)
    except (OSError, SafeFsError) as error:
        _fail(process, plan, state, path, error)
        if trouble(error) == "Is a directory":
            # A folder can be opened but not read: it counts as an empty file.
            yield from _scan(process, plan, state, iter(()), path)


def _fail(process: Process, plan: _Plan, state: _State, path: str, error: OSError | SafeFsError) -> None:
    state.failed = True
    if not plan.args.has("s"):
        process.complain(f"{path}: {trouble(error)}", 2)


def _folder(
    process: Process, plan: _Plan, state: _State, place: Place, shown: str, depth: int
) -> Iterator[bytes]:
    entries = process.tree.entries(place)
    process.meter.saw(len(entries))
    base = shown if not shown or shown.endswith("/") else shown + "/"
    for entry in entries:
        if state.done:
            return
        kind = entry.stat.st_mode & 0o170000
        path = base + entry.name
        if kind == 0o040000 and depth < _DEPTH and not _skipped(plan, entry.name, folder=True, named=False):
            try:
                below = process.tree.place(path, process.cwd)
                yield from _folder(process, plan, state, below, path, depth + 1)
            except (OSError, SafeFsError) as error:
                _fail(process, plan, state, path, error)
        elif kind == 0o100000 and not _skipped(plan, entry.name, folder=False, named=False):
            try:
                yield from _file(process, plan, state, path, below=True)
            except (OSError, SafeFsError) as error:
                _fail(process, plan, state, path, error)


def _skipped(plan: _Plan, name: str, *, folder: bool, named: bool) -> bool:
    """Whether --include, --exclude or --exclude-dir leave a name out; the last one that matches decides."""
    kinds = ("exclude-dir",) if folder else ("include", "exclude")
    rules = [(kind, text.rstrip("/") if folder else text) for kind, text in plan.args.given if kind in kinds]
    for kind, pattern in reversed(rules):
        if _matches_tail(pattern, name.rstrip("/") if folder else name, anywhere=named):
            return kind != "include"
    return bool(rules) and rules[0][0] == "include"


def _matches_tail(pattern: str, name: str, *, anywhere: bool) -> bool:
    if matches(pattern, name):
        return True
    return anywhere and any(matches(pattern, name[at + 1 :]) for at, char in enumerate(name) if char == "/")


def _file(process: Process, plan: _Plan, state: _State, path: str, *, below: bool) -> Iterator[bytes]:
    named = state.named
    state.named = _named(plan, state, below=below)
    try:
        yield from _scan(process, plan, state, process.chunks(path), path)
    finally:
        state.named = named


# Lines


def _scan(
    process: Process, plan: _Plan, state: _State, chunks: Iterator[bytes], shown: str
) -> Iterator[bytes]:
    prefix = raw(shown) if _named(plan, state, below=state.named) else b""
    if plan.most == 0 and plan.mode != "names-without":
        return
    scan = _Scan(process, plan, prefix)
    if plan.mode in ("lines", "only"):
        yield from scan.printing(chunks, state)
    else:
        scan.counting(chunks)
    state.matched = state.matched or scan.count > 0
    separator = b"\0" if plan.args.has("Z") else b"\n"
    if plan.mode == "count":
        yield (prefix + (b"\0" if plan.args.has("Z") else b":") if prefix else b"") + b"%d\n" % scan.count
    elif (plan.mode == "names") == (scan.count > 0) and plan.mode in ("names", "names-without"):
        yield raw(shown) + separator
    elif plan.mode == "quiet" and scan.count:
        state.done = True
    if scan.is_binary and scan.count > scan.before_binary and plan.mode in ("lines", "only"):
        process.stderr(raw(f"grep: {shown}: binary file matches\n"))


class _Scan:
    """One file or stream."""

    def __init__(self, process: Process, plan: _Plan, prefix: bytes) -> None:
        self._process = process
        self._plan = plan
        self._prefix = prefix
        self.count = 0
        self.before_binary = 0
        self.is_binary = False
        self._number = 0
        self._offset = 0
        self._after = 0
        self._last_printed = 0
        self._before: deque[tuple[int, int, bytes]] = deque(maxlen=plan.before or None)

    def _blocks(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Blocks of lines; from the first NUL on they are a binary file's, where NUL ends lines too."""
        for block in self._process.blocks(_gathered(chunks)):
            self._process.meter.tick()
            text = block
            posix.check_cost(self._plan.block, block)
            if not self.is_binary and self._plan.binary != "text" and b"\0" in block:
                self.is_binary = True
                self.before_binary = self.count
                if self._plan.binary == "without-match":
                    self.count = 0
                    return
            yield text.replace(b"\0", b"\n") if self.is_binary else text

    def _full(self) -> bool:
        return self._plan.most is not None and self.count >= self._plan.most

    def counting(self, chunks: Iterator[bytes]) -> None:
        enough = 1 if self._plan.mode != "count" else self._plan.most
        for block in self._blocks(chunks):
            if not self._plan.invert and self._plan.block.search(block) is None:
                continue
            for line in _lines(block):
                self.count += (self._plan.line.search(line) is not None) != self._plan.invert
                if enough is not None and self.count >= enough:
                    return

    def printing(self, chunks: Iterator[bytes], state: _State) -> Iterator[bytes]:
        for block in self._blocks(chunks):
            if self._full() and not self._after:
                return
            if self._can_skip(block):
                self._number += block.count(b"\n")
                self._offset += len(block)
                continue
            for line in _lines(block):
                self._number += 1
                yield from self._line(line, state)
                self._offset += len(line) + 1
                if (self._full() and not self._after) or (self.is_binary and self.count > self.before_binary):
                    return

    def _can_skip(self, block: bytes) -> bool:
        plan = self._plan
        return not plan.invert and not self._after and not plan.context and plan.block.search(block) is None

    def _line(self, line: bytes, state: _State) -> Iterator[bytes]:
        plan = self._plan
        hit = not self._full() and (plan.line.search(line) is not None) != plan.invert
        if hit:
            self.count += 1
            if self.is_binary:
                state.printed = True
                return
            yield from self._gap(state)
            yield from self._waiting()
            yield from self._hit(line)
            self._after = plan.after if plan.context else 0
        elif self._after:
            self._after -= 1
            if plan.mode == "lines":
                yield self._shown(self._number, self._offset, line, b"-")
            self._last_printed = self._number
        elif plan.before and plan.context:
            self._before.append((self._number, self._offset, line))

    def _hit(self, line: bytes) -> Iterator[bytes]:
        self._last_printed = self._number
        if self._plan.mode == "lines":
            yield self._shown(self._number, self._offset, line, b":")
        elif not self._plan.invert:
            for start, stop in _matches(self._plan, line, self._process.meter):
                yield self._shown(self._number, self._offset + start, line[start:stop], b":")

    def _gap(self, state: _State) -> Iterator[bytes]:
        """The line between groups that do not touch."""
        first = self._before[0][0] if self._before else self._number
        if (
            self._plan.context
            and state.printed
            and first > self._last_printed + (1 if self._last_printed else 0)
        ) and not self._plan.args.has("no-separator"):
            yield raw(self._plan.args.last("separator", "--") or "") + b"\n"
        state.printed = True

    def _waiting(self) -> Iterator[bytes]:
        if self._plan.mode == "lines":
            for number, offset, line in self._before:
                yield self._shown(number, offset, line, b"-")
        self._before.clear()

    def _shown(self, number: int, offset: int, line: bytes, sign: bytes) -> bytes:
        head = b""
        if self._prefix:
            head = self._prefix + (b"\0" if self._plan.args.has("Z") else sign)
        if self._plan.numbered:
            head += b"%d" % number + sign
        if self._plan.args.has("b"):
            head += b"%d" % offset + sign
        return head + line + b"\n"


def _gathered(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Larger pieces: a NUL anywhere in the first one makes the whole input binary."""
    waiting: list[bytes] = []
    size = 0
    for chunk in chunks:
        waiting.append(chunk)
        size += len(chunk)
        if size >= _PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    yield b"".join(waiting)


def _lines(block: bytes) -> list[bytes]:
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _matches(plan: _Plan, line: bytes, meter: Meter) -> Iterator[tuple[int, int]]:
    """Each match that is not empty, from left to right."""
    at = 0
    while at <= len(line):
        found = plan.each.search(line, at)
        if found is None:
            return
        start, stop = found.span()
        if plan.words:
            stop = _word_end(plan, line, start, stop, meter)
        if stop <= start:
            at = start + 1
            continue
        yield start, stop
        at = stop


def _word_end(plan: _Plan, line: bytes, start: int, stop: int, meter: Meter) -> int:
    """The end of the longest match from `start` that is a word by itself; `start` when there is none."""
    if start and line[start - 1] in posix.WORD:
        return start
    while stop > start and stop < len(line) and line[stop] in posix.WORD:
        meter.tick()
        found = plan.each.match(line, start, stop - 1)
        if found is None:
            return start
        stop = found.end()
    return stop


COMMANDS = {"grep": grep, "egrep": grep, "fgrep": grep}
