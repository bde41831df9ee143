"""Every removed line is accounted for, whoever removed it; what is not, blocks."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import example, given, strategies as st

from dreams.engines.types import Citation, Fate
from dreams.findings import examine
from dreams.findings.directories import between
from dreams.findings.ledger import facts, keeping, state, units
from dreams.findings.ledger.units import units_of
from dreams.lib.memdir import files_by_word
from tests.world.cases import each
from tests.world.findings import DEPLOY, FILES, INDEX, changed, codes, one, report

PORT = "- [Gone](gone.md) — the staging server listens on port 8443\n"
TABS = "- Prefers tabs over spaces in Go code\n"


def fates(found):
    return [row.fate for row in found.ledger]


@each(
    ("path", "line"),
    [
        ("user_role.md", TABS),
        ("user_role.md", "- Never deploys to production after 16:00\n"),
        ("deploy.md", "**Why:** a manual deploy lost orders in 2025-11.\n"),
        ("deploy.md", "Deploys go through `make ship`."),
        ("deploy.md", "  type: project\n"),
        ("MEMORY.md", PORT),
        ("user_role.md", "# Ana\n"),
    ],
)
def test_a_dropped_statement_blocks(path, line):
    found = report(changed(path, line, ""))
    loss = one(found, "unexplained-loss")
    assert loss.severity == "block"
    assert loss.path == path
    assert "unexplained" in fates(found)


@each(("info", "is_lost"), [("yaml", False), (" bash ", False), ("yaml title=deploy.yml", True)])
def test_what_a_fence_says_besides_the_language_is_a_statement(info, is_lost):
    before = {"a.md": f"# A\n\n```{info}\nretries: 3\n```\n".encode()}
    bare = report({"a.md": b"# A\n\n```\nretries: 3\n```\n"}, before)
    assert ("unexplained-loss" in codes(bare)) == is_lost
    moved = {"a.md": b"# A\n", "b.md": before["a.md"].replace(b"# A", b"# B")}
    assert "unexplained-loss" not in codes(report(moved, before)), "with all that it says"


@each(
    ("line", "becomes", "is_lost"),
    [
        ("Never push to main.\n", "Pushing to main is not forbidden.\n", True),
        ("Avoid mocks in tests.\n", "Mocks in tests are not avoided.\n", True),
        ("Never push to main.\n", "Pushing to main is forbidden.\n", False),
        ("Pushing to main is forbidden without a review.\n", "Never push to main without a review.\n", False),
    ],
)
def test_a_prohibition_that_is_denied_is_no_prohibition(line, becomes, is_lost):
    before = {**FILES, "user_role.md": f"# Ana\n\n{line}".encode()}
    found = report(changed("user_role.md", line, becomes, before), before)
    assert ("unexplained-loss" in codes(found)) == is_lost


@each(
    ("link", "becomes", "code"),
    [
        ("[[ship_rules]]", "[[feedback_ship_rules]]", ""),
        ("[[ship-rules]]", "[[feedback-ship-rules]]", ""),
        ("[[ship_tests]]", "[[feedback_ship_rules]]", "unexplained-loss"),
    ],
)
def test_a_link_that_gets_its_type_loses_nothing(link, becomes, code):
    line = f"Read {link} before a deploy.\n"
    before = {**FILES, "feedback_ship_rules.md": DEPLOY.encode(), "user_role.md": f"# Ana\n\n{line}".encode()}
    found = report(changed("user_role.md", link, becomes, before), before)
    assert codes(found) == ({code} if code else set())


def test_the_finding_names_the_facts_that_are_gone():
    found = report(changed("MEMORY.md", PORT, ""))
    assert "8443" in one(found, "unexplained-loss").message


@each(
    ("old", "new"),
    [
        ("PostgreSQL 15", "PostgreSQL 16"),
        ("The shop runs", "The shop no longer runs"),
        ("`make ship`", "`make deploy`"),
        ("2025-11", "2025-12"),
        ("The shop runs on PostgreSQL 15", "The mall runs on PostgreSQL 15"),
    ],
)
def test_a_changed_fact_without_a_reason_blocks(old, new):
    assert "unexplained-loss" in codes(report(changed("deploy.md", old, new)))


@each(
    ("old", "new"),
    [
        ("Never deploys to production after 16:00", "Deploys to production after 16:00"),
        ("Never deploys to production after 16:00", "Never deploys to staging after 16:00"),
        ("every Friday", "every Thursday"),
        ("tabs over spaces", "spaces over tabs"),
        (TABS + "- Reviews pull requests every Friday\n", "- Prefers tabs over spaces in Go\n"),
    ],
)
def test_a_turned_or_dropped_detail_blocks(old, new):
    assert "unexplained-loss" in codes(report(changed("user_role.md", old, new)))


def test_a_line_that_moves_to_another_file_is_kept_there():
    after = changed("user_role.md", TABS, "")
    after["deploy.md"] += b"\n" + TABS.encode()
    found = report(after)
    assert "unexplained-loss" not in codes(found)
    (row,) = found.ledger
    assert (row.fate, row.target_path) == ("kept-in", "deploy.md")
    line = after["deploy.md"].decode().split("\n")[(row.target_line or 0) - 1]
    assert line == TABS.strip()


def test_other_marks_case_and_wrapping_are_no_loss():
    text = "The shop runs on PostgreSQL 15. Deploys go through `make ship`."
    after = changed("deploy.md", text, "* The shop runs\n  on PostgreSQL 15.\n* Deploys go through make ship")
    assert "unexplained-loss" not in codes(report(after))


def test_two_lines_merged_into_one_are_no_loss():
    lines = TABS + "- Reviews pull requests every Friday\n"
    merged = "- Prefers tabs over spaces in Go code; reviews pull requests every Friday\n"
    found = report(changed("user_role.md", lines, merged))
    assert "unexplained-loss" not in codes(found)
    assert fates(found) == ["merged-into", "merged-into"]


def test_a_merge_that_crosses_owners_blocks():
    before = {"a.md": b"- Ana owns billing\n- Bob owns search\n"}
    after = {"a.md": b"- Ana owns search, Bob owns billing\n"}
    assert "unexplained-loss" in codes(report(after, before))


def test_a_merged_file_is_accounted_for_with_its_row_and_frontmatter():
    after = dict(FILES)
    body = DEPLOY.split("---\n")[-1].strip()
    del after["deploy.md"]
    after["user_role.md"] += b"\n" + body.encode() + b"\n"
    after["MEMORY.md"] = INDEX.replace("- [Deploy](deploy.md) — how the shop is deployed\n", "").encode()
    found = report(after)
    assert "unexplained-loss" not in codes(found), [f.message for f in found.findings]


def test_the_hook_of_a_row_without_a_file_must_survive():
    kept = changed("MEMORY.md", PORT, "- The staging server listens on port 8443\n")
    assert "unexplained-loss" not in codes(report(kept))


def test_a_relative_date_written_out_is_no_loss():
    before = {"a.md": b"- The old API was switched off yesterday\n"}
    after = {"a.md": b"- The old API was switched off on 2026-03-02\n"}
    assert "unexplained-loss" not in codes(report(after, before))


def test_a_rule_about_a_weekday_made_one_day_blocks():
    before = {"a.md": b"- Ship with make, never on Friday\n"}
    after = {"a.md": b"- Ship with make, sometimes on 2026-02-27\n"}
    assert "unexplained-loss" in codes(report(after, before))


@each(
    ("old", "new"),
    [
        ("Never squash 2 commits", "Squash 2 commits"),
        ("Never squash 2 commits", "Never squash 3 commits"),
        ("no squashing on main", "squashing on main"),
    ],
)
def test_a_summary_turned_against_its_file_blocks(old, new):
    text = "---\nname: no squashing on main\ndescription: Never squash 2 commits on main\n---\nOn main, 2 commits or more: never squash them, the team reads each one of those commits.\n"
    found = report({"a.md": text.replace(old, new).encode()}, {"a.md": text.encode()})
    assert "unexplained-loss" in codes(found)


def test_a_summary_may_be_shortened_while_its_file_says_it_all():
    text = "---\ndescription: Run make ship from main, then tag it\n---\nRun make ship from main, then tag it with the date.\n"
    after = text.replace(", then tag it\n", "\n")
    assert "unexplained-loss" not in codes(report({"a.md": after.encode()}, {"a.md": text.encode()}))


def test_a_copy_that_changes_while_the_other_stays_warns():
    line = b"- Backups are kept for 14 days on Hetzner\n"
    after = {"a.md": line.replace(b"14", b"30"), "b.md": line}
    found = report(after, {"a.md": line, "b.md": line})
    assert one(found, "now-contradicts").severity == "warn"


def test_a_long_row_cut_short_is_kept_in_its_file():
    hook = "the shop is deployed by `make ship` from main; it takes 4 minutes, and 2 people must watch it"
    before = changed("MEMORY.md", "how the shop is deployed", hook)
    after = changed("MEMORY.md", "; it takes 4 minutes, and 2 people must watch it", "", files=before)
    assert "unexplained-loss" in codes(report(after, before))
    after["deploy.md"] += f"\n{hook}\n".encode()
    assert "unexplained-loss" not in codes(report(after, before))


def test_a_superseded_line_needs_its_new_value_to_stand():
    line, new = "- Reviews pull requests every Friday", "- Reviews pull requests every Monday"
    claim = Fate(line, "superseded-by", "user_role.md", new, "said on 2026-04-01")
    after = changed("user_role.md", line, new)
    found = report(after, fates=(claim,))
    assert "unexplained-loss" not in codes(found)
    assert fates(found) == ["superseded-by"]
    gone = report(changed("user_role.md", line + "\n", ""), fates=(claim,))
    assert "unexplained-loss" in codes(gone)


TABLE = b"---\ndescription: The ports of 9 servers\n---\n\n| Name | Value | Where |\n|---|---|---|\n| Port | 8080 | staging |\n"
WITH_TABLE = {**FILES, "table.md": TABLE}


@each(
    ("path", "line", "was", "now", "quote"),
    [
        ("table.md", "description: The ports of 9 servers", "9", "10", "There are 10 servers."),
        ("deploy.md", "The shop runs on PostgreSQL 15. Deploys go through `make ship`.", "PostgreSQL 15", "PostgreSQL 17", "image: postgresql:17 # PostgreSQL 17"),
        ("table.md", "| Port | 8080 | staging |", "8080", "9090", "staging: port 9090"),
    ],
)  # fmt: skip
def test_a_claim_may_name_a_whole_line_of_any_kind(path, line, was, now, quote):
    """A model copies lines: a field with its name, a row of a table, a line of several sentences."""
    after = changed(path, was, now, WITH_TABLE)
    claim = Fate(line, "superseded-by", path, line.replace(was, now))
    cited = Citation("repository", quote, "/repo/README.md")
    assert "unexplained-loss" in codes(report(after, WITH_TABLE, citations=(cited,)))
    found = report(after, WITH_TABLE, fates=(claim,), citations=(cited,))
    assert "unexplained-loss" not in codes(found) and one(found, "superseded").severity == "warn"
    elsewhere = replace(claim, target_text=claim.target_text + " And more.")
    assert "unexplained-loss" in codes(report(after, WITH_TABLE, fates=(elsewhere,), citations=(cited,)))


def test_a_claim_about_one_sentence_of_a_line_explains_only_that_one():
    old, new = "The shop runs on PostgreSQL 15.", "The shop runs on PostgreSQL 17."
    claim = Fate(old, "superseded-by", "deploy.md", new)
    cited = Citation("repository", "image: postgresql 17 # PostgreSQL 17", "/repo/compose.yml")
    after = changed("deploy.md", old, new)
    found = report(after, fates=(claim,), citations=(cited,))
    assert codes(found) == {"superseded"}
    both = changed("deploy.md", "`make ship`", "`make deploy`", after)
    lost = one(report(both, fates=(claim,), citations=(cited,)), "unexplained-loss")
    assert "make ship" in lost.message


@each(("new", "is_lost"), [("staging of PostgreSQL 15", False), ("staging of PostgreSQL 17", True)])
def test_a_row_may_say_what_its_memory_says_now(new, is_lost):
    before = changed("MEMORY.md", "how the shop is deployed", "how the shop ran on PostgreSQL 9")
    after = changed("MEMORY.md", "how the shop ran on PostgreSQL 9", f"how the shop runs, {new}", before)
    claim = Fate(
        "how the shop ran on PostgreSQL 9", "superseded-by", "MEMORY.md", f"how the shop runs, {new}"
    )
    assert ("unexplained-loss" in codes(report(after, before, fates=(claim,)))) is is_lost


ROW, NEW_ROW = "| Port | 8080 | staging |", "| Port | 9090 | staging |"
README = Citation("repository", "STAGING_PORT=9090 on staging", "/repo/README.md", line_no=4)


@each(
    ("new", "cited", "why"),
    [
        ("", README, "nothing takes its place"),
        (NEW_ROW, replace(README, found=False), "the quote is not there"),
        (NEW_ROW, replace(README, quote="Retries: 9090"), "the number is said of something else"),
        (NEW_ROW, replace(README, quote="The port is in .env"), "the quote lacks the value"),
        (NEW_ROW, replace(README, source="transcript", role="tool_result"), "a tool printed it"),
        (NEW_ROW, replace(README, source="transcript", role="assistant"), "the agent said it"),
        (NEW_ROW, replace(README, source="memory", place="table.md"), "the memory is no proof of itself"),
        ("| Colour | 9090 | shop front |", README, "the new line is about something else"),
        ("| Port | 9090 | |", README, "a second fact goes with the first"),
        ("| Port | | staging |", README, "the value only goes"),
        ("| Port | 9090, 7070 | staging |", README, "one of two new values is in no quote"),
    ],
)
def test_a_line_is_not_superseded_without_a_quote_of_what_is_new(new, cited, why):
    after = changed("table.md", ROW, new, WITH_TABLE)
    claim = Fate(ROW, "superseded-by", "table.md", new)
    found = report(after, WITH_TABLE, fates=(claim,), citations=(cited,))
    assert "unexplained-loss" in codes(found), why


@each(
    "quote",
    ["Deploys run on every push", "make ship", "production: the shop", "deploys after 16:00 are watched by nobody"],
)  # fmt: skip
def test_a_rule_that_is_turned_round_needs_a_quote_that_says_so(quote):
    rule = "- Never deploys to production after 16:00"
    new = rule.replace("Never deploys", "Deploys")
    claim, cited = (
        Fate(rule, "superseded-by", "user_role.md", new),
        Citation("repository", quote, "/repo/README.md"),
    )
    found = report(changed("user_role.md", rule, new), fates=(claim,), citations=(cited,))
    assert "unexplained-loss" in codes(found)
    said = Citation(
        "transcript", "we deploy to production after 16:00 again", "s.jsonl", line_no=3, role="user"
    )
    assert "unexplained-loss" not in codes(
        report(changed("user_role.md", rule, new), fates=(claim,), citations=(said,))
    )


@each(
    ("old", "new"),
    [
        ("- Never deploys to production after 16:00, and asks Alice about port 8080", "- Deploys to production after 16:00"),
        ("- Never deploys to production after 16:00", "- Deploys to production after 23:00"),
        (f"- Deploys after 15:00 {'to production ' * 400} and asks Alice", f"- Deploys after 16:00 {'to production ' * 400}"),
    ],
)  # fmt: skip
def test_a_proof_of_one_part_proves_no_other_part_of_a_line(old, new):
    before = {**FILES, "a.md": f"# A\n\n{old}\n".encode()}
    claim = Fate(f"{old} ", "superseded-by", "a.md", new)
    cited = Citation("repository", "we deploy to production after 16:00", "/repo/README.md", line_no=1)
    found = report(changed("a.md", old, new, before), before, fates=(claim,), citations=(cited,))
    assert "superseded" not in codes(found)


def test_what_a_person_said_since_takes_the_place_of_a_statement_and_nothing_else_does():
    line, new = "- Reviews pull requests every Friday", "- Reviews pull requests every Monday"
    after = changed("user_role.md", line, new)

    def told(quote: str, role: str = "user"):
        at = dt.datetime(2026, 4, 1, tzinfo=dt.UTC)
        return report(
            after, citations=(Citation("transcript", quote, "s.jsonl", line_no=3, role=role, at=at),)
        )

    found = told("please note: he reviews pull requests every Monday")
    assert fates(found) == ["superseded-by"] and "unexplained-loss" not in codes(found)
    assert found.ledger[0].note.startswith("You said on 2026-04-01: “")
    for other in (
        "he reviews pull requests every Sunday",
        "deploys run every Monday",
        "pull requests are long",
    ):
        assert "unexplained-loss" in codes(told(other))
    assert "unexplained-loss" in codes(told("he reviews pull requests every Monday", "tool"))


def test_a_claim_about_something_else_is_not_believed():
    line = "- Reviews pull requests every Friday"
    claim = Fate(line, "superseded-by", "deploy.md", "The shop runs on PostgreSQL 15.", "newer")
    assert "unexplained-loss" in codes(report(changed("user_role.md", line + "\n", ""), fates=(claim,)))


def test_a_claim_of_being_kept_is_looked_up():
    line = "- Reviews pull requests every Friday"
    claim = Fate(line, "kept-in", "user_role.md", TABS.strip(), "")
    assert "unexplained-loss" in codes(report(changed("user_role.md", line + "\n", ""), fates=(claim,)))


def test_a_stated_reason_is_taken_and_shown_and_warned_about_without_evidence():
    claim = Fate(TABS.strip(), "stated", note="You asked to forget this.")
    after = changed("user_role.md", TABS, "")
    found = report(after, fates=(claim,))
    assert fates(found) == ["stated"]
    assert one(found, "stated-without-evidence").severity == "warn"
    quote = Citation("transcript", "forget that I like tabs", role="user")
    assert "stated-without-evidence" not in codes(report(after, fates=(claim,), citations=(quote,)))


def test_what_is_removed_for_one_reason_without_evidence_is_one_finding_with_its_lines():
    lines = "## State as of 2025-03-30", "- Moved to the shop team", "- Learns Rust on Fridays"
    before = {**FILES, "user_role.md": FILES["user_role.md"] + "\n".join(("", *lines, "")).encode()}
    claims = tuple(Fate(line, "stated", note="It is as of 2025-03-30.") for line in lines)
    found = one(report(FILES, before, fates=claims), "stated-without-evidence")
    assert all(line in found.message for line in lines)
    assert found.message.endswith("without evidence: It is as of 2025-03-30.")


def test_each_line_that_another_one_replaces_without_evidence_is_a_finding_of_its_own():
    lines = (
        "- Reviews pull requests every Friday",
        "- Deploys the shop every Monday",
        "- Likes tea in the office",
    )
    new = (
        "- Reviews pull requests on Tuesday",
        "- Deploys the shop on Thursday",
        "- Likes tea in the new office",
    )
    before = {**FILES, "user_role.md": ("# Ana\n\n" + "\n".join(lines) + "\n").encode()}
    after = {**FILES, "user_role.md": ("# Ana\n\n" + "\n".join(new) + "\n").encode()}
    kinds = "superseded-by", "superseded-by", "kept-in"
    claims = tuple(map(Fate, lines, kinds, ["user_role.md"] * 3, new))
    found = report(after, before, fates=claims)
    told = [one.message for one in found.findings if one.code == "stated-without-evidence"]
    assert [message.partition("”")[0] for message in told] == [f"“{line[2:]}" for line in lines[:2]]


def test_the_words_that_leave_are_no_evidence_that_they_may():
    """A model that cites a line and removes it has shown that the line was there."""
    quote = Citation("memory", "tabs over spaces", "user_role.md", line_no=9)
    claim = Fate(TABS.strip(), "stated", note="It is outdated.")
    found = report(changed("user_role.md", TABS, ""), fates=(claim,), citations=(quote,))
    assert one(found, "stated-without-evidence").severity == "warn"


def test_a_quote_of_another_memory_is_evidence_though_the_same_words_leave_here():
    """Of two memories with one text each label of the second one has the first one's lines for evidence."""
    quote = Citation("memory", "tabs over spaces", "feedback_tabs.md", line_no=9)
    claim = Fate(TABS.strip(), "stated", note="A label of the merged file.")
    found = report(changed("user_role.md", TABS, ""), fates=(claim,), citations=(quote,))
    assert "stated-without-evidence" not in codes(found)


