"""Sends one request over HTTP on another thread, so that a cancel never waits for the network.

The client library runs on an event loop in a second thread; the engine's thread waits for the answer and checks ten
times a second whether to stop. Cancelling closes the socket in any state. The library is imported here and only
when a dream runs: that takes more than a second.
"""

import asyncio
import datetime as dt
import email.utils
import json
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from urllib.parse import urlsplit

from dreams.engines.anthropic import keys
from dreams.engines.anthropic.keys import Endpoint
from dreams.engines.anthropic.retrying import SPENT, CallFailed, FailureKind, Patience, kind_of
from dreams.engines.anthropic.server_limits import ServerLimits
from dreams.engines.anthropic.stream import (
    ENDLESS,
    MOST_CHARS,
    BrokenCall,
    BrokenStream,
    Collector,
    ModelReply,
)
from dreams.engines.anthropic.watched import awaited
from dreams.engines.tokens import Tokens

if TYPE_CHECKING:
    import anthropic
    import httpx2
    from anthropic import AsyncAnthropic
    from anthropic._streaming import ServerSentEvent

# A local server may process a long prompt silently.
LOCAL_STALL_FACTOR = 5
# Enough for a list of models or an error; a page of some other site may have any size.
MOST_ANSWER_BYTES = 1_000_000
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A response to a GET; `body` is its beginning, `kind` the content type, `ms` the time to the headers."""

    status: int
    kind: str
    body: bytes
    location: str
    ms: int


class Client:
    """A connection to one endpoint; use it as a context manager. Not for two calls at once."""

    def __init__(self, endpoint: Endpoint, patience: Patience) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="model-client", daemon=True)
        self._client: AsyncAnthropic | None = None
        self.limits = ServerLimits()
        self._told = 0
        self._collector = Collector()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(2.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2.0)

    def open(self, watch: Callable[[], None]) -> None:
        """Imports the library and creates its client, so that this is not part of a call's time."""
        self._wait(self._open(), watch)

    def stream(self, request: Mapping[str, Any], watch: Callable[[], None]) -> ModelReply:
        """The complete answer to one request. Raises CallFailed, or promptly what `watch` raises.

        When the server refuses an optional part, it is left out and the request is repeated at once.
        """
        while True:
            try:
                return self._wait(self._stream(self.limits.request(request)), watch)
            except CallFailed as failed:
                if not self.limits.learn(failed, request):
                    raise

    def unfinished(self) -> Tokens:
        """The tokens that the server counted for a request abandoned in mid-stream: they are billed all the same."""
        return self._collector.tokens()

    def news(self) -> list[str]:
        """The parts left out since the last call, because this server refuses them."""
        fresh = self.limits.left_out[self._told :]
        self._told = len(self.limits.left_out)
        return fresh

    def get(self, path: str, watch: Callable[[], None]) -> HttpAnswer:
        """A plain GET: no retry, no redirect, any status is returned. Raises CallFailed."""
        return self._wait(self._get(path), watch)

    # --- The engine's thread --------------------------------------------------------------------------------------

    def _wait(self, work: Coroutine[Any, Any, Result], watch: Callable[[], None]) -> Result:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return awaited(future, watch)
        except BaseException:
            future.cancel()
            raise

    # --- The loop's thread ----------------------------------------------------------------------------------------

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _close(self) -> None:
        if self._client is not None:
            await self._client.close()
        # A cancelled call needs one iteration of the loop to close its socket.
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if rest:
            await asyncio.wait(rest, timeout=1.0)

    def _ready(self) -> "AsyncAnthropic":
        if self._client is None:
            import httpx2  # noqa: PLC0415 - comes with the client library
            from anthropic import AsyncAnthropic  # noqa: PLC0415 - see the module's words

            stall = self._patience.stall_seconds * (LOCAL_STALL_FACTOR if self._endpoint.is_local else 1)
            http = httpx2.AsyncClient(
                base_url=self._endpoint.base_url,
                timeout=httpx2.Timeout(stall, connect=self._patience.connect_seconds),
                # A redirect would send the transcripts to a host that nobody chose; a local server needs no proxy.
                follow_redirects=False,
                # Plain HTTP has no certificate, and loading the authorities takes longer than a short answer.
                verify=not self._endpoint.base_url.startswith("http:"),
                trust_env=not self._endpoint.is_local,
                event_hooks={"response": [_cut_error]},
            )
            made = AsyncAnthropic(
                api_key=self._endpoint.key,
                base_url=self._endpoint.base_url,
                # The library's retries sleep as long as a server demands, and cannot be seen or cancelled.
                max_retries=0,
                http_client=http,
                timeout=httpx2.Timeout(stall, connect=self._patience.connect_seconds),
                open_telemetry=False,
            )
            # Those of ANTHROPIC_CUSTOM_HEADERS: they may hold a key of another host, and replace ours.
            made._custom_headers = {}
            self._client = made
        return self._client

    async def _open(self) -> None:
        self._ready()

    async def _stream(self, request: Mapping[str, Any]) -> ModelReply:
        collector = self._collector = Collector(int(request.get("max_tokens") or 0))
        try:
            # Reads the raw events, not the library's typed ones: it ignores an error without that event name.
            async with await self._ready().messages.create(**request, stream=True) as stream:
                kind = str(stream.response.headers.get("content-type", ""))
                if "event-stream" not in kind:
                    return await _in_one_piece(stream.response, kind, collector)
                bounded = Bounded(stream.response)
                async for sent in stream.raw_events(cast("httpx2.Response", bounded)):
                    bounded.since = 0
                    _take(sent, stream.response, collector)
            return collector.reply()
        except CallFailed:
            raise
        except Exception as error:
            raise self._translated(error, collector) from error

    async def _get(self, path: str) -> HttpAnswer:
        client = self._ready()
        headers = {
            name: str(value) for name, value in client.default_headers.items() if isinstance(value, str)
        }
        started = time.monotonic()
        try:
            async with client._client.stream(
                "GET", path, headers={**headers, **client.auth_headers}
            ) as answer:
                ms = int((time.monotonic() - started) * 1000)
                kind, location = (answer.headers.get(name, "") for name in ("content-type", "location"))
                return HttpAnswer(answer.status_code, kind, await _beginning(answer), location, ms)
        except Exception as error:
            raise self._translated(error, Collector()) from error

    def _translated(self, error: Exception, collector: Collector) -> CallFailed:
        """Removes the key from the message: servers repeat it in errors, and it must never be shown."""
        failed = _translated(error, collector)
        failed.said = failed.said.replace(self._endpoint.key, "[key]")
        return failed


