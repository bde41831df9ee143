"""Dreams: the list, the live page that only ever adds, cancelling, and what is said when one is over."""

from __future__ import annotations

import datetime as dt
import importlib
import re

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import DreamRun, DreamSession, Hunk, Turn
from dreams.services import dreaming, settings_changes
from tests.world import rows as world

HTMX = {"HX-Request": "true"}


def _turn(run: DreamRun, number: int, text: str = "", phase: str = "gather", **more: object) -> Turn:
    return Turn.objects.create(
        dream=run, number=number, phase=phase, text=text or f"Turn {number}", at=timezone.now(), **more
    )


def _page(browser: Client, run: DreamRun) -> str:
    return browser.get(reverse("dream", args=[run.public_id])).content.decode()


def _poll(browser: Client, run: DreamRun, after: int) -> str:
    address = reverse("dream", args=[run.public_id]) + f"?after={after}"
    return browser.get(address, headers=HTMX).content.decode()


def _running(**fields: object) -> DreamRun:
    return world.make_dream(world.make_project(), DreamRun.Status.RUNNING, **fields)


def test_a_dream_that_is_over_took_the_time_until_it_ended(browser: Client) -> None:
    began = timezone.now() - dt.timedelta(hours=3)
    run = world.make_dream(world.make_project(), started_at=began, ended_at=began + dt.timedelta(minutes=5))
    assert '<dd class="number">5 min' in _page(browser, run)


# --- Live ---------------------------------------------------------------------------------------------------------


def test_a_running_dream_is_asked_after_every_two_seconds_and_one_that_is_over_is_not(
    browser: Client,
) -> None:
    run = _running()
    _turn(run, 1)
    text = _page(browser, run)
    assert 'hx-trigger="every 2s, look"' in text
    assert "?after=1" in text
    DreamRun.objects.filter(pk=run.pk).update(status="completed", ended_at=timezone.now())
    last = _poll(browser, run, 1)
    assert "every 2s" not in last
    # What was true while it ran is taken away.
    assert '<div id="messages" role="status" hx-swap-oob="true"></div>' in last
    assert '<div id="dream-sessions" hx-swap-oob="true">' in last
    assert "hx-get" not in last
    assert "every 2s" not in _page(browser, run)


def test_the_sessions_of_a_dream_are_listed_as_soon_as_they_are_chosen(browser: Client) -> None:
    run = _running()
    assert "Not chosen yet." in _page(browser, run)
    chosen = world.make_session(run.project, title="Fix the importer")
    DreamSession.objects.create(dream=run, session=chosen)
    _turn(run, 1)
    assert "Fix the importer" in _poll(browser, run, 0)
    _turn(run, 2)
    assert "dream-sessions" not in _poll(browser, run, 1), "what is being read is not replaced"
    DreamSession.objects.all().delete()
    for status, said in (
        ("completed", "No new sessions."),
        ("killed", "None were read."),
        ("failed", "None were read."),
    ):
        DreamRun.objects.filter(pk=run.pk).update(status=status, ended_at=timezone.now())
        assert said in _page(browser, run)


def test_turns_are_counted_as_their_limit_counts_them(browser: Client) -> None:
    run = _running(engine="anthropic", model="claude-sonnet-5-5")
    _turn(run, 1, "Asking claude-sonnet-5-5.", "orient")
    _turn(run, 2, "I read.", "orient", api_ms=40)
    _turn(run, 3, "I write.", api_ms=40)
    text = " ".join(_page(browser, run).split())
    assert '<dt>Turns</dt><dd class="number">2</dd>' in text and "2 of 60" in text
    assert '<li id="turn-3"><span class="row-state turn-number">2</span>' in text


def test_a_poll_brings_only_new_turns_and_appends_them(browser: Client) -> None:
    run = _running()
    for number in (1, 2, 3):
        _turn(run, number)
    fragment = _poll(browser, run, 2)
    assert 'hx-swap-oob="beforeend:#dream-turns"' in fragment
    assert "Turn 3" in fragment
    assert "Turn 2" not in fragment
    assert "?after=3" in fragment
    assert "beforeend" not in _poll(browser, run, 3)


