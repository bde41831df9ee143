"""One project's page: its gates in words, dreaming now, trust, its lists and its timeline."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from dreams.models import AuditEntry, DreamRun, DreamSession, GateEvaluation, Memory, Project, Version
from dreams.services import auditlog, settings_changes
from dreams.web.pages import timeline as timelines
from tests.world import directory as real, rows as world


def _text(browser: Client, project: Project, query: str = "") -> str:
    return " ".join(browser.get(reverse("project", args=[project.pk]) + query).content.decode().split())


@pytest.fixture
def real_project(db: None, tmp_path: Path) -> Project:
    return real.make_project(tmp_path)


def test_every_gate_is_named_with_its_reason_and_when_it_opens(
    browser: Client, real_project: Project
) -> None:
    lock = Path(real_project.memory_dir) / ".consolidate-lock"
    lock.write_text("1")
    world.make_session(real_project, touched_at=timezone.now() + dt.timedelta(minutes=1))
    text = _text(browser, real_project)
    assert "of 5 sessions since the last dream" in text
    assert "24 h must pass since the last dream" in text
    assert re.search(r"opens <time [^>]*data-due>in 24 h</time>", text)
    for label in ("Time", "Sessions", "Lock", "Budget", "Review"):
        assert label in text


def test_force_is_offered_in_words_and_starts_a_dream(
    browser: Client, real_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[str] = []
    monkeypatch.setattr(
        "dreams.services.scheduling.scheduler.enqueue", lambda dream: handed.append(dream.public_id)
    )
    assert "Skips closed gates: sessions." in _text(browser, real_project)
    response = browser.post(
        reverse("project-dream", args=[real_project.pk]), {"engine": "rules", "forced": "1"}
    )
    run = DreamRun.objects.get()
    assert response.status_code == 303
    assert response["Location"] == reverse("dream", args=[run.public_id])
    assert (run.engine, run.forced, run.requested_by) == ("rules", True, "owner")
    assert handed == [run.public_id]


def test_without_force_a_closed_gate_is_said_and_nothing_starts(
    browser: Client, real_project: Project
) -> None:
    response = browser.post(reverse("project-dream", args=[real_project.pk]), follow=True)
    assert "of 5 sessions" in response.content.decode()
    assert not DreamRun.objects.exists()


def test_a_switch_that_a_person_turned_off_cannot_be_forced(browser: Client, real_project: Project) -> None:
    settings_changes.set_override("dreaming", False, actor="owner", project=real_project)
    text = _text(browser, real_project)
    assert "Not possible now, even if forced" in text
    browser.post(reverse("project-dream", args=[real_project.pk]), {"forced": "1"})
    assert not DreamRun.objects.exists()


def test_an_engine_that_does_not_exist_is_no_page(browser: Client, real_project: Project) -> None:
    response = browser.post(reverse("project-dream", args=[real_project.pk]), {"engine": "oracle"})
    assert response.status_code == 404


def test_while_it_dreams_the_page_leads_to_the_dream(browser: Client, real_project: Project) -> None:
    run = world.make_dream(real_project, DreamRun.Status.RUNNING)
    text = _text(browser, real_project)
    assert reverse("dream", args=[run.public_id]) in text
    assert "Dream now" not in text
    assert "of 5 sessions since" not in text and 'class="gates"' not in text, (
        "judged by the running dream's lock"
    )


def test_a_dream_that_waits_is_not_said_to_run(browser: Client, real_project: Project) -> None:
    run = world.make_dream(real_project, DreamRun.Status.PENDING, started_at=None)
    text = _text(browser, real_project)
    assert "Waiting to start" in text and run.public_id in text and "is running" not in text


def test_a_dream_asked_for_on_an_older_page_is_told_of_the_one_that_runs(
    browser: Client, real_project: Project
) -> None:
    run = world.make_dream(real_project, DreamRun.Status.RUNNING)
    response = browser.post(reverse("project-dream", args=[real_project.pk]), follow=True)
    assert f"{real_project} is already dreaming ({run.public_id})" in response.content.decode()


def test_trust_is_switched_and_written_down(browser: Client, real_project: Project) -> None:
    browser.post(reverse("project-trust", args=[real_project.pk]), {"trusted": "1"})
    real_project.refresh_from_db()
    assert real_project.trusted
    browser.post(reverse("project-trust", args=[real_project.pk]), {"trusted": "1"})
    assert AuditEntry.objects.filter(action="project.trusted").count() == 1
    browser.post(reverse("project-trust", args=[real_project.pk]), {"trusted": "0"})
    real_project.refresh_from_db()
    assert not real_project.trusted
    assert auditlog.verify_chain() == []


def test_how_long_the_agent_keeps_transcripts_is_said(browser: Client, real_project: Project) -> None:
    assert "deletes them" not in _text(browser, real_project), "it is not known before the first discovery"
    Project.objects.update(agent_settings={"cleanup_days": 3})
    told = "Your agent deletes them 3 days after their last line. What you typed is kept here."
    assert told in re.sub(r"<[^>]+>", "", _text(browser, real_project))


def test_the_index_stands_first_and_shows_what_falls_off(browser: Client, tmp_path: Path) -> None:
    rows = "".join(f"- [Note {n}](note_{n}.md) — about {n}\n" for n in range(230))
    project = real.make_project(tmp_path, {"MEMORY.md": f"# Memory\n\n{rows}", "a.md": "A\n"})
    text = _text(browser, project)
    assert text.index("MEMORY.md</a>") < text.index("a.md</a>")
    assert "<b>232</b> of 200 lines" in text
    assert "32 rows from line 201 on are not read." in text


def test_a_name_with_markup_is_shown_as_text(browser: Client) -> None:
    project = world.make_project("<b>bold</b>\u202e")
    world.make_session(project, title="<script>alert(1)</script>")
    world.make_memory(project, path="<i>.md", name="<img src=x>", description="a\u200bb")
    text = _text(browser, project)
    assert "<script>alert" not in text
    assert "<img src=x>" not in text
    assert "⟨U+202E⟩" in text
    assert "a⟨U+200B⟩b" in text


def test_a_mark_that_turns_letters_around_is_written_out_wherever_a_page_names_something(
    browser: Client,
) -> None:
    project = world.make_project("turn\u202eed")
    memory = world.make_memory(
        project, path="turn\u202eed.md", name="turn\u202eed", description="turn\u202eed"
    )
    session = world.make_session(project, title="turn\u202eed")
    world.make_session(world.make_project("ot\u202eher"))
    proposal = world.make_proposal(project, world.make_dream(project), summary="turn\u202eed")
    of_project = ("", "settings/", "checkup/", "recall/", "at/", "prompts/", "caught/", "questions/")
    of_memory = ("", "forget/", "move/", "edit/", "compare/", "related/", "blame/")
    addresses = [
        *(f"/projects/{project.pk}/{page}" for page in of_project),
        *(f"/memories/{memory.pk}/{page}" for page in of_memory),
        f"/sessions/{session.pk}/",
        f"/review/{proposal.public_id}/",
        *("/", "/projects/", "/dreams/", "/usage/", "/audit/", "/schedules/", "/engines/", "/questions/"),
    ]
    pages = {at: browser.get(at, follow=True).content.decode() for at in addresses}
    told = {at: page.partition("<textarea")[0] for at, page in pages.items()}
    marks = {at: re.findall(r".{60}\u202e.{20}", page) for at, page in told.items()}
    assert not {at: found for at, found in marks.items() if found}


def test_a_session_says_what_dreams_made_of_it(browser: Client) -> None:
    project = world.make_project()
    at = timezone.now() - dt.timedelta(hours=1)
    world.make_session(project, size=100, touched_at=at)
    world.make_session(project, size=100, used_bytes=100, touched_at=at)
    world.make_session(project, size=100, used_bytes=40, touched_at=at)
    world.make_session(project, size=100, touched_at=at, given_back_at=timezone.now(), corrections=2)
    text = _text(browser, project, "?show=sessions")
    for word in (">new<", ">used<", ">partly used<", ">to be read again<", "2 corrections"):
        assert word in text
    Project.objects.filter(pk=project.pk).update(last_consolidated_at=timezone.now())
    project.refresh_from_db()
    text = _text(browser, project, "?show=sessions")
    assert "<b>1 new session</b>, last dream" in text, "the one that was given back"
    assert ", by your agent" in text, "no dream of ours was completed"
    assert ">not used yet<" in text and ">new<" not in text
    dream = world.make_dream(project)
    DreamSession.objects.create(dream=dream, session=project.sessions.get(used_bytes=0, given_back_at=None))
    world.make_proposal(project, dream)
    text = _text(browser, project, "?show=sessions")
    assert ">in review<" in text and ">not used yet<" not in text and "by your agent" not in text


def test_instruction_files_are_listed_in_loading_order(browser: Client, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "CLAUDE.md").write_text("Be brief.\n")
    (repo / "CLAUDE.local.md").write_text("Be kind.\n")
    project = world.make_project(root=str(tmp_path / "root"), repo_dir=str(repo))
    text = _text(browser, project)
    assert text.index("CLAUDE.md") < text.index("CLAUDE.local.md")


def test_removed_memories_are_kept_in_a_list_of_their_own(browser: Client) -> None:
    project = world.make_project()
    world.make_memory(project, path="here.md", name="")
    world.make_memory(project, path="left.md", name="", gone_at=timezone.now())
    assert "left.md" not in _text(browser, project, "?show=memories")
    gone = _text(browser, project, "?show=memories&gone=1")
    assert "left.md" in gone
    assert "here.md" not in gone


@pytest.mark.parametrize("part", ["", "?show=memories"])
def test_a_folder_that_was_emptied_leads_to_what_stood_in_it(browser: Client, part: str) -> None:
    project = world.make_project()
    world.make_memory(project, path="left.md", name="", gone_at=timezone.now())
    text = _text(browser, project, part)
    assert "No memories yet" not in text
    assert "1 removed</a>" in text
    assert reverse("project-at", args=[project.pk]) in text
    checkup = browser.get(reverse("project-checkup", args=[project.pk])).content.decode()
    assert "No memories left" in checkup and "writes the first note" not in checkup


@pytest.mark.more
def test_a_project_full_of_rows_costs_no_more_queries(browser: Client) -> None:
    def cost(project: Project) -> int:
        with CaptureQueriesContext(connection) as queries:
            browser.get(reverse("project", args=[project.pk]))
        return len(queries)

    small, large = world.make_project("small"), world.make_project("large")
    _fill(small, 1)
    _fill(large, 9)
    for project in (small, large):
        cost(project)  # what is kept until something changes is counted
    # The timeline asks of each kind that it shows, and many rows of one kind may be all that it shows.
    assert cost(large) <= cost(small)


def _fill(project: Project, count: int) -> None:
    for number in range(count):
        world.make_session(project)
        memory = world.make_memory(project, path=f"m{number}.md")
        Version.objects.create(memory=memory, at=timezone.now(), origin=Version.Origin.OUTSIDE, sha256="")
        world.make_proposal(project, world.make_dream(project), state="rejected", submitted_at=timezone.now())
        world.close_gate(project, "closed", None)


# --- The timeline -------------------------------------------------------------------------------------------------


def test_the_timeline_tells_of_gates_dreams_verdicts_and_edits_outside(browser: Client) -> None:
    project = world.make_project()
    world.close_gate(project, "2 of 5 sessions so far.", None)
    run = world.make_dream(project, DreamRun.Status.FAILED, error="No disk.")
    world.make_proposal(project, world.make_dream(project), submitted_at=timezone.now(), state="rejected")
    memory = world.make_memory(project)
    Version.objects.create(memory=memory, at=timezone.now(), origin=Version.Origin.OUTSIDE, sha256="")
    text = _text(browser, project, "?show=timeline")
    for said in (
        "gate closed",
        "Dream failed",
        "No disk.",
        "Reviewed 1 decision: 1 left undecided",
        "Changed outside",
    ):
        assert said in text
    assert reverse("dream", args=[run.public_id]) in text
    only = _text(browser, project, "?show=timeline&kind=outside")
    assert "Changed outside" in only
    assert "Dream failed" not in only


def test_an_applied_change_can_be_undone_from_the_timeline(browser: Client, real_project: Project) -> None:
    from dreams.lib.files import text
    from dreams.services.memories import hand_edits, syncing

    memory = real_project.memories.get(path="project_deploy.md")
    now = syncing.contents(real_project)[memory.path]
    report = hand_edits.edit(memory, real.DEPLOY + "More.\n", text.sha256(now), real.ME)
    page = _text(browser, real_project, "?show=timeline&kind=writes")
    assert "Edited “Deploy”" in page
    assert reverse("undo", args=[report.proposal]) in page


def test_paging_through_the_timeline_meets_every_entry_once(db: None) -> None:
    project = world.make_project()
    start = timezone.now() - dt.timedelta(days=10)
    GateEvaluation.objects.bulk_create(
        GateEvaluation(
            # Three at a time share a moment: a page may not end between them.
            project=project,
            at=start + dt.timedelta(minutes=number // 3),
            open=False,
            results=[{"name": "time", "passed": False, "reason": str(number)}],
            fingerprint=str(number),
        )
        for number in range(70)
    )
    seen: list[str] = []
    before = ""
    for _ in range(10):
        found = timelines.timeline(project, before=before, size=20)
        seen += [entry.reason for entry in found["entries"]]
        before = found["older"]
        if not before:
            break
    assert sorted(seen, key=int) == [str(number) for number in range(70)]


def test_files_changed_outside_at_one_look_are_one_entry(db: None) -> None:
    project = world.make_project()
    at = timezone.now()
    for name in ("a.md", "b.md", "c.md", "d.md"):
        memory = Memory.objects.create(project=project, path=name)
        Version.objects.create(memory=memory, at=at, origin=Version.Origin.OUTSIDE)
    found = timelines.timeline(project)
    assert [entry.what for entry in found["entries"]] == ["Changed outside: a.md, b.md, c.md and 1 more"]


def test_a_long_name_of_a_memory_wraps_where_its_parts_end(browser: Client) -> None:
    project = world.make_project()
    world.make_memory(project, "a.md", name="project_performance_logging_diagnostic_value")
    assert "logging_<wbr>diagnostic_<wbr>value</a>" in _text(browser, project)
