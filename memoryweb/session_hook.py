"""`hook session-end`, called by the agent when a session ends: sends ids from stdin to the running server, and nothing else.

The agent waits for this command, so it starts without Django, prints nothing and always exits with 0 in time.
The token is sent only to the process in the registry, which is verified by its start time.
"""

import contextlib
import json
import os
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

SECONDS = 0.3  # of the 0.5 that the agent may wait; the interpreter’s own start takes the rest
MOST_BYTES = 64 * 1024
IDS = ("session_id", "transcript_path")


def run(words: Sequence[str]) -> NoReturn:
    """Sends the ids and ends the process. `words` are the arguments after the subcommand."""
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    with contextlib.suppress(BaseException):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        _send(_data_dir(words), os.read(0, MOST_BYTES))
    os._exit(0)


def _data_dir(words: Sequence[str]) -> Path:
    if list(words[:1]) == ["--data-dir"]:
        return Path(words[1])
    given = os.environ.get("MEMORYWEB_DATA_DIR")
    if given:
        return Path(given).expanduser()
    from platformdirs import user_data_path  # noqa: PLC0415 - only where nothing says so

    return user_data_path("memoryweb", appauthor=False)


def _send(data_dir: Path, typed: bytes) -> None:
    body = _ids(typed)
    server = json.loads((data_dir / "serve.json").read_text())
    token = (data_dir / "hook_token").read_text().strip()
    from dreams.lib.process import is_alive  # noqa: PLC0415 - it takes its time, and mostly no server runs

    if not is_alive(int(server["pid"]), float(server["started"])):
        return
    place = urlsplit(server["address"])
    with socket.create_connection((place.hostname, place.port), timeout=SECONDS) as connection:
        connection.sendall(_request(place.netloc, token, body))
        connection.recv(64)


def _ids(typed: bytes) -> bytes:
    found = json.loads(typed)
    return json.dumps({name: str(found[name]) for name in IDS if found.get(name)}).encode()


def _request(host: str, token: str, body: bytes) -> bytes:
    head = (
        "POST /hooks/session-end/ HTTP/1.1",
        f"Host: {host}",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join(head).encode("ascii") + b"\r\n\r\n" + body