def test_a_rule_replaced_by_a_line_that_was_there_before_needs_evidence_too():
    rule = "- Never deploys to production after 16:00"
    quote = Citation("memory", rule.strip("- "), "user_role.md", line_no=11)
    claim = Fate(rule, "superseded-by", "deploy.md", "Deploys go through `make ship`.", "newer")
    found = report(changed("user_role.md", f"{rule}\n", ""), fates=(claim,), citations=(quote,))
    assert fates(found) == ["superseded-by"]
    assert one(found, "stated-without-evidence").severity == "warn"


def test_what_a_person_removes_is_stated_and_never_blocks():
    found = report(changed("user_role.md", TABS, ""), by_hand=True)
    assert fates(found) == ["stated"]
    assert one(found, "removed-by-hand").severity == "info"


def test_a_removal_by_hand_is_no_reason_for_the_engine_later():
    by_hand = report(changed("user_role.md", TABS, ""), by_hand=True).ledger[0]
    claim = Fate(TABS.strip(), "stated", note=by_hand.note)
    assert "unexplained-loss" in codes(report(changed("user_role.md", TABS, ""), fates=(claim,)))


def test_blank_lines_and_headings_with_nothing_below_are_no_loss():
    before = {"a.md": b"# Notes\n\n\n## Later\n\n---\n\n- Uses Vim\n\n## Empty\n"}
    after = {"a.md": b"# Notes\n\n## Later\n- Uses Vim\n"}
    assert "unexplained-loss" not in codes(report(after, before))


