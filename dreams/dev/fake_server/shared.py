"""What all connections of a server share. PURE: no Django."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from .cache import PromptCache
from .dialects import Dialect
from .protocol import Limits
from .script import Brain
from .seen import Seen


class Shared:
    """`seen` holds every request in order of arrival; `stopping` is set when all are to end. The rest as for `WireServer`."""

    def __init__(
        self,
        brain: Brain,
        keys: Iterable[str] | None,
        limits: Limits | None,
        cache: PromptCache | None,
        stall_seconds: float,
        dialect: Dialect | None,
        prefix: str,
    ) -> None:
        self.brain = brain
        self.dialect = dialect or Dialect()
        self.prefix = prefix
        self.keys = None if keys is None else frozenset(keys)
        self.limits = limits or Limits()
        self.cache = cache or PromptCache()
        self.stall_seconds = stall_seconds
        self.seen: list[Seen] = []
        self.stopping = threading.Event()
