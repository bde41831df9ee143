"""Which memories an agent would open for a question: by name, description and loaded row; unsure means none."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from dreams.lib.prose import recall
from tests.world.cases import each
from tests.world.strategies import tries

DEPLOY = b"---\nname: Deploying the shop\ndescription: Where releases go and who may start them\n---\n\nPort 8443.\n"
TESTS = b"---\nname: Test database\ndescription: How integration tests are run\n---\n\nUse PostgreSQL 16.\n"
BARE = b"# Invoices and VAT rounding\n\nRound half to even.\n"
INDEX = b"- [Deploy](deploy.md) - releases of the shop\n- [Tests](tests.md) - the database of tests\n"
FILES = {"MEMORY.md": INDEX, "deploy.md": DEPLOY, "tests.md": TESTS, "invoices.md": BARE}


def _chosen(question: str, files: dict[str, bytes] = FILES) -> list[str]:
    return [one.path for one in recall.load(recall.shelf(files), question).recalled]


@each(
    ("question", "path"),
    [
        ("how do we run the integration tests?", "tests.md"),
        ("deploy the shop please", "deploy.md"),
        ("who may start a release?", "deploy.md"),
        ("what about VAT rounding on invoices", "invoices.md"),
    ],
)
def test_the_memory_that_is_about_it_comes_first(question: str, path: str) -> None:
    assert _chosen(question)[0] == path


@each("question", ["", "hello", "make the button blue", "?!", "the and of"])
def test_unsure_means_none(question: str) -> None:
    assert _chosen(question) == []


def test_a_row_that_is_not_loaded_helps_nobody() -> None:
    plain = {"a.md": b"Port 8443.\n", "MEMORY.md": b"- [A](a.md) - the staging gateway's address\n"}
    assert _chosen("where is the staging gateway?", plain) == ["a.md"]
    filler = b"".join(b"- filler %d\n" % n for n in range(250))
    assert _chosen("where is the staging gateway?", {**plain, "MEMORY.md": filler + plain["MEMORY.md"]}) == []


def test_what_is_loaded_is_capped_and_says_what_was_cut() -> None:
    long = DEPLOY + b"A line of detail.\n" * 10_000
    before = recall.load(recall.shelf({**FILES, "deploy.md": long}), "deploy the shop")
    assert before.cut == ("deploy.md",)
    assert sum(map(len, before.texts.values())) <= recall.MOST_BYTES + len(INDEX)
    assert long.startswith(before.texts["deploy.md"])


def test_at_most_two_hundred_are_looked_at_the_newest_first() -> None:
    files = {f"m{n}.md": b"# Topic %d\n" % n for n in range(300)}
    made = recall.shelf(files, newest=[f"m{n}.md" for n in reversed(range(300))])
    assert len(made.older) == 100
    assert [one.path for one in recall.load(made, "topic 299").recalled][:1] == ["m299.md"]
    assert not any(one.path == "m5.md" for one in recall.load(made, "topic 5").recalled)


def test_logs_and_the_index_itself_are_not_chosen() -> None:
    files = {**FILES, "logs/2026/01.md": DEPLOY, "team/MEMORY.md": DEPLOY}
    assert set(_chosen("deploying the shop", files)) == {"deploy.md"}


@tries(20, 40)
@given(
    st.dictionaries(
        st.text("ab/_.é", min_size=1, max_size=6).map(lambda n: f"x{n}.md"), st.binary(max_size=200)
    ),
    st.text(max_size=80),
)
def test_any_bytes_and_any_question_give_an_answer_within_its_bounds(
    files: dict[str, bytes], question: str
) -> None:
    chosen = recall.load(recall.shelf(files), question).recalled
    assert len(chosen) <= recall.MOST_CHOSEN
    assert all(recall.SURE <= one.share <= 1 and one.path in files and one.words for one in chosen)
    assert [one.share for one in chosen] == sorted((one.share for one in chosen), reverse=True)


def _left_out(question: str, seen: recall.LoadedSoFar, files: dict[str, bytes] = FILES) -> dict[str, str]:
    return {one.path: one.why for one in recall.load(recall.shelf(files), question, seen).left_out}


def test_what_was_shown_already_is_left_out_before_choosing_and_makes_room_for_others() -> None:
    files = {f"deploy{n}.md": b"---\nname: Deploying %d\n---\n" % n for n in range(7)}
    first = recall.load(recall.shelf(files), "deploying")
    assert len(first.recalled) == 5 and [one.why for one in first.left_out] == ["5 others match better"] * 2
    shown = recall.LoadedSoFar(shown=[one.path for one in first.recalled])
    second = recall.load(recall.shelf(files), "deploying", shown)
    assert {one.path for one in second.recalled} == {one.path for one in first.left_out}
    assert {one.why for one in second.left_out} == {"already shown in this session"}


def _about_psql(kind: str, more: str = "") -> dict[str, bytes]:
    return {
        "psql.md": f"---\nname: psql tables\ndescription: listing tables{more}\ntype: {kind}\n---\n".encode()
    }


@each("tool", ["psql", "PSQL", "mcp__psql__query"])
def test_a_reference_for_a_tool_in_use_is_left_out(tool: str) -> None:
    assert _left_out("psql tables", recall.LoadedSoFar(tools=[tool]), _about_psql("reference")) == {
        "psql.md": f"a reference for {tool}, which is in use"
    }


@each(
    ("files", "tool"),
    [
        (_about_psql("reference", ", a known issue with it"), "psql"),
        (_about_psql("reference", "; never on production"), "psql"),
        (_about_psql("feedback"), "psql"),
        (_about_psql("reference"), "mysql"),
        (_about_psql("reference"), "mcp__x__query"),
        ({"psql.md": b"---\nname: Read psql tables\ntype: reference\n---\n"}, "Read"),
    ],
)
def test_warnings_and_what_is_no_reference_for_it_are_kept(files: dict[str, bytes], tool: str) -> None:
    assert _left_out("psql tables", recall.LoadedSoFar(tools=[tool]), files) == {}


def test_every_memory_that_is_not_chosen_has_its_reason() -> None:
    assert _left_out("how do we deploy the shop?", recall.LoadedSoFar()) == {
        "tests.md": "shares no distinctive word with the question",
        "invoices.md": "shares no distinctive word with the question",
    }
    unsure = _left_out(
        "nightly mailer crash: sending invoices to the warehouse printer times out on Tuesdays",
        recall.LoadedSoFar(),
    )
    assert unsure["invoices.md"].startswith("unsure: ")
    many = {f"m{n}.md": b"# Topic %d\n" % n for n in range(201)}
    assert (
        list(_left_out("hello", recall.LoadedSoFar(), many).values()).count(
            "older than the 200 newest memories"
        )
        == 1
    )


def test_what_the_session_read_before_counts_towards_its_cap() -> None:
    shelf = recall.shelf({**FILES, "deploy.md": DEPLOY + b"A line of detail.\n" * 10_000})
    little = recall.load(shelf, "deploy the shop", recall.LoadedSoFar(bytes=recall.MOST_BYTES - 200))
    assert little.cut == ("deploy.md",) and len(little.texts["deploy.md"]) <= 200
    none = recall.load(shelf, "deploy the shop", recall.LoadedSoFar(bytes=recall.MOST_BYTES))
    assert none.recalled == ()
    assert none.left_out[0] == recall.NotChosen(
        "deploy.md", "a session loads at most 60,000 bytes", none.left_out[0].share
    )


def test_a_memory_of_which_only_a_scrap_fits_is_left_out_and_says_so() -> None:
    line = b"A line of detail.\n"
    long = {f"{name}.md": DEPLOY + line * (recall.MOST_BYTES // len(line) * 2 // 3) for name in "ab"}
    room = recall.MOST_BYTES - len(long["a.md"])
    before = recall.load(recall.shelf(long), "deploy the shop")
    assert [one.path for one in before.recalled] == ["a.md", "b.md"] and before.cut == ("b.md",)
    assert room - len(line) < len(before.texts["b.md"]) <= room
    full = {**long, "a.md": DEPLOY.ljust(recall.MOST_BYTES - 60, b".") + b"\n"}
    before = recall.load(recall.shelf(full), "deploy the shop")
    assert [one.path for one in before.recalled] == ["a.md"] and not before.cut, "what fits is its head"
    assert [(one.path, one.why) for one in before.left_out] == [
        ("b.md", "a session loads at most 60,000 bytes")
    ]


@pytest.mark.parametrize("question", ["deploy the shop", "the", "", "which port", "nothing of this kind"])
def test_the_texts_alone_are_those_that_are_loaded(question: str) -> None:
    line = b"A line of detail.\n"
    long = {f"deploy_{n}.md": DEPLOY + line * (recall.MOST_BYTES // len(line) // 2) for n in range(9)}
    for files in (FILES, {**FILES, **long}, {}):
        shelf = recall.shelf(files)
        loaded = recall.load(shelf, question).texts
        assert list(recall.texts_for(shelf, question).items()) == list(loaded.items())
