"""The hours between digests, which were a setting, are a job: what somebody had set goes on."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps

from dreams.models import Override, ScheduledJob

pytestmark = pytest.mark.django_db
migration = import_module("dreams.migrations.0028_jobs")


def migrate() -> list[str]:
    migration.digest_by_a_job(apps, None)
    assert not Override.objects.filter(key="digest_hours").exists()
    return [f"{job.kind} {job.cron}" for job in ScheduledJob.objects.all()]


def test_without_an_address_there_is_no_job() -> None:
    assert migrate() == []


def test_an_address_alone_goes_on_daily() -> None:
    Override.objects.create(key="digest_email", value="me@example.org")
    assert migrate() == ["digest 0 8 * * *"]


def test_an_address_in_the_environment_counts_too(monkeypatch) -> None:
    monkeypatch.setenv("MEMORYWEB_DIGEST_WEBHOOK", "https://example.org/hook")
    monkeypatch.setenv("MEMORYWEB_DIGEST_HOURS", "12")
    assert migrate() == ["digest 0 */12 * * *"]


@pytest.mark.parametrize(
    ("hours", "cron"),
    [
        (1.0, "0 * * * *"),
        (6.0, "0 */6 * * *"),
        (24.0, "0 8 * * *"),
        (48.0, "0 8 */2 * *"),
        (168.0, "0 8 * * mon"),
        (744.0, "0 8 1 * *"),
    ],
)
def test_the_hours_become_the_nearest_schedule(hours: float, cron: str) -> None:
    Override.objects.create(key="digest_hours", value=hours)
    assert migrate() == [f"digest {cron}"]
