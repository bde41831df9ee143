"""From an engine's steps to hunks that belong together."""

from __future__ import annotations

from hypothesis import given, strategies as st

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit, Fate

INDEX = "- [A](a.md) — one\n- [B](b.md) — two\n"


def step(path: str, before: str | None, after: str | None, operation: str, **more) -> Edit:
    return Edit(path, before, after, operation, more.pop("kind", "edit"), f"Why {operation}.", **more)


def run(before: dict[str, str], *edits: Edit, rejected=None) -> drafts.Draft:
    after = dict(before)
    for edit in edits:
        if edit.after is None:
            after.pop(edit.path)
        else:
            after[edit.path] = edit.after
    return drafts.draft(encoded(before), encoded(after), edits, rejected)


def encoded(texts: dict[str, str]) -> dict[str, bytes]:
    return {path: content.encode() for path, content in texts.items()}


def operations_of(draft: drafts.Draft) -> dict[str, set[str]]:
    return {file.path: {hunk.operation for hunk in file.hunks} for file in draft.files}


def test_a_merge_of_two_files_and_its_index_row_are_one_operation() -> None:
    before = {"MEMORY.md": INDEX, "a.md": "x\n", "b.md": "y\n"}
    made = run(
        before,
        step("a.md", "x\n", "x\ny\n", "merge"),
        step("b.md", "y\n", None, "merge"),
        step("MEMORY.md", INDEX, INDEX.splitlines(keepends=True)[0], "merge"),
    )
    assert len(made.operations) == 1
    assert [file.kind for file in made.files] == ["modify", "modify", "delete"]


def test_unrelated_changes_of_one_file_stay_apart() -> None:
    text = "one\n\ntwo\n"
    half = "ONE\n\ntwo\n"
    made = run(
        {"a.md": text}, step("a.md", text, half, "first"), step("a.md", half, "ONE\n\nTWO\n", "second")
    )
    assert len(operations_of(made)["a.md"]) == 2


def test_the_rows_of_a_new_index_are_decided_apart_and_it_comes_with_the_first_one() -> None:
    first = "- [A](a.md) — one\n"
    made = run(
        {"a.md": "x\n", "b.md": "y\n"},
        step("MEMORY.md", None, first, "a", kind="index"),
        step("MEMORY.md", first, INDEX, "b", kind="index"),
    )
    ((index,), (one, two)) = made.files, made.files[0].hunks
    assert index.kind == "add" and one.operation != two.operation
    taken = drafts.rebuild(None, index.new, [one.hunk, two.hunk], {two.hunk.id: True})
    assert taken == b"- [B](b.md) \xe2\x80\x94 two\n"
    assert drafts.rebuild(None, index.new, [one.hunk, two.hunk], {}) is None


def test_the_rows_of_an_index_that_was_empty_are_decided_apart() -> None:
    first = "- [A](a.md) — one\n"
    files = {"MEMORY.md": "", "a.md": "x\n", "b.md": "y\n"}
    rows = (
        step("MEMORY.md", "", first, "a", kind="index"),
        step("MEMORY.md", first, INDEX, "b", kind="index"),
    )
    made = run(files, *rows)
    ((index,), (one, two)) = made.files, made.files[0].hunks
    assert index.kind == "modify" and one.operation != two.operation
    assert (
        drafts.rebuild(b"", index.new, [one.hunk, two.hunk], {two.hunk.id: True})
        == INDEX[len(first) :].encode()
    )


def test_two_steps_on_one_line_are_decided_together() -> None:
    made = run(
        {"a.md": "on monday\nkeep\n"},
        step("a.md", "on monday\nkeep\n", "on 2026-03-02\nkeep\n", "date", kind="date"),
        step("a.md", "on 2026-03-02\nkeep\n", "keep\n", "move", kind="merge"),
        step("b.md", None, "on 2026-03-02\n", "move", kind="merge"),
    )
    assert len(made.operations) == 1
    (operation,) = made.operations.values()
    assert operation.kind == "merge"
    assert "Why date." in operation.reason and "Why move." in operation.reason


