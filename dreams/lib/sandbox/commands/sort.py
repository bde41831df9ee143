"""sort, in the C locale: by bytes, numbers, sizes or versions, by lines or by keys."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.lib.sandbox.options import Args, Spec, read
from dreams.lib.sandbox.process import Process, Refused, Runner, UsageError, raw

_WRITES = "it writes a file"
_SORT = Spec(
    flags=("f,ignore-case h,human-numeric-sort n,numeric-sort r,reverse s,stable u,unique V,version-sort"),
    values="k,key t,field-separator",
    why_not={
        **dict.fromkeys(("o", "output", "T", "temporary-directory"), _WRITES),
        "compress-program": "it runs a program",
        "files0-from": "file names are not taken from files",
        **dict.fromkeys(("c", "C", "check"), "compare with: sort FILE | cmp - FILE"),
        **dict.fromkeys(("b", "ignore-leading-blanks"), "take the blanks out with sed before it"),
    },
)
_MODES = "fhnrV"


def sort(name: str, argv: list[str]) -> Runner:
    args = read(name, _SORT, argv)
    separator = _separator(args)
    overall = "".join(letter for letter in _MODES if args.has(letter))
    keys = [_read_key(text, overall) for text in args.all("k")]
    keys = keys or [_Key(modes=overall)]
    for key in keys:
        if len(set("nhV") & set(key.modes)) > 1:
            raise UsageError(f"options '-{''.join(sorted(key.modes))}' are incompatible", 2)
    order = SortOrder(keys, separator, "r" in overall, args.has("s") or args.has("u"))
    return lambda process: _sorted(process, args, order)


COMMANDS = {"sort": sort}


def _separator(args: Args) -> bytes | None:
    text = args.last("t")
    if text is None:
        return None
    if text == "\\0":
        return b"\0"
    if len(raw(text)) != 1:
        raise UsageError("empty tab" if not text else f"multi-character tab '{text}'", 2)
    return raw(text)


def _sorted(process: Process, args: Args, order: "SortOrder") -> Iterator[bytes]:
    lines: list[bytes] = []
    for path in args.operands or ["-"]:
        chunks = process.attempt(process.chunks, path, 2, "cannot read: {}: {}")
        if chunks is None:
            return
        lines += process.held(line.removesuffix(b"\n") for line in process.lines(chunks))
    previous: bytes | None = None
    for line in order.sort(lines):
        process.meter.tick()
        if args.has("u") and previous is not None and order.compare(previous, line) == 0:
            continue
        previous = line
        yield line + b"\n"


# --- Keys ---------------------------------------------------------------------------------------------------------

_KEY = re.compile(r"([0-9]{1,15})([fhnrV]*)(?:,([0-9]{1,15})([fhnrV]*))?")


@dataclass(frozen=True, slots=True)
class _Key:
    """One -k: from a field to another, and how to compare the text between."""

    start: int = 1
    end: int = 0  # 0: to the end of the line
    modes: str = ""


def _read_key(text: str, overall: str) -> _Key:
    found = _KEY.fullmatch(text)
    if found is None and re.match(r"([0-9]+[fhnrV]*,)?[0-9]+[fhnrV]*[.b]", text):
        raise Refused(
            f"sort -k {text[:20]}: keys are whole fields, and n and h skip blanks without b; cut the part out before it"
        )
    if found is None or found[1] == "0" or found[3] == "0":
        raise UsageError(f"invalid field specification '{text}'", 2)
    return _Key(int(found[1]), int(found[3] or 0), found[2] + (found[4] or "") or overall)


# A key to compare lines by: anything that Python can order.
Rank = tuple[object, ...] | bytes


class SortOrder:
    """Compares lines by keys, then by all bytes."""

    def __init__(self, keys: list[_Key], separator: bytes | None, reverse: bool, keys_only: bool) -> None:
        self._keys = keys
        self._separator = separator
        self._reverse = reverse
        self._keys_only = keys_only

    def _ranks(self, line: bytes) -> list[Rank]:
        return [_rank(_part(line, key, self._separator), key.modes) for key in self._keys]

    def sort(self, lines: list[bytes]) -> list[bytes]:
        """Sorts by the last key first: Python's sort is stable, so each pass keeps the order of the previous ones."""
        if not self._keys_only:
            lines = sorted(lines, reverse=self._reverse)
        ranked = [(self._ranks(line), line) for line in lines]
        for index, key in reversed(list(enumerate(self._keys))):
            ranked = sorted(ranked, key=lambda pair: pair[0][index], reverse="r" in key.modes)
        return [line for _, line in ranked]

    def compare(self, first: bytes, second: bytes) -> int:
        """1 when `first` belongs after `second`, 0 when equal, -1 before."""
        for key, a, b in zip(self._keys, self._ranks(first), self._ranks(second), strict=True):
            if a != b:
                return _sign(a, b) * (-1 if "r" in key.modes else 1)
        if self._keys_only or first == second:
            return 0
        return _sign(first, second) * (-1 if self._reverse else 1)


