"""The server: plain threads of the standard library on loopback. PURE: no Django."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from types import TracebackType
from typing import Self

from .cache import PromptCache
from .dialects import Dialect
from .handler import Http
from .protocol import Limits
from .script import Brain
from .seen import Seen
from .shared import Shared


class WireServer(Shared):
    """Listens from `start` (or `with`) until `stop`. `seen` holds every request in order of arrival.

    `keys`: the keys that are taken; None takes any. `stall_seconds` bounds how long a stall holds its connection.
    `dialect`: where it differs from the API. `prefix`: the path that it stands below.
    """

    def __init__(
        self,
        brain: Brain,
        *,
        port: int = 0,
        keys: Iterable[str] | None = None,
        limits: Limits | None = None,
        cache: PromptCache | None = None,
        stall_seconds: float = 30.0,
        dialect: Dialect | None = None,
        prefix: str = "",
    ) -> None:
        super().__init__(brain, keys, limits, cache, stall_seconds, dialect, prefix)
        self._http = Http(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._serve, name="wire-server", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def calls(self) -> list[Seen]:
        """The requests for messages, without those for models and token counts."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _serve(self) -> None:
        self._http.serve_forever(poll_interval=0.02)
