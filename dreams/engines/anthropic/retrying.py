"""Asks for one turn until it is complete: retries, the switch to the fallback model, options that a server refuses.

Only complete replies are returned, so no tool call of a broken one is ever run.
"""

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import mode
from typing import Any, Protocol

from dreams.engines.anthropic.budget import Budget
from dreams.engines.anthropic.keys import Why
from dreams.engines.anthropic.stream import Json, ModelReply
from dreams.engines.tokens import Tokens
from dreams.engines.types import EngineError, LimitReached, Usage
from dreams.lib import amounts, stopwatch
from dreams.lib.files.text import plural

# What a failed call means, and how long to wait before the next attempt.


class FailureKind(StrEnum):
    """Why a call failed; one kind for each way to handle it."""

    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate limited"
    SERVER = "server error"
    CONNECTION = "no connection"
    UNREACHABLE = "unreachable"
    BROKEN = "broken stream"
    BROKEN_CALL = "broken tool call"
    TOOLS = "no tool calls"
    TOO_LONG = "prompt too long"
    OUTPUT_TOO_LONG = "output limit too high"
    OPTION = "unknown option"
    KEY = "key refused"
    MONEY = "no credit"
    WRONG_PLACE = "not a Messages API"
    UNKNOWN_MODEL = "unknown model"
    REQUEST = "request refused"


RETRIED = frozenset(
    {
        FailureKind.OVERLOADED,
        FailureKind.RATE_LIMITED,
        FailureKind.SERVER,
        FailureKind.CONNECTION,
        FailureKind.BROKEN,
        FailureKind.BROKEN_CALL,
    }
)


class CallFailed(Exception):
    """A request without a complete answer. `tokens`: what the server counted before the failure; `why`: the
    cause if it was not reached; `is_told`: the server itself reported what is wrong."""

    def __init__(
        self,
        kind: FailureKind,
        said: str,
        *,
        retry_after: float | None = None,
        tokens: Tokens = Tokens(),  # noqa: B008 - frozen
        why: Why | None = None,
        is_told: bool = False,
    ) -> None:
        super().__init__(said)
        self.kind = kind
        self.why = why
        self.said = said or (why.said if why else "")
        self.retry_after = retry_after
        self.tokens = tokens
        self.is_told = is_told


@dataclass(frozen=True, slots=True)
class Patience:
    """Number of attempts and waiting times. Tests set short times."""

    tries: int = 10
    base_ms: float = 500.0
    longest_ms: float = 32_000.0
    jitter: float = 0.25
    longest_retry_after: float = 60.0
    overloads_to_switch: int = 3
    stall_seconds: float = 120.0
    connect_seconds: float = 10.0

    def rest(self, failures: int, retry_after: float | None) -> float:
        """The longest total wait in seconds that is left after so many failures in a row."""
        return sum(self.delay(n, retry_after, 1.0) for n in range(failures, self.tries))

    def delay(self, failures: int, retry_after: float | None, chance: float) -> float:
        """Seconds to wait after so many failures in a row; `chance` is in [0, 1)."""
        wait = min(self.base_ms * 2.0 ** (failures - 1), self.longest_ms) / 1000
        wait *= 1 + self.jitter * chance
        return max(wait, min(retry_after or 0.0, self.longest_retry_after))


_TOO_LONG = re.compile(
    r"prompt is too long|input is too long|too many (?:input )?tokens|exceed(?:s|ed)? (?:the )?(?:\w+ )*context"
    r"|maximum context length|context (?:length|size|window)|exceed_context_size",
    re.IGNORECASE,
)
_OUTPUT = re.compile(r"\bmax_(?:completion_)?tokens\b", re.IGNORECASE)
_OPTION = re.compile(r"\b(thinking|output_config|effort|cache_control)\b", re.IGNORECASE)
_MODEL = re.compile(
    r"(?:invalid|unknown|unrecognized|no such) model|\bmodel\b.{0,120}\b(?:not found|not exist|not loaded|not available)",
    re.IGNORECASE,
)
_MONEY = re.compile(r"credit balance|billing", re.IGNORECASE)
#: In the code of an error: a limit of the account, which comes as 429 and ends with the month.
SPENT = "spend_limit_reached"
# Servers that do not support tools report this in a 400, 500 or 501: retrying is useless.
_NO_TOOLS = re.compile(
    r"\b(?:tools?|function[ _]call\w*)\b.{0,80}\b(?:requires?|unsupported|not supported)\b"
    r"|\b(?:does|do)(?: not|n't) support\b.{0,60}\b(?:tools?|function)",
    re.IGNORECASE,
)
# An error event inside a stream has status 200; its type is the error.
_CODES = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "invalid_request_error": 400,
    "billing_error": 402,
    # llama.cpp's own names.
    "exceed_context_size_error": 400,
    "not_supported_error": 501,
    "unavailable_error": 503,
}
CALLS_TOOLS = (
    "A dream works through tools. Choose a model that can call them, and start the server with its option for that "
    "(llama.cpp: --jinja; vLLM: --enable-auto-tool-choice)."
)


