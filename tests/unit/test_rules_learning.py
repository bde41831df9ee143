"""Where a wish goes, with what evidence, and when it is known already."""

import datetime as dt
from pathlib import Path

import pytest

from dreams.engines import drafts
from dreams.lib.files.text import plural
from dreams.lib.memdir import parse, parse_index
from tests.world.cases import each
from tests.world.rules import NOON, dream, memory, session

INDEX = "# Memory\n\n- [Queue](project_queue.md) — the queue\n"
QUEUE = memory("- The queue is Redis on host queue-1\n", name="Queue workers", description="How jobs run")


def test_a_wish_becomes_a_memory_with_an_index_row_and_the_prompt_as_evidence(tmp_path: Path):
    made = dream(
        tmp_path,
        {"MEMORY.md": INDEX, "project_queue.md": QUEUE},
        [session(7, "hello", "from now on, use pnpm instead of npm")],
    )
    assert made.text("feedback_pnpm_npm.md") == (
        "---\nname: use pnpm instead of npm\ndescription: use pnpm instead of npm\ntype: feedback\n---\n\n- use pnpm instead of npm\n"
    )
    assert "- [use pnpm instead of npm](feedback_pnpm_npm.md)" in made.text("MEMORY.md")
    ((file, row),) = made.operations("learn").values()
    assert {file.path, row.path} == {"feedback_pnpm_npm.md", "MEMORY.md"}
    (cited,) = file.citations
    assert (cited.session_pk, cited.line_no, cited.offset, cited.role, cited.at) == (7, 2, 200, "user", NOON)
    assert cited.quote == "from now on, use pnpm instead of npm"
    assert made.summary.startswith("Learnt 1 thing from your prompts.")


def test_what_denies_a_number_of_memory_is_asked_about_and_not_learnt_beside_it(tmp_path: Path):
    line = "The web app listens on port 9090."
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory(f"- {line}\n")}
    made = dream(tmp_path / "known", files, [session(1, "we don't use port 9090 any more")])
    assert made.after == made.before and [each.kind for each in made.outcome.questions] == ["learn"]
    made = dream(tmp_path / "new", files, [session(1, "we don't use port 7070 any more")])
    assert made.after != made.before and made.outcome.questions == []


def test_what_somebody_wants_remembered_is_learnt_though_it_denies_a_number_that_memory_has(tmp_path: Path):
    files = {"MEMORY.md": "- [A](a.md)\n", "a.md": memory("- A build has 0 warnings, and 4 workers.\n")}
    for number, said in enumerate(
        [
            "Remember that export number 0 must never run before 04:00 UTC.",
            "we never deploy with fewer than 4 reviewers any more",
        ]
    ):
        made = dream(tmp_path / str(number), files, [session(1, said)])
        assert made.after != made.before and made.outcome.questions == []


@each(
    "after",
    [
        "tests failed",
        "ci green",
        "lunch break",
        "and push it",
        "Never mind the tests.",
        "nvm the failing build, go on",
        "Not the tests.",
        "tests are not green yet",
        "the build is wrong",
        "wait for the build",
    ],
)
def test_a_short_prompt_after_a_request_to_remember_does_not_take_it_back(tmp_path: Path, after: str) -> None:
    said = session(7, "Remember that the staging database is called heron.", after)
    assert "heron" in dream(tmp_path, {"MEMORY.md": INDEX}, [said]).text("MEMORY.md")


@each(
    "after",
    [
        "Never mind.",
        "nvm",
        "never mind that",
        "this is wrong",
        "it is not called heron",
        "scrap that",
        "hold on",
        "I was mistaken",
        "mistake, sorry",
        "not yet",
        "heron is wrong",
        "the name is wrong",
        "that name is wrong",
        "what I said is wrong",
        "heron was a mistake",
        "I got that wrong",
        "never mind about that",
        "never mind I was wrong",
        "nvm i checked, it's crane",
        "not decided",
        "not anymore",
        "that isn't so",
    ],
)
def test_a_prompt_that_only_retracts_or_denies_the_request_takes_it_back(tmp_path: Path, after: str) -> None:
    said = session(7, "Remember that the staging database is called heron.", after)
    assert dream(tmp_path, {"MEMORY.md": INDEX}, [said]).text("MEMORY.md") == INDEX


