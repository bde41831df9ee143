"""sort and uniq, in the C locale."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..errors import Refused, UsageError
from ..options import Args, Spec, read
from ..process import Process, Runner, raw
from .numbers import plain

_WRITES = "it writes a file"
_SORT = Spec(
    flags={
        **{letter: letter for letter in "bdfhinrsuVczCM"},
        "ignore-leading-blanks": "b",
        "dictionary-order": "d",
        "ignore-case": "f",
        "human-numeric-sort": "h",
        "ignore-nonprinting": "i",
        "numeric-sort": "n",
        "month-sort": "M",
        "reverse": "r",
        "stable": "s",
        "unique": "u",
        "version-sort": "V",
        "zero-terminated": "z",
    },
    values={"k": "k", "key": "k", "t": "t", "field-separator": "t"},
    why_not={
        "o": _WRITES,
        "output": _WRITES,
        "compress-program": "it runs a program",
        "T": _WRITES,
        "temporary-directory": _WRITES,
        "files0-from": "file names are not taken from files",
    },
)
_KEY = re.compile(r"([0-9]+)(?:\.([0-9]+))?([bdfhinrVM]*)(?:,([0-9]+)(?:\.([0-9]+))?([bdfhinrVM]*))?")
_MONTHS = {
    name: number
    for number, name in enumerate(
        b"JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(),
        start=1,
    )
}
_DICTIONARY = bytes(
    byte for byte in range(256) if not (chr(byte).isascii() and (chr(byte).isalnum() or byte in b" \t"))
)
_UNPRINTABLE = bytes(byte for byte in range(256) if not 32 <= byte < 127)
_NUMBER = re.compile(rb"-?([0-9]*)(?:\.([0-9]*))?")
_HUMAN = re.compile(rb"-?[0-9]*(?:\.[0-9]*)?([KkMGTPEZY]?)")
_LONGEST_VERSION = 4_096
_UNITS = {b"": 0, **{bytes([unit]): power for power, unit in enumerate(b"KMGTPEZY", start=1)}, b"k": 1}

# What two lines are compared by; anything that Python can order.
Rank = tuple[object, ...] | bytes


@dataclass(frozen=True, slots=True)
class _Key:
    """One -k: from a field and character to another, and how to compare what stands there."""

    start: int = 1
    start_char: int = 1
    end: int = 0  # 0: to the end of the line
    end_char: int = 0  # 0: to the end of the field
    start_blanks: bool = False
    end_blanks: bool = False
    modes: str = ""


def sort(name: str, argv: list[str]) -> Runner:
    args = read(name, _SORT, argv)
    separator = _separator(args)
    overall = "".join(letter for letter in "bdfhinrVM" if args.has(letter))
    keys = [_key(text, overall) for text in args.all("k")] or [
        _Key(start_blanks="b" in overall, end_blanks="b" in overall, modes=overall)
    ]
    for key in keys:
        _refuse_mixed(key.modes)
    end = b"\0" if args.has("z") else b"\n"
    order = _Order(keys, separator, "r" in overall, args.has("s") or args.has("u"))

    def run(process: Process) -> Iterator[bytes]:
        if args.has("c") or args.has("C"):
            return _checked(process, args, order, end)
        return _sorted(process, args, order, end)

    return run


def _separator(args: Args) -> bytes | None:
    text = args.last("t")
    if text is None:
        return None
    if text == "\\0":
        return b"\0"
    if len(raw(text)) != 1:
        raise UsageError("empty tab" if not text else f"multi-character tab '{text}'", 2)
    return raw(text)


def _refuse_mixed(modes: str) -> None:
    kinds = [letter for letter in "nhMV" if letter in modes]
    if len(kinds) > 1 or (kinds and kinds != ["V"] and ("d" in modes or "i" in modes)):
        raise UsageError(f"options '-{''.join(sorted(modes))}' are incompatible", 2)


def _key(text: str, overall: str) -> _Key:
    found = _KEY.fullmatch(text)
    if found is None or found[1] == "0" or (found[4] == "0"):
        raise UsageError(f"invalid field specification '{text}'", 2)
    own = (found[3] or "") + (found[6] or "")
    modes = own or overall
    blanks = not own and "b" in overall
    return _Key(
        start=int(found[1]),
        start_char=int(found[2] or 1),
        end=int(found[4] or 0),
        end_char=int(found[5] or 0),
        start_blanks="b" in (found[3] or "") or blanks,
        end_blanks="b" in (found[6] or "") or blanks,
        modes=modes.replace("b", ""),
    )


class _Order:
    """Compares lines by keys, then by all bytes, as GNU sort does."""

    def __init__(self, keys: list[_Key], separator: bytes | None, reverse: bool, keys_only: bool) -> None:
        self._keys = keys
        self._separator = separator
        self._reverse = reverse
        self._keys_only = keys_only

    def keyed(self, line: bytes) -> list[Rank]:
        return [_rank(_part(line, key, self._separator), key.modes) for key in self._keys]

    def sort(self, lines: list[bytes]) -> list[bytes]:
        """By the last key first: Python's sort is stable, so each pass keeps the ones before."""
        if not self._keys_only:
            lines = sorted(lines, reverse=self._reverse)
        ranked = [(self.keyed(line), line) for line in lines]
        for index in range(len(self._keys) - 1, -1, -1):
            ranked = _stable(ranked, index, "r" in self._keys[index].modes)
        return [line for _, line in ranked]

    def after(self, first: bytes, second: bytes) -> int:
        """1 when `first` belongs after `second`, 0 when equal, -1 before."""
        for key, a, b in zip(self._keys, self.keyed(first), self.keyed(second), strict=True):
            if a != b:
                return _sign(a, b) * (-1 if "r" in key.modes else 1)
        if self._keys_only or first == second:
            return 0
        return _sign(first, second) * (-1 if self._reverse else 1)


