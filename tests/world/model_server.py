"""The server of `dreams.dev.fake_server` with scripts of answers, and with network and server faults on demand.

    with ModelServer(Script([ScriptedStep(say("Done."), reset("message_delta"))])) as server:
        server.url, server.seen

A fault happens at a moment: "headers" (before the status line), "half headers" (in the middle of them), the name of an
event (close, reset, stall and end cut it in the middle; garbage and an error event replace it), "after" and the name of
one (right after it), or a number of bytes of the body (past its end: close and reset happen after the complete answer,
while the client processes it).
"""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from dreams.dev import fake_server
from dreams.dev.fake_server import (
    NAMED,
    DemoModel,
    Dialect,
    FakeLimits,
    PromptCache,
    Request,
    ScriptedModel,
    ScriptedReply,
    Text,
    Think,
    Use,
    say,
    use,
)
from dreams.dev.fake_server.messages import sse
from dreams.dev.fake_server.server import Chunk, Handler, SeenRequest

# What tests of the engine import from here.
__all__ = [
    "NAMED",
    "DemoModel",
    "Dialect",
    "FakeLimits",
    "Fault",
    "ModelServer",
    "PromptCache",
    "Request",
    "Script",
    "ScriptedModel",
    "ScriptedReply",
    "ScriptedStep",
    "Text",
    "Think",
    "Use",
    "closed",
    "ended",
    "error_event",
    "garbage",
    "reset",
    "say",
    "stalled",
    "status",
    "use",
]

Kind = Literal["status", "close", "reset", "stall", "end", "garbage", "error"]
Moment = str | int
NOISE = b"event: content_block_delta\ndata: {\x22type\x22: <<<\x00\xff not json\n\n"
HEADS = ("headers", "half headers")
HALF_A_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/ev"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault(fake_server.Fault):
    kind: Kind
    at: Moment = "headers"
    data: bytes = NOISE


def status(code: int, message: str = "", **headers: str) -> Fault:
    """An HTTP error. Header names are given with `_` for `-`: `status(429, retry_after="3")`."""
    made = fake_server.status(code, message, **headers)
    return Fault(kind="status", code=code, message=message, headers=made.headers)


def closed(at: Moment) -> Fault:
    """The connection closes before the announced end of the body."""
    return Fault(kind="close", at=at)


def reset(at: Moment) -> Fault:
    """The connection is reset (RST)."""
    return Fault(kind="reset", at=at)


def stalled(at: Moment) -> Fault:
    """Nothing more is sent, and the connection stays open."""
    return Fault(kind="stall", at=at)


def ended(at: Moment) -> Fault:
    """The body ends correctly, but before the message does."""
    return Fault(kind="end", at=at)


def garbage(at: Moment, data: bytes = NOISE) -> Fault:
    """Sends bytes that are no event, and then the rest normally."""
    return Fault(kind="garbage", at=at, data=data)


def error_event(at: Moment, code: int = 529, message: str = "") -> Fault:
    """An `error` event inside a stream that began with status 200."""
    return Fault(kind="error", at=at, code=code, message=message)


def cut(fault: Fault, chunks: Sequence[Chunk]) -> int:
    """The byte of the body at which `fault` happens; past the end if its event is never sent."""
    if isinstance(fault.at, int):
        return fault.at
    offset = 0
    for name, data in chunks:
        if name == fault.at:
            return offset + (0 if fault.kind in ("garbage", "error") else len(data) // 2)
        offset += len(data)
        if f"after {name}" == fault.at:
            return offset
    return offset


@dataclass(frozen=True, slots=True)
class ScriptedStep:
    """One answer and its fault. `when`: only for requests for which it returns True. `began` is set once a complete event
    of the answer was sent, `struck` once a fault after the complete answer has happened."""

    reply: ScriptedReply | Callable[[Request], ScriptedReply] = field(default_factory=ScriptedReply)
    fault: Fault | None = None
    when: Callable[[Request], bool] | None = None
    began: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)
    struck: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)


