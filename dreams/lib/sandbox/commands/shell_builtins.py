"""pwd, cd, echo, printf, true, false, basename, dirname and test: commands that read no file's content."""

import os
import re
import stat as st
from collections.abc import Callable, Iterator

from dreams.lib.files.safefs import SafeFsError
from dreams.lib.sandbox.mounts import normal
from dreams.lib.sandbox.options import Spec, read
from dreams.lib.sandbox.process import Process, Refused, Runner, UsageError, is_folder, raw


def pwd(name: str, argv: list[str]) -> Runner:
    read(name, Spec(flags="L P"), argv)
    return lambda process: iter([raw(process.cwd) + b"\n"])


def cd(name: str, argv: list[str]) -> Runner:
    args = read(name, Spec(flags="L P"), argv)
    if len(args.operands) > 1:
        raise UsageError("too many arguments")
    if not args.operands or args.operands == ["-"]:
        raise Refused("cd without a folder; name one below a mount")
    target = args.operands[0]

    def run(process: Process) -> Iterator[bytes]:
        stat = process.attempt(process.stat, target)
        if stat and is_folder(stat):
            process.new_cwd = normal(target, process.cwd)
        elif stat:
            process.complain(f"{target}: Not a directory")
        return iter(())

    return run


_ESCAPE = re.compile(rb"\\(?:([abcefnrtv\\])|0([0-7]{0,3})|x([0-9A-Fa-f]{1,2}))", re.DOTALL)
_SIMPLE = {
    b"a": b"\a",
    b"b": b"\b",
    b"e": b"\x1b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
}


def _unescaped(text: bytes) -> tuple[bytes, bool]:
    """(text with echo's escapes replaced, whether `\\c` ended it)."""
    out: list[bytes] = []
    at = 0
    for found in _ESCAPE.finditer(text):
        out.append(text[at : found.start()])
        at = found.end()
        if found[1] == b"c":
            return b"".join(out), True
        out.append(_one_escape(found))
    return b"".join([*out, text[at:]]), False


