"""Prompts whose transcript is gone are evidence: of a dream, beside its changes, and of a card. They still open no gate."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams.lib.agents.base import NO_ANSWER
from dreams.models import Card, DreamRun, Evidence, HiddenPrompt, Hunk, Project, Prompt, Proposal, Session
from dreams.services import discovery, dreaming, review, settings_changes
from dreams.services.apply import applying
from dreams.services.catching import lifecycle
from dreams.services.dreaming import dream_inputs
from dreams.services.scheduling import next_dream
from tests.world import directory as world
from tests.world.model_server import ModelServer, Script, ScriptedReply, Use
from tests.world.talking import Talk, first_start

pytestmark = pytest.mark.django_db
WISH = "Remember that releases are cut on Tuesdays."
GONE = "5d0e1c7a-0000-4000-8000-00000000000b"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Every transcript was read; one session is known by the prompt history alone."""
    found = first_start(tmp_path)
    lifecycle.catch(found)
    _write(tmp_path, found, WISH, "Thanks, that is all.")
    discovery.discover([tmp_path])
    Project.objects.update(first_seen_at=timezone.now() - dt.timedelta(days=2))
    found.refresh_from_db()
    yield found
    cache.delete(f"memoryweb:catching-failed:{found.pk}")


def _write(root: Path, project: Project, *said: str) -> None:
    at = int((timezone.now().timestamp() - 600) * 1000)
    lines = [
        {"display": text, "pastedContents": {}, "timestamp": at + number * 1000, "sessionId": GONE}
        | {"project": "/home/dev/app"}
        for number, text in enumerate(said)
    ]
    with (root / "history.jsonl").open("a") as history:
        history.writelines(json.dumps(line) + "\n" for line in lines)


def _dream(project: Project) -> DreamRun:
    run = dreaming.request(project, DreamRun.Trigger.PAGE, forced=True)
    done = dreaming.run_dream(run.pk)
    assert done is not None and done.status == "completed", done and done.error
    return done


def _gone() -> Session:
    return Session.objects.get(session_id=GONE)


