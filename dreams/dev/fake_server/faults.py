"""Network and server faults on demand. PURE.

A fault happens at a moment: "headers" (before the status line), "half headers" (in the middle of them), the name of an
event (close, reset, stall and end cut it in the middle; garbage and an error event replace it), "after" and the name of
one (right after it), or a number of bytes of the body (past its end: close and reset happen after the complete answer,
while the client processes it).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["status", "close", "reset", "stall", "end", "garbage", "error"]
Moment = str | int

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
NOISE = b"event: content_block_delta\ndata: {\x22type\x22: <<<\x00\xff not json\n\n"


@dataclass(frozen=True, slots=True)
class Fault:
    kind: Kind
    at: Moment = "headers"
    code: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    data: bytes = NOISE

    @property
    def error_type(self) -> str:
        return ERROR_TYPES.get(self.code, "api_error")

    @property
    def body(self) -> dict[str, object]:
        said = self.message or self.error_type.replace("_", " ").capitalize()
        return {"type": "error", "error": {"type": self.error_type, "message": said}}


def status(code: int, message: str = "", **headers: str) -> Fault:
    """An HTTP error. Header names are given with `_` for `-`: `status(429, retry_after="3")`."""
    return Fault(
        "status", code=code, message=message, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def closed(at: Moment) -> Fault:
    """The connection closes before the announced end of the body."""
    return Fault("close", at)


def reset(at: Moment) -> Fault:
    """The connection is reset (RST)."""
    return Fault("reset", at)


def stalled(at: Moment) -> Fault:
    """Nothing more is sent, and the connection stays open."""
    return Fault("stall", at)


def ended(at: Moment) -> Fault:
    """The body ends correctly, but before the message does."""
    return Fault("end", at)


def garbage(at: Moment, data: bytes = NOISE) -> Fault:
    """Sends bytes that are no event, and then the rest normally."""
    return Fault("garbage", at, data=data)


def error_event(at: Moment, code: int = 529, message: str = "") -> Fault:
    """An `error` event inside a stream that began with status 200."""
    return Fault("error", at, code=code, message=message)


def cut(fault: Fault, chunks: Sequence[tuple[str, bytes]]) -> int:
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
