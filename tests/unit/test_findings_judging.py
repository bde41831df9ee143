"""What sessions say is told of the part that they say; what comes from memory itself is not looked for in them."""

from __future__ import annotations

from dataclasses import replace

from dreams.engines.types import Citation
from dreams.findings.base import JudgedStatement, SessionAnswer
from dreams.findings.directories import between
from dreams.findings.evidence import judge
from dreams.lib.prose import claims

SAID = "The importer of the shop reads 500 rows per batch from the bucket."
HEAD = "---\ntype: project\n---\n\n"


def _heard(*said: str):
    evidence = claims.SessionText()
    for line, text in enumerate(said, start=1):
        evidence.add(text, line, "user", prose=True)

    def ask(text: str) -> SessionAnswer:
        found = claims.check(evidence, text)
        quote = found.evidence[0].quote if found.evidence else ""
        place = Citation("transcript", quote, "s.jsonl", role="user", line_no=1) if quote else None
        return SessionAnswer(found.answer, found.why, place)

    return ask


def judged(
    before: dict[str, str], after: dict[str, str], *citations: Citation, by_hand: bool = False
) -> list[JudgedStatement]:
    files = ({path: text.encode() for path, text in each.items()} for each in (before, after))
    subject = between(*files)
    hunks = [replace(hunk, citations=citations, by_hand=by_hand) for hunk in subject.hunks]
    return judge(replace(subject, hunks=hunks, heard=_heard(SAID, "Petra likes cake.")))


def answers(found: list[JudgedStatement]) -> list[tuple[str, str]]:
    return [(one.text, one.heard.answer) for one in found]


def test_what_the_quote_says_whole_is_supported_as_one() -> None:
    found = judged({}, {"a.md": f"{HEAD}{SAID}\n"})
    assert answers(found) == [(SAID, "supported")]


def test_what_an_edit_adds_is_judged_by_itself() -> None:
    for added in ("mails the depot in Lisbon each night", "failed batches are thrown away in silence"):
        line = f"{SAID.rstrip('.')} and {added}."
        found = judged({}, {"a.md": f"{HEAD}{line}\n"}, by_hand=True)
        assert answers(found) == [(SAID.rstrip("."), "supported"), (f"{added}.", "unsupported")]


def test_what_only_turns_a_sentence_round_is_not_taken_apart() -> None:
    line = "Per batch the importer of the shop reads 500 rows from the bucket."
    assert answers(judged({}, {"a.md": f"{HEAD}{line}\n"})) == [(line, "supported")]


def test_a_change_that_rests_on_memory_is_not_looked_for_in_sessions() -> None:
    merged = "The depot in Lisbon is cleaned on Fridays by Ana and Tom."
    before = {"a.md": f"{HEAD}The depot in Lisbon is cleaned by Ana.\n"}
    after = {"a.md": f"{HEAD}{merged}\n"}
    for source in ("memory", "file", "history", "repository"):
        assert judged(before, after, Citation(source, "cleaned on Fridays", "b.md")) == []
    assert answers(judged(before, after, Citation("transcript", SAID, "s.jsonl"))) == [
        (merged, "unsupported")
    ]
    by_hand = judged(before, after, Citation("memory", "cleaned on Fridays", "b.md"), by_hand=True)
    assert answers(by_hand) == [(merged, "unsupported")]


def test_a_row_of_the_index_says_what_its_file_says() -> None:
    row = "# Memory\n\n- [Depot](depot.md) — in Lisbon, and cleaned on Fridays\n"
    files = {"depot.md": f"{HEAD}The depot in Lisbon is cleaned on Fridays.\n"}
    assert judged(files, {**files, "MEMORY.md": row}) == []


def test_what_memory_said_elsewhere_is_not_looked_for_either() -> None:
    line = "The depot in Lisbon is cleaned on Fridays by Ana, who has the key."
    before = {"a.md": f"{HEAD}{line}\n", "b.md": HEAD}
    after = {"a.md": HEAD, "b.md": f"{HEAD}The depot in Lisbon is cleaned on Fridays by Ana.\n"}
    assert judged(before, after) == []
