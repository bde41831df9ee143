"""grep on one file or stream: finds and prints the matching lines."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import re2

from dreams.lib.sandbox import patterns
from dreams.lib.sandbox.options import Args
from dreams.lib.sandbox.process import CommandMeter, Process, Refused, UsageError, raw

# Parts that match exactly one byte, so that the length of the text before the match is known.
_FIXED = re.compile(rb"(?:\\[^A-Za-z0-9]|\\[dDwWsSt]|\[\^?\]?(?:\\.|[^]\\[])*\]|[^\\\[\](){}|*+?^$])")
_REFUSED = re.compile(rb"\(\?(<?[=!]|>|[PR&|(])|\(\*|\\[KkgRXhHvVG1-9]|[*+?}]\+")


@dataclass(frozen=True, slots=True)
class Perl:
    """`behind`: how many bytes before the kept part a match may begin; None if no part is kept."""

    expression: bytes
    behind: int | None = None


def read_perl(text: bytes, *, fold: bool) -> Perl:
    """Raises Refused for a pattern that cannot be matched in linear time, UsageError for bad grammar."""
    before, kept, after, behind = _split(text)
    for part in (before, kept, after):
        if _REFUSED.search(part.replace(b"\\\\", b"--")):
            raise Refused(
                "grep -P: looking around, \\K, \\h, back-references and the like are not on offer; use -o and cut "
                "(\\K, (?<=TEXT) at the start and (?=TEXT) at the end are)"
            )
    whole = kept if behind is None else b"(?:%s)(?P<kept>%s)(?:%s)" % (before, kept, after)
    expression = b"(?i:" + whole + b")" if fold else whole
    try:
        re2.compile(expression, _options())
    except re2.error as error:
        raise UsageError(f"{str(error)[:80]}", 2) from None
    return Perl(expression, behind)


def _split(text: bytes) -> tuple[bytes, bytes, bytes, int | None]:
    """(the part before, the kept part, the part after, how many bytes before)."""
    marks = _marks(text)
    before, kept, after, behind = b"", text, b"", None
    if any(kind == "|" for kind, _, _ in marks):
        return before, kept, after, behind  # a choice at the top level, whose branches have different parts
    for kind, start, stop in reversed(marks):
        if kind == "(?=" and stop == len(kept):
            kept, after, behind = kept[:start], text[start + 3 : stop - 1], 0
    for kind, start, stop in marks:
        if kind == "K" and behind in (None, 0) and not before:
            before, kept, behind = kept[:start], kept[stop:], 0
        elif kind == "(?<=" and start == 0 and (wide := _width(text[4 : stop - 1])) is not None:
            before, kept, behind = text[4 : stop - 1], kept[stop:], wide
    return before, kept, after, behind


def _width(text: bytes) -> int | None:
    """The number of bytes matched by single characters and sets; None if uncertain."""
    at = count = 0
    while at < len(text):
        found = _FIXED.match(text, at)
        if found is None:
            return None
        at, count = found.end(), count + 1
    return count


def _marks(text: bytes) -> list[tuple[str, int, int]]:
    """The marks outside all groups: (`|`, `K`, or the start of a group; its start; its end)."""
    found: list[tuple[str, int, int]] = []
    opened: list[int] = []
    at = 0
    while at < len(text):
        char = text[at : at + 1]
        if char == b"\\":
            if text[at + 1 : at + 2] == b"K" and not opened:
                found.append(("K", at, at + 2))
            at += 2
            continue
        if char == b"[":
            at = _behind_set(text, at)
            continue
        if char == b"(":
            opened.append(at)
        elif char == b")" and opened:
            start = opened.pop()
            begins = re.match(rb"\(\?<?[=!]", text[start:])
            if not opened and begins:
                found.append((begins[0].decode(), start, at + 1))
        elif char == b"|" and not opened:
            found.append(("|", at, at + 1))
        at += 1
    return found


def _behind_set(text: bytes, start: int) -> int:
    found = re.compile(rb"\[\^?\]?(?:\[:[a-z]+:\]|\\.|[^]\\])*\]", re.DOTALL).match(text, start)
    return found.end() if found else start + 1


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return options


_PIECE = 64 * 1024  # lines are searched together up to it; chosen
MOST_PASSED = 64  # blocks


@dataclass(slots=True)
class GrepPlan:
    args: Args
    line: re2._Regexp  # does a line match
    block: re2._Regexp  # may a block of lines contain a match: a quick first check
    each: re2._Regexp  # the next match in a line, for -o
    matches_nothing: bool  # no line can match, so no file needs to be opened
    before: int
    after: int
    most: int | None
    binary: str
    words: bool
    mode: str  # "lines", "count", "names", "names-without", "quiet" or "only"
    behind: int | None = None  # -P with a kept part: how many bytes before it a match may begin
    literal: bytes = b""  # a text in every matching line; empty if unknown

    @property
    def invert(self) -> bool:
        return self.args.has("v")

    @property
    def context(self) -> bool:
        return self.mode in ("lines", "only") and (self.before > 0 or self.after > 0)


@dataclass(slots=True)
class GrepState:
    """State that is kept from one file to the next."""

    matched: bool = False
    failed: bool = False
    printed: bool = False
    done: bool = False
    named: bool = False


def scan(
    process: Process,
    plan: GrepPlan,
    state: GrepState,
    chunks: Iterator[bytes],
    shown: str,
    *,
    below: bool = False,
) -> Iterator[bytes]:
    """The output for one input. `below`: it was found in a folder, so its name is printed."""
    if plan.most == 0 and plan.mode != "names-without":
        return
    choice = plan.args.last_of("H", "h")
    prefix = raw(shown) if choice == "H" or (not choice and (state.named or below)) else b""
    scan = _Scan(process, plan, prefix)
    if plan.mode in ("lines", "only"):
        yield from scan.printing(chunks, state)
    else:
        scan.counting(chunks)
    state.matched = state.matched or scan.count > 0
    if plan.mode == "count":
        yield (prefix + b":" if prefix else b"") + b"%d\n" % scan.count
    elif (plan.mode == "names") == (scan.count > 0) and plan.mode in ("names", "names-without"):
        yield raw(shown) + b"\n"
    elif plan.mode == "quiet" and scan.count:
        state.done = True
    if scan.is_binary and scan.count > scan.before_binary and plan.mode in ("lines", "only"):
        process.stderr(raw(f"grep: {shown}: binary file matches\n"))


class _Scan:
    """One file or stream."""

    def __init__(self, process: Process, plan: GrepPlan, prefix: bytes) -> None:
        self._process = process
        self._plan = plan
        self._prefix = prefix
        self.count = 0
        self.before_binary = 0
        self.is_binary = False
        self._has_nul = False
        self._number = 0
        self._after = 0
        self._last_printed = 0
        self._passed: list[bytes] = []
        self._before: deque[tuple[int, bytes]] = deque(maxlen=plan.before or None)

    def _blocks(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Blocks of lines; after the first NUL the file is binary, and NUL also ends lines."""
        for block in self._process.blocks(self._watched(chunks)):
            self._process.meter.tick()
            patterns.check_cost(self._plan.block, block)
            if self._has_nul and not self.is_binary and self._plan.binary != "text":
                self.is_binary = True
                self.before_binary = self.count
                if self._plan.binary == "without-match":
                    self.count = 0
                    return
            yield block.replace(b"\0", b"\n") if self.is_binary else block

    def _watched(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for piece in _gathered(chunks):
            self._has_nul = self._has_nul or b"\0" in piece
            yield piece

    def _full(self) -> bool:
        return self._plan.most is not None and self.count >= self._plan.most

    def counting(self, chunks: Iterator[bytes]) -> None:
        enough = 1 if self._plan.mode != "count" else self._plan.most
        for block in self._blocks(chunks):
            if not self._plan.invert and self._plan.block.search(block) is None:
                continue
            for line in self._candidates(block):
                self.count += (self._plan.line.search(line) is not None) != self._plan.invert
                if enough is not None and self.count >= enough:
                    return

    def printing(self, chunks: Iterator[bytes], state: GrepState) -> Iterator[bytes]:
        for block in self._blocks(chunks):
            if self._full() and not self._after:
                return
            if self._can_skip(block):
                # Skips lines; counts them only if line numbers are printed: most files have no match.
                if self._plan.args.has("n"):
                    self._passed.append(block)
                    if len(self._passed) > MOST_PASSED:
                        self._count_passed()
                continue
            self._count_passed()
            for line in self._candidates(block):
                yield from self._line(line, state)
                if (self._full() and not self._after) or (self.is_binary and self.count > self.before_binary):
                    return

    def _candidates(self, block: bytes) -> Iterator[bytes]:
        """The lines to check, with `_number` set for each: all, or those that contain the literal."""
        literal = self._plan.literal
        if not literal or self._plan.invert or self._plan.context:
            for line in _lines(block):
                self._number += 1
                yield line
            return
        counted, found = 0, block.find(literal)
        while found >= 0:
            start, stop = block.rfind(b"\n", 0, found) + 1, block.find(b"\n", found)
            stop = len(block) if stop < 0 else stop
            self._number += block.count(b"\n", counted, start) + 1
            yield block[start:stop]
            counted = stop + 1
            found = block.find(literal, counted)
        self._number += block.count(b"\n", counted)

    def _count_passed(self) -> None:
        self._number += sum(block.count(b"\n") for block in self._passed)
        self._passed.clear()

    def _can_skip(self, block: bytes) -> bool:
        plan = self._plan
        return not plan.invert and not self._after and not plan.context and plan.block.search(block) is None

    def _line(self, line: bytes, state: GrepState) -> Iterator[bytes]:
        plan = self._plan
        hit = not self._full() and (plan.line.search(line) is not None) != plan.invert
        if hit:
            self.count += 1
            if self.is_binary:
                state.printed = True
                return
            yield from self._gap(state)
            yield from self._waiting()
            self._last_printed = self._number
            if self._plan.mode == "lines":
                yield self._shown(self._number, line, b":")
            elif not self._plan.invert:
                yield from self._parts(self._number, line, b":")
            self._after = plan.after if plan.context else 0
        elif self._after:
            self._after -= 1
            yield from self._beside(self._number, line)
            self._last_printed = self._number
        elif plan.before and plan.context:
            self._before.append((self._number, line))

    def _gap(self, state: GrepState) -> Iterator[bytes]:
        """The separator between groups that do not touch."""
        first = self._before[0][0] if self._before else self._number
        apart = first > self._last_printed + (1 if self._last_printed else 0)
        if self._plan.context and state.printed and apart:
            yield b"--\n"
        state.printed = True

    def _waiting(self) -> Iterator[bytes]:
        for number, line in self._before:
            yield from self._beside(number, line)
        self._before.clear()

    def _beside(self, number: int, line: bytes) -> Iterator[bytes]:
        """A line of context. With -o its matches, which exist only with -v."""
        if self._plan.mode == "lines":
            yield self._shown(number, line, b"-")
        elif self._plan.invert:
            yield from self._parts(number, line, b"-")

    def _parts(self, number: int, line: bytes, sign: bytes) -> Iterator[bytes]:
        """The matches in a line, for -o."""
        line = self._process.masked(line)
        for start, stop in _matches(self._plan, line, self._process.meter):
            yield self._shown(number, line[start:stop], sign)

    def _shown(self, number: int, line: bytes, sign: bytes) -> bytes:
        head = self._prefix + sign if self._prefix else b""
        if self._plan.args.has("n"):
            head += b"%d" % number + sign
        return head + line + b"\n"


def _gathered(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Joins chunks into larger pieces: a NUL in the first one makes the input binary."""
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


def _matches(plan: GrepPlan, line: bytes, meter: CommandMeter) -> Iterator[tuple[int, int]]:
    """Each non-empty match, from left to right."""
    at = 0
    meant = 0 if plan.behind is None else plan.each.groupindex[b"kept"]
    while at <= len(line):
        meter.tick()
        found = plan.each.search(line, max(at - (plan.behind or 0), 0))
        if found is None:
            return
        start, stop = found.span(meant)
        if plan.words:
            stop = _word_end(plan, line, start, stop, meter)
        if stop <= start:
            at = start + 1
            continue
        yield start, stop
        at = stop


def _word_end(plan: GrepPlan, line: bytes, start: int, stop: int, meter: CommandMeter) -> int:
    """The end of the longest match from `start` that is a complete word; `start` if there is none."""
    if start and line[start - 1] in patterns.WORD:
        return start
    while stop > start and stop < len(line) and line[stop] in patterns.WORD:
        meter.tick()
        found = plan.each.match(line, start, stop - 1)
        if found is None:
            return start
        stop = found.end()
    return stop
