"""One request over real HTTP, off the engine's thread, so that a cancel never waits for the network.

The client library runs on an event loop of its own thread; the engine's thread waits for the answer and looks ten
times a second whether it shall stop. Cancelling closes the socket, in whatever state it is. The library is imported
here and only when a dream runs: it takes more than a second.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import datetime as dt
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from dreams.engines.anthropic.keys import Endpoint
from dreams.engines.anthropic.recovery import CallFailed, Kind, Patience, kind_of, retry_after
from dreams.engines.anthropic.stream import BrokenStream, Collector, Reply

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

LOOK_SECONDS = 0.1
# A local server may read a long prompt without a word.
LOCAL_STALL_FACTOR = 5
Result = TypeVar("Result")


class Client:
    """A connection to one endpoint; use it as a context manager. Not for two calls at once."""

    def __init__(self, endpoint: Endpoint, patience: Patience) -> None:
        self._endpoint = endpoint
        self._patience = patience
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="model-client", daemon=True)
        self._client: AsyncAnthropic | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(2.0)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2.0)

    def open(self, watch: Callable[[], None]) -> None:
        """Import the library and make its client ready, so that no call is measured with it."""
        self._wait(self._open(), watch)

    def stream(self, request: Mapping[str, Any], watch: Callable[[], None]) -> Reply:
        """The whole answer to one request. Raises CallFailed, or what `watch` raises, within a moment."""
        return self._wait(self._stream(request), watch)

    def models(self, watch: Callable[[], None]) -> list[str]:
        """The ids that the server lists (its first page). Raises CallFailed."""
        return self._wait(self._models(), watch)

    # --- The engine's thread --------------------------------------------------------------------------------------

    def _wait(self, work: Coroutine[Any, Any, Result], watch: Callable[[], None]) -> Result:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            while not concurrent.futures.wait([future], timeout=LOOK_SECONDS).done:
                watch()
        except BaseException:
            future.cancel()
            raise
        return future.result()

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
        # A cancelled call needs a turn of the loop to close its socket.
        rest = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if rest:
            await asyncio.wait(rest, timeout=1.0)

    def _ready(self) -> AsyncAnthropic:
        if self._client is None:
            self._client = _made(self._endpoint, self._patience)
        return self._client

    async def _open(self) -> None:
        self._ready()

    async def _stream(self, request: Mapping[str, Any]) -> Reply:
        collector = Collector()
        try:
            async with self._ready().messages.stream(**request) as stream:
                _check_head(stream.response)
                async for event in stream:
                    collector.take(event)
            return collector.reply()
        except CallFailed:
            raise
        except Exception as error:
            raise _translated(error, collector) from error

    async def _models(self) -> list[str]:
        try:
            return [model.id for model in (await self._ready().models.list(limit=100)).data]
        except Exception as error:
            raise _translated(error, Collector()) from error


def _made(endpoint: Endpoint, patience: Patience) -> AsyncAnthropic:
    import httpx2  # noqa: PLC0415 - comes with the client library
    from anthropic import AsyncAnthropic  # noqa: PLC0415 - see the module's words

    stall = patience.stall_seconds * (LOCAL_STALL_FACTOR if endpoint.is_local else 1)
    http = httpx2.AsyncClient(
        base_url=endpoint.base_url,
        timeout=httpx2.Timeout(stall, connect=patience.connect_seconds),
        # A redirect would carry the transcripts to a host that nobody chose; a proxy is not for this machine.
        follow_redirects=False,
        trust_env=not endpoint.is_local,
    )
    # Its own retries sleep as long as a server says, and cannot be seen or cancelled.
    return AsyncAnthropic(
        api_key=endpoint.key,
        base_url=endpoint.base_url,
        max_retries=0,
        http_client=http,
        timeout=httpx2.Timeout(stall, connect=patience.connect_seconds),
    )


def _check_head(response: Any) -> None:
    kind = str(response.headers.get("content-type", ""))
    if "event-stream" not in kind:
        raise CallFailed(Kind.WRONG_PLACE, f"it answers with {kind or 'no content type'} instead of a stream")


def _translated(error: Exception, collector: Collector) -> CallFailed:
    """Any error of library, network or stream as one of ours. What is not known is a broken stream: tried again."""
    import anthropic  # noqa: PLC0415 - as above
    import httpx2  # noqa: PLC0415 - as above

    tokens = collector.tokens()
    if isinstance(error, anthropic.APIStatusError):
        return _of_status(error, collector)
    cause = error.__cause__ if isinstance(error, anthropic.APIConnectionError) else error
    if isinstance(cause, httpx2.ConnectError):
        return CallFailed(Kind.UNREACHABLE, _plain(cause), tokens=tokens)
    if isinstance(cause, httpx2.TimeoutException):
        return CallFailed(Kind.CONNECTION, "it fell silent", tokens=tokens)
    if isinstance(cause, httpx2.TransportError):
        return CallFailed(Kind.CONNECTION, _plain(cause), tokens=tokens)
    if isinstance(error, BrokenStream):
        return CallFailed(Kind.BROKEN, f"the stream is not whole: {error}", tokens=tokens)
    return CallFailed(Kind.BROKEN, f"the stream carries garbage ({type(error).__name__})", tokens=tokens)


def _of_status(error: Any, collector: Collector) -> CallFailed:
    body = error.body if isinstance(error.body, Mapping) else {}
    inner = body.get("error") if isinstance(body.get("error"), Mapping) else body
    error_type = str((inner or {}).get("type") or "")
    message = str((inner or {}).get("message") or error.message)
    code = int(error.status_code)
    kind = Kind.WRONG_PLACE if 300 <= code < 400 else kind_of(code, error_type, message)
    said = f"{code if code >= 400 else error_type or 'error'}: {' '.join(message.split())[:300]}"
    wait = retry_after(error.response.headers, dt.datetime.now(dt.UTC))
    return CallFailed(kind, said, retry_after=wait, tokens=collector.tokens())


def _plain(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
