"""cut, tr, uniq and wc: change or count the input line by line or byte by byte. In the C locale."""

import itertools
import re
import stat as st
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.commands.print_files import opened
from dreams.lib.sandbox.options import Args, Spec, read
from dreams.lib.sandbox.patterns import CLASSES
from dreams.lib.sandbox.process import CHUNK, MIB, Chunks, Process, Refused, Runner, UsageError, raw

# --- cut ----------------------------------------------------------------------------------------------------------
_CUT = Spec(
    flags="s,only-delimited",
    values="b,bytes,c,characters d,delimiter f,fields",
    why_not={"output-delimiter": "put tr or sed behind it", "complement": "name the others, as in -f1,3-"},
)
_FOREVER = 1 << 62  # above any position in a line
Picker = Callable[[bytes], bytes | None]


def cut(name: str, argv: list[str]) -> Runner:
    args = read(name, _CUT, argv)
    kinds = {kind for kind, _ in args.given if kind in ("b", "f")}
    if len(kinds) != 1 or len(args.all("b") + args.all("f")) != 1:
        raise UsageError("you must specify a list of bytes, characters, or fields")
    kind = kinds.pop()
    ranges = _ranges(args.last(kind) or "", kind)
    if kind == "b" and (args.has("d") or args.has("s")):
        raise UsageError("an input delimiter may be specified only when operating on fields")
    pick = _byte_picker(ranges) if kind == "b" else _field_picker(args, ranges)

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            for line in process.lines(chunks):
                picked = pick(process.masked(line).removesuffix(b"\n"))
                if picked is not None:
                    yield picked + b"\n"

    return run


def _ranges(text: str, kind: str) -> list[tuple[int, int]]:
    """1-based inclusive ranges, sorted and merged."""
    found: list[tuple[int, int]] = []
    what = "field" if kind == "f" else "byte/character position"
    for part in re.split(r"[, \t]", text):
        match = re.fullmatch(r"([0-9]{1,15})?(-)?([0-9]{1,15})?", part)
        if match is None or part in ("", "-"):
            raise UsageError(f"invalid {what if kind == 'f' else 'byte or character range'}: '{part}'")
        low = int(match[1]) if match[1] else 1
        high = int(match[3]) if match[3] else (_FOREVER if match[2] else low)
        if low == 0 or (match[3] and high == 0 and not match[1]):
            raise UsageError(f"{what}s are numbered from 1")
        if high < low:
            raise UsageError("invalid decreasing range")
        found.append((low, high))
    return _merged(sorted(found))


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges with overlapping ones joined."""
    out: list[tuple[int, int]] = []
    for low, high in ranges:
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def _byte_picker(ranges: list[tuple[int, int]]) -> Picker:
    return lambda line: b"".join(line[low - 1 : high] for low, high in ranges)


def _field_picker(args: Args, ranges: list[tuple[int, int]]) -> Picker:
    delimiter = raw(args.last("d", "\t") or "")
    if args.last("d") == "":
        delimiter = b"\0"
    if len(delimiter) != 1:
        raise UsageError("the delimiter must be a single character")

    def pick(line: bytes) -> bytes | None:
        if delimiter not in line:
            return None if args.has("s") else line
        return delimiter.join(line[start:end] for start, end in _runs_of_fields(line, delimiter, ranges))

    return pick


def _runs_of_fields(
    line: bytes, delimiter: bytes, ranges: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """The start and end of each range of fields in `line`. Without splitting: as objects, millions of fields need a
    hundred times their bytes."""
    number, at = 1, 0
    for low, high in ranges:
        while number < low:
            at = line.find(delimiter, at) + 1
            if not at:
                return
            number += 1
        start, end = at, len(line)
        while number <= high < _FOREVER:
            stop = line.find(delimiter, at)
            if stop < 0:
                yield start, len(line)
                return
            number, at, end = number + 1, stop + 1, stop
        yield start, end


# --- tr -----------------------------------------------------------------------------------------------------------

_TR = Spec(flags="c,C,complement d,delete s,squeeze-repeats")
_TR_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_TR_CLASS = re.compile(r"\[:([a-z]+):\]")


def tr(name: str, argv: list[str]) -> Runner:
    args = read(name, _TR, argv)
    wanted = 1 if args.has("d") != args.has("s") else 2
    if len(args.operands) < wanted:
        raise UsageError("missing operand")
    if len(args.operands) > (1 if args.has("d") and not args.has("s") else 2):
        raise UsageError(f"extra operand '{args.operands[-1]}'")
    first, *others = (_tr_set(text) for text in args.operands)
    if args.has("c"):
        first = [byte for byte in range(256) if byte not in set(first)]
    return _tr_runner(args, first, others[0] if others else None)


def _tr_runner(args: Args, first: list[int], second: list[int] | None) -> Runner:
    delete = bytes(set(first)) if args.has("d") else b""
    table: bytes | None = None
    if second is not None and not args.has("d"):
        table = _tr_table(first, second)
    squeezed = b"".join(b"\\x%02x" % byte for byte in set(first if second is None else second))
    pattern = re.compile(b"([" + squeezed + b"])\\1+") if squeezed and args.has("s") else None

    def run(process: Process) -> Iterator[bytes]:
        last = b""
        for block in _lines_together(process.stdin):
            data = process.masked(block).translate(table, delete)
            if pattern is not None and data:
                # The last byte of the previous chunk decides whether a run continues.
                data = pattern.sub(rb"\1", last + data)[len(last) :]
                last = data[-1:] or last
            yield data

    return run


def _lines_together(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks of complete lines, in which no secret is cut in half; parts of a line that is very long."""
    kept, size = list[bytes](), 0
    for chunk in chunks:
        kept.append(chunk)
        size += len(chunk)
        if size >= CHUNK and (b"\n" in chunk or size > MIB):
            block = b"".join(kept)
            end = block.rfind(b"\n") + 1 or size
            yield block[:end]
            kept, size = [block[end:]], size - end
    yield b"".join(kept)


