"""Tests whether a model answers: what a person wants to know before the first dream.

Makes two requests the way a dream does: the list of models, and a question that asks for a tool call. They
have fixed texts, nothing of a memory. Bounded in time and size; no result contains the key.
"""

import dataclasses
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dreams.engines.anthropic import keys
from dreams.engines.anthropic.keys import What
from dreams.engines.anthropic.retrying import CALLS_TOOLS, CallFailed, FailureKind, Patience, remedy
from dreams.engines.types import EngineError

if TYPE_CHECKING:
    from dreams.engines.anthropic.client import Client, HttpAnswer
    from dreams.engines.anthropic.stream import ModelReply

SECONDS = 20.0  # that a person will wait for a test; chosen
SHOWN_MODELS = 12  # by name; chosen
NAME_CHARS = 80  # of a name from a server; chosen
PATIENCE = Patience(stall_seconds=SECONDS, connect_seconds=5.0)
TOOL = "ready"
QUESTION: Mapping[str, Any] = {
    # Enough for a model that thinks first.
    "max_tokens": 1024,
    "system": [
        {
            "type": "text",
            "text": "This is a test of a connection. Do what you are asked, and nothing else.",
            "cache_control": {"type": "ephemeral"},
        }
    ],
    "tools": [
        {
            "name": TOOL,
            "description": "Says that you are ready.",
            "input_schema": {
                "type": "object",
                "properties": {"word": {"type": "string"}},
                "required": ["word"],
            },
        }
    ],
    "messages": [
        {
            "role": "user",
            "content": [{"type": "text", "text": f"Call the tool “{TOOL}” with the word “yes”."}],
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Probed:
    """`said` is the result, `remedy` what to do, both as text; `facts` are (name, value) from a server that
    answered; `models` are those it lists."""

    what: What
    said: str
    remedy: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    models: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.what is What.OK


class _TooSlow(Exception):
    """The test ran out of time."""


def probe(model: str, environ: Mapping[str, str] | None = None, *, seconds: float = SECONDS) -> Probed:
    """Tests the endpoint from the environment for at most `seconds`. Never raises because of what the server does."""
    from dreams.engines.anthropic.client import Client  # noqa: PLC0415 - its library takes a second to import

    try:
        endpoint = keys.endpoint(environ)
    except EngineError as error:
        return Probed(What.NO_KEY, "No usable key for this address.", str(error))
    with Client(endpoint, PATIENCE) as client:
        client.open(lambda: None)
        return _Test(endpoint, client, model, time.monotonic() + seconds, seconds).run()


@dataclass(slots=True)
class _Test:
    endpoint: keys.Endpoint
    client: "Client"
    model: str
    until: float
    seconds: float
    models: tuple[str, ...] = ()

    def run(self) -> Probed:
        try:
            looked = self.client.get("/v1/models", self._watch)
        except CallFailed as failed:
            return self._unreached(failed)
        except _TooSlow:
            return self._slow()
        refused = self._refused(looked)
        if refused is not None:
            return refused
        self.models = _listed(looked.body)
        try:
            started = time.monotonic()
            reply = self.client.stream({"model": self.model, **QUESTION}, self._watch)
            return self._answered(reply, looked.ms, time.monotonic() - started)
        except CallFailed as failed:
            return self._failed(failed, looked)
        except _TooSlow:
            return self._slow()

    def _watch(self) -> None:
        if time.monotonic() > self.until:
            raise _TooSlow

    @property
    def _host(self) -> str:
        return self.endpoint.host

    # --- No answer of a model -------------------------------------------------------------------------------------

    def _unreached(self, failed: CallFailed) -> Probed:
        if failed.why is not None:
            return Probed(
                failed.why.trouble, f"{self._host} cannot be reached: {failed.said}.", failed.why.remedy
            )
        said = f"{self._host} took the connection, and then: {failed.said}."
        what = What.TIMEOUT if "silent" in failed.said else What.NETWORK
        return Probed(what, said, "Is this the right port? Correct ANTHROPIC_BASE_URL, or check the server.")

    def _slow(self) -> Probed:
        said = f"{self._host} did not answer within {self.seconds:g} s."
        loading = "A server on this machine may still be loading its model: try again in a minute."
        away = "Try again later, or check the network in between."
        return Probed(What.TIMEOUT, said, loading if self.endpoint.is_local else away, models=self.models)

    def _refused(self, looked: "HttpAnswer") -> Probed | None:
        """A result that the list of models already shows; None if the question has to be asked."""
        if 300 <= looked.status < 400:
            place = looked.location
            with suppress(ValueError):  # the server may send anything
                place = urlsplit(place).netloc or place
            said = f"{self._host} sends requests on to {place[:NAME_CHARS] or 'another place'}."
            return Probed(What.PATH, said, "Put the address where it leads into ANTHROPIC_BASE_URL.")
        if looked.status in (401, 403):
            said = f"{self._host} does not take the key ({looked.status})."
            return Probed(What.KEY, said, _ADVICE[What.KEY])
        if looked.status == 200 and "html" in looked.kind:
            said = f"{self._host} answers with a web page, not with the Messages API."
            return Probed(What.OTHER_API, said, self._better_path())
        return None

    def _failed(self, failed: CallFailed, looked: "HttpAnswer") -> Probed:
        if failed.kind == FailureKind.WRONG_PLACE:
            return self._no_messages(failed, looked)
        if failed.kind in (FailureKind.UNREACHABLE, FailureKind.CONNECTION) and failed.why is not None:
            return self._unreached(failed)
        if failed.kind == FailureKind.UNKNOWN_MODEL:
            listed = f"It offers: {_shown(self.models)}." if self.models else "It lists no models."
            said = f"{self._host} answers, but does not know the model “{self.model}”. {listed}"
            return Probed(What.MODEL, said, "Choose another model in Settings.", models=self.models)
        what = _WHATS.get(failed.kind, What.REQUEST)
        said = f"{self._host} answers, but not to the question: {failed.said}."
        return Probed(
            what, said, _ADVICE.get(what) or remedy(failed, self._host, self.model), models=self.models
        )

    def _no_messages(self, failed: CallFailed, looked: "HttpAnswer") -> Probed:
        """The result for a server that answers, but on another path or with another API."""
        if self.models:
            said = (
                f"{self._host} lists models, but has no /v1/messages ({failed.said}): it speaks another API."
            )
            return Probed(What.OTHER_API, said, _UPDATE, models=self.models)
        if looked.status == 404:
            said = f"{self._host} is there, but not at this path ({failed.said})."
            return Probed(What.PATH, said, self._better_path())
        said = f"{self._host} does not speak the Messages API ({failed.said})."
        return Probed(What.OTHER_API, said, self._better_path())

    def _better_path(self) -> str:
        """A remedy for a wrong path: tries the host without the path. It is the same host, so the key may be
        sent."""
        parts = urlsplit(self.endpoint.base_url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if parts.path.strip("/") and self._lists_models(origin):
            return f"Without its path it answers: set ANTHROPIC_BASE_URL={origin}"
        return (
            "Correct ANTHROPIC_BASE_URL: it is the part before /v1/messages, with the port of the "
            f"model server. The address was {self.endpoint.base_url}/v1/messages."
        )

    def _lists_models(self, base_url: str) -> bool:
        from dreams.engines.anthropic.client import Client  # noqa: PLC0415 - as above

        try:
            with Client(dataclasses.replace(self.endpoint, base_url=base_url), PATIENCE) as client:
                return bool(_listed(client.get("/v1/models", self._watch).body))
        except (CallFailed, _TooSlow):
            return False

    # --- An answer ------------------------------------------------------------------------------------------------

    def _answered(self, reply: "ModelReply", ms: int, seconds: float) -> Probed:
        called = any(call["name"] == TOOL for call in reply.calls)
        facts = (
            ("Model", f"{reply.model[:NAME_CHARS] or self.model}{self._unlisted()}"),
            ("Round trip", f"{ms} ms; the whole answer took {_took(seconds)}"),
            ("Tools", "Called" if called else "Not called, though asked to"),
            ("Streaming", "Yes" if reply.streamed else "No: answers come in one piece"),
            ("Prompt cache", self._caching(reply)),
            ("Used", f"{reply.tokens.prompt:,} tokens in, {reply.tokens.output:,} out"),
        )
        if called:
            return Probed(
                What.OK, f"{self._host} answers as “{self.model}” and calls tools.", "", facts, self.models
            )
        said = f"{self._host} answers as “{self.model}”, but did not call the tool that it was asked to call."
        return Probed(What.TOOLS, said, _ADVICE[What.TOOLS], facts, self.models)

    def _unlisted(self) -> str:
        known = not self.models or any(name.startswith(self.model) for name in self.models)
        return "" if known else f", which it does not list; it lists {_shown(self.models)}"

    def _caching(self, reply: "ModelReply") -> str:
        if "cache marks" in self.client.limits.left_out:
            return "Marks are refused, and left out: every turn pays for the whole prompt"
        if "cache_read_input_tokens" in reply.counted:
            return "Reported"
        return "Not reported: every turn counts the whole prompt as new"


_WHATS: Mapping[FailureKind, What] = {
    FailureKind.KEY: What.KEY,
    FailureKind.MONEY: What.MONEY,
    FailureKind.OVERLOADED: What.BUSY,
    FailureKind.RATE_LIMITED: What.BUSY,
    FailureKind.SERVER: What.BUSY,
    FailureKind.CONNECTION: What.NETWORK,
    FailureKind.BROKEN: What.OTHER_API,
    FailureKind.BROKEN_CALL: What.TOOLS,
    FailureKind.TOOLS: What.TOOLS,
}
_UPDATE = "Use a version of the server that has the Messages API, or a gateway before it that translates."
_ADVICE: Mapping[What, str] = {
    What.KEY: "Set a valid ANTHROPIC_API_KEY and start again, or bind a key to this host in the file that "
    "ANTHROPIC_API_KEY_FILE names.",
    What.BUSY: "Try again later; a dream waits and retries automatically.",
    What.NETWORK: "Look at the server’s own messages: it broke its answer off. Then try again.",
    What.OTHER_API: _UPDATE,
    What.TOOLS: CALLS_TOOLS,
}


def _took(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def _listed(body: bytes) -> tuple[str, ...]:
    """The ids in a list of models, of Anthropic's or OpenAI's shape."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    rows = found.get("data") if isinstance(found, Mapping) else None
    names = [row.get("id") for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping)]
    return tuple(name[:NAME_CHARS] for name in names if isinstance(name, str) and name)


def _shown(models: tuple[str, ...]) -> str:
    more = len(models) - SHOWN_MODELS
    return ", ".join(models[:SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")
