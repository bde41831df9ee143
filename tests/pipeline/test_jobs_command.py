"""`jobs add|list|run|remove`."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from dreams.management.base import BadUsage, Refused
from dreams.models import ScheduledJob
from dreams.services import settings_changes
from tests.world import directory as world
from tests.world.cases import each

pytestmark = pytest.mark.django_db


def jobs(*words: str, **options: object) -> dict:
    out = StringIO()
    call_command("jobs", *words, json=True, stdout=out, **options)
    return json.loads(out.getvalue())


def test_a_job_is_added_listed_run_and_removed(tmp_path: Path) -> None:
    settings_changes.set_override("time_zone", "Europe/Berlin", actor="owner")
    project = world.make_project(tmp_path)
    made = jobs("add", "0 3 * * *", "checkup", project=project.slug, until="2099-12-31")
    assert (made["kind"], made["project"], made["cron"]) == ("checkup", project.slug, "0 3 * * *")
    assert len(made["next"]) == 5
    assert {at[10:14] for at in made["next"]} == {"T03:"} and made["next"][0][-6:] in ("+01:00", "+02:00")
    assert jobs("list") == {"jobs": [made]}
    ran = jobs("run", made["id"])
    assert (ran["status"], ran["id"]) == ("done", made["id"]) and "files" in ran["text"]
    assert jobs("remove", made["id"]) == {"removed": [made["id"]]}
    assert jobs("list") == {"jobs": []}


def test_the_five_fields_may_be_five_words() -> None:
    assert jobs("add", "0", "3", "*", "*", "mon", "verify")["cron"] == "0 3 * * mon"


def test_a_chain_by_command() -> None:
    first = jobs("add", "0 3 * * *", "checkup")
    second = jobs("add", "digest", after=first["id"])
    assert (second["after"], second["next"]) == (first["id"], [])
    assert jobs("remove", first["id"])["removed"] == [first["id"], second["id"]]


@pytest.mark.not_on_postgresql
@each(
    ("words", "options", "error", "says"),
    [
        (["add"], {}, BadUsage, "Give a schedule and a kind"),
        (["add", "0 3 * *", "dream"], {}, BadUsage, "not five fields"),
        (["add", "0 3 * * *", "nap"], {}, BadUsage, "is not one of"),
        (["add", "0 3 * * *", "dream"], {"until": "soon"}, BadUsage, "not a day"),
        (
            ["add", f"{','.join(map(str, range(60)))} * * * *", "dream"],
            {},
            BadUsage,
            "at most 100 characters",
        ),
        # As of a variable without a value, in a script.
        (["add", "0 3 * * *", "dream"], {"until": ""}, BadUsage, "not a day"),
        (["add", "0 3 * * *", "dream"], {"after": ""}, Refused, "There is no job ''"),
        (["list"], {"until": ""}, BadUsage, "Only `jobs add` takes --project, --after, --once, --until"),
        (["add", "dream"], {"after": "jnothing0"}, Refused, "There is no job"),
        (["add", "0 3 * * *", "dream"], {"project": "nowhere"}, Refused, "nowhere"),
        (["run"], {}, BadUsage, "Name one job"),
        (["remove", "jnothing0"], {}, Refused, "There is no job"),
        (["list", "all"], {}, BadUsage, "takes no arguments"),
        (["list"], {"once": True}, BadUsage, "Only `jobs add` takes --project, --after, --once, --until"),
        (["run", "jnothing0"], {"project": "nowhere"}, BadUsage, "Only `jobs add` takes --project"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    words: list[str], options: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        jobs(*words, **options)


@pytest.mark.more
def test_the_fifty_first_is_refused() -> None:
    for minute in range(50):
        jobs("add", f"{minute} 3 * * *", "verify")
    with pytest.raises(Refused, match="There are 50 jobs"):
        jobs("add", "0 4 * * *", "verify")
    assert ScheduledJob.objects.count() == 50


def test_a_job_that_failed_exits_1_with_its_reason(monkeypatch) -> None:
    from dreams.services import verifying

    damaged = verifying.VerifyReport(problems=[verifying.Damage("a text is gone", "app")])
    monkeypatch.setattr(verifying, "verify", lambda project: damaged)
    made = jobs("add", "0 3 * * *", "verify")
    with pytest.raises(Refused, match="1 thing is damaged: a text is gone"):
        jobs("run", made["id"])


def test_a_job_of_another_host_is_run_there() -> None:
    made = jobs("add", "0 3 * * *", "verify")
    ScheduledJob.objects.update(host="elsewhere")
    with pytest.raises(Refused, match="belongs to elsewhere"):
        jobs("run", made["id"])


def test_words_for_a_person() -> None:
    out = StringIO()
    call_command("jobs", "add", "0 3 * * *", "verify", once=True, stdout=out)
    call_command("jobs", "list", stdout=out)
    said = out.getvalue()
    assert "verify of all projects, 0 3 * * *, once" in said
    assert "ID         KIND    PROJECT       WHEN" in said