def kind_of(status: int, error_type: str, message: str) -> FailureKind:
    """The kind of an error response. `status` 200 is an error event; one of unknown type is a server error."""
    code = _CODES.get(error_type, 500) if status < 400 else status
    if code == 529 or error_type == "overloaded_error":
        return FailureKind.OVERLOADED
    if code == 429:
        return FailureKind.MONEY if SPENT in error_type else FailureKind.RATE_LIMITED
    if (code in (400, 422) or code >= 500) and _NO_TOOLS.search(message):
        return FailureKind.TOOLS
    if (code >= 500 and code != 501) or code in (408, 409):
        return FailureKind.SERVER
    if code == 402 or _MONEY.search(message):
        return FailureKind.MONEY
    if code in (401, 403):
        return FailureKind.KEY
    if code in (404, 405):
        return FailureKind.UNKNOWN_MODEL if "model" in message.lower() else FailureKind.WRONG_PLACE
    return _kind_of_bad_request(code, message)


def _kind_of_bad_request(code: int, message: str) -> FailureKind:
    if _OUTPUT.search(message):
        return FailureKind.OUTPUT_TOO_LONG
    if code == 413 or _TOO_LONG.search(message):
        return FailureKind.TOO_LONG
    if _MODEL.search(message):
        return FailureKind.UNKNOWN_MODEL
    return FailureKind.OPTION if _OPTION.search(message) else FailureKind.REQUEST


@dataclass(slots=True)
class Story:
    """What happened during the attempts for one turn, as text for the dream's page."""

    attempts: int = 0
    said: list[str] = field(default_factory=list)


_CHOOSE = "Choose another model."
_REMEDIES: Mapping[FailureKind, str] = {
    FailureKind.KEY: "{host} does not take the key ({said}). Set a valid ANTHROPIC_API_KEY, or the key bound to this host in "
    "ANTHROPIC_API_KEY_FILE.",
    FailureKind.MONEY: "{host} will not go on for lack of credit ({said}). Top up the account, or raise its limit.",
    FailureKind.UNKNOWN_MODEL: "{host} does not know the model “{model}” ({said}). Choose another one in the settings.",
    FailureKind.WRONG_PLACE: "{host} does not speak the Messages API ({said}). Correct ANTHROPIC_BASE_URL: it is the part "
    "before /v1/messages, with the port of the model server. Test connection on the Engines page says more.",
    FailureKind.UNREACHABLE: "{host} cannot be reached ({said}). {why}",
    FailureKind.TOO_LONG: "The conversation does not fit the model’s context, not even shortened ({said}). Choose a model with "
    "a larger context, or give the server more.",
    FailureKind.REQUEST: f"{{host}} refuses the request: {{said}}. {_CHOOSE}",
    FailureKind.TOOLS: f"{{host}} refuses the request: {{said}}. {CALLS_TOOLS}",
    FailureKind.OPTION: f"{{host}} refuses an option: {{said}}. {_CHOOSE}",
    FailureKind.OUTPUT_TOO_LONG: f"{{host}} refuses every output limit: {{said}}. {_CHOOSE}",
}


