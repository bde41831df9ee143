"""Statements: where something is said, what may be said twice, what is related; and kinds of questions no longer asked."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from dreams.lib.prose.statement_index import StatementIndex
from dreams.models import Project
from dreams.services.questions import answering
from dreams.web.pages import statements
from tests.world import directory as world, questions as asked

pytestmark = pytest.mark.django_db

DOUBLE = "The nightly import writes to `staging_orders` in batches of 2,000 rows.\n"
FILES = {
    **asked.FILES,
    "project_import.md": f"---\nname: Import\ntype: project\n---\n\n{DOUBLE}",
    "project_import_2.md": f"---\nname: Importer\ntype: project\n---\n\n{DOUBLE}",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path, FILES)


def page(browser: Client, path: str, **headers: str) -> str:
    response = browser.get(path, headers=headers or None)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def test_the_checkup_lists_doubles_and_two_values_with_their_places(
    browser: Client, project: Project
) -> None:
    text = page(browser, f"/projects/{project.pk}/checkup/")
    double = text.partition("Possible duplicates")[2]
    assert "project_import.md:6</a>" in double and "project_import_2.md:6</a>" in double
    two = text.partition("Two values for one thing")[2].partition("Possible duplicates")[0]
    assert "8443 or 9443?" in two and "reference_staging.md:7</a>" in two


def test_a_sentence_in_many_memories_is_one_group_with_the_number_of_its_places(
    browser: Client, tmp_path: Path
) -> None:
    named = {f"import_{at:02}.md": f"---\nname: {at}\ntype: project\n---\n\n{DOUBLE}" for at in range(16)}
    project = world.make_project(tmp_path, named)
    double = page(browser, f"/projects/{project.pk}/checkup/").partition("Possible duplicates")[2]
    assert double.count('class="card"') == 1 and "And 11 more places" in double
    assert all(f"{name}:6</a>" in double for name in named)


def test_a_value_is_found_wherever_it_is_said(browser: Client, project: Project) -> None:
    here = f"/projects/{project.pk}/statements/"
    text = page(browser, f"{here}?value=`kind-eu-1`").partition("</form>")[2].partition("Named in")[0]
    assert "project_deploys.md:7</a>" in text and "reference_staging.md:7</a>" in text
    assert "project_freeze.md" not in text
    # Words that are no value are found as they are written.
    assert "project_freeze.md:6</a>" in page(browser, f"{here}?value=the+audit")
    assert "No statement mentions “nowhere”." in page(browser, f"{here}?value=nowhere")
    part = page(browser, here, **{"HX-Request": "true"})
    assert "<html" not in part and "Possible duplicates" in part


def test_a_value_that_is_read_in_two_ways_is_named_once() -> None:
    line = "The ticket number stands at the end, as in `Refuse negative amounts (ORD-412)`.\n"
    files = {"one.md": line, "two.md": f"Write it short.\n{line}"}
    found = statements.compare(StatementIndex(files)).named
    assert [(one.value, one.places) for one in found] == [("Refuse negative amounts (ORD-412)", 2)]


def test_a_memory_names_the_related_ones_and_what_they_share(browser: Client, project: Project) -> None:
    memory = project.memories.get(path="project_deploys.md")
    other = project.memories.get(path="reference_staging.md")
    for path in (f"/memories/{memory.pk}/", f"/memories/{memory.pk}/related/"):
        text = page(browser, path)
        assert f'<a href="/memories/{other.pk}/">Staging</a>' in text and "both name kind-eu-1" in text
    lonely = project.memories.get(path="project_freeze.md")
    assert "No other memory shares" in page(browser, f"/memories/{lonely.pk}/related/")


def test_a_related_memory_is_quoted_with_its_own_words(browser: Client, tmp_path: Path) -> None:
    regions = {
        f"{name}.md": f"The {name} service runs in the region eu-{name}.\n" for name in ("shop", "mail")
    }
    project = world.make_project(tmp_path, regions)
    for name, other in (("shop", "mail"), ("mail", "shop")):
        here = project.memories.get(path=f"{name}.md")
        related = page(browser, f"/memories/{here.pk}/related/")
        assert f"“The {other} service runs in the region eu-{other}.”" in related


def test_a_large_directory_is_compared_after_the_page_is_there(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "AT_ONCE", 10)
    memory = project.memories.get(path="project_deploys.md")
    assert f'hx-get="/memories/{memory.pk}/related/"' in page(browser, f"/memories/{memory.pk}/")
    checkup = page(browser, f"/projects/{project.pk}/checkup/")
    assert f'hx-get="/projects/{project.pk}/statements/"' in checkup and "Possible duplicates" not in checkup
    # Compared once, it is kept for this state of the directory.
    page(browser, f"/projects/{project.pk}/statements/")
    assert "Possible duplicates" in page(browser, f"/projects/{project.pk}/checkup/")


def test_what_is_compared_is_bounded_and_says_so(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "MOST_BYTES", 500)
    text = page(browser, f"/projects/{project.pk}/statements/")
    assert "files that changed last, of 7." in text


def test_secrets_in_statements_are_masked(browser: Client, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    files = {
        "a.md": f"The token of the bot is {token} here.\n",
        "b.md": f"The token of the bot is {token} there.\n",
    }
    project = world.make_project(tmp_path, files)
    assert token not in page(browser, f"/projects/{project.pk}/statements/?value=token")


@pytest.mark.more
def test_a_kind_that_is_no_longer_asked_is_listed_on_the_checkup(
    browser: Client, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(10):
        [question] = asked.ask(project, asked.learn(number))
        answering.answer(question, "keep", world.ME)
    [still] = asked.ask(project, asked.learn(20))
    text = page(browser, f"/projects/{project.pk}/checkup/")
    assert "No longer asked" in text and "0 of the last 10 answers changed anything." in text
    assert f'href="/questions/{still.public_id}/"' in text
    call_command("checkup", str(project.pk))
    assert f"{still.public_id} learn: {still.why}\n" in capsys.readouterr().out
    token = "ghp_" + "a1B2c3D4e5" * 3 + "F6g7H8"
    type(still).objects.filter(pk=still.pk).update(why=f"The token is {token}.")
    call_command("checkup", str(project.pk))
    for text in (page(browser, f"/projects/{project.pk}/checkup/"), capsys.readouterr().out):
        assert "The token is " in text and token not in text
    assert "habit 20" not in page(browser, f"/projects/{project.pk}/questions/")


def test_a_named_value_has_as_many_places_as_it_leads_to(browser: Client, tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [Deploys](deploys.md) — deploys to `kind-eu-1`\n",
        "deploys.md": "---\nname: Deploys\ndescription: to `kind-eu-1`\n---\n\nDeploys go to `kind-eu-1`.\n",
        "staging.md": "Staging runs on `kind-eu-1`.\n",
    }
    here = f"/projects/{world.make_project(tmp_path, files).pk}/statements/"
    (named,) = [one for one in browser.get(here).context["statements"]["named"] if one.value == "kind-eu-1"]
    said = browser.get(here, {"value": named.value}).context["statements"]["said"]
    assert (named.places, named.files) == (len(said), len({one.path for one in said}))
    assert named.places > 2, "a row of the index names it too"


def test_where_nothing_is_repeated_the_page_says_so(browser: Client, tmp_path: Path) -> None:
    project = world.make_project(tmp_path, {"one.md": "The shop sells tea.\n"})
    assert "Found no statement that is repeated" in page(browser, f"/projects/{project.pk}/statements/")


def test_a_host_in_several_addresses_is_named_as_the_host_and_not_as_one_address() -> None:
    files = {
        f"{name}.md": f"The dashboard of {name} is https://Grafana.example.org/d/{number}.\n"
        for number, name in enumerate(("audit", "queue"), 11)
    }
    files["again.md"] = "Ask https://Grafana.example.org/d/11 first.\n"
    found = statements.compare(StatementIndex(files)).named
    assert [(one.value, one.files) for one in found] == [
        ("Grafana.example.org", 3),
        ("https://Grafana.example.org/d/11", 2),
    ]
