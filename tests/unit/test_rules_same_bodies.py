"""Files whose bodies are the same: certain, however their labels, white space and lists differ; and what makes it a question."""

from __future__ import annotations

from pathlib import Path

from dreams.engines.types import Question
from tests.world.cases import each
from tests.world.rules import Dreamt, dream, memory, unaccounted

OWNER = "Reviews of the import gateway go to Carla Castellanos; she owns the area.\n"


def files_kept(made: Dreamt) -> set[str]:
    return {path for path in made.after if path != "MEMORY.md"}


def about_files(made: Dreamt) -> list[Question]:
    return [each for each in made.outcome.questions if each.kind == "same"]


@each("copies", [2, 3, 4, 5])
def test_copies_under_numbered_names_become_the_one_without_a_number(tmp_path: Path, copies: int) -> None:
    names = [f"owner_{number}.md" for number in range(2, copies + 1)] + ["owner.md"]
    rows = "".join(f"- [Owner {at}]({name}) — who reviews\n" for at, name in enumerate(names))
    files = {name: memory(OWNER, name=f"Owner {at}") for at, name in enumerate(names)}
    made = dream(tmp_path, {"MEMORY.md": rows, **files})
    assert files_kept(made) == {"owner.md"}
    assert made.text("owner.md") == files["owner.md"]
    assert made.text("MEMORY.md").count("](") == made.text("MEMORY.md").count("](owner.md)") == 1
    assert not any(map(unaccounted, made.edits))


def test_a_value_that_a_description_has_without_its_code_marks_is_one_of_the_body(tmp_path: Path) -> None:
    told = memory("- event `nova_tapped_81` ← SearchBar\n", description="event nova_tapped_81 ← SearchBar")
    made = dream(tmp_path, {"MEMORY.md": "# Memory\n", "events.md": told, "events_2.md": told})
    assert (files_kept(made), about_files(made)) == ({"events.md"}, [])


@each("mark", ["-backup", "-new", " copy", "_old", "-final", "-bak"])
def test_a_copy_named_as_one_is_merged_without_asking(tmp_path: Path, mark: str) -> None:
    names = ("gateway-owner.md", f"gateway-owner{mark}.md")
    files = {name: memory(OWNER, name=name.removesuffix(".md")) for name in reversed(names)}
    made = dream(tmp_path, {"MEMORY.md": "# Memory\n", **files})
    assert (files_kept(made), about_files(made)) == ({names[0]}, [])


@each(
    "other",
    [
        memory(
            "Reviews of the import gateway  go to Carla Castellanos;\tshe owns the area.\n\n\n",
            name="Gateway",
        ),
        memory(OWNER, "reference", "Reviews"),
        memory(OWNER, name="Reviews", description="Who reviews the import gateway"),
        memory(f"# Reviews 2\n\n{OWNER}", name="Reviews 2"),
        memory(OWNER, name="import.gateway", description="import_gateway"),
    ],
)
def test_white_space_and_labels_keep_no_files_apart(tmp_path: Path, other: str) -> None:
    made = dream(
        tmp_path, {"MEMORY.md": "- [Owner](owner.md)\n", "owner.md": memory(OWNER), "reviews.md": other}
    )
    assert files_kept(made) == {"owner.md"}
    assert made.text("owner.md") == memory(OWNER)


def test_the_order_of_items_without_numbers_does_not_matter(tmp_path: Path) -> None:
    one, other = (
        "- Carla Castellanos reviews\n- Bob Miller deploys\n",
        "- Bob Miller deploys\n- Carla Castellanos reviews\n",
    )
    made = dream(
        tmp_path, {"MEMORY.md": "- [T](team.md)\n", "team.md": memory(one), "people.md": memory(other)}
    )
    assert files_kept(made) == {"team.md"}


def test_the_order_of_numbered_items_does(tmp_path: Path) -> None:
    one, other = "1. Stop the worker\n2. Back up the disk\n", "1. Back up the disk\n2. Stop the worker\n"
    files = {"a.md": memory(one), "b.md": memory(other)}
    assert files_kept(dream(tmp_path, {"MEMORY.md": "- [A](a.md)\n- [B](b.md)\n", **files})) == set(files)


def test_the_linked_file_stays_where_no_name_has_a_number(tmp_path: Path) -> None:
    files = {
        "a.md": memory(OWNER),
        "reviews.md": memory(OWNER),
        "x.md": memory("Ask [here](reviews.md#who) or [[a]].\n"),
    }
    made = dream(tmp_path, {"MEMORY.md": "- [Reviews](reviews.md)\n- [X](x.md)\n", **files})
    assert files_kept(made) == {"reviews.md", "x.md"}
    assert "Ask [here](reviews.md#who) or [[reviews]]." in made.text("x.md")