def test_a_checked_box_that_is_unchecked_blocks():
    before = {"a.md": b"- [x] migrate the billing tables to the new schema\n"}
    after = {"a.md": b"- [ ] migrate the billing tables to the new schema\n"}
    assert "unexplained-loss" in codes(report(after, before))


@each(
    ("old", "new", "fate"),
    [
        ("As of 2026-03-16, the shop has:", "As of 2026-03-18, the shop has:", "superseded-by"),
        ("Fastify backend with /ping and /health routes", "Fastify backend with /ping, /health, and /api/settings routes", "merged-into"),
    ],
)  # fmt: skip
def test_a_later_date_and_a_longer_list_are_no_loss(old, new, fate):
    found = examine(between({"a.md": f"- {old}\n".encode()}, {"a.md": f"- {new}\n".encode()}))
    assert fates(found) == [fate]
    assert "unexplained-loss" not in codes(found)


@each(
    ("old", "new"),
    [
        ("As of 2026-03-18, the shop has:", "As of 2026-03-16, the shop has:"),
        ("As of 2026-03-16, the shop has 3 tables", "As of 2026-03-18, the shop has 4 tables"),
        ("The freeze starts 2026-03-16", "The freeze starts 2026-03-18"),
        ("Backend with /ping and /health routes", "Backend with /ping, /api/settings routes"),
        ("Keys are stored in the vault", "Keys are sorted in the vault"),
    ],
)
def test_an_earlier_date_a_shorter_list_and_another_word_are_told(old, new):
    found = examine(between({"a.md": f"- {old}\n".encode()}, {"a.md": f"- {new}\n".encode()}))
    assert {"unexplained-loss", "reworded"} & set(codes(found))


