"""Secrets in names: of a memory, its file, a folder, a branch, a model, a helper. No page, command or answer shows one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core import mail as django_mail
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from dreams.engines.types import Edit
from dreams.management.base import Refused
from dreams.models import Hunk, Project, Proposal
from dreams.services import discovery, notify, review, secret_paths
from dreams.services.notify import digest
from dreams.services.search import index
from dreams.web import urls
from tests.world import directory as world, talking

pytestmark = pytest.mark.django_db


def _token(kind: str) -> str:
    return "gh" + "p_" + kind + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"[len(kind) :]


NAME, TYPE, SAID, FILE, BRANCH, MODEL, ROW, FOLDER = map(
    _token, ("Nam1", "Typ2", "Des3", "Fil4", "Bra5", "Mod6", "Row7", "Fol8")
)
CWD = f"/home/dev/{FOLDER}"
SLUG = CWD.replace("/", "-").replace("_", "-")
TOKENS = {
    "name": NAME,
    "type": TYPE,
    "description": SAID,
    "file": FILE,
    "branch": BRANCH,
    "model": MODEL,
    "row": ROW,
    "folder": FOLDER,
    "folder of the agent": FOLDER.replace("_", "-"),
}
PATH = f"deploy_{FILE}.md"
DEPLOY = f"---\nname: Deploy {NAME}\ndescription: with {SAID}\ntype: {TYPE}\n---\n\nThe database is db-1.internal.\n"
FILES = {
    "MEMORY.md": f"# Memory\n\n- [Deploy {ROW}]({PATH}) — where\n",
    PATH: DEPLOY,
    "plain.md": world.TESTING,
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    talk = talking.Talk(tmp_path, "branch", slug=SLUG)
    talk.user("Where is the database?", gitBranch=f"fix/{BRANCH}", cwd=CWD).agent("On db-1.")
    talk.records[-1]["gitBranch"] = f"fix/{BRANCH}"
    talk.records[-1]["requestId"] = "r1"
    answer = talk.records[-1]["message"]
    assert isinstance(answer, dict)
    answer |= {"model": MODEL, "usage": {"input_tokens": 5, "output_tokens": 7}}
    talk.save(minutes_ago=60)
    for path, text in FILES.items():
        world.put(tmp_path / "projects" / SLUG / "memory" / path, text)
    discovery.discover([tmp_path])
    index.catch_up(10)
    return Project.objects.get()


@pytest.fixture
def proposal(project: Project) -> Proposal:
    made = world.propose(
        project,
        Edit(PATH, DEPLOY, DEPLOY.replace("db-1", "db-2"), "moved", "update", "It moved."),
        Edit("plain.md", world.TESTING, None, "gone", "prune", "It is said elsewhere."),
    )
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    return made


def _shown(text: str) -> list[str]:
    """A page may wrap a long name within its secret, and shows it all the same."""
    whole = text.replace("<wbr>", "")
    return [kind for kind, token in TOKENS.items() if token in whole]


def _pages(project: Project, proposal: Proposal) -> Iterator[str]:
    known = {
        "projects": [project.pk],
        "memories": [*project.memories.values_list("pk", flat=True)],
        "sessions": [*project.sessions.values_list("pk", flat=True)],
        "review": [proposal.public_id],
    }
    for pattern in urls.urlpatterns:
        route = str(pattern.pattern)
        if route.count("<") == 1 and (rows := known.get(route.split("/", maxsplit=1)[0])):
            name = next(iter(pattern.pattern.converters))
            yield from (reverse(str(pattern.name), kwargs={name: row}) for row in rows)
        elif "<" not in route:
            yield reverse(str(pattern.name))
    here = f"/projects/{project.pk}/"
    yield from (f"{here}?show={show}" for show in ("memories", "sessions", "timeline"))
    yield from (f"{here}recall/?q=where+is+the+database&then=1", f"{here}statements/?value=db-1.internal")
    yield from (f"{here}between/?a=2000-01-01", "/search/?q=deploy", "/search/?q=database")


def test_no_list_of_files_shows_one_where_it_wraps_a_long_name(browser: Client, project: Project) -> None:
    page = browser.get(f"/projects/{project.pk}/?show=memories").content.decode()
    assert "<wbr>" in page and not _shown(page)


def test_a_transcript_that_is_named_by_a_secret_shows_it_nowhere(
    browser: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent names each by an id; somebody may have renamed one."""
    talking.Talk(tmp_path, "named").user("Where is the database?").agent("On db-1.").save(minutes_ago=60)
    [transcript] = tmp_path.glob("projects/*/*.jsonl")
    transcript.rename(transcript.with_stem(FILE))
    discovery.discover([tmp_path])
    index.catch_up(10)
    call_command("search", "database", "--json")
    said = capsys.readouterr().out
    assert json.loads(said)["typed"] and not _shown(said)
    session = Project.objects.get().sessions.get()
    assert session.session_id == FILE
    for address in ("session/", f"session/{session.pk}/change/"):
        page = browser.get(f"/admin/dreams/{address}")
        assert page.status_code == 200 and not _shown(page.content.decode()), address


