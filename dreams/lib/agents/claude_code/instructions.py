"""The instruction files (CLAUDE.md) that Claude Code loads in a working directory, with their includes. Pure: no Django.

Line numbers stay: frontmatter and HTML comments, which the agent does not see, become blank lines.
"""

import os
import re
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import re2

from dreams.lib import memdir
from dreams.lib.files import safefs
from dreams.lib.files.text import decode, encode, is_below, is_utf8
from dreams.lib.memdir.text import comment_spans, mask_code

from ..base import InstructionFile, InstructionScope, Skipped
from .listing import entries, open_folder

MANAGED = ("/etc/claude-code/CLAUDE.md", "/Library/Application Support/ClaudeCode/CLAUDE.md")
MAX_RULES = 500  # files of rules; chosen
MAX_FILES = 200  # that one project loads; chosen
MAX_BYTES = 200_000  # of one file
MAX_HOPS = 4  # the agent's own constant: depth of nested includes
MAX_NAMES = 10_000  # searched below a folder, for nested files and the paths of rules
_RULE_DEPTH = 5  # folders below `rules`; chosen
_INCLUDE = re.compile(r"(?<!\S)@((?:[^\s\\\0]|\\ )+)")
_BEGINS_A_PATH = re.compile(r"(?:~/|\.{0,2}/|[A-Za-z0-9._-])[^\0]*")
#: A missing file is reported if the name looks like a file's; "@someone" does not.
_NAMED_LIKE_A_FILE = re.compile(r"(?:~|\.{1,2})?/.+|.+\.(?:md|mdx|txt|rst|ya?ml|json|toml)", re.IGNORECASE)
_NOT_NEWLINE = re.compile(r"[^\r\n]")
_NOT_ENTERED = frozenset({"node_modules", "vendor", "venv", "dist", "build", "target", "__pycache__"})
_BRACES = re.compile(r"\{([^{}]*)\}")
_MOST_GLOBS = 64


@dataclass(slots=True)
class Folder:
    """Where files are searched: each folder from `top` down to `cwd`.

    `boundary` is the repository: its files may include others from outside only if it is `trusted`. `home` replaces `~`.
    """

    cwd: str
    root: str
    managed: tuple[str, ...] = MANAGED
    top: str = "/"
    boundary: str = ""
    home: str = ""
    trusted: bool = False


def instruction_files(folder: Folder, *, conditional: bool = True) -> list[InstructionFile]:
    """The files in loading order, later ones win; an including file is before its includes.

    `conditional` adds those that are loaded only while the agent works at certain files: rules with `paths` that match some
    file in the folder, and files of subfolders.
    """
    return _Reader(folder, conditional).read()


