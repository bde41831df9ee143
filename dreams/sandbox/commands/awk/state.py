"""What a running awk program knows: its variables, the present record and its fields, and what it has printed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from ... import posix
from ...errors import LimitReached, Refused, UsageError
from ...limits import Meter
from ...process import Process, raw
from .values import Input, Value, bounded, number, text

MOST_FIELDS = 100_000  # that a program can make
MOST_SPLIT = 1_000_000  # that a record can have
_ELEMENT = 120  # what a name and a value cost beside their bytes
_BLANKS = re.compile(rb"[^ \t\n]+")


class State:
    """One run. Variables and arrays are told apart by the program's text, as awk does."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.variables: dict[str, Value] = {
            "FS": b" ",
            "OFS": b" ",
            "ORS": b"\n",
            "RS": b"\n",
            "SUBSEP": b"\x1c",
            "CONVFMT": b"%.6g",
            "OFMT": b"%.6g",
            "NR": 0.0,
            "FNR": 0.0,
            "RSTART": 0.0,
            "RLENGTH": -1.0,
        }
        self.arrays: dict[str, dict[bytes, Value]] = {}
        self._out: list[bytes] = []
        self._held = 0
        self._record = b""
        self._fields: list[bytes] | None = []
        self._stale = False  # the record has to be put together from its fields

    # Variables

    def get(self, name: str) -> Value:
        return float(len(self._split())) if name == "NF" else self.variables.get(name)

    def set(self, name: str, value: Value) -> None:
        if isinstance(value, bytes):
            bounded(value)
        if name == "NF":
            self._resize(int(number(value)))
        else:
            self.variables[name] = value

    def array(self, name: str) -> dict[bytes, Value]:
        return self.arrays.setdefault(name, {})

    def put(self, name: str, key: bytes, value: Value) -> None:
        """Set an element; what all of them take together is bounded."""
        array = self.array(name)
        old = array.get(key)
        grown = _size(value) - _size(old) if key in array else _size(value) + len(key) + _ELEMENT
        self.process.meter.hold(grown)
        array[key] = value

    def text(self, value: Value) -> bytes:
        return value if isinstance(value, bytes) else text(value, text(self.variables["CONVFMT"]))

    # The record

    def read(self, record: bytes) -> None:
        self._record, self._fields, self._stale = Input(record), None, False

    def field(self, index: int) -> Value:
        if index < 0:
            raise UsageError(f"attempt to access field {index}", 2)
        if index > MOST_FIELDS:
            raise LimitReached(f"stopped at field {index:,}; fields are 0 to {MOST_FIELDS:,}")
        if index == 0:
            return Input(self._whole())
        fields = self._split()
        return Input(fields[index - 1] if index <= len(fields) else b"")

    def set_field(self, index: int, value: bytes) -> None:
        if index == 0:
            self.read(bounded(value))
            return
        self.field(index)
        fields = self._split()
        if index > len(fields):
            self._resize(index)
            fields = self._split()
        fields[index - 1] = value
        self._stale = True

    def _resize(self, count: int) -> None:
        if not 0 <= count <= MOST_FIELDS:
            raise LimitReached(f"stopped at NF = {count:,}; at most {MOST_FIELDS:,} fields")
        fields = self._split()
        self._fields = fields[:count] + [b""] * (count - len(fields))
        self._stale = True

    def _whole(self) -> bytes:
        if self._stale:
            self._record = bounded(self.text(self.get("OFS")).join(self._split()))
            self._stale = False
        return self._record

    def _split(self) -> list[bytes]:
        if self._fields is None:
            self._fields = self.split(self._record, self.text(self.variables["FS"]))
        return self._fields

    def split(self, data: bytes, separator: bytes) -> list[bytes]:
        """Fields: between blanks, at one character, at a pattern, or (separator empty) each byte."""
        if not data:
            return []
        if separator == b" ":
            _refuse_too_many(data.count(b" ") + data.count(b"\t"))
            return _BLANKS.findall(data)
        if not separator:
            return [data[at : at + 1] for at in range(min(len(data), MOST_FIELDS))]
        if len(separator) == 1:
            _refuse_too_many(data.count(separator))
            return data.split(separator)
        return self.split_by(compiled(separator), data)

    def split_by(self, pattern: re2._Regexp, data: bytes) -> list[bytes]:
        posix.check_cost(pattern, data)
        return list(_parts(pattern, data, self.process.meter)) if data else []

    # Output

    def print(self, data: bytes) -> None:
        self.process.meter.hold(len(data))
        self._held += len(data)
        self._out.append(data)

    def printed(self) -> bytes:
        """What was printed since the last time."""
        self.process.meter.hold(-self._held)
        data, self._held = b"".join(self._out), 0
        self._out.clear()
        return data


def _size(value: Value) -> int:
    return len(value) if isinstance(value, bytes) else 0


def _refuse_too_many(count: int) -> None:
    if count > MOST_SPLIT:
        raise LimitReached(f"stopped at a record of {count:,} fields")


def _parts(pattern: re2._Regexp, data: bytes, meter: Meter) -> Iterator[bytes]:
    at = start = count = 0
    while at <= len(data):
        meter.tick()
        count += 1
        _refuse_too_many(count)
        found = pattern.search(data, at)
        if found is None:
            break
        if found.end() == found.start():
            at = found.end() + 1
            continue
        yield data[start : found.start()]
        at = start = found.end()
    yield data[start:]


_BYTE_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"f": b"\f", b"v": b"\v", b"a": b"\a"}


def compiled(pattern: bytes) -> re2._Regexp:
    """An extended pattern in which `\\/`, `\\"`, `\\t` and the like are read as in a text."""

    def one(found: re.Match[bytes]) -> bytes:
        return _BYTE_ESCAPES.get(found[1]) or (found[1] if found[1] in (b"/", b'"', b"&") else found[0])

    return posix.compiled(posix.translate(re.sub(rb"\\(.)", one, pattern, flags=re.DOTALL), extended=True))


def literal(word: str) -> bytes:
    """A text of the program as bytes."""
    try:
        return raw(word)
    except UnicodeEncodeError:
        raise Refused("awk: a character that is no text") from None