def remedy(failed: CallFailed, host: str, model: str) -> str:
    """One line for a person about a failure that retries cannot fix."""
    if failed.kind in _REMEDIES:
        why = failed.why.remedy if failed.why else "Correct ANTHROPIC_BASE_URL, or check the network."
        return _REMEDIES[failed.kind].format(host=host, model=model, said=failed.said, why=why)
    advice = failed.why.remedy if failed.why else "Try again later."
    if failed.kind == FailureKind.BROKEN_CALL:
        advice = CALLS_TOOLS
    return f"{host} gave no whole answer in several tries ({failed.kind}: {failed.said}). {advice}"


def weightiest(failures: Sequence[CallFailed]) -> CallFailed:
    """The failure to show a person: the most frequent one that the server itself reported, else the most frequent.

    The last one is often only a symptom: a server that is out of memory finally closes the connection.
    """
    told = [failed for failed in failures if failed.is_told] or list(failures)
    usual = mode(failed.kind for failed in told)
    alike = [failed for failed in told if failed.kind == usual]
    said = mode(failed.said for failed in alike)
    return next(failed for failed in alike if failed.said == said)


LEAST_CAP = 1_024  # tokens: an answer cut shorter than this is useless
SLEEP_SECONDS = 0.1  # between two checks whether to stop, while waiting for a retry
TOLD_SECONDS = 2.0  # a wait that a watching person should know about; chosen
CACHE_SECONDS = 270.0  # a little less than the five minutes that an entry lasts
CHARS_PER_TOKEN = 3.0  # on the safe side for English and code


class Caller(Protocol):
    def stream(self, request: Mapping[str, Any], watch: Callable[[], None]) -> ModelReply: ...


class TooLong(Exception):
    """The prompt does not fit: the caller shortens it, once."""

    def __init__(self, failed: CallFailed) -> None:
        super().__init__(failed.said)
        self.failed = failed


@dataclass(slots=True)
class Timing:
    """Milliseconds so far: with all retries and waits, and of the successful calls alone."""

    api_ms: int = 0
    api_ms_without_retries: int = 0


