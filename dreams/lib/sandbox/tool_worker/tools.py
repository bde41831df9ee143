"""Read, Grep and Glob over the mounts, and Bash with the sandbox's shell. A tool never raises for any input."""

import os
import re
import stat as st
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import re2

from dreams.lib.files.safefs import SafeFsError, held
from dreams.lib.sandbox import CommandLimits, Shell, Tree
from dreams.lib.sandbox.mounts import MountedPath, normal, trouble
from dreams.lib.sandbox.process import CommandMeter, Process, SandboxLimit, part
from dreams.lib.secrets.redact import cut, values, without_keys

CHUNK = 1 << 20  # read at once; chosen
LINE_CHARS = 4_000  # of a line that is shown; chosen
AROUND = 300  # bytes shown on each side of a match in a long line
DEFAULT_LINES = 2_000  # as in the agent's own Read
DEFAULT_HITS = 50  # of a search; chosen
MOST_HITS = 1_000  # that can be asked for; chosen
MOST_CONTEXT = 20  # lines around a hit; chosen
MOST_NAMES = 500  # of files; chosen
DEEPEST = 40  # folders; chosen
NAMES = frozenset({"Bash", "Read", "Grep", "Glob"})
MOST_CHUNKS = 512  # of one file: the first lines of a huge one must arrive in time; chosen
BEFORE_TITLE, BEHIND_TITLE = 200, 64 * 1024  # bytes around a block's title that contain all of it; chosen
RULES = frozenset({"private-key", "putty-key"})  # whose secrets have several lines
_TITLE = re2.compile(rb"PRIVATE KEY|Private-Lines")


class Wrong(Exception):
    """The call is invalid; the message says what to use instead."""


@dataclass(frozen=True, slots=True)
class ToolReply:
    text: str
    refused: bool = False


