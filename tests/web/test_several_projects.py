"""What several projects say about the person in the same words is listed once, with where it could be written instead."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from dreams.lib.agents.claude_code import ClaudeCode
from dreams.models import DreamRun, InstructionText, Memory, Project
from dreams.services import discovery, dreaming, people, settings_changes
from dreams.services.discovery import instruction_files
from dreams.services.hosts import host
from dreams.services.review import Actor
from dreams.web.pages import several_projects
from tests.world.agent_folder import Root

pytestmark = pytest.mark.django_db

SHORT = "Keep answers short: no summary at the end."
COMMIT = "Commit locally before you say that a branch is ready."
NAMES = ("app", "importer", "shop")


def note(body: str, kind: str = "feedback") -> str:
    return f"---\nname: Working\ndescription: how we work\ntype: {kind}\n---\n\n{body}\n"


@pytest.fixture
def root(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Root:
    """Three projects: each has the short answers, two of them the commits beside a rule of their own."""
    cache.clear()
    made = Root(tmp_path)
    settings.ROOTS, settings.DATA_DIR = (made.path,), tmp_path / "data"
    monkeypatch.setenv("HOME", str(made.path.parent))
    monkeypatch.setitem(ClaudeCode.__init__.__kwdefaults__, "managed_instructions", ())
    for number, name in enumerate(NAMES):
        repo = made.repository(name)
        made.session(repo, "one")
        made.memory(repo, "short.md", note(f"{SHORT}\n\n**Why:** I read on a telephone."))
        if number < 2:
            made.memory(
                repo, "work.md", note(f"- {COMMIT}\n- The tests of {name} run by `make check-{name}`.")
            )
        made.memory(repo, "facts.md", note("The pipeline of this company takes ten minutes.", "project"))
    discovery.discover()
    return made


def cards() -> list[tuple[int, str, list[str], list[bool]]]:
    """How many projects, the text, the files that say it, and whether each memory says nothing else."""
    return [
        (
            one["projects"],
            one["text"],
            [Path(path).name for path in one["told"]],
            [alone for _, alone in one["places"]],
        )
        for one in several_projects.page()["cards"]
    ]


def write_down(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    Project.objects.update(instructions_read_at=None)
    instruction_files.read_due(host(), timezone.now())


def test_a_memory_that_begins_two_cards_has_an_id_in_each(browser: Client, root: Root) -> None:
    all_say, two_say = "Say what you did not try.", "Ask before you add a library."
    for name, body in zip(reversed(NAMES), (all_say, *[f"{all_say}\n\n{two_say}"] * 2), strict=True):
        root.memory(root.base / "work" / name, "both.md", note(body))
    discovery.discover()
    ids = re.findall(r' id="((?:copy|shared)-\d+)"', browser.get("/projects/several/").content.decode())
    assert len(ids) == len(set(ids)) >= 4


def test_what_memories_of_several_projects_say_about_the_person_is_listed_once_most_projects_first(
    browser: Client, root: Root
) -> None:
    assert cards() == [
        (3, f"{SHORT}\n\n**Why:** I read on a telephone.", [], [True] * 3),
        (2, f"- {COMMIT}", [], [False] * 2),
    ]
    text = browser.get("/projects/several/").content.decode()
    assert "In 3 projects" in text and "Copy to" in text and "~/.claude/CLAUDE.md" in text
    for memory in Memory.objects.filter(path="short.md"):
        assert f"/memories/{memory.pk}/" in text
    assert "Forget…" not in text, "nothing says it but the copies"
    assert "/projects/several/" in browser.get("/projects/").content.decode()


@pytest.mark.parametrize("at", ["CLAUDE.md", "rules/working.md", "notes/included.md"])
def test_the_copies_can_go_once_every_project_loads_a_file_that_says_it(
    browser: Client, root: Root, at: str
) -> None:
    (root.path / "CLAUDE.md").write_text("@notes/included.md\n")
    write_down(root.path / at, f"# How I work\n\n- {SHORT}\n- {COMMIT}\n")
    (short, commit) = cards()
    assert short[2] == [], "its reason is in the copies alone"
    assert commit[2] == [Path(at).name]
    text = browser.get("/projects/several/").content.decode()
    work = Memory.objects.filter(path="work.md")
    assert all(f"/memories/{memory.pk}/edit/" in text for memory in work) and "Forget…" not in text
    write_down(root.path / at, f"{SHORT}\n\n**Why:** I read on a telephone.\n")
    text = browser.get("/projects/several/").content.decode()
    assert all(f"/memories/{memory.pk}/forget/" in text for memory in Memory.objects.filter(path="short.md"))


def test_a_viewer_is_not_led_to_copies_that_only_others_may_remove(browser: Client, root: Root) -> None:
    viewer = Client()
    viewer.force_login(people.add("vera", people.Role.VIEWER, Actor("owner")))
    write_down(root.path / "CLAUDE.md", f"- {COMMIT}\n")
    for words in ("can be removed from here", "work.md of importer"):
        assert words in browser.get("/projects/several/").content.decode()
        assert words not in viewer.get("/projects/several/").content.decode()


def test_a_rule_that_is_loaded_at_some_files_alone_is_not_enough(root: Root) -> None:
    for name in NAMES:
        (root.base / "work" / name / "importer.py").touch()
    write_down(root.path / "rules" / "python.md", f'---\npaths: "*.py"\n---\n\n- {COMMIT}\n')
    assert cards()[1][2] == []
    write_down(root.path / "rules" / "python.md", f"- {COMMIT}\n")
    assert cards()[1][2] == ["python.md"]


def test_a_file_that_one_project_loads_always_and_another_at_some_files_is_not_enough(root: Root) -> None:
    """Both load the same file. The one that was read last decided for both, and search read the file again each time."""
    shared = "Branches are named by their ticket, never by their author."
    outer = root.base / "work" / "app"
    for repo in (outer, root.repository("app/inner")):
        root.session(repo, "one")
        root.memory(repo, "branches.md", note(f"- {shared}"))
    discovery.discover()
    for first, last in permutations(("app", "inner")):
        write_down(outer / "inner" / "CLAUDE.md", f"- {shared}\n")
        InstructionText.objects.update(indexed=True)
        for name in (first, last):
            Project.objects.filter(name=name).update(instructions_read_at=None)
            instruction_files.read_due(host(), timezone.now())
        (told,) = (card[2] for card in cards() if shared in card[1])
        assert told == [] and not InstructionText.objects.filter(indexed=False).exists()


def test_a_file_is_not_enough_where_trust_changed_since_it_was_read(root: Root) -> None:
    write_down(root.path / "CLAUDE.md", f"- {COMMIT}\n")
    assert cards()[1][2] == ["CLAUDE.md"]
    settings_changes.set_trusted(Project.objects.get(name="app"), True, actor="me")
    assert cards()[1][2] == []


def test_a_memory_with_a_short_line_of_its_own_is_edited_and_not_forgotten(root: Root) -> None:
    short = next(root.path.rglob("short.md"))
    short.write_text(f"{short.read_text()}\nUse tabs.\n")
    discovery.discover()
    assert sorted(cards()[0][3]) == [False, True, True]


def test_the_text_to_copy_is_the_shared_line_whatever_separates_lines_in_the_description(root: Root) -> None:
    for name in NAMES[:2]:
        words = note(f"- Not on Fridays.\n- {COMMIT}").replace("how we", "how\u2028we")
        root.memory(root.base / "work" / name, "work.md", words)
    discovery.discover()
    assert f"- {COMMIT}" in [card[1] for card in cards()]


def test_a_file_that_one_of_the_projects_does_not_load_is_not_enough(root: Root) -> None:
    write_down(root.base / "work" / "app" / "CLAUDE.md", f"- {COMMIT}\n")
    assert cards()[1][2] == []


def test_a_dream_asks_in_each_project_whether_the_copy_can_go(root: Root) -> None:
    write_down(root.path / "CLAUDE.md", f"- {COMMIT}\n")
    for name in NAMES[:2]:
        project = Project.objects.get(name=name)
        dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
        question = project.questions.get(kind="derived")
        assert question.why == "~/.claude/CLAUDE.md seems to say this already, in line 1."


def test_projects_of_another_config_folder_and_those_that_are_gone_do_not_count(
    root: Root, tmp_path: Path
) -> None:
    Project.objects.filter(name="app").update(root="/elsewhere/.claude")
    Project.objects.filter(name="shop").update(repo_gone_at=timezone.now())
    assert cards() == []


def test_forty_projects_of_a_hundred_memories_are_compared_in_one_pass(root: Root) -> None:
    """Each line is read once, whatever the number of projects."""
    text = {
        str(n): note(f"- Rule {n} is about {n} and nothing else.\n- {COMMIT}").encode() for n in range(4_000)
    }
    kept = [several_projects._Kept(n, n % 40, ("host", "root"), str(n)) for n in range(4_000)]
    (found,) = several_projects._compared(kept, text)
    assert len(found.memories) == 4_000 and not found.alone
