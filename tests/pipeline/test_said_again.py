"""What a person has to say again although a memory said it when the session began."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dreams.lib.prose.comparing import digest
from dreams.models import DreamRun, Evidence, HiddenPrompt, Memory, Project, Prompt, SaidAgain
from dreams.services import discovery, dreaming, settings_changes
from dreams.services.catching import lifecycle
from dreams.services.memories import said_again
from tests.world import directory as world
from tests.world.talking import Talk, first_start, say

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]

RULE = "Integration tests must hit a real database, not mocks."
AGAIN = "No! Integration tests must hit the real database, not mocks. Do it again for the importer."
TESTING = (
    f"---\nname: Testing\ndescription: how we test here\ntype: feedback\n---\n\n- Be patient.\n- {RULE}\n"
)
ROW = "- [Testing](testing.md) — how we test here\n"


def start(root: Path, index: str = ROW, testing: str = TESTING) -> Project:
    return first_start(root, {"MEMORY.md": f"# Memory\n\n{index}", "testing.md": testing})


def told(project: Project) -> list[tuple[str, int, str, int]]:
    return [(one.path, one.line_no, one.loaded, len(one.prompts)) for one in said_again.listed(project)]


@pytest.mark.also_on_postgresql
def test_a_rule_that_is_typed_again_is_counted_once_for_each_prompt_and_makes_no_card(tmp_path: Path) -> None:
    project = start(tmp_path)
    say(tmp_path, "Hello.", AGAIN, name="one")
    say(tmp_path, AGAIN, name="two")
    found = lifecycle.catch(project)
    assert found.cards == [] and told(project) == [("testing.md", 8, "linked", 2)]
    (one,) = said_again.listed(project)
    said = "Integration tests must hit the real database, not mocks."
    assert {(each.prompt.line_no, each.text) for each in one.quotes} == {(1, said), (3, said)}
    lifecycle.catch(project, session=one.prompts[0].session)
    assert SaidAgain.objects.count() == 2, "a session that is read again has said no more"


@pytest.mark.also_on_postgresql
def test_a_prompt_without_a_time_is_not_the_newest(tmp_path: Path) -> None:
    project = start(tmp_path)
    say(tmp_path, AGAIN, AGAIN, AGAIN, name="one")
    lifecycle.catch(project)
    first, *_ = SaidAgain.objects.order_by("prompt__offset")
    Prompt.objects.filter(pk=first.prompt_id).update(at=None)
    SaidAgain.objects.filter(pk=first.pk).update(loaded="beyond")
    assert told(project) == [("testing.md", 8, "linked", 3)]


def test_a_rule_that_is_in_the_description_is_listed_at_its_line(tmp_path: Path) -> None:
    project = start(tmp_path, testing=f"---\nname: Testing\ndescription: {RULE}\n---\n\n- Be patient.\n")
    say(tmp_path, "Hello.", AGAIN, name="one")
    lifecycle.catch(project)
    assert told(project) == [("testing.md", 3, "linked", 1)]


def test_a_fault_in_keeping_what_was_said_again_costs_no_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("no room")

    project = start(tmp_path)
    say(tmp_path, "Remember that releases are cut on Tuesdays.", AGAIN)
    monkeypatch.setattr(said_again, "record", fails)
    assert [card.text for card in lifecycle.catch(project).cards] == ["releases are cut on Tuesdays."]


@pytest.mark.parametrize(
    "reversal",
    [
        "Integration tests must not hit a real database, use mocks.",
        "Integration tests must hit mocks, not a real database.",
    ],
)
def test_what_reverses_a_rule_is_not_the_rule_again(tmp_path: Path, reversal: str) -> None:
    project = start(tmp_path)
    say(tmp_path, f"Remember: {reversal}")
    found = lifecycle.catch(project)
    assert not SaidAgain.objects.exists() and [card.text for card in found.cards] == [reversal]


def test_a_dream_counts_what_no_catching_read(tmp_path: Path) -> None:
    Talk(tmp_path, "old").user(AGAIN, at=timezone.now() - dt.timedelta(days=3)).save(minutes_ago=60)
    project = start(tmp_path)
    dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert told(project) == [("testing.md", 8, "linked", 1)]


def test_a_fault_in_the_count_does_not_end_a_dream_that_has_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: str, content: str) -> Iterator[tuple[int, str]]:
        raise ValueError(path)

    Talk(tmp_path, "old").user(AGAIN, at=timezone.now() - dt.timedelta(days=3)).save(minutes_ago=60)
    project = start(tmp_path)
    monkeypatch.setattr(said_again, "_statements", fail)
    dream = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert dream is not None and dream.status == DreamRun.Status.COMPLETED


def test_memory_is_read_once_for_all_sessions_of_a_catching(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read for each of 30 sessions, 150 memories kept the database from being written for 14 s of processor time."""
    read: list[str] = []
    real = said_again._statements

    def noted(path: str, content: str) -> Iterator[tuple[int, str]]:
        read.append(path)
        return real(path, content)

    project = start(tmp_path)
    for name in ("one", "two", "three"):
        say(tmp_path, AGAIN, name=name)
    monkeypatch.setattr(said_again, "_statements", noted)
    lifecycle.catch(project)
    assert SaidAgain.objects.count() == 3 and sorted(read) == ["MEMORY.md", "testing.md"]


