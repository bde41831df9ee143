"""A wikilink that names no memory, and can mean but one, is pointed there; any other dead link is asked about at most."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from tests.world.cases import each
from tests.world.findings import codes, report
from tests.world.rules import Dreamt, dream, memory

HARNESS = "---\nname: {name}\ndescription: how the harness is built\ntype: feedback\n---\n\nThe harness has two layers.\n"
ROWS = (
    "# Memory\n\n- [Harness](feedback_harness_design.md) — two layers\n- [Rules](feedback_rules.md) — rules\n"
)


def _dream(
    folder: Path,
    body: str,
    repo: Path | None = None,
    unread: Mapping[str, str] = MappingProxyType({}),
    **more: str,
) -> Dreamt:
    files = {
        "MEMORY.md": ROWS,
        "feedback_harness_design.md": HARNESS.format(name="feedback-harness-design"),
        "feedback_rules.md": f"---\nname: feedback-rules\ndescription: rules\ntype: feedback\n---\n\n{body}\n",
        **more,
    }
    return dream(folder, files, repo=repo, unread=unread)


@each(
    ("link", "becomes"),
    [
        ("[[harness-design]]", "[[feedback-harness-design]]"),
        ("[[harness_design]]", "[[feedback_harness_design]]"),
        ("[[harness-design|the harness]]", "[[feedback-harness-design|the harness]]"),
        ("[[harness-design#Layers]]", "[[feedback-harness-design#Layers]]"),
    ],
)
def test_a_link_without_the_type_is_pointed_to_the_one_memory_of_that_name(
    tmp_path: Path, link: str, becomes: str
) -> None:
    made = _dream(tmp_path, f"Read {link} before a change.")
    assert f"Read {becomes} before a change." in made.text("feedback_rules.md")
    assert made.summary.startswith("Repaired 1 link")


@each(
    "link",
    [
        "[[feedback_harness_design]]",
        "[[feedback-harness-design.md]]",
        "[[Feedback Harness Design]]",
        "[[feedback-harness-(design)]]",
        "`[[harness-design]]`",
    ],
)
def test_a_link_that_works_in_any_spelling_and_code_stay(tmp_path: Path, link: str) -> None:
    made = _dream(tmp_path, f"Read {link} before a change.")
    assert (made.edits, made.outcome.questions) == ([], [])


def test_a_link_that_could_mean_two_stays(tmp_path: Path) -> None:
    other = HARNESS.format(name="project-harness-design").replace("type: feedback", "type: project")
    rows = ROWS + "- [Harness](project_harness_design.md) — two layers, again\n"
    made = _dream(
        tmp_path,
        "Read [[harness-design]] before a change.",
        **{"project_harness_design.md": other.replace("two layers", "a budget of 40 ms"), "MEMORY.md": rows},
    )
    assert "[[harness-design]]" in made.text("feedback_rules.md")


def test_a_table_of_a_configuration_is_no_link(tmp_path: Path) -> None:
    assert _dream(tmp_path, "Set [[auth.email]] before a change.").outcome.questions == []
    assert _dream(tmp_path / "form", "Related notes are linked as [[name]].").outcome.questions == []


def test_links_that_lead_nowhere_are_one_question(tmp_path: Path) -> None:
    made = _dream(tmp_path, "Read [[no-such-note]] and [[another-one]] before a change.")
    asked = [each for each in made.outcome.questions if each.kind == "gone"]
    assert [each.why for each in asked] == [
        "2 linked memories do not exist: another-one, no-such-note. You may be planning to write them."
    ]
    remove = asked[0].options[0]
    assert [option.id for option in asked[0].options] == ["remove", "keep"]
    assert "Read no-such-note and another-one before a change." in (remove.edits[0].after or "")


def test_words_whose_link_goes_are_no_loss(tmp_path: Path) -> None:
    made = _dream(tmp_path, "Read [[backend_enforcement]] before a change.")
    [edit] = made.outcome.questions[0].options[0].edits
    states = ({edit.path: (text or "").encode()} for text in (edit.after, edit.before))
    assert "unexplained-loss" not in codes(report(*states))


def test_several_links_to_one_missing_memory_are_counted_as_one_memory(tmp_path: Path) -> None:
    made = _dream(tmp_path, "Read [[no-such-note]] before a change.\n\nSee [[no-such-note]] for the cranes.")
    (asked,) = made.outcome.questions
    assert asked.why.startswith("1 linked memory does not exist: no-such-note.")
    assert len(asked.places) == 2


def test_many_dead_links_are_counted_and_answered_at_once(tmp_path: Path) -> None:
    lines = [f"Read [[no-note-{number}]] before a change." for number in range(20)]
    (asked,) = _dream(tmp_path, "\n".join(lines)).outcome.questions
    assert asked.why.startswith("20 linked memories do not exist: ")
    assert len(asked.places) < 20 and "[[no-note" not in (asked.options[0].edits[0].after or "")


def test_a_line_with_two_dead_links_is_shown_once(tmp_path: Path) -> None:
    made = _dream(tmp_path, "Read [[no-such-note]] and [[another-one]] before a change.")
    (asked,) = made.outcome.questions
    assert len(asked.places) == 1


def test_a_numbered_task_is_no_link_and_what_a_link_says_stays_whole(tmp_path: Path) -> None:
    made = _dream(tmp_path, "Read [[no-such-note#Two cranes]] and [[task #35]] before a change.")
    (asked,) = made.outcome.questions
    assert asked.why.startswith("1 linked memory does not exist: no-such-note.")
    after = asked.options[0].edits[0].after or ""
    assert "Read no-such-note#Two cranes and [[task #35]] before a change." in after


@each(
    "link",
    ["[[drum-brakes]]", "[[drum-brakes.md]]", "[[HARBOUR]]", "[[bleed-brakes]]", "[[two-cranes]]"],
)
def test_a_link_to_a_file_or_a_folder_of_the_repository_is_not_dead(tmp_path: Path, link: str) -> None:
    (tmp_path / "repo" / "guides").mkdir(parents=True)
    (tmp_path / "repo" / "skills" / "bleed-brakes").mkdir(parents=True)
    (tmp_path / "repo" / "guides" / "drum-brakes.md").write_text("Bleed them.\n")
    (tmp_path / "repo" / "HARBOUR.md").write_text("Two cranes.\n")
    (tmp_path / "repo" / "guides" / "feedback_two_cranes.md").write_text("Of another agent.\n")
    made = _dream(tmp_path, f"Read {link} and [[no-such-note]] before a change.", repo=tmp_path / "repo")
    (asked,) = made.outcome.questions
    assert asked.why.startswith("1 linked memory does not exist: no-such-note.")


def test_a_folder_that_is_called_like_a_missing_memory_without_its_type_is_not_that_memory(
    tmp_path: Path,
) -> None:
    (tmp_path / "repo" / "guides").mkdir(parents=True)
    (tmp_path / "repo" / "guides" / "brakes.py").write_text("Bleed them.\n")
    made = _dream(tmp_path, "Read [[project_guides]] before a change.", repo=tmp_path / "repo")
    (asked,) = made.outcome.questions
    assert asked.why.startswith("1 linked memory does not exist: project_guides.")


@each(
    "body",
    [
        "This supersedes [[feedback_harness_design]]: there is one layer now.",
        "**Key fact (corrects [[feedback_harness_design]]):** there is one layer.",
    ],
)
def test_a_memory_that_another_calls_out_of_date_is_asked_about(tmp_path: Path, body: str) -> None:
    made = _dream(tmp_path, body)
    (asked,) = [each for each in made.outcome.questions if each.kind == "changed"]
    assert [place.path for place in asked.places] == ["feedback_harness_design.md", "feedback_rules.md"]
    old = asked.places[0]  # the line that is told stands where it is said to stand
    assert old.text in made.before[old.path].decode().split("\n")[(old.line_no or 0) - 1]
    history = next(option for option in asked.options if option.id == "history")
    assert "> See [[feedback_rules]]: " in (history.edits[0].after or "")
    assert "The harness has two layers." in (history.edits[0].after or "")


def test_a_memory_that_is_called_out_of_date_at_its_top_keeps_its_byte_order_mark(tmp_path: Path) -> None:
    old = {"feedback_harness_design.md": "\ufeff" + HARNESS.format(name="feedback-harness-design")}
    made = _dream(tmp_path, "This supersedes [[feedback_harness_design]]: there is one layer now.", **old)
    [asked] = [each for each in made.outcome.questions if each.kind == "changed"]
    history = next(option for option in asked.options if option.id == "history")
    assert (history.edits[0].after or "").startswith("\ufeff---\n")


@each(
    "body",
    [
        "This is superseded by [[feedback_harness_design]].",
        "See [[feedback_harness_design]]; the old parser was replaced long ago.",
        "Read [[feedback_harness_design]] before a change.",
        "Each run overrides the defaults, see [[feedback_harness_design]].",
        "See [[rules]] for what was replaced and [[feedback_harness_design]] for why there are two layers.",
        "I wrongly “corrected” the two layers of [[feedback_harness_design]]: it was right.",
        "See [[feedback_harness_design]] for the other thing that the column is wrong about.",
    ],
)
def test_a_memory_that_is_only_named_is_not_asked_about(tmp_path: Path, body: str) -> None:
    assert not [each for each in _dream(tmp_path, body).outcome.questions if each.kind == "changed"]


def _indexed(tmp_path: Path, *there: str) -> Dreamt:
    names = ("deploys", "queue", "tests", "style")
    index = "# Memory\n\n" + "".join(f"- [{name}]({name}.md) — about {name} here\n" for name in names)
    files = {f"{name}.md": memory(f"- what is said of {name}\n", name=name) for name in there}
    return dream(tmp_path, {"MEMORY.md": index, **files})


def test_rows_whose_files_are_not_there_are_one_question(tmp_path: Path):
    made = _indexed(tmp_path, "deploys", "queue")
    (asked,) = made.outcome.questions
    assert (asked.kind, asked.why) == (
        "gone",
        "2 rows of MEMORY.md point to files that are missing: tests.md, style.md.",
    )
    assert [place.line_no for place in asked.places] == [5, 6]
    remove, keep = asked.options
    (edit,) = remove.edits
    assert (remove.label, keep.id) == ("Remove the rows", "keep")
    assert (
        edit.after
        == "# Memory\n\n- [deploys](deploys.md) — about deploys here\n- [queue](queue.md) — about queue here\n"
    )
    assert [fate.text for fate in edit.fates] == (edit.before or "").splitlines()[4:]


def test_rows_are_not_asked_about_where_most_files_were_left_behind(tmp_path: Path):
    assert not _indexed(tmp_path, "deploys").outcome.questions


def test_a_row_that_leads_to_other_memories_too_is_not_removed(tmp_path: Path):
    index = "- [Deploys](deploys.md) — on Fridays\n- [Gone](gone.md) / [Queue](queue.md) — what waits\n"
    files = {f"{name}.md": memory(f"- what is said of {name}\n", name=name) for name in ("deploys", "queue")}
    assert not dream(tmp_path, {"MEMORY.md": index, **files}).outcome.questions


@each("link", ["NOTES.md", "notes.md", "docs/NOTES.md", ".notes/deploys-log.md"])
def test_a_row_for_a_file_of_the_repository_is_not_asked_about(tmp_path: Path, link: str):
    repo = tmp_path / "repo"
    (repo / ".notes").mkdir(parents=True)
    (repo / ".notes/deploys-log.md").write_text("# Log\n")
    (repo / "NOTES.md").write_text("# Notes\n")
    index = f"- [Deploys](deploys.md) — on Fridays\n- [Notes]({link}) — of the repository\n"
    made = dream(tmp_path / "m", {"MEMORY.md": index, "deploys.md": memory("- on Fridays\n")}, repo=repo)
    assert not made.outcome.questions


def test_a_memory_that_is_there_and_cannot_be_read_is_not_taken_for_missing(tmp_path: Path) -> None:
    """Too large, a link, or saved at this moment: nothing that names it is pointed elsewhere or asked to be removed."""
    more = {
        "MEMORY.md": f"{ROWS}- [Rules of ours](rules_of_ours.md) — ours\n",
        "rules-of-ours.md": "---\nname: Of ours\ntype: project\n---\n\nNobody else says this.\n",
    }
    unread = {"rules_of_ours.md": "is larger than the limit", "harness_design.md": "is a link"}
    gone, there = (_dream(tmp_path, "Read [[harness-design]].", unread=one, **more) for one in ({}, unread))
    assert "[Rules of ours](rules-of-ours.md)" in gone.text("MEMORY.md")
    assert "[[feedback-harness-design]]" in gone.text("feedback_rules.md")
    assert "[Rules of ours](rules_of_ours.md)" in there.text("MEMORY.md")
    assert "[[harness-design]]" in there.text("feedback_rules.md")


def test_a_row_of_a_memory_in_a_folder_that_cannot_be_read_is_not_asked_to_go(tmp_path: Path) -> None:
    more = {"MEMORY.md": f"{ROWS}- [Plan](plans/year.md) — the year\n"}
    gone, there = (
        _dream(tmp_path, "Rules.", unread=one, **more) for one in ({}, {"plans": "Permission denied"})
    )
    assert [question.kind for question in gone.outcome.questions] == ["gone"] and "missing" in gone.summary
    assert not there.outcome.questions and "missing" not in there.summary