@pytest.mark.not_on_postgresql
def test_a_dream_learns_from_them_and_says_that_no_answer_was_kept(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    done = _dream(project)
    call_command("proposal", done.public_id)
    assert f"line 1, {NO_ANSWER})" in capsys.readouterr().out
    cited = Evidence.objects.filter(hunk__file__proposal__dream=done, session=_gone())
    assert {(one.quote, one.role, one.note, one.found) for one in cited} == {(WISH, "user", NO_ANSWER, True)}
    hunks = Hunk.objects.filter(file__proposal__dream=done)
    heard = [one for hunk in hunks for one in hunk.transcript_verdicts]
    assert any(one["answer"] == "supported" and one["note"] == NO_ANSWER for one in heard)


@pytest.mark.more
def test_the_review_labels_the_quote_and_leads_to_the_prompts_of_the_project(
    project: Project, browser: Client
) -> None:
    done = _dream(project)
    text = browser.get(reverse("review", args=[done.proposals.get().public_id])).content.decode()
    address = reverse("session-prompt", args=[_gone().pk, 1])
    assert NO_ANSWER in text and f'href="{address}"' in text
    assert "Quote found in the prompt history" in " ".join(text.split())
    key = Prompt.objects.get(session=_gone(), line_no=1).pk
    answer = browser.get(address)
    assert (
        answer["Location"]
        == f"{reverse('project-prompts', args=[project.pk])}?session={_gone().pk}#prompt-{key}"
    )
    assert f'id="prompt-{key}"' in browser.get(answer["Location"]).content.decode()


@pytest.mark.also_on_postgresql
def test_a_citation_of_the_history_leads_there_if_a_transcript_has_a_prompt_at_its_line_too(
    project: Project, browser: Client
) -> None:
    cited = Prompt.objects.get(session=_gone(), line_no=1)
    Prompt.objects.create(key=7, session=_gone(), offset=0, line_no=1, text="Of the transcript.")
    answer = browser.get(reverse("session-prompt", args=[_gone().pk, 1]))
    assert answer.status_code == 302 and answer["Location"].endswith(f"#prompt-{cited.pk}")


@pytest.mark.not_on_postgresql
def test_they_are_used_once_and_open_no_gate(project: Project) -> None:
    assert next_dream.tally_sessions([project], timezone.now())[project.pk].plain == 1, (
        "the one with a transcript"
    )
    assert dream_inputs.with_prompts_only(project.sessions.all()).count() == 1
    unread = dream_inputs.fingerprint(project)
    Session.objects.filter(pk=_gone().pk).update(used_bytes=_end())
    assert dream_inputs.fingerprint(project) != unread
    assert not _dream(project).reviewed.filter(session=_gone()).exists()


def _end() -> int:
    return Prompt.objects.filter(session=_gone()).order_by("-offset").values_list("offset", flat=True)[0] + 1


@pytest.mark.also_on_postgresql
@pytest.mark.more
def test_a_transcript_that_went_before_a_dream_read_it_still_teaches_what_was_typed(
    project: Project, tmp_path: Path, browser: Client
) -> None:
    talk = Talk(tmp_path, "gone").user("Remember that backups are kept for 35 days.").agent("Noted.").save()
    discovery.discover([tmp_path])
    talk.path.unlink()
    discovery.discover([tmp_path])
    done = _dream(project)
    cited = Evidence.objects.filter(hunk__file__proposal__dream=done, session__session_id=talk.id)
    assert {(one.note, one.found) for one in cited} == {(NO_ANSWER, True)}
    proposal = Proposal.objects.get(dream=done)
    assert "backups are kept for 35 days" in browser.get(f"/review/{proposal.public_id}/").content.decode()
    place = reverse("session-prompt", args=[Session.objects.get(session_id=talk.id).pk, 1])
    assert "backups are kept" in browser.get(place, follow=True).content.decode()
    assert not proposal.findings.filter(severity="block").exists(), "its quote is found"
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    applying.apply(proposal, world.ME)
    assert not _dream(project).reviewed.filter(session__session_id=talk.id).exists(), "once"


@pytest.mark.not_on_postgresql
def test_a_hidden_prompt_is_not_cited(project: Project) -> None:
    HiddenPrompt.objects.create(key=Prompt.objects.get(text=WISH).pk)
    done = _dream(project)
    assert not Evidence.objects.filter(session=_gone()).exists()
    assert done.reviewed.filter(session=_gone()).exists()


@pytest.mark.not_on_postgresql
def test_a_transcript_that_comes_back_is_read_from_its_beginning(project: Project, tmp_path: Path) -> None:
    Session.objects.filter(pk=_gone().pk).update(used_bytes=500, caught_bytes=500)
    talk = Talk(tmp_path, "back").user(WISH).agent("Noted.")
    talk.id, talk.path = GONE, talk.path.with_name(f"{GONE}.jsonl")
    for record in talk.records:
        record["sessionId"] = GONE
    talk.save()
    discovery.discover([tmp_path])
    back = _gone()
    assert (back.gone_at, back.used_bytes, back.caught_bytes) == (None, 0, None)
    assert not dream_inputs.with_prompts_only(project.sessions.all()).exists()


def test_catching_makes_a_card_of_them_that_says_so(project: Project, browser: Client) -> None:
    assert [session.session_id for session in lifecycle.catch(project).read] == [GONE]
    card = Card.objects.get()
    assert (card.said, card.session, card.citations[0]["note"]) == (WISH, _gone(), NO_ANSWER)
    text = browser.get(reverse("project-caught", args=[project.pk])).content.decode()
    assert NO_ANSWER in text and reverse("session-prompt", args=[_gone().pk, 1]) in text
    assert lifecycle.catch(project).read == [], "once"


@pytest.mark.not_on_postgresql
def test_what_was_hidden_before_it_was_read_is_not_read_again_with_a_card_before_it(
    project: Project, tmp_path: Path
) -> None:
    _write(tmp_path, project, "Remember that backups are kept for 35 days.")
    discovery.discover([tmp_path])
    HiddenPrompt.objects.create(key=Prompt.objects.get(text__contains="backups").pk)
    lifecycle.catch(project)
    _write(tmp_path, project, "Please remember that backups are kept for 35 days.")
    discovery.discover([tmp_path])
    (card,) = lifecycle.catch(project).cards
    assert len(card.citations) == 1 and card.said.startswith("Please")


@pytest.mark.not_on_postgresql
def test_old_prompts_are_caught_when_they_are_asked_for_only(project: Project) -> None:
    long_ago = timezone.now() - dt.timedelta(days=30)
    Prompt.objects.filter(session=_gone()).update(at=long_ago)
    Session.objects.filter(pk=_gone().pk).update(last_at=long_ago)
    assert lifecycle.catch(project).read == []
    assert len(lifecycle.catch(project, asked=True).cards) == 1


@pytest.mark.more
def test_a_model_is_given_them_and_its_quotes_are_looked_up_there(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings_changes.set_override("engine", "anthropic", actor="me")
    content = "---\nname: Releases\ntype: project\n---\n\nReleases are cut on Tuesdays.\n"
    cited = [
        {"session": GONE, "quote": "releases are cut on Tuesdays"},
        {"session": GONE, "quote": "not said"},
    ]
    given = {
        "path": "/memory/project_releases.md",
        "content": content,
        "reason": "Asked for.",
        "citations": cited,
    }
    with ModelServer(
        Script([ScriptedReply((Use("Write", given),)), *[ScriptedReply(stop_reason="end_turn")] * 3])
    ) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        done = _dream(project)
        first = json.dumps(wire.calls[0].body["messages"], ensure_ascii=False)
    assert "no transcript" in first and "Thanks, that is all." in first
    rows = Evidence.objects.filter(hunk__file__proposal__dream=done, session=_gone())
    assert {(one.found, one.note) for one in rows} >= {(True, NO_ANSWER)}
    assert not rows.filter(quote="not said", found=True).exists()


@pytest.mark.more
@pytest.mark.not_on_postgresql
def test_a_model_that_catches_is_given_them_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    settings_changes.set_override("catch_engine", "anthropic", actor="me")
    item = {"quote": WISH, "text": "Releases are cut on Tuesdays.", "type": "project"}
    with ModelServer(Script([ScriptedReply((Use("remember", {"items": [item]}),))])) as wire:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", wire.url)
        (card,) = lifecycle.catch(project).cards
    assert card.citations[0]["note"] == NO_ANSWER
