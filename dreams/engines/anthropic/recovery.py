"""What a failed call means, and how long to wait before the next try. PURE: no Django, no network.

The numbers are those of the reference behaviour: min(500 · 2^(n−1), 32,000) ms plus up to a quarter at random, ten
tries, three overloads in a row switch the model. A server's `retry-after` is honoured up to a minute: an hour would
outlive the dream.
"""

from __future__ import annotations

import datetime as dt
import email.utils
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from dreams.engines.anthropic.network import Why
from dreams.engines.tokens import Tokens


class Kind(StrEnum):
    """Why a call failed, by what is to be done about it."""

    OVERLOADED = "overloaded"
    RATE_LIMITED = "rate limited"
    SERVER = "server error"
    CONNECTION = "no connection"
    UNREACHABLE = "unreachable"
    BROKEN = "broken stream"
    TOO_LONG = "prompt too long"
    OUTPUT_TOO_LONG = "output limit too high"
    OPTION = "unknown option"
    KEY = "key refused"
    MONEY = "no credit"
    WRONG_PLACE = "not a Messages API"
    UNKNOWN_MODEL = "unknown model"
    REQUEST = "request refused"


RETRIED = frozenset({Kind.OVERLOADED, Kind.RATE_LIMITED, Kind.SERVER, Kind.CONNECTION, Kind.BROKEN})


class CallFailed(Exception):
    """One request that brought no whole answer. `tokens`: what the server had counted before it broke off; `why`:
    what stands between, where it was not reached."""

    def __init__(
        self,
        kind: Kind,
        said: str,
        *,
        retry_after: float | None = None,
        tokens: Tokens = Tokens(),  # noqa: B008 - frozen
        why: Why | None = None,
    ) -> None:
        super().__init__(said)
        self.kind = kind
        self.why = why
        self.said = said or (why.said if why else "")
        self.retry_after = retry_after
        self.tokens = tokens


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long. Tests make the times small; the shape stays."""

    tries: int = 10
    base_ms: float = 500.0
    longest_ms: float = 32_000.0
    jitter: float = 0.25
    longest_retry_after: float = 60.0
    overloads_to_switch: int = 3
    stall_seconds: float = 120.0
    connect_seconds: float = 10.0

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
# An error event inside a stream has status 200; its type says what it is.
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
}


def kind_of(status: int, error_type: str, message: str) -> Kind:
    """What an error answer means. `status` 200 is an error event; an unknown type of one is a server error."""
    code = _CODES.get(error_type, 500) if status < 400 else status
    if code == 529 or error_type == "overloaded_error":
        return Kind.OVERLOADED
    if code == 429:
        return Kind.RATE_LIMITED
    if code >= 500 or code in (408, 409):
        return Kind.SERVER
    if code == 402 or _MONEY.search(message):
        return Kind.MONEY
    if code in (401, 403):
        return Kind.KEY
    if code in (404, 405):
        return Kind.UNKNOWN_MODEL if "model" in message.lower() else Kind.WRONG_PLACE
    return _kind_of_bad_request(code, message)


def _kind_of_bad_request(code: int, message: str) -> Kind:
    if _OUTPUT.search(message):
        return Kind.OUTPUT_TOO_LONG
    if code == 413 or _TOO_LONG.search(message):
        return Kind.TOO_LONG
    if _MODEL.search(message):
        return Kind.UNKNOWN_MODEL
    return Kind.OPTION if _OPTION.search(message) else Kind.REQUEST


def retry_after(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Seconds from `retry-after-ms` or `retry-after` (seconds or an HTTP date); None when there is none."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    given = headers.get("retry-after", "")
    seconds = _number(given)
    if seconds is not None:
        return max(0.0, seconds)
    try:
        moment = email.utils.parsedate_to_datetime(given)
    except (TypeError, ValueError):
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or dt.UTC) - now).total_seconds())


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\s*\d{1,9}(?:\.\d{1,6})?\s*", text) else None


@dataclass(slots=True)
class Story:
    """What happened while one turn was asked for, in words for the dream's page."""

    attempts: int = 0
    waited_seconds: float = 0.0
    said: list[str] = field(default_factory=list)


def remedy(failed: CallFailed, host: str, model: str, had_answer: bool) -> str:
    """One line for a person about a failure that no retry mends."""
    lines: dict[Kind, Callable[[], str]] = {
        Kind.KEY: lambda: (
            f"{host} does not take the key ({failed.said}). Set a valid ANTHROPIC_API_KEY, or the key bound to this "
            "host in ANTHROPIC_API_KEY_FILE."
        ),
        Kind.MONEY: lambda: f"{host} will not go on for lack of credit ({failed.said}). Top up the account.",
        Kind.UNKNOWN_MODEL: lambda: (
            f"{host} does not know the model “{model}” ({failed.said}). Choose another one in the settings."
        ),
        Kind.WRONG_PLACE: lambda: (
            f"{host} does not speak the Messages API ({failed.said}). Correct ANTHROPIC_BASE_URL: it must not end in "
            "/v1 or /messages."
        ),
        Kind.UNREACHABLE: lambda: (
            f"{host} cannot be reached ({failed.said}). "
            + (failed.why.remedy if failed.why else "Correct ANTHROPIC_BASE_URL, or check the network.")
        ),
        Kind.TOO_LONG: lambda: (
            f"The conversation does not fit the model's context, not even shortened ({failed.said}). Choose a model "
            "with a larger context, or give the server more."
        ),
        Kind.REQUEST: lambda: f"{host} refuses the request: {failed.said}. The model may not support tools.",
        Kind.OPTION: lambda: f"{host} refuses an option: {failed.said}. Choose another model.",
        Kind.OUTPUT_TOO_LONG: lambda: (
            f"{host} refuses every output limit: {failed.said}. Choose another model."
        ),
    }
    made = lines.get(failed.kind)
    if made is not None:
        return made()
    state = "broke off" if had_answer else "did not answer"
    return f"{host} {state} too often in a row ({failed.kind}: {failed.said}). Try again later."
