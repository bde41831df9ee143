"""Prompt-cache accounting by prefix, as the API documents it. PURE.

The prefix is tools, then system, then messages, block by block. A breakpoint (`cache_control` on a block) stores the
prefix up to it; a later request reads the longest stored prefix that ends at one of its breakpoints or at most 20
blocks before one. Prefixes below the least size are not stored. Entries live five minutes from their last use.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .messages import Counted

LOOK_BACK = 20
MINIMUM_TOKENS = 1024
LIFETIME = {"5m": 300.0, "1h": 3600.0}
MOST_BREAKPOINTS = 4


@dataclass(frozen=True, slots=True)
class Prefix:
    """The request up to and with one block."""

    key: str
    tokens: int
    breakpoint: str = ""  # its lifetime, or "" for none


def count_tokens(value: object) -> int:
    """About four bytes a token: not the model's own count, but the same for the same text."""
    return max(1, (len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) + 3) // 4)


def prefixes(body: Mapping[str, Any]) -> list[Prefix]:
    """Every prefix of a request, shortest first."""
    digest = hashlib.sha256(str(body.get("model", "")).encode())
    found: list[Prefix] = []
    total = 0
    for place, block in _blocks(body):
        bare = {key: value for key, value in block.items() if key != "cache_control"}
        digest.update(
            json.dumps([place, bare], ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
        )
        total += count_tokens(bare)
        control = block.get("cache_control")
        ttl = str(control.get("ttl", "5m")) if isinstance(control, Mapping) else ""
        found.append(Prefix(digest.copy().hexdigest(), total, ttl))
    return found


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield from (("tools", tool) for tool in body.get("tools") or ())
    yield from (("system", block) for block in as_blocks(body.get("system") or ()))
    for message in body.get("messages") or ():
        yield from ((str(message.get("role")), block) for block in as_blocks(message.get("content")))


def as_blocks(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []


class PromptCache:
    """What is stored, shared by all requests of a server."""

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, minimum_tokens: int = MINIMUM_TOKENS
    ) -> None:
        self._clock = clock
        self._minimum = minimum_tokens
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def count(self, body: Mapping[str, Any]) -> Counted:
        """The tokens of a request by kind; stores its breakpoints."""
        found = prefixes(body)
        total = found[-1].tokens if found else 0
        marked = [at for at, prefix in enumerate(found) if prefix.breakpoint]
        if not marked:
            return Counted(total)
        with self._lock:
            read = self._read(found, marked)
            written = self._store([found[at] for at in marked])
        return Counted(total - max(read, written), read, max(0, written - read))

    def _read(self, found: list[Prefix], marked: list[int]) -> int:
        now = self._clock()
        for at in reversed(marked):
            for prefix in reversed(found[max(0, at - LOOK_BACK) : at + 1]):
                if self._until.get(prefix.key, 0.0) > now:
                    self._until[prefix.key] = now + LIFETIME["5m"]
                    return prefix.tokens
        return 0

    def _store(self, marked: list[Prefix]) -> int:
        """The tokens up to the last breakpoint that is long enough to be stored."""
        written = 0
        for prefix in marked:
            if prefix.tokens >= self._minimum:
                self._until[prefix.key] = self._clock() + LIFETIME.get(prefix.breakpoint, LIFETIME["5m"])
                written = prefix.tokens
        return written