class Script:
    """Uses its steps in order; one with `when` waits for a matching request. After the last: `then`, or a
    clear error, so that a test with one request too many fails."""

    def __init__(
        self,
        steps: Iterable[ScriptedStep | ScriptedReply | Fault],
        then: ScriptedStep | ScriptedReply | None = None,
    ) -> None:
        self._steps = [_as_step(step) for step in steps]
        self._then = None if then is None else _as_step(then)
        self._lock = threading.Lock()

    def step(self, request: Request) -> ScriptedStep:
        with self._lock:
            for at, step in enumerate(self._steps):
                if step.when is None or step.when(request):
                    return self._steps.pop(at)
        return self._then or ScriptedStep(fault=status(400, "The script has no more steps."))

    @property
    def left(self) -> int:
        return len(self._steps)


def _as_step(given: ScriptedStep | ScriptedReply | Fault) -> ScriptedStep:
    if isinstance(given, Fault):
        return ScriptedStep(fault=given)
    return given if isinstance(given, ScriptedStep) else ScriptedStep(given)


def _event_of(dialect: Dialect, fault: Fault) -> bytes:
    """An error event in a stream: some servers omit the event name, some `type: error`."""
    body = dialect.error(fault)
    if dialect.errors == "openai":
        return f"data: {json.dumps(body)}\n\n".encode()
    return sse("error", body["error"] if dialect.errors == "llama.cpp" else body)


class BreakingHandler(Handler):
    step = ScriptedStep()

    def _answer(self, seen: SeenRequest, request: Request) -> None:
        self.step = step = _as_step(self.server.wire.model.step(request))
        seen.fault = step.fault
        if step.fault is not None and step.fault.kind == "status":
            self._fail(seen, step.fault)
        elif step.fault is not None and step.fault.at in HEADS:
            self._break_in_the_head(step.fault)
        else:
            self._reply(seen, request, step.reply(request) if callable(step.reply) else step.reply)

    def _send(self, seen: SeenRequest, kind: str, chunks: Sequence[Chunk], pause: float) -> None:
        """Sends chunk by chunk, until the end or the fault."""
        step = self.step
        self._begin(seen, kind)
        strikes = cut(step.fault, chunks) if step.fault else None
        sent = 0
        for _, data in chunks:
            if strikes is not None and step.fault is not None and sent <= strikes < sent + len(data):
                self._chunk(data[: strikes - sent])
                self._out(sent)
                if not self._strike(step.fault):
                    return
                data = data[strikes - sent :]  # noqa: PLW2901 - garbage came between; the rest follows
                strikes = None
            self._chunk(data)
            sent += len(data)
            if pause:
                self._out(sent)
                if self.server.wire.stopping.wait(pause):
                    break
        self._chunk(b"", last=True)
        self._out(sent)
        seen.sent_whole = True
        if step.fault is not None and strikes is not None and step.fault.kind in ("close", "reset"):
            self._break(step.fault)  # a fault after the end, between two requests
            step.struck.set()

    def _out(self, sent: int) -> None:
        """Flushes the output and sets `began` once something was sent."""
        self.wfile.flush()
        if sent:
            self.step.began.set()

    def _strike(self, fault: Fault) -> bool:
        """Makes the fault happen. False when nothing more is to be sent."""
        if fault.kind == "garbage":
            self._chunk(fault.data)
            return True
        if fault.kind == "error":
            self._chunk(_event_of(self.server.wire.dialect, fault))
            self._chunk(b"", last=True)
        elif fault.kind == "end":
            self._chunk(b"", last=True)
        else:
            self._break(fault)
        return False

    def _break_in_the_head(self, fault: Fault) -> None:
        if fault.at == "half headers":
            self.wfile.write(HALF_A_HEAD)
        if fault.kind == "garbage":
            self.wfile.write(fault.data)
        self._break(fault)

    def _break(self, fault: Fault) -> None:
        self.close_connection = True
        self.wfile.flush()
        if fault.kind == "stall":
            self._wait_for_the_client()
        if fault.kind == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            # Closing the socket object waits for the handler's files; closing the descriptor sends RST now.
            os.close(self.connection.detach())
        else:
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

    def _wait_for_the_client(self) -> None:
        """Waits until the client disconnects, the server stops, or the stall is over."""
        until = time.monotonic() + self.server.wire.stall_seconds
        self.connection.settimeout(0.05)
        while time.monotonic() < until and not self.server.wire.stopping.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return


class ModelServer(fake_server.ModelServer):
    """`stall_seconds` limits how long a stall keeps its connection."""

    handler = BreakingHandler

    def __init__(self, model: Script | ScriptedModel, *, stall_seconds: float = 30.0, **more: Any) -> None:
        self.stall_seconds = stall_seconds
        super().__init__(model, **more)