def _sign(a: Rank, b: Rank) -> int:
    return 1 if _greater(a, b) else -1


def _greater(a: Rank, b: Rank) -> bool:
    return bool(a > b)  # type: ignore[operator]  # two ranks of one key are of one shape


def _stable(
    ranked: list[tuple[list[Rank], bytes]], index: int, reverse: bool
) -> list[tuple[list[Rank], bytes]]:
    def rank(pair: tuple[list[Rank], bytes]) -> Rank:
        return pair[0][index]

    return sorted(ranked, key=rank, reverse=reverse)


def _sorted(process: Process, args: Args, order: _Order, end: bytes) -> Iterator[bytes]:
    lines: list[bytes] = []
    for path in args.operands or ["-"]:
        chunks = process.try_chunks(path, 2, "cannot read: {}: {}")
        if chunks is None:
            return
        lines += process.held(line.removesuffix(end) for line in process.lines(chunks, end))
    previous: bytes | None = None
    for line in order.sort(lines):
        process.meter.tick()
        if args.has("u") and previous is not None and order.after(previous, line) == 0:
            continue
        previous = line
        yield line + end


def _checked(process: Process, args: Args, order: _Order, end: bytes) -> Iterator[bytes]:
    if len(args.operands) > 1:
        raise UsageError(f"extra operand '{args.operands[1]}' not allowed with -c", 2)
    previous: bytes | None = None
    for path, chunks in process.inputs(args.operands, 2):
        for number, whole in enumerate(process.lines(chunks, end), start=1):
            line = whole.removesuffix(end)
            if previous is not None and order.after(previous, line) > (-1 if args.has("u") else 0):
                if args.has("c"):
                    process.complain(f"{path}:{number}: disorder: {line.decode('utf-8', 'surrogateescape')}")
                process.status = 1
                return
            previous = line
    yield b""


# What a key compares


def _part(line: bytes, key: _Key, separator: bytes | None) -> bytes:
    if key.start == 1 and key.start_char == 1 and not key.end and not key.start_blanks:
        return line
    start = _field_start(line, key.start, separator)
    if key.start_blanks:
        start = _skip_blanks(line, start)
    start = min(start + key.start_char - 1, len(line))
    return line[start : max(start, _limit(line, key, separator))]


