"""The tools of a dream: what they do, what they refuse, and that evidence is checked on the spot."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dreams.engines.anthropic import prompt
from dreams.engines.anthropic.tools import Answer, AnsweredCall, Toolbox, open_tools
from dreams.engines.types import Cancelled, Job
from tests.world import model as kit
from tests.world.cases import each

NUMBERS = iter(range(10_000))
SELF = [{"session": "feedback_testing.md", "quote": "Use make reset before a run."}]


def toolbox(job: Job) -> Toolbox:
    return Toolbox(job, kit.Near(job), lambda: None)


def call(name: str, /, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"t{next(NUMBERS)}", "name": name, "input": given}


def one(box: Toolbox, name: str, /, **given: Any) -> AnsweredCall:
    (result,) = box.run([call(name, **given)])
    return result


def edit(box: Toolbox, old: str, new: str, **more: Any) -> AnsweredCall:
    given = {
        "path": "/memory/feedback_testing.md",
        "old_string": old,
        "new_string": new,
        "reason": "Said so.",
        "citations": SELF,
    }
    return one(box, "Edit", **{**given, **more})


def test_an_edit_replaces_one_passage_and_says_what_it_stands_for(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        result = edit(box, "make reset", "make fresh", operation="targets", kind="update")
        assert not result.refused and result.path == "feedback_testing.md"
        (made,) = box.writer.edits
        assert (made.operation, made.kind, made.reason) == ("targets", "update", "Said so.")
        assert made.before == kit.TESTING and made.after == job.workspace.read("feedback_testing.md")
        assert made.citations[0].source == "memory" and made.citations[0].line_no == 7


@each("kind", ["copy", "edit", "restore", "undo"])
def test_a_kind_of_change_that_only_people_make_is_not_taken_from_a_model(tmp_path: Path, kind: str) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        edit(box, "make reset", "make fresh", kind=kind)
        assert [made.kind for made in box.writer.edits] == ["update"]


@each(
    ("old", "new", "why"),
    [
        ("make nothing", "x", "does not appear"),
        ("e", "x", "appears"),
        ("", "x", "empty"),
        ("make reset", "make reset", "the same"),
        (kit.TESTING, "", "would leave feedback_testing.md empty"),
        (kit.TESTING, " \n\n", "would leave feedback_testing.md empty"),
        ("make reset", "make [redacted: aws-key]", "not shown"),
        ("make reset", "make ⟨U+202E⟩", "not shown"),
    ],
)
def test_an_edit_that_is_not_sure_is_an_ordinary_answer(tmp_path: Path, old: str, new: str, why: str) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        result = edit(box, old, new)
        assert result.refused and why in result.block["content"] and result.block["is_error"]
        assert box.writer.edits == [] and job.workspace.read("feedback_testing.md") == kit.TESTING


@each(
    ("more", "why"),
    [
        ({"reason": " "}, "`reason`"),
        ({"citations": []}, "Cite at least one"),
        ({"citations": "none"}, "must be a list"),
        ({"citations": [{"session": "x"}]}, "needs `session` and `quote`"),
        ({"path": "/memory/../x.md"}, "no path of a memory"),
        ({"path": "/memory/nope.md"}, "Use Write"),
        ({"path": 3}, "`path`"),
    ],
)
def test_a_change_without_reason_evidence_or_place_is_refused(
    tmp_path: Path, more: dict[str, Any], why: str
) -> None:
    with kit.job(tmp_path) as job:
        result = edit(toolbox(job), "make reset", "make fresh", **more)
        assert result.refused and why in result.block["content"], result.block["content"]


@each("name", ["x.txt", "logs/2026.md", ".hidden.md", "FEEDBACK_testing.md", ".consolidate-lock"])
def test_only_ordinary_memories_can_be_written(tmp_path: Path, name: str) -> None:
    with kit.job(tmp_path) as job:
        given = kit.learn(name).input
        result = one(toolbox(job), "Write", **given)
        assert result.refused and job.workspace.read(name) is None


@each(
    "name",
    [
        "/repo/CLAUDE.md",
        "/repo/memory/x.md",
        "/etc/memory/x.md",
        "/etc/x.md",
        "~/x.md",
        "~/memory/x.md",
        "/memory/a\nb.md",
        "/memory/\u202ea.md",
    ],
)
def test_a_place_outside_does_not_become_one_inside(tmp_path: Path, name: str) -> None:
    with kit.job(tmp_path) as job:
        was = job.workspace.contents()
        result = one(toolbox(job), "Write", **kit.learn().input | {"path": name})
        assert result.refused and job.workspace.contents() == was


def test_a_memory_is_known_by_each_of_its_paths_and_a_folder_below_by_its_own(tmp_path: Path) -> None:
    names = ["/memory/{}", "memory/{}", "{}", "/transcripts/-home-dev-app/memory/{}", "FOLDER/memory/{}"]
    with kit.job(tmp_path) as job:
        box, folder = toolbox(job), str(job.sessions[0].path.parent)
        for number, name in enumerate(names):
            path = name.replace("FOLDER", folder).format(f"feedback_{number}.md")
            assert not one(box, "Write", **kit.learn().input | {"path": path}).refused, path
        assert not one(box, "Write", **kit.learn().input | {"path": "/memory/memory/x.md"}).refused
        made = job.workspace.contents().keys() - kit.FILES.keys()
        assert made == {*(f"feedback_{number}.md" for number in range(5)), "memory/x.md"}


def test_a_wrong_quote_for_a_removed_memory_is_put_right_by_removing_it_again(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        gone = {"path": "/memory/feedback_testing.md", "reason": "Old."}
        one(box, "Read", file_path="/memory/feedback_testing.md")
        told = one(box, "Delete", **gone, citations=[{"session": kit.SESSION, "quote": "nobody said this"}])
        assert "Delete it again with the right quote" in told.block["content"]
        assert not one(box, "Delete", **gone, citations=kit.CITED).refused
        assert [[cited.found for cited in edit.citations] for edit in box.writer.edits] == [[True]]
        assert (
            "There is no feedback_testing.md" in one(box, "Delete", **gone, citations=SELF).block["content"]
        )
        where = [{"text": "Use make reset before a run.", "fate": "stated", "note": "It is gone."}]
        assert not one(box, "Delete", **gone, citations=SELF, removed=where).refused
        (edit,) = box.writer.edits
        assert edit.fates[0].note == "It is gone."
        assert [cited.quote for cited in edit.citations] == [kit.WISH, SELF[0]["quote"]], (
            "the first one stays"
        )


def test_a_turn_that_reads_very_much_is_answered_in_part_and_still_writes(tmp_path: Path) -> None:
    files = {
        **kit.FILES,
        "project_long.md": "---\nname: Long\n---\n\n" + "A fact about the service.\n" * 1_500,
    }
    with kit.job(tmp_path, files) as job:
        reads = [
            {
                "type": "tool_use",
                "id": f"r{n}",
                "name": "Read",
                "input": {"file_path": "/memory/project_long.md"},
            }
            for n in range(90)
        ]
        write = {"type": "tool_use", "id": "w", "name": "Write", "input": dict(kit.learn().input)}
        results = toolbox(job).run([*reads, write])
        assert sum(len(result.block["content"]) for result in results) < 500_000
        assert [result.refused for result in results[:9]] == [False] * 9 and results[-2].refused
        assert "Call again in the next one" in results[-2].block["content"] and not results[-1].refused
        more = toolbox(job).run([{**write, "id": f"w{n}"} for n in range(102)])
        assert [result.refused for result in more[-2:]] == [True, True] and len(more) == 102


def test_no_secret_that_a_model_names_is_kept_with_its_change(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    with kit.job(tmp_path) as job:
        said = f"My token is {token} for now."
        with job.sessions[0].path.open("a") as file:
            file.write(json.dumps({"type": "user", "message": {"role": "user", "content": said}}) + "\n")
        box = toolbox(job)
        given = kit.learn().input | {
            "reason": f"It is {token}.",
            "operation": f"token {token}",
            "citations": [{"session": kit.SESSION, "quote": said}],
            "removed": [{"text": "x", "fate": "stated", "note": f"It was {token}."}],
        }
        told = one(box, "Write", **given)
        assert "it has a secret; cite words without it" in told.block["content"]
        (edit,) = box.writer.edits
        assert token not in repr(edit) + repr(told) and not edit.citations[0].found


def test_write_and_delete_need_the_file_to_have_been_read(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        common = {"path": "/memory/feedback_testing.md", "reason": "Old.", "citations": SELF}
        assert "have not read" in one(box, "Write", content="New.\n", **common).block["content"]
        assert "have not read" in one(box, "Delete", **common).block["content"]
        one(box, "Read", file_path="/memory/feedback_testing.md")
        assert not one(box, "Delete", **common).refused
        assert job.workspace.read("feedback_testing.md") is None
        assert box.writer.edits[-1].kind == "prune" and box.writer.edits[-1].after is None


def test_a_file_that_another_tool_has_shown_whole_counts_as_read_a_part_does_not(tmp_path: Path) -> None:
    class Shell:
        names = frozenset({"Bash"})

        def run(self, name: str, given: Mapping[str, Any]) -> Answer:
            text = kit.TESTING if "cat" in given["command"] else kit.TESTING[:40]
            return Answer(text)

        def close(self) -> None: ...

    with kit.job(tmp_path) as job:
        box = Toolbox(job, Shell(), lambda: None)
        given = {"path": "feedback_testing.md", "content": "Short.\n", "reason": "r", "citations": SELF}
        one(box, "Bash", command="head -c 40 /memory/feedback_testing.md")
        assert one(box, "Write", **given).refused
        one(box, "Bash", command="cd /memory; cat feedback_*.md")
        assert not one(box, "Write", **given).refused


def test_the_index_is_never_removed(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        one(box, "Read", file_path="/memory/MEMORY.md")
        assert one(box, "Delete", path="/memory/MEMORY.md", reason="r", citations=[]).refused


def test_line_ends_and_the_mark_at_the_start_are_kept(tmp_path: Path) -> None:
    files = {"feedback_testing.md": "\ufeffOne line.\r\nUse make reset before a run.\r\n"}
    with kit.job(tmp_path, files) as job:
        box = toolbox(job)
        assert not edit(box, "One line.\nUse make", "Two lines.\nUse a make").refused
        assert (
            job.workspace.read("feedback_testing.md")
            == "\ufeffTwo lines.\r\nUse a make reset before a run.\r\n"
        )
        one(box, "Read", file_path="/memory/feedback_testing.md")
        given = {
            "path": "feedback_testing.md",
            "content": "Three.\nFour.\n",
            "reason": "r",
            "citations": SELF,
        }
        assert not one(box, "Write", **given).refused
        assert job.workspace.read("feedback_testing.md") == "\ufeffThree.\r\nFour.\r\n"


# --- Evidence -----------------------------------------------------------------------------------------------------


def cite(tmp_path: Path, session: str, quote: str, line: int | None = None) -> tuple[AnsweredCall, Any]:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        given = {"session": session, "quote": quote, **({"line": line} if line else {})}
        result = edit(box, "make reset", "make fresh", citations=[given])
        return result, box.writer.edits[0].citations[0]


@each(
    "name",
    [kit.SESSION, kit.SESSION[:8], f"/transcripts/-home-dev-app/{kit.SESSION}.jsonl", f"{kit.SESSION}.jsonl"],
)
def test_a_session_is_known_by_id_beginning_or_path(tmp_path: Path, name: str) -> None:
    result, cited = cite(tmp_path, name, "run the  linter before\nevery commit")
    assert cited.found and cited.line_no == 2 and cited.role == "user" and cited.at is not None
    assert cited.context == kit.WISH and "could not be found" not in result.block["content"]


def test_the_words_around_a_quote_are_kept_without_their_secrets(tmp_path: Path) -> None:
    key = "gh" + "p_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
    with kit.job(tmp_path) as job:
        kit.transcript(tmp_path / "-home-dev-app", [f"Use make fresh. The key is {key}."])
        box = toolbox(job)
        edit(
            box, "make reset", "make fresh", citations=[{"session": kit.SESSION, "quote": "Use make fresh."}]
        )
        cited = box.writer.edits[0].citations[0]
    assert cited.found and cited.context == "Use make fresh. The key is [redacted: github-token]."


@each(
    ("session", "quote"),
    [
        (kit.SESSION, "run the linter after every commit"),
        ("ffffffff-0000", kit.WISH),
        ("/etc/passwd", "root"),
        ("../../../etc/passwd", "root"),
        ("nope.md", kit.WISH),
        ("/repo/README.md", kit.WISH),
    ],
)
def test_a_quote_that_does_not_stand_there_is_told_kept_and_marked(
    tmp_path: Path, session: str, quote: str
) -> None:
    result, cited = cite(tmp_path, session, quote)
    assert not result.refused and "could not be found" in result.block["content"]
    assert not cited.found and cited.quote == quote and cited.note


def test_a_commit_of_the_briefing_can_be_cited(tmp_path: Path) -> None:
    from dulwich import porcelain

    with porcelain.init(str(tmp_path / "repo")) as repo:
        options = {"author": b"A <a@b>", "committer": b"A <a@b>", "commit_timestamp": 1776693600.0}
        sha = porcelain.commit(repo, b"Day 5: payments\n\nStripe.", **options).decode()
    with kit.job(tmp_path) as job:
        box = toolbox(dataclasses.replace(job, repo_dir=tmp_path / "repo"))
        edit(box, "make reset", "make fresh", citations=[{"session": sha[:8], "quote": "Day 5: payments"}])
        (cited,) = box.writer.edits[0].citations
        assert (cited.source, cited.place, cited.found) == ("repository", f"commit {sha[:8]}", True)
        assert cited.at == dt.datetime(2026, 4, 20, 14, tzinfo=dt.UTC)
        told = edit(box, "make fresh", "make clean", citations=[{"session": sha[:8], "quote": "Day 6"}])
        assert f"does not appear in commit {sha[:8]} (no line holds these words)" in told.block["content"]


def test_a_new_file_is_no_evidence_for_itself(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        box.run([{"type": "tool_use", "id": "w", "name": "Write", "input": dict(kit.learn().input)}])
        cited = [{"session": "feedback_linter.md", "quote": "Run the linter before every commit."}]
        edit(box, "make reset", "make fresh", citations=cited)
        assert not box.writer.edits[1].citations[0].found


def test_where_removed_lines_went_is_handed_on(tmp_path: Path) -> None:
    removed = [
        {
            "text": "Use make reset before a run.",
            "fate": "merged-into",
            "target": "/memory/MEMORY.md",
            "target_text": "x",
        },
        {"text": "odd", "fate": "eaten"},
        "nonsense",
    ]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        edit(box, "make reset", "make fresh", removed=removed)
        (fate,) = box.writer.edits[0].fates
        assert (fate.kind, fate.target_path, fate.target_text) == ("merged-into", "MEMORY.md", "x")


def test_a_line_that_an_edit_replaces_went_to_the_line_that_the_edit_made(tmp_path: Path) -> None:
    removed = [{"text": "Use make reset before a run.", "fate": "superseded-by"}]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        edit(box, "make reset", "make fresh", removed=removed)
        (fate,) = box.writer.edits[0].fates
        assert (fate.target_path, fate.target_text) == ("feedback_testing.md", "Use make fresh before a run.")


def test_several_removed_lines_may_be_given_as_one_text(tmp_path: Path) -> None:
    removed = [{"text": "One.\n\nTwo.\n", "fate": "stated"}]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        edit(box, "make reset", "make fresh", removed=removed)
        assert [fate.text for fate in box.writer.edits[0].fates] == ["One.", "Two."]


def test_a_change_is_explained_by_an_edit_that_changes_nothing(tmp_path: Path) -> None:
    """The whole memory need not be written again."""
    removed = [{"text": "Use make reset before a run.", "fate": "superseded-by"}]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        assert edit(box, "make reset", "make reset").refused
        edit(
            box, "make reset", "make fresh", citations=[{"session": kit.SESSION, "quote": "nobody said this"}]
        )
        assert not edit(box, "make fresh", "make fresh", removed=removed).refused
        (made,) = box.writer.edits
    assert [cited.found for cited in made.citations] == [True]
    assert made.fates[0].target_text == "Use make fresh before a run."


def test_an_explanation_belongs_to_the_change_that_made_its_passage(tmp_path: Path) -> None:
    removed = [{"text": "Use make reset before a run.", "fate": "superseded-by"}]
    other = [{"session": "feedback_testing.md", "quote": "make reset before a run"}]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        edit(box, "make reset", "make fresh")
        edit(box, "name: Testing", "name: All testing")
        assert not edit(box, "Use make fresh", "Use make fresh", removed=removed, citations=other).refused
        assert [len(made.citations) for made in box.writer.edits] == [2, 1]


def test_a_quote_that_was_not_found_goes_with_the_words_that_it_was_for(tmp_path: Path) -> None:
    wrong = [{"session": kit.SESSION, "quote": "nobody said this"}]
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        edit(box, "make reset", "make fresh", citations=wrong)
        edit(box, "make fresh", "make clean")
        assert [[cited.found for cited in made.citations] for made in box.writer.edits] == [[], [True]]
        edit(box, "make clean", "make all", citations=wrong)
        text = job.workspace.read("feedback_testing.md") or ""
        written = {
            "path": "/memory/feedback_testing.md",
            "content": f"{text}\nOne more.\n",
            "reason": "Said so.",
        }
        assert not one(box, "Write", **written, citations=SELF).refused
        assert all(cited.found for made in box.writer.edits for cited in made.citations)


def test_the_pattern_of_the_prompt_finds_what_a_person_typed_and_no_output_of_tools(tmp_path: Path) -> None:
    section = dict(prompt.static_sections())["4_searching.md"]
    (pattern,) = (line.strip("`") for line in section.splitlines() if line.startswith('`"role"'))
    says = 'He said "no": always\nuse tabs.'
    typed = [says, [{"type": "text", "text": says}]]
    result = {"type": "tool_result", "tool_use_id": "t", "content": says}
    with kit.job(tmp_path) as job:
        lines = [
            {"type": "user", "message": {"role": "user", "content": each}} for each in (*typed, [result])
        ]
        folder = job.sessions[0].path.parent
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
        (folder / "more.jsonl").write_text(text)
        with contextlib.closing(open_tools(job)) as reads:
            found = Toolbox(job, reads, lambda: None).run(
                [call("Grep", pattern=pattern, path="/transcripts")]
            )
    content = str(found[0].block["content"])
    assert (
        content.count("more.jsonl:1:") == content.count("more.jsonl:2:") == 1
        and "more.jsonl:3:" not in content
    )


# --- Order --------------------------------------------------------------------------------------------------------


def test_answers_keep_the_order_of_the_calls(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        calls = [
            call("Glob", pattern="/memory/M*"),
            call("Phase", name="gather"),
            call("Glob", pattern="/memory/p*"),
        ]
        results = box.run(calls)
        assert [result.block["tool_use_id"] for result in results] == [c["id"] for c in calls]
        shown = [str(result.block["content"]) for result in results]
        assert "MEMORY.md" in shown[0] and "Phase" in shown[1] and "project_deploy.md" in shown[2]
        assert box.phase == "gather"


def test_writes_of_one_turn_build_on_each_other(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        steps = [("make reset", "make fresh"), ("make fresh", "make clean")]
        calls = [
            call("Edit", path="feedback_testing.md", old_string=a, new_string=b, reason="r", citations=SELF)
            for a, b in steps
        ]
        assert [result.refused for result in box.run(calls)] == [False, False]
        assert "make clean" in (job.workspace.read("feedback_testing.md") or "")


def test_a_cancel_does_not_wait_for_a_slow_reader(tmp_path: Path) -> None:
    class Slow:
        names = frozenset({"Read"})

        def run(self, name: str, given: Mapping[str, Any]) -> Answer:
            gate.wait(10)
            return Answer("")

        def close(self) -> None: ...

    def watch() -> None:
        raise Cancelled

    gate = threading.Event()
    with kit.job(tmp_path) as job, pytest.raises(Cancelled):
        try:
            Toolbox(job, Slow(), watch).run([call("Read", file_path="a")])
        finally:
            assert not gate.is_set(), "it came back while the reader still waited"
            gate.set()


def test_an_unknown_tool_and_odd_input_are_answered(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        assert "There is no tool 'Rm'" in one(box, "Rm", path="/").block["content"]
        assert one(box, "Phase", name="nap").refused
        assert one(box, "Read").refused and one(box, "Grep", pattern="(").refused
        assert one(box, "Read", file_path="/etc/passwd").refused
        assert len(box.run([call("Phase", name="prune")] * 150)) == 150


def test_reading_transcripts_and_writing_moves_the_phase_when_the_model_forgets_to(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        one(box, "Grep", pattern="linter", path="/transcripts")
        assert box.phase == "gather"
        edit(box, "make reset", "make fresh")
        assert box.phase == "consolidate"


# --- Clumsy calls -------------------------------------------------------------------------------------------------


def test_lists_numbers_and_objects_that_a_model_writes_as_text_are_read(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        assert not edit(box, "make reset", "make fresh", citations=json.dumps(SELF)).refused
        assert not edit(box, "make fresh", "make clean", citations={**SELF[0], "line": "7"}).refused
        assert [found.line_no for made in box.writer.edits for found in made.citations] == [7, 7]
        few = one(box, "Read", file_path="/memory/feedback_testing.md", offset="2", limit="1")
        assert (
            not few.refused and "name: Testing" in few.block["content"] and "make" not in few.block["content"]
        )
        assert not one(box, "Grep", pattern="MAKE", path="/memory", **{"-i": "true"}).refused
        assert one(box, "Read", file_path="/memory/MEMORY.md", offset="two").refused


def test_a_value_nested_too_deeply_is_refused_and_ends_no_dream(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        for deep in ("[" * 700 + "]" * 700, "[" * 5_000, "[" * 5_000 + "]" * 5_000):
            assert edit(box, "make reset", "make fresh", citations=deep).refused
        assert not edit(box, "make reset", "make fresh").refused


def test_what_a_schema_calls_text_stays_text(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        box = toolbox(job)
        edit(box, "make reset", "[1, 2]", reason="3")
        assert box.writer.edits[0].reason == "3" and "Use [1, 2] before" in (box.writer.edits[0].after or "")


def test_a_quote_that_is_missing_is_told_without_the_folders_of_this_machine(tmp_path: Path) -> None:
    with kit.job(tmp_path) as job:
        wrong = [{"session": kit.SESSION, "quote": "Never run the linter."}]
        told = str(edit(toolbox(job), "make reset", "make fresh", citations=wrong).block["content"])
        assert f"does not appear in {kit.SESSION} (" in told and str(tmp_path) not in told


def test_a_long_call_is_kept_for_the_page_as_json_with_shortened_values(tmp_path: Path) -> None:
    secret = "sk-ant-" + "api03-" + "Ab1" * 30
    content = "A line of a memory.\n" * 28 + f"The key is {secret}\n" + "More of it.\n" * 400
    with kit.job(tmp_path) as job:
        given = {**kit.learn().input, "content": content}
        kept = json.loads(str(one(toolbox(job), "Write", **given).record["input"]))
        assert kept["path"] == "/memory/feedback_linter.md" and kept["citations"] == kit.CITED
        assert (
            kept["content"].startswith("A line")
            and kept["content"].endswith("…")
            and len(kept["content"]) < 700
        )
        assert secret[:20] not in kept["content"] and "redacted" in kept["content"]
