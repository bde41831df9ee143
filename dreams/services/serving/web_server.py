"""Chooses the address and a free port for the web server."""

import errno
import hashlib
import ipaddress
import logging
import os
import resource
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Protocol

import django
import waitress
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from memoryweb import version

TRIES = 100  # ports, from the usual one on


class CannotListen(Exception):
    """The address or port cannot be used; the message says which, and what to do."""


def listen(host: str, port: int | None, default: int) -> socket.socket:
    """A bound socket: on `port` if one is given, else on `default` or the next free one above it.

    It is bound here, so that no other process takes the port in between.
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
            f"{host} is not an address of this machine ({error.strerror}). Leave out --host for 127.0.0.1."
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
        # On some systems a bound socket that does not listen does not prevent a second one.
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(
                f"Port {port} is already in use on {address}. Choose another with --port, or leave it out."
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
    """True for 0.0.0.0 and ::, which a browser cannot open."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def address(host: str, port: int) -> str:
    """`http://…` to open in a browser on this machine, without a slash at its end."""
    name = "127.0.0.1" if is_any(host) else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


# Static files, copied into the data directory if they changed.


def collect() -> bool:
    """Copy them if needed; True if they were. Takes 10 ms if nothing changed."""
    root = Path(settings.STATIC_ROOT)
    # Beside the folder, as everything in it is served.
    mark = root.with_name(root.name + ".fingerprint")
    wanted = fingerprint()
    if root.is_dir() and _read(mark) == wanted:
        return False
    mark.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    mark.write_text(wanted, encoding="ascii")
    return True


def fingerprint() -> str:
    """Changes with the version and with the name, size or mtime of any static file."""
    digest = hashlib.sha256(f"{version()} {django.VERSION}".encode())
    for line in sorted(_lines()):
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _lines() -> Iterator[str]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            found = Path(storage.path(name)).stat()
            yield f"{name}\0{found.st_size}\0{found.st_mtime_ns}\n"


def _read(mark: Path) -> str:
    try:
        return mark.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


# Opening the person's browser, without putting the login code on a command line that others can read.


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}"><title>memoryweb</title>
<p><a href="{link}">Go on to memoryweb</a></p></html>
"""


def has_display() -> bool:
    if os.environ.get("CI") or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def page_path() -> Path:
    return Path(settings.DATA_DIR) / "open.html"


def show(link: str) -> None:
    """Open `link` through a private file, as all accounts can see the arguments of processes."""
    page_path().unlink(missing_ok=True)
    descriptor = os.open(page_path(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as page:
        page.write(PAGE.format(link=escape(link)))
    # Some browsers block the caller until they are closed.
    threading.Thread(target=webbrowser.open, args=(page_path().as_uri(),), daemon=True).start()


def clear() -> None:
    page_path().unlink(missing_ok=True)


# The web server: waitress, in a thread of this process.


FIRST_PAGE_SECONDS = 0.5  # for the login page to be answered; chosen
THREADS = 8  # for a few people and their pages' own requests; chosen
# Connections at once: beyond the limit none is accepted. At least half of the files that this process may open are left for
# the rest. Chosen. One limit per address would be none: all of this machine or of a proxy are one address.
MOST_CONNECTIONS = 500
# After which a silent connection is closed, so that many of them hold pages for a moment only; a request that is being
# answered is not silent. Chosen.
SILENT_SECONDS = 15
LOOK_SECONDS = 5  # between two looks for silent ones; chosen


def _most_connections() -> int:
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, files // 2)


class _Server(Protocol):
    def run(self) -> None: ...

    def close(self) -> None: ...


class Web:
    """Serves from `start` to `stop`."""

    def __init__(self, listening: socket.socket, host: str) -> None:
        """Settings that name the port are set here: the application must not be loaded before."""
        port = int(listening.getsockname()[1])
        settings.PORT = port
        settings.SESSION_COOKIE_NAME = f"memoryweb_{port}"
        if not is_any(host):
            settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, f"[{host}]" if ":" in host else host]
        self.port = port
        self.address = address(host, port)
        self._listening = listening
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Load the application and serve it; pages answer once this returns."""
        from memoryweb.wsgi import application  # noqa: PLC0415 - loading it fixes port, cookie and static files

        # Bursts of polls are not worth a line on the console.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self._server = waitress.create_server(
            application,
            sockets=[self._listening],
            threads=THREADS,
            ident=None,
            channel_timeout=SILENT_SECONDS,
            cleanup_interval=LOOK_SECONDS,
            connection_limit=_most_connections(),
            asyncore_use_poll=True,  # `select` fails at the 1,024th open file, and pages with it
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE * 2,
        )
        self._thread = threading.Thread(target=self._server.run, name="web", daemon=True)
        self._thread.start()

    def load(self) -> None:
        """Import what the first page did not need."""
        from memoryweb.urls import load_views  # noqa: PLC0415 - as above

        time.sleep(FIRST_PAGE_SECONDS)
        load_views()

    @property
    def is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Stop listening. Threads that still answer end with the process."""
        if self._server is not None:
            self._server.close()
        self._listening.close()