def test_the_stepper_shows_what_is_done_now_and_ahead(browser: Client) -> None:
    run = _running(phase="consolidate")
    states = re.findall(r'<li class="(done|now|ahead|stopped)"', _page(browser, run))
    assert states == ["done", "done", "now", "ahead"]
    assert "not reached" not in _page(browser, run)
    DreamRun.objects.filter(pk=run.pk).update(status="failed", ended_at=timezone.now())
    states = re.findall(r'<li class="(done|now|ahead|stopped)"', _page(browser, run))
    assert states == ["done", "done", "stopped", "ahead"]
    assert "not reached" in _page(browser, run)


def test_a_turn_shows_its_text_tools_refusals_counts_and_files(browser: Client) -> None:
    run = _running()
    tools = [
        {"name": "Bash", "input": "rm -rf /", "refused": "rm is not allowed here.", "ms": 1},
        {"name": "Read", "input": {"file": "MEMORY.md"}, "output": "<b>x</b>"},
        {"name": "Grep", "input": '{"pattern": "turbine", "path": "/memory"}', "ms": 0},
        {"name": "Ask", "input": '{"kind": "gone", "why": "It moved.", "places": [{"session": "a.md"}]}'},
    ]
    _turn(
        run,
        1,
        "I **read** it. <script>y()</script>",
        tools=tools,
        files=["a.md"],
        counts={"rows": 7, "files": 1, "known": 0, "links": 1, "listed": 1},
    )
    text = _page(browser, run)
    assert "<strong>read</strong>" in text
    assert "<script>y()" not in text
    assert "Refused:" in text
    assert "rm is not allowed here." in text
    assert "&lt;b&gt;x&lt;/b&gt;" in text
    assert "Grep turbine in /memory</code></summary>" in text
    assert "Ask gone, It moved.</code></summary>" in text, "no list in the notation of Python"
    assert "a.md" in text
    assert '<b class="number">7</b> index rows' in text
    assert (
        '<b class="number">1</b> link repaired' in text and '<b class="number">1</b> index row added' in text
    )
    assert '<b class="number">1</b> memory merged' in text
    assert "already known" not in text, "it did not happen"


def test_a_thousand_turns_do_not_make_a_page_without_end(browser: Client) -> None:
    run = _running()
    Turn.objects.bulk_create(
        Turn(dream=run, number=number, phase="gather", text="x", at=timezone.now())
        for number in range(1, 1001)
    )
    text = _page(browser, run)
    assert text.count('<li id="turn-') == 400
    assert "600 more turns are not shown." in text
    DreamRun.objects.filter(pk=run.pk).update(engine="anthropic")
    run.turns.filter(number__lte=990).update(api_ms=5)
    assert "590 more turns are not shown." in _page(browser, run), "a note of the engine is no turn"


# --- Cancelling ---------------------------------------------------------------------------------------------------


def test_a_running_dream_is_asked_to_stop_and_says_so(browser: Client) -> None:
    run = _running()
    response = browser.post(reverse("dream-cancel", args=[run.public_id]))
    run.refresh_from_db()
    assert response.status_code == 303
    assert run.cancel_requested_at is not None
    text = _page(browser, run)
    assert "Stopping…" in text
    assert re.search(r'id="dream-cancel"\s+disabled', text)


def test_what_a_call_was_answered_is_not_hidden_below_its_long_text(browser: Client) -> None:
    run = _running()
    _turn(
        run,
        1,
        tools=[{"name": "Write", "input": "x" * 900, "refused": True, "output": "Not done: read it first."}],
    )
    assert '<pre class="source" tabindex="0">Not done: read it first.</pre>' in _page(browser, run)