def test_of_a_statement_in_other_words_the_words_that_are_gone_are_told():
    old, new = "Gotcha: stale caches break the preview build", "Stale caches break the preview build"
    found = examine(between({"a.md": f"- {old}\n".encode()}, {"a.md": f"- {new}\n".encode()}))
    [told] = [each for each in found.findings if each.code == "reworded"]
    assert told.severity == "warn" and "these words are gone: “Gotcha”" in told.message


def test_a_word_that_is_gone_is_told_as_the_statement_has_it_and_not_as_it_is_compared():
    """ "Max" is compared as "most"."""
    old = "Gotcha: uploads have a max of 30 megabytes"
    lost = facts.words_lost(old, "Uploads have 30 megabytes")
    assert facts.as_written(lost, old) == ["Gotcha", "max"]


def test_a_rule_turned_round_is_told_in_its_two_words():
    files = {"a.md": b"Never deploy on a Friday after noon.\n"}
    said = one(
        report({"a.md": b"Always deploy on a Friday after noon.\n"}, files), "unexplained-loss"
    ).message
    assert said.endswith("It was the only place that said “never” (now “always”).")


@each(
    ("words", "text", "told"),
    [
        (["03", "00", "utc"], "Backups run at 03:00 UTC.", ["03:00", "UTC"]),
        (["15"], "It starts at 02:15:30.", ["02:15:30"]),
        (["10"], "It stops at 10 GB: no more.", ["10"]),
        (["run", "240", "second"], "The run takes four minutes.", ["run", "four minutes"]),
        (["1800"], "It needs two hours and 30 minutes.", ["30 minutes"]),
    ],
)
def test_a_time_is_told_whole(words: list[str], text: str, told: list[str]) -> None:
    assert facts.as_written(words, text) == told


