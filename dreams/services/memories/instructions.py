"""The project's instruction files (CLAUDE.md and its kin): what an agent is told anyway. Read-only, and bounded."""

from __future__ import annotations

from dreams.lib.agents.claude_code import ClaudeCode
from dreams.lib.files import safefs, text
from dreams.models import Project

MAX_FILES = 40
MAX_BYTES = 200_000


def text_for(project: Project) -> str:
    """Their texts in loading order. What cannot be read is left out: it is advice, and must stop nothing."""
    if not project.repo_dir or not project.root:
        return ""
    try:
        found = ClaudeCode(project.root).instruction_files(project.repo_dir)[:MAX_FILES]
    except OSError:
        return ""
    return "\n".join(_read(file.path) for file in found)


def _read(path: str) -> str:
    folder, _, name = path.rpartition("/")
    try:
        with safefs.Root.open(folder or "/") as root:
            return text.decode(root.read_bytes(name, limit=MAX_BYTES))
    except (OSError, safefs.SafeFsError):
        return ""