def _one_escape(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return _SIMPLE[found[1]]
    return bytes([(int(found[2] or b"0", 8) if found[2] is not None else int(found[3], 16)) & 255])


def echo(name: str, argv: list[str]) -> Runner:
    """echo, as built into bash."""
    newline, escapes = True, False
    rest = list(argv)
    while rest and re.fullmatch(r"-[neE]+", rest[0]):
        for letter in rest.pop(0)[1:]:
            newline = newline and letter != "n"
            escapes = letter == "e" or (escapes and letter != "E")
    text = b" ".join(raw(word) for word in rest)
    end = b"\n" if newline else b""
    if escapes:
        text, ended = _unescaped(text)
        end = b"" if ended else end
    return lambda process: iter([text + end])


_DIRECTIVE = re.compile(
    rb"%%|%([-+ 0#]*)([0-9]{0,3})(?:\.([0-9]{0,3}))?([diouxXcsb])|\\([abefnrtv\\\"'])|\\([0-7]{1,3})|\\x([0-9A-Fa-f]{1,2})|\\c"
)


def printf(name: str, argv: list[str]) -> Runner:
    """printf with strings, characters and integers; other directives are refused."""
    words = argv[1:] if argv[:1] == ["--"] else argv
    if not words:
        raise UsageError("usage: printf format [arguments]", 2)
    if argv[:1] != ["--"] and re.match(r"-[A-Za-z]", words[0]):
        raise Refused(f"printf {words[0][:20]}: options are not on offer")
    fmt = raw(words[0])
    rest = re.sub(rb"%%", b"", _DIRECTIVE.sub(b"", fmt))
    if b"%" in rest:
        raise Refused("printf: only %s, %b, %c, %d, %i, %o, %u, %x and %X are read")
    return lambda process: _printed(process, fmt, [raw(word) for word in words[1:]])


def _printed(process: Process, fmt: bytes, values: list[bytes]) -> Iterator[bytes]:
    queue = list(reversed(values))
    text, stop, _ = fmt.partition(b"\\c")
    while True:
        before = len(queue)
        yield _DIRECTIVE.sub(lambda found: _directive(process, found, queue), text)
        if stop or not queue or len(queue) == before:
            return


def _directive(process: Process, found: re.Match[bytes], queue: list[bytes]) -> bytes:
    if found[0] == b"%%":
        return b"%"
    if found[5] is not None:
        return _SIMPLE.get(found[5], found[5])
    if found[6] is not None:
        return bytes([int(found[6], 8) & 255])
    if found[7] is not None:
        return bytes([int(found[7], 16)])
    value = queue.pop() if queue else b""
    kind = found[4]
    flags = found[1] + found[2]
    precision = b"" if found[3] is None else b"." + found[3]
    if kind in b"sbc":
        text = _unescaped(value)[0] if kind == b"b" else value[:1] if kind == b"c" else value
        flags = re.sub(rb"^[-+ 0#]*", lambda given: b"-" if b"-" in given[0] else b"", flags)
        return (b"%" + flags + precision + b"s") % text
    return (b"%" + flags + precision + kind.replace(b"i", b"d").replace(b"u", b"d")) % _whole(process, value)


def _whole(process: Process, value: bytes) -> int:
    text = value.strip()
    if found := re.fullmatch(rb"[-+]?(?:0[xX]([0-9a-fA-F]{1,15})|(0[0-7]{1,18})|[0-9]{1,18})", text):
        return int(text, 16 if found[1] else 8 if found[2] else 10)
    if text:
        process.complain(f"{value.decode('utf-8', 'replace')}: invalid number")
    return 0


def true(name: str, argv: list[str]) -> Runner:
    return lambda process: iter(())


def false(name: str, argv: list[str]) -> Runner:
    def run(process: Process) -> Iterator[bytes]:
        process.status = 1
        return iter(())

    return run


def basename(name: str, argv: list[str]) -> Runner:
    spec = Spec(flags="a,multiple", values="s,suffix")
    args = read(name, spec, argv)
    suffix = args.last("s")
    many = args.has("a") or suffix is not None
    if not args.operands or (not many and len(args.operands) > 2):
        raise UsageError("missing operand" if not args.operands else f"extra operand '{args.operands[2]}'")
    if not many and len(args.operands) == 2:
        suffix = args.operands.pop()
    return lambda process: iter([raw(_base(path, suffix)) + b"\n" for path in args.operands])


def _base(path: str, suffix: str | None) -> str:
    base = path.rstrip("/").rsplit("/", 1)[-1] or ("/" if path else "")
    return base.removesuffix(suffix) if suffix and base != suffix else base


def dirname(name: str, argv: list[str]) -> Runner:
    args = read(name, Spec(), argv)
    if not args.operands:
        raise UsageError("missing operand")
    return lambda process: iter([raw(_folder(path)) + b"\n" for path in args.operands])


def _folder(path: str) -> str:
    stripped = path.rstrip("/")
    if not stripped:
        return "/" if path else "."
    head, slash, _ = stripped.rpartition("/")
    return head.rstrip("/") or "/" if slash else "."


# --- test ---------------------------------------------------------------------------------------------------------


def test(name: str, argv: list[str]) -> Runner:
    words = list(argv)
    if name == "[" and (not words or words.pop() != "]"):
        raise UsageError("missing ']'", 2)

    def run(process: Process) -> Iterator[bytes]:
        process.status = 0 if _Test(process, words).whole() else 1
        return iter(())

    return run


class _Test:
    """One condition, with `!` before it."""

    def __init__(self, process: Process, words: list[str]) -> None:
        self._process = process
        self._words = words
        self._at = 0

    def whole(self) -> bool:
        if not self._words:
            return False
        result = self._not()
        if self._at < len(self._words):
            for word in filter(_NOT_ON_OFFER.get, self._words):
                raise Refused(f"test {word}: {_NOT_ON_OFFER[word]}")
            raise UsageError(f"extra argument '{self._words[self._at]}'", 2)
        return result

    def _peek(self, ahead: int = 0) -> str | None:
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else None

    def _take(self) -> str:
        word = self._peek()
        if word is None:
            raise UsageError("argument expected", 2)
        self._at += 1
        return word

    def _not(self) -> bool:
        wanted = True
        while self._peek() == "!" and self._peek(1) is not None and self._peek(1) not in _BINARY:
            self._at += 1
            wanted = not wanted
        return self._condition() == wanted

    def _condition(self) -> bool:
        first = self._take()
        operator = self._peek()
        if operator in _BINARY and self._peek(1) is not None:
            self._at += 1
            return self._compare(first, operator or "", self._take())
        if first in _UNARY and operator is not None:
            return self._about(first, self._take())
        if first.startswith("-") and len(first) == 2 and operator is not None:
            raise Refused(f"test {first}: this condition is not on offer")
        return first != ""

    def _compare(self, a: str, operator: str, b: str) -> bool:
        if operator in _NUMERIC:
            return _NUMERIC[operator](_integer(a), _integer(b))
        return {"=": a == b, "==": a == b, "!=": a != b, "<": a < b, ">": a > b}[operator]

    def _about(self, operator: str, word: str) -> bool:
        if operator in ("-z", "-n"):
            return (word == "") == (operator == "-z")
        try:
            stat = self._process.stat(word)
        except (OSError, SafeFsError):
            return False
        return _UNARY[operator](stat)


def _integer(text: str) -> int:
    if not re.fullmatch(r"\s*[-+]?[0-9]{1,18}\s*", text):
        raise UsageError(f"{text}: integer expression expected", 2)
    return int(text)


def _followed(stat: os.stat_result) -> bool:
    return not st.S_ISLNK(stat.st_mode)


_UNARY: dict[str, Callable[[os.stat_result], bool]] = {
    "-e": _followed,
    "-f": lambda stat: st.S_ISREG(stat.st_mode),
    "-d": lambda stat: st.S_ISDIR(stat.st_mode),
    "-s": lambda stat: _followed(stat) and stat.st_size > 0,
    "-L": lambda stat: st.S_ISLNK(stat.st_mode),
    "-h": lambda stat: st.S_ISLNK(stat.st_mode),
    "-p": lambda stat: st.S_ISFIFO(stat.st_mode),
    "-r": _followed,
    "-x": lambda stat: _followed(stat) and bool(stat.st_mode & 0o111),
    "-w": lambda stat: False,  # nothing is writable from here
    "-z": lambda stat: False,
    "-n": lambda stat: False,
}
_NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_BINARY = {"=", "==", "!=", "<", ">", *_NUMERIC}
_NOT_ON_OFFER = {
    **dict.fromkeys(("-a", "-o", "("), "use [ … ] && [ … ], or ||"),
    **dict.fromkeys(("-nt", "-ot"), "use ls -t, or find -newer"),
}


COMMANDS = {
    "pwd": pwd,
    "cd": cd,
    "echo": echo,
    "printf": printf,
    "true": true,
    "false": false,
    ":": true,
    "basename": basename,
    "dirname": dirname,
    "test": test,
    "[": test,
}