def test_evidence_and_fates_go_to_the_hunks_they_speak_of() -> None:
    said = Citation("transcript", "as I said")
    fate = Fate("two", "merged-into", "b.md", "two")
    text = "one\n\ntwo\n"
    made = run(
        {"a.md": text, "b.md": "z\n"},
        step("a.md", text, "one\n\n", "move", citations=(said,), fates=(fate,)),
        step("b.md", "z\n", "z\ntwo\n", "move"),
    )
    first = made.files[0].hunks[0]
    assert first.citations == (said,)
    assert first.fates == (fate,)


def test_a_quoted_line_of_a_memory_is_counted_in_the_file_that_the_person_has() -> None:
    grown = "- [C](c.md) — three\n" + INDEX
    quote = Citation("memory", "- [B](b.md) — two", "MEMORY.md", line_no=3)
    made = run(
        {"MEMORY.md": INDEX},
        step("MEMORY.md", INDEX, grown, "learn", kind="learn"),
        step("MEMORY.md", grown, grown.replace("two", "too"), "fix", citations=(quote,)),
    )
    assert [c.line_no for hunk in made.files[0].hunks for c in hunk.citations] == [2]


def test_a_rejected_hunk_stays_out_with_its_whole_operation_while_its_inputs_are_the_same() -> None:
    before = {"MEMORY.md": INDEX}
    edits = (
        step("c.md", None, "new\n", "learn"),
        step("MEMORY.md", INDEX, INDEX + "- [C](c.md) — three\n", "learn"),
    )
    first = run(before, *edits)
    hunk = first.files[0].hunks[0]
    again = run(before, *edits, rejected={(first.files[0].path, hunk.hunk.id): hunk.inputs_key})
    assert again.is_empty
    assert {path for path, _ in again.left_out} == {"MEMORY.md", "c.md"}
    other = run(before, *edits, rejected={(first.files[0].path, hunk.hunk.id): "made from something else"})
    assert not other.is_empty


def test_an_empty_file_that_appears_or_goes_is_still_one_hunk() -> None:
    assert len(drafts.file_hunks("a.md", None, b"")) == 1
    assert len(drafts.file_hunks("a.md", b"", None)) == 1


lines = st.lists(st.text("ab \r\x80é", max_size=4), max_size=6).map("\n".join)
texts = st.builds(lambda body, end: (body + end).encode(), lines, st.sampled_from(["", "\n", "\r\n"]))
states = st.one_of(st.none(), texts, st.binary(max_size=12))


@given(states, states)
def test_all_hunks_give_the_new_state_and_none_gives_the_old_one(
    base: bytes | None, new: bytes | None
) -> None:
    found = drafts.file_hunks("a.md", base, new)
    assert drafts.rebuild(base, new, found, {hunk.id: True for hunk in found}) == new
    assert drafts.rebuild(base, new, found, {}) == base


def test_a_file_that_gets_another_name_is_one_decision_whoever_made_the_steps() -> None:
    text = "# On call\n\nThe rota is in the wiki.\n\nPages at night are looked at in the morning.\n"
    edits = [
        Edit("a.md", text, None, "remove", "prune", "Gone."),
        Edit("b.md", None, text.replace("wiki", "topic"), "write", "learn", "Came."),
    ]
    made = drafts.draft({"a.md": text.encode()}, {"b.md": text.replace("wiki", "topic").encode()}, edits)
    assert len({hunk.operation for file in made.files for hunk in file.hunks}) == 1


def said(quote: str) -> tuple[Citation, ...]:
    return (Citation("transcript", quote),)


def test_a_line_that_was_dated_and_then_forgotten_is_told_as_forgotten_with_the_evidence_of_both_steps() -> (
    None
):
    first, dated = "keep\nmove next month\n", "keep\nmove in 2026-12\n"
    made = run(
        {"a.md": first},
        step(
            "a.md", first, dated, "date", citations=said("the file’s own date"),
            fates=(Fate("move next month", "kept-in", "a.md", "move in 2026-12"),),
        ),
        step(
            "a.md", dated, "keep\n", "prune", citations=said("forget the move"),
            fates=(Fate("move in 2026-12", "stated", note="You asked to forget it."),),
        ),
    )  # fmt: skip
    (hunk,) = made.files[0].hunks
    assert hunk.fates == (Fate("move next month", "stated", note="You asked to forget it."),)
    assert [cited.quote for cited in hunk.citations] == ["the file’s own date", "forget the move"]


