"""No text holds up the server: what is slow to read is shown as it is, and the next text is read as ever."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from dreams.lib import markdown as converting
from dreams.lib.json_worker import BASE
from dreams.web.render import markdown

pytestmark = pytest.mark.early

SLOW = [
    "[ " * 20_000,
    "|a" * 50_000 + "\n" + "|-" * 50_000,
]
# Slow in the same ways.
ALSO_SLOW = [
    "- " * 50_000,
    "`" * 100_000,
    "===\n" * 40_000,
    "key: [" * 20_000,
    "[" * 9_000,
    "[[" * 20_000,
    "![" * 20_000,
    "[a](" * 20_000,
    "[a] " * 20_000 + "[" * 39,
    "---\n" * 40_000,
    "a\n---\n" * 40_000,
    "# a\n" * 40_000,
    "\\*" * 100_000,
    "a](b" + ")" * 100_000,
    "1. " * 50_000,
    ">" * 100_000,
    "**a" * 50_000,
]


@pytest.mark.parametrize(
    "text",
    [*SLOW, *(pytest.param(text, marks=pytest.mark.sweep) for text in ALSO_SLOW)],
    ids=lambda text: text[:6].replace("\n", "|"),
)
def test_a_text_that_is_slow_to_read_is_shown_and_the_next_one_is_read(text: str) -> None:
    assert markdown(text).startswith("<")
    assert markdown("*still* here") == "<p><em>still</em> here</p>"


@pytest.mark.more
def test_a_worker_that_was_killed_is_replaced() -> None:
    assert markdown("*before* it") == "<p><em>before</em> it</p>"
    workers = [child for child in psutil.Process().children() if _is_a_worker(child)]
    assert workers
    for worker in workers:
        worker.kill()
        # It stays as a zombie: its parent has to notice the end by itself.
        while worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.01)
    assert markdown("*right* after") == "<p><em>right</em> after</p>"


def test_a_worker_that_does_not_start_in_time_is_not_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, before = converting._Pool(), {child.pid for child in psutil.Process().children()}
    monkeypatch.setattr(converting, "START_SECONDS", 0.0)
    assert pool.ask("*any*", None) == (None, {})
    assert {child.pid for child in psutil.Process().children() if _is_a_worker(child)} <= before


def test_the_text_after_a_link_that_could_not_be_looked_up_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = converting._Pool()
    with pytest.raises(ZeroDivisionError):
        pool.ask("[[a]]", lambda name: str(1 / 0))
    assert pool.ask("*still* here", None) == ("<p><em>still</em> here</p>", {})
    pool.close()


def test_the_number_of_a_worker_that_is_gone_is_not_killed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = converting._Worker()
    worker.end()
    killed: list[int] = []
    monkeypatch.setattr("os.killpg", lambda group, signal: killed.append(group))
    worker.kill()
    assert not killed


def _is_a_worker(child: psutil.Process) -> bool:
    with suppress(psutil.Error):  # a child of another test may have just ended
        return any("markdown.worker" in word for word in child.cmdline())
    return False


def test_a_text_that_found_all_workers_busy_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as busy:
        busy.setattr(converting._pool, "_free", queue.LifoQueue())
        busy.setattr(converting, "WALL_SECONDS", 0.01)
        assert markdown("*busy*") == "<pre>*busy*</pre>"
    assert markdown("*busy*") == "<p><em>busy</em></p>"


@pytest.mark.sweep
def test_pages_at_once_wait_for_no_slow_one_for_ever() -> None:
    slow = [threading.Thread(target=markdown, args=("[ " * 3_000 + str(number),)) for number in range(4)]
    for thread in slow:
        thread.start()
    for thread in slow:
        thread.join(60)
    assert not any(thread.is_alive() for thread in slow)
    assert markdown("*after* them") == "<p><em>after</em> them</p>"


def test_a_link_follows_a_memory_that_moved_although_the_text_is_known() -> None:
    text = "See [[testing]] for how."
    assert 'href="/memories/1/"' in markdown(text, {"testing": "/memories/1/"}.get)
    assert 'href="/memories/2/"' in markdown(text, {"testing": "/memories/2/"}.get)
    assert "wikilink missing" in markdown(text, lambda name: None)


def test_the_worker_has_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-for-the-worker")
    worker = converting._Worker()
    try:
        environment = Path(f"/proc/{worker.process.pid}/environ")
        if environment.exists():
            assert b"not-for-the-worker" not in environment.read_bytes()
        assert worker.html("*a*", None)[0] == "<p><em>a</em></p>"
    finally:
        worker.end()


def test_a_system_that_refuses_the_limit_of_memory_still_gets_its_html() -> None:
    """macOS does: the kernel's EINVAL is a ValueError of Python."""
    code = """
import resource

def refused(kind, limits):
    raise ValueError("current limit exceeds maximum limit")

resource.setrlimit = refused
from dreams.lib.markdown import worker
worker.main()
"""
    asked = json.dumps({"text": "*here*", "resolves": False}) + "\n"
    done = subprocess.run(
        [sys.executable, "-c", code], input=asked, cwd=BASE, capture_output=True, text=True, check=False
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers == [{"ready": True}, {"html": "<p><em>here</em></p>"}], done.stderr