@each(
    ("later", "port"),
    [
        ("we moved the API of the shop from port 8080 to port 9090", 9090),
        ("the API of the shop listens on port 9090 now", 9090),
        ("the API of the shop listened on port 9090 instead of 8080", 8080),
        ("nobody moved the API of the shop from port 8080 to port 9090", 8080),
    ],
)
def test_what_is_learnt_has_the_value_that_was_told_last_and_a_report_tells_none(
    tmp_path: Path, later: str, port: int
) -> None:
    said = session(7, "Remember that the API of the shop listens on port 8080.", later)
    assert f"the API of the shop listens on port {port}" in dream(
        tmp_path, {"MEMORY.md": INDEX}, [said]
    ).text("MEMORY.md")


def test_what_a_later_session_calls_past_is_not_learnt_unasked_and_is_no_new_value(tmp_path: Path) -> None:
    line = "More than 600 requests per minute are refused by `granite-proxy`."
    files = {"MEMORY.md": "- [Proxy](proxy.md)\n", "proxy.md": memory(f"{line}\n")}
    said = (
        "we set the rate limit of `granite-proxy` to 860 requests per minute",
        "`granite-proxy` accepts at most 600 requests per minute now, it was 860",
    )
    made = dream(tmp_path, files, [session(at, text) for at, text in enumerate(said, 1)])
    assert made.after == made.before
    assert not any("860 now" in each.why for each in made.outcome.questions)


def test_of_two_remarks_in_the_same_words_the_older_value_is_not_learnt_unasked(tmp_path: Path) -> None:
    said = [
        f"we set the rate limit of `coral-renderer` to {value} requests per minute" for value in (640, 370)
    ]
    made = dream(tmp_path, {"MEMORY.md": INDEX}, [session(at, text) for at, text in enumerate(said, 1)])
    learnt = b"".join(made.after.values())
    assert b"370 requests" in learnt and b"640" not in learnt


def test_of_two_remarks_that_differ_in_one_name_the_older_one_is_asked_about(tmp_path: Path) -> None:
    said = [session(1, "we use yarn"), session(2, "we use pnpm")]
    made = dream(tmp_path, {"MEMORY.md": INDEX}, said)
    assert "yarn" not in made.text("MEMORY.md") and "we use pnpm" in made.text("MEMORY.md")
    assert "yarn" in next(each.subject for each in made.outcome.questions if each.kind == "learn")


@each(
    ("first", "last"), [("the port is 8081", "the port is 8082"), ("the store is db-1", "the store is db-2")]
)
def test_of_two_requests_that_differ_in_the_value_of_one_thing_the_last_one_is_learnt(
    tmp_path: Path, first: str, last: str
) -> None:
    made = dream(tmp_path, {}, [session(1, f"Remember that {first}"), session(2, f"Remember that {last}")])
    text = "".join(made.text(path) for path in made.after)
    assert last in text and first not in text


@each("first", ["we use db-1", "ticket 31 is done"])
def test_two_requests_about_what_may_be_two_things_are_both_learnt(tmp_path: Path, first: str) -> None:
    last = first.replace("1", "2")
    made = dream(tmp_path, {}, [session(1, f"Remember that {first}", f"Remember that {last}")])
    text = "".join(made.text(path) for path in made.after)
    assert last in text and first in text


@each(
    "prompts",
    [
        ("Remember that the API is on 8081. Is that right?",),
        ("Remember that the API is on 8081", "run the tests", "no, I was wrong, it is still 8080"),
        (
            "Remember that the API is on 8081",
            "run the tests",
            "sorry, I mixed it up: the API is the one on 8080",
        ),
    ],
)
def test_a_request_that_the_person_asks_about_or_denies_later_is_asked_about(
    tmp_path: Path, prompts: tuple[str, ...]
) -> None:
    made = dream(tmp_path, {}, [session(1, *prompts)])
    assert (made.after, [each.kind for each in made.outcome.questions]) == ({}, ["learn"])


