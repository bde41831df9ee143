"""Why a server cannot be reached, told from the library's nested errors: each has another remedy. PURE."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

LONGEST_CHAIN = 10


class Trouble(StrEnum):
    """What stands between here and the server."""

    NAME = "name not found"
    REFUSED = "connection refused"
    TLS = "no secure connection"
    TIMEOUT = "no answer in time"
    NETWORK = "network error"


@dataclass(frozen=True, slots=True)
class Why:
    """`said` and `remedy` are words for a person: the one fits in brackets, the other is a sentence."""

    trouble: Trouble
    said: str
    remedy: str


def why(error: BaseException) -> Why:
    """The deepest cause that means something."""
    for known, tell in _KNOWN:
        for cause in _chain(error):
            if isinstance(cause, known):
                return tell(cause)
    return Why(Trouble.NETWORK, _plain(error), "Look at the network, or correct ANTHROPIC_BASE_URL.")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what it came from; groups hold one for each address that was tried."""
    waiting: list[BaseException] = [error]
    for _ in range(LONGEST_CHAIN):
        if not waiting:
            return
        current = waiting.pop(0)
        yield current
        waiting += [cause for cause in (current.__cause__, current.__context__) if cause is not None]
        waiting += current.exceptions if isinstance(current, BaseExceptionGroup) else ()


def _name(error: BaseException) -> Why:
    remedy = "Correct the host in ANTHROPIC_BASE_URL, or check the network."
    return Why(Trouble.NAME, "its name is not found", remedy)


def _certificate(error: BaseException) -> Why:
    said = f"its certificate is not trusted: {getattr(error, 'verify_message', '') or _plain(error)}"
    remedy = "Use the name that the certificate is made for, or name its issuer in SSL_CERT_FILE."
    return Why(Trouble.TLS, said, remedy)


def _tls(error: BaseException) -> Why:
    said = f"no secure connection: {getattr(error, 'reason', '') or _plain(error)}"
    remedy = "A server on this machine mostly speaks plain http: correct the start of ANTHROPIC_BASE_URL."
    return Why(Trouble.TLS, said, remedy)


def _refused(error: BaseException) -> Why:
    remedy = "Is the server running? Start it, or correct the port in ANTHROPIC_BASE_URL."
    return Why(Trouble.REFUSED, "nothing listens there", remedy)


def _timeout(error: BaseException) -> Why:
    remedy = "Is the server busy, or a firewall between? Try again, or correct ANTHROPIC_BASE_URL."
    return Why(Trouble.TIMEOUT, "no answer in time", remedy)


# In this order: a time that ran out in mid-handshake brings an unfinished TLS error along.
_KNOWN: tuple[tuple[type[BaseException], Callable[[BaseException], Why]], ...] = (
    (socket.gaierror, _name),
    (ssl.SSLCertVerificationError, _certificate),
    (TimeoutError, _timeout),
    (ssl.SSLError, _tls),
    (ConnectionRefusedError, _refused),
)


def _plain(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
