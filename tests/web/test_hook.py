"""The agent's hint that a session ended: a token lets it in, its ids must be known, and it can do nothing else."""

from __future__ import annotations

import http.server
import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client
from django_q.models import OrmQ

from dreams.models import Session
from dreams.services import agent_settings, server_registry
from dreams.services.catching import lifecycle
from memoryweb import BASE_DIR, datadir, session_hook
from tests.world.talking import first_start, say

pytestmark = pytest.mark.django_db

ADDRESS = "/hooks/session-end/"


@pytest.fixture(autouse=True)
def nothing_was_posted() -> None:
    cache.delete("memoryweb:hook")


def post(
    client: Client, body: object, *, token: str | None = None, raw: bytes | None = None, **more: object
) -> int:
    from django.conf import settings

    token = datadir.hook_token(Path(settings.DATA_DIR)) if token is None else token
    data = raw if raw is not None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}"}
    return client.generic("POST", ADDRESS, data, "application/json", headers=headers, **more).status_code


def test_a_session_that_ended_is_read_at_once(client: Client, tmp_path: Path) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, "Remember that releases are cut on Tuesdays.", minutes_ago=0)
    lifecycle.catch(project)
    assert not project.cards.exists()
    assert post(client, {"session_id": talk.id, "transcript_path": str(talk.path)}) == 204
    assert [row.func() for row in OrmQ.objects.all()] == ["dreams.tasks.catch"]
    assert len(lifecycle.catch(project).cards) == 1


@pytest.mark.parametrize("with_path", [True, False])
def test_a_session_that_began_after_the_last_look_for_files_is_read_at_once_too(
    client: Client, tmp_path: Path, with_path: bool
) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, "Remember that releases are cut on Tuesdays.", minutes_ago=0, name="brand new")
    assert not Session.objects.filter(session_id=talk.id).exists()
    path = {"transcript_path": str(talk.path)} if with_path else {}
    assert post(client, {"session_id": talk.id, **path}) == 204
    assert [row.func() for row in OrmQ.objects.all()] == ["dreams.tasks.catch"]
    assert len(lifecycle.catch(project).cards) == 1


def test_what_is_not_known_gets_the_same_answer_and_does_nothing(client: Client, tmp_path: Path) -> None:
    first_start(tmp_path)
    session = Session.objects.get()
    for body in (
        {"session_id": "who-is-this"},
        {"session_id": "../../etc/passwd"},
        {"session_id": "passwd", "transcript_path": "/etc/passwd"},
        {"session_id": session.session_id, "transcript_path": "/etc/passwd"},
        {"session_id": session.session_id, "transcript_path": session.path + "/../x"},
    ):
        cache.delete("memoryweb:hook")
        assert post(client, body) == 204
    assert not Session.objects.filter(hinted_at__isnull=False).exists() and not OrmQ.objects.exists()


def test_only_the_token_lets_it_in(client: Client, browser: Client) -> None:
    assert post(client, {"session_id": "x"}, token="wrong") == 401
    assert browser.post(ADDRESS, b"{}", "application/json").status_code == 401, "no cookie does"
    assert client.get(ADDRESS).status_code == 405


def test_other_hosts_and_other_sites_are_refused(client: Client) -> None:
    assert post(client, {"session_id": "x"}, HTTP_HOST="evil.example") == 400
    assert post(client, {"session_id": "x"}, HTTP_ORIGIN="http://evil.example") == 403


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"session_id": 5}', 400),
        (b'{"session_id": ""}', 400),
        (b'{"session_id": "x", "transcript_path": 1}', 400),
        (rb'{"session_id": "\ud800"}', 400),
        (rb'{"session_id": "x", "transcript_path": "/home/\udcff/x.jsonl"}', 400),
        (b'{"session_id": "' + b"x" * 16_384 + b'"}', 413),
    ],
)
def test_what_is_malformed_or_large_is_refused(client: Client, raw: bytes, status: int) -> None:
    assert post(client, None, raw=raw) == status


def test_one_a_second_is_taken(client: Client) -> None:
    assert [post(client, {"session_id": "x"}) for _ in range(3)] == [204, 429, 429]


# --- The command --------------------------------------------------------------------------------------------------


def run_hook(data_dir: Path, typed: bytes, *, first: str = "pass") -> subprocess.CompletedProcess[bytes]:
    """`first`: Python that the process runs before it."""
    words = ["hook", "session-end", "--data-dir", str(data_dir)]
    code = f"from memoryweb import __main__, session_hook; {first}; __main__.run({words}, 'memoryweb')"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=BASE_DIR, input=typed, capture_output=True, timeout=60, check=False
    )