def test_a_frontmatter_line_that_all_memories_have_needs_no_place_where_it_is_kept():
    left = {path: data for path, data in FILES.items() if path != "deploy.md"}
    kept = report({**left, "project_shop.md": FILES["deploy.md"]})
    assert not [row.text for row in kept.ledger if "type:" in row.text]
    assert any("PostgreSQL 15" in row.text for row in kept.ledger)


def test_a_log_keeps_no_fact() -> None:
    """Agents load no logs, and what stands only there is as good as lost."""
    log = {"logs/2026/03/2026-03-02.md": b"- 10:00 The shop runs on PostgreSQL 15.\n"}
    before = {**FILES, **log}
    after = changed("deploy.md", "The shop runs on PostgreSQL 15. ", "", before)
    assert "unexplained-loss" in codes(report(after, before))


def test_a_denial_in_the_name_of_a_linked_memory_denies_nothing() -> None:
    before = {
        "a.md": b"Related: [[solo-mode]], [[never-git-stash]].\n",
        "feedback_never_git_stash.md": b"x\n",
    }
    after = {**before, "a.md": b"Related: [[solo-mode]], [[feedback-never-git-stash]].\n"}
    assert "unexplained-loss" not in codes(report(after, before))


def test_a_labelled_value_that_changed_here_is_kept_by_its_copy_below_the_same_heading() -> None:
    said = b"# Shop\n\n- Port: 8443\n"
    before = {"a.md": said, "b.md": said}
    found = report({**before, "a.md": said.replace(b"8443", b"9443")}, before)
    [row] = [row for row in found.ledger if row.text == "- Port: 8443"]
    assert (row.fate, row.note.startswith("This line now says something else")) == ("kept-in", True)


