"""What holds for any directory: nothing raises, nothing is lost by moving, nothing leaves unseen."""

from __future__ import annotations

import gc
import random
import re
import weakref
from dataclasses import replace

import pytest
from hypothesis import assume, given, strategies as st

from dreams.findings import Subject, examine, health, regression
from dreams.findings.base import ChangedHunk
from dreams.findings.directories import between
from dreams.findings.ledger import facts
from tests.world.findings import codes
from tests.world.strategies import tries

SYLLABLES = ["ka", "lo", "mi", "ter", "von", "sha", "bri", "dun", "pel", "qua"]
WORDS = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES if a != b != c]
KNOWN = set(WORDS)
NAMES = ["MEMORY.md", "user_a.md", "b.md", "team/c.md"]
MARKS = ["- ", "* ", "", "1. ", "**Why:** "]
SHAPES = [
    *([lambda said, mark=mark: [mark + " ".join(said)] for mark in MARKS]),
    lambda said: ["", "| what | how |", "|---|---|", f"| {said[0]} | {' '.join(said[1:])} |", ""],
    lambda said: ["```", " ".join(said), "```"],
]
HEAD = "---\nname: {}\ndescription: notes\ntype: project\n---\n\n"
BITS = ["- ", "# ", "---\n", "key: ", "](a.md)", "[[", "`", "```\n", "|", "\n", "\r\n", "\0", "\u202e", "<!--", "é", "2026-01-01", "1) "]  # fmt: skip

any_text = st.lists(st.sampled_from(BITS) | st.text(max_size=8), max_size=25).map("".join)
any_bytes = any_text.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=60)
any_path = st.sampled_from([*NAMES, "../x.md", ".hidden.md", "run.sh", "B.md", ""]) | st.text(max_size=6)
directories = st.dictionaries(any_path, any_bytes, max_size=4)


def test_garbage_of_a_check_is_found_by_the_next_collection_and_the_collector_is_on() -> None:
    class Ring:
        def __init__(self) -> None:
            self.me = self

    left: list[weakref.ref[Ring]] = []

    def heard(_: str) -> None:
        left.append(weakref.ref(Ring()))
        raise ValueError

    before, after = {"a.md": b"- The port is 80.\n"}, {"a.md": b"- The port is 8080.\n"}
    gc.collect()
    assert "check-failed" in codes(examine(replace(between(before, after), heard=heard)))
    assert gc.isenabled() and left
    gc.collect(0)
    assert [ring() for ring in left] == [None] * len(left)


@st.composite
def notes(draw, apart=False):
    """Files of lines whose words stand in no other line, so that each line is the only one to say what it says. Two of them
    that follow each other can be one wrapped sentence, unless they stand `apart`."""
    chance = random.Random(draw(st.integers(0, 10_000)))  # noqa: S311 - chosen by the test's own seed
    words = iter(chance.sample(WORDS, 240))
    files = {}
    for name in NAMES[1:]:
        lines = []
        for _ in range(draw(st.integers(1, 6))):
            said = [next(words) for _ in range(draw(st.integers(2, 8)))]
            lines += [*draw(st.sampled_from(SHAPES))(said), *([""] if apart or draw(st.booleans()) else [])]
        files[name] = HEAD.format(next(words)) + "\n".join(lines) + "\n"
    return files


@st.composite
def merges(draw):
    """A file merged into another one, block by block, and the blocks whose destination a person rejected."""
    chance = random.Random(draw(st.integers(0, 10_000)))  # noqa: S311 - chosen by the test's own seed
    words = iter(chance.sample(WORDS, 120))
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=2, max_size=6))
    said = (
        [*(next(words) for _ in range(draw(st.integers(3, 8)))), f"{chance.randrange(9_999)}"] for _ in shapes
    )
    blocks = [["", *shape(one), ""] for shape, one in zip(shapes, said, strict=True)]
    rejected = draw(st.sets(st.integers(0, len(blocks) - 1), min_size=1))
    joined = ["\n".join(line for block in chosen for line in block) for chosen in
              (blocks, [block for place, block in enumerate(blocks) if place not in rejected])]  # fmt: skip
    target = HEAD.format("target") + "- " + " ".join(next(words) for _ in range(4)) + "\n"
    before = {"a.md": HEAD.format("source") + joined[0], "b.md": target}
    lost = {word for place in rejected for word in re.findall(r"\w+", "\n".join(blocks[place]))} & KNOWN
    return before, {"b.md": target + joined[1] + "\n"}, lost


def encoded(files):
    return {path: text.encode() for path, text in files.items()}


