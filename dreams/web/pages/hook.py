"""The hook's page: the lines for the agent's settings, and the diff of each config folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from dreams.services import agent_settings, discovery
from dreams.services.agent_settings import Change, SettingsRefused


@dataclass(frozen=True, slots=True)
class Folder:
    """One config folder. `refused` is why its settings cannot be written; then there is no change."""

    root: str
    has_hook: bool
    change: Change | None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Hook:
    """`lines` are for whoever adds them by hand."""

    lines: str
    folders: list[Folder]


def hook() -> Hook:
    entry = {"type": "command", "command": agent_settings.command(), "timeout": agent_settings.TIMEOUT}
    lines = json.dumps({"hooks": {agent_settings.EVENT: [{"hooks": [entry]}]}}, indent=2, ensure_ascii=False)
    return Hook(lines, [_folder(root) for root in roots()])


def roots() -> list[Path]:
    """The config folders that are there."""
    return [root for root in map(Path, discovery.configured_roots()) if root.is_dir()]


def _folder(root: Path) -> Folder:
    there = agent_settings.has_hook(root)
    try:
        change = agent_settings.without_hook(root) if there else agent_settings.with_hook(root)
    except SettingsRefused as refused:
        return Folder(str(root), there, None, str(refused))
    return Folder(str(root), there, change)
