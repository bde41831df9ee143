"""The server: plain threads of the standard library on loopback. PURE: no Django."""

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self

from dreams.dev.fake_server.dialects import Dialect
from dreams.dev.fake_server.messages import (
    Counted,
    FakeLimits,
    Fault,
    Json,
    PromptCache,
    ScriptedReply,
    events,
    fresh_id,
    prefixes,
    refusal,
    sse,
    status,
    whole_message,
)
from dreams.dev.fake_server.scripted_model import Request, ScriptedModel

# What a server records of each request, for assertions.


@dataclass(slots=True)
class SeenRequest:
    """One request and its outcome, for assertions."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0
    fault: Fault | None = None
    counted: Counted = field(default_factory=lambda: Counted(0))
    output_tokens: int = 0
    sent_whole: bool = False


# One connection to the server: paths, plain and streamed responses.

#: The name of an event, and its bytes.
Chunk = tuple[str, bytes]


class Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: tuple[str, int], wire: "ModelServer") -> None:
        self.wire = wire
        super().__init__(address, wire.handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Prints nothing: a disconnected client is normal."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Http
    # Many small packets and delayed acknowledgements cost 40 ms a request.
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def log_message(self, format: str, *args: object) -> None:
        """Prints nothing: requests are recorded in `seen`."""

    # --- Routes ---------------------------------------------------------------------------------------------------

    def do_GET(self) -> None:
        seen = self._see({})
        models = self.server.wire.limits.models
        if not self._let_in(seen):
            return
        listing = self._listing(models) if seen.path == "/v1/models" else None
        if listing is not None:
            self._json(seen, 200, listing)
        elif seen.path.removeprefix("/v1/models/") in models:
            self._json(seen, 200, _model(seen.path.removeprefix("/v1/models/")))
        else:
            self._fail(seen, status(404, "Not found"))

    def _listing(self, models: tuple[str, ...]) -> Json | None:
        if self.server.wire.dialect.lists != "anthropic":
            return self.server.wire.dialect.listing(models)
        ends = {"first_id": models[0] if models else None, "last_id": models[-1] if models else None}
        return {"data": [_model(name) for name in models], "has_more": False, **ends}

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        if size > self.server.wire.limits.body_bytes:
            self.close_connection = True
            self._fail(self._see({}), status(413, "Request exceeds the maximum allowed number of bytes."))
            return
        try:
            body = json.loads(self.rfile.read(size))
        except ValueError:
            self._fail(self._see({}), status(400, "The request body is not valid JSON."))
            return
        seen = self._see(body if isinstance(body, dict) else {})
        if not self._let_in(seen):
            return
        if seen.path == "/v1/messages":
            self._messages(seen)
        elif seen.path == "/v1/messages/count_tokens" and self.server.wire.dialect.counts_tokens:
            found = prefixes(seen.body)
            self._json(seen, 200, {"input_tokens": found[-1].tokens if found else 0})
        else:
            self._fail(seen, status(404, "Not found"))

    def _see(self, body: Mapping[str, Any]) -> SeenRequest:
        headers = {name.lower(): value for name, value in self.headers.items()}
        path = self.path.partition("?")[0]
        prefix = self.server.wire.prefix
        # A path outside the prefix is not part of the API.
        seen = SeenRequest(
            path.removeprefix(prefix) if path.startswith(prefix) else f"?{path}", headers, body
        )
        self.server.wire.seen.append(seen)
        return seen

    def _let_in(self, seen: SeenRequest) -> bool:
        keys = self.server.wire.keys
        given = seen.headers.get("x-api-key") or seen.headers.get("authorization", "").removeprefix("Bearer ")
        if keys is None or given in keys:
            return True
        self._fail(seen, status(401, "invalid x-api-key"))
        return False

    # --- Messages -------------------------------------------------------------------------------------------------

    def _messages(self, seen: SeenRequest) -> None:
        wire = self.server.wire
        limits = replace(wire.limits, models=()) if wire.dialect.any_model else wire.limits
        wrong = wire.dialect.refusal(seen.body) or refusal(seen.body, limits)
        if wrong is not None:
            self._fail(seen, wrong)
            return
        self._answer(seen, Request(seen.body, seen.headers))

    def _answer(self, seen: SeenRequest, request: Request) -> None:
        self._reply(seen, request, self.server.wire.model.step(request))

    def _reply(self, seen: SeenRequest, request: Request, reply: ScriptedReply) -> None:
        wire = self.server.wire
        reply = reply if wire.dialect.calls_tools else reply.only_said()
        counted = wire.cache.count(seen.body)
        seen.counted = counted if reply.input_tokens is None else Counted(reply.input_tokens)
        seen.output_tokens = reply.size
        if seen.body.get("stream") and wire.dialect.streams:
            self._stream(seen, reply)
        else:
            message = wire.dialect.message(whole_message(reply, request.model, seen.counted))
            self._send(seen, "application/json", [("", json.dumps(message).encode())], reply.pause)

    def _stream(self, seen: SeenRequest, reply: ScriptedReply) -> None:
        model = str(seen.body.get("model"))
        sent = self.server.wire.dialect.stream(events(reply, model, seen.counted))
        chunks = [(name, sse(name, data)) for name, data in sent]
        self._send(seen, "text/event-stream; charset=utf-8", chunks, reply.pause)

    def _send(self, seen: SeenRequest, kind: str, chunks: Sequence[Chunk], pause: float) -> None:
        """Sends chunk by chunk, with a pause between events."""
        self._begin(seen, kind)
        for _, data in chunks:
            self._chunk(data)
            if pause:
                self.wfile.flush()
                if self.server.wire.stopping.wait(pause):
                    break
        self._chunk(b"", last=True)
        seen.sent_whole = True

    # --- Writing --------------------------------------------------------------------------------------------------

    def _begin(self, seen: SeenRequest, kind: str) -> None:
        seen.status = 200
        self._head(200, {"content-type": kind, "transfer-encoding": "chunked", "cache-control": "no-cache"})

    def _head(self, code: int, headers: Mapping[str, str]) -> None:
        self.send_response(code)
        self.send_header("request-id", fresh_id("req"))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes, *, last: bool = False) -> None:
        if data:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if last:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()

    def _json(
        self, seen: SeenRequest, code: int, body: Json, headers: Mapping[str, str] | None = None
    ) -> None:
        data = json.dumps(body).encode()
        seen.status = code
        sizes = {"content-type": "application/json", "content-length": str(len(data))}
        self._head(code, {**sizes, **(headers or {})})
        self.wfile.write(data)
        self.wfile.flush()

    def _fail(self, seen: SeenRequest, fault: Fault) -> None:
        seen.fault = fault
        body: Json = {**self.server.wire.dialect.error(fault), "request_id": fresh_id("req")}
        self._json(seen, fault.code, body, fault.headers)


def _model(name: str) -> Json:
    shown = name.replace("-", " ").title()
    return {"type": "model", "id": name, "display_name": shown, "created_at": "2026-09-01T00:00:00Z"}


class ModelServer:
    """Listens from `start` (or `with`) until `stop`. `seen` has every request in order; `stopping` is set to end all.

    `keys`: the accepted keys; None accepts any. `dialect`: how it differs from the API. `prefix`: the path below which the API is.
    """

    handler: ClassVar[type[Handler]] = Handler

    def __init__(
        self,
        model: ScriptedModel,
        *,
        port: int = 0,
        keys: Iterable[str] | None = None,
        limits: FakeLimits | None = None,
        cache: PromptCache | None = None,
        dialect: Dialect | None = None,
        prefix: str = "",
    ) -> None:
        self.model, self.dialect, self.prefix = model, dialect or Dialect(), prefix
        self.keys = None if keys is None else frozenset(keys)
        self.limits, self.cache = limits or FakeLimits(), cache or PromptCache()
        self.seen: list[SeenRequest] = []
        self.stopping = threading.Event()
        self._http = Http(("127.0.0.1", port), self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(0.02,), name="wire-server", daemon=True
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def calls(self) -> list[SeenRequest]:
        """The requests for messages, not those for models or token counts."""
        return [seen for seen in self.seen if seen.path == "/v1/messages"]

    def start(self) -> Self:
        self._thread.start()
        return self

    def stop(self) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5.0)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
