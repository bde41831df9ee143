"""An index that is longer than an agent loads: which rows could say less, and what each would say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dreams.engines.types import Question
from dreams.lib import memdir
from tests.world.cases import each
from tests.world.rules import WRITTEN, Dreamt, dream, memory, session

TAIL = "It was measured over many runs on the build host, and the numbers are in the file in full."


def over_budget(folder: Path, *rows: tuple[str, str, str], count: int = 130) -> Dreamt:
    """An index of `count` rows of 200 characters that nothing can be cut from, and these (path, hook, file)."""
    files: dict[str, str | bytes] = {
        f"m{n}.md": memory(f"Thing {n}.\n", name=f"Thing {n}") for n in range(count)
    }
    filler = "".join(
        f"- [Thing {n}](m{n}.md) — number {n} is {'kept away ' * 16}there\n" for n in range(count)
    )
    files["MEMORY.md"] = (
        "# Memory\n\n" + "".join(f"- [Row](<{p}>) — {hook}\n" for p, hook, _ in rows) + filler
    )
    return dream(folder, {**files, **{path: text for path, _, text in rows}})


def asked(made: Dreamt) -> Question:
    (question,) = [question for question in made.outcome.questions if question.kind == "index"]
    return question


def test_each_row_is_an_edit_of_its_own_named_by_the_file_it_leads_to(tmp_path: Path) -> None:
    one = (
        "one.md",
        f"The queue is Redis 7.2 on host queue-1. {TAIL}",
        memory(f"The queue is Redis 7.2 on host queue-1. {TAIL}\n"),
    )
    two = (
        "two.md",
        f"Retries of jobs stop at five. {TAIL}",
        memory(f"Retries of jobs stop at five. {TAIL}\n"),
    )
    made = over_budget(tmp_path, one, two)
    assert made.edits == []
    question = asked(made)
    demote, keep = question.options
    assert (demote.id, keep.id, keep.edits) == ("demote", "keep", ())
    assert {edit.operation for edit in demote.edits} == {"one.md", "two.md"}
    before = made.text("MEMORY.md")
    for edit in demote.edits:
        assert edit.before == before
        assert edit.after is not None
        changed = [line for line in edit.after.split("\n") if line not in before.split("\n")]
        assert len(changed) == 1 and TAIL not in changed[0]
    assert [place.line_no for place in question.places] == [3, 4]


def test_a_row_that_an_answer_made_is_not_asked_to_be_shorter_still(tmp_path: Path) -> None:
    more = "It keeps jobs for three days, and a nightly run moves what is older to the archive on host box-2."
    said = f"The queue is Redis 7.2 on host queue-1. {more} {TAIL}"
    made = over_budget(tmp_path / "1", ("one.md", said, memory(f"{said}\n")), count=128)
    files = {path: data.decode() for path, data in made.after.items()}
    files |= {edit.path: edit.after or "" for edit in asked(made).options[0].edits}
    days = [WRITTEN] * (files["MEMORY.md"].count("\n") + 1)
    days[2] = replace(WRITTEN, ours=True)
    again = dream(tmp_path / "2", files, written={"MEMORY.md": days})
    assert [each for each in again.outcome.questions if each.kind == "index"] == []


@pytest.mark.more
def test_it_says_whether_the_index_is_that_long_or_would_be(tmp_path: Path) -> None:
    hook = f"The queue is Redis 7.2 on host queue-1. {TAIL}"
    one = ("one.md", hook, memory(f"{hook}\n"))
    as_it_is = over_budget(tmp_path / "1", one)
    assert f"The index has {len(as_it_is.text('MEMORY.md').splitlines()):,} lines" in asked(as_it_is).why
    changed = over_budget(tmp_path / "2", one, one)
    assert changed.edits, "the doubled row goes"
    assert asked(changed).why.startswith("With the changes of this dream the index has ")


@pytest.mark.more
def test_the_description_of_the_file_comes_before_a_part_of_the_row(tmp_path: Path) -> None:
    told = f"The queue is Redis 7.2 on host queue-1. {TAIL}"
    text = memory(f"{told}\n", description="Redis 7.2 on queue-1 holds all the jobs")
    (edit,) = asked(over_budget(tmp_path, ("one.md", told, text))).options[0].edits
    assert edit.after is not None
    assert "- [Row](<one.md>) — Redis 7.2 on queue-1 holds all the jobs\n" in edit.after


@pytest.mark.more
def test_a_description_replaces_no_row_that_is_newer_than_the_file(tmp_path: Path) -> None:
    told = f"The queue is Redis 7.2 on host queue-1. {TAIL}"
    text = memory("The queue is Redis.\n", description="Redis 7.0 on queue-9 holds all the jobs")
    edits = asked(over_budget(tmp_path, ("one.md", told, text))).options[0].edits
    (after,) = (edit.after for edit in edits if edit.path == "MEMORY.md")
    assert after and "- [Row](<one.md>) — The queue is Redis 7.2 on host queue-1.\n" in after


@pytest.mark.more
def test_what_only_a_row_says_moves_into_its_file(tmp_path: Path) -> None:
    told = f"The queue is Redis 7.2 on host queue-1. {TAIL}"
    question = asked(over_budget(tmp_path, ("only.md", told, memory("The queue is Redis.\n"))))
    assert question.why.endswith("bytes in all. The rest moves into their files.")
    after = {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert {edit.operation for edit in question.options[0].edits} == {"only.md"}
    assert "- [Row](<only.md>) — The queue is Redis 7.2 on host queue-1.\n" in after["MEMORY.md"]
    assert after["only.md"] == memory(f"The queue is Redis.\n\n{told}\n")


def test_rows_whose_rest_their_file_has_are_told_apart_from_those_whose_rest_moves(tmp_path: Path) -> None:
    told = [f"The queue is Redis 7.{number} on host queue-{number}. {TAIL}" for number in range(3)]
    bodies = [told[0], told[1], "The queue is Redis."]
    rows = [(f"r{n}.md", told[n], memory(f"{body}\n")) for n, body in enumerate(bodies)]
    question = asked(over_budget(tmp_path, *rows))
    said = "For 2 the file already has the rest, for 1 the rest moves into the file."
    assert question.why.endswith(f"bytes in all. {said}")


@pytest.mark.more
def test_a_row_that_would_lose_a_rule_is_not_offered(tmp_path: Path) -> None:
    rule = f"The queue is Redis 7.2 on host queue-1. {TAIL} Never flush it."
    half = f"The queue is Redis 7.2 on host queue-1 and {TAIL[:-1].lower()}"
    order = f"Measure each change on the build host. {TAIL} Report the load."
    made = over_budget(
        tmp_path,
        ("rule.md", rule, memory(f"{rule}\n")),
        ("half.md", half, memory(f"{half}\n")),
        ("order.md", order, memory(f"{order}\n", "feedback")),
    )
    assert not [question for question in made.outcome.questions if question.kind == "index"]


@pytest.mark.more
def test_rows_that_few_memories_link_to_are_offered_first_and_no_more_than_the_index_needs(
    tmp_path: Path,
) -> None:
    told = [f"Queue {n} is Redis 7.{n} on host queue-{n}. {TAIL}" for n in range(6)]
    rows = [(f"r{n}.md", told[n], memory(f"{told[n]}\n{'See [[r0]].' if n else ''}\n")) for n in range(6)]
    made = over_budget(tmp_path, *rows, count=118)
    assert len(made.before["MEMORY.md"]) > 25_000
    offered = {edit.operation for edit in asked(made).options[0].edits}
    assert "r0.md" not in offered and len(offered) < 6


@pytest.mark.more
@each(("count", "more"), [(130, " A later dream asks about 21 more."), (90, "")])
def test_it_says_how_many_rows_a_later_dream_asks_about(tmp_path: Path, count: int, more: str) -> None:
    hooks = [f"The queue of shop {n} is Redis 7.2 on host queue-{n}. {TAIL}" for n in range(61)]
    rows = [(f"r{n}.md", hook, memory(f"{hook}\n")) for n, hook in enumerate(hooks)]
    question = asked(over_budget(tmp_path, *rows, count=count))
    assert len(question.places) == 40 and "40 rows could be shorter" in question.why
    assert question.why.endswith(f" Their files have the rest already.{more}")


def test_an_index_that_fits_is_not_asked_about(tmp_path: Path) -> None:
    told = f"The queue is Redis 7.2 on host queue-1. {TAIL}"
    assert over_budget(tmp_path, ("one.md", told, memory(f"{told}\n")), count=40).outcome.questions == []


@pytest.mark.more
def test_an_answer_that_hardly_shortens_the_index_is_not_asked_for(tmp_path: Path) -> None:
    one = (
        "one.md",
        f"The queue is Redis 7.2 on host queue-1. {TAIL}",
        memory(f"The queue is Redis 7.2. {TAIL}\n"),
    )
    found = over_budget(tmp_path / "1", one, count=170).outcome.questions
    assert [question for question in found if question.kind == "index"] == []
    lines = "".join(f"Line {number}.\n\n" for number in range(120))
    files = {"MEMORY.md": f"- [One](one.md) — {one[1]}\n{lines}", "one.md": one[2]}
    assert dream(tmp_path / "2", files).outcome.questions == []


def _full_of_berths(begun: str) -> dict[str, str]:
    """A directory whose index, with the sections that it begins with, is full."""
    rows = "".join(f"- [Berth {n}](berth_{n}.md) — berth {n}\n" for n in range(180))
    files = {f"berth_{n}.md": memory(f"Berth {n} is {n} yards long.\n") for n in range(180)}
    return {**files, "MEMORY.md": f"{begun}## Berths\n{rows}"}


def test_a_section_of_a_full_index_could_be_a_memory(tmp_path: Path) -> None:
    facts = "".join(f"- Crane {n} lifts {n} tons at berth {n}.\n" for n in range(8))
    rules = "".join(f"- Never lift {n} tons in rain, always wait.\n" for n in range(8))
    linking = (
        f"See [the first](berth_1.md).\n{facts.replace('Crane', 'Hoist')}"  # its link must stay in the index
    )
    index = f"# Memory\n\n## Cranes (2026-05-01)\n{facts}\n## Lifting\n{rules}\n## Hoists\n{linking}\n"
    question = asked(dream(tmp_path, _full_of_berths(index)))
    assert [place.text for place in question.places] == ["## Cranes (2026-05-01)"]
    assert "1 section could become a memory with a row here: 7 lines and 258 bytes fewer." in question.why
    assert {edit.operation for edit in question.options[0].edits} == {"cranes.md"}
    after = {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert after["MEMORY.md"].startswith(
        "# Memory\n\n## Cranes (2026-05-01)\n- [Cranes](cranes.md)\n\n## Lifting\n- Never"
    )
    assert after["cranes.md"].endswith(f"type: project\n---\n\n{facts}")


def test_the_row_of_a_section_is_its_first_sentence_whatever_that_begins_with(tmp_path: Path) -> None:
    facts = "".join(f"- Crane {n} lifts {n} tons at berth {n}.\n" for n in range(16))
    index = (
        f"# Memory\n\n## Cranes (2026-05-01)\n`crane.py` steers them\nfrom the yard. It is old.\n{facts}\n"
    )
    question = asked(dream(tmp_path, _full_of_berths(index)))
    after = {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert "- [Cranes](cranes.md) — `crane.py` steers them from the yard.\n" in after["MEMORY.md"]


@pytest.mark.more
@each(("heading", "row"), [("— as built (in 2019)", "as built (in 2019)"), (": (old) list", "(old) list")])
def test_a_remark_with_brackets_in_it_keeps_all_its_letters(heading: str, row: str, tmp_path: Path) -> None:
    facts = "".join(f"- Crane {n} lifts {n} tons at berth {n}.\n" for n in range(16))
    index = f"# Memory\n\n## Cranes {heading}\n{facts}\n".replace(" :", ":")
    question = asked(dream(tmp_path, _full_of_berths(index)))
    after = {edit.path: edit.after or "" for edit in question.options[0].edits}
    assert f"- [Cranes](cranes.md) — {row}\n" in after["MEMORY.md"]


@pytest.mark.more
def test_a_section_with_a_heading_in_another_script_becomes_a_memory_of_its_name(tmp_path: Path) -> None:
    facts = "".join(f"- Crane {n} lifts {n} tons at berth {n}.\n" for n in range(16))
    question = asked(
        dream(tmp_path, _full_of_berths(f"# Memory\n\n## 起重机（2026-05-01）\n{facts}\n"), written=None)
    )
    assert "起重机.md" in {edit.path for edit in question.options[0].edits}


@each(("ropes", "asks"), [(60, True), (300, False)])
def test_a_section_is_not_worth_an_answer_if_the_index_stays_as_full(
    tmp_path: Path, ropes: int, asks: bool
) -> None:
    facts = "".join(f"- Crane {n} lifts {n} tons at berth {n}.\n" for n in range(8))
    rules = "".join(f"- Rope {n} is {n} yards long.\n" for n in range(ropes))
    made = dream(tmp_path, _full_of_berths(f"# Memory\n\n## Cranes\n{facts}\n## Rules\n{rules}\n"))
    assert bool([each for each in made.outcome.questions if "could become" in each.why]) is asks


def test_a_section_whose_row_is_longer_than_its_lines_saves_lines_and_no_bytes(tmp_path: Path) -> None:
    heading = "## Cranes: those that stand at the northern quay and are painted yellow"
    begun = f"# Memory\n\n{heading}\n{''.join(f'- C{n}{chr(10)}' for n in range(14))}\n"
    why = asked(dream(tmp_path, _full_of_berths(begun))).why
    assert why.endswith("1 section could become a memory with a row here: 13 lines fewer."), why


@pytest.mark.more
def test_a_section_that_cannot_move_is_not_counted(tmp_path: Path) -> None:
    """A line that counts from its own day would count from another one in a new memory."""
    facts = "".join(f"- Crane {n} lifts {n} tons at berth {n}.\n" for n in range(8))
    undated = "".join(f"- Pump {n} is quiet in the morning, as of today.\n" for n in range(9))
    index = f"# Memory\n\n## Cranes\n{facts}\n## Pumps\n{undated}\n"
    question = asked(dream(tmp_path, _full_of_berths(index), written=None))
    assert "1 section could become a memory with a row here: 7 lines and 258 bytes fewer." in question.why
    assert [place.text for place in question.places] == ["## Cranes"]


@pytest.mark.more
def test_a_full_index_without_a_heading_ends_no_dream(tmp_path: Path) -> None:
    rows = "".join(
        f"- [Note {number}](note_{number}.md) — what note {number} says\n" for number in range(199)
    )
    files = {f"note_{number}.md": memory(f"Note {number} says {number}.\n") for number in range(3)}
    assert dream(tmp_path, {**files, "MEMORY.md": rows}).edits == []


def test_all_memories_without_a_row_are_one_question(tmp_path: Path) -> None:
    words = ("gulls", "cranes", "ropes", "lamps", "tides", "fish", "nets", "ice", "oil")
    files = {f"{each}.md": memory(f"We count {each}.\n", name=f"Status of {each}") for each in words}
    index = "# Memory\n\n- [Piers](piers.md) — where they are\n"
    made = dream(
        tmp_path, {"MEMORY.md": index, "piers.md": memory("Piers are north of the lock.\n"), **files}
    )
    (question,) = made.outcome.questions
    assert len(question.places) == 9
    assert question.why == "9 memories are not in any index, so no session finds them."
    assert all(f"]({path})" in (question.options[0].edits[-1].after or "") for path in files)


def test_an_index_without_a_row_is_asked_about_and_its_rows_come_before_its_sections(tmp_path: Path) -> None:
    index = "# Notes\n\nWhat holds at the lock.\n\n## Rules\n\n- Count aloud.\n- Never count at night.\n"
    files = {
        f"{each}.md": memory(f"We count {each}.\n", name=f"Counting {each}") for each in ("gulls", "ropes")
    }
    made = dream(tmp_path, {"MEMORY.md": index, **files})
    assert made.edits == []
    (question,) = made.outcome.questions
    rows = "- [Counting gulls](gulls.md) — We count gulls.\n- [Counting ropes](ropes.md) — We count ropes.\n"
    assert question.options[0].edits[-1].after == index.replace("## Rules", f"{rows}\n## Rules")


def test_a_directory_without_an_index_is_asked_about_as_a_whole(tmp_path: Path) -> None:
    words = ("gulls", "cranes", "ropes", "lamps", "tides", "fish", "nets", "ice", "oil")
    files = {f"{each}.md": memory(f"We count {each}.\n", name=f"Counting {each}") for each in words}
    made = dream(tmp_path / "1", files, [session(1, "Remember that we count boats at the lock on Mondays.")])
    assert [edit.path for edit in made.edits if edit.path in files] == []
    assert "gulls.md" not in made.text("MEMORY.md"), "only what was learnt is listed unasked"
    (question,) = dream(tmp_path / "2", files).outcome.questions
    assert question.subject == "no MEMORY.md", "a new file does not ask again"
    assert question.options[0].label == "Create MEMORY.md"
    index = question.options[0].edits[-1].after or ""
    assert sorted(row.target for row in memdir.parse_index(index).rows) == sorted(files)


def test_a_memory_that_the_dream_merges_does_not_keep_the_others_from_an_index(tmp_path: Path) -> None:
    files = {
        f"{each}.md": memory(f"We count {each}.\n", name=f"Counting {each}") for each in ("gulls", "ropes")
    }
    files |= {
        name: memory("Nets are mended on Fridays by two people.\n") for name in ("nets.md", "nets_copy.md")
    }
    made = dream(tmp_path, files)
    [merged] = set(files) - set(made.after)
    (question,) = made.outcome.questions
    assert question.subject == "no MEMORY.md"
    assert {place.path for place in question.places} == set(files) - {merged}


@pytest.mark.parametrize(("listed", "asked"), [(1, 1), (3, 0)])
def test_an_index_that_dreams_alone_wrote_lists_a_new_memory_unasked_if_it_has_most(
    tmp_path: Path, listed: int, asked: int
) -> None:
    rows = [f"- [Piers {n}](piers_{n}.md)\n" for n in range(listed)]
    files = {f"piers_{n}.md": memory(f"Pier {n} is north.\n", name=f"Piers {n}") for n in range(listed)}
    files |= {
        f"{each}.md": memory(f"We count {each}.\n", name=f"Counting {each}") for each in ("gulls", "ropes")
    }
    made = dream(
        tmp_path, {"MEMORY.md": "".join(rows), **files}, written={"MEMORY.md": replace(WRITTEN, ours=True)}
    )
    assert ("gulls.md" in made.text("MEMORY.md"), len(made.outcome.questions)) == (not asked, asked)


def test_no_row_is_offered_for_a_memory_that_another_answer_would_remove(tmp_path: Path) -> None:
    index = "# Memory\n\n- [Pier gate](gate.md) — its port\n"
    files = {
        "gate.md": memory("The `pier-gate` answers on port 4187.\n"),
        "gate_again.md": memory("- `pier-gate` is reached on port 4187\n", name="Status of the pier gate"),
        "fish.md": memory("We count fish.\n", name="Status of fish"),
    }
    made = dream(tmp_path, {"MEMORY.md": index, **files})
    asked = {each.kind: [place.path for place in each.places] for each in made.outcome.questions}
    assert asked == {"same": ["gate.md", "gate_again.md"], "learn": ["fish.md"]}
