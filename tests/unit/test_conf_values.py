"""Settings: each value has bounds, and junk is refused by name."""

from __future__ import annotations

import pytest

from dreams import conf
from tests.world.cases import each


@each(
    ("key", "raw", "value"),
    [
        ("min_sessions", "7", 7),
        ("min_hours", "0.5", 0.5),
        ("paused", "on", True),
        ("paused", "", False),
        ("engine", "rules", "rules"),
        ("time_zone", "Europe/Berlin", "Europe/Berlin"),
        ("max_tokens", "1_000_000", 1_000_000),
        ("max_tokens", "2,000,000", 2_000_000),
    ],
)
def test_a_good_value_is_read_as_its_own_type(key: str, raw: str, value: object) -> None:
    assert conf.parse(key, raw) == value


@each(
    ("key", "raw"),
    [
        ("min_sessions", "many"),
        ("min_sessions", "0"),
        ("min_sessions", "2.5"),
        ("min_hours", "nan"),
        ("min_hours", "-1"),
        ("paused", "perhaps"),
        ("engine", "oracle"),
        ("model", " "),
        ("model", "m" * 101),
        *(("fallback_model", odd) for odd in (None, ["a"], {}, True, 7, "a\x00b", "a\udcff")),
        ("time_zone", "Mars/Olympus"),
    ],
)
def test_junk_is_refused_with_the_settings_name(key: str, raw: object) -> None:
    with pytest.raises(conf.BadValue, match=conf.specs()[key].label):
        conf.parse(key, raw)


@each("raw", ["0,50", "0,500", "1,5", "1,5000", "12,00"])
def test_a_decimal_comma_is_not_left_out(raw: str) -> None:
    with pytest.raises(conf.BadValue, match=f"“{raw}” is not a number; write decimals with a point"):
        conf.parse("max_cost_dream", raw)


def test_a_number_that_is_missing_or_too_large_is_told_in_words() -> None:
    with pytest.raises(conf.BadValue, match="Hours between dreams: a number is missing"):
        conf.parse("min_hours", " ")
    with pytest.raises(conf.BadValue, match=r"is above the maximum, 100,000,000$"):
        conf.parse("max_tokens", "999999999999")


def test_every_default_is_a_value_that_its_setting_takes() -> None:
    for key, spec in conf.specs().items():
        assert conf.parse(key, spec.default) == spec.default


def test_the_environment_is_read_by_the_settings_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYWEB_MIN_SESSIONS", "9")
    assert conf.from_environment("min_sessions") == 9
    monkeypatch.setenv("MEMORYWEB_MIN_SESSIONS", "nine")
    with pytest.raises(conf.BadValue):
        conf.from_environment("min_sessions")


@pytest.mark.parametrize("name", ["REQUIRE_OS_SANDBOX", "MEMORYWEB_REQUIRE_OS_SANDBOX"])
def test_the_os_sandbox_can_be_required_by_either_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert conf.from_environment("require_os_sandbox") is None
    monkeypatch.setenv(name, "1")
    assert conf.from_environment("require_os_sandbox") is True


def test_junk_in_the_environment_hurts_nobody_whose_setting_is_given_in_the_pages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMORYWEB_MIN_SESSIONS", "nine")
    assert conf.Overrides({"min_sessions": 4}, {}).config(None).min_sessions == 4
    with pytest.raises(conf.BadValue, match="nine"):
        conf.Overrides({}, {}).config(None)