def test_a_denial_of_something_else_and_one_in_another_session_leave_a_request(tmp_path: Path) -> None:
    asked, denied = "Remember that the API is on 8081", "no, I was wrong, it is still 8080"
    other = "sorry, scrap that, the timeout of `copper-ranker` is 15 seconds"
    for number, said in enumerate(
        ([session(1, asked, "ok", other)], [session(1, asked), session(2, denied)])
    ):
        made = dream(tmp_path / str(number), {}, said)
        assert any("the API is on 8081" in made.text(path) for path in made.after)


def test_of_two_corrections_the_last_one_is_written_and_only_once(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": INDEX,
        "pool.md": memory("- The worker pool of MapTiles has 8 threads and 200 jobs.\n"),
    }
    said = [f"Correction: the worker pool of MapTiles has {many} threads and 200 jobs." for many in (9, 10)]
    made = dream(tmp_path, files, [session(7, *said)])
    assert "has 10 threads" in made.text("pool.md")
    assert len([edit for edit in made.edits if edit.path == "pool.md"]) == 1


def test_the_lines_that_a_phase_added_and_removed_are_counted(tmp_path: Path):
    made = dream(tmp_path, {"MEMORY.md": INDEX}, [session(7, "remember that the staging database is heron")])
    added = sum(len(edit.after.splitlines()) for edit in made.edits if edit.after and edit.before is None)
    assert [work.lines_added for work in made.told.work if work.lines_added] == [added + 1]


def test_a_title_is_the_first_clause_and_the_file_is_named_by_its_words(tmp_path: Path):
    made = dream(
        tmp_path,
        {"MEMORY.md": INDEX},
        [session(7, "remember that amounts are rounded half to even, finance signed that off")],
    )
    row = "- [amounts are rounded half to even](project_amounts_rounded_even.md) — finance signed that off\n"
    assert row in made.text("MEMORY.md")


def test_a_long_first_clause_is_not_cut_where_a_title_has_room_and_the_hook_has_all_of_a_cut_one(
    tmp_path: Path,
):
    def row(said: str) -> str:
        return dream(tmp_path, {"MEMORY.md": INDEX}, [session(7, f"remember that {said}")]).text("MEMORY.md")

    short = "we never add a dependency without checking its size"
    assert f"- [{short}](" in row(short)
    long = f"{short} and licence and age first"
    assert row(long).rstrip("\n").endswith(f" — {long}")


def test_in_an_index_that_is_too_long_what_was_learnt_has_the_first_row(tmp_path: Path):
    """At its end no session would ever read it."""
    row = "- [Deploys](project_deploy.md) — how the shop is deployed\n"
    index = f"# Memory\n\n## Project\n\n{row}\n" + "".join(f"Line {number}.\n" for number in range(200))
    files = {"project_deploy.md": memory("- The shop is deployed from main.\n")}
    said = [session(7, "from now on, use pnpm instead of npm")]
    made = dream(tmp_path, {"MEMORY.md": index, **files}, said)
    first, second = made.text("MEMORY.md").splitlines()[4:6]
    assert first == "- [use pnpm instead of npm](feedback_pnpm_npm.md)" and second == row.strip()


def test_a_row_does_not_say_its_title_twice(tmp_path: Path):
    made = dream(
        tmp_path,
        {"MEMORY.md": INDEX},
        [
            session(
                7,
                "remember that the beta group is 40 people on Android only, there is no iOS beta at all, nor will be",
            )
        ],
    )
    assert made.text("MEMORY.md").count("40 people") == 1


