"""Whatever is decided of a merge: no fact of the old text is missing from the decided one without a row or a block."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dreams.engines.types import Edit, Fate
from dreams.lib.files import workspace
from dreams.models import Hunk, LedgerEntry, Proposal
from dreams.services import proposals, review
from dreams.services.apply import applying
from dreams.services.memories import syncing
from tests.world import directory as world
from tests.world.strategies import tries

pytestmark = pytest.mark.django_db

SYLLABLES = ["ka", "lo", "mi", "ter", "von", "sha", "bri", "dun", "pel", "qua"]
WORDS = [a + b + c for a in SYLLABLES for b in SYLLABLES for c in SYLLABLES if a != b != c]
KNOWN = set(WORDS)
HEAD = "---\nname: {}\ndescription: notes\ntype: project\n---\n\n"
VERDICTS = ["approve", "reject", "edit", "leave"]
Files = dict[str, str]


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text)) & KNOWN


def notes(chance: random.Random) -> tuple[Files, dict[str, list[str]]]:
    """Three files of lines whose words stand nowhere else, and the lines of each."""
    free = iter(chance.sample(WORDS, 160))
    lines = {
        name: [" ".join(next(free) for _ in range(4)) for _ in range(4)] for name in ("a.md", "b.md", "c.md")
    }
    return {name: body(name, found) for name, found in lines.items()}, lines


def body(name: str, lines: list[str]) -> str:
    return HEAD.format(name[0]) + "\n".join(f"- {line}\n" for line in lines)


def merged(files: Files, lines: dict[str, list[str]], chance: random.Random) -> list[Edit]:
    """a.md goes into b.md and c.md, line by line and half of it in one operation; one line gets lost on the way."""
    lost, into_b, into_c = lines["a.md"][0], lines["a.md"][1:3], lines["a.md"][3:]
    edits = [moved(files, "a.md", None, [*into_b, *into_c], lost)]
    for name, taken in (("b.md", into_b), ("c.md", into_c)):
        together = "merge" if chance.random() < 0.5 else f"into {name}"
        after = files[name] + "\n".join(f"\n- {line}" for line in taken) + "\n"
        edits.append(Edit(name, files[name], after, together, "merge", "Merged."))
    return edits


def moved(files: Files, name: str, after: str | None, kept: list[str], lost: str) -> Edit:
    fates = [Fate(f"- {line}", "merged-into", "b.md", f"- {line}") for line in kept]
    return Edit(
        name,
        files[name],
        after,
        "merge",
        "merge",
        "Merged.",
        (),
        (*fates, Fate(f"- {lost}", "kept-in", "b.md", "- x")),
    )


def decide(proposal: Proposal, verdicts: list[str], chance: random.Random) -> None:
    for row, verdict in zip(
        Hunk.objects.filter(file__proposal=proposal).order_by("pk"), verdicts, strict=False
    ):
        if verdict == "edit":
            shown = next(lines for hunk, lines in proposals.text_hunks(row.file) if hunk.pk == row.pk)
            kept = [line for line in shown.added.splitlines() if chance.random() < 0.6]
            review.edit(proposal, row, "\n".join(kept), world.ME)
        elif verdict != "leave":
            wanted = Hunk.Verdict.APPROVED if verdict == "approve" else Hunk.Verdict.REJECTED
            review.decide(proposal, [row], wanted, world.ME)


def decided(proposal: Proposal, files: Files) -> Files:
    """The directory as the verdicts want it."""
    wanted = {file.path: proposals.decided_bytes(file) for file in proposal.files.all()}
    after = {**{name: text.encode() for name, text in files.items()}, **wanted}
    return {name: data.decode() for name, data in after.items() if data is not None}


def check_accounts(proposal: Proposal, missing: set[str]) -> None:
    """Each missing word stands in a row that says so, and blocks unless a person's own edit took it."""
    rows = LedgerEntry.objects.filter(hunk__file__proposal=proposal)
    told = {word: fate for text, fate in rows.values_list("text", "fate") for word in words(text)}
    blocked = words(" ".join(proposal.findings.filter(severity="block").values_list("message", flat=True)))
    for word in missing:
        assert told[word] in {"unexplained", "stated"}, "what is missing is not called kept"
        assert told[word] == "stated" or word in blocked


@pytest.mark.more
@tries(5, 10)
@given(seed=st.integers(0, 10_000), verdicts=st.lists(st.sampled_from(VERDICTS), min_size=3, max_size=6))
def test_no_fact_leaves_a_decided_text_without_a_row_or_a_block(seed: int, verdicts: list[str]) -> None:
    chance = random.Random(seed)  # noqa: S311 - chosen by the test's own seed
    files, lines = notes(chance)
    with tempfile.TemporaryDirectory() as base:
        project = world.make_project(Path(base), files)
        proposal = world.propose(project, *merged(files, lines, chance))
        decide(proposal, verdicts, chance)
        after = decided(proposal, files)
        missing = words(" ".join(files.values())) - words(" ".join(after.values()))
        proposals.examine(proposal, syncing.contents(project), undecided=False)
        check_accounts(proposal, missing)
        try:
            applying.apply(proposal, world.ME)
        except review.ReviewRefused:
            assert workspace.take(world.folder(project)).contents() == {
                n: t.encode() for n, t in files.items()
            }
        else:
            assert not review.blocking_findings(proposal)
