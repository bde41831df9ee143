"""What a merged memory's frontmatter says does not end as a line of the other one's text."""

from __future__ import annotations

from pathlib import Path

from dreams.lib import memdir
from tests.world.rules import dream, memory

PORT = "The staging database Kestrel listens on port 5433 behind the Heron proxy.\n"
AGAIN = "Staging database Kestrel listens on port 5433, behind Heron proxy.\n"


def merged(folder: Path, kept: str, gone: str) -> memdir.Document:
    """The memory that stays where the question about both is answered with "merge"."""
    files = {"MEMORY.md": "- [Kestrel](kestrel.md)\n", "kestrel.md": kept, "staging_2.md": gone}
    (asked,) = [each for each in dream(folder, files).outcome.questions if each.kind == "same"]
    edits = {edit.path: edit.after for edit in asked.options[0].edits}
    assert edits["staging_2.md"] is None
    return memdir.parse((edits.get("kestrel.md") or kept).encode())


def test_a_description_that_says_more_becomes_part_of_the_other_description(tmp_path: Path) -> None:
    kept = memory(PORT, "project", "Kestrel", description="The staging database")
    gone = memory(AGAIN, "project", "Staging", description="Owned by Carla Castellanos since 2025")
    document = merged(tmp_path, kept, gone)
    assert "Castellanos" not in document.body
    front = document.frontmatter
    assert front and front.description == "The staging database. Owned by Carla Castellanos since 2025"


def test_a_description_is_taken_over_where_the_other_has_none(tmp_path: Path) -> None:
    kept = memory(PORT, "project", "Kestrel")
    gone = memory(AGAIN, "project", "Staging", description="Owned by Carla Castellanos since 2025")
    document = merged(tmp_path, kept, gone)
    assert document.body == memdir.parse(kept.encode()).body
    front = document.frontmatter
    assert front and front.description == "Owned by Carla Castellanos since 2025"


def test_of_two_reasons_in_nearly_the_same_words_a_merge_leaves_the_fuller_one(tmp_path: Path) -> None:
    rule = "Never start the northern crane unless the harbour master gives his word.\n"
    why = (
        "**Why:** The harbour master wants full control over the crane. Starting it early can hurt his crew."
    )
    files = {
        "MEMORY.md": "- [Crane](crane.md)\n- [Start](start_2.md)\n",
        "crane.md": memory(f"{rule}\n{why}\n", "feedback", "Crane"),
        "start_2.md": memory(f"{rule}\n{why} It replaces an older rule.\n", "feedback", "Start"),
    }
    for asked in dream(tmp_path, files).outcome.questions:
        after = files | {edit.path: edit.after or "" for edit in asked.options[0].edits}
        told = "".join(after.values())
        assert (told.count("full control"), told.count("an older rule")) == (1, 1)


def test_the_proof_of_a_removed_copy_names_the_line_where_its_text_begins(tmp_path: Path) -> None:
    text = memory(PORT, "project", "Kestrel")
    rows = "- [Kestrel](kestrel.md)\n- [Kestrel](kestrel_2.md)\n"
    files = {"MEMORY.md": rows, "kestrel.md": text, "kestrel_2.md": text}
    gone = next(edit for edit in dream(tmp_path, files).edits if edit.after is None)
    (cited,) = gone.citations
    assert cited.line_no is not None
    assert text.splitlines()[cited.line_no - 1] == PORT.strip()