def test_a_sign_at_the_beginning_of_a_wrapped_line_is_part_of_its_sentence() -> None:
    [unit] = units_of("a.md", b"Somebody is called when the load is\n> 12 for a minute.\n")
    assert unit.text == "Somebody is called when the load is > 12 for a minute."


def test_what_is_denied_of_two_things_is_denied_of_both_with_and_as_with_or() -> None:
    before = {"a.md": b"Never deploy to alpha or beta.\n"}
    found = report({"a.md": b"Do not deploy to alpha and beta.\n"}, before)
    assert [row.fate for row in found.ledger] == ["merged-into"]
    assert not codes(found) & {"says-otherwise", "unexplained-loss"}


@each(
    ("old", "new"),
    [
        ("The cache is shared and never flushed.", "The cache is not shared and never flushed."),
        ("The API is public and has no rate limit.", "The API is not public and has no rate limit."),
        ("The token is rotated without downtime.", "The token is not rotated without downtime."),
        (
            "Read the log, not the trace, as the log is whole.",
            "Read the log, not the trace, as the log is not whole.",
        ),
        ("Do not merge when a check is red.", "Do not merge when a check is not red."),
        ("Never sent if not configured or not connected.", "Sent if not configured or not connected."),
    ],
)
def test_a_statement_that_is_denied_beside_another_denial_is_lost(old: str, new: str) -> None:
    found = report({"a.md": f"- {new}\n".encode()}, {"a.md": f"- {old}\n".encode()})
    assert "unexplained-loss" in codes(found)


