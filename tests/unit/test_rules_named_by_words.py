"""A thing that two words name, and a fact told in somebody else's words: found, asked about, and merged with all that is said."""

from __future__ import annotations

from pathlib import Path

from dreams.engines.types import LineDate, Question, SessionBrief
from dreams.lib.prose.comparing import compare, says_more
from dreams.lib.prose.exchanges import spans
from dreams.lib.prose.values import read
from tests.unit.test_rules_questions_changed import NEW, OLD
from tests.world.cases import each
from tests.world.rules import dream, memory, session

HERE = "- The docs are built with Sphinx.\n- Lunch is at noon.\n- Parking costs nothing.\n- Kettles are in room 4.\n"
THERE = "- Tests run under pytest.\n- Fridays are quiet.\n- Visitors sign in.\n- Badges are blue.\n"


def asked(
    folder: Path, one: str, other: str = "", *said: SessionBrief, path: str = "a.md", days: bool = False
) -> list[Question]:
    """What is asked about a statement of one memory and of another, each among statements of something else."""
    files = {"MEMORY.md": f"- [A]({path}) - one\n- [Z](z.md) - two\n", path: memory(f"{one}\n{HERE}")}
    files["z.md"] = memory(f"{other}\n{THERE}".lstrip("\n"))
    written: LineDate | dict[str, LineDate] = {path: OLD, "z.md": NEW} if days else OLD
    return dream(folder, files, said, written=written).outcome.questions


def after(question: Question, option: str) -> dict[str, str]:
    (chosen,) = (each for each in question.options if each.id == option)
    return {edit.path: edit.after or "" for edit in chosen.edits}


def test_two_words_that_two_things_have_name_none_of_them(tmp_path: Path) -> None:
    one, other = "- quartz proxy poll interval: 41 s", "- basalt sender keeps a poll interval of 41 s"
    assert asked(tmp_path, one, other) == []


@each(("path", "kinds"), [("copper-pager.md", ["changed"]), ("copper.md", [])])
def test_two_values_of_two_words_are_asked_about_where_a_title_names_them(
    tmp_path: Path, path: str, kinds: list[str]
) -> None:
    one, other = "- copper pager has the ticket OPS-12", "- OPS-77 is the ticket for copper pager"
    assert [each.kind for each in asked(tmp_path, one, other, path=path, days=True)] == kinds


def test_a_value_in_code_and_in_plain_words_is_one_value() -> None:
    code, plain = "copper-ledger writes `exports` alone.", "copper-ledger writes exports alone."
    assert not says_more(code, plain) and not says_more(plain, code)


@each("mark", ["", "- "])
def test_the_statement_that_has_a_reason_stays_where_it_is(tmp_path: Path, mark: str) -> None:
    why = "**Why:** Heron has 5432 on that host."
    one = f"{mark}Kestrel, the staging database, listens on port 5433."
    other = f"The staging database Kestrel listens on port 5433.\n\n{why}\n\n## Office\n"
    (question,) = asked(tmp_path, one, other)
    assert question.kind == "same"
    assert question.places[0].path == "z.md"
    assert list(made := after(question, "merge")) == ["a.md"] and "5433" not in made["a.md"]


@each(
    ("line", "said", "now"),
    [
        (
            "post copper importer updates to #ops-night",
            "its #war-room for copper importer now, #ops-night is archived",
            "post copper importer updates to #war-room",
        ),
        (
            "copperPager mem limit 768 MB",
            "gave copperPager 896 MB of memory",
            "copperPager mem limit 896 MB",
        ),
    ],
)
def test_only_the_value_is_exchanged_where_a_sentence_names_another(
    tmp_path: Path, line: str, said: str, now: str
) -> None:
    (question,) = asked(tmp_path, f"- {line}", "", session(1, said))
    assert f"- {now}\n" in after(question, "replace")["a.md"]


def test_from_one_place_to_another_renames_nothing_between_two_notes(tmp_path: Path) -> None:
    one = "- kestrel-api builds are pushed to beta by hand."
    other = "- Move kestrel-api builds by hand from beta to stable."
    found = asked(tmp_path, one, other, path="kestrel-api.md", days=True)
    assert "changed" not in [each.kind for each in found]


def test_what_is_to_be_forgotten_as_it_was_never_true_is_asked_about(tmp_path: Path) -> None:
    line = "Kestrel listens on port 5433."
    said = session(1, "Forget the port of Kestrel; it was never true.")
    (question,) = asked(tmp_path, f"- {line}", "", said)
    assert question.kind == "forget" and question.places[0].text == line


@each(
    ("one", "other"),
    [
        ("Kestrel is held in eu-west-1 by contract.", "Kestrel is held in us-east-1 by contract."),
        ("copper-digester keeps to 10.19.17 images.", "copper-digester keeps to 2.39.33 builds."),
    ],
)
def test_two_regions_and_two_versions_are_two_values_of_one_thing(one: str, other: str) -> None:
    assert compare(one, other).relation == "other value"


def test_a_name_with_a_number_is_of_another_sort_than_a_word() -> None:
    sorts = [each.sort for each in spans("First `helm3`, then `kube11`, `ansible` and `salt`.", "")]
    assert sorts == ["a0", "a0", "A", "A"]


def test_what_follows_a_retraction_is_said_and_not_to_be_forgotten(tmp_path: Path) -> None:
    """Only what was typed before is retracted by "scrap that"; memory has what follows."""
    said = session(1, "sorry, scrap that, the API listens on port 8080")
    assert asked(tmp_path, "- The API listens on port 8080.", "", said) == []
    said = session(1, "scrap the API on port 8080")
    (question,) = asked(tmp_path, "- The API listens on port 8080.", "", said)
    assert question.kind == "forget"


@each(
    "said, old, new",
    [
        ("reed-resizer was lowered to 64%", "CI fails reed-resizer below 27% coverage.", "64%"),
        ("reed-resizer was cut from $205 to $27", "The grant pays $205 for reed-resizer.", "$27"),
    ],
)
def test_a_thing_that_was_moved_to_a_value_of_another_kind_is_still_the_thing(
    tmp_path: Path, said: str, old: str, new: str
) -> None:
    made = dream(tmp_path, {"a.md": memory(f"{old}\n", name="reed-resizer")}, [session(1, said)])
    [question] = [each for each in made.outcome.questions if each.kind == "changed"]
    assert (question.places[0].text, new in question.why) == (old, True)


def test_the_property_of_another_thing_is_not_what_a_sentence_changes(tmp_path: Path) -> None:
    files = {
        "a.md": memory("The nutmeg watcher processes batches of 840\n", name="the nutmeg watcher"),
        "b.md": memory("Batch size in cotton_watcher: 820\n", name="cotton_watcher"),
    }
    made = dream(tmp_path, files, [session(1, "set the batch size of the nutmeg watcher to 230")])
    [question] = [each for each in made.outcome.questions if each.kind == "changed"]
    assert question.places[0].path == "a.md"


def test_two_words_in_a_title_name_what_two_files_are_about(tmp_path: Path) -> None:
    files = {
        "how_the_umber_fetcher_is_set_up.md": memory("The umber fetcher needs at least 43% test coverage\n"),
        "the_umber_fetcher_limits.md": memory("Coverage gate on the umber fetcher: 43%\n"),
    }
    [question] = [each for each in dream(tmp_path, files).outcome.questions if each.kind == "same"]
    assert [place.path for place in question.places] == [*files]


def test_a_month_before_a_number_is_no_part_of_a_name() -> None:
    assert not [v for v in read("Checked May 4, 2026: it runs in us-east-2").values if v.kind == "name"]
