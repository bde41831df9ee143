"""diff (normal, unified, brief, and of folders) and cmp."""

import os
import re
import stat as st
from collections.abc import Iterator
from dataclasses import dataclass

from dreams.lib.diff.lines import LineChange, changes
from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.commands import metadata
from dreams.lib.sandbox.mounts import trouble
from dreams.lib.sandbox.options import Args, Spec, digits_of, read
from dreams.lib.sandbox.process import DEEPEST, Process, Refused, Runner, UsageError, below, is_folder, raw

_DIFF = Spec(
    flags=(
        "b,ignore-space-change d,minimal i,ignore-case N,new-file normal q,brief r,recursive t u "
        "w,ignore-all-space"
    ),
    values="U",
    optional="color U,unified",
    why_not={"output": "it writes a file"},
)
Stat = os.stat_result | None


@dataclass(slots=True)
class _Text:
    """One side: its name for headings, its lines with their ends, and its time."""

    name: str
    lines: list[bytes]
    ns: int
    binary: bool = False


def diff(name: str, argv: list[str]) -> Runner:
    args = read(name, _DIFF, _classic(argv))
    if len(args.operands) < 2:
        raise UsageError(f"missing operand after '{(args.operands or ['diff'])[-1]}'", 2)
    if len(args.operands) > 2:
        raise UsageError(f"extra operand '{args.operands[2]}'", 2)
    if args.last("color") not in (None, "never", "auto"):
        raise Refused("diff --color: only never and auto are on offer")
    around = digits_of(args.last("U") or "3", "invalid context length", 2)

    def run(process: Process) -> Iterator[bytes]:
        a, b = args.operands
        yield from _Comparison(process, args, around, argv).operands(a, b)

    return run


def _classic(argv: list[str]) -> list[str]:
    """`-u5` as `-U 5`."""
    return [f"-U{found[1]}" if (found := re.fullmatch(r"-u([0-9]+)", word)) else word for word in argv]


class _Comparison:
    def __init__(self, process: Process, args: Args, around: int, argv: list[str]) -> None:
        self._process = process
        self._args = args
        self._around = around
        self._options = [word for word in argv if word.startswith("-") and len(word) > 1]

    def operands(self, a: str, b: str) -> Iterator[bytes]:
        try:
            first, second = self._stat(a), self._stat(b)
            if first is not None and second is not None and is_folder(first) != is_folder(second):
                a, b = (
                    (f"{a.rstrip('/')}/{_base(b)}", b)
                    if is_folder(first)
                    else (a, f"{b.rstrip('/')}/{_base(a)}")
                )
                first, second = self._stat(a), self._stat(b)
            if first is not None and second is not None and is_folder(first):
                yield from self._folders(a, b, 0)
            else:
                yield from self._files(a, b, headed=False)
        except (OSError, SafeFsError) as error:
            self._process.complain(trouble(error), 2)

    def _stat(self, path: str) -> Stat:
        if path == "-":
            return None
        try:
            return self._process.stat(path)
        except (OSError, SafeFsError) as error:
            raise UsageError(f"{path}: {trouble(error)}", 2) from None

    # Folders

    def _folders(self, a: str, b: str, depth: int) -> Iterator[bytes]:
        sides = [{entry.name: entry.stat for entry in self._process.entries(path)} for path in (a, b)]
        for name in sorted(sides[0].keys() | sides[1].keys(), key=raw):
            yield from self._pair(a, b, name, sides[0].get(name), sides[1].get(name), depth)

    def _pair(self, a: str, b: str, name: str, first: Stat, second: Stat, depth: int) -> Iterator[bytes]:
        path_a, path_b = below(a.rstrip("/"), name), below(b.rstrip("/"), name)
        if first is None or second is None:
            self._process.status = max(self._process.status, 1)
            yield raw(f"Only in {a if second is None else b}: {name}\n")
        elif is_folder(first) and is_folder(second):
            if not self._args.has("r"):
                yield raw(f"Common subdirectories: {path_a} and {path_b}\n")
            elif depth < DEEPEST:
                yield from self._folders(path_a, path_b, depth + 1)
        elif st.S_ISREG(first.st_mode) and st.S_ISREG(second.st_mode):
            yield from self._files(path_a, path_b, headed=True)
        else:
            self._process.status = max(self._process.status, 1)
            kinds = [metadata.kind(first), metadata.kind(second)]
            yield raw(f"File {path_a} is a {kinds[0]} while file {path_b} is a {kinds[1]}\n")

    # Files

    def _files(self, a: str, b: str, *, headed: bool) -> Iterator[bytes]:
        try:
            first, second = self._text(a), self._text(b)
        except (OSError, SafeFsError) as error:
            self._process.complain(trouble(error), 2)
            return
        if first.lines == second.lines:
            return
        if first.binary or second.binary:
            self._process.status = max(self._process.status, 1)
            word = "Files" if self._args.has("q") else "Binary files"
            yield raw(f"{word} {a} and {b} differ\n")
            return
        yield from self._texts(first, second, a, b, headed=headed)

    def _texts(self, first: _Text, second: _Text, a: str, b: str, *, headed: bool) -> Iterator[bytes]:
        # The runs of lines that differ. If several results are correct, ours may differ from other programs'.
        sides = [[self._key(line) for line in text.lines] for text in (first, second)]
        self._process.meter.tick()
        script = changes(sides[0], sides[1])
        if not script:
            return
        self._process.status = max(self._process.status, 1)
        if self._args.has("q"):
            yield raw(f"Files {a} and {b} differ\n")
            return
        if headed:
            yield raw(" ".join(["diff", *self._options, a, b]) + "\n")
        unified = self._args.last_of("u", "U", "normal") in ("u", "U")
        yield from self._unified(script, first, second) if unified else _normal(script, first, second)

    def _text(self, path: str) -> _Text:
        process = self._process
        lines = process.held(process.lines(process.chunks(path)))
        ns = int(process.now * 1e9) if path == "-" else process.stat(path).st_mtime_ns
        head = b"".join(lines[:2_000])[:65_536]
        return _Text(path, lines, ns, b"\0" in head)

    def _key(self, line: bytes) -> bytes:
        args = self._args
        if args.has("w") or args.has("b"):
            line = line.removesuffix(b"\n")
            line = re.sub(rb"[ \t\v\f\r]+", b"" if args.has("w") else b" ", line)
            line = line.rstrip(b" ")
        return line.lower() if args.has("i") else line

    def _unified(self, script: list[LineChange], a: _Text, b: _Text) -> Iterator[bytes]:
        for sign, text in (("---", a), ("+++", b)):
            yield raw(f"{sign} {_heading(text.name)}\t{metadata.full(text.ns)}\n")
        for group in _groups(script, self._around):
            yield from _hunk(group, a, b, self._around)