@pytest.mark.more
def test_no_page_shows_a_secret_that_stands_in_a_name(
    browser: Client, project: Project, proposal: Proposal
) -> None:
    wrong, opened = [], 0
    for address in _pages(project, proposal):
        answer = browser.get(address)
        opened += answer.status_code == 200
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        wrong += [f"{address}: {_shown(found)}" for found in [body.decode()] if _shown(found)]
    assert opened > 50 and not wrong, "\n".join(wrong)


def test_no_command_and_no_answer_to_an_agent_shows_one_and_each_takes_the_name_that_it_showed(
    project: Project, proposal: Proposal, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("history", str(project.pk), "--json")
    said = [capsys.readouterr().out]
    masked = next(row["path"] for row in json.loads(said[0])["versions"] if "deploy" in row["path"])
    for words in (
        ["history", str(project.pk), masked],
        ["proposal", proposal.public_id],
        ["proposal", proposal.public_id, "--diff", "--json"],
        ["secrets", str(project.pk), "--json"],
        ["checkup", str(project.pk), "--json"],
        ["recall", str(project.pk), "where is the database?", "--json"],
        ["instructions", str(project.pk)],
        ["search", "deploy", "--json"],
        ["audit", "--json"],
        ["verify", str(project.pk), "--json"],
        ["projects", "--json"],
    ):
        call_command(*words)
        said.append(capsys.readouterr().out)
    call_command("gates", json.loads(said[-1])["projects"][0]["memory_dir"], "--json")
    said.append(capsys.readouterr().out)
    with pytest.raises(Refused):
        call_command("doctor", "--json")
    said.append(capsys.readouterr().out)
    from dreams.management import mcp_server  # loads for a second: not in every process

    monkeypatch.setattr(mcp_server, "close_old_connections", lambda: None)  # the test's own database
    desk = mcp_server.Desk(project.pk)
    said.append(answer := desk.recall("where is the database db-1.internal?"))
    named = [one["path"] for one in (*json.loads(answer)["chosen"], *json.loads(answer)["left_out"])]
    said += [desk.read_memory(path) for path in named]
    assert any("deploy_" in path for path in named) and not _shown("".join(said))


def test_a_page_of_a_masked_name_and_its_form_still_find_the_file(browser: Client, project: Project) -> None:
    here = f"/projects/{project.pk}/at/"
    page = browser.get(here).content.decode()
    link = page.split("path=deploy_")[1].split('"')[0].replace("&amp;", "&")
    assert "db-1.internal" in browser.get(f"{here}?path=deploy_{link}").content.decode()


def test_what_a_person_edits_keeps_its_secret(browser: Client, project: Project) -> None:
    index_file = project.memories.get(path="MEMORY.md")
    browser.post(reverse("memory-secrets", args=[index_file.pk]), {"show": "1"})
    field = browser.get(f"/memories/{index_file.pk}/edit/").content.decode()
    assert FILE in field.split("<textarea")[1].split("</textarea>")[0]


def test_nothing_about_a_branch_a_model_or_a_name_is_kept(project: Project) -> None:
    kept = [
        *project.memories.values_list("name", "type", "description"),
        *project.sessions.values_list("branch"),
    ]
    assert not _shown(str(kept)) and "[redacted: github-token]" in str(kept)
    discovery.discover()
    assert not _shown(str([*project.sessions.values_list("branch")]))


def test_no_mail_and_no_webhook_has_one(project: Project, proposal: Proposal, settings: Settings) -> None:
    settings.EMAIL_HOST = "mail.example"
    found = digest.collect(timezone.now())
    assert _shown(found.as_text()), "what is to be masked"
    notify.send_mail(found, "me@example.com")
    [mail] = django_mail.outbox
    assert not _shown(f"{mail.subject} {mail.body}")


def test_where_the_database_cannot_be_asked_no_name_is_known_and_nothing_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away() -> None:
        raise OperationalError("the server is away")

    monkeypatch.setattr(secret_paths, "_paths", away)
    assert secret_paths.known() == secret_paths.NONE
