"""The address of the model, and the key for exactly that host. PURE: no Django.

A key belongs to a host. A key from the environment is for Anthropic's; a key file may bind others, one per line:

    api.anthropic.com KEY
    models.example.org:8443 KEY

A line without a host is for Anthropic's. A server on this machine gets a dummy key unless the file binds one. Any
other host without a key is refused, so that a changed base URL can leak neither key nor transcripts.
"""

import os
import re
import socket
import ssl
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from dreams.conf import is_this_machine
from dreams.engines.types import EngineError
from dreams.lib.files.text import with_home

# Why a server cannot be reached, from the library's nested errors: each cause has its own remedy.


LONGEST_CHAIN = 10  # nested errors; chosen


class What(StrEnum):
    """What a test of a server found, one for each remedy."""

    OK = "ok"
    NO_KEY = "no usable key"
    NAME = "name not found"
    REFUSED = "connection refused"
    TLS = "no secure connection"
    TIMEOUT = "no answer in time"
    NETWORK = "network error"
    KEY = "key refused"
    MONEY = "no credit"
    PATH = "wrong path"
    OTHER_API = "another API"
    MODEL = "unknown model"
    BUSY = "busy"
    TOOLS = "no tool calls"
    REQUEST = "request refused"


@dataclass(frozen=True, slots=True)
class Why:
    """Why a server cannot be reached. Texts for a person: `said` fits in brackets, `remedy` is a sentence."""

    trouble: What
    said: str
    remedy: str


def why(error: BaseException) -> Why:
    """The most specific known cause of the error."""
    for known, trouble, said, remedy in _KNOWN:
        for cause in _chain(error):
            if isinstance(cause, known):
                told = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or plain(cause)
                return Why(trouble, said.format(told), remedy)
    return Why(What.NETWORK, plain(error), "Look at the network, or correct ANTHROPIC_BASE_URL.")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes; an exception group has one for each address that was tried."""
    waiting: list[BaseException] = [error]
    for _ in range(LONGEST_CHAIN):
        if not waiting:
            return
        current = waiting.pop(0)
        yield current
        waiting += [cause for cause in (current.__cause__, current.__context__) if cause is not None]
        waiting += current.exceptions if isinstance(current, BaseExceptionGroup) else ()


# The order matters: a timeout in mid-handshake also has an unfinished TLS error.
_KNOWN: tuple[tuple[type[BaseException], What, str, str], ...] = (
    (
        socket.gaierror, What.NAME, "its name is not found",
        "Correct the host in ANTHROPIC_BASE_URL, or check the network.",
    ),
    (
        ssl.SSLCertVerificationError, What.TLS, "its certificate is not trusted: {}",
        "Use the name that the certificate is made for, or name its issuer in SSL_CERT_FILE.",
    ),
    (
        TimeoutError, What.TIMEOUT, "no answer in time",
        "Is the server busy, or a firewall between? Try again, or correct ANTHROPIC_BASE_URL.",
    ),
    (
        ssl.SSLError, What.TLS, "no secure connection: {}",
        "A server on this machine mostly speaks plain http: correct the start of ANTHROPIC_BASE_URL.",
    ),
    (
        ConnectionRefusedError, What.REFUSED, "nothing listens there",
        "Is the server running? Start it, or correct the port in ANTHROPIC_BASE_URL.",
    ),
)  # fmt: skip


def plain(error: BaseException) -> str:
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_HOST = "api.anthropic.com"
DUMMY_KEY = "local-server-needs-none"
# Shown to a person who chose a model, not to one who already uses the rules engine.
OR_RULES = "; or choose the rules engine in Settings"
MOST_KEY_FILE_BYTES = 64 * 1024
# `_TAILS`: what people copy from a client's documentation after the address wanted here.
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=[^=]")  # base64 ends with its "="
_TAILS = ("/v1/messages", "/messages", "/v1")
Source = Literal["environment", "key file", "none needed", "none"]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An API address. `is_anthropic`: options that only Anthropic's own API is sure to know are sent."""

    base_url: str
    host: str
    is_anthropic: bool
    is_local: bool
    key: str = field(repr=False)
    source: Source = "environment"


@dataclass(frozen=True, slots=True)
class KeyState:
    """Whether a model can be asked at the current address; `said` is text for a person, never the key.

    `host` is "" if the address is invalid; `remedy` is "" if nothing need be done.
    """

    usable: bool
    source: Source
    host: str
    base_url: str
    said: str
    remedy: str = ""