@dataclass(slots=True)
class Asker:
    """Asks for one turn after another. `model` changes permanently when it is overloaded three times in a row."""

    caller: Caller
    host: str
    model: str
    fallback: str
    options: Json
    patience: Patience
    budget: Budget
    watch: Callable[[], None]
    on_switch: Callable[[], None]
    # Shows a watching person why it is waiting, once per turn.
    waits: Callable[[str], None] = field(default=lambda said: None)
    # What `caller` has learnt to leave out, for the dream's page.
    news: Callable[[], list[str]] = list
    # The tokens used so far by an abandoned request.
    unfinished: Callable[[], Tokens] = Tokens
    chance: Callable[[], float] = random.random
    story: Story = field(default_factory=Story)
    spent: list[Usage] = field(default_factory=list)
    timing: Timing = field(default_factory=Timing)
    answered: bool = False
    limited_by_budget: bool = False
    # Prompt and answer together did not fit the context, so that less output was asked for.
    limited_by_context: bool = False
    _last: Tokens = field(default_factory=Tokens)
    _last_size: int = 0
    _answered_at: float = 0.0
    # State of the current turn:
    _failures: int = 0
    _failed: list[CallFailed] = field(default_factory=list)
    _overloads: int = 0
    _told_wait: bool = False
    _most: int = 0
    size: int = 0

    def ask(self, parts: Callable[[], Json], cap: int) -> ModelReply:
        """A complete reply to `parts()` (tools, system, messages; called again for each attempt).

        Raises TooLong, EngineError with the remedy, LimitReached, and whatever `watch` raises.
        """
        self.story = Story()
        self._failures = self._overloads = 0
        self._failed = []
        self._told_wait = self.limited_by_context = False
        self._most = cap
        started = time.monotonic()
        try:
            while True:
                reply = self._try(parts())
                if reply is not None:
                    return reply
        except LimitReached as limit:
            raise self._with_cause(limit) from limit
        finally:
            self.timing.api_ms += stopwatch.ms_since(started)

    def _try(self, parts: Json) -> ModelReply | None:
        """One request; None when it should be retried."""
        self.size = len(repr(parts))
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
            # A cancel, a limit or Ctrl-C.
            self._book(self.unfinished())
            raise
        self.timing.api_ms_without_retries += stopwatch.ms_since(started)
        self._book(reply.tokens)
        self.answered = True
        self.story.said += [f"left out {name}, which the server refuses" for name in self.news()]
        self._last, self._last_size, self._answered_at = reply.tokens, self.size, time.monotonic()
        return reply

    def _expected(self) -> Tokens:
        """An estimate of the next prompt: the last one is read from the cache, the rest is new; all is new if the
        cache was not used, or idle for so long that the entry may have expired."""
        last, size = self._last, self._last_size
        cached = last.cache_read + last.cache_write_5m + last.cache_write_1h
        if not cached or time.monotonic() - self._answered_at > CACHE_SECONDS:
            return Tokens(cache_write_5m=max(last.prompt, self.estimate(self.size)))
        grown = max(0, self.size - size)
        return Tokens(cache_read=last.prompt, cache_write_5m=self.estimate(grown))

    def forget_prompt(self) -> None:
        """Call when the next prompt does not begin like the last one."""
        self._last = Tokens()

    @staticmethod
    def estimate(chars: int) -> int:
        return int(chars / CHARS_PER_TOKEN)

    def _book(self, tokens: Tokens) -> None:
        if tokens.total:
            self.spent.append(self.budget.ledger.add(self.model, tokens))

    # --- After a failure ------------------------------------------------------------------------------------------

    def _recover(self, failed: CallFailed) -> None:
        has_no_room = failed.kind == FailureKind.OUTPUT_TOO_LONG and bool(_TOO_LONG.search(failed.said))
        if has_no_room and self._most <= LEAST_CAP:
            failed.kind = FailureKind.TOO_LONG
        if failed.kind == FailureKind.TOO_LONG:
            raise TooLong(failed)
        self.limited_by_context |= has_no_room
        if self._loosened(failed):
            return
        retried = failed.kind in RETRIED or (failed.kind == FailureKind.UNREACHABLE and self.answered)
        if not retried:
            raise EngineError(remedy(failed, self.host, self.model))
        self._failures += 1
        self._failed.append(failed)
        self._overloads = self._overloads + 1 if failed.kind == FailureKind.OVERLOADED else 0
        self.story.said.append(f"{failed.kind} ({failed.said})")
        if self._switched():
            return
        if self._failures >= self.patience.tries:
            raise EngineError(remedy(weightiest(self._failed), self.host, self.model))
        delay = self.patience.delay(self._failures, failed.retry_after, self.chance())
        if delay >= TOLD_SECONDS and not self._told_wait:
            self._told_wait = True
            self.waits(self._waiting(failed))
        self._wait(delay)

    def _waiting(self, failed: CallFailed) -> str:
        times = f" {plural(self._failures, 'time')} in a row" if self._failures > 1 else ""
        left = plural(self.patience.tries - self._failures, "more time")
        rest = amounts.took(self.patience.rest(self._failures, failed.retry_after))
        return (
            f"{self.host} failed{times} ({failed.kind}: {failed.said}). It is asked up to "
            f"{left}, with pauses of up to {rest} in all; if none brings an answer, the dream ends as failed."
        )

    def _with_cause(self, limit: LimitReached) -> LimitReached:
        """The limit with the server's repeated failures as its cause, if there were any."""
        if not self._failed:
            return limit
        failed = weightiest(self._failed)
        times = plural(len(self._failed), "time")
        return type(limit)(f"{self.host} failed {times} in a row ({failed.kind}: {failed.said}). {limit}")

    def _loosened(self, failed: CallFailed) -> bool:
        """Whether the refused options were dropped, or the output limit lowered, for a retry. Bounded: options
        are dropped once, and the limit only shrinks."""
        if failed.kind == FailureKind.OPTION and self.options:
            self.story.said.append(f"left out {', '.join(self.options)} ({failed.said})")
            self.options = {}
            return True
        if failed.kind == FailureKind.OUTPUT_TOO_LONG and self._most > LEAST_CAP:
            self._most = max(LEAST_CAP, self._most // 2)
            self.story.said.append(f"asked for at most {self._most:,} tokens ({failed.said})")
            return True
        return False

    def _switched(self) -> bool:
        """Whether it switched to the fallback model after three overloads in a row, from the last complete turn."""
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
        while (left := until - time.monotonic()) > 0:
            self.watch()
            time.sleep(min(SLEEP_SECONDS, left))
        self.watch()
