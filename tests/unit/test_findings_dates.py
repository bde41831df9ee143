"""A day that is only counted from the day of writing is told: who reads it later counts from another."""

from __future__ import annotations

import datetime as dt

from dreams.engines.types import Citation
from dreams.findings.examining import health
from tests.world.findings import FILES, changed, codes, one, report

QUESTION = "Reviews pull requests every Friday"
SAID = "We moved the shop to Hetzner yesterday."
CITED = Citation("transcript", SAID, role="user", at=dt.datetime(2026, 3, 2, 12, tzinfo=dt.UTC), context=SAID)


def with_line(text: str) -> dict[str, bytes]:
    return changed("user_role.md", f"- {QUESTION}\n", f"- {QUESTION}\n- {text}\n")


def test_what_comes_in_counted_from_its_day_warns():
    found = one(report(with_line("Moved the shop to Hetzner yesterday.")), "date-relative")
    assert found.severity == "warn"
    assert "“yesterday”" in found.message


def test_it_says_which_day_that_is_seen_from_the_session():
    found = one(
        report(with_line("Moved the shop to Hetzner yesterday."), citations=(CITED,)), "date-relative"
    )
    assert "“yesterday”, which is 2026-03-01 seen from 2026-03-02" in found.message


def test_a_line_that_names_its_day_or_is_a_rule_is_not_told():
    assert "date-relative" not in codes(report(with_line("Moved the shop yesterday, 2026-03-01.")))
    assert "date-relative" not in codes(report(with_line("Never deploys the orders of yesterday.")))


def test_what_stood_before_is_told_by_a_checkup_only():
    stands = with_line("Moved the shop to Hetzner last week.")
    moved = changed("user_role.md", "- Prefers tabs", "- Always prefers tabs", stands)
    assert "date-relative" not in codes(report(moved, stands))
    assert one(health(stands), "date-relative").severity == "info"
    assert "date-relative" not in codes(health(FILES))


def test_a_relative_day_of_the_line_before_is_not_new_in_its_correction():
    before = {**FILES, "a.md": b"# A\n\nMoved the shop to Hetzner yesterday.\n"}
    assert "date-relative" not in codes(report(changed("a.md", "Hetzner", "OVH", before), before))
    assert "date-relative" in codes(report(changed("a.md", "yesterday", "last Friday", before), before))


def test_a_heading_with_a_day_tells_when_what_is_below_it_was_written():
    below = "## 9 March 2026\n\n### Move\n\nMoved the shop to Hetzner yesterday.\n"
    assert "date-relative" not in codes(health({"notes.md": below.encode()}))
    after = f"{below}\n## Rules\n\nMoved the mail to Hetzner yesterday.\n"
    assert one(health({"notes.md": after.encode()}), "date-relative").line_no == 9


def test_a_day_of_a_month_is_the_same_whenever_it_is_read():
    assert "date-relative" not in codes(health({"notes.md": b"Moved the shop to Hetzner on May 4.\n"}))