class KeyBlocks:
    """Hides lines of key blocks in answers. A single line cannot be recognised as part of a key, so the files that a call
    opened are searched completely. A file is read again only if it changed."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], str] = {}

    def hidden(self, answer: str, tree: Tree) -> str:
        """`answer` without any part of a key block of the files opened for it."""
        blocks = "\n".join(filter(None, (self._of(tree, place) for place in tree.opened.values())))
        return without_keys(answer, blocks) if blocks else answer

    def _of(self, tree: Tree, place: MountedPath) -> str:
        try:
            with held(tree.open(place)) as fd:
                found = os.fstat(fd)
                key = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
                if key not in self._known:
                    self._known[key] = "\n".join(_key_blocks(fd))
                return self._known[key]
        except (OSError, SafeFsError):
            return ""  # removed since


def _key_blocks(fd: int) -> set[str]:
    """The key blocks of a file, also those in JSON, where a line end is written `\\n`."""
    texts = (each for text in _near_titles(fd) for each in (text, text.replace("\\n", "\n")))
    return {value for text in texts for value, rule in values(text).items() if rule in RULES}


def _near_titles(fd: int) -> Iterator[str]:
    kept = b""
    for _ in range(MOST_CHUNKS):
        if not (data := os.read(fd, CHUNK)):
            return
        kept, done = kept + data, 0
        for title in _TITLE.finditer(kept):
            if title.start() >= done:
                done = title.start() + BEHIND_TITLE
                yield kept[max(0, title.start() - BEFORE_TITLE) : done].decode("utf-8", "replace")
        kept = kept[-BEFORE_TITLE - BEHIND_TITLE :]


@dataclass(slots=True)
class Tools:
    """The tools of one tree of mounts."""

    tree: Tree
    limits: CommandLimits = field(default_factory=CommandLimits)
    keys: KeyBlocks = field(default_factory=KeyBlocks)

    def run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        self.tree.opened.clear()
        reply = self._run(name, given)
        return replace(reply, text=self.keys.hidden(reply.text, self.tree))

    def _run(self, name: str, given: Mapping[str, Any]) -> ToolReply:
        meter = CommandMeter(self.limits)
        process = Process(name, self.tree, "/", iter(()), meter, time.time(), stderr=lambda data: None)
        limit = self.limits.output_chars
        try:
            if name == "Bash":
                return self._bash(given)
            answer = {"Read": _read, "Grep": _grep, "Glob": _glob}[name](process, given)
        except (OSError, SafeFsError) as error:
            return ToolReply(f"Not done: {trouble(error)}", refused=True)
        except re2.error as error:
            return ToolReply(f"Not done: {error.args[0].decode()}", refused=True)
        except (Wrong, SandboxLimit) as error:
            return ToolReply(f"Not done: {error}", refused=True)
        if len(answer) > limit:
            answer = cut(answer, limit) + f"\n[cut at {limit:,} characters; narrow the call]"
        return ToolReply(answer)

    def _bash(self, given: Mapping[str, Any]) -> ToolReply:
        answer = Shell(self.tree, limits=self.limits).run(_text(given, "command"))
        ended = f"[exit code {answer.exit_code}]\n" if answer.exit_code and not answer.refused else ""
        return ToolReply(answer.output + ended, answer.refused)


# --- Arguments ----------------------------------------------------------------------------------------------------


def _text(given: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = given.get(key, default)
    if not isinstance(value, str):
        raise Wrong(f"`{key}` is missing, or is no text.")
    return value


def _count(given: Mapping[str, Any], key: str, default: int, most: int) -> int:
    value = given.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Wrong(f"`{key}` must be a whole number.")
    return min(value, most)


# --- Read ---------------------------------------------------------------------------------------------------------


def _read(process: Process, given: Mapping[str, Any]) -> str:
    path = normal(_text(given, "path" if "path" in given else "file_path"))
    first = max(1, _count(given, "offset", 1, 10**9))
    last = first + _count(given, "limit", DEFAULT_LINES, 100_000) - 1
    shown: list[str] = []
    size = 0
    for number, line in enumerate(process.lines(process.chunks(path)), start=1):
        if number > last or size > process.meter.limits.output_chars:
            break
        if number >= first:
            shown.append(f"{number:>6}\t{_short(line)}")
            size += len(shown[-1])
    return "\n".join(shown) or "(no such lines, or an empty file)"


def _short(line: bytes) -> str:
    text = line.rstrip(b"\n").decode("utf-8", "replace")
    if len(text) <= LINE_CHARS:
        return text
    return cut(text, LINE_CHARS) + f"… [a line of {len(text):,} characters; search in it with Grep]"


# --- Walking ------------------------------------------------------------------------------------------------------


def _files(process: Process, start: MountedPath, depth: int = DEEPEST) -> Iterator[MountedPath]:
    """Regular files at or below `start`, in name order. Unreadable ones are skipped."""
    tree = process.tree
    if not st.S_ISDIR(tree.stat(start).st_mode):
        yield start
        return
    try:
        entries = sorted(process.entries(start.path), key=lambda entry: entry.name)
    except (OSError, SafeFsError):
        return
    for entry in entries:
        try:
            place = tree.place(f"{start.path.rstrip('/')}/{entry.name}", "/")
            if st.S_ISREG(entry.stat.st_mode):
                yield place
            elif st.S_ISDIR(entry.stat.st_mode) and depth:
                yield from _files(process, place, depth - 1)
        except (OSError, SafeFsError):
            continue


_GLOB = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^]/]+\]|\{[^{}]*\})")


def _glob_expression(pattern: str) -> str:
    """A path pattern as a regular expression: `**` crosses folders, `*` and `?` do not; `[a-c]` and `{md,txt}` are choices."""
    out: list[str] = []
    for piece in _GLOB.split(pattern):
        if piece[:1] == "{" and piece[-1:] == "}":
            out.append(f"(?:{'|'.join(map(_glob_expression, piece[1:-1].split(',')))})")
        elif piece[:1] == "[" and _GLOB.fullmatch(piece):
            inside = re.sub(r"([\\^\[])", r"\\\1", piece[1:-1].removeprefix("!"))
            out.append(f"[{'^/' if piece[1] == '!' else ''}{inside}]")
        else:
            signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
            out.append(signs.get(piece) or re2.escape(piece))
    return "".join(out)


def _options(*, ignore_case: bool = False) -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return options


# --- Glob ---------------------------------------------------------------------------------------------------------


def _glob(process: Process, given: Mapping[str, Any]) -> str:
    pattern = _text(given, "pattern")
    base = normal(_text(given, "path", "/"))
    full = pattern if pattern.startswith("/") else f"{base.rstrip('/')}/{pattern}"
    wanted = re2.compile(_glob_expression(full), _options())
    found: list[str] = []
    for place in _files(process, process.tree.place(base, "/")):
        if wanted.fullmatch(place.path):
            found.append(place.path)
        if len(found) > MOST_NAMES:
            return "\n".join(found[:MOST_NAMES]) + f"\n[more than {MOST_NAMES}; narrow the pattern]"
    return "\n".join(found) or "No file matches."


# --- Grep ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Search:
    """One call of Grep. `wanted` must match in a line; `sieve` allows skipping complete blocks."""

    wanted: re2._Regexp
    sieve: re2._Regexp | None
    mode: str
    before: int
    after: int
    most: int
    hits: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "_Search":
        pattern = _text(given, "pattern").encode("utf-8", "replace")
        if given.get("multiline"):
            raise Wrong(
                "A pattern is matched against one line. Leave `multiline` out; -A shows the lines below."
            )
        options = _options(ignore_case=given.get("-i") is True)
        # With line anchors a block matches if one of its lines does; with \A and \z it would not.
        strict = b"\\A" in pattern or b"\\z" in pattern
        context = _count(given, "-C", 0, MOST_CONTEXT)
        mode = _text(given, "output_mode", "content")
        if mode not in ("content", "files_with_matches", "count"):
            raise Wrong("`output_mode` must be content, files_with_matches or count.")
        return cls(
            re2.compile(pattern, options),
            None if strict else re2.compile(b"(?m)" + pattern, options),
            mode,
            _count(given, "-B", context, MOST_CONTEXT),
            _count(given, "-A", context, MOST_CONTEXT),
            _count(given, "head_limit", DEFAULT_HITS, MOST_HITS) or DEFAULT_HITS,
        )

    def file(self, process: Process, place: MountedPath) -> None:
        count = 0
        for number, line, kind in self._shown(process, place):
            count += kind == ":"
            if self.mode == "content":
                self.hits.append(f"{place.path}{kind}{number}{kind}{self._around(line)}")
            if len(self.hits) >= self.most or self.mode == "files_with_matches":
                break
        if count and self.mode != "content":
            self.hits.append(place.path if self.mode == "files_with_matches" else f"{place.path}:{count}")

    def _shown(self, process: Process, place: MountedPath) -> Iterator[tuple[int, bytes, str]]:
        """Matching lines (":") and their context ("-"), each once, in order."""
        number, trailing = 0, 0
        leading: list[tuple[int, bytes]] = []
        for block in process.blocks(process.chunks(place.path)):
            if not trailing and not self.before and self._can_skip(block):
                number += block.count(b"\n")
                continue
            for line in block.removesuffix(b"\n").split(b"\n"):
                process.meter.tick()
                number += 1
                bare = line.rstrip(b"\r")
                if self.wanted.search(bare):
                    yield from ((at, text, "-") for at, text in leading)
                    yield number, bare, ":"
                    leading, trailing = [], self.after
                elif trailing:
                    yield number, bare, "-"
                    trailing -= 1
                elif self.before:
                    leading = [*leading, (number, bare)][-self.before :]

    def _can_skip(self, block: bytes) -> bool:
        # For us `$` matches before a CR; the sieve does not know that.
        return self.sieve is not None and b"\r" not in block and not self.sieve.search(block)

    def _around(self, line: bytes) -> str:
        if len(line) <= LINE_CHARS // 4:
            return line.decode("utf-8", "replace")
        found = self.wanted.search(line)
        at = found.start() if found else 0
        start, end = max(0, at - AROUND), at + 2 * AROUND
        shown = part(line, start, end).decode("utf-8", "replace")
        return ("…" if start else "") + shown + ("…" if end < len(line) else "")


def _grep(process: Process, given: Mapping[str, Any]) -> str:
    search = _Search.of(given)
    names = re2.compile(_glob_expression(_text(given, "glob", "**")), _options())
    for place in _files(process, process.tree.place(_text(given, "path", "/"), "/")):
        if names.fullmatch(place.path.rpartition("/")[2]) or names.fullmatch(place.path.lstrip("/")):
            with suppress(OSError, SafeFsError):  # removed, or no regular file: the others are still searched
                search.file(process, place)
        if len(search.hits) >= search.most:
            return (
                "\n".join(search.hits)
                + f"\n[stopped at {search.most} lines; narrow the pattern, or raise head_limit]"
            )
    return "\n".join(search.hits) or "No match."
