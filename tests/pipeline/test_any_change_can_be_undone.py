"""Whatever the directory and whatever was decided: applied is what was approved, and undone is what was there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from dreams.engines import drafts
from dreams.lib.files import workspace
from dreams.models import Finding, Hunk, Project, Proposal
from dreams.services import proposals, review, rollback
from dreams.services.apply import applying
from dreams.services.memories import syncing
from tests.world import directory as world
from tests.world.manifest import manifest
from tests.world.strategies import tries

pytestmark = pytest.mark.django_db

NAMES = ["MEMORY.md", "user_role.md", "feedback_tests.md", "team/shared.md", "odd name.md"]
lines = st.sampled_from(
    [
        "one",
        "two words",
        "- [A](user_role.md) — hook",
        "",
        "---",
        "type: user",
        "é\u202f",
        "\ufeff#",
        "x" * 300,
    ]
)
line_ends = st.sampled_from(["\n", "\r\n"])
contents = st.builds(
    lambda found, end, last: (end.join(found) + last * bool(found)).encode(),
    st.lists(lines, max_size=7),
    line_ends,
    st.sampled_from(["", "\n"]),
)
directories = st.dictionaries(st.sampled_from(NAMES), st.one_of(contents, st.binary(max_size=20)), min_size=1)
verdicts = st.lists(st.sampled_from([Hunk.Verdict.APPROVED, Hunk.Verdict.REJECTED]), min_size=1, max_size=12)


def make(base: Path, files: dict[str, bytes]) -> Project:
    return world.make_project(base, files)


def propose(project: Project, after: dict[str, bytes]) -> Proposal | None:
    before = workspace.take(world.folder(project)).contents()
    draft = drafts.draft(before, after, [])
    if draft.is_empty:
        return None
    return proposals.create(
        project, proposals.ProposalOrigin(Proposal.Origin.DREAM, summary="x"), draft, before
    )


def wanted(proposal: Proposal, before: dict[str, bytes]) -> dict[str, bytes]:
    found = dict(before)
    for file in proposal.files.all():
        data = proposals.decided_bytes(file)
        if data is None:
            found.pop(file.path, None)
        else:
            found[file.path] = data
    return found


@pytest.mark.more
@tries(8, 10)
@given(before=directories, after=directories, given_verdicts=verdicts)
def test_any_decided_change_is_written_as_decided_and_undone_exactly(
    before: dict[str, bytes], after: dict[str, bytes], given_verdicts: list[Hunk.Verdict]
) -> None:
    with tempfile.TemporaryDirectory() as base:
        project = make(Path(base), before)
        tree = manifest(world.folder(project))
        proposal = propose(project, after)
        if proposal is None or proposal.findings.filter(severity="refuse").exists():
            return
        for number, hunk in enumerate(review.select_hunks(proposal)):
            review.decide(proposal, [hunk], given_verdicts[number % len(given_verdicts)], world.ME)
        review.confirm(proposal, proposal.findings.filter(severity="block"), world.ME)
        expected = wanted(proposal, before)
        try:
            report = applying.apply(proposal, world.ME)
        except review.ReviewRefused:
            # What only the decided text brings up is confirmed as a person would, seeing it.
            review.confirm(proposal, review.blocking_findings(proposal), world.ME)
            report = applying.apply(proposal, world.ME)
        assert report.complete
        assert syncing.contents(project) == workspace.take(world.folder(project)).contents() == expected
        if report.applied:
            assert rollback.rollback(proposal, world.ME).complete
        assert manifest(world.folder(project)) == tree
        assert not [name for name in os.listdir(world.folder(project)) if name.startswith(".")]
    Finding.objects.all().delete()
