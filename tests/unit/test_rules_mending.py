"""The rules engine takes back what a check would hold against it, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dreams import conf, engines
from dreams.engines import drafts
from dreams.engines.types import Edit, Job, Problem
from dreams.lib.files import workspace
from tests.world.cases import each
from tests.world.rules import NOON, Told

FILES = {
    "MEMORY.md": "- [Rel](Release-Notes.md) - how\n\n## More\n\n- [Third](third.md) - another\n",
    "third.md": "---\nname: Third\ntype: project\n---\n\nA fact about cats.\n",
    "release_notes.md": "---\nname: Release notes\ntype: project\n---\n\nReleases are cut from main.\n",
    "other.md": "---\nname: Other thing\ndescription: Something else\ntype: project\n---\n\nA fact about dogs.\n",
}


def _dream(folder: Path, blocks: bool, code: str = "x") -> tuple[dict[str, str], str, Told]:
    memory = folder / "memory"
    memory.mkdir()
    for name, text in FILES.items():
        (memory / name).write_text(text)
    told = Told()

    def examine(edits: Sequence[Edit]) -> Sequence[Problem]:
        made = drafts.draft(scratch.snapshot.contents(), scratch.contents(), edits)
        about = [h.operation for file in made.files for h in file.hunks if "other.md" in h.hunk.added]
        return [Problem(code, "Does not hold.", "", "MEMORY.md", 1, blocks, frozenset(about))]

    with workspace.Workspace.create(folder / "scratch", workspace.take(memory)) as scratch:
        job = Job("p", None, scratch, [], {}, conf.Config(), NOON, NOON.tzinfo or NOON.tzinfo, examine)  # type: ignore[arg-type] # NOON has a zone
        outcome = engines.get("rules").run(job, told)
        after = {path: data.decode() for path, data in scratch.contents().items()}
    return after, outcome.summary, told


@each(("code", "blocks"), [("x", True), ("date-without-source", False)])
def test_an_operation_that_a_check_blocks_or_with_a_wrong_day_is_taken_back_and_the_others_stay(
    tmp_path: Path, code: str, blocks: bool
) -> None:
    after, summary, told = _dream(tmp_path, blocks, code)
    assert "release_notes.md" in after["MEMORY.md"]
    assert "other.md" not in after["MEMORY.md"]
    named = "1 change that failed the checks: MEMORY.md, “- [Other thing](other.md) - Something else”: Does not hold."
    assert f"Undid {named}" in summary and told.turns[-1][1].endswith(f"undid {named}")
    assert "Repaired 1 index row." in summary and "added" not in summary


def test_a_warning_is_left_to_the_person(tmp_path: Path) -> None:
    after, summary, _ = _dream(tmp_path, blocks=False)
    assert "other.md" in after["MEMORY.md"]
    assert "Undid" not in summary and "Repaired 1 index row, added 1" in summary