def test_the_checkup_shows_the_statements_said_most_often_and_how_many_more_there_are(
    browser: Client, tmp_path: Path
) -> None:
    rules = [f"Part {number} of the importer needs a test of that part." for number in range(40)]
    project = start(tmp_path, testing="".join(f"- {rule}\n" for rule in rules))
    say(tmp_path, "Hello.", "Good morning.")
    discovery.refresh(project)
    SaidAgain.objects.bulk_create(
        SaidAgain(prompt=prompt, statement=digest(rule), loaded="linked")
        for number, rule in enumerate(rules)
        for prompt in Prompt.objects.all()[: 1 if number < 10 else 2]
    )
    text = browser.get(f"/projects/{project.pk}/checkup/").content.decode()
    assert text.count("You said this again 2 times") == 30 and "You said this again once" not in text
    assert "And 10 more; the command" in text


@pytest.mark.parametrize(
    ("index", "loaded"),
    [
        (ROW, "linked"),
        (f"- [Testing](testing.md) — {RULE}\n", "start"),
        ("- Something else.\n", "unlisted"),
        ("- One line of many.\n" * 230 + ROW, "beyond"),
        ("- One line of many.\n" * 230 + f"- {RULE}\n", "beyond"),
    ],
)
def test_it_is_told_how_near_to_the_agent_the_rule_was(tmp_path: Path, index: str, loaded: str) -> None:
    project = start(tmp_path, index)
    say(tmp_path, AGAIN)
    lifecycle.catch(project)
    assert [how for _, _, how, _ in told(project)] == [loaded]


def test_a_rule_of_the_instruction_files_is_counted_where_they_are(tmp_path: Path) -> None:
    project = start(tmp_path / "home", "- Something else.\n", "Be patient.\n")
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "CLAUDE.md").write_text(f"# Rules\n\n- {RULE}\n")
    Project.objects.filter(pk=project.pk).update(repo_dir=str(repo))
    project.refresh_from_db()
    later = timezone.now() + dt.timedelta(seconds=5)
    Talk(tmp_path / "home").user(AGAIN, at=later).save()
    lifecycle.catch(project)
    assert told(project) == [("CLAUDE.md", 3, "start", 1)]


def test_what_came_into_the_file_after_the_session_began_is_not_said_again(tmp_path: Path) -> None:
    project = start(tmp_path, testing="Be patient.\n")
    path = world.folder(project) / "testing.md"
    talk = say(tmp_path, "Remember that integration tests must hit a real database, not mocks.")
    path.write_text(TESTING)
    discovery.refresh(project)
    talk.user(AGAIN).save()
    lifecycle.catch(project)
    assert Prompt.objects.filter(text=AGAIN).exists() and not SaidAgain.objects.exists()


