"""What holds for any memory directory: no word of its own, no line unaccounted for, nothing left to do, nothing lost."""

import datetime as dt
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dreams.engines import drafts
from dreams.engines.linedates import KeptVersion, line_dates
from dreams.engines.types import LineDate
from tests.world.rules import NOON, WRITTEN, Dreamt, dream, memory, session, unaccounted
from tests.world.strategies import tries

MODERATE = tries(8, 30)

_WORD = re.compile(r"\w+")
_TELLING = re.compile(r"[\w./-]*\d[\w./-]*\w|\w+_\w+|\w+/[\w/.]+")
_OWN_WORDS = {
    "name",
    "description",
    "type",
    "metadata",
    "user",
    "feedback",
    "project",
    "reference",
    "on",
    "in",
    "the",
    "of",
    "week",
    "to",
    "memory",
    "md",
}

SUBJECTS = [
    "billing",
    "the queue",
    "API v2",
    "src/app.py",
    "`make test`",
    "worker_pool",
    "staging",
    "l'été",
    "캐시",
]
undated = st.builds(
    "{} {} {} {}".format,
    st.sampled_from(SUBJECTS),
    st.sampled_from(
        ["listens on port", "must never run before", "is limited to", "was moved yesterday to", "needs"]
    ),
    st.integers(0, 12),
    st.sampled_from(
        [
            "",
            "in production",
            "each night, and nobody changes that without a word",
            "since last week",
            "(see [[b]])",
        ]
    ),
)
statements = st.one_of(
    undated,
    undated,
    st.builds(
        str.format,
        st.sampled_from(["As of 2026-0{1}-03: {0}", "{0} (2026-0{1}-03)", "{0} next Friday"]),
        undated,
        st.integers(5, 9),
    ),
)
blocks = st.one_of(
    statements.map("- {}".format),
    statements.map("- {}.".format),
    statements,
    st.builds("- {}\n  - {}".format, statements, statements),
    st.sampled_from(
        [
            "",
            "## Staging",
            "# Title",
            "```",
            "**Why:** it broke",
            "**How to apply:** always",
            "> quoted yesterday",
            "| a | b |",
            "1. one",
            "---",
        ]
    ),
)
bodies = st.lists(blocks, max_size=7).map("\n".join)
heads = st.sampled_from(
    [
        "",
        "---\nname: {0}\ndescription: about {0} and more\ntype: project\n---\n\n",
        "---\nname: All of {0}\ndescription: about {0}\nmetadata: \n  node_type: memory\n  type: feedback\n---\n",
        "---\nmetadata:\n  pinned: true\n---\n",
        "---\nmodified: 2026-07-02\n---\n",
        "---\ncreated: 2026-06-20\n---\n",
        "---\nname: [odd\n---\n",
    ]
)
NAMES = [
    "a.md",
    "b.md",
    "project_queue.md",
    "feedback_tests.md",
    "user-role.md",
    "archive/old.md",
    "archive/2025/older.md",
    "team/x.md",
    "logs/2026/l.md",
    "2026-01-02.md",
]
hooks = st.one_of(st.just(""), statements, st.lists(statements, min_size=4, max_size=7).map("; ".join))
rows = st.builds(
    "- [{}]({}) — {}".format,
    st.sampled_from(["A", "Queue", "a.md"]),
    st.sampled_from([*NAMES, "gone.md", "Project-Queue.md", "docs/x.md"]),
    hooks,
)
indexes = st.lists(
    st.one_of(rows, rows, st.sampled_from(["# Index", "## Project", "", "prose", "- `src/app.py` — code"])),
    max_size=9,
).map("\n".join)
requests = st.builds(
    "{} {}{}".format,
    st.sampled_from(
        [
            "Remember that",
            "from now on",
            "do you remember that",
            "always check whether",
            "actually,",
            "note for the future:",
            "hi",
        ]
    ),
    statements,
    st.sampled_from(["", ".", "?", " tomorrow.", " Thanks!"]),
)


@st.composite
def directories(draw: st.DrawFn) -> dict[str, bytes]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=6))
    texts = {name: draw(heads).format(Path(name).stem) + draw(bodies) for name in names}
    if names and draw(st.booleans()):
        texts["copy_of_it.md"] = texts[names[0]]
    if draw(st.integers(0, 4)):
        texts["MEMORY.md"] = draw(indexes)
    return {name: _encoded(draw, text) for name, text in texts.items()}