class Receiver(http.server.BaseHTTPRequestHandler):
    seen: list[tuple[dict[str, str], bytes]] = []

    def do_POST(self) -> None:
        self.seen.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def test_the_command_posts_the_ids_alone_with_the_token(tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path
    token = datadir.hook_token(tmp_path)
    assert (tmp_path / "hook_token").stat().st_mode & 0o777 == 0o600
    server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server_registry.write(f"http://127.0.0.1:{server.server_port}", server.server_port)
    Receiver.seen.clear()
    typed = {"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/secret", "prompt": "private"}
    # On a busy machine its time may be over before it has begun.
    done = run_hook(tmp_path, json.dumps(typed).encode(), first="session_hook.SECONDS = 30.0")
    server.shutdown()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    ((headers, body),) = Receiver.seen
    assert (
        headers["Authorization"] == f"Bearer {token}" and headers["Host"] == f"127.0.0.1:{server.server_port}"
    )
    assert json.loads(body) == {"session_id": "s1", "transcript_path": "/t.jsonl"}


def test_the_command_is_silent_and_quick_whatever_happens(tmp_path: Path, settings) -> None:
    import socket

    settings.DATA_DIR = tmp_path
    datadir.hook_token(tmp_path)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(1)
        port = deaf.getsockname()[1]
        server_registry.write(f"http://127.0.0.1:{port}", port)  # it never answers
        took = _cpu_seconds()
        for data_dir, typed in (
            (tmp_path, b'{"session_id": "s1"}'),
            (tmp_path, b"\xff{"),
            (tmp_path / "no", b""),
        ):
            done = run_hook(data_dir, typed)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    # It waits no longer than its alarm lets it; how long a busy machine takes beside that tells nothing of it.
    assert session_hook.SECONDS < 0.5 and (_cpu_seconds() - took) / 3 < 0.5


@pytest.mark.parametrize(
    ("started", "late"),
    [
        ("memoryweb.__main__, memoryweb.session_hook", {"django", "importlib.metadata", "psutil"}),
        ("memoryweb.__main__, dreams.lib.agents.registry", {"dreams.lib.sandbox", "pathspec"}),
    ],
)
def test_a_start_imports_only_what_it_needs(started: str, late: set[str]) -> None:
    """Every session waits for the hook, and a person for every command."""
    line = [sys.executable, "-c", f"import sys, {started}; print(*sys.modules)"]
    found = subprocess.run(line, cwd=BASE_DIR, check=True, capture_output=True, timeout=60).stdout.decode()
    assert not late & set(found.split())


def test_a_token_is_never_sent_to_a_process_that_only_has_the_port(tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path
    datadir.hook_token(tmp_path)
    server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    running = server_registry.write(f"http://127.0.0.1:{server.server_port}", server.server_port)
    record = json.loads((tmp_path / "serve.json").read_text()) | {
        "started": running.started - 100,
        "pid": os.getpid(),
    }
    (tmp_path / "serve.json").write_text(json.dumps(record))
    Receiver.seen.clear()
    run_hook(tmp_path, b'{"session_id": "s1"}')
    server.shutdown()
    assert Receiver.seen == []


def _cpu_seconds() -> float:
    """What all processes that this one waited for have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# --- The page -----------------------------------------------------------------------------------------------------


def test_the_page_shows_the_diff_and_writes_it_only_when_it_is_pressed(
    browser: Client, tmp_path: Path, settings
) -> None:
    settings.ROOTS = [tmp_path]
    (tmp_path / "settings.json").write_text('{\n  "model": "opus"\n}\n')
    page = browser.get("/settings/hook/").content.decode()
    assert "hook session-end" in page and "Add the hook" in page
    assert agent_settings.without_hook(tmp_path).is_empty
    change = agent_settings.with_hook(tmp_path)
    browser.post("/settings/hook/write/", {"root": str(tmp_path), "shown": change.shown, "do": "add"})
    assert not agent_settings.without_hook(tmp_path).is_empty
    assert "Remove the hook" in browser.get("/settings/hook/").content.decode()
    shown = agent_settings.without_hook(tmp_path).shown
    browser.post("/settings/hook/write/", {"root": str(tmp_path), "shown": shown, "do": "remove"})
    assert (tmp_path / "settings.json").read_text() == '{\n  "model": "opus"\n}\n'


def test_a_stale_diff_and_another_folder_are_refused(browser: Client, tmp_path: Path, settings) -> None:
    settings.ROOTS = [tmp_path]
    (tmp_path / "settings.json").write_text("{}")
    answer = browser.post(
        "/settings/hook/write/", {"root": str(tmp_path), "shown": "old", "do": "add"}, follow=True
    )
    assert "changed since it was shown" in answer.content.decode()
    assert (
        browser.post("/settings/hook/write/", {"root": "/etc", "shown": "", "do": "add"}).status_code == 404
    )
    assert (tmp_path / "settings.json").read_text() == "{}"
