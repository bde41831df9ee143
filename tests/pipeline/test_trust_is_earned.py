"""After enough like decisions a policy is offered, never taken; the first undo ends it."""

from __future__ import annotations

import datetime as dt
from html import unescape
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from dreams.engines import versions
from dreams.engines.types import Citation, Edit, Fate, Job, Reporter
from dreams.models import AuditEntry, Blob, Decision, FileChange, Hunk, Operation, Policy, Project, Proposal
from dreams.services import review, rollback, settings_changes
from dreams.services.apply import applying
from dreams.services.audit_sentences import Sentences
from dreams.services.memories import hand_edits
from dreams.services.notify import digest
from dreams.services.policies import earned
from dreams.services.review import Actor
from dreams.services.rollback import Selection
from tests.world import directory as world, trusting
from tests.world.trusting import accepted, decided, offered

pytestmark = pytest.mark.django_db
ENDED = "Fixed relative dates from the rules engine are no longer applied without asking."


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return trusting.make_project(tmp_path)


def on_disk(project: Project) -> str:
    return (world.folder(project) / trusting.NOTE).read_text()


@pytest.mark.more
def test_twenty_decisions_one_at_a_time_on_three_days_in_three_proposals_are_offered(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusting.earn(project, monkeypatch)
    [offer] = earned.offers()
    assert (offer.kind, offer.decisions, offer.days, offer.proposals) == ("date", 20, 3, 4)
    reasons = Operation.objects.filter(pk__in=offer.operations).values_list("reason", flat=True)
    assert len(reasons) == 20 and set(reasons) == {"“yesterday” is 2026-10-01."}
    assert not Policy.objects.exists(), "an offer is not a policy"


@pytest.mark.more
def test_what_was_decided_at_once_counts_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def approve_all(proposal: Proposal) -> None:
        review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
        applying.apply(proposal, world.ME)

    trusting.earn(project, monkeypatch, approve=approve_all)
    assert Decision.objects.count() == 20 and Decision.objects.exclude(batch="").count() == 20
    assert [record.decisions for record in earned.records()] == [4]


@pytest.mark.more
def test_the_parts_of_one_decision_are_no_batch(project: Project) -> None:
    proposal = world.three_changes(project)
    whole = Hunk.objects.filter(file__proposal=proposal, file__path="project_export.md")
    review.decide(proposal, list(whole), Hunk.Verdict.APPROVED, world.ME)
    assert list(Decision.objects.values_list("batch", flat=True)) == ["", ""]


@pytest.mark.more
def test_a_change_with_a_finding_or_after_a_rebase_does_not_count(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trusting.dream(project, monkeypatch, trusting.dating(range(3)))
    proposal = Proposal.of(run)
    assert proposal is not None
    first, second, third = Hunk.objects.filter(file__proposal=proposal).order_by("number")
    proposal.findings.create(key="f", check_name="evidence", code="c", severity="warn", hunk=first)
    review.decide(proposal, [first], Hunk.Verdict.APPROVED, world.ME)
    review.decide(proposal, [second], Hunk.Verdict.APPROVED, world.ME)
    proposal.files.update(rebased_from="before")
    review.decide(proposal, [third], Hunk.Verdict.APPROVED, world.ME)
    assert list(Decision.objects.order_by("pk").values_list("is_routine", flat=True)) == [False, True, False]


@pytest.mark.more
def test_nothing_is_applied_before_the_offer_is_accepted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project)
    run = trusting.dream(project, monkeypatch, trusting.dating(range(2)))
    assert [made.by_policy for made in run.proposals.all()] == [False]
    assert on_disk(project) == trusting.text()


def test_an_accepted_offer_applies_ten_a_day_and_leaves_the_rest_to_the_person(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project)
    policy = accepted()
    assert AuditEntry.objects.filter(action="policy.earned", actor="owner", object_id="date").exists()
    run = trusting.dream(project, monkeypatch, trusting.dating(range(12)))
    assert {p.by_policy: (p.state, p.operations.count()) for p in run.proposals.all()} == {
        True: ("applied", 10),
        False: ("open", 2),
    }
    assert on_disk(project).count(trusting.DAY) == 10
    assert Operation.objects.filter(policy=policy).count() == 10
    assert len(earned.applied_since(timezone.now() - dt.timedelta(hours=1))) == 10
    trusting.dream(project, monkeypatch, trusting.dating(range(20, 22)))
    assert on_disk(project).count(trusting.DAY) == 10
    Proposal.objects.filter(by_policy=True).update(created_at=timezone.now() - dt.timedelta(hours=25))
    trusting.dream(project, monkeypatch, trusting.dating(range(20, 22)))
    assert on_disk(project).count(trusting.DAY) == 12


@pytest.mark.more
def test_a_clock_that_was_set_back_makes_no_room(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    decided(project)
    accepted()
    trusting.dream(project, monkeypatch, trusting.dating(range(10)))
    Proposal.objects.filter(by_policy=True).update(created_at=timezone.now() + dt.timedelta(days=9))
    trusting.dream(project, monkeypatch, trusting.dating([20]))
    assert on_disk(project).count(trusting.DAY) == 10


def test_the_first_undo_of_one_ends_the_policy(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    decided(project)
    policy = accepted()
    run = trusting.dream(project, monkeypatch, trusting.dating(range(3)))
    part = run.proposals.get(by_policy=True)
    one = Hunk.objects.filter(file__proposal=part).first()
    assert one is not None
    told = rollback.rollback(part, world.ME, Selection(hunk_ids=(one.hunk_id,))).said
    assert told == (ENDED,)
    assert not rollback.rollback(part, world.ME).said, "it had ended"
    policy.refresh_from_db()
    assert (policy.action, policy.note) == ("review", f"A change of {part.public_id} was undone.")
    assert AuditEntry.objects.get(action="policy.ended").data["by_itself"] is True
    trusting.dream(project, monkeypatch, trusting.dating([20]))
    assert on_disk(project).count(trusting.DAY) == 0
    assert not offered(), "what was decided before the undo does not count any more"


@pytest.mark.parametrize("refuse", ["reject", "edit"])
def test_the_first_that_a_person_refuses_of_what_it_would_have_applied_ends_the_policy(
    project: Project, browser: Client, monkeypatch: pytest.MonkeyPatch, refuse: str
) -> None:
    """Whoever submits that. And it is earned again as at first, once its work is undone, too."""
    decided(project)
    policy = accepted()
    run = trusting.dream(project, monkeypatch, trusting.dating(range(12)))
    rest, part = run.proposals.get(by_policy=False), run.proposals.get(by_policy=True)
    first, second = Hunk.objects.filter(file__proposal=rest).order_by("number")
    if refuse == "reject":
        review.decide(rest, [first], Hunk.Verdict.REJECTED, Actor("ann"))
    else:
        review.edit(rest, first, "- Host 10 is in rack 10.\n", Actor("ann"))
    review.decide(rest, [second], Hunk.Verdict.APPROVED, world.ME)
    policy.refresh_from_db()
    assert policy.action == "auto", "it can be taken back"
    applying.apply(rest, world.ME)
    policy.refresh_from_db()
    said = f"A change of {rest.public_id} was rejected or edited."
    assert (policy.action, policy.note) == ("review", said)
    [entry] = AuditEntry.objects.filter(action="policy.ended")
    assert Sentences.of([entry]).sentence(entry).endswith("ended, because ann refused one.")
    page = unescape(browser.get("/").content.decode()).partition('id="passed"')[2]
    assert ENDED[:-1] in page and said in page
    assert (
        "The first one that you undo, reject or edit ends the policy."
        in browser.get("/settings/").content.decode()
    )
    told = digest.collect(timezone.now())
    assert "1 policy ended" in told.subject and f"{ENDED} {said[:-1]} (ann)." in told.as_text()
    later = told.at + dt.timedelta(days=1)
    assert not digest.collect(later, told.at).ended, "it is told once"
    before = on_disk(project)
    trusting.dream(project, monkeypatch, trusting.dating([20]))
    assert on_disk(project) == before and not offered()
    assert not rollback.rollback(part, world.ME).said, "it had ended"
    decided(project)
    assert offered() == [("date", 20)] and accepted().pk == policy.pk
    Proposal.objects.filter(by_policy=True).update(created_at=timezone.now() - dt.timedelta(hours=25))
    trusting.dream(project, monkeypatch, trusting.dating([30]))
    assert trusting.line(30) not in on_disk(project)


@pytest.mark.more
def test_what_it_would_not_have_applied_can_be_rejected_and_the_policy_goes_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project)
    policy = accepted()
    run = trusting.dream(project, monkeypatch, trusting.dating(range(11)))
    rest = run.proposals.get(by_policy=False)
    [hunk] = Hunk.objects.filter(file__proposal=rest)
    rest.findings.create(key="f", check_name="evidence", code="c", severity="warn", hunk=hunk)
    review.decide(rest, [hunk], Hunk.Verdict.REJECTED, world.ME)
    review.submit(rest, world.ME)
    policy.refresh_from_db()
    assert policy.action == "auto"


@pytest.mark.more
def test_an_undo_that_is_reviewed_ends_it_when_it_is_written(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project)
    policy = accepted()
    run = trusting.dream(project, monkeypatch, trusting.dating(range(2)))
    undo = rollback.propose(run.proposals.get(by_policy=True), world.ME, Selection())
    policy.refresh_from_db()
    assert policy.action == "auto", "nothing was undone yet"
    assert applying.apply(undo, world.ME).said == (ENDED,)
    policy.refresh_from_db()
    assert policy.action == "review"


@pytest.mark.more
def test_a_moment_that_is_restored_ends_it_when_a_line_of_it_is_gone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project)
    policy, before = accepted(), timezone.now()
    trusting.dream(project, monkeypatch, trusting.dating(range(2)))
    rejected, wanted = (hand_edits.propose_moment(project, before, world.ME) for _ in range(2))
    assert rejected and rejected == wanted, "asked for twice, it waits once"
    review.decide(rejected, review.select_hunks(rejected), "rejected", world.ME)
    review.submit(rejected, world.ME)
    policy.refresh_from_db()
    assert policy.action == "auto", "the person kept what the policy wrote"
    again = hand_edits.propose_moment(project, before, world.ME)
    assert again and again != rejected
    review.decide(again, review.select_hunks(again), "approved", world.ME)
    assert applying.apply(again, world.ME).said == (ENDED,)
    policy.refresh_from_db()
    assert policy.action == "review"


@pytest.mark.more
@pytest.mark.parametrize(("corrected", "action"), [("- Host 1 was", "review"), ("- Host 50 was", "auto")])
def test_a_line_of_a_policy_that_is_corrected_by_hand_ends_it_and_another_line_does_not(
    project: Project, monkeypatch: pytest.MonkeyPatch, corrected: str, action: str
) -> None:
    decided(project)
    policy = accepted()
    trusting.dream(project, monkeypatch, trusting.dating(range(2)))
    memory = project.memories.get(path=trusting.NOTE)
    hand_edits.edit(memory, on_disk(project).replace(corrected, "- It was"), memory.sha256, world.ME)
    policy.refresh_from_db()
    assert policy.action == action


@pytest.mark.more
def test_a_text_of_a_policy_that_is_no_longer_stored_stops_no_write(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project)
    accepted()
    trusting.dream(project, monkeypatch, trusting.dating(range(2)))

    def correct(number: int) -> bool:
        memory = project.memories.get(path=trusting.NOTE)
        text = on_disk(project).replace(f"- Host {number} was", "- It was")
        return hand_edits.edit(memory, text, memory.sha256, world.ME).complete

    assert correct(50)
    Blob.objects.filter(
        sha256__in=FileChange.objects.filter(proposal__by_policy=True).values("new_sha")
    ).delete()
    assert correct(1)


@pytest.mark.more
def test_an_undo_of_what_a_person_approved_starts_anew(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, last = trusting.earn(project, monkeypatch)
    assert offered()
    rollback.rollback(last, Actor("owner"))
    assert not offered()


@pytest.mark.more
def test_a_finding_leaves_a_change_to_the_person_whatever_policies_accept(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project, kind="learn", maker=versions.maker("rules", "", "learn"))
    accepted()
    settings_changes.set_override("policy_findings", "warn", actor="owner")

    def act(job: Job, report: Reporter) -> list[Edit]:
        before = job.workspace.read(trusting.NOTE) or ""
        after = before + "- The cluster in Oslo has 48 nodes and 3 spare disks.\n"
        job.workspace.write(trusting.NOTE, after)
        return [Edit(trusting.NOTE, before, after, "nodes", "learn", "Somebody said so.")]

    run = trusting.dream(project, monkeypatch, act)
    [waiting] = run.proposals.all()
    assert waiting.operations.get().is_routine and waiting.findings.filter(severity="warn").exists()
    assert not waiting.by_policy and on_disk(project) == trusting.text()


@pytest.mark.more
@pytest.mark.parametrize(
    "rule", [{"operation": "change"}, {"operation": "", "kind": "date"}], ids=["by type", "by kind"]
)
def test_what_a_person_wants_to_review_is_applied_by_no_earned_policy(
    project: Project, monkeypatch: pytest.MonkeyPatch, rule: dict[str, str]
) -> None:
    decided(project)
    accepted()
    settings_changes.set_policy(action="review", actor="owner", project=project, **rule)
    trusting.dream(project, monkeypatch, trusting.dating(range(2)))
    assert on_disk(project) == trusting.text()


@pytest.mark.more
def test_a_policy_that_ended_while_a_dream_ran_applies_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided(project)
    policy = accepted()
    from dreams.services.dreaming import lifecycle

    complete = lifecycle._complete

    def ended_meanwhile(*given: object) -> None:
        complete(*given)
        earned.end(policy, actor="owner")

    monkeypatch.setattr(lifecycle, "_complete", ended_meanwhile)
    run = trusting.dream(project, monkeypatch, trusting.dating(range(2)))
    part = run.proposals.get(by_policy=True)
    assert part.state == "open" and on_disk(project) == trusting.text()
    assert not Operation.objects.filter(policy__isnull=False).exists()


@pytest.mark.more
def test_a_dream_of_other_code_is_not_trusted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on another host whose version is another."""
    decided(project)
    accepted()
    monkeypatch.setattr("dreams.engines.versions.version", lambda engine, kind: "0badc0de")
    trusting.dream(project, monkeypatch, trusting.dating(range(2)))
    assert on_disk(project) == trusting.text()


@pytest.mark.more
def test_a_policy_by_kind_applies_that_kind_and_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_changes.set_policy("", "auto", kind="date", actor="owner")

    def act(job: Job, report: Reporter) -> list[Edit]:
        dated = trusting.date(job, 0)
        before = job.workspace.read("project_deploy.md") or ""
        job.workspace.write("project_deploy.md", before.replace("alpha", "beta"))
        after = job.workspace.read("project_deploy.md")
        return [*dated, Edit("project_deploy.md", before, after, "moved", "update", "It moved.")]

    run = trusting.dream(project, monkeypatch, act)
    assert {p.by_policy: [o.kind for o in p.operations.all()] for p in run.proposals.all()} == {
        True: ["date"],
        False: ["update"],
    }
    assert on_disk(project).count(trusting.DAY) == 1


@pytest.mark.not_on_postgresql
def test_of_two_values_for_one_thing_that_one_dream_learns_no_policy_takes_either(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_changes.set_policy("", "auto", kind="learn", actor="owner")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    said = ("Ana owns the billing service", "Ben owns the billing service", "Backups run nightly on host-7")

    def act(job: Job, report: Reporter) -> list[Edit]:
        made = []
        for number, line in enumerate(said):
            path = f"project_{number}.md"
            job.workspace.write(path, f"---\nname: {line}\ntype: project\n---\n\n- {line}\n")
            cited = Citation("file", trusting.line(1).strip(), trusting.NOTE, line_no=8)
            made.append(
                Edit(path, None, job.workspace.read(path), f"learn:{number}", "learn", "Said.", (cited,))
            )
        return made

    run = trusting.dream(project, monkeypatch, act)
    paths = {p.by_policy: set(p.files.values_list("path", flat=True)) for p in run.proposals.all()}
    assert paths == {True: {"project_2.md"}, False: {"project_0.md", "project_1.md"}}


@pytest.mark.not_on_postgresql
def test_what_a_person_undid_is_written_by_no_policy_that_is_set_later(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Proposal.of(trusting.dream(project, monkeypatch, trusting.dating([10])))
    assert made is not None
    trusting.approve_each(made)
    rollback.rollback(made, world.ME)
    settings_changes.set_policy("", "auto", kind="date", actor="owner")
    trusting.dream(project, monkeypatch, trusting.dating([10, 11, 30]))
    text = on_disk(project).splitlines()
    assert trusting.line(10).strip() in text, "also where it is one change with its neighbour"
    assert trusting.line(30).strip() not in text


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("old", ["Moved yesterday", "昨天搬到机房"])
def test_what_a_person_undid_is_known_again_by_few_words_too(
    old: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def act(job: Job, report: Reporter) -> list[Edit]:
        before = job.workspace.read(trusting.NOTE) or ""
        after = f"{before}{old}\n"
        job.workspace.write(trusting.NOTE, after)
        cited = Citation("file", trusting.line(1).strip(), trusting.NOTE, line_no=8)
        return [Edit(trusting.NOTE, before, after, "a", "learn", "It was said.", (cited,))]

    made = Proposal.of(trusting.dream(project, monkeypatch, act))
    assert made is not None
    trusting.approve_each(made)
    rollback.rollback(made, world.ME)
    settings_changes.set_policy("add", "auto", actor="owner")
    settings_changes.set_override("policy_findings", "warn", actor="owner")
    trusting.dream(project, monkeypatch, act)
    assert old not in on_disk(project)


def test_a_policy_writes_nothing_in_a_file_of_which_it_is_lost_what_a_person_undid(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Proposal.of(trusting.dream(project, monkeypatch, trusting.dating([10])))
    assert made is not None
    trusting.approve_each(made)
    rollback.rollback(made, world.ME)
    Blob.objects.filter(sha256__in=FileChange.objects.values("new_sha").filter(proposal=made)).delete()
    settings_changes.set_policy("", "auto", kind="date", actor="owner")
    trusting.dream(project, monkeypatch, trusting.dating([30]))
    assert trusting.DAY not in on_disk(project)


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize("kind", ["date", "learn", "index"])
def test_a_policy_by_kind_does_not_take_a_models_word_for_the_kind(
    kind: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note that a model read may have told it to call a rewritten line a date."""
    settings_changes.set_policy("", "auto", kind=kind, actor="owner")

    gone = "Snapshots are reviewed by hand."

    def act(job: Job, report: Reporter) -> list[Edit]:
        before = job.workspace.read("feedback_testing.md") or ""
        job.workspace.write("feedback_testing.md", after := before.replace(f"{gone}\n", ""))
        cited = Citation("memory", gone, "feedback_testing.md", line_no=11)
        fate = Fate(gone, "stated", note="It is no longer so.")
        removal = Edit("feedback_testing.md", before, after, "x", kind, "Dated.", (cited,), (fate,))
        return [removal, *trusting.date(job, 0)]

    run = trusting.dream(project, monkeypatch, act, engine="anthropic")
    assert {p.by_policy for p in run.proposals.all() if p.files.filter(path="feedback_testing.md")} == {False}
    assert (world.folder(project) / "feedback_testing.md").read_text() == world.TESTING
    assert on_disk(project).count(trusting.DAY) == (kind == "date"), "what is a date is still applied"