@each(
    ("one", "other"),
    [
        (memory(OWNER, more="pinned: true\n"), memory(OWNER)),
        (memory(OWNER), memory(OWNER, name="On call", description="Until 2027 it is Bob Miller")),
        (memory(OWNER, more="owner: Ana\n"), memory(OWNER, more="owner: Bo\n")),
        (
            memory(OWNER),
            memory(OWNER, description="The import gateway. " * 101 + "Until 2027 it is Bob Miller"),
        ),
    ],
)
def test_what_only_a_pin_or_a_label_says_makes_it_a_question(tmp_path: Path, one: str, other: str) -> None:
    files = {"owner.md": one, "owner_2.md": other}
    made = dream(tmp_path, {"MEMORY.md": "- [A](owner.md)\n- [B](owner_2.md)\n", **files})
    assert files_kept(made) == set(files)
    (asked,) = about_files(made)
    assert {place.path for place in asked.places} == set(files)
    assert [option.id for option in asked.options] == ["merge", "keep"]


@each(
    "only_there",
    [
        "on api.example.com",
        "ask ops@example.com",
        "set in config/export.yaml",
        "on copper-indexer",
        "on copper_indexer",
    ],
)
def test_a_name_with_marks_that_only_a_description_has_makes_it_a_question(
    tmp_path: Path, only_there: str
) -> None:
    body = "The nightly export is started by Carla Castellanos and checked by Bob Miller.\n"
    one = memory(body, name="Exports", description="The nightly export")
    other = memory(body, name="Exports", description=f"The nightly export, {only_there}")
    made = dream(
        tmp_path, {"MEMORY.md": "- [Exports](exports.md)\n", "exports.md": one, "exports_copy.md": other}
    )
    assert files_kept(made) == {"exports.md", "exports_copy.md"}
    assert len(about_files(made)) == 1


def test_a_name_that_the_text_spells_with_other_marks_keeps_no_files_apart(tmp_path: Path) -> None:
    body = "The copper indexer exports each night and is watched by Carla Castellanos.\n"
    files = {
        "exports.md": memory(body, name="Exports"),
        "exports_copy.md": memory(body, name="Exports", description="The export of copper-indexer"),
    }
    made = dream(tmp_path, {"MEMORY.md": "- [Exports](exports.md)\n", **files})
    assert files_kept(made) == {"exports.md"}


def test_two_environments_are_two_facts(tmp_path: Path) -> None:
    files = {"staging.md": memory("Port 8080 is open.\n"), "production.md": memory("Port 8080 is open.\n")}
    made = dream(tmp_path, {"MEMORY.md": "- [A](staging.md)\n- [B](production.md)\n", **files})
    assert files_kept(made) == set(files)


def test_a_body_that_does_not_say_of_what_it_is_stays_in_both(tmp_path: Path) -> None:
    files = {"billing.md": memory("The port is 8080.\n"), "search.md": memory("The port is 8080.\n")}
    made = dream(tmp_path, {"MEMORY.md": "- [A](billing.md)\n- [B](search.md)\n", **files})
    assert files_kept(made) == set(files)


def test_the_record_of_a_day_is_no_copy_of_the_latest_one(tmp_path: Path) -> None:
    """The next report replaces the text of the latest one: then the record of the day would be lost."""
    files = {"report_latest.md": OWNER, "report_2026-02-15.md": OWNER, "report_2026-02-16.md": OWNER}
    made = dream(tmp_path, {"MEMORY.md": "# Memory\n", **files})
    assert (files_kept(made), about_files(made)) == (set(files), [])


def test_what_was_merged_is_dreamt_once(tmp_path: Path) -> None:
    files = {"MEMORY.md": "- [A](owner.md)\n", "owner.md": memory(OWNER), "owner_2.md": memory(OWNER)}
    made = dream(tmp_path, files)
    assert dream(tmp_path / "again", {path: made.text(path) for path in made.after}).edits == []


def test_a_head_that_is_no_yaml_keeps_copies_apart_only_by_a_field_of_its_own(tmp_path: Path) -> None:
    head = "---\nname: Owner: gateway\ndescription: who reviews\ntype: project\n{more}---\n\n"
    files = {
        "MEMORY.md": "- [A](a.md)\n- [A](a_2.md)\n- [A](a_3.md)\n",
        "a.md": head.format(more="") + OWNER,
        "a_2.md": head.format(more="") + OWNER,
        "a_3.md": head.format(more="source: ticket 12\n") + OWNER,
    }
    assert files_kept(dream(tmp_path, files)) == {"a.md", "a_3.md"}


def test_the_file_that_stays_is_the_evidence_for_removing_the_other(tmp_path: Path) -> None:
    files = {"owner.md": memory(OWNER), "reviews.md": memory(OWNER, name="Reviews")}
    made = dream(tmp_path, {"MEMORY.md": "- [Owner](owner.md)\n", **files})
    (gone,) = [edit for edit in made.edits if edit.path == "reviews.md"]
    (cited,) = gone.citations
    assert (cited.place, cited.quote) == ("owner.md", OWNER.strip())