@each(
    ("old", "new"),
    [
        ("The cache is never flushed.", "The cache is not flushed, not even at night."),
        ("Do not guess, round, or fill in.", "Never guess, never round and never fill in."),
        ("The relay needs no restart.", "The relay needs no restart, and a restart is not worth it."),
    ],
)
def test_a_denial_in_other_words_or_said_twice_is_no_loss(old: str, new: str) -> None:
    found = report({"a.md": f"- {new}\n".encode()}, {"a.md": f"- {old}\n".encode()})
    assert "unexplained-loss" not in codes(found)


@each(
    ("old", "new"),
    [
        ("## Production\n\n- Port 8080\n", "## Staging\n\n- Port 8080\n"),
        ("## Relay\n\n- Port 8080\n", "## Relay (staging)\n\n- Port 8080\n"),
        ("## Do\n\n- Push to main\n", "## Do not\n\n- Push to main\n"),
        ("## Open points\n\n- Cache it all\n", "## Closed points\n\n- Cache it all\n"),
        ("## Phase 2 of it\n\n- Port 8080\n", "## Phase 2 of it (staging)\n\n- Port 8080\n"),
    ],
)
def test_a_heading_that_says_otherwise_of_the_same_lines_is_lost(old: str, new: str) -> None:
    found = report({"a.md": new.encode()}, {"a.md": old.encode()})
    assert "unexplained-loss" in codes(found)


@each(
    "line",
    [
        "- ~~The relay is restarted by the person~~",
        "- It is not true that the relay is restarted by the person",
        "- If asked, the relay is restarted by the person",
        "- The relay is restarted by the person never",
    ],
)
def test_a_line_of_a_wrapped_statement_that_is_taken_back_is_lost(line: str) -> None:
    before = b"- The relay is restarted by the person\n  who is on call.\n"
    found = report({"a.md": f"{line}\n  who is on call.\n".encode()}, {"a.md": before})
    assert "unexplained-loss" in codes(found)


