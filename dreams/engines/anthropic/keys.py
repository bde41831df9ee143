"""Where the model is, and the key for exactly that place. PURE: no Django.

A key belongs to a host. One from the environment belongs to Anthropic's; a key file may bind others, a line each:

    api.anthropic.com KEY
    models.example.org:8443 KEY

A line without a host belongs to Anthropic's. A server on this machine gets a dummy key unless the file binds one. Any
other host without a key of its own is refused, so that a changed base URL can carry off neither key nor transcripts.
"""

from __future__ import annotations

import ipaddress
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from dreams.engines.base import EngineError

ANTHROPIC_URL = "https://api.anthropic.com"
ANTHROPIC_HOST = "api.anthropic.com"
DUMMY_KEY = "local-server-needs-none"
MOST_KEY_FILE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A place to ask. `is_anthropic`: options that only Anthropic's own API is sure to know are sent."""

    base_url: str
    host: str
    is_anthropic: bool
    is_local: bool
    key: str = field(repr=False)


def endpoint(environ: Mapping[str, str] | None = None) -> Endpoint:
    """The place that the environment names, with its key. Raises EngineError with the remedy."""
    given = os.environ if environ is None else environ
    base_url = (given.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL).strip().rstrip("/").removesuffix("/v1")
    host, name = _host_of(base_url)
    local = _is_local(name)
    official = name == "anthropic.com" or name.endswith(".anthropic.com")
    if not base_url.startswith("https://") and not local:
        raise EngineError(
            f"ANTHROPIC_BASE_URL names {host} without https: transcripts would travel unencrypted. Use https, or a server "
            "on this machine."
        )
    bound = _bound_keys(given)
    key = bound.get(host) or bound.get(name) or (bound.get(ANTHROPIC_HOST, "") if official else "")
    if not key and not local:
        raise EngineError(_no_key(host, official))
    return Endpoint(base_url, host, official, local, key or DUMMY_KEY)


def _no_key(host: str, official: bool) -> str:
    if official:
        return (
            "There is no API key. Set ANTHROPIC_API_KEY, or ANTHROPIC_API_KEY_FILE to a file of mode 0600 that holds it, "
            "or choose the rules engine."
        )
    return (
        f"ANTHROPIC_BASE_URL names {host}, and no key is bound to that host. Write a line “{host} KEY” into the file that "
        "ANTHROPIC_API_KEY_FILE names, or correct the URL."
    )


def _host_of(base_url: str) -> tuple[str, str]:
    """(host with its port if one is given, host alone)."""
    try:
        parts = urlsplit(base_url)
        name = (parts.hostname or "").lower()
        port = parts.port
    except ValueError:
        name, port = "", None
    if not name or parts.scheme not in ("http", "https") or parts.username or parts.query or parts.fragment:
        # The address itself is not repeated: a password may stand in it.
        raise EngineError(
            "ANTHROPIC_BASE_URL is no http(s) address of a host, without user, query and fragment. Correct it, or unset "
            "it for Anthropic's own."
        )
    return (f"{name}:{port}" if port else name), name


def _is_local(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _bound_keys(given: Mapping[str, str]) -> dict[str, str]:
    bound: dict[str, str] = {}
    file_name = given.get("ANTHROPIC_API_KEY_FILE", "").strip()
    if file_name:
        bound |= _read_key_file(Path(file_name).expanduser())
    key = given.get("ANTHROPIC_API_KEY", "").strip()
    if key:
        bound[ANTHROPIC_HOST] = key
    return bound


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
    for line in text.splitlines():
        words = line.split()
        if words and not words[0].startswith("#"):
            bound[words[0].lower() if len(words) > 1 else ANTHROPIC_HOST] = words[-1]
    return bound
