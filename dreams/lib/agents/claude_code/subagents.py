"""Which agent wrote a sub-agent's transcript. Pure: no Django.

Newer versions say it in a file beside the transcript; else the main transcript does, in the call that started the agent and
in the answer that names its transcript.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

from .listing import read_small

MOST_BYTES = 256 * 1024 * 1024  # read of one main transcript
LONGEST_LINE = 4 * 1024 * 1024
_META_BYTES = 1 << 16
_TELLS = re.compile(rb'"(?:subagent_type|agentId)"')


def agent_beside(path: str) -> str:
    """What `agent-<id>.meta.json` says; empty where it says nothing."""
    try:
        found = json.loads(read_small(path.removesuffix(".jsonl") + ".meta.json", _META_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    return memory_name(found.get("agentType")) if isinstance(found, dict) else ""


def memory_name(agent: object) -> str:
    """The folder of an agent's memory: `plugin:reviewer` keeps its own in `plugin-reviewer`."""
    return agent.strip().replace(":", "-")[:200] if isinstance(agent, str) else ""


def agents_in(main: str) -> dict[str, str]:
    """Id of each sub-agent that a main transcript tells of → the agent. Never raises: what cannot be read is left out."""
    kinds: dict[str, str] = {}
    calls: dict[str, str] = {}
    for line in _telling_lines(main):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and record.get("isSidechain") is not True:
            kinds.update(_started(record))
            calls.update(_answered(record))
    return {agent: kinds[call] for agent, call in calls.items() if kinds.get(call)}


def _telling_lines(main: str) -> Iterator[bytes]:
    try:
        with open(main, "rb", opener=_no_link) as file:
            left = MOST_BYTES
            while left > 0 and (line := file.readline(LONGEST_LINE)):
                left -= len(line)
                if _TELLS.search(line):
                    yield line
    except (OSError, ValueError):
        return


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _started(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(call, agent) of every call in a record that starts an agent."""
    for block in _blocks(record):
        given = block.get("input")
        if block.get("type") == "tool_use" and isinstance(given, dict) and isinstance(block.get("id"), str):
            agent = memory_name(given.get("subagent_type"))
            if agent:
                yield block["id"], agent


def _answered(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(sub-agent, call) where a record is an answer, or a line of progress, of one."""
    for told, call in (
        (record.get("toolUseResult"), next((b.get("tool_use_id") for b in _blocks(record)), None)),
        (record.get("data"), record.get("parentToolUseID")),
    ):
        if isinstance(told, dict) and isinstance(told.get("agentId"), str) and isinstance(call, str):
            yield told["agentId"], call


def _blocks(record: dict[str, Any]) -> list[dict[str, Any]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