@dataclass(slots=True)
class _Reader:
    folder: Folder
    conditional: bool
    found: list[InstructionFile] = field(default_factory=list)
    loaded: set[str] = field(default_factory=set)

    def read(self) -> list[InstructionFile]:
        where = self.folder
        for path in where.managed:
            self._own(path, "managed")
        self._own(os.path.join(where.root, "CLAUDE.md"), "user")
        self._rules(os.path.join(where.root, "rules"), where.boundary or where.cwd)
        cwd = os.path.normpath(where.cwd)
        for folder in _down_to(cwd, where.top):
            self._of_folder(folder)
        if self.conditional:
            self._nested(cwd)
        return self.found

    def _of_folder(self, folder: str, when: str = "") -> None:
        for name in ("CLAUDE.md", ".claude/CLAUDE.md"):
            # In the home folder `.claude/CLAUDE.md` is the person's own, which was loaded first.
            if os.path.join(folder, name) != os.path.join(self.folder.root, "CLAUDE.md"):
                self._own(os.path.join(folder, name), "project", when)
        rules = os.path.join(folder, ".claude", "rules")
        if rules != os.path.join(self.folder.root, "rules"):
            self._rules(rules, folder)
        self._own(os.path.join(folder, "CLAUDE.local.md"), "local", when)

    def _rules(self, folder: str, base: str) -> None:
        for path in sorted(_rules_below(folder, _RULE_DEPTH))[:MAX_RULES]:
            self._own(path, "rule", base=base)

    def _nested(self, cwd: str) -> None:
        """Files in subfolders, nearest first: the agent reads them when it opens a file there."""
        wanted = ("CLAUDE.md", "CLAUDE.local.md")
        named = [os.path.split(name) for name in _names_below(cwd)]
        for folder in dict.fromkeys(folder for folder, name in named if folder and name in wanted):
            self._of_folder(os.path.join(cwd, folder), when=f"{folder}/")

    # --- One file -------------------------------------------------------------------------------------------------

    def _own(self, path: str, scope: InstructionScope, when: str = "", base: str = "") -> None:
        """Loads a file from a fixed place, if it exists."""
        if len(self.found) < MAX_FILES and os.path.lexists(path):
            made = InstructionFile(path, scope, when=when)
            self._load(made, self._limit(path, scope), (), base)

    def _limit(self, path: str, scope: InstructionScope) -> str:
        """The folder that must contain the file's includes; "" if they may be anywhere."""
        if scope in ("managed", "user") or self.folder.trusted or is_below(path, self.folder.root):
            return ""
        boundary = self.folder.boundary
        return boundary if boundary and is_below(path, boundary) else os.path.dirname(path)

    def _load(self, made: InstructionFile, limit: str, chain: tuple[str, ...], base: str = "") -> None:
        real = os.path.realpath(made.path)
        problem = self._problem(made, real, limit, chain)
        data = b"" if problem else _read(real)
        if isinstance(data, str) or problem:
            self.found.append(replace(made, problem=problem or str(data)))
            return
        text = decode(data)
        globs = _globs(text) if made.scope == "rule" and not chain else ()
        if globs:
            if not self.conditional or not self._matches(globs, base):
                return
            made = replace(made, when=", ".join(globs))
        if b"\0" in data or not is_utf8(data):
            self.found.append(replace(made, problem="binary", size=len(data)))
            return
        self.loaded.add(real)
        seen = _as_seen(text)
        self.found.append(replace(made, text=seen, size=len(data)))
        for target, line in _includes(seen):
            if len(self.found) >= MAX_FILES:
                return
            self._include(made, target, line, limit, (*chain, real))

    def _problem(self, made: InstructionFile, real: str, limit: str, chain: tuple[str, ...]) -> str:
        if real in chain:
            return "circle"
        if made.depth > MAX_HOPS:
            return "too deep"
        if limit and not is_below(real, os.path.realpath(limit)):
            return "outside"
        return "doubled" if real in self.loaded else ""

    def _include(
        self, by: InstructionFile, target: str, line: int, limit: str, chain: tuple[str, ...]
    ) -> None:
        path = self._path_of(target, os.path.dirname(by.path))
        if path is None:
            return
        made = InstructionFile(path, by.scope, by.depth + 1, by.path, line, when=by.when)
        self._load(made, limit, chain)

    def _path_of(self, target: str, folder: str) -> str | None:
        """The included file; None if the target names no file. Punctuation at the end is not part of a name."""
        for said in dict.fromkeys((target, target.rstrip(".,;:!?)]}'\""))):
            path = self.folder.home + said[1:] if said.startswith("~/") else os.path.join(folder, said)
            path = os.path.normpath(path)
            if os.path.isfile(path):
                return path
            if os.path.isdir(path):
                return None
        named = target.rstrip(".,;:!?)]}'\"")
        wanted = self.folder.home + named[1:] if named.startswith("~/") else os.path.join(folder, named)
        return os.path.normpath(wanted) if _NAMED_LIKE_A_FILE.fullmatch(named) else None

    def _matches(self, globs: Sequence[str], base: str) -> bool:
        """Whether the rule applies to some file of the working folder."""
        below = os.path.relpath(self.folder.cwd, base) if is_below(self.folder.cwd, base) else "."
        prefix = "" if below == "." else f"{below}/"
        patterns = [pattern for each in globs for pattern in _patterns(each)]
        return any(
            pattern.fullmatch(prefix + name) for name in _names_below(self.folder.cwd) for pattern in patterns
        )


def _down_to(cwd: str, top: str) -> list[str]:
    folders = [cwd]
    while folders[-1] not in (top, os.path.dirname(folders[-1])):
        folders.append(os.path.dirname(folders[-1]))
    return folders[::-1]