def test_a_long_list_of_what_was_not_fixed_leaves_the_turns_in_sight(browser: Client) -> None:
    told = [{"code": "x", "path": "a.md", "said": f"Problem {n}.", "mended": False} for n in range(12)]
    run = world.make_dream(world.make_project(), self_review=told[:3])
    assert '<details class="fold" open>' in _page(browser, run)
    DreamRun.objects.filter(pk=run.pk).update(self_review=told)
    text = _page(browser, run)
    assert '<details class="fold">' in text and "open>" not in text and "Problem 11." in text


def test_a_dream_that_shows_nothing_new_says_for_how_long(browser: Client) -> None:
    run = _running(started_at=timezone.now() - dt.timedelta(minutes=9))
    Turn.objects.filter(pk=_turn(run, 1).pk).update(at=timezone.now() - dt.timedelta(seconds=95))
    assert "Nothing new for 1 min 3" in _page(browser, run) and "cancel it at any time" in _page(browser, run)
    _turn(run, 2)
    assert "Nothing new" not in _page(browser, run)


def test_a_dream_that_waits_is_killed_at_once(browser: Client) -> None:
    run = world.make_dream(world.make_project(), DreamRun.Status.PENDING, started_at=None)
    text = browser.post(reverse("dream-cancel", args=[run.public_id]), follow=True).content.decode()
    run.refresh_from_db()
    assert run.status == DreamRun.Status.KILLED
    assert "It never started, so it does not count." in text and "stops at its next step" not in text


def test_a_dream_that_was_cancelled_before_it_did_anything_says_so_on_a_page_that_follows_it(
    browser: Client,
) -> None:
    run = _running()
    assert "No turns" not in _poll(browser, run, 0)
    DreamRun.objects.filter(pk=run.pk).update(status="killed", ended_at=timezone.now())
    assert "No turns" in _poll(browser, run, 0)
    _turn(run, 1)
    assert "No turns" not in _poll(browser, run, 1)


def test_how_long_a_dream_took_is_the_same_in_the_list_and_on_its_page(browser: Client) -> None:
    now = timezone.now()
    run = world.make_dream(
        world.make_project(), started_at=now - dt.timedelta(seconds=9, milliseconds=600), ended_at=now
    )
    assert '<dt>Time</dt><dd class="number">10 s</dd>' in _page(browser, run)
    text = browser.get(reverse("dreams")).content.decode()
    assert "· took 10 s" in text


def test_a_dream_that_is_over_stays_as_it_is(browser: Client) -> None:
    run = world.make_dream(world.make_project())
    text = browser.post(reverse("dream-cancel", args=[run.public_id]), follow=True).content.decode()
    run.refresh_from_db()
    assert run.status == DreamRun.Status.COMPLETED
    assert "nothing to cancel" in text


# --- What came of it ----------------------------------------------------------------------------------------------


def test_a_completed_dream_says_what_came_of_it_and_leads_to_the_review(browser: Client) -> None:
    project = world.make_project()
    memory = world.make_memory(project)
    told = [{"path": "a.md", "said": "A loss.", "mended": done} for done in (True, False)]
    left_out = [{"path": "old.md", "hunk": f"h{number}", "why": ""} for number in range(52)]
    run = world.make_dream(project, left_out=left_out, self_review=told, summary="Learnt 2 things.")
    proposal = world.make_proposal(project, run)
    for severity in ("block", "warn", "warn", "info"):
        world.make_finding(proposal, severity)
    DreamSession.objects.create(dream=run, session=world.make_session(project, "Fix the port"))
    text = _page(browser, run)
    assert "Proposes to update 1 statement<" in text and "1 decision in 1 file" in text
    assert reverse("memory", args=[memory.pk]) in text
    assert reverse("review", args=[proposal.public_id]) in text
    assert "52 changes left out: they were rejected before" in text
    assert "What the engine says it did, with what was left out" in text
    assert ">1 to confirm<" in text and ">2 warnings<" in text
    assert '<details class="fold" open><summary>The engine was asked to fix 2 problems' in text
    assert "Fix the port" in text and '<dt>Sessions</dt><dd class="number">1</dd>' in text
    application = world.make_written(proposal)
    text = _page(browser, run)
    assert "Updated 1 statement<" in text and "to confirm" not in text
    assert "Updated 1 statement." in browser.get(reverse("dreams")).content.decode()
    Hunk.objects.update(undone_in=application)
    assert "All of it was undone<" in _page(browser, run)
    assert "All of it was undone." in browser.get(reverse("dreams")).content.decode()


