"""One dream through its stages: every page, command and message tells the same of it, in decisions."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Edit
from dreams.lib.files import workspace
from dreams.models import DreamRun, Finding, Hunk, Operation, Proposal
from dreams.services import proposals, review, rollback
from dreams.services.apply import applying
from dreams.services.memories import syncing
from dreams.services.notify import digest
from dreams.services.rollback import Selection
from tests.world import directory as world, review as desk

pytestmark = pytest.mark.django_db

ALL = "5 decisions, 8 changes"
PROPOSED = "Proposes to learn 1 thing, merge 1 duplicate, update 2 statements, make 1 index change"
HALF = "3 of 5 decided, nothing is written yet; 1 rejected"
WRITTEN = "Merged 1 duplicate, updated 2 statements, made 1 index change; 1 rejected"
PART_UNDONE = "Merged 1 duplicate, updated 2 statements; 1 undone, 1 rejected"
UNDONE = "All of it was undone; 1 rejected"


@pytest.fixture
def proposal(tmp_path: Path) -> Proposal:
    return desk.make_proposal(desk.make_project(tmp_path))


def decide(proposal: Proposal, words: str, verdict: str) -> None:
    review.decide(proposal, review.with_parts([desk.hunk_with(proposal, words)]), verdict, world.ME)


def as_text(page: str) -> str:
    """What a person reads of a page, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


