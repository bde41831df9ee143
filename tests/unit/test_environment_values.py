"""What only the environment can say is refused by name where it is junk, and no password is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from memoryweb import datadir, env
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


@each("value", ["postgres://me:hu#sh@host/x", "postgres://me:hu[sh@host/x", "postgres://me:hush@host:port/x"])
def test_what_is_no_address_of_a_database_is_told_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", value)
    monkeypatch.setattr(env, "find_spec", lambda name: True)
    with pytest.raises(ImproperlyConfigured, match="%23 for #") as refused:
        env.database_url("DATABASE_URL")
    assert "sh@" not in str(refused.value)


def test_a_missing_driver_is_named_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:hush@host/x")
    monkeypatch.setattr(env, "find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match="driver is not installed") as refused:
        env.database_url("DATABASE_URL")
    assert "hush" not in str(refused.value)


def test_a_home_folder_that_nobody_has_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYWEB_ROOTS", "~nobody-has-this/.claude")
    with pytest.raises(ImproperlyConfigured, match=r"MEMORYWEB_ROOTS is .* there is no such home folder"):
        env.paths("MEMORYWEB_ROOTS")
    monkeypatch.delenv("MEMORYWEB_ROOTS")

    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    with pytest.raises(ImproperlyConfigured, match="Set HOME, or MEMORYWEB_ROOTS"):
        env.path("MEMORYWEB_ROOTS", nowhere)


def test_a_file_with_a_value_that_is_no_text_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(b"\xff\xfe")
    monkeypatch.setenv("MEMORYWEB_SECRET_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ImproperlyConfigured, match="which cannot be read: it is not UTF-8 text"):
        env.text("MEMORYWEB_SECRET_KEY")


def test_a_data_directory_of_somebody_else_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a start with sudo: not even whether the key is there can be seen."""

    def hidden(self: Path, **_: object) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "exists", hidden)
    with pytest.raises(
        ImproperlyConfigured, match=r"secret_key cannot be made or read \(Permission denied\)"
    ):
        datadir.secret_key(tmp_path)


@each("damage", [b"", b"\n", b"\xff\xfe\xfd", b"half\x00\x00\x00"])
def test_a_key_that_a_power_failure_damaged_is_named_with_the_remedy(tmp_path: Path, damage: bytes) -> None:
    """An empty key would sign everything for everybody."""
    for name, find in (("secret_key", datadir.secret_key), ("host_id", datadir.host_id)):
        (tmp_path / name).write_bytes(damage)
        with pytest.raises(
            ImproperlyConfigured, match=f"{tmp_path}/{name} is damaged. Copy it from a backup"
        ):
            find(tmp_path)