def test_it_counts_while_a_file_says_it_and_the_prompt_is_not_hidden(tmp_path: Path) -> None:
    project = start(tmp_path)
    say(tmp_path, AGAIN)
    lifecycle.catch(project)
    path = world.folder(project) / "testing.md"
    path.write_text(TESTING.replace(RULE, "Tests may use mocks."))
    discovery.refresh(project)
    assert told(project) == []
    path.write_text(TESTING)
    discovery.refresh(project)
    assert len(told(project)) == 1
    HiddenPrompt.objects.create(key=SaidAgain.objects.get().prompt_id)
    assert told(project) == []


def test_the_pages_and_the_command_say_it_with_links_to_the_lines(browser: Client, tmp_path: Path) -> None:
    project = start(tmp_path)
    say(tmp_path, "Hello.", AGAIN)
    lifecycle.catch(project)
    memory, session = Memory.objects.get(path="testing.md"), SaidAgain.objects.get().prompt.session
    for address in (f"/memories/{memory.pk}/", f"/projects/{project.pk}/checkup/"):
        text = browser.get(address).content.decode()
        assert "You said this again once, last " in text and RULE in text, address
        assert "opens only if its index row seems to fit" in text
        assert f"/sessions/{session.pk}/?line=3#line-3" in text
        assert "Integration tests must hit the real database, not mocks." in text
    out = io.StringIO()
    call_command("checkup", str(project.pk), json=True, stdout=out)
    (one,) = json.loads(out.getvalue())["said_again"]
    assert (one["path"], one["line"], one["times"], one["loaded"]) == ("testing.md", 8, 1, "linked")
    assert one["prompts"][0]["session"] == session.session_id and one["prompts"][0]["line"] == 3


@pytest.mark.also_on_postgresql
def test_a_secret_in_a_rule_is_shown_nowhere(browser: Client, tmp_path: Path) -> None:
    token = "gh" + "p_" + "q8Rt2" * 7 + "x"
    rule = f"The staging database needs the token {token} on every day."
    project = start(tmp_path, testing=TESTING.replace(RULE, rule))
    say(tmp_path, "Hello.")
    discovery.refresh(project)
    prompt = Prompt.objects.get(text="Hello.")
    SaidAgain.objects.create(prompt=prompt, statement=digest(rule), loaded="start")
    memory = Memory.objects.get(path="testing.md")
    for address in (f"/memories/{memory.pk}/", f"/projects/{project.pk}/checkup/"):
        text = browser.get(address).content.decode()
        assert token not in text and "needs the token [redacted: " in text
    out = io.StringIO()
    call_command("checkup", str(project.pk), json=True, stdout=out)
    assert token not in out.getvalue() and "needs the token [redacted: " in out.getvalue()


# --- Into its index row -------------------------------------------------------------------------------------------


def put_in_row(browser: Client, project: Project) -> tuple[int, str]:
    """What the button beside the statement answers, and what the index says after everything was approved and applied."""
    page = browser.get(f"/projects/{project.pk}/checkup/").content.decode()
    memory = project.memories.get(path="testing.md")
    assert f"/memories/{memory.pk}/index-row/" in page
    assert f"/memories/{memory.pk}/index-row/" in browser.get(f"/memories/{memory.pk}/").content.decode()
    answer = browser.post(f"/memories/{memory.pk}/index-row/", {"statement": digest(RULE)})
    index = Path(project.memory_dir, "MEMORY.md")
    assert RULE not in index.read_text(), "nothing is written before a person approves it"
    proposal = project.proposals.get()
    assert answer.headers["Location"] == f"/review/{proposal.public_id}/"
    call_command("decide", proposal.public_id, "--approve")
    call_command("apply", proposal.public_id)
    return Evidence.objects.filter(hunk__file__proposal=proposal).count(), index.read_text()