class Places:
    """Where something is told of this dream."""

    def __init__(self, browser: Client, proposal: Proposal, capsys: pytest.CaptureFixture[str]) -> None:
        self.browser, self.proposal, self.capsys = browser, proposal, capsys
        assert proposal.dream is not None
        self.dream: DreamRun = proposal.dream

    def page(self, name: str, *args: object, query: str = "") -> str:
        return as_text(self.browser.get(reverse(name, args=args) + query).content.decode())

    def printed(self, *command: str) -> str:
        self.capsys.readouterr()
        call_command(*command)
        return " ".join(self.capsys.readouterr().out.split())

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Those that tell what came of it, whatever its stage."""
        yield "dreams list", self.page("dreams")
        yield "dream page", self.page("dream", self.dream.public_id)
        yield "project page", self.page("project", self.proposal.project_id)
        yield "timeline", self.page("project", self.proposal.project_id, query="?show=timeline&kind=dreams")
        yield "review page", self.page("review", self.proposal.public_id)
        yield "proposal command", self.printed("proposal", self.proposal.public_id)
        yield "proposal --json", self.printed("proposal", self.proposal.public_id, "--json")

    def sizes(self) -> Iterator[tuple[str, str]]:
        """Those that tell how large it is."""
        yield "dream page", self.page("dream", self.dream.public_id)
        yield "review page", self.page("review", self.proposal.public_id)

    def waiting(self) -> Iterator[tuple[str, str]]:
        """Those that tell it only while it waits."""
        yield "inbox", self.page("inbox")
        yield "digest", " ".join(digest.collect(timezone.now()).as_text().split())


@pytest.fixture
def places(browser: Client, proposal: Proposal, capsys: pytest.CaptureFixture[str]) -> Places:
    return Places(browser, proposal, capsys)


def missing(told: Iterator[tuple[str, str]], said: str) -> list[str]:
    """The places that do not say it; a sentence may go on in lower case behind another word."""
    tail = said[1:]
    return [name for name, text in told if tail not in text]


def half_decided(proposal: Proposal) -> None:
    decide(proposal, "PostgreSQL 16", Hunk.Verdict.APPROVED)
    decide(proposal, "reference_runbook", Hunk.Verdict.APPROVED)
    decide(proposal, "Releases leave on Tuesdays", Hunk.Verdict.REJECTED)


def written(proposal: Proposal) -> None:
    half_decided(proposal)
    decide(proposal, "very short", Hunk.Verdict.APPROVED)
    decide(proposal, "Never update them", Hunk.Verdict.APPROVED)
    for _ in range(3):
        review.confirm(proposal, proposal.findings.filter(severity=Finding.Severity.BLOCK), world.ME)
    assert applying.apply(proposal, world.ME).complete
    proposal.refresh_from_db()


def one_undone(proposal: Proposal) -> None:
    written(proposal)
    hunk = desk.hunk_with(proposal, "reference_runbook")
    rollback.rollback(proposal, world.ME, Selection(hunk_ids=(hunk.hunk_id,)))


def all_undone(proposal: Proposal) -> None:
    one_undone(proposal)
    rollback.rollback(proposal, world.ME)


@pytest.mark.more
@pytest.mark.parametrize(
    ("reach", "said"),
    [
        (lambda proposal: None, PROPOSED),
        pytest.param(half_decided, HALF, marks=pytest.mark.sweep),
        (written, WRITTEN),
        pytest.param(one_undone, PART_UNDONE, marks=pytest.mark.sweep),
        (all_undone, UNDONE),
    ],
    ids=["proposed", "half decided", "written", "one undone", "all undone"],
)
def test_every_place_tells_the_same_of_a_dream(
    places: Places, proposal: Proposal, reach: Callable[[Proposal], None], said: str
) -> None:
    reach(proposal)
    assert missing(places.sentences(), said) == []
    assert missing(places.sizes(), ALL) == []


@pytest.mark.more
def test_while_it_waits_the_inbox_and_the_digest_tell_the_same(places: Places, proposal: Proposal) -> None:
    assert missing(places.waiting(), f"{ALL} in 5 files") == []
    several = places.page("bulk", query=f"?proposal={proposal.public_id}&verdict=reject")
    assert ALL in several
    half_decided(proposal)
    assert missing(places.waiting(), "2 of 5 decisions left") == []


def test_what_remains_of_a_decided_proposal_is_its_submit_and_each_place_says_and_offers_it(
    places: Places, proposal: Proposal
) -> None:
    link = f'href="{reverse("review", args=[proposal.public_id])}"'
    told = {
        "gates": lambda: places.printed("gates", str(proposal.project_id)),
        "project": lambda: places.page("project", proposal.project_id),
        "projects": lambda: places.page("projects"),
        "inbox": lambda: places.page("inbox"),
        "dreams": lambda: places.page("dreams"),
        "dream": lambda: places.page("dream", places.dream.public_id),
    }
    offers = re.compile(re.escape(link) + r"[^>]*>(?:\s*<svg.*?</svg>)?\s*Submit\b", re.DOTALL)
    assert not [name for name, tell in told.items() if "submit it first" in tell()]
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.REJECTED, world.ME)
    gate = f"Proposal {proposal.public_id} is decided but not submitted yet; submit it first."
    assert gate in told["gates"]() and told["project"]().count(gate) == 1
    assert "It is decided, but not submitted yet." in told["projects"]()
    assert "Everything is decided; nothing is written yet." in told["inbox"]()
    for name in ("project", "projects", "dreams", "dream"):
        args = {"project": [proposal.project_id], "dream": [places.dream.public_id]}.get(name, [])
        page = places.browser.get(reverse(name, args=args)).content.decode()
        assert offers.search(page), name
        assert "waiting for a review" not in page, name


@pytest.mark.more
def test_a_memory_that_is_as_it_was_before_is_not_named_with_what_was_learnt(
    places: Places, proposal: Proposal
) -> None:
    written(proposal)
    rollback.rollback(proposal, world.ME, Selection(paths=("user_role.md",)))
    for text in (places.page("inbox"), places.page("project", proposal.project_id, query="?show=timeline")):
        assert ": “Testing”, “Tests, again”; 1 undone" in text


@pytest.mark.more
def test_what_was_written_and_undone_is_told_in_the_same_numbers(places: Places, proposal: Proposal) -> None:
    one_undone(proposal)
    project = proposal.project_id
    both = [places.page("inbox"), places.page("project", project, query="?show=timeline&kind=writes")]
    for text in both:
        assert "Merged 1 duplicate, updated 2 statements: “Testing”, “Tests, again”, “Role”; 1 undone" in text
        assert "Undid 1 decision: “Testing”" in text
    reviews = places.page("project", project, query="?show=timeline&kind=reviews")
    assert "Reviewed 5 decisions: 4 approved, 1 rejected" in reviews
    assert "3 decisions, 5 changes" in places.page("undo", proposal.public_id)
    rollback.rollback(proposal, world.ME)
    assert "Undone: merged 1 duplicate, updated 2 statements, made 1 index change" in places.page("inbox")
    assert "Undid 3 decisions" in places.page("inbox")
    assert "improved" not in places.page("inbox").lower()


@pytest.mark.more
def test_its_proposal_is_told_as_one_in_the_title_only_while_it_waits(
    places: Places, proposal: Proposal
) -> None:
    assert "1 waiting" in places.page("inbox")
    written(proposal)
    assert "0 waiting" in places.page("inbox") and "1 waiting" not in places.page("inbox")


@pytest.mark.more
def test_an_edit_says_what_it_counts_and_an_index_change_names_the_index_once(
    tmp_path: Path, browser: Client
) -> None:
    project = desk.make_project(tmp_path)
    before = workspace.take(syncing.memory_dir(project)).contents()
    row = f"{desk.INDEX}- [Runbook](reference_runbook.md) — in the wiki\n"
    step = Edit("MEMORY.md", desk.INDEX, row, "row", "index", "It was in no index.")
    origin = proposals.ProposalOrigin(
        Proposal.Origin.DREAM, summary="A row.", dream=desk.make_dream(project)[0]
    )
    drafted = drafts.draft(before, {**before, "MEMORY.md": row.encode()}, [step])
    made = proposals.create(project, origin, drafted, before)
    decide(made, "Runbook", "approved")
    applying.apply(made, world.ME)
    page = as_text(browser.get("/").content.decode())
    assert "Made 1 index change" in page and "index change: the index" not in page
    Operation.objects.update(kind=Operation.Kind.EDIT)
    page = as_text(browser.get("/").content.decode())
    assert "Edited 1 place: the index" in page


def test_what_is_to_confirm_of_a_dream_is_counted_alike_by_inbox_digest_and_its_page(
    places: Places, proposal: Proposal
) -> None:
    assert (
        missing(
            [*places.waiting(), ("dream page", places.page("dream", places.dream.public_id))], "_1 to confirm"
        )
        == []
    )
    half_decided(proposal)  # rejected: nobody has to confirm it any more
    told = dict(places.waiting()) | {"dream page": places.page("dream", places.dream.public_id)}
    assert [name for name, text in told.items() if "to confirm" in text] == []
    assert [name for name, text in told.items() if "3 warnings" not in text] == []


def test_an_undo_counts_its_own_decisions_only_while_they_are_made(
    places: Places, proposal: Proposal
) -> None:
    all_undone(proposal)
    last = Proposal.objects.filter(origin=Proposal.Origin.ROLLBACK).latest("pk")
    assert "Undid 3 decisions" in places.page("project", proposal.project_id, query="?show=timeline")
    assert "5 changes in 4 files" in (text := places.page("review", last.public_id))
    assert "2 decisions" not in text
