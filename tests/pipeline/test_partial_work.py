"""What a dream had changed before it stopped: kept as it happens, proposed only when a person asks, and swept."""

from __future__ import annotations

import datetime as dt
import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, strategies as st

from dreams.engines.types import Citation, Edit, EngineTurn, Fate, Job, Reporter
from dreams.lib import locks
from dreams.lib.files import text
from dreams.management.base import Refused
from dreams.models import (
    AuditEntry,
    DreamRun,
    Evidence,
    Hunk,
    Override,
    Policy,
    Project,
    Proposal,
    Session,
    WorkStep,
    WorkText,
)
from dreams.services import dreaming, proposals, review, rollback
from dreams.services.apply import applying
from dreams.services.dreaming import unfinished
from tests.world import directory as world, engines
from tests.world.model_server import ModelServer, Script, ScriptedReply, Use, status
from tests.world.strategies import tries

QUOTE = "Snapshots are reviewed by hand."
pytestmark = pytest.mark.django_db(transaction=True)


def wrote(path: str, content: str, quote: str = QUOTE) -> ScriptedReply:
    given = {
        "file_path": f"/memory/{path}",
        "content": content,
        "reason": "Said so.",
        "citations": [{"session": "feedback_testing.md", "quote": quote}],
    }
    return ScriptedReply((Use("Write", given),))


def edited(old: str, new: str) -> ScriptedReply:
    given = {
        "file_path": "/memory/feedback_testing.md",
        "old_string": old,
        "new_string": new,
        "reason": "It moved.",
        "citations": [{"session": "feedback_testing.md", "quote": QUOTE}],
    }
    return ScriptedReply((Use("Edit", given),))


FACT = "---\nname: X\ntype: feedback\n---\n\nThe queue is drained by hand.\n"
WRITE = wrote("feedback_x.md", FACT)


