"""What a person said in a session that went quiet becomes a card, once, and nothing else does."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.utils import timezone

from dreams.models import Card, DreamRun, Hunk, LockHold, ModelRequest, Proposal, Session
from dreams.services import proposals, review, settings_changes
from dreams.services.catching import cards as decisions, lifecycle, statements, unread_parts
from tests.world import directory as world
from tests.world.talking import Talk, first_start, say

pytestmark = pytest.mark.django_db

WISH = "Remember that the staging database is db-2.internal."


def cards(**of: object) -> list[str]:
    return list(Card.objects.filter(**of).values_list("text", flat=True))


@pytest.mark.not_on_postgresql
def test_what_was_asked_for_becomes_a_card_and_a_proposal_that_only_adds(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    say(tmp_path, WISH)
    found = lifecycle.catch(project)
    assert cards(state="open") == ["the staging database is db-2.internal."]
    assert found.proposal is not None and found.proposal.origin == "caught"
    hunks = [hunk for file in found.proposal.files.all() for hunk in file.hunks.all()]
    assert hunks and all(hunk.base_count == 0 for hunk in hunks), "nothing is changed or removed"
    card = Card.objects.get()
    assert card.said == WISH and card.citations[0]["line_no"] == 1
    assert (world.folder(project) / "MEMORY.md").read_text() == world.INDEX, "nothing is written"


@pytest.mark.not_on_postgresql
def test_a_session_is_read_once(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, WISH)
    lifecycle.catch(project)
    again = lifecycle.catch(project)
    assert again.read == [] and Card.objects.count() == 1
    talk.user("Remember that releases are cut on Tuesdays.").save()
    more = lifecycle.catch(project)
    assert cards(state="open") == ["the staging database is db-2.internal.", "releases are cut on Tuesdays."]
    assert Proposal.objects.filter(origin="caught").count() == 1, "the new card joins the open proposal"
    assert more.proposal == again.proposal


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize(
    ("later", "left"),
    [
        ("No, the staging port is 8081.", ["the staging port is 8081"]),
        ("Remember that the staging port is 8081.", ["the staging port is 8081."]),
        ("Never mind.", []),
        ("No, 8081.", []),
        ("No, 2.", ["the staging port is 8080."]),  # another option than the one that the agent named
        ("Which port has the production database?", ["the staging port is 8080."]),
    ],
)
def test_what_is_changed_or_taken_back_in_a_later_reading_is_as_in_one(
    tmp_path: Path, later: str, left: list[str]
) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, "Remember that the staging port is 8080.")
    lifecycle.catch(project)
    talk.user(later).agent("Done.").save()
    lifecycle.catch(project)
    assert cards(state="open") == left
    said = "".join(Card.objects.filter(state="open").values_list("said", flat=True))
    assert ("8081" in said) == ("8081" in "".join(left)), "the left side of the card says what its line says"


@pytest.mark.not_on_postgresql
def test_a_correction_takes_back_only_the_request_that_it_is_about(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    said = f"{WISH} Remember that the staging port is 8080. Remember that releases are cut on Tuesdays."
    talk = say(tmp_path, said)
    lifecycle.catch(project)
    talk.user("No, the staging port is 8081.").agent("Done.").save()
    lifecycle.catch(project)
    others = ["the staging database is db-2.internal.", "releases are cut on Tuesdays."]
    assert cards(state="open") == [*others, "the staging port is 8081"]


@pytest.mark.not_on_postgresql
@pytest.mark.parametrize(
    ("between", "again"),
    [
        ("Never mind.", "Remember that the staging port is 8080."),
        ("No, the staging port is 8081.", "No, the staging port is 8080."),
    ],
)
def test_what_was_taken_back_and_is_said_again_is_a_card_again(
    tmp_path: Path, between: str, again: str
) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, "Remember that the staging port is 8080.")
    lifecycle.catch(project)
    for said in (between, again):
        talk.user(said).agent("Done.").save()
        lifecycle.catch(project)
    (card,) = Card.objects.filter(state="open")
    assert card.text.rstrip(".") == "the staging port is 8080" and card.said == again
    assert card.proposal is not None


@pytest.mark.not_on_postgresql
def test_a_reading_that_ends_while_its_cards_are_listed_is_one_that_never_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, "Remember that the staging port is 8080.")
    lifecycle.catch(project)
    talk.user("No, the staging port is 8081.").agent("Done.").save()
    with monkeypatch.context() as ends, pytest.raises(KeyboardInterrupt):
        ends.setattr(proposals, "redraft", Mock(side_effect=KeyboardInterrupt))
        lifecycle.catch(project)
    assert cards(state="open") == ["the staging port is 8080."] == cards()
    lifecycle.catch(project)
    assert cards(state="open") == ["the staging port is 8081"]


@pytest.mark.not_on_postgresql
def test_of_two_readings_at_once_one_makes_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = first_start(tmp_path)
    say(tmp_path, WISH)
    found = statements.found

    def found_by_both(*given: Any) -> statements.CatchingResult:
        monkeypatch.undo()
        both = found(*given)
        (card,) = lifecycle.catch(project).cards
        decisions.edit(card, "The staging database is db-3.internal.", world.ME)
        return both

    monkeypatch.setattr(statements, "found", found_by_both)
    second = lifecycle.catch(project)
    assert (second.read, second.cards) == ([], []), "the first one has read and made them"
    assert cards() == ["The staging database is db-3.internal."]


@pytest.mark.not_on_postgresql
def test_what_was_read_before_is_read_again_for_cards_only_and_a_decided_one_stays(tmp_path: Path) -> None:
    project = first_start(tmp_path, {"MEMORY.md": "# Memory\n\nReleases are cut on Tuesdays.\n"})
    talk = say(tmp_path, WISH, "Remember that releases are cut on Tuesdays.")
    lifecycle.catch(project)
    world.put(world.folder(project) / "MEMORY.md", "# Memory\n")
    talk.user("Which port has the production database?").agent("5432.").save()
    lifecycle.catch(project)
    assert cards() == ["the staging database is db-2.internal."], "what was forgotten since is no card"
    approved = decisions.approve(Card.objects.get(), world.ME)
    talk.user("Remember that the staging database is db-3.internal.").agent("Done.").save()
    lifecycle.catch(project)
    approved.refresh_from_db()
    assert approved.state == "approved" and len(cards(state="open")) == 1


@pytest.mark.not_on_postgresql
def test_a_card_that_was_approved_on_the_page_of_its_proposal_stays_when_it_is_taken_back(
    tmp_path: Path,
) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, WISH)
    proposal = lifecycle.catch(project).proposal
    assert proposal is not None
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, world.ME)
    talk.user("Never mind.").agent("Done.").save()
    lifecycle.catch(project)
    decisions.refresh(project)
    assert Card.objects.get().state == "approved"
    assert all(hunk.is_taken for hunk in review.select_hunks(proposal))


@pytest.mark.not_on_postgresql
def test_a_session_that_is_written_to_is_not_read_before_it_is_quiet(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, WISH, minutes_ago=0)
    assert talk.id not in [session.session_id for session in lifecycle.catch(project).read]
    later = lifecycle.catch(project, timezone.now() + dt.timedelta(minutes=4))
    assert [session.session_id for session in later.read] == [talk.id]


@pytest.mark.not_on_postgresql
def test_at_first_start_nothing_old_is_caught_until_it_is_asked_for(tmp_path: Path) -> None:
    long_ago = timezone.now() - dt.timedelta(days=3)
    Talk(tmp_path, "old").user(WISH, at=long_ago).save(minutes_ago=3 * 24 * 60)
    project = first_start(tmp_path)
    found = lifecycle.catch(project)
    assert not Card.objects.exists() and found.proposal is None
    session = Session.objects.get(path__endswith=f"{Talk(tmp_path, 'old').id}.jsonl")
    assert session.caught_bytes == session.size, "its cursor is at the end"
    lifecycle.catch(project, session=session)
    assert cards() == ["the staging database is db-2.internal."]


def test_extract_reads_what_no_tick_has_read_however_old_it_is(tmp_path: Path) -> None:
    Talk(tmp_path, "old").user(WISH, at=timezone.now() - dt.timedelta(days=3)).save(minutes_ago=60)
    project = first_start(tmp_path)
    lifecycle.catch(project, asked=True)
    assert "the staging database is db-2.internal." in cards()


def test_what_a_resumed_session_repeats_is_not_caught_again(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, WISH)
    lifecycle.catch(project)
    Card.objects.all().delete()
    fork = Talk(tmp_path, "fork")
    fork.records = [dict(record, sessionId=fork.id) for record in talk.records]
    fork.user("Remember that releases are cut on Tuesdays.").save()
    talk.path.unlink()
    lifecycle.catch(project)
    assert cards() == ["releases are cut on Tuesdays."], "records are known by their uuid"


@pytest.mark.not_on_postgresql
def test_where_the_agent_wrote_memory_itself_only_the_cursor_moves(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    path = str(world.folder(project) / "project_deploy.md")
    talk = Talk(tmp_path).user(WISH).wrote(path, world.DEPLOY).save()
    lifecycle.catch(project)
    session = Session.objects.get(session_id=talk.id)
    assert session.caught_bytes == session.size and not Card.objects.exists()
    talk.user("Remember that releases are cut on Tuesdays.").save()
    lifecycle.catch(project)
    assert cards() == ["releases are cut on Tuesdays."], "what comes after is read"


@pytest.mark.more
@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("paused", "on", "paused everywhere"),
        ("dreaming", "off", "off for this project"),
        ("catching", "off", "Catching is off"),
        ("catch_engine", "anthropic", "key"),
    ],
)
def test_a_closed_gate_leaves_the_cursor_where_it_is(tmp_path: Path, key: str, value: str, told: str) -> None:
    project = first_start(tmp_path)
    talk = say(tmp_path, WISH)
    settings_changes.set_override(key, value, actor="me")
    found = lifecycle.catch(project)
    assert told in found.closed and found.read == []
    assert not Session.objects.filter(session_id=talk.id, caught_bytes__isnull=False).exists()
    settings_changes.reset_override(key, actor="me")
    assert lifecycle.catch(project).cards


@pytest.mark.not_on_postgresql
def test_the_agents_own_switch_and_modes_close_it(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    say(tmp_path, WISH)
    for fields, told in (
        (
            {"agent_settings": {"auto_memory": False, "auto_memory_source": "~/.claude/settings.json"}},
            "auto memory is off",
        ),
        ({"mode": "daily-log"}, "daily logs"),
        ({"mode": "remote"}, "remote mode"),
    ):
        before = {name: getattr(project, name) for name in fields}
        type(project).objects.filter(pk=project.pk).update(**fields)
        project.refresh_from_db()
        assert told in lifecycle.catch(project).closed
        type(project).objects.filter(pk=project.pk).update(**before)
        project.refresh_from_db()
    assert not Card.objects.exists()


def test_a_spent_budget_closes_it_for_a_model_only(tmp_path: Path, monkeypatch) -> None:
    project = first_start(tmp_path)
    say(tmp_path, WISH)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    settings_changes.set_override("catch_engine", "anthropic", actor="me")
    ModelRequest.objects.create(project=project, at=timezone.now(), model="m", cost_usd=Decimal(5))
    closed = lifecycle.catch(project).closed
    assert "$5.00 of the $5.00 for today are spent and reading ten messages takes about $0." in closed
    settings_changes.set_override("catch_engine", "rules", actor="me")
    assert lifecycle.catch(project).cards, "rules cost nothing"


def test_it_waits_while_somebody_dreams_and_takes_no_lock(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    say(tmp_path, WISH)
    dream = DreamRun.objects.create(project=project, status="running", engine="rules", trigger="schedule")
    assert "dream is running" in lifecycle.catch(project).closed
    dream.delete()
    lifecycle.catch(project)
    assert Card.objects.exists() and not LockHold.objects.exists()
    assert not (world.folder(project) / ".consolidate-lock").exists(), "the clock is not touched"


@pytest.mark.not_on_postgresql
def test_subagents_hooks_commands_and_summaries_are_never_the_person(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    talk = Talk(tmp_path)
    talk.user(WISH, isSidechain=True)
    talk.user(WISH, isMeta=True)
    talk.user(WISH, isCompactSummary=True)
    talk.user(f"<command-name>/note</command-name><command-message>{WISH}</command-message>")
    talk.user(f"<local-command-stdout>{WISH}</local-command-stdout>")
    talk.user(f"<system-reminder>{WISH}</system-reminder>")
    talk.user(f"UserPromptSubmit hook success: {WISH}")
    talk.user([{"type": "tool_result", "tool_use_id": "x", "content": WISH}])
    talk.agent(WISH)
    talk.save()
    sub = talk.path.parent / talk.id / "subagents" / "agent-1.jsonl"
    sub.parent.mkdir(parents=True)
    sub.write_text(Talk(tmp_path, "sub").user(WISH, isSidechain=True).save().path.read_text())
    Talk(tmp_path, "sub").path.unlink()
    lifecycle.catch(project)
    assert cards() == []


@pytest.mark.not_on_postgresql
def test_pasted_text_is_not_the_person(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    pasted = "Some page says a lot.\n" * 12 + WISH + "\nIt goes on."
    talk = (
        Talk(tmp_path)
        .user(f"What do you think of this? {pasted} Remember that releases are cut on Tuesdays.")
        .save()
    )
    history = {
        "display": "What do you think of this? [Pasted text #1 +14 lines] Remember that releases are cut on Tuesdays.",
        "pastedContents": {"1": {"id": 1, "type": "text", "contentHash": "00"}},
        "project": "/home/dev/app",
        "sessionId": talk.id,
    }
    (tmp_path / "history.jsonl").write_text("not json\n" + json.dumps(history) + "\n")
    lifecycle.catch(project)
    assert cards() == ["releases are cut on Tuesdays."]


@pytest.mark.not_on_postgresql
def test_what_is_typed_in_several_lines_beside_a_prompt_that_is_only_a_paste_is_read(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    typed = f"{WISH}\nThen look at this:"
    talk = Talk(tmp_path).user("Some page says a lot.\n" * 12).user(typed).save()
    shown = ("[Pasted text #1 +12 lines]", typed)
    lines = [json.dumps({"display": display, "sessionId": talk.id}) for display in shown]
    (tmp_path / "history.jsonl").write_text("\n".join([*lines, ""]))
    lifecycle.catch(project)
    assert cards() == ["the staging database is db-2.internal."]


@pytest.mark.not_on_postgresql
def test_a_session_with_more_prompts_than_one_reading_takes_is_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_parts, "MOST_PROMPTS", 2)
    project = first_start(tmp_path)
    Talk(tmp_path).user("hi").user("run the tests").user("and lint").user(WISH).save()
    lifecycle.catch(project)
    assert cards() == []
    lifecycle.catch(project)
    assert cards() == ["the staging database is db-2.internal."]


@pytest.mark.not_on_postgresql
def test_a_secret_is_never_kept(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    key = "sk-ant-" + "api03-" + "A1b2" * 20
    say(tmp_path, f"Remember that the key of the test account is {key}.")
    lifecycle.catch(project)
    assert cards() == []


@pytest.mark.not_on_postgresql
def test_what_memory_says_is_not_caught(tmp_path: Path) -> None:
    project = first_start(tmp_path)
    say(tmp_path, "Remember that tests run against a real database.")
    lifecycle.catch(project)
    assert cards() == []


@pytest.mark.not_on_postgresql
def test_at_most_five_cards_are_open_and_the_rest_is_counted(tmp_path: Path) -> None:
    from dreams.services.catching import card_states

    project = first_start(tmp_path)
    places = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf"]
    say(
        tmp_path,
        *(f"Remember that the {name} service listens on port {8000 + at}." for at, name in enumerate(places)),
    )
    lifecycle.catch(project)
    assert project.cards.filter(state="waiting").count() == 2
    assert len(card_states.listed(project)) == 5


@pytest.mark.not_on_postgresql
def test_a_secret_that_is_purged_leaves_the_cards_too(tmp_path: Path) -> None:
    from dreams.services.secret_purge import locating

    project = first_start(tmp_path)
    say(tmp_path, WISH)
    lifecycle.catch(project)
    Card.objects.update(
        said="the key is hunter2hunter2", text="hunter2hunter2", citations=[{"quote": "hunter2hunter2"}]
    )
    locating.scrub(project, {"hunter2hunter2": "[redacted: test]"})
    card = Card.objects.get()
    assert "hunter2" not in f"{card.said} {card.text} {card.citations}"
