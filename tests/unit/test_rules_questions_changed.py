"""One thing with two values: asked with the answers drafted, the older one first; what is certain is never asked."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from pathlib import Path

import pytest

from dreams.engines.rules.questions import values
from dreams.engines.types import LineDate, Question
from dreams.lib.prose.exchanges import exchange
from dreams.lib.prose.statement_index import StatementIndex
from dreams.lib.prose.values import read
from tests.world.cases import each
from tests.world.rules import Dreamt, dream, memory, session

OLD, NEW = LineDate(dt.date(2026, 3, 1), "history", ""), LineDate(dt.date(2026, 9, 1), "history", "")
INDEX = "- [A](a.md) - the port\n- [B](b.md) - how to reach it\n"
ONE, OTHER = "ledger-worker listens on port 41873.", "Use port 50020 when you curl ledger-worker."


def asked(made: Dreamt, kind: str) -> list[Question]:
    return [each for each in made.outcome.questions if each.kind == kind]


def two(folder: Path, one: str = ONE, other: str = OTHER, *, dated: bool) -> Dreamt:
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{one}\n"), "b.md": memory(f"{other}\n")}
    return dream(folder, files, written={"a.md": OLD, "b.md": NEW} if dated else OLD)


def texts(question: Question, option: str) -> dict[str, str | None]:
    chosen = next(each for each in question.options if each.id == option)
    return {edit.path: edit.after for edit in chosen.edits}


def test_the_older_statement_comes_first_and_replacing_it_leaves_the_newer_value(tmp_path: Path) -> None:
    made = two(tmp_path, dated=True)
    (question,) = asked(made, "changed")
    assert [place.text for place in question.places] == [ONE, OTHER]
    assert [option.id for option in question.options] == ["replace", "keep", "history"]
    after = {"a.md": made.text("a.md"), "b.md": made.text("b.md"), **texts(question, "replace")}
    assert "41873" not in "".join(text or "" for text in after.values())
    history = texts(question, "history")["a.md"] or ""
    assert "port 41873 (until 2026-09-01; now 50020)." in history
    assert made.edits == []


def test_the_old_value_becomes_history_in_its_own_sentence(tmp_path: Path) -> None:
    [question] = asked(two(tmp_path, f"{ONE}\nDeploys go out on Tuesdays.", dated=True), "changed")
    history = texts(question, "history")["a.md"] or ""
    assert "port 41873 (until 2026-09-01; now 50020).\nDeploys go out on Tuesdays.\n" in history


def test_the_new_value_keeps_its_unit_beside_the_old_one(tmp_path: Path) -> None:
    one, other = "Timeouts of ledger-worker are 30 seconds long.", "ledger-worker has timeouts of 60 seconds."
    [question] = asked(two(tmp_path, one, other, dated=True), "changed")
    assert "30 seconds long (until 2026-09-01; now 60 seconds)." in (texts(question, "history")["a.md"] or "")


@each("more", [". Its debugger is on 418731.", "。部署在周二。"])
def test_only_the_sentence_with_the_whole_old_value_becomes_history(tmp_path: Path, more: str) -> None:
    [question] = asked(two(tmp_path, f"{ONE[:-1]}{more}", dated=True), "changed")
    history = texts(question, "history")["a.md"] or ""
    assert history.count("now") == 1 and f"port 41873 (until 2026-09-01; now 50020).{more[1:]}\n" in history


def test_of_several_newer_values_the_last_day_counts_and_two_of_one_day_are_of_two_things(
    tmp_path: Path,
) -> None:
    third = OTHER.replace("50020", "50021")
    last = LineDate(dt.date(2026, 10, 1), "history", "")
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{ONE}\n"), "b.md": memory(f"{OTHER}\n\n{third}\n")}
    made = dream(tmp_path / "one day", files, written={"a.md": OLD, "b.md": NEW})
    assert asked(made, "changed") == []
    told = [f"ledger-worker moved from port 41873 to {port}." for port in (50020, 50021)]
    files |= {"b.md": memory("\n\n".join(told) + "\n")}
    assert asked(dream(tmp_path / "told", files, written={"a.md": OLD, "b.md": NEW}), "changed") == []
    files |= {"b.md": memory(f"{OTHER}\n"), "c.md": memory(f"{third}\n")}
    made = dream(tmp_path / "two days", files, written={"a.md": OLD, "b.md": NEW, "c.md": last})
    of_it = [each for each in asked(made, "changed") if each.places[0].text == ONE]
    assert [place.text for each in of_it for place in each.places] == [ONE, third]


def test_the_comma_behind_an_address_is_no_part_of_it(tmp_path: Path) -> None:
    line = "The relay is at https://relay.acme.dev/v1, behind nginx."
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{line}\n")}
    [question] = asked(
        dream(tmp_path, files, [session(1, "the relay is at https://relay.acme.dev/v2, now")]), "changed"
    )
    assert "The relay is at https://relay.acme.dev/v2, behind nginx.\n" in (
        texts(question, "replace")["a.md"] or ""
    )
    assert "(until 2026-10-10; now https://relay.acme.dev/v2)." in (texts(question, "history")["a.md"] or "")


def test_the_older_note_keeps_the_clause_that_only_it_has(tmp_path: Path) -> None:
    one, other = "The web app listens on port 8080 and needs a restart.", "The web app listens on port 9090."
    [question] = asked(two(tmp_path, one, other, dated=True), "changed")
    assert "The web app listens on port 9090 and needs a restart.\n" in (
        texts(question, "replace")["a.md"] or ""
    )


def test_a_number_never_takes_the_place_of_a_name_before_which_another_word_stands(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory("ledger-worker listens on socket `/run/ledger.sock`.\n")}
    said = "ledger-worker now listens on port 50020 instead of `/run/ledger.sock`."
    made = dream(tmp_path, files, [session(1, said)])
    options = [edit.after or "" for each in made.outcome.questions for o in each.options for edit in o.edits]
    assert "socket 50020" not in "".join([made.text("a.md"), *options])
    [_] = asked(made, "changed")
    assert any("ledger-worker listens on port 50020\n" in after for after in options)


@each(
    ("one", "other"),
    [
        ("`wafer_table` must know 7nm.", "`wafer_table`: the groups (7nm→KL7, 9nm→KL9)"),
        ("`pickRay` is described in ADR-067.", "`pickRay`: ADR-067 → 被 a constitution 部分取代"),
        (
            "`acceptRoute` makes a quote anew (no 422)",
            '`acceptRoute`: guard "422" → "make anew, failure 502"',
        ),
        ("`themeTokens` has the modes Light 2:0/Dark 2:1", "`themeTokens` is flipped in both (2:1→2:0)"),
        ("**DRİFT** of `numbering`: 3815→3821 green", "`numbering` revised: 3821→3837 green"),
        (
            "`shortClips`: 23 clips were deleted",
            "`shortClips`: 187 (down from 238), 80 of them deleted since",
        ),
        ("`coreOffer` has 4 stages", "`coreOffer` has 120 queries (expanded from 40), 4 stages, 5 sales"),
        ("`partnerShare` is a fifth of all: $89K", "`partnerShare`: buyers sign $14K more easily than $89K"),
        ("A stall of 6900 resets the board of pierGate", "pierGate: watchdog 6900 → 7100"),
        ("The wafer table has 135 rows.", "the wafer table has 135 → 123 rows"),
        ("The relay listens on port 8080.", "The relay moved from port 8080 to 9090."),
        (
            "PushGate asks the gateway for 82 items at once, whatever the device",
            "Correction: the page size of PushGate is 186 items, not 82 items.",
        ),
    ],
)
def test_what_a_note_says_of_another_value_than_its_own_is_not_asked_about(
    tmp_path: Path, one: str, other: str
) -> None:
    files = {"MEMORY.md": "- [A](a.md) - hosts\n", "a.md": memory(f"- {one}\n- {other}\n")}
    assert dream(tmp_path, files).outcome.questions == []


def test_a_number_that_is_past_of_one_thing_is_none_of_another(tmp_path: Path) -> None:
    body = "- Use bun 1.2, not node 20, for scripts.\n- The server needs node 20.\n"
    body += "- The filter uses `haiku-4-5` (fixed from dead model `haiku-3-5`)\n- Fixed dead model in mapper.py (`haiku-3-5` → `haiku-4-5`)\n"
    files = {"MEMORY.md": "- [A](a.md) - hosts\n", "a.md": memory(body)}
    assert asked(dream(tmp_path, files), "changed") == []


@each(
    ("told", "said"),
    [
        (
            "**Kho phía nam: tín hiệu TỐT, nhưng mùa đông đã đóng cửa hai lần**, gộp lại chỉ còn một nửa.",
            "tôi muốn giới hạn tàu ở cảng, tối đa = KHO/ ngày; nhưng nếu còn chỗ thì vẫn nhận thêm khi có tín hiệu tốt",
        ),
    ],
)
def test_what_is_said_at_length_of_something_else_changes_nothing(
    tmp_path: Path, told: str, said: str
) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{told}\n"), "b.md": memory(f"{OTHER}\n")}
    assert dream(tmp_path, files, [session(1, said)]).outcome.questions == []


def test_without_a_known_order_the_person_says_which_holds(tmp_path: Path) -> None:
    (question,) = asked(two(tmp_path, dated=False), "conflict")
    assert [option.id for option in question.options] == ["first", "second", "keep"]
    first = "".join(text or "" for text in texts(question, "first").values())
    second = "".join(text or "" for text in texts(question, "second").values())
    assert "50020" not in first and "41873" not in second
    # A bare value would say nothing in a review: the reason quotes the note.
    reasons = [edit.reason for option in question.options[:2] for edit in option.edits]
    assert reasons and all(re.search(r"^\w+\.md says “\S+ .*”\.$", reason) for reason in reasons)


@each("dated", [True, False])
@each(
    ("one", "other"),
    [
        ("**Status: closed via PR #118.**", "**Status: closed via PR #153.**"),
        ("**Harbour Issue**: #915\n**Priority**: Should Have\n**Created**: 2026-03-16", "**Harbour Issue**: #1029\n**Priority**: Must Have\n**Created**: 2026-03-19"),
        ("**Berth 1 = lifeline of the yard** — NEVER add Default/Berth1 to the Moorings section in DOCK.", "Berth 1 (Default) = lifeline of the yard — never add to DOCK Moorings section"),
        ("`/home/ada/Papers/capacity planner v2 (1).xlsx` **private, never commit**", "`docs/field checklists v5 (1).xlsx` **private, never commit**"),
    ],
)  # fmt: skip
def test_a_number_or_file_that_names_a_thing_is_no_value_of_another(
    tmp_path: Path, one: str, other: str, dated: bool
) -> None:
    assert two(tmp_path, one, other, dated=dated).outcome.questions == []


def test_an_option_of_a_conflict_has_the_unit_of_its_number(tmp_path: Path) -> None:
    one, other = "A failed charge is retried 0 times.", "A failed charge is retried 5 times."
    (question,) = asked(two(tmp_path, one, other, dated=False), "conflict")
    assert [option.label for option in question.options[:2]] == ["It is 0 times", "It is 5 times"]
    assert question.why == "One note says 0 times, another 5 times."
    (question,) = asked(two(tmp_path / "port", dated=False), "conflict")
    assert [option.label for option in question.options[:2]] == ["It is 41873", "It is 50020"]


def test_a_box_that_was_ticked_in_two_forms_is_no_conflict(tmp_path: Path) -> None:
    for box, count in (("[x] ", 0), ("", 1)):
        files = {
            "MEMORY.md": "- [A](audit_a.md) - citizen\n- [B](audit_b.md) - senate\n",
            "audit_a.md": memory(f"- {box}Memory usage minimal (<20MB estimated)\n"),
            "audit_b.md": memory(f"- {box}Memory usage minimal (<10MB estimated)\n"),
        }
        assert len(asked(dream(tmp_path / f"{count}", files), "conflict")) == count


def test_a_value_that_the_other_statement_has_too_is_in_nobodys_place(tmp_path: Path) -> None:
    """Two runs of one measure: what one of them began with the other one ended with."""
    one = "- F3 hours: 0.93 → 0.60 (partial regression on refusal)"
    other = "- F3 hours (refusal): 0.60 → 0.93 (+0.33)"
    for dated in (True, False):
        made = two(tmp_path / str(dated), one, other, dated=dated)
        assert asked(made, "changed") == asked(made, "conflict") == []


def test_the_label_of_an_entry_is_no_value_in_place_of_one_that_the_entry_has(tmp_path: Path) -> None:
    one = "Never use `new Date('YYYY-MM-DD')`: this is UTC midnight, the PREVIOUS day in GMT-3."
    other = "- **[AP-005]** UTC midnight = wrong day in GMT-3 -> [`AP-005.md`](./AP-005.md)"
    for dated in (True, False):
        made = two(tmp_path / str(dated), one, other, dated=dated)
        assert asked(made, "changed") == asked(made, "conflict") == asked(made, "leans") == []


def test_an_answer_to_a_conflict_takes_no_statement_out(tmp_path: Path) -> None:
    made = two(tmp_path, other="ledger-worker listens on port 50020.", dated=False)
    (question,) = asked(made, "conflict")
    for option in ("first", "second"):
        after = {"a.md": made.text("a.md"), "b.md": made.text("b.md"), **texts(question, option)}
        assert all("ledger-worker" in (text or "") for text in after.values())


def test_two_notes_of_other_days_in_a_copied_folder_have_no_order(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{ONE}\n"), "b.md": memory(f"{OTHER}\n")}
    unsure = replace(NEW, source="file", believable=False)
    made = dream(tmp_path, files, written={"a.md": OLD, "b.md": unsure})
    assert asked(made, "changed") == []
    assert len(asked(made, "conflict")) == 1


@each(
    ("one", "other"),
    [
        (ONE, "audit-worker listens on port 50020."),
        ("The worker of staging listens on port 41873.", "The worker of production listens on port 50020."),
        ("Runtime of ledger-worker: Java 17.", "Runtime of audit-mailer: Java 17."),
        ("ledger-worker keeps logs for 30 days.", "ledger-worker keeps 14 backups on disk."),
    ],
)
def test_two_things_are_not_asked_about(tmp_path: Path, one: str, other: str) -> None:
    made = two(tmp_path, one, other, dated=True)
    assert asked(made, "changed") == asked(made, "conflict") == []


def test_what_a_session_tells_in_words_that_are_not_understood_is_asked(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md) - port 41873 of ledger-worker\n",
        "a.md": memory(f"{ONE}\n", description=ONE),
    }
    made = dream(tmp_path, files, [session(1, "infra gave ledger-worker port 50020")])
    if made.edits:
        pytest.fail("it is certain by now, so another sentence is needed here")
    (question,) = asked(made, "changed")
    assert question.places[-1].session_pk == 1 and question.places[0].text == ONE
    after = texts(question, "replace")
    assert "41873" not in (after["a.md"] or "") + (after["MEMORY.md"] or "")
    assert (after["a.md"] or "").count("50020") == 2


@each(
    "said",
    [
        "does ledger-worker use port 50020?",
        "maybe ledger-worker gets port 50020",
        "ledger-worker has port 41873",
        "ledger-worker\xa0has\xa0port\xa041873",
    ],
)
def test_what_is_asked_supposed_or_known_is_no_change(tmp_path: Path, said: str) -> None:
    made = dream(tmp_path, {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"{ONE}\n")}, [session(1, said)])
    assert asked(made, "changed") == []


def test_a_name_is_the_same_whatever_spaces_are_in_it() -> None:
    assert exchange("Signs as: Mara K. Holt", "Signs as: Mara\xa0K.\xa0Holt", "") is None


def test_a_telephone_number_is_one_value() -> None:
    made = exchange("Phone: +49 30901820", "Phone: 30901821", "")
    assert made and (made.old.text, made.new.text) == ("+49 30901820", "30901821")


def test_who_leans_on_an_asked_change_is_asked_too(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory(f"{ONE}\n"),
        "b.md": memory(
            "Open the firewall for ledger-worker on 41873 before each drill, and close it again.\n"
        ),
    }
    made = dream(tmp_path, files, [session(1, "infra gave ledger-worker port 50020")])
    (leaning,) = asked(made, "leans")
    assert leaning.places[0].path == "b.md" and [option.id for option in leaning.options] == [
        "update",
        "keep",
    ]
    assert "on 50020 before each drill" in (texts(leaning, "update")["b.md"] or "")


def test_who_tells_of_an_asked_change_does_not_lean_on_its_old_value(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory("- **Table:** intersection_centroid_vec (135 rows)\n- **Use:** tier 1\n"),
        "b.md": memory("- intersection_centroid_vec: 135 → 123 rows, of which 71 are ours\n"),
    }
    said = "intersection_centroid_vec has 123 rows, not 135"
    made = dream(tmp_path, files, [session(1, said)])
    question, *_ = asked(made, "changed")
    assert not asked(made, "leans")
    assert "(135 rows)" not in (texts(question, "replace")["a.md"] or "")


def test_a_common_value_and_its_zone_are_no_reason_to_lean_on_another_thing(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory("The backup of the shop starts at 02:00 UTC.\n"),
        "b.md": memory("Reports for the board go out at 02:00 UTC.\n"),
    }
    made = dream(tmp_path, files, [session(1, "the backup of the shop starts at 03:00 UTC now")])
    assert "at 03:00 UTC" in made.text("a.md") and made.outcome.questions == []


def test_an_end_that_goes_with_a_replaced_statement_is_named(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory("Tests run on every push and upload coverage.\n")}
    made = dream(tmp_path, files, [session(1, "tests no longer run on every push")])
    [question] = asked(made, "changed")
    assert question.options[0].label == "Replace the whole statement, also “and upload coverage”"


def test_a_name_in_many_statements_has_nobody_leaning_on_it() -> None:
    lines = [
        f"- The nightly build of `larch-{word}` on Windows fails at its page.\n" for word in "abcdefghijkl"
    ]
    was = "The nightly build runs on Windows."
    changed = values.Changed("", "Windows", "Linux", was, (), ())
    assert list(values.having(StatementIndex({"c.md": memory("".join(lines))}), changed)) == []


def test_the_row_and_the_description_that_repeat_what_leans_on_a_change_follow_it(tmp_path: Path) -> None:
    lean = "Open the firewall for ledger-worker on 41873 before each drill."
    files = {
        "MEMORY.md": f"- [A](a.md)\n- [B](b.md) - {lean}\n",
        "a.md": memory(f"{ONE}\n"),
        "b.md": memory(f"{lean}\n", description=lean),
    }
    made = dream(tmp_path, files, [session(1, "infra gave ledger-worker port 50020")])
    (leaning,) = asked(made, "leans")
    after = texts(leaning, "update")
    assert "41873" not in (after["b.md"] or "") and "41873" not in (after["MEMORY.md"] or "")


def test_the_end_of_a_sentence_is_no_value_of_the_thing_that_it_opens_with(tmp_path: Path) -> None:
    one = "Ship branch of LilacLedger: stable"
    other = "LilacLedger is merged to stable, every other branch is ignored by the pipeline"
    made = two(tmp_path, one, other, dated=True)
    assert not [each for kind in ("changed", "conflict") for each in asked(made, kind)]


def test_two_versions_of_one_thing_are_two_values_however_many_digits_they_have(tmp_path: Path) -> None:
    made = two(
        tmp_path,
        "Our copy of Thistle-Resizer is 16.34.50.",
        "Our copy of Thistle-Resizer is 7.10.49.",
        dated=True,
    )
    (question,) = asked(made, "changed")
    assert "7.10.49" in question.why and not asked(made, "same")


def test_a_time_before_the_name_of_a_month_is_a_value(tmp_path: Path) -> None:
    one = "ledger-worker maintenance begins 13:50 [October 31, 2025]"
    other = "ledger-worker maintenance begins 23:50 [December 16, 2025]"
    (question,) = asked(two(tmp_path, one, other, dated=False), "changed")
    assert "23:50" in question.why


def test_a_name_is_not_taken_for_the_value_that_was_exchanged(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [B](b.md) - branches\n", "b.md": memory("Trunk (nutmeg-collector) = `trunk`\n")}
    made = dream(tmp_path, files, [session(1, "Branch rename — nutmeg-collector: `trunk` → `main`")])
    (question,) = asked(made, "changed")
    assert "Trunk (nutmeg-collector) = `main`\n" in (texts(question, "replace")["b.md"] or "")


def of_one(folder: Path, said: str, *lines: str) -> list[Question]:
    files = {f"n{at}.md": memory(f"{line}\n") for at, line in enumerate(lines)}
    files["MEMORY.md"] = "".join(f"- [N{at}](n{at}.md)\n" for at in range(len(lines)))
    return asked(dream(folder, files, [session(1, said)]), "changed")


@each(
    ("line", "said", "after"),
    [
        ("basalt_scanner auth: basic auth", "basalt_scanner does JWT now", "basalt_scanner does JWT"),
        ("larch-shipper owner: Ada Lindqvist", "Nuno Petridis took over larch-shipper", "larch-shipper owner: Nuno Petridis"),
        (
            "The hazel mailer answers on port 9166",
            "By the way, I had to put the hazel mailer on port 6035 because something else was sitting on 9166.",
            "The hazel mailer answers on port 6035",
        ),
        ("pierGate keeps its sessions in SQLite", "we ripped out SQLite, sessions of pierGate sit in PostgreSQL 16", "pierGate keeps its sessions in PostgreSQL 16"),
        ("pier-gate opens at 72% of the tide", "for pier-gate it is 14% rather than 72%, the harbour asked", "pier-gate opens at 14% of the tide"),
        ("`north quay gate` opens at port 4187", "the crew says north quay gate has 4190, somebody wrote 4187 down wrong", "`north quay gate` opens at port 4190"),
        ("larch-shipper, local: `localhost:4571`", "larch-shipper moved to 7344 last night, the old 4571 is dead", "larch-shipper, local: `localhost:7344`"),
        ("Start larch-shipper with `PORT=4571`", "larch-shipper is on port 7344 now", "Start larch-shipper with `PORT=7344`"),
        ("Reach larch-shipper at http://localhost:4571/ui", "larch-shipper moved to port 7344", "Reach larch-shipper at http://localhost:7344/ui"),
        ("Build larch-shipper with `make reed-rel-12`", "larch-shipper moved to make birch-dbg-7 last night", "Build larch-shipper with `make birch-dbg-7`"),
        ("Fixtures of larch-shipper come from `npm run load-all`", "fixtures for larch-shipper are made by `make fixtures` now", "Fixtures of larch-shipper come from `make fixtures`"),
        ("The pier gate keeps sessions in Cassandra", "oh and the pier gate goes to DynamoDB, so no need to mock Cassandra", "The pier gate keeps sessions in DynamoDB"),
    ],
)  # fmt: skip
def test_a_new_value_of_a_thing_that_memory_knows_is_asked(
    tmp_path: Path, line: str, said: str, after: str
) -> None:
    (question,) = of_one(tmp_path, said, line, "The docs are built with Sphinx.")
    assert f"\n{after}" in (texts(question, "replace")["n0.md"] or "")


def test_what_the_name_of_a_memory_says_is_what_its_statement_is_about(tmp_path: Path) -> None:
    said = "larch-shipper now has ckpt-reed-3833 as its model checkpoint, after the incident"
    files = {
        "MEMORY.md": "",
        "larch-shipper-model-checkpoint.md": memory("larch-shipper loads `ckpt-kelp-7443`.\n"),
    }
    (question,) = asked(dream(tmp_path, files, [session(1, said)]), "changed")
    assert "`ckpt-reed-3833`" in "".join(text or "" for text in texts(question, "replace").values())
    files["larch-shipper.md"] = files.pop("larch-shipper-model-checkpoint.md")
    assert asked(dream(tmp_path / "other", files, [session(1, said)]), "changed") == []


@each(
    "said",
    [
        "Hypothesis: larch-shipper listens on port 9999",
        "idea for later, not decided: larch-shipper.port = 9999",
        "what if larch-shipper listens on port 9999?",
        "maybe larch-shipper listens on port 9999 one day",
        "imagine larch-shipper on port 9999 instead of 4571",
        "is larch-shipper on port 9999 rather than on 4571?",
        "Ada claims that larch-shipper listens on port 9999",
    ],
)
def test_what_is_only_supposed_is_not_asked(tmp_path: Path, said: str) -> None:
    assert of_one(tmp_path, said, "larch-shipper listens on port 4571.") == []


def test_a_command_is_changed_with_and_without_its_backticks(tmp_path: Path) -> None:
    lines = (
        "Build larch-shipper with `make reed-rel-12`",
        "Confirm make reed-rel-12 is what larch-shipper has",
    )
    (question,) = of_one(tmp_path, "larch-shipper moved to make birch-dbg-7 last night", *lines)
    after = texts(question, "replace")
    assert all("make birch-dbg-7" in (after[path] or "") for path in ("n0.md", "n1.md"))


def test_a_value_that_is_a_space_is_replaced_like_any_other(tmp_path: Path) -> None:
    said = "larch-shipper has `;` as separator now, not ` `"
    (question,) = of_one(tmp_path, said, "The separator of larch-shipper is ` `")
    assert "has `;` as separator" in (texts(question, "replace")["n0.md"] or "")


def test_a_value_of_one_environment_is_no_news_of_another(tmp_path: Path) -> None:
    lines = ("Watchdog of larch-shipper in production: 9100 ms", "The docs are built with Sphinx.")
    assert of_one(tmp_path / "one", "fyi staging larch-shipper uses 2250 ms now", *lines) == []
    files = {"MEMORY.md": "- [N](n.md)\n", "n.md": memory(f"{lines[0]}\n")}
    made = dream(
        tmp_path / "other",
        files,
        [session(1, "fyi the watchdog of larch-shipper in production is 2250 ms now")],
    )
    assert "production: 2250 ms" in made.text("n.md")


@each(
    ("one", "other"),
    [
        ("team-lynx maintains BirchVault", "BirchVault belongs to team-otter"),
        ("BirchVault is MIT licensed", "BirchVault is BSD-3-Clause licensed"),
        ("region of BirchVault = us-east-2", "BirchVault runs in us-west-1"),
        ("BirchVault polls every 12 seconds", "BirchVault wakes up early, each 5 s, and polls the feeders"),
        ("BirchVault turns archives bigger than 768 MB away", "Archives of BirchVault end at 512 MB"),
        ("Learning rate of BirchVault = 7e-5", "BirchVault learning rate 1.5e-4"),
        ("BirchVault sends its alerts to #ops", "Alerts of BirchVault arrive in #duty-desk"),
        (
            "In local development BirchVault binds to port 3145, because the default was already taken on most laptops",
            "The port to forward when debugging BirchVault locally is 5817",
        ),
    ],
)
def test_two_values_of_one_sort_are_asked_however_they_are_put(tmp_path: Path, one: str, other: str) -> None:
    (question,) = asked(two(tmp_path, one, other, dated=True), "changed")
    assert [place.text for place in question.places] == [one, other]


@each(
    ("one", "other"),
    [
        ("The tide threshold of `pierGate` is at 11 %.", "The tide threshold of `north-quay` is at 61 %."),
        ("`AppShell` has views in MAUI and controls at zero coverage", "`AppShell` calls `SeedDebugData` before MAUI controls load"),
        ("BirchVault graphs are drawn by Cytoscape", "BirchVault views are SQL behind graphs"),
        ("- GitHub: https://github.com/larch/pier-reader", "- PHP (v3.3): https://github.com/lantern/tide-php"),
    ],
)  # fmt: skip
def test_two_things_said_of_one_thing_are_no_two_values_of_it(tmp_path: Path, one: str, other: str) -> None:
    assert asked(two(tmp_path, one, other, dated=True), "changed") == []


@each(
    ("said", "line"),
    [
        (
            "Remember that e2e runs need `pnpm build` first, otherwise WebKit gets a stale bundle.",
            "The login of all e2e tests is a fixture that registers once: import `{ test, expect }` from `./fixtures.ts` and call it.",
        ),
        (
            "Remember that the Bash tool rejects quoted strings in flag names.",
            "The sweep of the README leaves no telling Strings behind.",
        ),
    ],
)
def test_what_is_told_of_one_thing_is_no_value_of_another_that_it_shares_a_word_with(
    tmp_path: Path, said: str, line: str
) -> None:
    assert asked(dream(tmp_path, {"a.md": memory(f"{line}\n")}, [session(1, said)]), "changed") == []


def test_the_days_of_two_statements_are_not_their_values(tmp_path: Path) -> None:
    one, other = "Entry 2025-09-12: Lint tool of larch: ruff", "Entry 2026-01-21: Lint tool of larch: clippy"
    questions = asked(two(tmp_path, one, other, dated=True), "changed")
    assert all("2025" not in each.why for each in questions)


def test_a_name_that_both_statements_have_is_not_the_older_value(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](amber_fetcher.md)\n- [B](list.md)\n",
        "amber_fetcher.md": memory("- Questions about amber-fetcher go to Carolin Eriksson.\n"),
        "list.md": memory("- Owner of amber-fetcher: Carolin Eriksson. Always request a review on PRs.\n"),
    }
    made = dream(tmp_path, files, written={"amber_fetcher.md": NEW, "list.md": OLD})
    assert asked(made, "changed") == []


def test_every_is_no_value_but_begins_one(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory("The indigo importer ships every Friday afternoon.\n")}
    said = "we're going to ship the indigo importer daily instead of every Friday afternoon"
    [question] = asked(dream(tmp_path, files, [session(1, said)]), "changed")
    assert "The indigo importer ships daily.\n" in (texts(question, "replace")["a.md"] or "")


def test_memories_about_two_things_are_not_asked_about(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](topaz_auditor.md)\n- [B](topaz_uploader.md)\n",
        "topaz_auditor.md": memory("Arch (topaz.auditor): riscv64\n"),
        "topaz_uploader.md": memory("Arch (topaz.uploader): arm64\n"),
    }
    made = dream(tmp_path, files, written={"topaz_auditor.md": OLD, "topaz_uploader.md": NEW})
    assert asked(made, "changed") == []


def test_what_was_said_in_passing_of_a_known_thing_is_asked_and_not_learnt_beside_it(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n",
        "a.md": memory("Whoever works on Topaz Auditor needs to know Rust.\n", name="Topaz Auditor"),
    }
    said = "We rewrote Topaz Auditor in Clojure, nothing of the Rust code is left."
    made = dream(tmp_path, files, [session(1, said)])
    assert made.edits == []
    (question,) = asked(made, "changed")
    assert "know Clojure." in (texts(question, "replace")["a.md"] or "")


def test_a_product_whose_name_begins_like_a_month_has_its_version(tmp_path: Path) -> None:
    (question,) = of_one(
        tmp_path, "larch-shipper.db is now MariaDB 11", "Database of larch-shipper: Cassandra"
    )
    assert "larch-shipper: MariaDB 11" in (texts(question, "replace")["n0.md"] or "")


@each(
    ("one", "other", "kinds"),
    [
        (
            "`upload.php` verkleinert Bilder, dazu ein MIME-Check.",
            "`upload.php` ruft die Klasse jetzt nur noch auf, mit PNG-Transparenz.",
            [],
        ),
        ("Der Port von `ledger-worker` ist 41873.", "Der Port von `ledger-worker` ist 50020.", ["changed"]),
    ],
)
def test_a_noun_of_a_text_that_capitalises_nouns_is_no_value(
    tmp_path: Path, one: str, other: str, kinds: list[str]
) -> None:
    prose = (
        "Die Bilder kommen aus dem alten System und werden in der Nacht auf den neuen Server kopiert. "
        "Wenn dabei ein Fehler auftritt, steht die Meldung im Protokoll und der Versand wartet auf eine Antwort. "
        "Für jede Kasse gibt es einen eigenen Schlüssel, der nur im Tresor liegt und nie auf die Platte kommt. "
        "Die Rechnung wird erst gedruckt, wenn der Kunde bezahlt hat und die Bank den Eingang meldet."
    )
    files = {
        "MEMORY.md": "- [A](a.md) - Bilder\n- [B](b.md) - Import\n",
        "a.md": memory(f"- {one}\n\n{prose}\n"),
        "b.md": memory(f"- {other}\n\n{prose.replace('Kasse', 'Filiale')}\n"),
    }
    made = dream(tmp_path, files, written={"a.md": OLD, "b.md": NEW})
    assert [each.kind for each in asked(made, "changed")] == kinds


@each(
    ("told", "said"),
    [
        ("The database is db-1.", "Remember that the database is not db-1."),
        ("The database is not db-1.", "Remember that the database is db-1."),
        ("We deploy on Fridays.", "Remember: we never deploy on Fridays."),
        ("Tests run with pytest -x.", "Remember that tests do not run with pytest -x."),
    ],
)
def test_what_is_to_be_remembered_and_denies_what_memory_says_is_asked_and_not_learnt_beside_it(
    tmp_path: Path, told: str, said: str
) -> None:
    files = {"MEMORY.md": "- [Notes](n.md) - all\n", "n.md": memory(f"- {told}\n- Docs are in Sphinx.\n")}
    made = dream(tmp_path, files, [session(1, said)])
    assert made.edits == []
    (question,) = made.outcome.questions
    assert question.kind == "changed" and question.places[0].text == told
    assert told not in (question.options[0].edits[0].after or "")


HERON = "the staging server is heron-3 now, not heron-2."


@each("said", [f"Remember: {HERON}", HERON, "Remember that the staging server is heron-3."])
def test_a_change_that_memory_has_taken_over_in_these_words_is_neither_asked_about_nor_learnt_again(
    tmp_path: Path, said: str
) -> None:
    made = dream(tmp_path, {"MEMORY.md": INDEX, "a.md": memory(f"- {HERON}\n")}, [session(1, said)])
    assert (made.edits, asked(made, "changed")) == ([], [])


def test_a_change_back_to_the_value_that_memory_calls_past_is_asked_about(tmp_path: Path) -> None:
    said = "Remember: the staging server is heron-2 now, not heron-3."
    made = dream(tmp_path, {"MEMORY.md": INDEX, "a.md": memory(f"- {HERON}\n")}, [session(1, said)])
    [_] = asked(made, "changed")


@each(
    ("has", "said"),
    [
        ("The staging server is heron-3.", "the staging server is heron-4"),
        ("Releases go out on Tuesdays at 14:00 UTC", "releases go out on Thursdays at 14:00 UTC"),
        ("We deploy with Argo.", "we deploy with Flux now"),
    ],
)
def test_a_request_with_another_value_is_asked_about_and_not_learnt_beside_the_old_one(
    tmp_path: Path, has: str, said: str
) -> None:
    files = {"MEMORY.md": "- [A](a.md) - staging\n", "a.md": memory(f"- {has}\n- Ask Maria first.\n")}
    made = dream(tmp_path, files, [session(1, f"Remember: {said}")])
    [question] = made.outcome.questions
    assert (made.edits, question.kind) == ([], "changed")
    assert [option.id for option in question.options] == ["replace", "keep", "history", "both"]
    both = "".join(text or "" for text in {**files, **texts(question, "both")}.values())
    assert both.count(has) == 1 and f"- {said}\n" in both


@each(
    ("has", "said"),
    [
        ("The staging server is heron-3.", "the staging server is heron-4"),
        ("The API is on port 8080", "the API is on port 9090"),
    ],
)
def test_an_older_value_beside_what_a_card_wrote_is_asked_about_once_and_removed(
    tmp_path: Path, has: str, said: str
) -> None:
    card = memory(f"- {said}\n", name=said, description=said)
    files = {"MEMORY.md": INDEX, "a.md": memory(f"- {has}\n- Ask Maria first.\n"), "b.md": card}
    made = dream(tmp_path, files, [session(1, f"Remember: {said}")], written={"a.md": OLD, "b.md": NEW})
    [question] = made.outcome.questions
    assert (made.edits, question.kind) == ([], "changed")
    after = {**files, **texts(question, "replace")}
    assert (after["a.md"], after["b.md"]) == (memory("- Ask Maria first.\n"), card)


@each("mark", ["- ", ""])
def test_a_memory_named_by_its_only_statement_is_compared_with_what_is_said(
    tmp_path: Path, mark: str
) -> None:
    said = "releases go out on Tuesdays at 14:00 UTC"
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{mark}{said}\n", name=said, description=said)}
    made = dream(tmp_path, files, [session(1, "no, releases go out on Thursdays at 14:00 UTC")])
    [_] = asked(made, "changed")


@each(
    ("told", "said"),
    [
        ("The worker runs on db-2, not db-1.", "From now on the worker does not run on db-2."),
        ("The staging server is heron-3 now, not heron-2.", "The staging server is not heron-3 any more."),
        ("Do not use port 8080 for the importer.", "Use port 8080 for the importer from now on, not 8090."),
    ],
)
def test_a_denial_of_the_present_value_is_no_denial_of_a_past_one(
    tmp_path: Path, told: str, said: str
) -> None:
    made = dream(tmp_path, {"MEMORY.md": INDEX, "a.md": memory(f"- {told}\n")}, [session(1, said)])
    [question] = asked(made, "changed")
    assert question.places[0].text == told


SHARED = "AuthGate talks to `cache-eu-3`."
SPOKEN_OF = {
    "what else is merged": {
        "b.md": memory("Requests of AuthGate time out after 40s.\n"),
        "b_2.md": memory("Requests of AuthGate time out after 40s.\n"),
    },
    "a secret of it": {"b.md": memory("- AuthGate token: `ghp_" + "k3J9xQ2mVb7LpR5tYw8N" * 2 + "`\n")},
    "another value of it": {"b.md": memory("Requests of AuthGate time out after 40s.\n")},
}


@pytest.mark.parametrize("more", SPOKEN_OF.values(), ids=SPOKEN_OF)
def test_a_change_of_one_value_is_asked_about_although_something_else_of_the_thing_changes(
    tmp_path: Path, more: dict[str, str]
) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{SHARED}\n"), **more}
    told = ["from now on AuthGate = cache-eu-7", "AuthGate times out after 60s now"]
    made = dream(tmp_path, files, [session(1, told[0]), session(2, told[1])])
    of_it = [each for each in asked(made, "changed") if each.places[0].text == SHARED]
    assert [each.why for each in of_it] == ["You wrote that this is cache-eu-7 now; memory has cache-eu-3."]
    assert not any("cache-eu-7" in (edit.after or "") for edit in made.edits)


def test_a_rule_for_later_that_also_changes_a_value_can_be_remembered_as_a_whole(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{SHARED}\n")}
    said = "From now on AuthGate talks to cache-eu-7 and we never restart it on Fridays."
    [question] = asked(dream(tmp_path, files, [session(1, said)]), "changed")
    both = next(option for option in question.options if option.label == "Remember both")
    assert any("we never restart it on Fridays" in (edit.after or "") for edit in both.edits)


def test_what_something_was_replaced_by_is_its_present_value(tmp_path: Path) -> None:
    body = "- The job queue runs on valkey-8.\n- For the job queue redis-7 was replaced by valkey-8.\n"
    made = dream(tmp_path, {"MEMORY.md": "- [A](a.md) - hosts\n", "a.md": memory(body)})
    assert [each.why for each in asked(made, "changed")] == []


@pytest.mark.parametrize(
    ("has", "said", "new"),
    [
        (
            "Open https://lotus.example.net for the mail relay; SSO only.",
            "I just changed mail relay to https://raven.example.net (URL), please use that from here on",
            "https://raven.example.net for the mail relay; SSO",
        ),
        (
            "In `ReceiptParser`: fetch limit 130 items (was profiled on old devices)",
            "actually the items per page for ReceiptParser should be 248 items now, we changed it on tuesday",
            "fetch limit 248 items",
        ),
    ],
)
def test_of_several_values_the_one_of_a_rare_kind_is_exchanged_and_words_of_doubt_only_mean_asking(
    tmp_path: Path, has: str, said: str, new: str
) -> None:
    made = dream(tmp_path, {"MEMORY.md": INDEX, "a.md": memory(f"{has}\n")}, [session(1, said)])
    (question,) = asked(made, "changed")
    assert made.edits == [] and new in (texts(question, "replace")["a.md"] or "")


def test_of_many_statements_about_a_thing_the_one_with_the_old_value_is_meant(tmp_path: Path) -> None:
    told = "Calls of AuthGate give up after 45s."
    more = "".join(
        f"- AuthGate checks the {word} of each call.\n" for word in ["age", "name", "size", "host", "day"]
    )
    more += "".join(f"- The {word} team reviews AuthGate.\n" for word in ["blue", "red", "green", "white"])
    files = {"MEMORY.md": INDEX, "a.md": memory(f"{told}\n"), "b.md": memory(more)}
    said = "small thing for your notes: AuthGate timeout went from 45s to 60s"
    (question,) = asked(dream(tmp_path, files, [session(1, said)]), "changed")
    assert question.places[0].text == told


@each(
    ("leaning", "becomes"),
    [
        ("The balancer before willow-indexer waits 75 seconds.", "The balancer before willow-indexer waits 20 seconds."),
        ("willow-indexer has 75 tables.", ""),
        ("The balancer waits 75 seconds.", ""),
    ],
)  # fmt: skip
def test_what_names_the_thing_and_its_value_of_one_unit_leans_on_it_though_many_have_the_number(
    tmp_path: Path, leaning: str, becomes: str
) -> None:
    files = {
        "MEMORY.md": INDEX,
        "a.md": memory("The timeout of willow-indexer is 75s.\n"),
        "b.md": memory(f"{leaning}\n"),
        "c.md": memory("".join(f"- Job {letter} waits 75 seconds.\n" for letter in "abcdefghij")),
    }
    made = dream(tmp_path, files, [session(1, "the timeout of willow-indexer is 20s now, not 75s")])
    found = [texts(question, "update")["b.md"] for question in asked(made, "leans")]
    assert found == ([memory(f"{becomes}\n")] if becomes else [])


def test_the_host_of_an_address_is_no_name_beside_it(tmp_path: Path) -> None:
    one = "`ledger-worker` has its Grafana at https://amber-tagger.corp/d/all"
    (question,) = asked(two(tmp_path, one, one.replace("amber-tagger", "kelp-mixer"), dated=True), "changed")
    assert question.places[0].text == one


def test_a_verb_before_a_name_with_a_capital_inside_is_no_part_of_it() -> None:
    assert read("Debugging ShopWeb: export AMBER_LOG=1 first").anchors == {"shopweb", "amber-log"} | {"1"}


@each(
    ("one", "other"),
    [
        ("Prod box for ShopWeb: amber-tagger.lan", "kelp-resizer.lan"),
        ("`shop-web` is formatted with prettier", "ruff format"),
    ],
)
def test_the_same_words_with_another_value_behind_a_name_are_two_values_and_no_double(
    tmp_path: Path, one: str, other: str
) -> None:
    made = two(tmp_path / "behind", f"{one}.", f"{one[: one.rindex(' ')]} {other}.", dated=True)
    assert [question.kind for question in made.outcome.questions] == ["changed"]
    of_two = ("`shop-web` is formatted with prettier.", "`ivory-press` is formatted with prettier.")
    assert asked(two(tmp_path / "before", *of_two, dated=True), "changed") == []


def test_a_label_that_names_its_thing_has_one_value_in_memories_about_other_topics(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [T](tooling.md)\n- [P](partners.md)\n"}
    for path, owner in (("tooling.md", "Ada Lind"), ("partners.md", "Tom Berg")):
        files[path] = memory(f"- mail-relay owner: {owner}\n- Docs are in Sphinx.\n- Ask.\n- Be short.\n")
    made = dream(tmp_path, files, written={"tooling.md": OLD, "partners.md": NEW})
    (question,) = asked(made, "changed")
    assert "mail-relay owner: Tom Berg" in (texts(question, "replace")["tooling.md"] or "")


def test_what_was_moved_is_not_replaced_by_where_it_went(tmp_path: Path) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory("mail-relay runs on `box-1`.\n")}
    made = dream(tmp_path, files, [session(1, "mail-relay was moved to box-2")])
    told = [text for question in asked(made, "changed") for text in texts(question, "replace").values()]
    assert [*told, made.text("a.md")][0] == memory("mail-relay runs on `box-2`.\n")


@each(
    "said",
    [
        "ledger-worker also listens on port 9090.",
        "ledger-worker now listens on port 9090 as well",
        "Remember that ledger-worker also listens on port 9090.",
    ],
)
def test_what_is_so_besides_replaces_nothing(tmp_path: Path, said: str) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory("ledger-worker listens on port 8080.\n")}
    made = dream(tmp_path, files, [session(1, said)])
    assert asked(made, "changed") == []
    assert "ledger-worker listens on port 8080." in made.text("a.md")
    assert any("9090" in made.text(path) for path in made.after) == said.startswith("Remember")


@each(
    "said",
    [
        "ledger-worker also moved from port 8080 to 9090",
        "Also, ledger-worker listens on port 9090 now, no longer on port 8080.",
        "I also changed ledger-worker to listen on port 9090",
    ],
)
def test_what_tells_of_a_change_replaces_the_old_value_although_it_says_also(
    tmp_path: Path, said: str
) -> None:
    files = {"MEMORY.md": INDEX, "a.md": memory("ledger-worker listens on port 8080.\n")}
    made = dream(tmp_path, files, [session(1, said)])
    told = [text for question in asked(made, "changed") for text in texts(question, "replace").values()]
    assert [*told, made.text("a.md")][0] == memory("ledger-worker listens on port 9090.\n")


def test_of_two_memories_the_one_that_says_also_has_no_newer_value(tmp_path: Path) -> None:
    other = "ledger-worker also listens on port 50020."
    assert asked(two(tmp_path, ONE, other, dated=True), "changed") == []


def test_whom_to_ask_is_a_name_without_the_verb() -> None:
    assert read("Ask Ada Lind before a release.").anchors == {"ada lind"}