def _limit(line: bytes, key: _Key, separator: bytes | None) -> int:
    if not key.end:
        return len(line)
    if not key.end_char:
        return _field_end(line, key.end, separator)
    at = _field_start(line, key.end, separator)
    if key.end_blanks:
        at = _skip_blanks(line, at)
    return min(at + key.end_char, len(line))


def _field_start(line: bytes, field: int, separator: bytes | None) -> int:
    """Where a field begins; without a separator a field begins with the blanks before it."""
    at = 0
    for _ in range(field - 1):
        if at >= len(line):
            break
        at = _next_field(line, at, separator)
    return min(at, len(line))


def _next_field(line: bytes, at: int, separator: bytes | None) -> int:
    if separator is not None:
        stop = line.find(separator, at)
        return len(line) if stop < 0 else stop + 1
    at = _skip_blanks(line, at)
    found = _BLANK.search(line, at)
    return found.start() if found else len(line)


_BLANK = re.compile(rb"[ \t\n]")
_NOT_BLANK = re.compile(rb"[^ \t\n]")


def _skip_blanks(line: bytes, at: int) -> int:
    found = _NOT_BLANK.search(line, at)
    return found.start() if found else len(line)


def _field_end(line: bytes, field: int, separator: bytes | None) -> int:
    at = _field_start(line, field, separator)
    if separator is None:
        return _next_field(line, at, None)
    stop = line.find(separator, at)
    return len(line) if stop < 0 else stop


def _rank(part: bytes, modes: str) -> Rank:
    if "n" in modes:
        return _numeric(part.lstrip(b" \t\n"))
    if "h" in modes:
        return _human((part.upper() if "f" in modes else part).lstrip(b" \t\n"))
    if "M" in modes:
        return (_MONTHS.get(part.lstrip(b" \t")[:3].upper(), 0),)
    if "d" in modes:
        part = part.translate(None, _DICTIONARY)
    elif "i" in modes:
        part = part.translate(None, _UNPRINTABLE)
    if "f" in modes:
        part = part.upper()
    return version_rank(part) if "V" in modes else part


def _numeric(text: bytes) -> Rank:
    """Numbers of any length, without a float's rounding: sign, digits before the point, digits behind."""
    found = _NUMBER.match(text)
    whole = (found[1] if found else b"").lstrip(b"0")
    behind = ((found[2] if found else b"") or b"").rstrip(b"0")
    if not whole and not behind:
        return (0, 0, b"", b"")
    if not text.startswith(b"-"):
        return (1, len(whole), whole, behind)
    # Below zero the greater number is the smaller one: each digit is turned round, an end counts as most.
    return (-1, -len(whole), _turned(whole), _turned(behind) + b"\xff")


def _turned(digits: bytes) -> bytes:
    return digits.translate(_TURNED)


_TURNED = bytes.maketrans(b"0123456789", b"9876543210")


def _human(text: bytes) -> Rank:
    found = _HUMAN.match(text)
    number = _numeric(text)
    sign = number[0]
    unit = _UNITS[found[1]] if found and sign != 0 else 0
    return (sign, unit if sign != -1 else -unit, *number[1:])


def version_rank(text: bytes) -> Rank:
    if len(text) > _LONGEST_VERSION:
        # Compared letter by letter, in pairs: long lines would take minutes.
        raise UsageError(f"-V: a line of more than {_LONGEST_VERSION:,} bytes", 2)
    return (functools.cmp_to_key(version_compare)(text),)


def version_compare(a: bytes, b: bytes) -> int:
    """filevercmp of gnulib: names with numbers in their natural order."""
    if a == b:
        return 0
    for special in (b"", b".", b".."):
        if special in (a, b):
            return -1 if a == special else 1
    if a.startswith(b".") != b.startswith(b"."):
        return -1 if a.startswith(b".") else 1
    cut_a, cut_b = _without_suffix(a), _without_suffix(b)
    return _verrevcmp(cut_a, cut_b) or _verrevcmp(a, b)