def test_look_alikes_are_learnt_as_separate_facts_in_one_file(tmp_path: Path):
    said = [
        session(n, f"Remember that the nightly export number {n} of billing must never run before 04:00 UTC.")
        for n in range(1, 7)
    ]
    made = dream(tmp_path, {"MEMORY.md": INDEX, "project_queue.md": QUEUE}, said)
    (path,) = made.after.keys() - {"MEMORY.md", "project_queue.md"}
    lines = [line for line in made.text(path).splitlines() if line.startswith("- ")]
    assert lines == [
        f"- the nightly export number {n} of billing must never run before 04:00 UTC." for n in range(1, 7)
    ]


def test_the_same_wish_in_several_sessions_is_learnt_once_and_cites_them_all(tmp_path: Path):
    made = dream(
        tmp_path, {}, [session(1, "always answer in French"), session(2, "Always answer in French.")]
    )
    (edits,) = made.operations("learn").values()
    assert [cited.session_pk for cited in edits[0].citations] == [2, 1]
    assert "in 2 sessions" in edits[0].reason


def test_what_memory_says_anywhere_is_not_learnt_again(tmp_path: Path):
    files = {
        "MEMORY.md": INDEX,
        "project_queue.md": QUEUE,
        "team/style.md": "Releases are cut on Tuesdays.\n",
    }
    made = dream(
        tmp_path,
        files,
        [
            session(
                1,
                "remember that the queue is Redis on host queue-1",
                "Remember: releases are cut on Tuesdays",
            )
        ],
    )
    assert made.operations("learn") == {}


def test_a_fact_goes_into_the_file_that_is_clearly_about_it(tmp_path: Path):
    made = dream(
        tmp_path,
        {"MEMORY.md": INDEX, "project_queue.md": QUEUE},
        [session(1, "remember that queue workers need 2 GB")],
    )
    assert made.text("project_queue.md").endswith(
        "- The queue is Redis on host queue-1\n- queue workers need 2 GB\n"
    )
    assert set(made.after) == {"MEMORY.md", "project_queue.md"}


def test_nothing_is_added_to_pinned_shared_or_structured_memories(tmp_path: Path):
    files = {
        "project_queue.md": QUEUE.replace("type:", "pinned: true\ntype:"),
        "team/project_queue_workers.md": QUEUE,
        "project_queue_workers.md": QUEUE.replace("- The", "**Why:** the"),
    }
    made = dream(
        tmp_path, {"MEMORY.md": INDEX, **files}, [session(1, "remember that queue workers need 2 GB")]
    )
    assert all(made.text(path) == text for path, text in files.items())
    assert any("queue workers need 2 GB" in data.decode() for data in made.after.values())


def test_relative_dates_count_from_when_it_was_said(tmp_path: Path):
    made = dream(tmp_path, {}, [session(1, "Remember that we moved the queue to Valkey yesterday.")])
    assert any(b"2026-10-09" in data for data in made.after.values())
    unknown = dream(
        tmp_path, {}, [session(1, "Remember that we moved the queue to Valkey yesterday.", at=None)]
    )
    assert unknown.edits == []
    assert "date" in unknown.summary


def test_a_new_file_takes_the_shape_of_the_others(tmp_path: Path):
    nested = "---\r\nname: a-b\r\ndescription: x\r\nmetadata:\r\n  node_type: memory\r\n  type: user\r\n---\r\n\r\nA backend engineer.\r\n"
    made = dream(tmp_path, {"user_a-b.md": nested}, [session(1, "never force-push to shared branches")])
    (path,) = (path for path in made.after if path.startswith("feedback"))
    front = parse(made.after[path]).frontmatter
    assert front is not None
    assert (front.shape, front.type, front.metadata["node_type"]) == ("nested", "feedback", "memory")
    assert front.name == path.removesuffix(".md")
    assert made.after[path].count(b"\r\n") == made.after[path].count(b"\n")


def test_many_unrelated_wishes_do_not_flood_the_directory(tmp_path: Path):
    words = [
        "apple",
        "banana",
        "cherry",
        "damson",
        "elder",
        "fig",
        "grape",
        "hazel",
        "ilex",
        "juniper",
        "kiwi",
        "lemon",
    ]
    said = [session(n, f"always polish every {word}") for n, word in enumerate(words)]
    made = dream(tmp_path, {"MEMORY.md": INDEX, "project_queue.md": QUEUE}, said)
    assert len(made.after) <= 2 + 6
    kept = b"".join(made.after.values()).decode()
    assert all(f"always polish every {word}" in kept for word in words)