def test_files_are_listed_beside_the_turns_only_until_the_result_lists_them(browser: Client) -> None:
    project = world.make_project()
    run = world.make_dream(project)
    _turn(run, 1, phase="consolidate", files=["note.md"])
    assert "Files changed" in _page(browser, run), "no proposal lists them"
    world.make_proposal(project, run)
    text = _page(browser, run)
    assert "changed-files" in text and "Files changed" not in text


def test_only_a_dream_of_a_job_is_said_to_come_from_the_schedule(browser: Client) -> None:
    run = world.make_dream(world.make_project(), trigger=DreamRun.Trigger.SCHEDULE)
    text = _page(browser, run)
    assert re.search(r"Started automatically\s+<time", text) and "scheduled job" not in text
    DreamRun.objects.update(trigger=DreamRun.Trigger.JOB)
    text = _page(browser, run)
    assert re.search(r"Started by a <a [^>]*>scheduled job</a>", text) and "automatically" not in text


def test_the_engine_s_own_words_are_told_as_its_words(browser: Client) -> None:
    run = world.make_dream(world.make_project(), summary="Learnt 4 things.")
    text = _page(browser, run)
    assert "What the engine says it did" in text and "Learnt 4 things." in text
    assert "Learnt 4 things." not in browser.get(reverse("dreams")).content.decode()


def test_a_failed_dream_says_why_and_what_happened_to_the_clock(browser: Client) -> None:
    run = world.make_dream(world.make_project(), DreamRun.Status.FAILED, error="The server is <down>.")
    text = _page(browser, run)
    assert "The dream failed" in text
    assert "The server is &lt;down&gt;." in text
    assert "the dream does not count" in text


@pytest.mark.parametrize(
    ("mode", "retried"), [("normal", True), ("", True), ("daily-log", False), ("remote", False)]
)
def test_a_failed_dream_promises_a_retry_only_where_dreams_start_by_themselves(
    browser: Client, mode: str, retried: bool
) -> None:
    project = world.make_project(mode=mode, failures=1, not_before=timezone.now())
    for _ in range(5):
        world.make_session(project, touched_at=timezone.now() - dt.timedelta(minutes=11))
    text = _page(browser, world.make_dream(project, DreamRun.Status.FAILED, error="The key is refused."))
    assert ("The dream is retried automatically." in text) is retried
    assert ("no dream starts automatically" in text) is not retried
    assert ("Distil logs" in text) is (mode == "daily-log")


@pytest.mark.parametrize("key", ["dreaming", "paused"])
def test_a_failed_dream_is_not_said_to_be_retried_where_dreams_are_switched_off(
    browser: Client, key: str
) -> None:
    project = world.make_project(failures=1, not_before=timezone.now())
    run = world.make_dream(project, DreamRun.Status.FAILED, error="The key is refused.")
    where = project if key == "dreaming" else None
    settings_changes.set_override(key, key == "paused", project=where, actor="me")
    text = _page(browser, run)
    assert "retried automatically" not in text
    assert ("Dreams are off for this project" if where else "paused") in text


def test_a_failed_dream_leads_to_its_engine_where_that_is_what_failed(browser: Client) -> None:
    leads = f'class="button" href="{reverse("engines")}"'
    project = world.make_project()
    failed = {
        failure: world.make_dream(project, DreamRun.Status.FAILED, engine="anthropic", failure=failure)
        for failure in ("engine", "limit", "lock", "fault")
    }
    failed["worker"] = world.make_dream(project, DreamRun.Status.RUNNING, engine="anthropic")
    dreaming.lost_its_worker(failed["worker"])
    leading = {failure for failure, run in failed.items() if leads in _page(browser, run)}
    assert leading == {"engine", "limit"}
    assert "Its worker died" in _page(browser, failed["worker"])


