"""What an earned policy may apply takes nothing away, whatever an engine calls it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dreams.engines import drafts, versions
from dreams.engines.types import Citation, Edit, Fate
from dreams.services.policies.routine import ROUTINE_KINDS, routine
from tests.world import rules
from tests.world.cases import each
from tests.world.strategies import tries

TYPED = Citation("transcript", "remember this", place="s.jsonl", role="user")
HEAD = "---\nname: A\ntype: project\n---\n\n"
SECRET = "The token is gh" + "p_" + "q8Rt2" * 7 + "x.\n"


def kept(edits: list[Edit], before: dict[str, str], *, by_model: bool = False) -> bool:
    """Whether all that these edits do is routine."""
    after = dict(before)
    for edit in edits:
        if edit.after is None:
            after.pop(edit.path)
        else:
            after[edit.path] = edit.after
    made = drafts.draft(
        *({path: text.encode() for path, text in side.items()} for side in (before, after)), edits
    )
    assert made.operations
    return routine(made, edits, by_model=by_model) == made.operations.keys()


def one(
    before: str | None, after: str | None, kind: str, path: str = "a.md", **more: object
) -> tuple[list[Edit], dict[str, str]]:
    edit = Edit(path, before, after, "op", kind, "Why.", **{"citations": (TYPED,), **more})  # type: ignore[arg-type]
    return [edit], {} if before is None else {path: before}


ROUTINE = {
    "a new memory": one(None, HEAD + "Builds run on ARM.\n", "learn"),
    "a line more": one(HEAD + "One.\n", HEAD + "One.\nTwo.\n", "learn"),
    "a date": one("We moved yesterday.\n", "We moved on 2026-03-01.\n", "date"),
    "a vague day": one("Due by end of next week.\n", "Due by the end of the week of 2026-03-02.\n", "date"),
    "a new row": one("# Memory\n", "# Memory\n- [A](a.md) — a\n", "index", "MEMORY.md"),
    "a row mended": one("- [A] (a.md) - what\n", "- [A](a.md) — what\n", "index", "MEMORY.md"),
}
NEVER = {
    "a file removed": one("One.\n", None, "date"),
    "an empty file removed": one("", None, "learn"),
    "a line removed": one("One.\nTwo.\n", "One.\n", "learn"),
    "a line exchanged": one("Port 5433.\n", "Port 5434.\n", "date"),
    "a word added to a dated line": one("We moved yesterday.\n", "We never moved on 2026-03-01.\n", "date"),
    "a word lost from a dated line": one("We all moved yesterday.\n", "We moved on 2026-03-01.\n", "date"),
    "a value changed beside a date": one("We moved 3 yesterday.\n", "We moved 4 on 2026-03-01.\n", "date"),
    "a row reworded": one("- [A](a.md) — always\n", "- [A](a.md) — never\n", "index", "MEMORY.md"),
    **{
        f"{old} turned to {new}": one(
            f"- [A](a.md) — retries {old} y\n", f"- [A](a.md) — retries {new} y\n", "index", "MEMORY.md"
        )
        for old, new in (
            ("≤", "≥"),
            ("x !=", "x =="),
            ("-5", "5"),
            ("~~old~~", "old"),
            ("3.5", "3:5"),
            ("a && b", "a || b"),
            ("> 2", "< 2"),
            ("$5", "€5"),
            ("+1", "1"),
        )
    },
    "a row removed": one("- [A](a.md) — a\n- [B](b.md) — b\n", "- [A](a.md) — a\n", "index", "MEMORY.md"),
    "words swapped between rows": one(
        "- [A](a.md) — always\n- [B](b.md) — never\n",
        "- [A](a.md) — never\n- [B](b.md) — always\n",
        "index",
        "MEMORY.md",
    ),
    "an index change elsewhere": one("One.\n", "One.\nTwo.\n", "index"),
    "team memory": one(None, HEAD + "Builds run on ARM.\n", "learn", "team/a.md"),
    "what the agent's log says": one(
        None,
        HEAD + "Builds run on ARM.\n",
        "learn",
        citations=(
            Citation("memory", "- Decided: builds run on ARM", place="logs/2026/03/02.md", role="log"),
        ),
    ),
    "a secret": one(None, HEAD + SECRET, "learn"),
    "a secret removed": one(SECRET + "One.\n", "The token is gone.\nOne.\n", "edit"),
    "a merge": one(HEAD + "One.\n", HEAD + "One.\nTwo.\n", "merge"),
    "an update": one("We moved yesterday.\n", "We moved on 2026-03-01.\n", "update"),
    "what the engine says is gone": one(
        "We moved yesterday.\n",
        "We moved on 2026-03-01.\n",
        "date",
        fates=(Fate("We moved yesterday.", "stated"),),
    ),
}


@each("name", ROUTINE)
def test_what_takes_nothing_away_is_routine(name: str) -> None:
    assert kept(*ROUTINE[name])


@each("name", NEVER)
def test_what_takes_something_away_or_is_shared_is_never_routine(name: str) -> None:
    assert not kept(*NEVER[name])


@each(
    "cited",
    [
        (),
        (Citation("transcript", "it runs on ARM", place="s.jsonl", role="assistant"),),
        (Citation("transcript", "", place="s.jsonl", role="user"),),
        (Citation("transcript", "shall builds run on ARM?", place="s.jsonl", role="user"),),
        (Citation("transcript", "remember this", place="s.jsonl", role="user", found=False),),
        (Citation("memory", "it runs on ARM", place="b.md"),),
    ],
)
def test_what_a_model_adds_without_a_turn_of_the_person_is_never_routine(cited: tuple[Citation, ...]) -> None:
    edits, before = one(None, HEAD + "Builds run on ARM.\n", "learn", citations=cited)
    assert not kept(edits, before, by_model=True)
    edits, before = one(None, HEAD + "Builds run on ARM.\n", "learn")
    assert kept(edits, before, by_model=True)


def test_a_new_memory_with_its_row_is_routine_and_a_removal_beside_it_is_not() -> None:
    index = "# Memory\n- [B](b.md) — b\n"
    memory = Edit("a.md", None, HEAD + "Builds run on ARM.\n", "op", "learn", "Why.", (TYPED,))
    row = Edit("MEMORY.md", index, index + "- [A](a.md) — a\n", "op", "index", "Why.")
    assert kept([memory, row], {"MEMORY.md": index}, by_model=True)
    swapped = Edit("MEMORY.md", index, "# Memory\n- [A](a.md) — a\n", "op", "index", "Why.")
    assert not kept([memory, swapped], {"MEMORY.md": index})
    other = Edit("b.md", "One.\n", "One.\nTwo.\n", "op", "edit", "Why.", (TYPED,))
    assert not kept([memory, row, other], {"MEMORY.md": index, "b.md": "One.\n"})
    gone = Edit("b.md", "One.\n", None, "op", "prune", "Why.")
    assert not kept([memory, row, gone], {"MEMORY.md": index, "b.md": "One.\n"})


MOVED = "We moved yesterday.\n"
LINES = st.sampled_from(
    [
        MOVED[:-1],
        "We moved on 2026-03-01.",
        "Never deploy on Friday.",
        "Deploy on Friday.",
        "",
        SECRET[:-1],
        "- [A](a.md) — a",
        "- [A](b.md) — a",
        "Due in two weeks.",
        "Port 5433.",
        "Port 5434.",
        "# Memory",
        "two weeks",
    ]
)
TEXTS = st.lists(LINES, max_size=6).map(lambda lines: "".join(f"{line}\n" for line in lines))
PATHS = st.sampled_from(["a.md", "MEMORY.md", "team/a.md", "notes.txt"])
SIDES = st.none() | TEXTS
CITED = st.lists(
    st.builds(
        Citation,
        st.sampled_from(["transcript", "memory"]),
        st.just("words"),
        role=st.sampled_from(["user", "assistant", ""]),
        found=st.booleans(),
    ),
    max_size=2,
).map(tuple)
KIND = st.sampled_from(["learn", "merge", "date", "index", "demote", "update", "prune", "edit"])
#: Any two texts, and such as an earned policy may apply: one with a line more, and one whose day is written out.
CHANGED = st.one_of(
    st.tuples(SIDES, SIDES, KIND),
    st.tuples(TEXTS, LINES).map(lambda drawn: (drawn[0], f"{drawn[0]}{drawn[1]}\n", "learn")),
    st.tuples(st.none(), TEXTS, st.just("learn")),
    TEXTS.map(lambda text: (f"{text}{MOVED}", text + MOVED.replace("yesterday", "on 2026-03-01"), "date")),
)
_DAYS = re.compile(r"yesterday|in two weeks|on \d{4}-\d\d-\d\d|\d{4}-\d\d-\d\d")


def statements(text: str) -> Counter[str]:
    """Its words, days aside."""
    return Counter(re.findall(r"\w+", _DAYS.sub(" ", text).casefold()))


@tries(100, 300)
@given(
    st.lists(
        st.tuples(PATHS, CHANGED, CITED, st.sampled_from(["one", "two"])),
        min_size=1,
        max_size=3,
        unique_by=lambda edit: edit[0],
    ),
    st.booleans(),
)
def test_whatever_an_engine_does_nothing_that_must_be_reviewed_is_routine(
    drawn: list[tuple[str, tuple[str | None, str | None, str], tuple[Citation, ...], str]], by_model: bool
) -> None:
    edits = [
        Edit(path, old, new, operation, kind, "Why.", cited)  # type: ignore[arg-type]
        for path, (old, new, kind), cited, operation in drawn
        if old != new
    ]
    before = {edit.path: edit.before.encode() for edit in edits if edit.before is not None}
    after = {edit.path: edit.after.encode() for edit in edits if edit.after is not None}
    made = drafts.draft(before, after, edits)
    for key in routine(made, edits, by_model=by_model):
        assert made.operations[key].kind in ROUTINE_KINDS
        assert {e.kind for e in edits if e.operation in made.operations[key].steps} <= set(ROUTINE_KINDS)
        for file in made.files:
            for hunk in (hunk for hunk in file.hunks if hunk.operation == key):
                old, new = "".join(hunk.hunk.base_lines), "".join(hunk.hunk.new_lines)
                assert file.new is not None and not file.path.startswith("team/")
                assert not statements(old) - statements(new), "a word is gone"
                assert SECRET.strip() not in old + new
                if by_model and not old.strip() and not file.path.endswith("MEMORY.md"):
                    assert any(
                        c.source == "transcript" and c.role == "user" and c.found for c in hunk.citations
                    )


def test_code_that_makes_another_kind_of_change_is_no_reason_to_start_anew() -> None:
    """Each kind has the digest of its own code; what stands in no list is the whole engine's."""
    made = {kind: versions.version("rules", kind) for kind in ROUTINE_KINDS}
    assert len(set(made.values())) == len(ROUTINE_KINDS)
    assert versions.is_current(versions.maker("rules", "", "date"), "date")
    assert not versions.is_current("rules 00000000", "date")
    assert versions.maker("anthropic", "some-model", "learn").startswith("anthropic some-model ")


