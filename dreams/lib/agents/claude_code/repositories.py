"""Which git repository a working directory belongs to, worktrees included. Pure: no Django, and no git binary."""

from __future__ import annotations

import os
import stat

from .listing import read_small

_MAX_DEPTH = 64
_GIT_FILE_BYTES = 4096


def repository_of(cwd: str) -> str | None:
    """The main folder of the repository that holds `cwd`; of a linked worktree, the repository's own.

    A submodule is a repository of its own. None where there is none or `cwd` does not exist.
    """
    try:
        here = os.path.realpath(cwd)
    except OSError:
        return None
    for _ in range(_MAX_DEPTH):
        found = _repository_at(here)
        if found is not None:
            return found
        parent = os.path.dirname(here)
        if parent == here:
            return None
        here = parent
    return None


def _repository_at(folder: str) -> str | None:
    dot_git = os.path.join(folder, ".git")
    try:
        mode = os.stat(dot_git, follow_symlinks=False).st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISDIR(mode):
        return folder
    if stat.S_ISREG(mode):
        return _main_folder(folder, dot_git) or folder
    return None


def _main_folder(folder: str, dot_git: str) -> str | None:
    """From a worktree's `.git` file to the repository's main folder; None where it is no linked worktree."""
    text = _first_line(dot_git)
    if not text.startswith("gitdir:"):
        return None
    git_dir = os.path.join(folder, text.removeprefix("gitdir:").strip())
    common = _first_line(os.path.join(git_dir, "commondir"))
    if not common:
        return None
    shared = os.path.realpath(os.path.join(git_dir, common))
    return os.path.dirname(shared) if os.path.basename(shared) == ".git" else shared


def _first_line(path: str) -> str:
    try:
        return os.fsdecode(read_small(path, _GIT_FILE_BYTES)).partition("\n")[0].strip()
    except (OSError, ValueError):
        return ""