def _heading(name: str) -> str:
    """A heading; a name with a space, quote or control character is quoted, so that patch(1) finds its end."""
    if not re.search(r'[\x00-\x20"\\\x7f]', name):
        return name
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]


def _groups(script: list[LineChange], around: int) -> list[list[LineChange]]:
    """Groups changes that share context into one hunk."""
    groups: list[list[LineChange]] = []
    for change in script:
        if groups and change.a0 - groups[-1][-1].a1 <= 2 * around:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[LineChange], a: _Text, b: _Text, around: int) -> Iterator[bytes]:
    start = max(group[0].a0 - around, 0)
    end = min(group[-1].a1 + around, len(a.lines))
    other_start = max(group[0].b0 - (group[0].a0 - start), 0)
    other_end = group[-1].b1 + (end - group[-1].a1)
    yield raw(f"@@ -{_span(start, end)} +{_span(other_start, other_end)} @@\n")
    at = start
    for change in group:
        yield from (_marked(b" ", line) for line in a.lines[at : change.a0])
        yield from (_marked(b"-", line) for line in a.lines[change.a0 : change.a1])
        yield from (_marked(b"+", line) for line in b.lines[change.b0 : change.b1])
        at = change.a1
    yield from (_marked(b" ", line) for line in a.lines[at:end])


def _span(start: int, end: int) -> str:
    if end - start == 1:
        return str(start + 1)
    return f"{start + 1 if end > start else start},{end - start}"


def _marked(sign: bytes, line: bytes) -> bytes:
    return sign + line + (b"" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n")


def _normal(script: list[LineChange], a: _Text, b: _Text) -> Iterator[bytes]:
    for change in script:
        deleted, added = change.a1 > change.a0, change.b1 > change.b0
        letter = "c" if deleted and added else "d" if deleted else "a"
        left = _lines(change.a0, change.a1)
        right = _lines(change.b0, change.b1)
        yield raw(f"{left}{letter}{right}\n")
        yield from (_marked(b"< ", line) for line in a.lines[change.a0 : change.a1])
        if letter == "c":
            yield b"---\n"
        yield from (_marked(b"> ", line) for line in b.lines[change.b0 : change.b1])


def _lines(start: int, end: int) -> str:
    if end <= start + 1:
        return str(start + (end > start))
    return f"{start + 1},{end}"


# --- cmp ----------------------------------------------------------------------------------------------------------

_CMP = Spec(flags="s,quiet,silent")


def cmp(name: str, argv: list[str]) -> Runner:
    args = read(name, _CMP, argv)
    if not 1 <= len(args.operands) <= 2:
        raise UsageError("missing operand" if not args.operands else "extra operand", 2)
    paths = [*args.operands, "-"][:2]

    def run(process: Process) -> Iterator[bytes]:
        sides = []
        for path in paths:
            chunks = process.attempt(process.chunks, path, 2)
            if chunks is None:
                return
            sides.append(chunks)
        yield from _compared(process, paths, sides, quiet=args.has("s"))

    return run


def _compared(
    process: Process, paths: list[str], sides: list[Iterator[bytes]], *, quiet: bool
) -> Iterator[bytes]:
    left, right = b"", b""
    done = lines = 0
    while True:
        left = left or next(sides[0], b"")
        right = right or next(sides[1], b"")
        size = min(len(left), len(right))
        if not size:
            break
        if left[:size] != right[:size]:
            at = next(at for at in range(size) if left[at] != right[at])
            process.status = 1
            line = lines + left.count(b"\n", 0, at) + 1
            yield b"" if quiet else raw(f"{paths[0]} {paths[1]} differ: char {done + at + 1}, line {line}\n")
            return
        done, lines = done + size, lines + left.count(b"\n", 0, size)
        left, right = left[size:], right[size:]
    if left or right:
        process.status = 1
        if not quiet:
            process.complain(f"EOF on {paths[0 if not left else 1]} after byte {done}")


COMMANDS = {"diff": diff, "cmp": cmp}