def _encoded(draw: st.DrawFn, text: str) -> bytes:
    text += draw(st.sampled_from(["\n", "\n", "", "\n\n"]))
    if draw(st.integers(0, 3)) == 0:
        text = text.replace("\n", "\r\n")
    bom = b"\xef\xbb\xbf" if draw(st.integers(0, 5)) == 0 else b""
    odd = b"\xff" if draw(st.integers(0, 9)) == 0 else b""
    return bom + text.encode() + odd


prompts = st.lists(requests, max_size=5)


def dreamt(files: dict[str, bytes], said: list[str]) -> Dreamt:
    with tempfile.TemporaryDirectory() as folder:
        return dream(Path(folder), files, [session(number, words) for number, words in enumerate(said)])


def words(*texts: bytes | str) -> set[str]:
    joined = " ".join(t.decode("utf-8", "replace") if isinstance(t, bytes) else t for t in texts)
    return {word.casefold() for word in _WORD.findall(joined)}


@pytest.mark.more
@MODERATE
@given(directories(), prompts)
def test_no_word_is_used_that_stands_in_no_source(files: dict[str, bytes], said: list[str]):
    made = dreamt(files, said)
    sources = words(*files.values(), *files, *said) | _OWN_WORDS
    sources |= {part for word in sources for part in word.split("_")}
    used = words(*made.after.values())
    new_names = {word for path in made.after.keys() - files.keys() for word in words(path)}
    own = {word for word in used - sources - new_names if not re.fullmatch(r"\d{1,4}|w\d\d", word)}
    assert own == set()
    assert {part for name in new_names for part in name.split("_") if not part.isdigit()} <= sources


def found(files: dict[str, bytes], day: dt.datetime) -> dict[str, list[KeptVersion]]:
    """A directory as it is met for the first time: files alternately of that day and older."""
    ages = {path: dt.timedelta(days=50 * (number % 3)) for number, path in enumerate(sorted(files))}
    return {
        path: [KeptVersion(data, day - ages[path], day - ages[path], False)] for path, data in files.items()
    }


def applied(
    kept: dict[str, list[KeptVersion]], after: dict[str, bytes], at: dt.datetime
) -> dict[str, list[KeptVersion]]:
    """Its history once a dream of ours was written to it."""
    found = {path: kept.get(path, []) for path in after}
    return {
        path: versions
        if versions and versions[-1].data == after[path]
        else [*versions, KeptVersion(after[path], at, at, seen_change=True, ours=True)]
        for path, versions in found.items()
    }


def dreamt_over(kept: dict[str, list[KeptVersion]], said: list[str], now: dt.datetime) -> Dreamt:
    sessions = [session(number, words) for number, words in enumerate(said)]
    dates = {path: line_dates(versions, dt.UTC) for path, versions in kept.items()}
    files = {path: versions[-1].data for path, versions in kept.items()}
    with tempfile.TemporaryDirectory() as folder:
        return dream(Path(folder), files, sessions, written=dates, now=now)


@tries(10, 60)
@given(directories(), prompts, st.sampled_from(["at once", "days later", "in a copy"]))
def test_a_second_dream_on_the_result_proposes_nothing(files: dict[str, bytes], said: list[str], when: str):
    before = found(files, NOON)
    made = dreamt_over(before, said, NOON)
    later = NOON if when == "at once" else NOON + dt.timedelta(days=9)
    copy = {path: [KeptVersion(data, later, later, False)] for path, data in made.after.items()}
    again = dreamt_over(copy if when == "in a copy" else applied(before, made.after, NOON), said, later)
    assert [(e.kind, e.path, e.reason) for e in again.edits] == []


@pytest.mark.more
@MODERATE
@given(directories(), prompts)
def test_every_line_that_goes_has_a_fate_and_the_edits_tell_the_whole_story(
    files: dict[str, bytes], said: list[str]
):
    made = dreamt(files, said)
    state = {path: data.decode("utf-8", "surrogateescape") for path, data in files.items()}
    for edit in made.edits:
        assert unaccounted(edit) == []
        assert state.get(edit.path) == edit.before
        state[edit.path] = edit.after or ""
        if edit.after is None:
            del state[edit.path]
        assert edit.reason.endswith(".")
        assert edit.citations
    assert state == {path: data.decode("utf-8", "surrogateescape") for path, data in made.after.items()}
    draft = drafts.draft(made.before, made.after, made.edits)
    assert "Changed by hand." not in {operation.reason for operation in draft.operations.values()}


