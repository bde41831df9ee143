"""The instruction files (CLAUDE.md) that Claude Code loads in a working directory. Pure: no Django."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from ..base import InstructionFile, Skipped
from .listing import entries, open_folder

MANAGED = ("/etc/claude-code/CLAUDE.md", "/Library/Application Support/ClaudeCode/CLAUDE.md")
MAX_RULES = 500
_RULE_DEPTH = 5


def instruction_files(
    cwd: str, root: str, managed: tuple[str, ...] = MANAGED, *, top: str = "/"
) -> list[InstructionFile]:
    """Existing instruction files in loading order, later ones win; `@path` imports are not followed here.

    For each directory from `top` down to `cwd` its own files, then its local one.
    """
    found = [InstructionFile(path, "managed") for path in managed if _is_file(path)]
    found += [InstructionFile(path, "user") for path in [os.path.join(root, "CLAUDE.md")] if _is_file(path)]
    for folder in _down_to(os.path.normpath(cwd), top):
        found.extend(_of_folder(folder, root))
    return found


def _down_to(cwd: str, top: str) -> list[str]:
    folders = [cwd]
    while folders[-1] not in (top, os.path.dirname(folders[-1])):
        folders.append(os.path.dirname(folders[-1]))
    return folders[::-1]


def _of_folder(folder: str, root: str) -> Iterator[InstructionFile]:
    for name in ("CLAUDE.md", ".claude/CLAUDE.md"):
        path = os.path.join(folder, name)
        # In the home folder `.claude/CLAUDE.md` is the person's own, which came first already.
        if path != os.path.join(root, "CLAUDE.md") and _is_file(path):
            yield InstructionFile(path, "project")
    rules = sorted(_rules_below(os.path.join(folder, ".claude", "rules"), _RULE_DEPTH))
    yield from (InstructionFile(path, "rule") for path in rules[:MAX_RULES])
    local = os.path.join(folder, "CLAUDE.local.md")
    if _is_file(local):
        yield InstructionFile(local, "local")


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


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return False
