"""Each statement that a dream adds is held against the sessions it read: the answer and its place are kept beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Citation
from dreams.findings.base import SessionAnswer
from dreams.lib.prose import claims
from dreams.models import DreamRun, DreamSession, Finding, Hunk, Project, Prompt, Proposal
from dreams.services import proposals, review
from dreams.services.memories import syncing
from dreams.services.proposals import transcript_verdicts
from dreams.services.secret_purge.locating import scrub
from tests.world import directory as world, rows

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]
SAID = "The export runs at 04:00 UTC on host beta."
OTHERWISE = "The import never runs on host alpha."
NOWHERE = "The mailer sends 12 letters a day through Brevo."


def transcript(path: Path, *said: str) -> Path:
    path.write_text(
        "".join(
            json.dumps({"type": "user", "uuid": f"u{n}", "sessionId": path.stem, "timestamp": "2026-03-01T10:00:00Z",
                        "message": {"role": "user", "content": text}}) + "\n"
            for n, text in enumerate(said)
        )
    )  # fmt: skip
    return path


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return world.make_project(tmp_path)


@pytest.fixture
def dream(project: Project, tmp_path: Path) -> DreamRun:
    path = transcript(
        tmp_path / "s.jsonl", "Hello.", SAID, "The import always runs on host alpha.", "The archive runs on host gamma."
    )  # fmt: skip
    return dream_of(project, path)


def dream_of(project: Project, *paths: Path) -> DreamRun:
    dream = rows.make_dream(project, DreamRun.Status.COMPLETED)
    for path in paths:
        session = rows.make_session(project, path.stem, path=str(path), size=path.stat().st_size)
        DreamSession.objects.create(dream=dream, session=session, to_byte=path.stat().st_size)
    return dream


def propose(project: Project, dream: DreamRun, *statements: str) -> Proposal:
    after = world.TESTING + "".join(f"\n{said}\n" for said in statements)
    edits = [world.edit("feedback_testing.md", world.TESTING, after, "learn", "learn")]
    before = syncing.contents(project)
    draft = drafts.draft(before, {**before, "feedback_testing.md": after.encode()}, edits)
    return proposals.create(
        project, proposals.ProposalOrigin(Proposal.Origin.DREAM, dream=dream), draft, before
    )


def answers(proposal: Proposal) -> dict[str, dict[str, object]]:
    return {
        one["text"]: one
        for hunk in Hunk.objects.filter(file__proposal=proposal)
        for one in hunk.transcript_verdicts
    }


def test_each_added_statement_has_an_answer_with_its_place(project: Project, dream: DreamRun) -> None:
    made = propose(project, dream, SAID, OTHERWISE, NOWHERE)
    found = answers(made)
    assert {text: one["answer"] for text, one in found.items()} == {
        SAID: "supported", OTHERWISE: "contradicted", NOWHERE: "unsupported",
    }  # fmt: skip
    place = found[SAID]
    assert (place["line_no"], place["role"], place["quote"]) == (2, "user", SAID)
    assert place["session"] == dream.reviewed.get().session_id
    assert "always" in str(found[OTHERWISE]["quote"])
    codes = dict(made.findings.filter(check_name="evidence").values_list("message", "code"))
    assert not [message for message in codes if SAID in message]
    assert [code for message, code in codes.items() if OTHERWISE in message] == ["says-otherwise"]


@pytest.mark.also_on_postgresql
def test_an_answer_is_read_back_as_it_was_kept() -> None:
    place = Citation("transcript", SAID, "/s.jsonl", session_pk=7, line_no=3, role="user", note="no answer")
    heard = SessionAnswer("contradicted", "another host", place)
    assert transcript_verdicts.loaded_answer(transcript_verdicts.stored_answer(5, SAID, heard)) == (
        SAID,
        heard,
    )


def test_of_question_and_answer_the_answer_is_quoted(project: Project, tmp_path: Path) -> None:
    asked, answered = (
        "How many times is a failed batch of the importer retried?",
        "It is retried seven times.",
    )
    dream = dream_of(project, transcript(tmp_path / "s.jsonl", asked, answered))
    [found] = answers(
        propose(project, dream, "A failed batch of the importer is retried seven times.")
    ).values()
    assert (found["answer"], found["line_no"], found["quote"]) == ("supported", 2, answered)


def test_an_edit_is_held_against_the_same_sessions(project: Project, dream: DreamRun) -> None:
    made = propose(project, dream, NOWHERE)
    hunk = Hunk.objects.get(file__proposal=made)
    review.edit(made, hunk, "\n" + SAID + "\n", world.ME)
    assert {text: one["answer"] for text, one in answers(made).items()} == {SAID: "supported"}


def test_what_was_answered_once_is_not_read_again(
    project: Project, dream: DreamRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = propose(project, dream, SAID, NOWHERE)
    kept = answers(made)
    monkeypatch.setattr("dreams.lib.prose.claims.read", lambda source: pytest.fail("read again"))
    proposals.examine(made, syncing.contents(project), undecided=False)
    proposals.examine(made, syncing.contents(project))
    assert answers(made) == kept


def test_another_check_reads_transcripts_only_if_one_changed(
    project: Project, dream: DreamRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers that are not saved, such as those to parts of a statement, would be looked up at each press of a key."""
    asked = "The archive runs on host delta."
    assert _asks(dream, asked) == "unsupported"
    with monkeypatch.context() as patched:
        patched.setattr("dreams.lib.prose.claims.read", lambda source: pytest.fail("read again"))
        assert _asks(dream, asked) == "unsupported"
    path = Path(dream.reviewed.get().session.path)
    transcript(path, "Hello.", asked)
    assert _asks(dream, asked) == "supported"
    path.unlink()
    assert transcript_verdicts.TranscriptVerdicts.of_dream(dream).ask(asked) is None


