"""Which files of a repository git ignores: `.gitignore` files and `.git/info/exclude`, by gitignore(5), except the files in
its index, which git never ignores.

pathspec reads the patterns and re2 matches them, so that a hostile repository cannot make matching slow.
"""

import io
import re
import warnings
from functools import cached_property

import re2
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore import GitIgnorePatternError

from dreams.lib.files.safefs import Root, SafeFsError

LONGEST_FILE = 64 * 1024  # of a .gitignore; chosen
LONGEST_RULE = 1_000  # characters; chosen
MOST_RULES = 2_000  # of one file; chosen
MOST_TRACKED = 64 * 1024 * 1024  # characters of all paths and folders; chosen
LARGEST_INDEX = 16 * 1024 * 1024  # of git, about 150,000 files; chosen


class Rules:
    """The rules of one ignore file. Invalid lines are skipped, as in git."""

    def __init__(self, data: bytes = b"") -> None:
        lines = data.decode("utf-8", "replace").splitlines()[:MOST_RULES]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's view of a pattern that re2 will match
            self._specs = _specs([line for line in lines if len(line) <= LONGEST_RULE])

    def verdict(self, rel: str) -> bool | None:
        """Whether the last matching rule ignores it; None if no rule matches. A folder ends with a slash."""
        found = (spec.check_file(rel).include for spec in reversed(self._specs))
        return next((include for include in found if include is not None), None)


def _specs(lines: list[str]) -> list[GitIgnoreSpec]:
    """All lines as one matcher; as several if a line is invalid or one matcher would be too large."""
    try:
        return [GitIgnoreSpec.from_lines(lines, backend="re2")]
    except (GitIgnorePatternError, re.error, re2.error):
        half = len(lines) // 2
        return [*_specs(lines[:half]), *_specs(lines[half:])] if half else []


class Ignored:
    """Tells what is hidden below a repository's root: `.git` and the files git ignores."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._rules: dict[str, Rules] = {}
        self._verdicts: dict[tuple[str, bool], bool] = {}
        self._exclude = self._read(".git/info/exclude")

    def __call__(self, rel: str, is_folder: bool) -> bool:
        """Whether `rel`, or a folder above it, is hidden."""
        if ".git" in rel.lower().split("/"):
            return True
        return self._is_ignored(rel, is_folder) and rel not in self.tracked

    @cached_property
    def tracked(self) -> frozenset[str]:
        """The files in git's index, and the folders above them; none if the index cannot be read."""
        from dulwich.index import read_index  # noqa: PLC0415 - only where something is ignored

        found, size = set[str](), 0
        try:
            for entry in read_index(io.BytesIO(self._root.read_bytes(".git/index", LARGEST_INDEX))):
                rel = entry.name.decode("utf-8", "surrogateescape")
                while rel and rel not in found:
                    found.add(rel)
                    size += len(rel)
                    if size > MOST_TRACKED:
                        return frozenset()
                    rel = rel.rpartition("/")[0]
        except Exception:  # a damaged index fails in any way; then only the rules count
            return frozenset()
        return frozenset(found)

    def _is_ignored(self, rel: str, is_folder: bool) -> bool:
        """Whether the rules ignore it, or a folder above it."""
        key = (rel, is_folder)
        if key not in self._verdicts:
            if len(self._verdicts) > 100_000:
                self._verdicts.clear()
            folder = rel.rpartition("/")[0]
            # A name that is not UTF-8 is matched with its invalid bytes replaced: no rule can contain them.
            readable = rel.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            self._verdicts[key] = bool(folder and self._is_ignored(folder, True)) or self._by_rules(
                readable + "/" * is_folder
            )
        return self._verdicts[key]

    def _by_rules(self, rel: str) -> bool:
        """The nearest folder's file decides, then those above it, then the one for the repository."""
        parts = rel.split("/")
        depth_of_name = len(parts) - 2 if rel.endswith("/") else len(parts) - 1
        for depth in range(depth_of_name, -1, -1):
            verdict = self._of("/".join(parts[:depth])).verdict("/".join(parts[depth:]))
            if verdict is not None:
                return verdict
        return bool(self._exclude.verdict(rel))

    def _of(self, folder: str) -> Rules:
        if folder not in self._rules:
            self._rules[folder] = self._read(f"{folder}/.gitignore" if folder else ".gitignore")
        return self._rules[folder]

    def _read(self, rel: str) -> Rules:
        try:
            return Rules(self._root.read_bytes(rel, LONGEST_FILE))
        except (OSError, SafeFsError):
            return Rules()