@pytest.mark.more
@MODERATE
@given(directories(), prompts)
def test_no_identifier_number_or_path_is_lost_and_what_is_not_ours_stays(
    files: dict[str, bytes], said: list[str]
):
    made = dreamt(files, said)
    before = "\n".join(data.decode("utf-8", "replace") for data in files.values())
    after = "\n".join(data.decode("utf-8", "replace") for data in made.after.values())
    gone = files.keys() - made.after.keys()
    names = {part for path in gone for part in (path, Path(path).stem)} | {
        "Project-Queue.md",
        "Project-Queue",
    }
    if gone:
        names.add("node_type")  # what a head says of the file itself goes with the file
    lost = {token for token in _TELLING.findall(before) if token not in after}
    assert lost - names == set()
    for path, data in files.items():
        fixed = path.startswith(("logs/", "2026")) or b"\xff" in data or b"pinned: true" in data
        if fixed:
            assert made.after.get(path) == data
    of_the_team = [edit for edit in made.edits if edit.path.startswith("team/")]
    # It is corrected, where a person told so.
    assert all(edit.after and edit.citations[0].role == "user" for edit in of_the_team)


@pytest.mark.sweep
def test_more_memories_than_an_index_holds_are_read_in_one_go(tmp_path: Path):
    files: dict[str, str | bytes] = {
        f"project_thing_{n}.md": memory(
            f"- Thing {n} listens on port {n}\n- Everything is logged to disk each night\n", name=f"Thing {n}"
        )
        for n in range(260)
    }
    made = dream(tmp_path, files, [session(1, "always " + "write a lot of words " * 800)])
    assert "260 memories are not in any index" in made.summary
    assert "merged" not in made.summary


def test_a_row_that_would_name_a_day_only_once_it_is_cut_stays_whole():
    hook = "; ".join(["billing listens on port 0", *(f"billing listens on port 0 {end}" for end in _ENDS)])
    files = {"b.md": b"x\r\n", "MEMORY.md": f"- [A](b.md) \u2014 {hook}\r\n".encode()}
    made = dreamt(files, [])
    assert dreamt(made.after, []).edits == []


_ENDS = ("in production", "since last week", "each night, and nobody changes that without a word" * 2)


# --- Values are never taken apart -------------------------------------------------------------------------------------

SHAPES = [
    "{n}/{w}",
    "{n}:{w}",
    "{w}/{n}",
    "{n}@{w}",
    "{w}@{n}",
    "10.0.{n}.7:8{n}",
    "{w}-{n}.dev",
    "v{n}.2/{w}",
]
_JOINED = re.compile(r"[\w.-]+(?:[/:@][\w.-]*\w)+")
joined = st.builds(
    lambda shape, number, word: shape.format(n=number, w=word),
    st.sampled_from(SHAPES),
    st.integers(2, 19),
    st.sampled_from(["raven", "otter", "lynx"]),
)
of_a_thing = st.sampled_from(
    [
        "The probe of MapTiles is on layer {}.",
        "MapTiles keeps its probe on layer {}, with a spare.",
        "The layer of the MapTiles probe is {}.",
        "Ask `probe-ctl` for layer {}.",
    ]
)
tellings = st.sampled_from(
    [
        "the probe of MapTiles is on layer {1} now, not {0}",
        "we moved the probe of MapTiles from layer {0} to layer {1}",
        "the probe of MapTiles is on layer {1} now",
        "the layer of the MapTiles probe is {1} now",
        "`probe-ctl` has layer {1} instead of {0}",
        "Remember that the layer of the MapTiles probe is {1}.",
    ]
)


@given(st.tuples(joined, joined, joined), st.tuples(of_a_thing, of_a_thing), tellings, st.booleans())
@tries(60, 600)
def test_no_drafted_line_joins_the_parts_of_two_values(
    values: tuple[str, str, str], lines: tuple[str, str], telling: str, is_dated: bool
) -> None:
    files = {
        "MEMORY.md": "- [A](a.md)\n- [B](b.md)\n",
        "a.md": memory(f"{lines[0].format(values[0])}\n"),
        "b.md": memory(f"{lines[1].format(values[1])}\n"),
    }
    said = telling.format(values[0], values[2])
    written = {"a.md": LineDate(dt.date(2026, 3, 1), "history", "")} if is_dated else {}
    with tempfile.TemporaryDirectory() as folder:
        made = dream(Path(folder), files, [session(1, said)], written={"b.md": WRITTEN, **written})
    known = set(_JOINED.findall(" ".join((*files.values(), said))))
    options = [option for question in made.outcome.questions for option in question.options]
    drafted = [edit.after or "" for edit in (*made.edits, *(edit for one in options for edit in one.edits))]
    assert {each for text in drafted for each in _JOINED.findall(text)} <= known