def picked(draw, files):
    path = draw(st.sampled_from(sorted(files)))
    lines = files[path].split("\n")
    places = [n for n, line in enumerate(lines) if n > 5 and set(re.findall(r"\w+", line)) & KNOWN]
    return path, lines, draw(st.sampled_from(places))


@pytest.mark.more
@tries(40, 120)
@given(directories, directories)
def test_no_two_directories_make_a_check_fail(before, after):
    found = examine(between(before, after))
    assert "check-failed" not in codes(found)
    assert "check-failed" not in codes(health(after, instructions={"CLAUDE.md": "- text"}))


@tries(20, 60)
@given(directories, any_text, any_text, st.integers(0, 9))
def test_hunks_that_belong_to_other_bytes_are_looked_at_all_the_same(files, removed, added, start):
    hunk = ChangedHunk("b.md", "x", start, tuple(removed.split("\n")), start, tuple(added.split("\n")))
    assert "check-failed" not in codes(examine(Subject(files, files, [hunk])))


@tries(20, 40)
@given(directories)
def test_nothing_is_lost_where_nothing_changes(files):
    found = examine(between(files, files))
    assert not found.ledger
    assert {f.severity for f in found.findings} <= {"warn"}


@tries(20, 60)
@given(notes(), st.data())
def test_the_only_line_that_says_a_thing_never_leaves_unseen(files, data):
    path, lines, place = picked(data.draw, files)
    after = {**files, path: "\n".join(lines[:place] + lines[place + 1 :])}
    found = examine(between(encoded(files), encoded(after)))
    assert any(f.code == "unexplained-loss" and f.path == path for f in found.findings)
    assert [row.fate for row in found.ledger] == ["unexplained"]


@tries(20, 60)
@given(notes(apart=True), st.data())
def test_a_line_of_its_own_that_moves_is_never_lost(files, data):
    path, lines, place = picked(data.draw, files)
    target = data.draw(st.sampled_from(sorted(files)))
    after = {**files, path: "\n".join(lines[:place] + lines[place + 1 :])}
    body = after[target].split("\n")
    at = data.draw(st.integers(6, len(body)))
    after[target] = "\n".join([*body[:at], "", lines[place], "", *body[at:]])
    found = examine(between(encoded(files), encoded(after)))
    assert "unexplained-loss" not in codes(found)


@tries(20, 60)
@given(notes(), st.data())
def test_a_word_that_is_replaced_never_goes_unseen(files, data):
    path, lines, place = picked(data.draw, files)
    words = lines[place].split(" ")
    spots = [n for n, word in enumerate(words) if word in WORDS]
    assume(spots)
    words[data.draw(st.sampled_from(spots))] = "zebra"
    lines[place] = " ".join(words)
    found = examine(between(encoded(files), encoded({**files, path: "\n".join(lines)})))
    assert "unexplained-loss" in codes(found)


@tries(20, 40)
@given(notes(), st.data())
def test_files_merged_whole_lose_nothing(files, data):
    source, target = data.draw(st.permutations(sorted(files)))[:2]
    after = {**files, target: files[target] + "\n" + files[source].split("---\n", 2)[2]}
    del after[source]
    found = examine(between(encoded(files), encoded(after)))
    assert "unexplained-loss" not in codes(found)


@tries(20, 40)
@given(merges())
def test_a_rejected_destination_loses_nothing_unseen_whatever_its_shape(merge):
    before, decided, lost = merge
    subject = between(encoded(before), encoded(decided))
    found = examine(subject)
    told = {
        word for row in found.ledger if row.fate == "unexplained" for word in re.findall(r"\w+", row.text)
    }
    assert told & KNOWN == lost
    assert all(f.severity == "block" for f in found.findings if f.code == "unexplained-loss")
    blocked = " ".join(f.message for f in found.findings if f.code == "unexplained-loss")
    assert lost <= set(re.findall(r"\w+", blocked))
    check_answers(subject, found, told)


def check_answers(subject, found, told):
    """An answer that a question no longer gets is told: as lost to an agent or one link away, or by the ledger as gone."""
    about = {f.about for f in found.findings if f.code in {"answer-lost", "answer-linked"}}
    for one in regression.run(subject):
        answer = one.question.answer.unit
        gone = one.outcome in {"gone", "changed"} and set(re.findall(r"\w+", answer.text)) & KNOWN <= told
        linked = one.outcome == "linked" and one.where and one.where.path in about
        assert one.outcome == "answered" or gone or linked or answer.key in about


few_words = st.lists(
    st.sampled_from([*WORDS[:6], "write", "put", "the", "keep", "8080", "5"]), max_size=8
).map(" ".join)


@given(few_words, few_words)
def test_whether_words_are_lost_is_what_naming_them_says(old, new):
    assert facts.loses_words(old, new) == bool(facts.words_lost(old, new))