def _tr_table(first: list[int], second: list[int]) -> bytes:
    if not second:
        raise UsageError("when not truncating set1, string2 must be non-empty")
    table = list(range(256))
    for index, byte in enumerate(first):
        table[byte] = second[min(index, len(second) - 1)]
    return bytes(table)


def _tr_set(text: str) -> list[int]:
    out: list[int] = []
    at = 0
    while at < len(text):
        at = _tr_item(text, at, out)
    return out


def _tr_item(text: str, at: int, out: list[int]) -> int:
    if found := _TR_CLASS.match(text, at):
        if found[1] not in CLASSES:
            raise UsageError(f"invalid character class '{found[1]}'")
        out += sorted(CLASSES[found[1]])
        return found.end()
    if re.compile(r"\[(?:\\?.)[*=]").match(text, at):
        raise Refused("tr: [x*n] and [=x=] are not on offer; write the characters out")
    low, at = _tr_bytes(text, at)
    if text[at : at + 1] == "-" and at + 1 < len(text):
        high, at = _tr_bytes(text, at + 1)
        if high[0] < low[-1]:
            raise UsageError("range-endpoints are in reverse collating sequence order")
        out += [*low[:-1], *range(low[-1], high[0] + 1), *high[1:]]
        return at
    out += low
    return at


def _tr_bytes(text: str, at: int) -> tuple[list[int], int]:
    if text[at] != "\\" or at + 1 >= len(text):
        return list(raw(text[at])), at + 1
    if found := re.compile(r"\\([0-3]?[0-7]{1,2})").match(text, at):
        return [int(found[1], 8)], found.end()
    escape = text[at + 1]
    return [_TR_ESCAPES[escape]] if escape in _TR_ESCAPES else list(raw(escape)), at + 2


# --- uniq ---------------------------------------------------------------------------------------------------------

_UNIQ = Spec(
    flags="c,count d,repeated i,ignore-case u,unique",
    why_not=dict.fromkeys(("f", "skip-fields", "s", "skip-chars", "w", "check-chars"), "put cut before it"),
)


