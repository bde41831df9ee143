"""The list of agents whose config folders are read. Pure: no Django."""

import glob
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from dreams.lib.agents.base import AgentSource
from dreams.lib.agents.claude_code import ClaudeCode
from dreams.lib.files.text import is_folder


@dataclass(frozen=True, slots=True)
class Agent:
    """`owns` tells whether a config folder is this agent's; `open` reads it."""

    name: str
    owns: Callable[[Path], bool]
    open: Callable[..., AgentSource]


#: In the order in which they are asked. Claude Code is last: it also reads a folder no other agent owns.
AGENTS: list[Agent] = [
    Agent(ClaudeCode.name, lambda _root: True, ClaudeCode),
]


#: Folders in which nothing is read, by patterns of what is in them; `_OTHERS` only if nothing of `_OURS` is there (Codex has a
#: history.jsonl, too). With `_SURELY_OURS` it is Claude Code's, even beside a GEMINI.md that leads to CLAUDE.md.
_NEVER_OURS = {
    "Codex’s folder": ("sessions/*/*/*/rollout-*.jsonl",),
    "Cursor’s folder": ("projects/*/agent-transcripts",),
    "Gemini CLI’s folder": ("GEMINI.md", "google_accounts.json"),
}
_SURELY_OURS = ("projects/*/*.jsonl", "projects/*/memory")
#: By name, as these may have nothing but files that are named as ours.
_BY_NAME = {".codex": "Codex’s folder", ".cursor": "Cursor’s folder", ".gemini": "Gemini CLI’s folder"}
_OURS = (
    *("projects", "agent-memory", "settings.json", "history.jsonl", "CLAUDE.md", ".credentials.json"),
    *("plugins", "todos", "statsig", "shell-snapshots", "agents/*.md", "commands/*.md"),
)
_OTHERS = {
    "Codex’s folder": ("memories/MEMORY.md", "memories/memory_summary.md"),
    "OpenClaw’s folder": ("openclaw.json", "workspace/MEMORY.md", "SOUL.md"),
    "a folder of memories, not the config folder above it": ("MEMORY.md",),
    "a folder with nothing of Claude Code’s in it": ("*",),
}


def why_unread(root: str | os.PathLike[str]) -> str:
    """What a config folder is in which nothing is read, for “… is” or after a comma; "" where an agent's projects may be."""

    def has(names: Iterable[str]) -> bool:
        return any(any(glob.iglob(name, root_dir=root)) for name in names)

    if not is_folder(root):
        return "a folder that does not exist"
    if not os.access(root, os.R_OK | os.X_OK):
        return "a folder that you have no right to read"
    if has(_SURELY_OURS):
        return ""
    known = [*_NEVER_OURS.items(), *(() if has(_OURS) else _OTHERS.items())]
    of_name = _BY_NAME.get(os.path.basename(os.path.realpath(root)), "")
    found = of_name or next((what for what, names in known if has(names)), "")
    return f"{found}; memoryweb reads Claude Code’s, such as ~/.claude" if found else ""


def read(
    root: str | os.PathLike[str],
    *,
    trusted: Callable[[str], bool] | None = None,
    cwds: Callable[[str], str | None] | None = None,
) -> AgentSource:
    """The config folder `root`, read by its agent.

    `trusted` tells whether the person trusts a project folder's own settings; `cwds` maps transcript folders to the
    working directories the caller knows, so that they are not read again.
    """
    agent = next(agent for agent in AGENTS if agent.owns(Path(root)))
    given = {"trusted": trusted, "cwds": cwds}
    return agent.open(root, **{name: value for name, value in given.items() if value is not None})
