"""The web server: waitress, in a thread of this process."""

from __future__ import annotations

import logging
import socket
import threading
from typing import Protocol

import waitress
from django.conf import settings

from dreams.services.serving import ports

THREADS = 8


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
        if not ports.is_any(host):
            settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, f"[{host}]" if ":" in host else host]
        self.port = port
        self.address = ports.address(host, port)
        self._listening = listening
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Load the application and serve it; pages answer once this returns."""
        from memoryweb.wsgi import application  # noqa: PLC0415 - loading it fixes port, cookie and static files

        # A burst of polls is not worth a line on a person's console.
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self._server = waitress.create_server(
            application,
            sockets=[self._listening],
            threads=THREADS,
            ident=None,
            channel_timeout=60,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE * 2,
        )
        self._thread = threading.Thread(target=self._server.run, name="web", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        """Stop listening. Threads that still answer end with the process."""
        if self._server is not None:
            self._server.close()
        self._listening.close()