def uniq(name: str, argv: list[str]) -> Runner:
    args = read(name, _UNIQ, argv)
    if len(args.operands) > 1:
        raise Refused("uniq with a second file: it would be written over; use: uniq FILE1")

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            lines = (line.removesuffix(b"\n") for line in process.lines(chunks))
            for _, alike in itertools.groupby(lines, bytes.upper if args.has("i") else None):
                yield _group(alike, args)

    return run


def _group(alike: Iterator[bytes], args: Args) -> bytes:
    line = next(alike)
    count = 1 + sum(1 for _ in alike)
    if (args.has("d") and count == 1) or (args.has("u") and count > 1):
        return b""
    return (b"%7d " % count if args.has("c") else b"") + line + b"\n"


# --- wc -----------------------------------------------------------------------------------------------------------

_WC = Spec(
    flags="c,bytes l,lines m,chars w,words",
    why_not={
        "files0-from": "file names are not taken from files",
        **dict.fromkeys(("L", "max-line-length"), "use grep -nE '.{200}' for lines that are so long"),
    },
)
_NOT_PRINTING = bytes(byte for byte in range(256) if not 32 <= byte < 127 and byte not in b"\t\n\v\f\r")
_SPACES = frozenset((b" ", b"\t", b"\n", b"\v", b"\f", b"\r"))


@dataclass(slots=True)
class _Counts:
    lines: int = 0
    words: int = 0
    size: int = 0

    def add(self, other: "_Counts") -> None:
        self.lines += other.lines
        self.words += other.words
        self.size += other.size


def wc(name: str, argv: list[str]) -> Runner:
    args = read(name, _WC, argv)
    wanted = [letter for letter in "lwmc" if args.has(letter)] or ["l", "w", "c"]

    def run(process: Process) -> Iterator[bytes]:
        width = _width(process, args.operands, len(wanted))
        total = _Counts()
        for path in args.operands or ["-"]:
            chunks = opened(process, path)
            if chunks is not None:
                counts = _counted(process, chunks, wanted)
                total.add(counts)
                yield _row(counts, wanted, width, raw(path) if args.operands else b"")
        if len(args.operands) > 1:
            yield _row(total, wanted, width, b"total")

    return run


def _counted(process: Process, chunks: Iterator[bytes], wanted: list[str]) -> _Counts:
    counts = _Counts()
    if isinstance(chunks, Chunks) and set(wanted) <= {"c", "m"}:
        counts.size = chunks.size()
        return counts
    in_word = False
    for chunk in chunks:
        counts.size += len(chunk)
        counts.lines += chunk.count(b"\n")
        if "w" in wanted:
            in_word = _count_words(chunk, in_word, counts)
        process.meter.tick()
    return counts


def _count_words(chunk: bytes, in_word: bool, counts: _Counts) -> bool:
    """Counts words; in the C locale unprintable bytes neither make nor end a word."""
    text = chunk.translate(None, _NOT_PRINTING)
    if not text:
        return in_word
    counts.words += len(text.split()) - (in_word and text[:1] not in _SPACES)
    return text[-1:] not in _SPACES


def _width(process: Process, paths: list[str], columns: int) -> int:
    """The width of the sum of all sizes, at least 7 if one is no regular file."""
    if len(paths or ["-"]) == 1 and columns == 1:
        return 1
    total, least = 0, 1
    for path in paths or ["-"]:
        try:
            stat = process.stat(path) if path != "-" else None
        except (OSError, SafeFsError):
            continue
        if stat is not None and st.S_ISREG(stat.st_mode):
            total += stat.st_size
        else:
            least = 7
    return max(len(str(total)), least)


def _row(counts: _Counts, wanted: list[str], width: int, name: bytes) -> bytes:
    values = {"l": counts.lines, "w": counts.words, "m": counts.size, "c": counts.size}
    row = b" ".join(b"%*d" % (width, values[letter]) for letter in wanted)
    return row + (b" " + name if name else b"") + b"\n"


COMMANDS = {"cut": cut, "tr": tr, "uniq": uniq, "wc": wc}