def test_every_list_of_sources_is_of_a_kind_of_change_that_its_engine_makes(tmp_path: Path) -> None:
    notes = {"MEMORY.md": "", "deploys.md": f"{HEAD}Deploys go out on Fridays.\n"}
    made = rules.dream(tmp_path, notes, [rules.session(1, "Please remember that I prefer tabs.")])
    assert {("rules", edit.kind) for edit in made.edits} >= versions._MADE_IN.keys()


CODE = '''"""What it is for."""
import re

LIMIT = 3  # chosen

@property
def longest(lines: list[str], *, most: int = LIMIT) -> str | None:
    """The longest line."""
    fit = [line for line in lines if len(line) > most or line == "é"]
    return f"{max(fit)!r:>{most}} \N{GRINNING FACE}" if fit else None
'''


def test_another_comment_or_docstring_is_the_same_version_and_another_limit_is_not(tmp_path: Path) -> None:
    def digest(name: str, text: str) -> bytes:
        (tmp_path / name).write_text(text)
        return versions._read(tmp_path / name).digest

    code = digest("code.py", CODE)
    assert digest("comment.py", CODE.replace("chosen", "measured")) == code
    assert digest("docstring.py", CODE.replace("What it is for", "What else it is for")) == code
    assert digest("without.py", CODE.replace('    """The longest line."""\n', "")) == code
    assert digest("limit.py", CODE.replace("LIMIT = 3", "LIMIT = 4")) != code
    assert digest("none.py", CODE.replace("if fit else None", "if fit else 0")) != code
    assert digest("prompt.md", "Be brief.") != digest("other.md", "Be kind.")
    # The same under each version of Python: this is what 3.11 makes of it.
    assert code.hex()[:8] == "793d9d11"


@pytest.mark.more
@each(("engine", "kind"), sorted(versions._MADE_IN))
def test_the_code_that_makes_a_kind_is_there_and_reads_what_it_imports(engine: str, kind: str) -> None:
    places = {path.relative_to(versions._PACKAGE).as_posix() for path in versions._sources(engine, kind)}  # type: ignore[arg-type]
    assert set(versions._MADE_IN[engine, kind]) <= places  # type: ignore[index]
    assert "engines/rules/notes/tree.py" in places
    assert not any(place.startswith(("web/", "models/", "services/")) for place in places)