def state(environ: Mapping[str, str] | None = None) -> KeyState:
    """Whether there is a usable key for this address, for pages, checks and commands."""
    try:
        found = endpoint(environ)
    except EngineError as error:
        given = os.environ if environ is None else environ
        return KeyState(False, "none", *_shown_address(given), "No usable key", str(error))
    return KeyState(
        True, found.source, found.host, found.base_url, _SAID[found.source].format(host=found.host)
    )


_SAID: Mapping[Source, str] = {
    "environment": "In the environment, for {host} alone",
    "key file": "In the key file, bound to {host}",
    "none needed": "None is needed: {host} is on this machine and gets a dummy",
}


def _shown_address(given: Mapping[str, str]) -> tuple[str, str]:
    """(host, address) to show; both "" if the address may contain a password."""
    try:
        base_url = _base_url(given)
        return _host_of(base_url)[0], base_url
    except EngineError:
        return "", ""


def _base_url(given: Mapping[str, str]) -> str:
    url = (given.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL).strip().rstrip("/")
    for tail in _TAILS:
        url = url.removesuffix(tail)
    return url.rstrip("/")


def endpoint(environ: Mapping[str, str] | None = None) -> Endpoint:
    """The address from the environment, with its key. Raises EngineError with the remedy."""
    given = os.environ if environ is None else environ
    base_url = _base_url(given)
    host, name = _host_of(base_url)
    local = is_this_machine(name)
    official = name == "anthropic.com" or name.endswith(".anthropic.com")
    if not base_url.startswith("https://") and not local:
        raise EngineError(
            f"ANTHROPIC_BASE_URL names {host} without https: transcripts would travel unencrypted. Use https, or a server "
            "on this machine; an SSH tunnel makes it one."
        )
    key, source = _key_for(given, [host, name, *([ANTHROPIC_HOST] if official else [])])
    if not key and not local:
        raise EngineError(_no_key(host, official))
    return Endpoint(base_url, host, official, local, key or DUMMY_KEY, source if key else "none needed")


def _no_key(host: str, official: bool) -> str:
    if official:
        return (
            "There is no API key. Set ANTHROPIC_API_KEY, or ANTHROPIC_API_KEY_FILE to a file of mode 0600 that holds it, "
            f"and start again{OR_RULES}."
        )
    return (
        f"ANTHROPIC_BASE_URL names {host}, and no key is bound to that host. Write a line “{host} KEY” into the file that "
        "ANTHROPIC_API_KEY_FILE names, or correct the URL."
    )


def _host_of(base_url: str) -> tuple[str, str]:
    """(host with its port if given, host without port)."""
    try:
        parts = urlsplit(base_url)
        name = (parts.hostname or "").lower()
        port = parts.port
    except ValueError:
        name, port = "", None
    if not name or parts.scheme not in ("http", "https") or parts.username or parts.query or parts.fragment:
        # The address is not repeated: it may contain a password.
        raise EngineError(
            "ANTHROPIC_BASE_URL is no http(s) address of a host, without user, query and fragment. Correct it, or unset "
            "it for Anthropic’s own."
        )
    return (f"{name}:{port}" if port else name), name


def _key_for(given: Mapping[str, str], hosts: list[str]) -> tuple[str, Source]:
    """The key of the first of these hosts that has one. The environment has priority over the file."""
    own = given.get("ANTHROPIC_API_KEY", "").strip()
    file_name = given.get("ANTHROPIC_API_KEY_FILE", "").strip()
    in_file = _read_key_file(Path(with_home(file_name))) if file_name else {}
    for host in hosts:
        if own and host == ANTHROPIC_HOST:
            return own, "environment"
        if in_file.get(host):
            return in_file[host], "key file"
    return "", "none"


def _is_word(word: str) -> bool:
    """Whether it can be sent in a header and is not a shell assignment."""
    return word.isascii() and word.isprintable() and not _ASSIGNMENT.match(word)


def _read_key_file(path: Path) -> dict[str, str]:
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_mode & 0o077:
                raise EngineError(f"The key file {path} can be read by others. Run: chmod 600 {path}")
            text = file.read(MOST_KEY_FILE_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise EngineError(
            f"ANTHROPIC_API_KEY_FILE names {path}, which cannot be read ({error.strerror}). Correct it."
        ) from error
    bound: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not words[0].startswith("#"):
            if len(words) > 2 or not all(map(_is_word, words)):
                raise EngineError(
                    f"Line {number} of the key file {path} is neither a key nor a host and its key. Correct it."
                )
            bound[words[0].lower() if len(words) > 1 else ANTHROPIC_HOST] = words[-1]
    return bound