def test_the_rule_joins_its_index_row_with_the_sessions_as_its_evidence_once_a_person_approves(
    browser: Client, tmp_path: Path
) -> None:
    project = start(tmp_path)
    say(tmp_path, AGAIN, name="one")
    say(tmp_path, AGAIN, name="two")
    lifecycle.catch(project)
    quotes, index = put_in_row(browser, project)
    assert (quotes, index) == (2, f"# Memory\n\n- [Testing](testing.md) — how we test here. {RULE}\n")
    assert "index-row" not in browser.get(f"/projects/{project.pk}/checkup/").content.decode(), "it is there"


def test_a_memory_without_an_index_row_gets_one_with_the_rule(browser: Client, tmp_path: Path) -> None:
    project = start(tmp_path, "- [Other](other.md) — else\n")
    say(tmp_path, AGAIN)
    lifecycle.catch(project)
    _, index = put_in_row(browser, project)
    assert index.endswith(f"- [Other](other.md) — else\n- [Testing](testing.md) — {RULE}\n")


def test_a_row_without_room_keeps_what_only_it_says_and_loses_what_the_description_says(
    browser: Client, tmp_path: Path
) -> None:
    long = (
        "how we test here, on which machines, and who looks at the results of the night in the morning " * 2
    )
    project = start(tmp_path, f"- [Testing](testing.md) — {long}\n")
    say(tmp_path, AGAIN)
    lifecycle.catch(project)
    assert said_again.row_edits(project, said_again.listed(project)) == {}
    Path(project.memory_dir, "testing.md").write_text(TESTING.replace("how we test here", long))
    discovery.refresh(project)
    assert put_in_row(browser, project)[1] == f"# Memory\n\n- [Testing](testing.md) — {RULE}\n"


def test_a_file_whose_name_reads_as_a_home_folder_gets_no_row(browser: Client, tmp_path: Path) -> None:
    """No row is found for `~notes.md`, however it is written."""
    project = first_start(tmp_path, {"MEMORY.md": "- [Other](other.md) — else\n", "~notes.md": TESTING})
    say(tmp_path, AGAIN)
    lifecycle.catch(project)
    assert told(project) == [("~notes.md", 8, "unlisted", 1)]
    assert said_again.row_edits(project, said_again.listed(project)) == {}
    assert "index-row" not in browser.get(f"/projects/{project.pk}/checkup/").content.decode()


def test_a_file_whose_name_has_a_colon_gets_a_row(tmp_path: Path) -> None:
    project = first_start(tmp_path, {"MEMORY.md": "- [Other](other.md) — else\n", "how:to.md": TESTING})
    say(tmp_path, AGAIN)
    lifecycle.catch(project)
    [edit] = said_again.row_edits(project, said_again.listed(project)).values()
    assert b"](how%3Ato.md) " in (edit.after["MEMORY.md"] or b"")


def test_no_row_is_offered_that_cannot_be_written_or_would_take_another_ones_place(
    browser: Client, tmp_path: Path
) -> None:
    """An open code fence takes no row; a longer row may move the last one beyond what an agent loads."""
    project = start(tmp_path, "- [Other](other.md) — else\n\n```\nmake test\n")
    say(tmp_path, AGAIN)
    lifecycle.catch(project)
    shown = browser.get(f"/projects/{project.pk}/checkup/")
    assert shown.status_code == 200 and "index-row" not in shown.content.decode()
    full = f"# Memory\n\n{ROW}" + "".join(f"- [Rule {n}](rule_{n}.md) — rule {n}\n" for n in range(40))
    Path(project.memory_dir, "MEMORY.md").write_text(full)
    discovery.refresh(project)
    SaidAgain.objects.update(loaded=SaidAgain.Loaded.LINKED)
    assert said_again.row_edits(project, said_again.listed(project))
    settings_changes.set_override("index_max_bytes", len(full.encode()) + 20, actor="me", project=project)
    assert said_again.row_edits(project, said_again.listed(project)) == {}