def test_no_more_answers_are_kept_in_memory_than_one_set_of_sessions_may_have(
    dream: DreamRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_verdicts, "MOST_KEPT", 2)
    asked = [f"The archive runs on host {name}." for name in ("delta", "epsilon", "zeta")]
    for statement in asked:
        assert _asks(dream, statement) == "unsupported"
    monkeypatch.setattr(claims, "check", lambda *_: pytest.fail("looked up again"))
    for statement in asked[:2]:
        assert _asks(dream, statement) == "unsupported"
    with pytest.raises(pytest.fail.Exception, match="looked up again"):
        _asks(dream, asked[2])


def test_an_answer_without_a_session_that_could_not_be_read_is_looked_up_again(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, read = "The archive runs on host delta.", claims.read
    closed = transcript(tmp_path / "closed.jsonl", "Hello.", asked)
    dream = dream_of(project, closed, transcript(tmp_path / "open.jsonl", "Hello."))

    def refuse(source: Any) -> Any:
        if Path(source) == closed:
            raise PermissionError(13, "Permission denied")
        return read(source)

    with monkeypatch.context() as patched:
        patched.setattr("dreams.lib.prose.claims.read", refuse)
        assert _asks(dream, asked) == "unsupported"
    assert _asks(dream, asked) == "supported"


def test_an_answer_from_a_transcript_is_not_given_once_it_counts_as_deleted(
    project: Project, tmp_path: Path
) -> None:
    """Its prompts are all that is kept then, and a person may have hidden one; the file may come back before the next look."""
    dream = dream_of(project, transcript(tmp_path / "a.jsonl", SAID))
    assert _asks(dream, SAID) == "supported"
    session = dream.reviewed.get().session
    Prompt.objects.create(key=1, session=session, offset=0, line_no=1, text="Hello.")
    type(session).objects.update(gone_at=timezone.now())
    assert _asks(dream, SAID) == "unsupported"


def _asks(dream: DreamRun, statement: str) -> str:
    found = transcript_verdicts.TranscriptVerdicts.of_dream(dream).ask(statement)
    assert found is not None
    return found.answer


@pytest.mark.also_on_postgresql
def test_what_a_person_types_is_looked_up_before_the_transaction_that_keeps_it(
    project: Project, dream: DreamRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = propose(project, dream, NOWHERE)
    heard = proposals.verdicts_on(made, f"\n{SAID}\n")
    monkeypatch.setattr("dreams.lib.prose.claims.read", lambda source: pytest.fail("read in the transaction"))
    found = heard.ask(SAID)
    assert found is not None and found.answer == "supported"


def test_the_newest_session_that_says_anything_counts(project: Project, tmp_path: Path) -> None:
    old = transcript(tmp_path / "old.jsonl", "Hi.", "The API runs on port 8443.")
    new = transcript(tmp_path / "new.jsonl", "Hi.", "The API runs on port 9443.")
    dream = dream_of(project, old, new)
    newest = dream.reviewed.get(session__path=str(new)).session
    type(newest).objects.filter(pk=newest.pk).update(touched_at=newest.touched_at.replace(year=2099))
    found = answers(propose(project, dream, "The API runs on port 8443."))
    assert [one["answer"] for one in found.values()] == ["contradicted"]


def test_a_later_word_about_another_of_the_same_kind_takes_nothing_from_it(
    project: Project, tmp_path: Path
) -> None:
    old = transcript(tmp_path / "old.jsonl", "Hi.", "Remember that queue 0 is drained by hand.")
    new = transcript(tmp_path / "new.jsonl", "Hi.", "Remember that queue 1 is drained by hand.")
    found = answers(propose(project, dream_of(project, old, new), "Queue 0 is drained by hand."))
    assert [one["answer"] for one in found.values()] == ["supported"]


def test_too_much_to_read_is_said_and_a_session_that_is_gone_stops_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, big, gone = (
        transcript(tmp_path / f"{n}.jsonl", "Hi.", SAID * k) for n, k in (("a", 1), ("b", 90), ("c", 1))
    )
    dream = dream_of(project, big, small, gone)
    gone.unlink()
    monkeypatch.setattr(transcript_verdicts, "MOST_BYTES", small.stat().st_size * 3)
    made = propose(project, dream, SAID)
    assert [one["answer"] for one in answers(made).values()] == ["supported"]
    (note,) = made.findings.filter(code="sessions-left-out")
    assert note.severity == Finding.Severity.INFO and "Sessions not read: 2 of 3." in note.message


def test_without_time_nothing_is_asked_and_that_is_said(project: Project, dream: DreamRun) -> None:
    heard = proposals.TranscriptVerdicts.of_dream(dream)
    heard.seconds = -1.0
    assert heard.ask(SAID) is None
    note = heard.left_out()
    assert note is not None and "Statements not looked up: 1. The newest" in note.message
    heard.is_here = False
    note = heard.left_out()
    assert note and note.message == "Statements not looked up: 1. The sessions are on another host."


def test_what_a_person_made_is_held_against_nothing(project: Project) -> None:
    made = world.propose(
        project, world.edit("feedback_testing.md", world.TESTING, world.TESTING + "\nNew.\n", "x")
    )
    assert answers(made) == {}


def test_a_link_for_a_transcript_is_not_followed(project: Project, tmp_path: Path) -> None:
    target = transcript(tmp_path / "t.jsonl", "Hi.", SAID)
    link = tmp_path / "link.jsonl"
    os.symlink(target, link)
    made = propose(project, dream_of(project, link), SAID)
    assert answers(made) == {}


def test_a_purged_secret_leaves_the_answers_too(project: Project, dream: DreamRun) -> None:
    made = propose(project, dream, SAID)
    scrub(project, {"host beta": "a name"})
    (one,) = answers(made).values()
    assert "host beta" not in json.dumps(one) and "[redacted" in str(one["quote"])
