"""One turn asked for until it is whole: retries, the switch to the fallback model, options that a server refuses.

Only whole replies come out of here, so nothing that a broken one asked for is ever run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from dreams.engines.anthropic.budget import Budget
from dreams.engines.anthropic.recovery import RETRIED, CallFailed, Kind, Patience, Story, remedy
from dreams.engines.anthropic.stream import Json, Reply
from dreams.engines.tokens import Tokens
from dreams.engines.types import EngineError, Usage

LEAST_CAP = 1_024
SLEEP_SECONDS = 0.1
CACHE_SECONDS = 270.0  # a little less than the five minutes that an entry lives
CHARS_PER_TOKEN = 3.0  # on the safe side for English and code


class Caller(Protocol):
    def stream(self, request: Mapping[str, Any], watch: Callable[[], None]) -> Reply: ...


class TooLong(Exception):
    """The prompt does not fit: the caller makes it shorter, once."""

    def __init__(self, failed: CallFailed) -> None:
        super().__init__(failed.said)
        self.failed = failed


@dataclass(slots=True)
class Timing:
    """Milliseconds so far: with all retries and waits, and of the calls alone that brought an answer."""

    api_ms: int = 0
    api_ms_without_retries: int = 0


@dataclass(slots=True)
class Asker:
    """Asks for one turn after the other. `model` changes for good when it is overloaded three times in a row."""

    caller: Caller
    host: str
    model: str
    fallback: str
    options: Json
    patience: Patience
    budget: Budget
    watch: Callable[[], None]
    on_switch: Callable[[], None]
    # What the caller has learnt to leave out, for the dream's page.
    news: Callable[[], list[str]] = list
    # What a request that is given up had used until then.
    unfinished: Callable[[], Tokens] = Tokens
    chance: Callable[[], float] = random.random
    story: Story = field(default_factory=Story)
    spent: list[Usage] = field(default_factory=list)
    timing: Timing = field(default_factory=Timing)
    answered: bool = False
    limited_by_budget: bool = False
    _last: Tokens = field(default_factory=Tokens)
    _last_size: int = 0
    _answered_at: float = 0.0
    # Of the present turn:
    _failures: int = 0
    _overloads: int = 0
    _most: int = 0
    size: int = 0

    def ask(self, parts: Callable[[], Json], cap: int) -> Reply:
        """A whole reply to `parts()` (tools, system, messages; asked anew after a switch of the model).

        Raises TooLong, EngineError with the remedy, LimitReached, and whatever `watch` raises.
        """
        self.story = Story()
        self._failures = self._overloads = 0
        self._most = cap
        started = time.monotonic()
        try:
            while True:
                reply = self._try(parts())
                if reply is not None:
                    return reply
        finally:
            self.timing.api_ms += _ms_since(started)

    def _try(self, parts: Json) -> Reply | None:
        """One request; None when it is to be tried again."""
        self.size = _size(parts)
        most = self.budget.allow(self.model, self._expected(), self._most)
        self.limited_by_budget = most < self._most
        self.story.attempts += 1
        started = time.monotonic()
        try:
            reply = self.caller.stream(
                {"model": self.model, "max_tokens": most, **self.options, **parts}, self.watch
            )
        except CallFailed as failed:
            self._book(failed.tokens)
            self._recover(failed)
            return None
        except BaseException:
            # A cancel, a limit, Ctrl-C.
            self._book(self.unfinished())
            raise
        self.timing.api_ms_without_retries += _ms_since(started)
        self._book(reply.tokens)
        self.answered = True
        self.story.said += [f"left out {name}, which the server refuses" for name in self.news()]
        self._last, self._last_size, self._answered_at = reply.tokens, self.size, time.monotonic()
        return reply

    def _expected(self) -> Tokens:
        """The next prompt: what the last one had is read from the cache, the rest is new; all of it is new where
        the cache was not used, or has been idle for so long that it may be gone."""
        last, size = self._last, self._last_size
        cached = last.cache_read + last.cache_write_5m + last.cache_write_1h
        if not cached or time.monotonic() - self._answered_at > CACHE_SECONDS:
            return Tokens(cache_write_5m=max(last.prompt, self.estimate(self.size)))
        grown = max(0, self.size - size)
        return Tokens(cache_read=last.prompt, cache_write_5m=self.estimate(grown))

    def forget_prompt(self) -> None:
        """The next prompt has nothing to do with the last one."""
        self._last = Tokens()

    @staticmethod
    def estimate(chars: int) -> int:
        return int(chars / CHARS_PER_TOKEN)

    def _book(self, tokens: Tokens) -> None:
        if tokens.total:
            self.spent.append(self.budget.ledger.add(self.model, tokens))

    # --- After a failure ------------------------------------------------------------------------------------------

    def _recover(self, failed: CallFailed) -> None:
        if failed.kind == Kind.TOO_LONG:
            raise TooLong(failed)
        if self._loosened(failed):
            return
        retried = failed.kind in RETRIED or (failed.kind == Kind.UNREACHABLE and self.answered)
        if not retried:
            raise EngineError(remedy(failed, self.host, self.model, self.answered))
        self._failures += 1
        self._overloads = self._overloads + 1 if failed.kind == Kind.OVERLOADED else 0
        self.story.said.append(f"{failed.kind} ({failed.said})")
        if self._switched():
            return
        if self._failures >= self.patience.tries:
            raise EngineError(remedy(failed, self.host, self.model, self.answered))
        self._wait(self.patience.delay(self._failures, failed.retry_after, self.chance()))

    def _loosened(self, failed: CallFailed) -> bool:
        """Leave out an option, or ask for less output, where the server refuses what was asked. Bounded: each
        option goes once, and the output only shrinks."""
        if failed.kind == Kind.OPTION and self.options:
            self.story.said.append(f"left out {', '.join(self.options)} ({failed.said})")
            self.options = {}
            return True
        if failed.kind == Kind.OUTPUT_TOO_LONG and self._most > LEAST_CAP:
            self._most = max(LEAST_CAP, self._most // 2)
            self.story.said.append(f"asked for at most {self._most:,} tokens ({failed.said})")
            return True
        return False

    def _switched(self) -> bool:
        """Three overloads in a row: go on with the fallback model, from the last whole turn."""
        if self._overloads < self.patience.overloads_to_switch:
            return False
        if not self.fallback or self.fallback == self.model:
            return False
        self.story.said.append(f"switched from {self.model} to {self.fallback}")
        self.model = self.fallback
        self.forget_prompt()
        self._failures = self._overloads = 0
        self.on_switch()
        return True

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        self.story.waited_seconds += seconds
        while (left := until - time.monotonic()) > 0:
            self.watch()
            time.sleep(min(SLEEP_SECONDS, left))
        self.watch()


def _size(parts: Json) -> int:
    return len(repr(parts))


def _ms_since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)
