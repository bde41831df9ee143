"""No text holds up the server: what is slow to read is shown as it is, and the next text is read as ever."""

from __future__ import annotations

import threading
from pathlib import Path

import psutil
import pytest

from dreams.lib import markdown as converting
from dreams.lib.markdown import to_html
from dreams.web.render import markdown

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


def test_a_worker_that_was_killed_is_replaced() -> None:
    assert to_html("*a*") == "<p><em>a</em></p>"
    for child in psutil.Process().children():
        if any("markdown.worker" in word for word in child.cmdline()):
            child.kill()
            child.wait(5)
    markdown("*one may be lost*")
    markdown("*and another*")
    assert markdown("*b*") == "<p><em>b</em></p>"


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
        environment = Path(f"/proc/{worker._process.pid}/environ")
        if environment.exists():
            assert b"not-for-the-worker" not in environment.read_bytes()
        assert worker.ask("*a*", None)[0] == "<p><em>a</em></p>"
    finally:
        worker.end()
