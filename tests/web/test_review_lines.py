"""Lines as the pages show them: nothing is lost or doubled, whatever is marked in them."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from dreams.lib import diff
from dreams.web.pages import diffs
from dreams.web.tags import desk

LINES = st.lists(
    st.text(alphabet="ab `[](){}.\u200b", max_size=12).map(lambda text: text + "\n"), max_size=14
).map("".join)


def shown(line: diffs.DiffLine) -> str:
    return "".join(bit.text for run in line.runs for bit in run.bits)


@settings(max_examples=25, deadline=None)
@given(LINES, LINES)
def test_cards_and_gaps_together_are_the_whole_text_once(base: str, new: str) -> None:
    cards = diffs.blocks(base, diff.hunks(base, new), "a.md")
    lines = [
        line
        for card in cards
        for part in (
            card.above.lines if card.above else (),
            card.lines,
            card.below.lines if card.below else (),
        )
        for line in part
    ]
    if not cards:
        return
    after = [shown(line) for line in lines if line.kind != "del"]
    before = [shown(line) for line in lines if line.kind != "ins"]
    assert after == [diff.visible(line.rstrip("\n"), "\n") for line in diff.split_lines(new)]
    assert before == [diff.visible(line.rstrip("\n"), "\n") for line in diff.split_lines(base)]


def test_code_and_link_targets_look_quieter_and_keep_their_marks() -> None:
    [card] = diffs.blocks("x\n", diff.hunks("x\n", "Run `make` as [said](a.md).\n"), "a.md")
    looks = [(bit.text, bit.look) for run in card.lines[-1].runs for bit in run.bits]
    assert ("`make`", "code") in looks and ("a.md", "target") in looks
    assert "".join(text for text, _ in looks) == "Run `make` as [said](a.md)."


def test_frontmatter_headings_and_index_rows_are_told_apart() -> None:
    text = "---\nname: A\n---\n\n# Head\n\n```\ncode\n```\n"
    [card] = diffs.blocks("", diff.hunks("", text), "a.md")
    assert [line.style for line in card.lines] == ["front"] * 3 + ["", "heading", ""] + ["code"] * 3
    rows = "# Memory\n\n- [A](a.md) — a\n"
    [card] = diffs.blocks("", diff.hunks("", rows), "MEMORY.md")
    assert [line.style for line in card.lines] == ["heading", "", "row"]


def test_changes_that_a_reader_would_overlook_are_named() -> None:
    def noted(old: str, new: str) -> list[str]:
        return [note for card in diffs.blocks(old, diff.hunks(old, new), "a.md") for note in card.notes]

    assert noted("a\n", "a\r\n") == ["Only line ends change."]
    assert noted("a  b\n", "a b\n") == ["Only spaces and line breaks change."]
    assert noted("[a](x.md)\n", "[a](y.md)\n") == [
        "A link’s target changes, which the text does not show: x.md → y.md"
    ]
    assert noted("a\n", "b\n") == []


def test_a_mark_is_on_words_and_not_on_the_spaces_beside_them() -> None:
    [card] = diffs.blocks(
        "Use the shared one.\n", diff.hunks("Use the shared one.\n", "Use the one.\n"), "a.md"
    )
    marked = [bit.text for line in card.lines for run in line.runs if run.changed for bit in run.bits]
    assert marked == ["shared"]


def test_a_long_line_is_folded_with_all_its_words_unless_that_hides_a_change() -> None:
    long = "word " * 2_000

    def shown(old: str, new: str) -> str:
        [card] = diffs.blocks(f"{old}\n", diff.hunks(f"{old}\n", f"{new}\n"), "a.md")
        return str(desk.words(next(line for line in card.lines if line.kind == "ins")))

    near, far = shown(f"shared {long}", f"common {long}"), shown(f"{long} shared", f"{long} common")
    for line, fold in ((near, '<details class="line-fold">'), (far, '<details class="line-fold" open>')):
        assert line.startswith(f"{fold}<summary>All 10,00")
        assert "<ins>common</ins>" in line and line.count("word ") >= 1_999
    assert "line-fold" not in shown("shared " * 99, "common " * 99)