class Bounded:
    """The bytes of a stream, with a limit per event: an endless one would fill the memory."""

    def __init__(self, response: "httpx2.Response") -> None:
        self._response, self.since = response, 0

    async def aiter_bytes(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_bytes():
            self.since += len(piece)
            if self.since > MOST_CHARS:
                raise BrokenStream(ENDLESS)
            yield piece


async def _beginning(answer: "httpx2.Response") -> bytes:
    body = b""
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) >= MOST_ANSWER_BYTES:
            break
    return body[:MOST_ANSWER_BYTES]


async def _cut_error(response: "httpx2.Response") -> None:
    """Of what is no success only the beginning: the library reads all of it, and one without an end would fill the memory."""
    if not response.is_success:
        response._content = await _beginning(response)
        await response.aclose()


def _take(sent: "ServerSentEvent", response: "httpx2.Response", collector: Collector) -> None:
    """Handles one event of a stream. Raises CallFailed for an error in it, in any shape."""
    if not sent.data or (sent.event is None and not sent.data.startswith("{")):
        return
    data = _parsed(sent) if sent.event == "error" else sent.json()
    if sent.event == "error" or (isinstance(data, Mapping) and data.get("error")):
        raise _told_failure(200, data, sent.data, response, collector)
    # An event with neither name nor type is from another API.
    if sent.event is not None or (isinstance(data, Mapping) and "type" in data):
        collector.take(data)


def _parsed(sent: "ServerSentEvent") -> object:
    """The JSON of an error event; None if the error is plain text."""
    with suppress(ValueError, RecursionError):
        return sent.json()
    return None


async def _in_one_piece(response: "httpx2.Response", kind: str, collector: Collector) -> ModelReply:
    """The reply of a server that does not stream but sends one message. Raises CallFailed for anything else."""
    message = _message(await _beginning(response)) if "json" in kind else None
    if message is not None and message.get("error"):
        raise _told_failure(200, message, "", response, collector)
    if message is None or message.get("type") != "message":
        raise CallFailed(FailureKind.WRONG_PLACE, f"it answers with {_named(kind)} instead of a message")
    collector.take_whole(message)
    return collector.reply()


