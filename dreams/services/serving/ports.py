"""Where to listen: an address, and a free port."""

from __future__ import annotations

import errno
import ipaddress
import socket

TRIES = 100


class CannotListen(Exception):
    """The address or the port cannot be had; the message says which, and what to do."""


def listen(host: str, port: int | None, default: int) -> socket.socket:
    """A bound socket: on `port` if one is given, else on `default` or the next free one above it.

    It is bound here, not only looked at, so that no other process takes the port in between.
    """
    family, address = _resolve(host)
    if port is not None:
        return _bind(family, address, port)
    for candidate in range(default, min(default + TRIES, 65536)):
        try:
            return _bind(family, address, candidate)
        except PortTaken:
            continue
    raise CannotListen(
        f"No port from {default} to {default + TRIES} is free on {host}. Choose one with --port."
    )


class PortTaken(CannotListen):
    """Somebody else listens there."""


def _resolve(host: str) -> tuple[socket.AddressFamily, str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise CannotListen(
            f"{host} is no address of this machine ({error.strerror}). Leave --host out for 127.0.0.1."
        ) from error
    family, _, _, _, address = found[0]
    return family, str(address[0])


def _bind(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        # A socket that is bound but not listening does not keep a second one off on every system.
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"Port {port} is taken on {address}. Choose another with --port, or leave it out."
            ) from error
        raise CannotListen(
            f"Cannot listen on {address} port {port}: {error.strerror}. Choose another with --host or --port."
        ) from error
    return made


def is_loopback(host: str) -> bool:
    """True when only this machine can reach `host`."""
    try:
        return all(
            ipaddress.ip_address(found[4][0]).is_loopback
            for found in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        )
    except (OSError, ValueError):
        return False


def is_any(host: str) -> bool:
    """True for 0.0.0.0 and ::, which are no address to open in a browser."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def address(host: str, port: int) -> str:
    """`http://…` to open in a browser on this machine, without a slash at its end."""
    name = "127.0.0.1" if is_any(host) else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