def _rules_below(folder: str, depth: int) -> Iterator[str]:
    try:
        with open_folder(folder) as fd:
            found = [entry for entry in entries(fd, folder) if not isinstance(entry, Skipped)]
    except OSError:
        return
    for name, st in found:
        path = os.path.join(folder, name)
        if stat.S_ISDIR(st.st_mode) and depth > 0:
            yield from _rules_below(path, depth - 1)
        elif stat.S_ISREG(st.st_mode) and name.endswith(".md") and name.isprintable():
            yield path


def _read(real: str) -> bytes | str:
    """The bytes of a file whose links are resolved, or why it cannot be read."""
    folder, name = os.path.split(real)
    try:
        with safefs.Root.open(folder) as root:
            return root.read_bytes(name, limit=MAX_BYTES)
    except FileNotFoundError:
        return "missing"
    except safefs.TooLarge:
        return "too large"
    except (OSError, ValueError, safefs.SafeFsError):
        return "unreadable"


# --- What a file says ---------------------------------------------------------------------------------------------


def _as_seen(text: str) -> str:
    """The text with frontmatter and comments blanked out; line numbers stay."""
    front = _frontmatter(text)
    pieces, done = [_NOT_NEWLINE.sub("", front)], len(front)
    for start, end in comment_spans(text):
        if start >= done:
            pieces += [text[done:start], _NOT_NEWLINE.sub("", text[start:end])]
            done = end
    return "".join([*pieces, text[done:]])


def _includes(seen: str) -> Iterator[tuple[str, int]]:
    """Each `@path` outside code with its line."""
    masked = mask_code(seen)
    for match in _INCLUDE.finditer(masked):
        target = match[1].replace("\\ ", " ").partition("#")[0]
        if _BEGINS_A_PATH.fullmatch(target) and target != "/":
            yield target, masked.count("\n", 0, match.start()) + 1


def _globs(text: str) -> tuple[str, ...]:
    """The `paths` of a rule: a list, or names separated by commas. Parsed by line: the usual `- **/*.ts` is not valid YAML."""
    lines = iter(_frontmatter(text).splitlines())
    told = next((line.partition(":")[2].strip() for line in lines if line.startswith("paths:")), None)
    if told is None:
        return ()
    outside_braces = r",(?![^{]*\})"
    named = re.split(outside_braces, told.strip("[]")) if told else list(_listed(lines))
    globs = (one.strip().strip("'\"") for one in named)
    return tuple(one for one in globs if one)[:_MOST_GLOBS]


def _listed(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not line.lstrip().startswith("- "):
            return
        yield line.lstrip()[1:]


def _frontmatter(text: str) -> str:
    return text[: len(text) - len(memdir.parse(encode(text)).body)]


def _patterns(glob: str) -> list[Any]:
    """`**` is any number of folders, `*` and `?` stay within one; `{a,b}` is either. Linear time: files may contain any glob."""
    if glob.endswith("/"):
        glob += "**"
    return [re2.compile(_as_regex(one.removeprefix("./").lstrip("/"))) for one in _alternatives(glob)]


def _alternatives(glob: str) -> list[str]:
    todo, done = deque([glob]), list[str]()
    while todo and len(todo) + len(done) < _MOST_GLOBS:
        one = todo.popleft()
        braces = _BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            todo.extend(one[: braces.start()] + each + one[braces.end() :] for each in braces[1].split(","))
    return [*done, *todo]


def _as_regex(glob: str) -> str:
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", re.sub(r"(?:\*\*/)+", "**/", glob))
    meaning = {"**/": r"(?:[^/]+/)*", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    return "".join(meaning.get(part, re.escape(part)) for part in parts)


def _names_below(folder: str) -> Iterator[str]:
    """Files below `folder`, nearest first, without hidden folders and those of tools; bounded."""
    left, todo = MAX_NAMES, deque([""])
    while todo and left > 0:
        inside = todo.popleft()
        try:
            with open_folder(os.path.join(folder, inside)) as fd:
                names = sorted(entry for entry in entries(fd, folder) if not isinstance(entry, Skipped))
        except OSError:
            continue
        left -= len(names)
        for name, st in names:
            path = f"{inside}/{name}" if inside else name
            if stat.S_ISREG(st.st_mode):
                yield path
            elif stat.S_ISDIR(st.st_mode) and not name.startswith(".") and name not in _NOT_ENTERED:
                todo.append(path)