def _message(body: bytes) -> dict[str, Any] | None:
    """A JSON object; None for other JSON. Raises BrokenStream if it is cut off."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BrokenStream("its JSON is cut off") from error
    return found if isinstance(found, dict) else None


def _named(kind: str) -> str:
    if "html" in kind:
        return "a web page"
    return "JSON of another kind" if "json" in kind else kind.partition(";")[0] or "something unnamed"


def _translated(error: Exception, collector: Collector) -> CallFailed:
    """Turns any error of library, network or stream into CallFailed. An unknown one counts as a broken stream: retried."""
    import anthropic  # noqa: PLC0415 - as above
    import httpx2  # noqa: PLC0415 - as above

    tokens = collector.tokens()
    if isinstance(error, anthropic.APIStatusError):
        return _of_status(error, collector)
    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    if isinstance(cause, httpx2.ConnectError):
        return CallFailed(FailureKind.UNREACHABLE, "", tokens=tokens, why=keys.why(cause))
    if isinstance(cause, httpx2.ConnectTimeout):
        return CallFailed(FailureKind.CONNECTION, "", tokens=tokens, why=keys.why(cause))
    if isinstance(cause, httpx2.TimeoutException):
        return CallFailed(FailureKind.CONNECTION, "it fell silent", tokens=tokens)
    if isinstance(cause, httpx2.TransportError):
        return CallFailed(FailureKind.CONNECTION, keys.plain(cause), tokens=tokens)
    if isinstance(error, BrokenCall):
        return CallFailed(FailureKind.BROKEN_CALL, f"{error}", tokens=tokens)
    if isinstance(error, BrokenStream):
        return CallFailed(FailureKind.BROKEN, f"the stream is not whole: {error}", tokens=tokens)
    return CallFailed(
        FailureKind.BROKEN, f"the stream carries garbage ({type(error).__name__})", tokens=tokens
    )


def _of_status(error: "anthropic.APIStatusError", collector: Collector) -> CallFailed:
    code, location = int(error.status_code), str(error.response.headers.get("location", ""))
    if 300 <= code < 400:
        # It is not followed: that would send the transcripts to a host that nobody chose.
        place = "another path"
        with suppress(ValueError):  # the server may send anything
            place = urlsplit(location).hostname or place
        return CallFailed(
            FailureKind.WRONG_PLACE, f"{code}: it redirects to {place}", tokens=collector.tokens()
        )
    if "html" in str(error.response.headers.get("content-type", "")):
        # This is no API but a proxy, a login or another server. Its text is a page without information.
        kind = FailureKind.WRONG_PLACE if code in (404, 405) else kind_of(code, "", "")
        wait = retry_after(error.response.headers, dt.datetime.now(dt.UTC))
        return CallFailed(kind, f"{code}: a web page", retry_after=wait, tokens=collector.tokens())
    return _told_failure(code, error.body, error.message, error.response, collector)


def _told_failure(
    code: int, body: object, otherwise: str, response: "httpx2.Response", collector: Collector
) -> CallFailed:
    """The failure that a server reports. `code` 200: in the middle of a stream."""
    error_type, message = _told(body, otherwise)
    kind = kind_of(code, error_type, message)
    said = f"{code if code >= 400 else error_type or 'error'}: {' '.join(message.split())[:300].rstrip('.')}"
    wait = retry_after(response.headers, dt.datetime.now(dt.UTC))
    return CallFailed(kind, said, retry_after=wait, tokens=collector.tokens(), is_told=True)


def _told(body: object, otherwise: str) -> tuple[str, str]:
    """(type, message) of an error in any of the usual shapes; its code is the type if that says more."""
    given = body if isinstance(body, Mapping) else {}
    inner = given.get("error", given.get("detail", given))
    if isinstance(inner, Mapping):
        details = inner.get("details")
        code = str(details.get("error_code") or "") if isinstance(details, Mapping) else ""
        return code if SPENT in code else str(inner.get("type") or ""), str(inner.get("message") or otherwise)
    return "", str(inner or otherwise)


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
