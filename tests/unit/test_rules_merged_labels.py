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