def test_a_line_that_moved_to_another_file_is_followed_to_what_became_of_it_there() -> None:
    made = run(
        {"a.md": "keep\nport 80\n", "b.md": "x\n"},
        step("b.md", "x\n", "x\nport 80\n", "merge"),
        step("a.md", "keep\nport 80\n", "keep\n", "merge", fates=(Fate("port 80", "merged-into", "b.md", "port 80"),)),
        step("b.md", "x\nport 80\n", "x\nport 81\n", "update", fates=(Fate("port 80", "superseded-by", "b.md", "port 81"),)),
    )  # fmt: skip
    (gone,) = made.files[0].hunks[0].fates
    assert (gone.kind, gone.target_path, gone.target_text) == ("superseded-by", "b.md", "port 81")


def test_what_is_reported_about_a_part_of_a_line_stays_with_that_line() -> None:
    fate = Fate("It runs on 15.", "superseded-by", "a.md", "It runs on 17.")
    made = run(
        {"a.md": "keep\n- A shop. It runs on 15.\nend\nport 80\n"},
        step("a.md", "keep\n- A shop. It runs on 15.\nend\nport 80\n", "keep\n- A shop. It runs on 17.\nend\nport 81\n", "update", fates=(fate,)),
    )  # fmt: skip
    first, second = made.files[0].hunks
    assert (first.fates, second.fates) == ((fate,), ())


def test_what_is_reported_about_a_statement_over_two_lines_stays_with_its_lines() -> None:
    fate = Fate("It runs on 15.", "stated", note="It runs on 17.")
    made = run(
        {"a.md": "keep\nA shop. It runs\non 15.\n"},
        step("a.md", "keep\nA shop. It runs\non 15.\n", "keep\nA shop.\n", "update", fates=(fate,)),
    )
    assert made.files[0].hunks[0].fates == (fate,)


def test_a_line_that_changes_places_for_ever_has_an_end() -> None:
    made = run(
        {"a.md": "a\n"},
        step("a.md", "a\n", "b\n", "one", fates=(Fate("a", "merged-into", "a.md", "b"),)),
        step("a.md", "b\n", "a\n", "two", fates=(Fate("b", "merged-into", "a.md", "a"),)),
        step("a.md", "a\n", "b\n", "three", fates=(Fate("a", "merged-into", "a.md", "b"),)),
    )
    assert {fate.target_text for fate in made.files[0].hunks[0].fates} == {"b"}


def test_a_change_has_five_quotes_at_most_and_those_of_its_own_lines_first() -> None:
    rows = [f"- row {number}\n" for number in range(12)]
    quotes = tuple(Citation("memory", row.strip(), "MEMORY.md") for row in rows)
    after = [row.replace("row", "line") if number in {3, 9} else row for number, row in enumerate(rows)]
    made = run(
        {"MEMORY.md": "".join(rows)}, step("MEMORY.md", "".join(rows), "".join(after), "a", citations=quotes)
    )
    assert [len(hunk.citations) for hunk in made.files[0].hunks] == [5, 5]
    assert [hunk.citations[0].quote for hunk in made.files[0].hunks] == ["- row 3", "- row 9"]


def test_a_new_memory_and_its_row_are_one_operation_though_the_engine_named_two() -> None:
    made = run(
        {"MEMORY.md": INDEX, "a.md": "x\n", "b.md": "y\n"},
        step("c.md", None, "z\n", "learn"),
        step("MEMORY.md", INDEX, INDEX + "- [C](c.md) — three\n", "index"),
    )
    assert len(made.operations) == 1


def test_rows_of_two_new_memories_that_one_step_wrote_are_decided_with_their_memories() -> None:
    made = run(
        {"MEMORY.md": INDEX, "a.md": "x\n", "b.md": "y\n"},
        step("c.md", None, "z\n", "one"),
        step("d.md", None, "w\n", "two"),
        step("MEMORY.md", INDEX, INDEX + "- [C](c.md) — three\n- [D](d.md) — four\n", "rows"),
    )
    assert len(made.operations) == 2
    found = operations_of(made)
    assert found["MEMORY.md"] == found["c.md"] | found["d.md"]
    assert {operation.reason for operation in made.operations.values()} == {"Why one.", "Why two."}
