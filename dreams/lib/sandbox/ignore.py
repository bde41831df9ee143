"""Which files of a repository git ignores: `.gitignore` files and `.git/info/exclude`, by gitignore(5).

Patterns become re2 expressions, so that a hostile repository cannot make matching slow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import re2

from dreams.lib.files.safefs import Root, SafeFsError

LONGEST_FILE = 256 * 1024
MOST_RULES = 2_000


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file, matched against a path relative to that file's folder."""

    text: str
    negated: bool
    folders_only: bool
    anchored: bool

    def matches(self, rel: str, is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        subject = rel if self.anchored else rel.rsplit("/", 1)[-1]
        compiled = _compiled(self.text)
        return compiled is not None and compiled.fullmatch(subject) is not None


@cache
def _compiled(text: str) -> re2._Regexp | None:
    try:
        return re2.compile(_expression(text).encode(), _options())
    except re2.error:
        return None


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options


def _expression(text: str) -> str:
    """A gitignore pattern as a regular expression over a whole relative path."""
    out: list[str] = []
    at = 0
    while at < len(text):
        piece, at = _piece(text, at)
        out.append(piece)
    return "".join(out)


def _piece(text: str, at: int) -> tuple[str, int]:
    char = text[at]
    if text.startswith("**/", at) and (at == 0 or text[at - 1] == "/"):
        return "(?:.*/)?", at + 3
    if text.startswith("**", at):
        return ".*", at + 2
    if char == "*":
        return "[^/]*", at + 1
    if char == "?":
        return "[^/]", at + 1
    if char == "[":
        end = text.find("]", at + 2)
        if end > 0:
            inside = text[at + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            return f"[{'^' + inside[1:] if inside[0] in '!^' else inside}]", end + 1
    if char == "\\" and at + 1 < len(text):
        return str(re2.escape(text[at + 1])), at + 2
    return str(re2.escape(char)), at + 1


def parse(data: bytes) -> list[Rule]:
    """The rules of one ignore file, in order; a later match wins."""
    lines = data.decode("utf-8", "surrogateescape").splitlines()
    rules = (_rule(line) for line in lines[:MOST_RULES])
    return [rule for rule in rules if rule is not None]


def _rule(line: str) -> Rule | None:
    text = line.rstrip("\r\n")
    if not text.endswith("\\ "):
        text = text.rstrip(" ")
    if not text or text.startswith("#"):
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!")
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    anchored = "/" in text
    text = text.removeprefix("/")
    return Rule(text, negated, folders_only, anchored) if text and _encodable(text) else None


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


class Ignored:
    """What is hidden below a repository's root: `.git` itself and whatever git ignores."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._rules: dict[str, list[Rule]] = {}
        self._verdicts: dict[tuple[str, bool], bool] = {}
        self._exclude = self._read(".git/info/exclude")

    def __call__(self, rel: str, is_folder: bool) -> bool:
        """Whether `rel`, or a folder above it, is hidden."""
        key = (rel, is_folder)
        if key not in self._verdicts:
            if len(self._verdicts) > 100_000:
                self._verdicts.clear()
            self._verdicts[key] = self._judge(rel, is_folder)
        return self._verdicts[key]

    def _judge(self, rel: str, is_folder: bool) -> bool:
        folder, _, name = rel.rpartition("/")
        if name.lower() == ".git":
            return True
        if folder and self(folder, True):
            return True
        return self._by_rules(rel, is_folder)

    def _by_rules(self, rel: str, is_folder: bool) -> bool:
        parts = rel.split("/")
        # The nearest folder's file has the last word, as in git.
        for depth in range(len(parts) - 1, -1, -1):
            base = "/".join(parts[:depth])
            below = "/".join(parts[depth:])
            for rule in reversed(self._of(base)):
                if rule.matches(below, is_folder):
                    return not rule.negated
        hit = next((rule for rule in reversed(self._exclude) if rule.matches(rel, is_folder)), None)
        return hit is not None and not hit.negated

    def _of(self, folder: str) -> list[Rule]:
        if folder not in self._rules:
            self._rules[folder] = self._read(f"{folder}/.gitignore" if folder else ".gitignore")
        return self._rules[folder]

    def _read(self, rel: str) -> list[Rule]:
        try:
            return parse(self._root.read_bytes(rel, LONGEST_FILE))
        except (OSError, SafeFsError):
            return []
