"""The agents whose config folders are read: the one list of them. Pure: no Django."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dreams.lib.agents.base import AgentSource
from dreams.lib.agents.claude_code import ClaudeCode


@dataclass(frozen=True, slots=True)
class Agent:
    """`owns` says whether a config folder is this agent's; `open` reads it."""

    name: str
    owns: Callable[[Path], bool]
    open: Callable[..., AgentSource]


#: In the order in which they are asked. Claude Code is last: it also reads a folder that nobody claims.
AGENTS: list[Agent] = [
    Agent(ClaudeCode.name, lambda _root: True, ClaudeCode),
]


def read(
    root: str | os.PathLike[str],
    *,
    trusted: Callable[[str], bool] | None = None,
    cwds: Callable[[str], str | None] | None = None,
) -> AgentSource:
    """The config folder `root`, read by the agent that it belongs to.

    `trusted` says whether the person trusts a project folder's own settings; `cwds` gives the working directory of a
    transcript folder that the caller remembers, so that it is not read again.
    """
    agent = next(agent for agent in AGENTS if agent.owns(Path(root)))
    given = {"trusted": trusted, "cwds": cwds}
    return agent.open(root, **{name: value for name, value in given.items() if value is not None})
