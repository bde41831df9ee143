"""Measures the time from the last message of a session to a card, with a real `serve` and a growing transcript.

    python bench/catching.py            # by the agent's hook, then by the tick alone

The tick waits until a session is quiet (three minutes by default); here it waits for MINUTES, which is subtracted.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MINUTES = 0.05
PYTHON = [sys.executable, str(ROOT / "manage.py")]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="memoryweb-bench-") as folder:
        base = Path(folder)
        talk = base / "agent" / "projects" / "-home-dev-app" / f"{uuid.uuid4()}.jsonl"
        talk.parent.mkdir(parents=True)
        environ = {
            **os.environ,
            "MEMORYWEB_DATA_DIR": str(base / "data"),
            "MEMORYWEB_ROOTS": str(base / "agent"),
            "MEMORYWEB_CATCH_MINUTES": str(MINUTES),
            "MEMORYWEB_WORKERS": "1",
        }
        say(talk, "hello")
        words = [*PYTHON, "serve", "--no-browser", "--port", "8991"]
        server = subprocess.Popen(words, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            data = base / "data"
            until(lambda: count(data, "SELECT count(*) FROM dreams_session") == 1, "the session is known")
            hook_token(data)
            print(f"by the tick: {by_tick(data, talk):.1f} s")
            print(f"by the hook: {by_hook(data, talk, environ):.1f} s")
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(20)


def by_hook(data: Path, talk: Path, environ: dict[str, str]) -> float:
    say(talk, "Remember that releases are cut on Tuesdays.")
    begun = time.monotonic()
    ids = json.dumps({"session_id": talk.stem, "transcript_path": str(talk)}).encode()
    subprocess.run([*PYTHON, "hook", "session-end"], input=ids, env=environ, check=True)
    until(lambda: count(data, "SELECT count(*) FROM dreams_card WHERE state = 'open'") == 2, "a card")
    return time.monotonic() - begun


def by_tick(data: Path, talk: Path) -> float:
    """The seconds by the tick, without the time that a session has to be quiet."""
    say(talk, "Remember that the staging database is db-2.internal.")
    begun = time.monotonic()
    until(lambda: count(data, "SELECT count(*) FROM dreams_card WHERE state = 'open'") == 1, "a card")
    return time.monotonic() - begun - MINUTES * 60


def say(talk: Path, text: str) -> None:
    at = dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds")
    record = {
        "type": "user",
        "uuid": str(uuid.uuid4()),
        "sessionId": talk.stem,
        "timestamp": at,
        "cwd": "/home/dev/app",
        "message": {"role": "user", "content": text},
    }
    with talk.open("a") as file:
        file.write(json.dumps(record) + "\n")


def hook_token(data: Path) -> None:
    sys.path.insert(0, str(ROOT))
    from memoryweb import datadir

    datadir.hook_token(data)


def count(data: Path, sql: str) -> int:
    try:
        with sqlite3.connect(data / "memoryweb.sqlite3") as connection:
            return int(connection.execute(sql).fetchone()[0])
    except sqlite3.Error:
        return -1


def until(is_true: Callable[[], bool], what: str, seconds: float = 200.0) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > end:
            sys.exit(f"{what} did not come in {seconds:.0f} s")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
