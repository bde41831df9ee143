"""The list of agents whose config folders are read. Pure: no Django."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dreams.lib.agents.base import AgentSource
from dreams.lib.agents.claude_code import ClaudeCode


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