@pytest.mark.django_db
def test_a_dream_that_failed_before_that_was_kept_is_known_by_its_words() -> None:
    project = world.make_project()
    said = {
        "worker": "Its worker died: the process was killed, or the machine was shut down.",
        "fault": "An unexpected fault ended it (KeyError). The log has more.",
        "lock": "Process 12 holds the lock of /memory, since 3 minutes; free when it is done.",
        "limit": "It took longer than its setting allows (Time limit per dream). Nothing was changed.",
        "engine": "The key is refused.",
    }
    for text in said.values():
        world.make_dream(project, DreamRun.Status.FAILED, error=text)
    world.make_dream(project)
    importlib.import_module("dreams.migrations.0019_failure").fill(apps, None)
    known = dict(DreamRun.objects.values_list("error", "failure"))
    assert known == {text: failure for failure, text in said.items()} | {"": ""}


def test_a_person_is_told_once_and_a_browser_that_loads_ahead_is_not_a_person(browser: Client) -> None:
    run = world.make_dream(world.make_project())
    address = reverse("dream", args=[run.public_id])
    browser.get(address, headers={"Sec-Purpose": "prefetch"})
    browser.head(address)
    run.refresh_from_db()
    assert run.notified_at is None
    browser.get(address)
    run.refresh_from_db()
    first = run.notified_at
    assert first is not None
    browser.get(address)
    run.refresh_from_db()
    assert run.notified_at == first


# --- The list -----------------------------------------------------------------------------------------------------


def test_status_and_project_narrow_the_list(browser: Client) -> None:
    acme, notes = world.make_project("acme"), world.make_project("notes")
    failed = world.make_dream(acme, DreamRun.Status.FAILED)
    done = world.make_dream(notes)
    address = reverse("dreams")
    everything = browser.get(address).content.decode()
    assert failed.public_id in everything
    assert done.public_id in everything
    assert done.public_id not in browser.get(address + "?status=failed").content.decode()
    assert failed.public_id not in browser.get(f"{address}?project={notes.pk}").content.decode()
    assert "No dream matches" in browser.get(address + "?status=killed").content.decode()


def test_the_list_is_in_the_order_of_the_moments_that_it_shows(browser: Client) -> None:
    """What waits and what runs first, then what is over by when it ended: not by when it was asked for."""
    now = timezone.now()
    ago = [now - dt.timedelta(minutes=minutes) for minutes in range(60)]
    names = [world.make_project(str(number)) for number in range(5)]
    last = world.make_dream(names[0], started_at=ago[4], ended_at=ago[2])
    running = world.make_dream(names[1], DreamRun.Status.RUNNING, started_at=ago[40])
    first = world.make_dream(names[2], started_at=ago[9], ended_at=ago[8])
    waiting = world.make_dream(names[3], DreamRun.Status.PENDING, started_at=None)
    stopped = world.make_dream(names[4], DreamRun.Status.KILLED, started_at=None, ended_at=ago[5])
    text = browser.get(reverse("dreams")).content.decode()
    at = [text.index(run.public_id) for run in (waiting, running, last, stopped, first)]
    assert at == sorted(at)


def test_with_no_dream_the_page_says_how_one_starts(browser: Client) -> None:
    assert "No dreams yet" in browser.get(reverse("dreams")).content.decode()


def test_many_dreams_cost_no_more_queries_than_few(browser: Client) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            browser.get(reverse("dreams"))
        return len(queries)

    project = world.make_project()
    world.make_proposal(project, world.make_dream(project), state="applied")
    cost()
    few = cost()
    for _ in range(8):
        world.make_proposal(project, world.make_dream(project), state="applied")
    assert cost() == few
