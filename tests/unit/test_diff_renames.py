"""A file that got another name is told from one that went and another that came."""

from dreams.lib.diff import Hunk, moved_within, renamed

TEXT = "---\nname: On call\n---\n\nThe rota is in the wiki.\n\nPages at night are looked at in the morning.\n"


def test_a_file_under_another_name_is_the_same_file_also_when_it_was_reworded_a_little():
    assert renamed({"a.md": TEXT}, {"b.md": TEXT}) == {"b.md": "a.md"}
    assert renamed({"a.md": TEXT}, {"b.md": TEXT.replace("wiki", "channel's topic")}) == {"b.md": "a.md"}


def test_another_text_is_another_file():
    assert renamed({"a.md": TEXT}, {"b.md": "Releases leave on Tuesdays, never before a holiday.\n"}) == {}
    assert renamed({"a.md": ""}, {"b.md": ""}) == {}
    head = "---\nname: Testing\ndescription: how we test\ntype: feedback\n---\n\n"
    come = {"b.md": head.replace("est", "ool") + "Always use pnpm here.\n"}
    assert renamed({"a.md": head + "Run make test before a commit.\n"}, come) == {}
    assert renamed({"a.md": head}, {"b.md": head.replace("est", "ool")}) == {"b.md": "a.md"}
    other = "---\nname: Ports\ndescription: the number of each relay at the north quay, as its crew told us in May\n---\n"
    assert renamed({"a.md": head}, {"b.md": other}) == {}


def test_the_likest_pair_goes_first_and_each_file_is_in_one():
    near = TEXT.replace("wiki", "book")
    assert renamed({"a.md": TEXT, "c.md": near}, {"b.md": near}) == {"b.md": "c.md"}
    far = TEXT.replace("in the wiki", "with Dana now")
    assert renamed({"a.md": TEXT, "c.md": near}, {"b.md": far, "d.md": near}) == {
        "d.md": "c.md",
        "b.md": "a.md",
    }


def test_very_many_files_are_paired_by_their_very_text_alone():
    gone = {f"old{n}.md": f"{TEXT}{n}\n" for n in range(40)}
    come = {"same.md": f"{TEXT}7\n"} | {f"near{n}.md": f"{TEXT}x{n}\n" for n in range(40)}
    assert renamed(gone, come) == {"same.md": "old7.md"}


def test_lines_that_changed_their_order_in_a_hunk_have_moved_and_an_indented_one_has_not():
    one, two = "- The first of these two lines.\n", "- The second of these two lines.\n"
    swapped = Hunk("x", 0, (one, two), 0, (two, one))
    assert moved_within(swapped) in ([(0, 1)], [(1, 0)])
    assert moved_within(Hunk("x", 0, (one, two), 0, ("  " + one, "  " + two))) == []


def test_nothing_is_said_of_sides_too_long_to_compare():
    lines = tuple(f"This is line number {n} of very many.\n" for n in range(600))
    assert moved_within(Hunk("x", 0, lines, 0, tuple(reversed(lines)))) == []