def stopped(project: Project, monkeypatch: pytest.MonkeyPatch, *replies: Any) -> DreamRun:
    """A dream over real HTTP that ends with a refused key after these replies."""
    with ModelServer(Script([*replies, status(401)])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        asked = dreaming.request(project, DreamRun.Trigger.COMMAND, engine="anthropic", forced=True)
        run = dreaming.run_dream(asked.pk)
    assert run is not None and run.status == "failed"
    return run


def propose(run: DreamRun) -> Proposal:
    return unfinished.propose(run, "owner")


def test_work_that_was_stopped_becomes_an_ordinary_proposal_when_asked_for(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = locks.last_consolidated_ns(world.folder(project))
    run = stopped(project, monkeypatch, WRITE, edited("make reset", "make fresh"))
    assert not Proposal.objects.exists(), "never by itself"
    assert unfinished.files(run) == ["feedback_testing.md", "feedback_x.md"]
    made = propose(run)
    assert (made.partial, made.state, made.origin, made.by_policy) == (True, "open", "dream", False)
    assert "Unfinished" in made.summary and "2 steps" in made.summary
    assert set(made.operations.values_list("reason", flat=True)) == {"Said so.", "It moved."}
    quotes = Evidence.objects.filter(hunk__file__proposal=made)
    assert {quote.quote for quote in quotes} == {QUOTE} and all(quote.found for quote in quotes)
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    made.findings.filter(severity="block").update(confirmed_at=timezone.now())
    applying.apply(made, world.ME)
    assert "make fresh" in (world.folder(project) / "feedback_testing.md").read_text()
    assert locks.last_consolidated_ns(world.folder(project)) == clock, "only a completed dream moves it"
    assert not Session.objects.exclude(used_bytes=0).exists(), "no session was read to its end"
    assert AuditEntry.objects.filter(action="dream.partial", object_id=run.public_id).exists()


@pytest.mark.more
def test_undone_or_superseded_it_gives_no_session_back_that_it_never_used(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later dream may have read them to the end."""
    made = propose(stopped(project, monkeypatch, WRITE))
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    made.findings.filter(severity="block").update(confirmed_at=timezone.now())
    applying.apply(made, world.ME)
    Session.objects.update(used_bytes=7)
    assert rollback.rollback(made, world.ME).applied
    again = propose(stopped(project, monkeypatch, WRITE))
    proposals.supersede(again, "owner")
    assert set(Session.objects.values_list("used_bytes", "given_back_at")) == {(7, None)}
    whole = propose(stopped(project, monkeypatch, WRITE))
    whole.partial = False
    proposals.supersede(whole, "owner")
    assert not Session.objects.filter(given_back_at=None), (
        "of a whole one they speak for what was not decided"
    )


@pytest.mark.more
def test_it_is_proposed_once_and_then_no_longer_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(project, monkeypatch, WRITE)
    made = propose(run)
    assert not WorkStep.objects.exists() and not WorkText.objects.exists()
    with pytest.raises(unfinished.UnfinishedRefused, match=made.public_id):
        propose(run)


@pytest.mark.more
def test_a_limit_reached_in_mid_work_keeps_it_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    Override.objects.create(key="max_turns", value=1)
    run = stopped(project, monkeypatch, WRITE, WRITE)
    assert "Turns per dream" in run.error
    assert unfinished.files(run) == ["feedback_x.md"]


@pytest.mark.more
def test_what_changed_elsewhere_meanwhile_is_merged_with_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(project, monkeypatch, edited("make reset", "make fresh"))
    path = world.folder(project) / "feedback_testing.md"
    now = path.read_text() + "\nNever run them twice.\n"
    path.write_text(now)
    made = propose(run)
    assert "Merged with later changes to: feedback_testing.md" in made.summary
    review.decide(made, review.select_hunks(made), Hunk.Verdict.APPROVED, world.ME)
    made.findings.filter(severity="block").update(confirmed_at=timezone.now())
    applying.apply(made, world.ME)
    assert path.read_text() == now.replace("make reset", "make fresh")


@pytest.mark.more
def test_what_changed_at_the_same_place_is_refused_with_its_name(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(project, monkeypatch, edited("make reset", "make fresh"), WRITE)
    path = world.folder(project) / "feedback_testing.md"
    path.write_text(world.TESTING.replace("make reset", "make clean"))
    with pytest.raises(
        unfinished.UnfinishedRefused, match=r"feedback_testing\.md has since changed in the same place"
    ):
        propose(run)
    assert not Proposal.objects.exists() and unfinished.files(run), "it is still there to be asked for"


def test_while_the_folder_is_away_nothing_is_proposed(
    project: Project, monkeypatch: pytest.MonkeyPatch, browser: Client
) -> None:
    """It could not be written, and each of its changes would look like a new file."""
    run = stopped(project, monkeypatch, WRITE)
    folder = world.folder(project).parent
    away = folder.rename(folder.with_name("away"))
    with pytest.raises(Refused, match="is not on disk now"):
        call_command("proposal", run.public_id, partial=True)
    answer = browser.post(reverse("dream-propose-partial", args=[run.public_id]), follow=True)
    assert "is not on disk now" in answer.content.decode()
    assert not Proposal.objects.exists()
    away.rename(folder)
    assert propose(run).files.get().path == "feedback_x.md"


@pytest.mark.more
def test_work_that_stands_there_already_is_not_proposed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(project, monkeypatch, edited("make reset", "make fresh"))
    (world.folder(project) / "feedback_testing.md").write_text(world.TESTING.replace("reset", "fresh"))
    with pytest.raises(unfinished.UnfinishedRefused, match="already in your notes"):
        propose(run)


@pytest.mark.more
def test_an_open_review_a_running_dream_and_a_dream_that_ended_well_are_told_apart(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = stopped(project, monkeypatch, WRITE)
    waiting = world.three_changes(project)
    with pytest.raises(unfinished.UnfinishedRefused, match=waiting.public_id):
        propose(run)
    waiting.delete()
    other = dreaming.request(project, DreamRun.Trigger.PAGE)
    with pytest.raises(
        unfinished.UnfinishedRefused, match=f"{other.public_id} is already running for this project"
    ):
        propose(run)
    with pytest.raises(unfinished.UnfinishedRefused, match="still running"):
        propose(other)
    DreamRun.objects.filter(pk=other.pk).update(status="completed", ended_at=timezone.now())
    with pytest.raises(unfinished.UnfinishedRefused, match="was completed"):
        propose(other)


@pytest.mark.not_on_postgresql
def test_no_policy_lets_unfinished_work_in(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for operation in Policy.Operation.values:
        Policy.objects.create(operation=operation, action=Policy.Action.AUTO)
    made = propose(stopped(project, monkeypatch, WRITE))
    assert made.state == "open" and not (world.folder(project) / "feedback_x.md").exists()


@pytest.mark.more
def test_a_dream_that_ends_well_keeps_no_steps(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    engines.use(monkeypatch, _reported)
    asked = dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True)
    run = dreaming.run_dream(asked.pk)
    assert run is not None and run.status == "completed" and Proposal.of(run) is not None
    assert not WorkStep.objects.exists() and not WorkText.objects.exists()


def _reported(job: Job, report: Reporter) -> list[Edit]:
    edits = engines.add("project_new.md", "---\nname: New\ntype: project\n---\n\nA fact.\n")(job, report)
    report.turn(EngineTurn("consolidate", "Wrote it.", edits=edits))
    return edits


@pytest.mark.more
@pytest.mark.parametrize("end", ["fault", "cancel", "Ctrl-C"])
def test_however_it_ends_what_was_told_is_kept(
    project: Project, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    def act(job: Job, report: Reporter) -> list[Edit]:
        _reported(job, report)
        if end == "fault":
            raise ZeroDivisionError
        if end == "Ctrl-C":
            raise KeyboardInterrupt
        dreaming.cancel(DreamRun.objects.get(), "owner")
        monkeypatch.setattr("dreams.services.dreaming.reporter.CANCEL_LOOK_SECONDS", 0.0)
        report.checkpoint()
        raise AssertionError("it was cancelled")

    engines.use(monkeypatch, act)
    asked = dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True)
    try:
        dreaming.run_dream(asked.pk)
    except KeyboardInterrupt:
        assert end == "Ctrl-C"
    asked.refresh_from_db()
    assert asked.status == ("failed" if end == "fault" else "killed")
    assert propose(asked).files.get().path == "project_new.md"


@pytest.mark.more
def test_only_a_beginning_is_kept_of_very_much_work(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prefix of the steps is a state that the files really had; a gap in them would not be."""
    monkeypatch.setattr(unfinished, "MOST_STEPS", 2)
    run = stopped(project, monkeypatch, WRITE, edited("make reset", "make a"), edited("make a", "make b"))
    assert [edit.after is not None and "make a" in edit.after for edit in unfinished.edits_of(run)] == [
        False,
        True,
    ]
    monkeypatch.setattr(unfinished, "MOST_BYTES", 10)
    unfinished.forget(run)
    unfinished.save(run, [Edit("a.md", None, "x" * 11, "o", "learn", "why")])
    assert not run.steps.exists() and not run.step_texts.exists()


@pytest.mark.parametrize("gap", ["a step that does not fit", "a purge"])
def test_after_a_step_that_is_not_kept_none_is(
    project: Project, monkeypatch: pytest.MonkeyPatch, gap: str
) -> None:
    monkeypatch.setattr(unfinished, "MOST_BYTES", 100)
    wide = 101 if gap == "a step that does not fit" else 10

    def act(job: Job, report: Reporter) -> list[Edit]:
        for path, told in (("a.md", "short\n"), ("b.md", "x" * wide), ("c.md", "short\n")):
            if gap == "a purge" and path == "b.md":
                unfinished.forget(DreamRun.objects.get())
            edits = [Edit(path, None, told, path, "learn", "why")]
            report.turn(EngineTurn("consolidate", "Wrote it.", edits=edits))
        raise ZeroDivisionError

    engines.use(monkeypatch, act)
    run = dreaming.run_dream(dreaming.request(project, DreamRun.Trigger.COMMAND, forced=True).pk)
    assert run is not None
    assert unfinished.files(run) == (["a.md"] if gap == "a step that does not fit" else [])


@pytest.mark.more
def test_old_work_and_too_much_of_it_is_swept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    monkeypatch.setattr(unfinished, "MOST_DREAMS", 2)
    ended = [dt.timedelta(days=days) for days in (0, 1, 2, 20)]
    runs = [
        DreamRun.objects.create(
            project=project, engine="rules", trigger="page", status="failed", ended_at=now - age
        )
        for age in ended
    ]
    running = DreamRun.objects.create(project=project, engine="rules", trigger="page", status="running")
    for run in [*runs, running]:
        unfinished.save(run, [Edit("a.md", None, "x\n", "o", "learn", "why")])
    assert unfinished.sweep(now) == 2
    kept = set(WorkStep.objects.values_list("dream", flat=True))
    assert kept == {runs[0].pk, runs[1].pk, running.pk}
    assert set(WorkText.objects.values_list("dream", flat=True)) == kept


# No database takes a NUL or half a character; what an engine says is made storable before.
@pytest.mark.more
def test_a_purge_takes_a_secret_out_of_unfinished_work_too(project: Project) -> None:
    from dreams.services.secret_purge import locating

    run = DreamRun.objects.create(project=project, engine="rules", trigger="page", status="failed")
    unfinished.save(run, [Edit("a.md", None, "x\n", "o", "learn", "why")])
    locating.rename(project, {})
    assert not WorkStep.objects.exists() and not WorkText.objects.exists()


lines = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
contents = st.binary(max_size=60).map(text.decode)
citations = st.builds(
    Citation,
    source=st.sampled_from(["transcript", "memory", "file", "history", "repository"]),
    quote=lines,
    place=lines,
    line_no=st.none() | st.integers(1, 10**9),
    offset=st.none() | st.integers(0, 10**12),
    role=lines,
    at=st.none() | st.datetimes(timezones=st.just(dt.UTC)),
    context=lines,
    found=st.booleans(),
    note=lines,
)
fates = st.builds(
    Fate, lines, st.sampled_from(["kept-in", "merged-into", "superseded-by", "stated"]), lines, lines, lines
)
edits = st.builds(
    Edit,
    path=st.sampled_from(["a.md", "team/b.md"]),
    before=st.none() | contents,
    after=st.none() | contents,
    operation=lines,
    kind=st.sampled_from(["learn", "merge", "date", "index", "demote", "update", "prune"]),
    reason=lines,
    citations=st.lists(citations, max_size=2).map(tuple),
    fates=st.lists(fates, max_size=2).map(tuple),
)


@pytest.mark.more
@tries(8, 20)
@given(st.lists(edits, max_size=4))
def test_steps_come_back_as_they_were(project: Project, made: list[Edit]) -> None:
    run = DreamRun.objects.create(project=project, engine="rules", trigger="page", status="failed")
    unfinished.save(run, made)
    assert unfinished.edits_of(run) == made
    run.delete()


# --- Asking for it ------------------------------------------------------------------------------------------------


@pytest.mark.more
def test_the_command_says_it_and_the_option_does_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = io.StringIO()
    with ModelServer(Script([WRITE, status(401)])) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        with pytest.raises(Refused) as refused:
            arguments = ("dream", str(project.pk), "--engine", "anthropic", "--force", "--json")
            call_command(*arguments, stdout=io.StringIO(), stderr=said)
    run = DreamRun.objects.get()
    assert refused.value.result is not None and refused.value.result["unfinished"] == ["feedback_x.md"]
    assert f"1 file was changed before it stopped: proposal {run.public_id} --partial" in said.getvalue()
    out = io.StringIO()
    call_command("proposal", run.public_id, "--partial", "--json", stdout=out)
    shown = json.loads(out.getvalue())
    assert shown["partial"] is True and [file["path"] for file in shown["files"]] == ["feedback_x.md"]
    with pytest.raises(Refused, match="already been proposed"):
        call_command("proposal", run.public_id, "--partial", stdout=io.StringIO())


@pytest.mark.more
def test_the_page_offers_it_by_an_ordinary_form(
    project: Project, monkeypatch: pytest.MonkeyPatch, browser: Client
) -> None:
    run = stopped(project, monkeypatch, WRITE)
    shown = browser.get(reverse("dream", args=[run.public_id])).content.decode()
    address = reverse("dream-propose-partial", args=[run.public_id])
    assert "1 file was changed before it stopped" in shown and f'action="{address}"' in shown
    assert browser.get(address).status_code == 405
    answer = browser.post(address)
    made = Proposal.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, reverse("review", args=[made.public_id]))
    page = browser.get(answer["Location"]).content.decode()
    assert "Unfinished work" in page and "What it had not done yet is missing." in page
    after = browser.get(reverse("dream", args=[run.public_id])).content.decode()
    assert "Propose the partial work" not in after and reverse("review", args=[made.public_id]) in after
    again = browser.post(address, follow=True).content.decode()
    assert "It has already been proposed" in again


@pytest.mark.more
def test_a_quote_that_was_not_found_is_marked_on_the_page_and_in_the_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch, browser: Client
) -> None:
    made = propose(stopped(project, monkeypatch, wrote("feedback_x.md", FACT, "Nobody said.")))
    assert [(quote.quote, quote.found) for quote in Evidence.objects.all()] == [("Nobody said.", False)]
    out = io.StringIO()
    call_command("proposal", made.public_id, stdout=out)
    assert (
        "“Nobody said.” (memory, feedback_testing.md, NOT FOUND: no line holds these words)" in out.getvalue()
    )
    page = " ".join(browser.get(reverse("review", args=[made.public_id])).content.decode().split())
    assert "Nobody said." in page and "Quote not found in the cited place" in page
