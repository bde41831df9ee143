"""What only the environment can say is refused by name where it is junk, and no password is repeated."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryweb import env
from tests.world.cases import each


@each("value", ["Mars/Olympus", "Europe", "../etc/passwd"])
def test_what_is_no_time_zone_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MEMORYWEB_TIME_ZONE", value)
    with pytest.raises(ImproperlyConfigured, match="must be the name of a time zone"):
        env.zone("MEMORYWEB_TIME_ZONE")


def test_a_time_zone_may_be_given_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMORYWEB_TIME_ZONE", raising=False)
    assert env.zone("MEMORYWEB_TIME_ZONE") == ""
    monkeypatch.setenv("MEMORYWEB_TIME_ZONE", "Europe/Berlin")
    assert env.zone("MEMORYWEB_TIME_ZONE") == "Europe/Berlin"


@each("value", ["mysql://me:hush@host/x", "oracle://x", "nothing"])
def test_another_kind_of_database_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("DATABASE_URL", value)
    with pytest.raises(ImproperlyConfigured, match="postgres:// or sqlite:///") as refused:
        env.database_url("DATABASE_URL")
    assert "hush" not in str(refused.value)


def test_a_missing_driver_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:hush@host/x")
    monkeypatch.setattr(env, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match="driver is not installed") as refused:
        env.database_url("DATABASE_URL")
    assert "hush" not in str(refused.value)