def test_secrets_and_requests_to_forget_are_not_kept(tmp_path: Path):
    word = "sword" + "fish"
    made = dream(tmp_path, {}, [session(1, f"remember that my password is {word}", "forget that we use npm")])
    assert made.edits == []
    assert "secret" in made.summary
    assert word not in made.summary + str(made.told.turns)


def test_personal_facts_go_into_a_memory_of_the_user(tmp_path: Path):
    made = dream(
        tmp_path, {}, [session(1, "remember that I work from Lisbon", at=NOON + dt.timedelta(days=1))]
    )
    assert "user_lisbon.md" in made.after


def test_a_new_row_has_a_title_in_words_among_rows_that_have_one(tmp_path: Path) -> None:
    index = "- [Deploy](deploy.md) - how it is deployed\n"
    files = {"MEMORY.md": index, "deploy.md": memory("It is deployed by hand.\n", name="deploy")}
    made = dream(tmp_path, files, [session(1, "From now on always use uv instead of pip in this repo.")])
    assert "- [Always use uv instead of pip in this repo](feedback_uv_pip_repo.md)\n" in made.text(
        "MEMORY.md"
    )


@each(
    ("said", "name"),
    [
        ("Remember that deploys never happen on Fridays.", "project_deploys_never_happen_fridays.md"),
        ("Remember: don't push to the release branch.", "feedback_dont_push_release_branch.md"),
        (
            "Remember that billing exports from the ledger to Stripe are not retried.",
            "project_billing_exports_ledger_not_retried.md",
        ),
        ("Remember that पोर्ट का डेटाबेस", "project_पोर्ट_का_डेटाबेस.md"),
        ("Remember that le cafe\u0301 est ferme\u0301", "project_le_café_est_fermé.md"),
    ],
)
def test_the_name_of_a_file_keeps_a_denial_and_the_marks_of_its_letters(
    tmp_path: Path, said: str, name: str
) -> None:
    files = {"MEMORY.md": INDEX, "project_queue.md": QUEUE}
    made = dream(tmp_path, files, [session(1, said)])
    assert made.after.keys() - files.keys() == {name}


@pytest.mark.more
@pytest.mark.parametrize("more", [0, 60], ids=["a new file", "more than there are new files for"])
def test_what_is_learnt_is_counted_as_it_is_decided_on(tmp_path: Path, more: int):
    """What one new file says is one decision, however many things these are."""
    about = "Remember that the billing service "
    said = [f"{about}runs on host finch-3.", f"{about}is restarted with make bounce."]
    words = ("heron", "crane", "plover", "avocet", "dunlin", "gannet", "hobby", "egret")
    said += [f"Remember that {words[n % 8]}{n} keeps the {words[n // 8]}{n} table." for n in range(more)]
    made = dream(tmp_path, {"MEMORY.md": INDEX, "project_queue.md": QUEUE}, [session(7, *said)])
    decided = drafts.draft(made.before, made.after, made.edits).operations
    assert made.summary.startswith(f"Learnt {plural(len(decided), 'thing')} from your prompts.")
    assert "make bounce" in "".join(text.decode() for text in made.after.values())


def test_a_row_of_an_index_of_prose_that_is_too_long_comes_before_its_sections(tmp_path: Path) -> None:
    prose = "# Notes\n\n## Radio\n" + "".join(f"Line {number} tells of the radio.\n" for number in range(230))
    made = dream(
        tmp_path, {"MEMORY.md": prose}, [session(1, "Remember that the staging server is called heron-2.")]
    )
    (row,) = parse_index(made.text("MEMORY.md")).rows
    assert made.text("MEMORY.md") == prose.replace("## Radio", f"{row.raw}\n\n## Radio")