_SUFFIX_PART = re.compile(rb"[A-Za-z~][A-Za-z0-9~]*")


def _without_suffix(name: bytes) -> bytes:
    """`a-1.2.tar.gz` as `a-1.2`: endings that begin with a letter are cut, one by one from the back."""
    end = len(name)
    while (dot := name.rfind(b".", 1, end)) > 0 and _SUFFIX_PART.fullmatch(name, dot + 1, end):
        end = dot
    return name[:end]


def _letter_order(byte: int) -> int:
    char = chr(byte)
    if char.isascii() and char.isdigit():
        return 0
    if char.isascii() and char.isalpha():
        return byte
    return -1 if char == "~" else byte + 256


_RUN = re.compile(rb"([^0-9]*)([0-9]*)")


def _verrevcmp(a: bytes, b: bytes) -> int:
    at_a = at_b = 0
    while at_a < len(a) or at_b < len(b):
        run_a, run_b = _RUN.match(a, at_a), _RUN.match(b, at_b)
        assert run_a is not None and run_b is not None  # noqa: S101 - the expression matches anything
        order = _compare_letters(run_a[1], run_b[1]) or _compare_digits(run_a[2], run_b[2])
        if order:
            return order
        at_a, at_b = run_a.end(), run_b.end()
    return 0


def _compare_letters(a: bytes, b: bytes) -> int:
    for index in range(max(len(a), len(b))):
        left = _letter_order(a[index]) if index < len(a) else 0
        right = _letter_order(b[index]) if index < len(b) else 0
        if left != right:
            return left - right
    return 0


def _compare_digits(a: bytes, b: bytes) -> int:
    a, b = a.lstrip(b"0"), b.lstrip(b"0")
    return len(a) - len(b) or (a > b) - (a < b)


# uniq

_UNIQ = Spec(
    flags={
        **{letter: letter for letter in "cdiuz"},
        "count": "c",
        "repeated": "d",
        "ignore-case": "i",
        "unique": "u",
        "zero-terminated": "z",
    },
    values={"f": "f", "skip-fields": "f", "s": "s", "skip-chars": "s", "w": "w", "check-chars": "w"},
)


def uniq(name: str, argv: list[str]) -> Runner:
    args = read(name, _UNIQ, argv)
    if len(args.operands) > 1:
        raise Refused("uniq with a second file: it would be written over; use: uniq FILE1")
    fields = plain(args.last("f") or "0", "invalid number of fields to skip")
    chars = plain(args.last("s") or "0", "invalid number of bytes to skip")
    width = plain(args.last("w"), "invalid number of bytes to compare") if args.has("w") else None  # type: ignore[arg-type]  # has() says it is there
    end = b"\0" if args.has("z") else b"\n"

    def key(line: bytes) -> bytes:
        at = 0
        for _ in range(min(fields, len(line))):
            at = _next_field(line, at, None)
        part = line[at + chars :]
        part = part if width is None else part[:width]
        return part.upper() if args.has("i") else part

    def run(process: Process) -> Iterator[bytes]:
        for _, chunks in process.inputs(args.operands):
            lines = (line.removesuffix(end) for line in process.lines(chunks, end))
            yield from _groups(lines, key, args, end)

    return run


def _groups(lines: Iterator[bytes], key: Callable[[bytes], bytes], args: Args, end: bytes) -> Iterator[bytes]:
    first: bytes | None = None
    count = 0
    for line in lines:
        if first is not None and key(first) == key(line):
            count += 1
            continue
        if first is not None:
            yield _group(first, count, args, end)
        first, count = line, 1
    if first is not None:
        yield _group(first, count, args, end)


def _group(line: bytes, count: int, args: Args, end: bytes) -> bytes:
    if (args.has("d") and count == 1) or (args.has("u") and count > 1):
        return b""
    return (b"%7d " % count if args.has("c") else b"") + line + end


COMMANDS = {"sort": sort, "uniq": uniq}
