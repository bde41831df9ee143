"""The audit log says who did what to which memory, in a sentence; the ids stay behind it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils import timezone

from dreams.models import AuditEntry, Finding, Hunk, Proposal, Question
from dreams.services import auditlog, review, rollback, settings_changes
from dreams.services.apply import applying
from dreams.services.audit_sentences import Sentences
from dreams.services.inbox import snoozing
from dreams.services.jobs import job_list
from dreams.services.memories import hand_edits
from tests.world import directory as world
from tests.world.cases import each

pytestmark = pytest.mark.django_db(transaction=True)


def told(you: str = "owner") -> list[str]:
    rows = list(AuditEntry.objects.order_by("number"))
    sentences = Sentences.of(rows, you)
    return [sentences.sentence(row) for row in rows]


def said(action: str, you: str = "owner", **given: object) -> str:
    row = auditlog.record(action, **given)  # type: ignore[arg-type]
    return Sentences.of([row], you).sentence(row)


def test_an_entry_fits_into_every_database(tmp_path: Path) -> None:
    """PostgreSQL refuses a text longer than its column, and half a character in JSON, as a reason typed in Latin-1 has."""
    path = f"{'d' * 200}/{'e' * 200}.md"
    project = world.make_project(tmp_path, {path: "Text.\n"})
    review.log_secrets_shown(project.memories.get(), world.ME)
    auditlog.explain_cut("owner", "caf\udce9")
    shown, explained = AuditEntry.objects.order_by("number")
    assert shown.object_id == path[:300]
    assert explained.data["reason"] == "caf\ufffd"
    assert auditlog.verify_chain() == []


def test_a_review_from_proposal_to_undo_reads_as_a_story(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    proposal = world.three_changes(project)
    export = Hunk.objects.filter(file__proposal=proposal, file__path="project_export.md")
    review.decide(proposal, list(export), Hunk.Verdict.APPROVED, world.ME, reason="It helps.")
    first = Hunk.objects.filter(file__proposal=proposal, file__path="feedback_testing.md").first()
    assert first is not None
    review.decide(proposal, [first], Hunk.Verdict.REJECTED, review.Actor("owner", by_command=True))
    finding = Finding.objects.create(
        proposal=proposal,
        key="k",
        check_name="evidence",
        code="no-evidence",
        severity="block",
        message="None.",
    )
    review.confirm(proposal, [finding], world.ME)
    applying.apply(proposal, world.ME)
    rollback.rollback(proposal, world.ME, reason="It was wrong.")
    assert told() == [
        "A dream proposed changes to “Testing”, “Export” and the index in app.",
        "You approved 2 changes to “Export” and the index in app. Reason: It helps.",
        "You rejected a change to “Testing” in app, by command.",
        "You confirmed a finding (no evidence) on changes to “Testing”, “Export” and the index in app.",
        "You submitted the review of changes to “Testing”, “Export” and the index in app.",
        "You added “Export” and changed the index in app.",
        "You prepared an undo of changes to “Export” and the index in app.",
        "You approved 2 changes to “Export” and the index in app. Reason: It was wrong.",
        "You undid changes to “Export” and the index in app. Reason: It was wrong.",
    ]


def test_what_a_person_changed_by_hand_is_theirs(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    memory = project.memories.get(path="project_deploy.md")
    hand_edits.forget(memory, world.ME)
    lines = told("")
    assert "Owner chose to forget: changes to “Deploy” and the index in app." in lines
    assert any("removed “Deploy”" in line for line in lines)


@each(
    ("action", "given", "sentence"),
    [
        ("login.link", {}, "memoryweb created a login link."),
        ("login", {"actor": "owner", "by": "password"}, "You logged in with a password."),
        ("history.set_aside", {"actor": "owner"}, "You set the damaged history aside."),
        ("history.begun_anew", {}, "memoryweb found the history gone and began a new one."),
        ("dream.requested", {"engine": "rules", "forced": False}, "A dream was requested automatically."),
        (
            "dream.requested",
            {"actor": "owner", "forced": True},
            "You asked for a dream, skipping closed gates.",
        ),
        ("dream.ended", {"status": "failed", "error": "No key."}, "A dream failed: No key."),
        ("dream.ended", {"status": "completed", "error": ""}, "A dream was completed."),
        ("dream.cancelled", {"actor": "anna"}, "Anna cancelled a dream."),
        ("apply.done", {"actor": "policy", "files": [["a.md", "1", "2"], ["b.md", "1", ""]]},
         "A policy changed a.md and removed b.md."),
        ("apply.rebased", {"path": "a.md", "base": "1"},
         "The changes to a.md were merged into the current file."),
        ("apply.failed", {"actor": "owner", "error": "The disk is full."},
         "Nothing was written, which you asked for: The disk is full."),
        ("setting.changed", {"actor": "owner", "object_id": "min_hours", "was": None, "now": 12.0},
         "You set “Hours between dreams” to 12."),
        ("setting.changed", {"actor": "owner", "object_id": "paused", "was": False, "now": True},
         None),
        ("setting.changed", {"actor": "owner", "object_id": "min_hours", "was": 12, "now": None},
         "You reset “Hours between dreams”."),
        ("policy.changed", {"actor": "owner", "object_id": "add user", "was": None, "now": "auto"},
         "You set a policy: additions to user memories are applied without asking."),
        ("policy.changed", {"actor": "owner", "object_id": "date", "was": "auto", "now": None},
         "You removed the policy for fixed relative dates."),
        ("policy.earned", {"actor": "owner", "object_id": "date", "maker": "rules 1", "decisions": 20},
         "You let fixed relative dates from the rules engine be applied without asking, after 20 approvals."),
        ("policy.ended", {"actor": "owner", "object_id": "learn", "maker": "anthropic m 1", "by_itself": True},
         "The earned policy for learnt things from m ended, because you undid one."),
        ("digest.sent", {"object_id": "mail", "told": ["a", "b"]},
         "memoryweb sent the digest by mail, about 2 things."),
        ("memory.secrets_shown", {"actor": "owner", "object_id": "a.md"}, "You had the secrets in a.md shown."),
    ],
)  # fmt: skip
def test_each_deed_is_one_sentence(action: str, given: dict[str, object], sentence: str | None) -> None:
    made = said(action, **given)
    assert sentence is None or made == sentence
    assert made.endswith(".") and ".." not in made and "{" not in made


@pytest.mark.more
@pytest.mark.parametrize("action", sorted(auditlog.ACTIONS))
def test_an_entry_that_holds_nothing_else_is_still_a_sentence(action: str) -> None:
    """As entries of an earlier version may."""
    made = said(action, object_id="date")
    assert (
        (made[0].isupper() or made.startswith("memoryweb "))
        and made.endswith(".")
        and "None" not in made
        and "  " not in made
    )


def test_a_question_is_told_by_its_memories(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    question = Question.objects.create(
        project=project,
        kind="same",
        subject="x",
        why="Said twice.",
        places=[{"path": "feedback_testing.md"}, {"path": "s.jsonl", "session": 3}],
    )
    question.options.create(number=1, option_id="merge", label="Merge them into “Testing”")
    named = {"actor": "owner", "project": project, "object_id": question.public_id}
    assert (
        said("question.answered", **named, answer="merge")
        == "You answered a question about “Testing” in app with “Merge them into “Testing””."
    )
    question.options.all().delete()
    assert said("question.answered", **named, answer="merge").endswith("with “merge”.")


def test_what_was_snoozed_is_told_by_its_name(tmp_path: Path) -> None:
    proposal = world.three_changes(world.make_project(tmp_path))
    job = job_list.add(job_list.Wanted("verify", "0 3 * * *"), actor="owner")
    until = timezone.now().replace(year=2030, month=5, day=6)
    waiting = [proposal.public_id, job.public_id, snoozing.QUESTIONS_KEY]
    snoozing.put_off([(key, "review") for key in waiting], until, "owner", timezone.now())
    snoozing.bring_back(job.public_id, "owner")
    assert told()[-4:] == [
        "You snoozed changes to “Testing”, project_export.md and the index in app until 2030-05-06.",
        f"You snoozed the job “{job}” until 2030-05-06.",
        "You snoozed all questions until 2030-05-06.",
        f"You brought the job “{job}” back to the inbox.",
    ]


def test_the_command_lists_sentences_and_the_ids_behind_them(tmp_path: Path) -> None:
    project = world.make_project(tmp_path)
    proposal = world.three_changes(project)
    settings_changes.set_policy("", "auto", kind="date", actor="owner")
    out = io.StringIO()
    call_command("audit", str(project.pk), "--json", stdout=out)
    [entry] = json.loads(out.getvalue())["entries"]
    assert entry["object_id"] == proposal.public_id and set(entry["data"]) == {"origin", "files"}
    assert entry["sentence"].startswith("A dream proposed changes to “Testing”")
    out = io.StringIO()
    call_command("audit", "--action", "policy.changed", stdout=out)
    assert "Owner set a policy: fixed relative dates are applied without asking." in out.getvalue()
    assert Proposal.objects.count() == 1
