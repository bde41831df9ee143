"""Everything that an agent leaves on disk, in one directory: each thing is seen, found and used, and none is touched."""

from __future__ import annotations

import datetime as dt
import hashlib
import html
import json
import os
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.lib.agents.claude_code import ClaudeCode
from dreams.models import HistoryPrompt, Project, Session
from dreams.services import settings_changes
from tests.world import everything
from tests.world.everything import Everything

pytestmark = pytest.mark.django_db
LOCK = ".consolidate-lock"


@pytest.fixture
def made(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Everything:
    """On disk and found, with the repository trusted."""
    cache.clear()
    made = everything.make(tmp_path / "all")
    settings.ROOTS, settings.DATA_DIR = (made.root.path,), tmp_path / "data"
    monkeypatch.setenv("HOME", str(made.root.path.parent))
    defaults = ClaudeCode.__init__.__kwdefaults__
    monkeypatch.setitem(defaults, "managed_instructions", (str(made.managed),))
    made.root.discover()
    settings_changes.set_trusted(shop(made), True, actor="me")
    made.root.discover()
    return made


def shop(made: Everything) -> Project:
    return Project.objects.get(repo_dir=str(made.shop), kind="auto")


def answered(*command: str) -> Any:
    out = StringIO()
    call_command(*command, json=True, stdout=out)
    return json.loads(out.getvalue())


def page(browser: Client, name: str, *at: object, **query: str) -> str:
    response = browser.get(reverse(name, args=at), query, follow=True)
    assert response.status_code == 200, name
    return html.unescape(response.content.decode().replace("<wbr>", ""))


def lacking(text: str, *words: str) -> list[str]:
    return [word for word in words if word not in text]


def eve(made: Everything) -> str:
    """The day before "yesterday" was written."""
    file = made.root.folder(made.shop) / "memory" / "project_deploys.md"
    return str(dt.datetime.fromtimestamp(file.stat().st_mtime, dt.UTC).date() - dt.timedelta(days=1))


def tree(made: Everything) -> dict[str, tuple[int, int, str]]:
    """Mode, time of change and digest of every file and folder, but for the lock, which only dreams write."""
    return {
        str(path): (
            path.stat().st_mode,
            0 if (path / LOCK).exists() else path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(made.root.base.rglob("*"))
        if path.name != LOCK
    }


@pytest.mark.more
def test_each_thing_is_seen_on_its_page(made: Everything, browser: Client) -> None:
    pk = shop(made).pk
    sessions = {row.session_id: row.pk for row in Session.objects.filter(project=pk)}
    seen = {
        "memories": lacking(
            page(browser, "project", pk, show="memories"), "Deploys", "pinned", "Releases", "reference_dashboards.md"
        ),
        "sessions": lacking(
            page(browser, "project", pk, show="sessions"),
            *(texts[0] for _, texts in everything.TALKS.values()),
            "go on with the list", "the turnstone odd session", "in a snipe tree",
        ),
        "gone sessions": lacking(
            page(browser, "project", pk, show="sessions", gone="1"),
            "gone from disk", "2 prompts of the history, no answer kept",
        ),
        "prompts": lacking(
            page(browser, "project-prompts", pk),
            "wigeon calendar", "prompt history, no answer kept", "1 image", "redshank", everything.PASTED[:20],
        ),
        "paste": lacking(page(browser, "project-prompts", pk, paste="x"), "pasted text #2"),
        "instructions": lacking(
            page(browser, "project-instructions", pk),
            "no yellowhammers", "like a wren", "gannet", "godwit", "goshawk", "hobby", "jacanas", "src/api/**",
            "There is no such file.", "It is one of the files that include this one", "Not a text file; not loaded.",
        ),
        "open ends": lacking(page(browser, "project-open-ends", pk), "sanderling", "siskin"),
        "notes": lacking(page(browser, "session", sessions["noted"]), "Notes kept by the agent", "kestrel worker"),
        "sub-agents": lacking(page(browser, "session", sessions["agents"]), "reviewer"),
        "gone": lacking(page(browser, "session", sessions["gone"]), "wigeon calendar"),
        "daily logs": lacking(json.dumps(answered("gates")), "keeps daily logs here"),
        "logs": lacking(page(browser, "project-logs", pk), "lapwing job"),
        "web searches": lacking(page(browser, "usage"), "web searches"),
        "projects": lacking(
            page(browser, "projects"), "reviewer (all projects)", "reviewer (shop, project)", "reviewer (shop, local)",
        ),
    }  # fmt: skip
    assert {name: words for name, words in seen.items() if words} == {}


FOUND = {
    "memories": "avocet bunting curlew dunlin egret bittern fulmar lapwing nightjar-user nightjar-project nightjar-local",
    "typed": "heron-2 OSPREY 8081 plover quail redshank stint snipe turnstone wigeon",
    "sessions": "kestrel sanderling siskin",
    "pasted": "cranes",
    "instructions": "yellowhammers wren gannet godwit goshawk hobby jacanas docs/style.md",
}


@pytest.mark.sweep
def test_each_thing_is_found_by_search(made: Everything) -> None:
    absent = {
        kind: [word for word in words.split() if not answered("search", word)[kind]]
        for kind, words in FOUND.items()
    }
    assert {kind: words for kind, words in absent.items() if words} == {}
    assert not answered("search", "whimbrels")["typed"], "a summary was typed by nobody"
    assert not answered("search", "ospreys")["pasted"], "a long paste is read only when it is shown"


@pytest.mark.more
def test_a_dream_uses_it(made: Everything, browser: Client) -> None:
    locked(made)
    before = tree(made)
    found = answered("dream", shop(made).memory_dir, "--force")
    assert found["status"] == "completed"
    read = page(browser, "review", found["proposal"])
    texts = json.dumps(answered("proposal", found["proposal"], "--diff"))
    assert lacking(texts, "heron-2", "quail", "redshank") == [], "what was asked for"
    assert lacking(texts, "signing_again.md") == [], "memories themselves"
    assert "whimbrels" not in texts and "whinchats" not in texts, "nobody typed it"
    assert lacking(texts, "lapwing job", '"role": "log"') == [], "daily logs"
    questions = json.dumps(answered("questions", shop(made).memory_dir), ensure_ascii=False)
    assert lacking(questions, "8081", "8080") == [], "a correction"
    assert f"“yesterday” is {eve(made)}" in questions
    assert "Remember that the staging database is heron-2." in read
    assert tree(made) == before


def locked(made: Everything) -> None:
    """As if somebody had dreamt everywhere, long ago."""
    memories = [made.root.folder(cwd) / "memory" for cwd in (made.shop, made.journal)]
    for folder in (*memories, *made.agents().values()):
        (folder / LOCK).touch()
        os.utime(folder / LOCK, (0, 0))


@pytest.mark.sweep
def test_what_is_said_now_is_caught_and_an_agents_memory_dreams(made: Everything) -> None:
    at = timezone.now().timestamp() - 600
    later = everything.talk(made.shop, "today", at, ("Remember that the mail relay is ruff-7.", "Noted."))
    everything.session(made, "today", at, later)
    locked(made)
    before = tree(made)
    caught = answered("extract", shop(made).memory_dir)
    assert "the mail relay is ruff-7" in json.dumps(caught["caught"])
    distilled = answered("dream", Project.objects.get(name="journal").memory_dir, "--logs")
    assert "lapwing job" in json.dumps(answered("proposal", distilled["proposal"], "--diff"))
    for scope in made.agents():
        agent = Project.objects.get(kind="agent", scope=scope)
        assert answered("dream", agent.memory_dir, "--force")["status"] == "completed"
    assert tree(made) == before


@pytest.mark.more
def test_what_is_asked_over_it_changes_nothing(made: Everything, browser: Client) -> None:
    before = tree(made)
    project = shop(made)
    recalled = answered("recall", project.memory_dir, "where are the dashboards with figures?")
    assert [one["path"] for one in recalled["chosen"]] == ["reference_dashboards.md"]
    names = {file["name"] for file in answered("instructions", project.memory_dir, "--cwd", "src")["files"]}
    assert {"CLAUDE.md", "docs/style.md", "src/CLAUDE.md", "CLAUDE.local.md"} <= names
    ends = answered("open_ends", project.memory_dir)
    assert lacking(json.dumps(ends), "sanderling", "siskin") == []
    notes = answered("notes", "corrects")
    assert lacking(json.dumps(notes), "8081") == []
    seen = page(browser, "session", Session.objects.get(session_id="corrects").pk)
    assert lacking(seen, "Hand-over notes") == []
    answered("jobs", "add", "0 8 * * *", "checkup", "--project", project.memory_dir)
    assert lacking(page(browser, "schedules"), "shop") == []
    assert answered("checkup", project.memory_dir)
    for name in ("inbox", "projects", "usage", "audit", "health", "search"):
        page(browser, name)
    assert tree(made) == before


def spoil(path: Path, how: int) -> None:
    """One file as an older agent, a crash or a person may leave it."""
    data = path.read_bytes()
    spoilt = [
        lambda: path.write_bytes(b""),
        lambda: path.write_bytes(data[: len(data) // 2]),
        lambda: path.write_bytes(b"\xff\xfe\0" + data + b"\0{"),
        lambda: path.write_bytes(
            data.replace(b'"message"', b'"msg"').replace(b"---\n", b"---\ntags: [\n", 1)
        ),
        lambda: path.write_bytes(data.replace(b'{"', b'[{"').replace(b"\n", b"\r\n")),
        path.unlink,
        lambda: (path.unlink(), path.mkdir()),
        lambda: (path.unlink(), path.symlink_to(path)),
    ]
    spoilt[how % len(spoilt)]()


@pytest.mark.more
@pytest.mark.parametrize(
    "shift",
    [
        0,
        *(pytest.param(n, marks=pytest.mark.sweep) for n in (3, 6)),
        *(pytest.param(n, marks=pytest.mark.by_hand) for n in (1, 2, 4, 5, 7)),
    ],
)
def test_whatever_is_wrong_with_its_files_nothing_stops(
    made: Everything, browser: Client, shift: int
) -> None:
    files = sorted(path for path in made.root.base.rglob("*") if path.is_file() and ".git" not in path.parts)
    for number, path in enumerate(files):
        spoil(path, number + shift)
    made.root.discover()
    for project in Project.objects.all():
        for name in (
            "project",
            "project-prompts",
            "project-instructions",
            "project-open-ends",
            "project-recall",
        ):
            page(browser, name, project.pk, q="where does the shop run")
        page(browser, "project", project.pk, show="memories")
        answered("instructions", project.memory_dir)
        answered("checkup", project.memory_dir)
    for row in Session.objects.all():
        page(browser, "session", row.pk)
    answered("extract")
    answered("search", "heron")


@pytest.mark.sweep
def test_ten_thousand_lines_of_history_and_a_hundred_nested_includes_are_bounded(
    made: Everything, browser: Client
) -> None:
    history = made.root.path / "history.jsonl"
    at = timezone.now().timestamp() - 3_600
    rows = (everything.prompt(made.shop, f"prompt {n}", f"gone{n % 300}", at - n) for n in range(10_000))
    history.write_bytes(b"".join(rows) + b"x" * 100_000)
    for number in range(100):
        everything.write_text(made.shop / f"deep/{number}.md", f"Hop {number}.\n\n@{number + 1}.md\n")
    everything.write_text(
        made.shop / "CLAUDE.md", "@deep/0.md\n" + "".join(f"@deep/{n}.md\n" for n in range(100))
    )
    made.root.discover()
    assert HistoryPrompt.objects.filter(prompt__text__startswith="prompt ").count() == 10_000
    pk = shop(made).pk
    shown = page(browser, "project-prompts", pk)
    assert shown.count("prompt history, no answer kept") <= 200
    found = answered("instructions", shop(made).memory_dir)["files"]
    assert len(found) <= 210 and max(file["depth"] for file in found) <= 5
    assert any("too deep" in str(file["problems"]) for file in found), [file["problems"] for file in found]
    assert len(page(browser, "project-instructions", pk)) < 1_000_000
