"""How a transcript becomes evidence."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dreams.lib.prose.claims import check, read
from dreams.lib.prose.claims.anchors import claim_of, number_of, pieces, terms_in, terms_of
from tests.world.cases import each
from tests.world.strategies import tries
from tests.world.transcripts import LINES, said, tool_call, tool_result, write


def test_a_tool_result_knows_the_call_that_it_answers(tmp_path: Path) -> None:
    evidence = read(write(tmp_path / "a.jsonl"))
    place = next(i for i, unit in enumerate(evidence.units) if "func mergeEntries" in unit.text)
    heading = evidence.headings[evidence.units[place].part]
    assert any("reader.go" in evidence.units[unit].text for unit in heading)
    assert any(place in span for span in evidence.below(heading.start))


def test_what_a_tool_is_given_is_read_unescaped(tmp_path: Path) -> None:
    lines = [tool_call("Write", file_path="/a/b.py", content='def f():\n    return "x\\ty"\n')]
    texts = [unit.text for unit in read(write(tmp_path / "a.jsonl", lines)).units]
    assert 'return "x\\ty"' in texts


def test_damaged_lines_cost_only_themselves(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl")
    whole = path.read_bytes()
    path.write_bytes(b"\x00\xff not json\n[1, 2]\n\n" + whole + b'{"type": "user", "message": {"con')
    evidence = read(path)
    assert {unit.line for unit in evidence.units} == {number + 3 for number in range(1, len(LINES) + 1)}


def test_a_text_that_comes_twice_is_kept_once(tmp_path: Path) -> None:
    long = "\n".join(f"row {number} of the table" for number in range(40))
    once = read(write(tmp_path / "a.jsonl", [tool_result("x", long)]))
    twice = read(write(tmp_path / "b.jsonl", [tool_result("x", long), tool_result("y", long)]))
    assert len(once.units) == len(twice.units)


def test_a_sub_agents_words_in_a_progress_line_are_evidence(tmp_path: Path) -> None:
    told = {"type": "agent_progress", "message": said("user", "The lamp is on pin 17.")}
    line: dict[str, object] = {"type": "progress", "data": told}
    assert check(read(write(tmp_path / "a.jsonl", [line])), "The lamp is on pin 17").answer == "supported"


def test_only_what_a_person_typed_is_a_persons_word(tmp_path: Path) -> None:
    typed = said("user", "Use tabs.<system-reminder>Lamp 3 is lit.</system-reminder>")
    lines = [
        typed,
        said("user", "The lamp is on pin 17.") | {"isCompactSummary": True},
        said("user", "The lamp is on pin 18.") | {"isMeta": True},
        tool_call("WebFetch", url="https://lamps.example", id="w"),
        tool_result("w", "Lamps are cheap."),
        tool_call("Bash", command="lamps", id="b"),
        tool_result("b", "17 lamps"),
    ]
    texts = {unit.text: unit.role for unit in read(write(tmp_path / "a.jsonl", lines)).units}
    assert texts["Use tabs."] == "user"
    assert texts["<system-reminder>Lamp 3 is lit.</system-reminder>"] == "system"
    assert texts["The lamp is on pin 17."] == "assistant"
    assert texts["The lamp is on pin 18."] == "system"
    assert (texts["Lamps are cheap."], texts["17 lamps"]) == ("web", "tool")


def test_what_a_person_said_is_shown_before_a_tool_and_what_only_tools_say_is_marked(tmp_path: Path) -> None:
    printed = "The billing worker listens on port 8125."
    lines = [tool_call("Bash", command="status", id="b"), tool_result("b", printed)]
    only = check(read(write(tmp_path / "a.jsonl", lines)), printed)
    both = check(read(write(tmp_path / "b.jsonl", [*lines, said("user", printed)])), printed)
    assert (only.answer, only.only_foreign, only.evidence[0].role) == ("supported", True, "tool")
    assert (both.answer, both.only_foreign, both.evidence[0].role) == ("supported", False, "user")


@each(
    ("text", "numbers"),
    [
        ("reader.go:84:12: 3 times", {"n:3"}),
        ("make test 2>&1 2>/dev/null", set()),
        ("a > 2 and v3.12.1", {"n:2", "n:3.12.1"}),
    ],
)
def test_numbers_that_are_said_of_something_are_terms(text: str, numbers: set[str]) -> None:
    assert {term for term in terms_in(text) if term[0] == "n"} == numbers
    assert terms_in(text) == {term for piece in pieces(text) for term in piece.terms}


@each("name", ["list.py", "facts.jsonl", "plan.ipynb", "dist.tar.gz"])
def test_the_name_of_a_file_is_a_name_however_long_its_ending(name: str) -> None:
    (anchor,) = claim_of(f"The rows are kept in {name} now").anchors
    assert (anchor.kind, anchor.text) == ("code", name)


def test_code_and_prose_meet_in_the_same_terms() -> None:
    assert set(terms_of("countLines")) >= {"i:countlines", *terms_of("count"), *terms_of("lines")}
    assert set(terms_of("count_lines")) >= {*terms_of("counting"), *terms_of("line")}
    assert number_of("1,000") == number_of("1_000") == number_of("1000")
    assert number_of("30s") == "30"
    assert [piece.terms[0] for piece in pieces("at 02:40 keep three")] == [
        "n:02:40",
        *terms_of("keep"),
        "n:3",
    ]


@tries(20, 40)
@given(st.lists(st.text(max_size=80), max_size=6), st.text(max_size=120), st.integers(0, 8))
def test_no_text_breaks_it_and_quotes_come_from_before_the_line(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], claim: str, line: int
) -> None:
    evidence = read(write(tmp_path_factory.mktemp("c") / "a.jsonl", [said("user", text) for text in texts]))
    found = check(evidence, claim, line)
    assert found.answer in {"supported", "unsupported", "contradicted"}
    assert all(quote.line < line for quote in found.evidence)
    assert json.dumps([quote.quote for quote in found.evidence])
