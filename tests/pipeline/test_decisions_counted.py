"""The unit of counting is the decision: an operation with all its changes, or a change by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dreams.models import Hunk, Proposal
from dreams.services import review
from dreams.services.proposals import decisions
from tests.world import every_kind as kinds_world, review as review_world

pytestmark = pytest.mark.django_db
BY = review.Actor("me")


@pytest.fixture
def proposal(tmp_path: Path) -> Proposal:
    return review_world.make_proposal(review_world.make_project(tmp_path))


def hunks(proposal: Proposal) -> list[Hunk]:
    return list(Hunk.objects.filter(file__proposal=proposal).select_related("file"))


def counts(proposal: Proposal) -> decisions.Counts:
    return decisions.counts([proposal.pk])[proposal.pk]


@pytest.mark.not_on_postgresql
def test_a_merge_with_its_rows_and_a_new_memory_with_its_row_are_one_decision_each(
    proposal: Proposal,
) -> None:
    found = counts(proposal)
    assert (found.decisions, found.changes, found.undecided) == (5, len(hunks(proposal)), 5)
    assert found.words == f"5 decisions, {len(hunks(proposal))} changes"
    assert decisions.count(hunks(proposal)) == len(decisions.grouped(hunks(proposal))) == 5


@pytest.mark.not_on_postgresql
def test_a_change_without_an_operation_is_a_decision_of_its_own(proposal: Proposal) -> None:
    proposal.operations.all().delete()
    assert counts(proposal).decisions == len(hunks(proposal)) == decisions.count(hunks(proposal))


@pytest.mark.more
def test_a_renamed_file_is_one_decision_and_one_change(tmp_path: Path) -> None:
    made = kinds_world.make_proposal(kinds_world.make_project(tmp_path))
    named = made.files.get(path="project_oncall_rota.md").hunks.get()
    assert named.operation
    Hunk.objects.filter(file__proposal=made).exclude(operation=named.operation).delete()
    made.files.exclude(hunks__operation=named.operation).delete()
    rows = len([row for row in hunks(made) if row.file.path != "MEMORY.md"])
    found = counts(made)
    assert rows == 2 and found.decisions == 1 and found.changes == len(hunks(made)) - 1


@pytest.mark.not_on_postgresql
def test_each_state_is_counted(proposal: Proposal) -> None:
    learnt = review_world.hunk_with(proposal, "Releases leave")
    review.decide(proposal, [learnt], Hunk.Verdict.APPROVED, BY)
    review.decide(proposal, [review_world.hunk_with(proposal, "very short")], Hunk.Verdict.REJECTED, BY)
    review.edit(proposal, review_world.hunk_with(proposal, "Never update them"), "Something else.\n", BY)
    found = counts(proposal)
    assert (found.approved, found.rejected, found.edited, found.undecided) == (1, 1, 1, 2)
    assert (found.decided, found.taken, found.mixed) == (3, 2, 0)
    Hunk.objects.filter(pk=learnt.pk).update(verdict=Hunk.Verdict.REJECTED)
    assert counts(proposal).mixed == 1
    Hunk.objects.filter(pk=learnt.pk).update(verdict=Hunk.Verdict.PENDING)
    assert counts(proposal).undecided == 3


@pytest.mark.more
def test_many_proposals_take_as_many_queries_as_one(tmp_path: Path) -> None:
    made = [kinds_world.make_proposal(kinds_world.make_project(tmp_path / name)) for name in ("one", "two")]
    asked: list[int] = []
    for some in (made[:1], made):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            found = decisions.counts([one.pk for one in some])
        assert len(found) == len(some) and len({counted.words for counted in found.values()}) == 1
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 5


@pytest.mark.not_on_postgresql
def test_a_digest_changes_with_a_verdict_and_with_what_is_among_them(proposal: Proposal) -> None:
    rows = hunks(proposal)
    before = decisions.digest(rows)
    assert decisions.digest(list(reversed(rows))) == before != decisions.digest(rows[1:])
    review.decide(proposal, rows[:1], Hunk.Verdict.REJECTED, BY)
    assert decisions.digest(hunks(proposal)) != before


@pytest.mark.not_on_postgresql
def test_a_decision_names_the_few_lines_that_it_changes_in_a_file(proposal: Proposal) -> None:
    changed = [hunk for hunk in hunks(proposal) if hunk.file.kind == "modify"]
    two = changed[:1] * 2
    path, line = two[0].file.path, decisions.line_of(two[0])
    assert decisions.places(two) == (f"{path}, lines {line} and {line}",)
    assert decisions.places(two[:1]) == (f"{path}, line {line}",)
    assert decisions.places(changed[:1] * 3) == (f"{path}, lines {line}, {line} and {line}",)
    assert decisions.places(two * 2) == (path,)