def test_a_later_day_of_what_happened_takes_the_place_of_no_other() -> None:
    before = b"- Checked the log: the last entry was 2026-05-09.\n"
    found = report({"a.md": before.replace(b"05-09", b"06-09")}, {"a.md": before})
    assert [row.fate for row in found.ledger] == ["unexplained"]


@each(
    ("old", "new"),
    [
        ("Price: 5 €", "Price: 5 $"),
        ("The room is kept at -5 degrees.", "The room is kept at 5 degrees."),
        ("The room is kept at 5 degrees.", "The room is kept at -5 degrees."),
        ("The relay listens on port 8080.", "❌ The relay listens on port 8080."),
        ("Ask the user to resolve it before a push.", "Ask the agent to resolve it before a push."),
    ],
)
def test_another_currency_sign_or_actor_or_a_cross_before_it_is_a_loss(old: str, new: str) -> None:
    found = report({"a.md": f"- {new}\n".encode()}, {"a.md": f"- {old}\n".encode()})
    assert "unexplained-loss" in codes(found)


LIKEST = """
from dreams.findings.ledger.state import DirectoryStatements
words = ("harbour", "crane", "signal")
files = {f"{word}.md": "".join(f"- The {word} {n} is checked.\\n" for n in range(70)).encode() for word in words}
print([(each.path, each.unit.first_line) for each in DirectoryStatements(files).most_similar("harbour crane signal")])
"""


@pytest.mark.more
def test_what_a_statement_is_held_against_is_the_same_in_every_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", LIKEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "012"
    }
    assert len(told) == 1


def test_what_comes_with_something_is_what_it_has() -> None:
    assert keeping.says_all("The kit comes with a pump.", "The kit has a pump.", merged=True)


PIECES = (
    "Ana", "shop", "a", " ", " ", ". ", "\n", "\n\n", "- ", "> ", "# ", "**", "*", "_", "__", "`", "'", '"', "’", "~~", "|", ": ", " [Ana](ana.md)",
    " ![x](y.png)", " [[my_note]]", " [[note|the other]]", "---\n", "name: ", "\\", "!", "```\n", "    ", "1. ", "É", "ß", "x_y",
    ".", "/", "…", "-", "[x] ", "[debug]",
)  # fmt: skip


def test_what_took_the_place_of_a_statement_is_looked_for_once_in_a_list() -> None:
    state._newcomers.cache_clear()
    before = "".join(f"- Box {at} is on floor {at}\n" for at in range(60)).encode()
    report({"a.md": b"- Lamp 7 is in the hall\n"}, {"a.md": before})
    found = state._newcomers.cache_info()
    assert (found.misses, found.hits) == (1, 59)


def test_of_a_large_directory_only_files_with_the_words_of_a_statement_that_left_are_taken_apart(monkeypatch):
    real, taken_apart = units._fields, []

    def counted(head):
        taken_apart.append(head)
        return real(head)

    monkeypatch.setattr(units, "_fields", counted)
    before = {**FILES, **{f"m{number}.md": f"Room {number} is red.\n".encode() for number in range(1_100)}}
    before["copy.md"] = b"The deploys:\n\n- Deploys go **through** `make ship`.\n"
    after = changed("deploy.md", "Deploys go through `make ship`.", "Use `make send`.", before)
    asked = ["Which indentation do I prefer in Go code?"]
    found = examine(replace(between(before, after), asked=asked))
    assert "unexplained-loss" not in codes(found)
    assert 2 <= len(taken_apart) <= 12


def test_the_words_of_a_small_file_alone_are_kept() -> None:
    """Of files of some megabytes they would fill the memory of a server."""
    for size, kept in ((1_000, 1), (1_000_000, 0)):
        data, before = f"{size} ".encode().ljust(size, b"."), files_by_word.kept_words.cache_info().currsize
        assert files_by_word.words_in(data) == {str(size): 1}
        assert files_by_word.kept_words.cache_info().currsize - before == kept


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example("| Page | For |\n|---|---|\n| [[deploy_notes|deploys]] | us |\n")
def test_every_word_of_a_statement_is_among_the_words_of_its_file_before_it_is_taken_apart(said: str) -> None:
    data = said.encode()
    known = files_by_word.words_in(data).keys()
    for path in ("a.md", "MEMORY.md"):
        for unit in units_of(path, data):
            assert files_by_word.words_of_key(files_by_word.folded(unit.key)) <= known
