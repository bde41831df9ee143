"""Days that have passed, and days that nobody knows for sure, are asked about."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from unittest import mock

from dreams.engines.rules.questions import days
from dreams.engines.rules.questions.days import last_day
from dreams.engines.types import LineDate, Question
from tests.world.cases import each
from tests.world.rules import WRITTEN, dream, memory

OTHER = "- The docs are built with Sphinx.\n"
COPIED = LineDate(WRITTEN.day, "file", "the file’s own date", believable=False)


def test_what_only_asks_does_not_say_that_nothing_needs_to_change(tmp_path: Path) -> None:
    line = "Review the retention by 2026-03-14"
    files = {"notes.md": memory(f"- {line}\n{OTHER}"), "MEMORY.md": "- [Notes](notes.md)\n"}
    outcome = dream(tmp_path, files, written=WRITTEN).outcome
    assert outcome.questions
    assert outcome.summary == "Nothing was changed."


def asked(folder: Path, line: str, written: LineDate = WRITTEN, **more: str) -> list[Question]:
    files = {"notes.md": memory(f"- {line}\n{OTHER}", **more), "MEMORY.md": "- [Notes](notes.md)\n"}
    made = dream(folder, files, written=written)
    assert line in made.text("notes.md"), "nothing of it is certain"
    return made.outcome.questions


@each(
    ("text", "day"),
    [
        ("Temporary: verbose logs in the gateway, remove after 2026-03-14", "2026-03-14"),
        ("The parallel run ends on March 14, 2026", "2026-03-14"),
        ("The extra quota is valid through 14 March 2026", "2026-03-14"),
        ("Review the retention by 2026-03-14", "2026-03-14"),
        ("The coupon expires 2026-03", "2026-03-31"),
        ("The gateway moved to Go on 2026-03-14", None),
        ("Since 2026-03-14 the gateway is in Go", None),
        ("Skip the gateway until 2026-03-14, since its sandbox is down", "2026-03-14"),
        ("The mixer beta runs through 2026-03-14; collect its logs", "2026-03-14"),
        ("The freeze ended before 2026-03-14 and was lifted", None),
        ("Between 2026-03-01 and 2026-03-14 two approvals", None),
        ("Is it due 2026-03-14?", None),
        ("The store's app review — **APPROVED 2026-03-14** on the fifth submission", None),
        ("Remove it by `2026-03-14`", "2026-03-14"),
        ("The window closes 2026-03-14", "2026-03-14"),
        ("Price at the first day's close (2026-03-14): 70p", None),
        ("The switch to Go — OK by the owner on 2026-03-14", None),
        ("Half of the tables are moved by end of March 2026", "2026-03-31"),
        ("**Next check:** Saturday 2026-03-14 (weekly)", "2026-03-14"),
        ("Filter the trades by `opened >= '2026-03-14 13:48'`", None),
        ("The trades go through 2026-03-14", None),
        ("Phase 0 of the gateway: approved by Simon 2026-03-14", None),
    ],
)
def test_the_day_that_a_statement_names_as_an_end(text: str, day: str | None) -> None:
    found = last_day(text)
    assert (found.isoformat() if found else None) == day


@each(
    ("text", "day"),
    [
        ("Before April 2: the grant takes priority", "2026-04-02"),
        ("Review the retention by 1 March", "2027-03-01"),
        ("The freeze ends in May", None),
        ("The gateway moved on April 2", None),
        ("Due April 31", None),
        ("Due April 2 and paid by May 3", None),
    ],
)
def test_a_day_without_a_year_is_the_next_one_after_its_line_was_written(text: str, day: str | None) -> None:
    found = last_day(text, dt.date(2026, 3, 20))
    assert (found.isoformat() if found else None) == day
    assert last_day(text) is None


@each(
    ("text", "day"),
    [
        ("Both stores are written. Cutover date: 2026-03-14.", "2026-03-14"),
        ("The vendor ships the fix on 14 March 2026", "2026-03-14"),
        ("The vendor ships the fix in March 2026", "2026-03-31"),
        ("The rules of January 2026 have five days", None),
        ("From 2026-03-14 the gateway is in Go", None),
        ("Moved to Go on 2026-01-21", None),
        ("Moved to Go on 2026-01-05", None),
        ("Moves to Go on 2026-03-14, to Rust on 2026-04-14", None),
    ],
)
def test_a_day_that_was_ahead_when_its_line_was_written_needs_no_word_of_an_end(
    text: str, day: str | None
) -> None:
    found = last_day(text, dt.date(2026, 1, 20))
    assert (found.isoformat() if found else None) == day
    assert last_day(text) is None


def test_a_copied_file_does_not_say_that_a_day_was_ahead(tmp_path: Path) -> None:
    line = "The vendor ships the fix on 2026-10-05"
    (question,) = asked(tmp_path / "1", line)
    assert question.kind == "expired"
    assert asked(tmp_path / "2", line, COPIED) == []


WHY = "**Why:** the audit.\n\n**How to apply:**\n- Ask first.\n"


@each(
    "body",
    [
        f"The parallel run ends on 2026-03-14\n\n{WHY}",
        "The parallel run ends on 2026-03-14\nWhy: the audit\nHow to apply: ask first\n",
        "The parallel run, which the team asked for,\nends on 2026-03-14\n",
        "- **Parallel run**: ends on 2026-03-14\n",
        "**Fact:** The parallel run ends on 2026-03-14\n\n**Context:** The team asked for it.\n",
    ],
)
def test_a_statement_with_its_remarks_or_label_is_asked_about_and_goes_with_them(
    tmp_path: Path, body: str
) -> None:
    other = "\n## Docs\n\nThe docs are built with Sphinx.\n"
    files = {"notes.md": memory(body + other), "MEMORY.md": "- [Notes](notes.md)\n"}
    (question,) = dream(tmp_path, files).outcome.questions
    assert (question.kind, question.places[0].text) == ("expired", body.rstrip("\n"))
    (edit,) = question.options[0].edits
    assert edit.after == memory(other.lstrip("\n"))


@each("before", ["The team asked for two weeks of it.\n", "- The team asked.\n- It runs at night.\n"])
def test_a_remark_below_several_statements_is_about_all_of_them_and_goes_with_none(
    tmp_path: Path, before: str
) -> None:
    body = f"{before}\nThe parallel run ends on 2026-03-14\n\n**How to apply:** Ask before you stop a job.\n"
    files = {"notes.md": memory(body), "MEMORY.md": "- [Notes](notes.md)\n"}
    assert dream(tmp_path, files).outcome.questions == []


@each(
    "behind",
    [
        "```sh\nmake run\n```\n",
        "| A | B |\n|---|---|\n| 1 | 2 |\n",
        "**Ports:** `gateway` has 4187 besides.\n",
        "**Files:**\n- The gateway\n",
    ],
)
def test_a_statement_that_introduces_something_else_is_not_taken_out(tmp_path: Path, behind: str) -> None:
    body = f"**Parallel run**, ends on 2026-03-14\n\n{behind}"
    files = {"notes.md": memory(body), "MEMORY.md": "- [Notes](notes.md)\n"}
    assert dream(tmp_path, files).outcome.questions == []


def test_what_the_reasons_of_a_memory_are_about_is_not_taken_from_above_them(tmp_path: Path) -> None:
    body = (
        "As of 2026-02-16 the seat maps are keyed by id. Each entry carries one.\n\n**Why:** Names change.\n"
    )
    files = {"notes.md": memory(body), "MEMORY.md": "- [Notes](notes.md)\n"}
    assert dream(tmp_path, files).outcome.questions == []


def test_what_has_passed_is_asked_about_and_what_is_ahead_is_not(tmp_path: Path) -> None:
    (question,) = asked(tmp_path / "1", "The parallel run is planned to end, deadline 2026-03-14")
    assert question.kind == "expired"
    assert [option.id for option in question.options] == ["remove", "past", "keep"]
    past = question.options[1].edits[0].after
    assert past is not None and "- The parallel run was planned to end, deadline 2026-03-14\n" in past
    assert asked(tmp_path / "2", "The parallel run is planned to end, deadline 2099-03-14") == []


def test_where_the_past_is_more_than_one_word_it_is_no_option(tmp_path: Path) -> None:
    (question,) = asked(tmp_path, "Review the retention by 2026-03-14")
    assert [option.id for option in question.options] == ["remove", "keep"]
    assert question.options[-1].label == "Leave as it is", "its name in docs/reviewing.md"


def test_below_a_heading_with_a_day_it_is_a_log(tmp_path: Path) -> None:
    files = {
        "notes.md": memory("## 2026-03-01\n\n- Review the retention by 2026-03-14\n"),
        "MEMORY.md": "- [Notes](notes.md)\n",
    }
    assert dream(tmp_path, files).outcome.questions == []


def test_a_day_from_a_copied_file_is_filled_in_and_asked(tmp_path: Path) -> None:
    (question,) = asked(tmp_path, "We moved to Valkey yesterday.", COPIED)
    assert (question.kind, [option.id for option in question.options]) == ("changed", ["replace", "keep"])
    after = question.options[0].edits[0].after
    assert after is not None and "- We moved to Valkey on 2026-09-30.\n" in after


def test_a_file_whose_name_has_the_day_tells_what_today_is(tmp_path: Path) -> None:
    note = memory("- We moved to Valkey yesterday.\n")
    own = LineDate(dt.date(2026, 10, 2), "memory", "the memory’s own date")
    found = [
        dream(
            tmp_path / path / day.source, {path: note, "MEMORY.md": f"- [N]({path})\n"}, written=day
        ).outcome.questions
        for path, day in (
            ("project_status.md", WRITTEN),
            ("project_status_2026-10-01.md", WRITTEN),
            ("project_status_2026-10-01.md", own),
            ("project_status_2026-09-20.md", WRITTEN),  # a line that was added on another day
            ("status_20261001.md", WRITTEN),
            ("part_20261399.md", WRITTEN),
        )
    ]
    assert [len(each) for each in found] == [1, 0, 0, 1, 0, 1]


@each(("line", "asks"), [("we move to Valkey tomorrow.", True), ("> We move to Valkey tomorrow.", False)])
def test_a_line_that_is_quoted_tells_of_no_day_of_the_memory(tmp_path: Path, line: str, asks: bool) -> None:
    files = {"notes.md": memory(f"The mail to the shops:\n{line}\n"), "MEMORY.md": "- [Notes](notes.md)\n"}
    assert bool(dream(tmp_path, files, written=WRITTEN).outcome.questions) is asks


def test_each_of_many_relative_days_is_asked_about(tmp_path: Path) -> None:
    """A line that stays as it is keeps its question, so the others must not wait for its place."""
    files = {f"n{n}.md": memory(f"- We moved pump {n} yesterday.\n") for n in range(25)}
    made = dream(tmp_path, files | {"MEMORY.md": "".join(f"- [N{n}](n{n}.md)\n" for n in range(25))})
    assert len({question.places[0].path for question in made.outcome.questions}) == 25


def test_a_pinned_memory_is_asked_about_and_not_changed(tmp_path: Path) -> None:
    (question,) = asked(tmp_path, "We moved to Valkey yesterday.", more="pinned: true\n")
    assert question.kind == "changed"


@each(
    ("line", "asked"),
    [
        ("The import is in progress (2026-03-16); half of the tables are done.", True),
        ("Coverage is 71 % as of 2026-02-01.", True),
        ("Coverage is 71 % as of 2026-09-01.", False),
        ("Never use the second reader (it has no tests as of 2026-02-01).", False),
        ("Coverage was measured on 2026-02-01.", False),
        ("As of 2026-02-01, use the second reader for uploads.", False),
        ("As of 2026-02-01, never skip a row.", False),
        ("The import is done, status of 2026-02-01.", False),
        ("As of 2026-02-01 it was 71 %, as of 2026-03-01 75 %.", False),
    ],
)
def test_a_state_of_half_a_year_ago_is_asked_about(tmp_path: Path, line: str, asked: bool) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- [Import](project_import.md) — the import\n",
        "project_import.md": f"---\nname: import\ndescription: the import\ntype: project\n---\n\nIt reads CSV.\n\n{line}\n",
    }
    made = dream(tmp_path, files)
    found = [each for each in made.outcome.questions if each.kind == "expired"]
    assert [[option.id for option in each.options] for each in found] == (
        [["remove", "keep"]] if asked else []
    )


@each(
    ("heading", "asked"),
    [
        ("## Recent changes (2026-03-09)", True),
        ("## Status as of 2026-02-16", True),
        ("## Import — Status (2026-02-16)", True),
        ("## Recent changes (2026-09-09)", False),
        ("## Resolved issues (as of 2026-02-16)", False),
        ("## Phase 2 complete as of 2026-02-16", False),
        ("## The import's status page (2026-02-16)", False),
        ("## Decision A: the licence — Open Core (2026-02-16)", False),
        ("## Connected status showed the port as connected (2026-02-16)", False),
        ("## Project: Import — rename to Reader in progress (2026-02-16)", False),
        ("## 2026-03-09", False),
        ("## Recent changes", False),
    ],
)
def test_a_section_headed_by_an_old_state_is_asked_about_as_a_whole(
    tmp_path: Path, heading: str, asked: bool
) -> None:
    body = f"It reads CSV.\n\n{heading}\n\n- The model was moved.\n- The views follow.\n\n## Rules\n\nNever skip a row.\n"
    files = {
        "MEMORY.md": "# Memory\n\n- [Import](project_import.md) — the import\n",
        "project_import.md": f"---\nname: import\ndescription: the import\ntype: project\n---\n\n{body}",
    }
    made = dream(tmp_path, files)
    found = [each for each in made.outcome.questions if each.kind == "expired"]
    assert [place.text for each in found for place in each.places] == (
        [f"{heading}\n\n- The model was moved.\n- The views follow."] if asked else []
    )
    if asked:
        after = found[0].options[0].edits[0].after or ""
        assert "moved" not in after and "follow" not in after
        assert "It reads CSV." in after and "## Rules\n\nNever skip a row.\n" in after


def project_file(body: str) -> dict[str, str]:
    return {
        "MEMORY.md": "# Memory\n\n- [Import](project_import.md) — the import\n",
        "project_import.md": f"---\nname: import\ndescription: the import\ntype: project\n---\n\n{body}",
    }


@each(
    ("body", "why"),
    [
        ("## Recent changes (Mar 2026)\n\n- Moved.\n\n## Rules\n\nNever skip a row.\n\nNever add one.\n", "a state as of Mar 2026, "),
        ("In use since March 2026.\n\n## Next steps\n\n- The writer.\n", "the newest day that the memory names is March 2026, "),
        ("The reader is done.\n\n- It has 7 gaps as of March 2026.\n- It is in Go.\n", "a state as of March 2026, "),
    ],
)  # fmt: skip
def test_a_month_is_told_as_the_memory_names_it(tmp_path: Path, body: str, why: str) -> None:
    body = f"It reads CSV.\n\n{body}"
    (question,) = dream(tmp_path, project_file(body), written=None).outcome.questions
    assert why in question.why and "-31" not in question.why + question.options[0].edits[0].reason


@each(
    "heading",
    [
        "Estado atual (2026-02-01)",
        "Le port — État au 2026-02-01",
        "Lager (Stand 2026-02-01)",
        "Termine, Stand 2026-02-01",
        "Состояние на 2026-02-01",
        "当前状态（2026-02-01）",
        "現在の状態（2026-02-01）",
        "진행 현황 (2026-02-01 기준)",
        "Próximos passos",
        "Reste à faire",
        "Nächste Schritte",
        "下一步（第二阶段）",
        "다음 단계",
    ],
)
def test_a_heading_names_a_state_or_what_is_next_in_other_languages_too(tmp_path: Path, heading: str) -> None:
    body = f"It reads CSV.\n\nIt was tried on 2026-02-01.\n\n{OTHER * 6}\n## {heading}\n\n- The writer.\n"
    (question,) = dream(tmp_path, project_file(body), written=None).outcome.questions
    assert question.kind == "expired" and question.places[0].text == f"## {heading}\n\n- The writer."


@each(
    "heading",
    [
        "Trade show stand (2026-02-01)",
        "Stand alone (2026-02-01)",
        "Estado completado (2026-02-01)",
        "Abgeschlossen, Stand 2026-02-01",
        "完了状態（2026-02-01）",
    ],
)
def test_a_stand_is_no_state_and_finished_work_stays_in_other_languages_too(
    tmp_path: Path, heading: str
) -> None:
    body = f"It reads CSV.\n\n{OTHER * 6}\n## {heading}\n\n- The writer.\n"
    assert dream(tmp_path, project_file(body), written=None).outcome.questions == []


@each(
    ("behind", "stays"),
    [
        ("- The writer.\n\n---\n\nLast updated by the night run.\n", "---\n\nLast updated by the night run.\n"),
        ("- The writer.\n\n---\n\n### Later\n\n- The views.\n", ""),
        ("- The writer.\n\n---\n", ""),
    ],
)  # fmt: skip
def test_what_stands_below_a_rule_at_the_end_of_a_file_belongs_to_all_of_it(
    tmp_path: Path, behind: str, stays: str
) -> None:
    body = f"It reads CSV.\n\nIt was tried on 2026-02-20.\n\n{OTHER * 6}\n## Next steps\n\n{behind}"
    (question,) = dream(tmp_path, project_file(body), written=None).outcome.questions
    after = question.options[0].edits[0].after or ""
    assert after.endswith(f"{OTHER}\n{stays}") and "writer" not in after and "views" not in after


@each(
    "state",
    [
        "**Berths (as of 2026-02-01):**\n\n| Berth | Ship |\n|---|---|\n| 1 | Anna |\n",
        "As of 2026-02-01, the yard has:\n- A crane:\n\n  ```\n  crane --oil\n  ```\n\n- A gate\n  - of iron\n",
    ],
)
def test_a_line_with_a_day_goes_with_the_list_that_it_leads(tmp_path: Path, state: str) -> None:
    body = f"It reads CSV.\n\n{OTHER * 6}\n## Yard\n\n{state}\nShips pay by the yard.\n\n- Each pays.\n"
    (question,) = dream(tmp_path, project_file(body)).outcome.questions
    assert question.why == "This is a state as of 2026-02-01, 8 months ago. Is it still useful?"
    assert question.places[0].text == state.strip()
    after = question.options[0].edits[0].after or ""
    assert after.endswith(f"{OTHER}\n## Yard\n\nShips pay by the yard.\n\n- Each pays.\n")


@each(("day", "asked"), [("2026-03-09", True), ("2026-09-09", False)])
def test_what_was_to_come_long_ago_is_asked_about(tmp_path: Path, day: str, asked: bool) -> None:
    body = (
        f"It reads CSV since {day}, and does nothing else.\n\n## Open issues (tracker)\n\n- Merge the reader.\n\n"
        "## 2026-02-15 05:06 UTC\n\nNo rows.\n\n### Next steps\n\n- Look again.\n\n"
        "## Rules\n\nNever skip a row.\n\nNever add one.\n\n## What's next\n\n1. The writer.\n\n**Why:** CSV is all there is.\n"
    )
    found = [
        each
        for each in dream(tmp_path, project_file(body), written=None).outcome.questions
        if each.kind == "expired"
    ]
    assert [[place.text for place in each.places] for each in found] == (
        [["## Open issues (tracker)\n\n- Merge the reader.", "## What's next\n\n1. The writer."]]
        if asked
        else []
    )
    if asked:
        after = found[0].options[0].edits[0].after or ""
        assert "Merge" not in after and "writer" not in after and "Never skip a row" in after
        assert after.endswith("**Why:** CSV is all there is.\n")


def test_what_is_pending_in_each_entry_of_a_log_is_no_question(tmp_path: Path) -> None:
    entry = "## Import, part {n}\n\nDone since 2026-02-0{n}: the reader reads CSV.\n\n### Pending\n\n- Part {n} of the writer.\n\n"
    made = dream(tmp_path, project_file("".join(entry.format(n=n) for n in (1, 2, 3))), written=None)
    assert [each for each in made.outcome.questions if each.kind == "expired"] == []


@each(
    "leads",
    ["- [Import](project_import.md) — the import", "See [the import](project_import.md) for all of it."],
)
def test_a_section_of_rows_or_one_that_is_most_of_its_file_is_left(tmp_path: Path, leads: str) -> None:
    files = project_file(
        "## Next steps\n\n- The reader, as of 2026-02-01 or so.\n- The writer.\n- The rest of it.\n"
    )
    files["MEMORY.md"] = f"# Memory\n\nKept since 2026-02-01.\n\n## TODOs\n\n{leads}\n"
    found = dream(tmp_path, files, written=None).outcome.questions
    assert [place.text for each in found for place in each.places if place.text.startswith("#")] == []


@each(("rest", "asks"), [("\n## Names\n\n- The crane was renamed to heron.\n", False), ("", True)])
def test_a_state_that_the_rest_of_a_memory_is_said_of_stays(tmp_path: Path, rest: str, asks: bool) -> None:
    body = f"All seventy figures are drawn as of 2026-02-01.\n{rest}"
    assert bool(dream(tmp_path, project_file(body)).outcome.questions) is asks


@each(("title", "asks"), [("# Crane — status (2026-02-01)", False), ("## Crane — status (2026-02-01)", True)])
def test_a_memory_keeps_its_title_whatever_day_that_names(tmp_path: Path, title: str, asks: bool) -> None:
    body = (
        f"{title}\n\nIt lifts crates in the yard.\n\n**Why:** nobody else does.\n\n" + "- It was oiled.\n" * 6
    )
    assert bool(dream(tmp_path, project_file(body)).outcome.questions) is asks


def test_of_a_statement_that_says_more_only_the_sentence_is_taken_out(tmp_path: Path) -> None:
    body = "It reads CSV.\n\n- The reader was moved on 2026-01-30. It is uncommitted as of 2026-02-01. The writer has to follow.\n"
    (question,) = dream(tmp_path, project_file(body)).outcome.questions
    assert question.why == "This is a state as of 2026-02-01, 8 months ago. Is it still useful?"
    after = question.options[0].edits[0].after or ""
    assert "- The reader was moved on 2026-01-30. The writer has to follow.\n" in after


def test_an_abbreviation_that_ends_a_bracket_ends_no_sentence(tmp_path: Path) -> None:
    body = "It reads CSV.\n\n- It is free as of 2026-02-01; other readers (Excel etc.) now cost extra. The writer has to follow.\n"
    (question,) = dream(tmp_path, project_file(body)).outcome.questions
    assert "\n- The writer has to follow.\n" in (question.options[0].edits[0].after or "")


@each(
    "line",
    [
        "**Status as of 2026-02-01:** The move has begun. Half of it is done.",
        "**Score: 8 of 10** (as of 2026-02-01). See the card.",
    ],
)
def test_a_label_dates_all_that_it_introduces(tmp_path: Path, line: str) -> None:
    (question,) = dream(tmp_path, project_file(f"It reads CSV.\n\n{line}\n")).outcome.questions
    assert (question.kind, question.places[0].text.strip()) == ("expired", line)
    assert (question.options[0].edits[0].after or "").rstrip().endswith("It reads CSV.")


def test_a_label_that_leads_a_list_is_not_taken_from_it(tmp_path: Path) -> None:
    body = "It reads CSV.\n\n**Remotes (as of 2026-02-01)**\n\n- One is ours.\n- One is a mirror.\n"
    assert dream(tmp_path, project_file(body)).outcome.questions == []


def test_a_section_that_is_an_old_state_and_what_was_next_is_asked_about_once(tmp_path: Path) -> None:
    body = "The importer is new.\n\nIt was tried on 2026-02-20.\n\n## Next steps (as of 2026-02-01)\n\n- Write the queue's tests.\n"
    made = dream(tmp_path, {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(body)}, written=None)
    (question,) = [each for each in made.outcome.questions if each.kind == "expired"]
    assert question.why.endswith(", 8 months ago. Is it still useful?")
    # What is written down about the answer is a reason, not the question again.
    (edit,) = question.options[0].edits
    said = {edit.reason, *(fate.note for fate in edit.fates)}
    assert said == {question.why.removesuffix(" Is it still useful?")}


def test_a_memory_that_somebody_has_put_into_an_archive_is_kept_on_purpose(tmp_path: Path) -> None:
    files = {"archive/cache.md": memory("Superseded by the store: the cache is in Redis.\n")}
    files["MEMORY.md"] = "- [Cache](archive/cache.md) - the cache\n"
    assert dream(tmp_path, files, written=WRITTEN).outcome.questions == []


@each(
    ("row", "told", "asked"),
    [
        ("the old cache (historical)", "The cache is in Redis.", True),
        ("SUPERSEDED by the store", "The cache is in Redis.", True),
        ("the cache", "Superseded by the store: the cache is in Redis.", True),
        ("the cache, now DONE", "Historical data is kept in Redis.", False),
        ("the store that SUPERSEDED the cache of each node", "The cache is in Redis.", False),
        ("the cache", "All entries of the cache are below `store/`, not `cache/` (obsolete).", False),
    ],
)
def test_a_memory_that_says_that_it_is_over_is_asked_about(
    tmp_path: Path, row: str, told: str, asked: bool
) -> None:
    files = {
        "cache.md": memory(f"{told}\n\nIt has three nodes.\n"),
        "notes.md": memory(OTHER),
        "MEMORY.md": f"- [Cache](cache.md) - {row}\n- [Notes](notes.md) - docs\n",
    }
    made = dream(tmp_path, files, written=WRITTEN)
    questions = [each for each in made.outcome.questions if each.kind == "expired"]
    assert made.edits == [] and len(questions) == asked
    for question in questions:
        says = "cache.md says that it" if told[0] == "S" else "MEMORY.md says that cache.md"
        assert question.why == f"{says} is out of date. Is it still useful?"
        after = {edit.path: edit.after for edit in question.options[0].edits}
        assert after == {"cache.md": None, "MEMORY.md": "- [Notes](notes.md) - docs\n"}


def test_a_file_of_many_sections_is_read_once_for_all_of_them(tmp_path: Path) -> None:
    sections = "\n\n".join(f"### Day {number}\n\nThe {number}. deploy went well." for number in range(200))
    with mock.patch.object(days, "REMARK", wraps=days.REMARK) as remark:
        dream(tmp_path, project_file(f"# Deploys\n\n{sections}\n"))
    assert 0 < remark.match.call_count < 2_000


def test_a_state_goes_neither_with_the_reason_behind_it_nor_without_it(tmp_path: Path) -> None:
    status = "**Status as of 2026-01-30:** The launcher is one folder of Swift files."
    why = "**Why:** One window shows every service."
    for name, more in (("alone", ""), ("with a reason", f"\n\n{why}")):
        files = {"notes.md": memory(f"# Launcher\n\n{status}{more}\n\n## Log\n\n- It restarts.\n")}
        kinds = {question.kind for question in dream(tmp_path / name, files).outcome.questions}
        assert ("expired" in kinds) == (not more), name


def test_a_section_does_not_go_if_only_the_reasons_for_it_are_left(tmp_path: Path) -> None:
    section = "## Live systems (as of 2026-01-30)\n\n- The mixer is off.\n- The gateway is on.\n- The tagger is off."
    reasons = "**Why:** The mixer was too dear.\n\n**How to apply:** Look at the gateway alone, whatever the others say."
    for name, more in (("alone", ""), ("beside more", "\n\n## Log\n\nIt was quiet.\n\nThe lamps are new.")):
        files = {"notes.md": memory(f"{section}\n\n{reasons}{more}\n")}
        kinds = {question.kind for question in dream(tmp_path / name, files).outcome.questions}
        assert ("expired" in kinds) == bool(more), name


def test_a_section_goes_with_the_reasons_that_it_has_before_another_heading(tmp_path: Path) -> None:
    section = (
        "## Status (2026-01-30)\n\n### Hosts\n\n- One.\n\n**Why:** It is cheap.\n\n### Deploys\n\n- By hand."
    )
    body = f"It reads CSV.\n\n{OTHER * 9}\n{section}\n\n## Rules\n\nNever skip a row.\n"
    (question,) = dream(tmp_path, project_file(body)).outcome.questions
    assert question.places[0].text == section
    after = question.options[0].edits[0].after or ""
    assert after.endswith(f"{OTHER}\n## Rules\n\nNever skip a row.\n")