def _sign(a: Rank, b: Rank) -> int:
    return 1 if a > b else -1  # type: ignore[operator]  # two ranks of one key are of one shape


def _part(line: bytes, key: _Key, separator: bytes | None) -> bytes:
    start = _field_start(line, key.start, separator)
    return line[start : max(start, _field_end(line, key.end, separator) if key.end else len(line))]


def _field_start(line: bytes, field: int, separator: bytes | None) -> int:
    """The start of a field; without a separator a field includes the blanks before it."""
    at = 0
    for _ in range(field - 1):
        if at >= len(line):
            break
        at = next_field(line, at, separator)
    return min(at, len(line))


def next_field(line: bytes, at: int, separator: bytes | None) -> int:
    if separator is not None:
        stop = line.find(separator, at)
        return len(line) if stop < 0 else stop + 1
    found = _END_OF_FIELD.match(line, at)
    return found.end() if found else len(line)


_END_OF_FIELD = re.compile(rb"[ \t\n]*[^ \t\n]*")


def _field_end(line: bytes, field: int, separator: bytes | None) -> int:
    at = _field_start(line, field, separator)
    if separator is None:
        return next_field(line, at, None)
    stop = line.find(separator, at)
    return len(line) if stop < 0 else stop


# --- Ranks --------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(rb"-?([0-9]*)(?:\.([0-9]*))?")
_WITH_UNIT = re.compile(rb"-?[0-9]*(?:\.[0-9]*)?([KkMGTPEZY]?)")
_UNITS = {b"": 0, b"k": 1, **{bytes([unit]): power for power, unit in enumerate(b"KMGTPEZY", start=1)}}
_TURNED = bytes.maketrans(b"0123456789", b"9876543210")


def _rank(part: bytes, modes: str) -> Rank:
    if "f" in modes:
        part = part.upper()
    if "n" in modes:
        return _numeric(part.lstrip(b" \t\n"))
    if "h" in modes:
        return _human(part.lstrip(b" \t\n"))
    return version_key(part) if "V" in modes else part


def _numeric(text: bytes) -> tuple[int, int, bytes, bytes]:
    """Numbers of any length, without a float's rounding: sign, digits before the point, digits after it."""
    found = _NUMBER.match(text)
    whole = (found[1] if found else b"").lstrip(b"0")
    behind = ((found[2] if found else b"") or b"").rstrip(b"0")
    if not whole and not behind:
        return (0, 0, b"", b"")
    if not text.startswith(b"-"):
        return (1, len(whole), whole, behind)
    # Negative numbers sort in reverse: each digit is inverted, and the end counts as the highest digit.
    return (-1, -len(whole), whole.translate(_TURNED), behind.translate(_TURNED) + b"\xff")


def _human(text: bytes) -> Rank:
    sign, *digits = _numeric(text)
    found = _WITH_UNIT.match(text)
    return (sign, _UNITS[found[1]] * sign if found else 0, *digits)


_END = 1  # the end of a run of letters; only `~` sorts before it
_SIGNS = [byte for byte in range(256) if chr(byte) not in "0123456789~"]
_SIGNS.sort(key=lambda byte: (not (chr(byte).isascii() and chr(byte).isalpha()), byte))  # letters first
_ORDER = bytes.maketrans(b"~" + bytes(_SIGNS), bytes([0, *range(2, 2 + len(_SIGNS))]))
_RUN = re.compile(rb"([^0-9]*)([0-9]*)")
_SUFFIX_PART = re.compile(rb"[A-Za-z~][A-Za-z0-9~]*")


def version_key(name: bytes) -> tuple[object, ...]:
    """A key for the natural order of names with numbers, as in the manual of `sort -V` and `ls -v`.

    Computed once per name: comparing long ones letter by letter would take minutes.
    """
    first = {b"": 0, b".": 1, b"..": 2}.get(name, 3 if name.startswith(b".") else 4)
    return first, _runs(_without_suffix(name)), _runs(name)


def _without_suffix(name: bytes) -> bytes:
    """`a-1.2.tar.gz` as `a-1.2`: extensions that begin with a letter are cut, one by one from the end."""
    end = len(name)
    while (dot := name.rfind(b".", 1, end)) > 0 and _SUFFIX_PART.fullmatch(name, dot + 1, end):
        end = dot
    return name[:end]


def _runs(name: bytes) -> tuple[object, ...]:
    out: list[object] = []
    for found in _RUN.finditer(name):
        digits = found[2].lstrip(b"0")
        out += [found[1].translate(_ORDER) + bytes([_END]), len(digits), digits]
    return tuple(out)
