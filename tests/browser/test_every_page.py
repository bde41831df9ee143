"""Every page of the address book, empty and full: nothing barred, spilled or fetched, no rule of accessibility broken.

`make test` looks at the pages that people see most; `make test-more` at every state of each page, in both themes and two
widths.
A page that is added to `dreams/web/urls.py` and not opened here fails the last test.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page

from dreams.models import (
    DreamRun,
    Finding,
    Hunk,
    JobRun,
    Policy,
    Project,
    Proposal,
    ScheduledJob,
    Turn,
    Version,
)
from dreams.services import agent_settings, jobs, people, proposals, review
from dreams.services.apply import applying
from dreams.services.catching import cards, lifecycle
from dreams.services.login import ensure_owner
from dreams.services.memories import syncing
from dreams.services.proposals import rebase
from dreams.services.questions import answering
from dreams.services.search import index
from dreams.web import urls
from tests.browser.judging import FORMS, LAYOUT, NARROW, WIDE, Form, judge
from tests.browser.shots import log_in
from tests.world import directory as real, questions as asked, review as desk, rows as make, talking

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.world.rows import World

LIGHT: Sequence[Form] = (("light", WIDE, ()), ("light", NARROW, None))
# Another state of a page that was open before, by turns.
TURNS: Sequence[Sequence[Form]] = (
    (("light", WIDE, ()),),
    (("light", NARROW, LAYOUT),),
    (("dark", NARROW, ()),),
)
# What is folded, but no more of it than a person opens; of a question all.
UNFOLD = """() => [...[...document.querySelectorAll("main details.fold")].slice(0, 6),
    ...document.querySelectorAll(".question details")].forEach(fold => { fold.open = true; })"""
SECRET = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
LONG = "a-name-without-a-single-space-that-goes-on-and-on-until-no-line-can-hold-it-any-more"
# Fragments, files and ways to another page: no page of their own.
NO_PAGES = {
    *("pulse", "audit-export", "memory-skill", "review-preview", "feed", "next"),
    *("evidence", "review-under-way", "session-notes-now", "session-notes", "session-prompt"),
}


@dataclass
class Watch:
    """A browser window, and what was wrong with the pages it opened."""

    page: Page
    address: str
    first: Sequence[Form] = FORMS
    wrong: list[str] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)
    turn: int = 0

    def hear(self, said: str) -> None:
        """Chromium itself remarks on a page that answers with an error; two are opened on purpose."""
        if not said.startswith("Failed to load resource: the server responded with a status of 4"):
            self.wrong.append(f"{self.page.url} said: {said}")

    def meet(self, url: str) -> None:
        if urlsplit(url).hostname not in ("127.0.0.1", None):
            self.wrong.append(f"{self.page.url} asked for {url}")

    def open(self, path: str, status: int = 200) -> None:
        answer = self.page.goto(self.address + path)
        if answer is None or answer.status != status:
            self.wrong.append(f"{path}: not {status}")
        self.look(path)

    def look(self, path: str) -> None:
        """The open page, in all its forms."""
        is_first = (name := _name(path)) not in self.opened
        self.opened.add(name)
        self.turn += 1
        self.page.evaluate(UNFOLD)
        forms = self.first if is_first else TURNS[self.turn % len(TURNS)]
        self.wrong += [f"{path} at {found}" for found in judge(self.page, forms)]


@pytest.fixture
def watch(chromium: Browser, address: str) -> Iterator[Watch]:
    context = chromium.new_context(reduced_motion="reduce")  # no colour is judged on its way to another
    context.add_init_script(
        "addEventListener('securitypolicyviolation', e => console.error('barred', e.violatedDirective, e.blockedURI))"
    )
    page = context.new_page()
    watch = Watch(page, address)
    page.on("console", lambda said: watch.hear(said.text))
    page.on("pageerror", lambda error: watch.wrong.append(f"{page.url} broke: {error}"))
    page.on("request", lambda asked: watch.meet(asked.url))
    yield watch
    context.close()


def _name(path: str) -> str:
    """Of the address, and which part of the page it shows."""
    asked = urlsplit(path)
    try:
        name = str(resolve(asked.path).url_name)
    except Resolver404:
        return ""
    return " ".join([name, *parse_qs(asked.query).get("show", ())])


def test_the_pages_that_people_see_most_are_whole(watch: Watch, world: World) -> None:
    watch.first = LIGHT
    log_in(watch.page, watch.address)
    project = f"/projects/{world.project.pk}/"
    for path in (
        "/",
        project,
        f"/review/{world.proposal.public_id}/",
        f"/memories/{world.memory.pk}/",
        "/settings/",
    ):
        watch.open(path)
    assert not watch.wrong, "\n".join(watch.wrong)


@pytest.mark.sweep
def test_every_page_is_whole_in_every_form(watch: Watch, tmp_path: Path, settings: SettingsWrapper) -> None:
    settings.ROOTS = config_folders(tmp_path)
    watch.open("/login/")
    watch.page.goto("about:blank")  # else the link is only another place of the same page
    log_in(watch.page, watch.address)
    empty = ("/", "/projects/", "/dreams/", "/schedules/", "/usage/")
    for path in (*empty, *full_installation(tmp_path)):
        watch.open(path)
    people.add("anna", people.Role.REVIEWER, review.Actor("owner"))
    watch.open("/account/")
    watch.open("/nowhere/", status=404)
    old_form(watch)
    assert not watch.wrong, "\n".join(watch.wrong)
    assert unopened(watch.opened) == set()


def old_form(watch: Watch) -> None:
    """A form that was open since before the last login."""
    watch.page.set_viewport_size({"width": WIDE, "height": 900})
    watch.page.goto(f"{watch.address}/settings/")
    watch.page.eval_on_selector_all(
        "[name=csrfmiddlewaretoken]", "all => all.forEach(one => { one.value = 'x'.repeat(64); })"
    )
    watch.page.get_by_role("button", name="Pause", exact=True).click()
    watch.page.get_by_role("heading", name="This page was too old").wait_for()
    watch.look("/settings/")
    watch.page.get_by_role("link", name="Reload it").click()
    watch.page.wait_for_url("**/settings/")


def unopened(opened: set[str]) -> set[str]:
    """Names of addresses that answer to a GET and were not opened."""
    client = Client()
    client.force_login(ensure_owner())
    names = {str(pattern.name) for pattern in urls.urlpatterns} - opened - NO_PAGES
    return {name for name in names if client.get(_any_address(name)).status_code != 405}


def _any_address(name: str) -> str:
    pattern = next(pattern for pattern in urls.urlpatterns if pattern.name == name)
    kinds = pattern.pattern.converters
    return reverse(
        name, kwargs={key: 1 if "Int" in type(kind).__name__ else "x" for key, kind in kinds.items()}
    )


def full_installation(folder: Path) -> list[str]:
    """Make projects in every state; the addresses of all that can be looked at, those that show most first."""
    first = [*caught(folder / "caught"), *scheduled()]
    with_little = dreams_of_every_end()
    return [
        *first,
        *waiting(folder / "waiting"),
        *conflicting(folder / "conflicting"),
        *written(folder / "written"),
        *leaky(folder),
        *spoken(folder),
        *asking(folder / "asking"),
        "/",
        "/projects/",
        "/projects/several/",
        "/dreams/",
        "/usage/",
        "/audit/?check=1",
        "/settings/",
        "/engines/",
        "/settings/hook/",
        "/health/",
        *with_little,
    ]


def config_folders(folder: Path) -> list[Path]:
    """Of three agents: one without a hook, one with it, one whose settings cannot be read."""
    roots = [folder / LONG / name for name in ("without", "with", "broken")]
    for root, text in zip(roots, ('{"model": "opus"}\n', "{}\n", '{"model": '), strict=True):
        root.mkdir(parents=True)
        (root / "settings.json").write_text(text)
    agent_settings.add_hook(roots[1], agent_settings.with_hook(roots[1]).shown, "me")
    return roots


def caught(folder: Path) -> list[str]:
    """Cards in every state, one of which a finding keeps from being approved; its project must be the first one."""
    project = talking.first_start(folder)
    talking.say(
        folder,
        "Remember that the mail of the office is info\u200b@acme.dev.",
        "Remember that the staging database is db-2.internal.",
        "Remember that releases are cut on Tuesdays.",
        f"Remember that backups run at 04:00 on {LONG}.",
        *(f"Remember that service s{number} listens on port 80{number}." for number in range(10, 14)),
    )
    lifecycle.catch(project)
    _, approved, rejected, *_ = project.cards.filter(state="open")
    cards.approve(approved, real.ME)
    cards.reject(rejected, real.ME)
    here = f"/projects/{project.pk}/"
    proposal = proposals.open_with_origin(project, Proposal.Origin.CAUGHT)
    assert proposal is not None
    return [f"{here}caught/", here, f"/review/{proposal.public_id}/"]


def scheduled() -> list[str]:
    """Jobs with times, one after another, failing, ended and for a name that nothing can break; and runs of each end."""
    project, now = make.make_project(LONG), timezone.now()
    first = jobs.add(jobs.Wanted("checkup", "0 3 * * *", project=project), actor="me")
    jobs.add(jobs.Wanted("digest", after=jobs.add(jobs.Wanted("dream", after=first), actor="me")), actor="me")
    failing = jobs.add(
        jobs.Wanted("export", "*/20 8-18 * * mon-fri", until=(now + dt.timedelta(days=30)).date()), actor="me"
    )
    once = jobs.add(jobs.Wanted("verify", "30 12 1 * *", once=True), actor="me")
    ScheduledJob.objects.filter(pk=failing.pk).update(failures=3)
    ScheduledJob.objects.filter(pk=once.pk).update(ended_at=now, next_at=None)
    dream = make.make_dream(project).public_id
    parts = [
        {"name": LONG, "text": "Completed.", "dream": dream},
        {"name": "second", "text": "Nothing to do."},
    ]
    for status in JobRun.Status.values:
        job = failing if status == JobRun.Status.FAILED else first
        JobRun.objects.create(
            job=None if status in JobRun.UNFINISHED else job,
            kind=job.kind,
            label=str(job),
            status=status,
            made_at=now,
            started_at=now - dt.timedelta(minutes=3),
            ended_at=None if status in JobRun.UNFINISHED else now,
            text=f"No room left on {LONG}.",
            parts=parts[: 1 if status == JobRun.Status.DONE else 2],
        )
    return ["/schedules/?kind=verify&cron=30+12+*+*+mon", "/schedules/?cron=0+3"]


def dreams_of_every_end() -> list[str]:
    """Of one project with a name that nothing can break; it has no memories and no sessions."""
    project = make.make_project(LONG)
    runs = [make.make_dream(project, status) for status in DreamRun.TERMINAL]
    running = make.make_dream(project, DreamRun.Status.RUNNING, phase="gather", engine="anthropic")
    tools = [{"name": "Read", "input": {"file_path": f"/memory/{LONG}.md"}, "ms": 12}]
    Turn.objects.create(
        dream=running, number=1, phase="orient", text="I **look** first.", tools=tools, at=timezone.now()
    )
    waiting = make.make_dream(make.make_project("second"), DreamRun.Status.PENDING, started_at=None)
    here = f"/projects/{project.pk}/"
    return [
        *(f"/dreams/{run.public_id}/" for run in (*runs, running, waiting)),
        *(
            f"{here}{more}"
            for more in ("", "?show=memories", "?show=sessions", "?show=timeline", "at/", "checkup/")
        ),
        f"{here}recall/?q=anything",
    ]


def waiting(folder: Path) -> list[str]:
    """A proposal with findings and verdicts that nobody submitted, and its project."""
    project = desk.make_project(folder)
    proposal = desk.make_proposal(project)
    desk.add_finding(proposal, "PostgreSQL 16", "warn", "No date.", "Name the day.")
    review.decide(proposal, [desk.hunk_with(proposal, "very short")], Hunk.Verdict.REJECTED, real.ME)
    Policy.objects.create(project=project)
    repository = folder / "repository"
    (repository / "docs").mkdir(parents=True)
    (repository / "CLAUDE.md").write_text(f"Tests run on PostgreSQL 14.\n@docs/more.md @{LONG}.md\n")
    (repository / "docs/more.md").write_text("More.\n@../CLAUDE.md\n")
    Project.objects.filter(pk=project.pk).update(repo_dir=str(repository))
    here, both = f"/projects/{project.pk}/", make.make_proposal(make.make_project("third")).public_id
    one = f"proposal={proposal.public_id}&proposal={both}"
    return [
        f"/review/{proposal.public_id}/",
        *(
            f"{here}{more}"
            for more in ("", "?show=memories", "?show=timeline", "checkup/", "secrets/", "settings/")
        ),
        "/by-kind/",
        f"{here}recall/?q=how+are+tests+run&after=1&tools=psql",
        f"{here}instructions/",
        f"{here}caught/",
        f"{here}prompts/",
        f"{here}recall/",
        *(f"/several/?verdict={verdict}&{one}" for verdict in ("approve", "reject")),
        f"/snooze/?{one}",
    ]


def asking(folder: Path) -> list[str]:
    """A project whose dream asked, with its statements; and one where a question is answered and one put off."""
    project = asked.make_project(folder)
    proposal = asked.propose(project)
    question, *_ = asked.ask_all(project, proposal)
    past = asked.make_project(folder / "past", LONG)
    _, answered, later, *_ = asked.ask_all(past)
    answering.answer(answered, "replace", real.ME)
    answering.later(later, real.ME)
    memory = project.memories.get(path="project_deploys.md")
    return [
        f"/review/{proposal.public_id}/",
        "/questions/",
        f"/questions/{question.public_id}/",
        *(f"/projects/{one.pk}/questions/" for one in (project, past)),
        f"/projects/{project.pk}/statements/?value=kind-eu-1",
        f"/projects/{project.pk}/checkup/",
        f"/memories/{memory.pk}/",
        f"/memories/{memory.pk}/related/",
    ]


def conflicting(folder: Path) -> list[str]:
    """A proposal whose file was changed on disk meanwhile, at the same line."""
    proposal = desk.make_proposal(desk.make_project(folder, "clash"))
    change = proposal.files.get(path="feedback_testing.md")
    review.decide(proposal, [desk.hunk_with(proposal, "PostgreSQL 16")], Hunk.Verdict.APPROVED, real.ME)
    now = desk.TESTING.replace("shared PostgreSQL 15", "shared PostgreSQL 17").encode()
    real.put(real.folder(proposal.project) / change.path, now)
    assert rebase.rebase(change, now) == "conflict"
    return [f"/review/{proposal.public_id}/conflict/{change.pk}/"]


def written(folder: Path) -> list[str]:
    """A project with a past: found, changed by a dream, and by somebody outside since."""
    project = real.make_project(folder)
    Version.objects.update(at=timezone.now() - dt.timedelta(3))
    proposal = apply_all(project)
    real.put(real.folder(project) / "project_deploy.md", "The API runs on host beta.\n")
    syncing.refresh(project)
    memory = project.memories.get(path="feedback_testing.md")
    first = memory.versions.earliest("at")
    at, here = f"/memories/{memory.pk}/", f"/projects/{project.pk}/at/"
    then = (timezone.now() - dt.timedelta(1)).strftime("%Y-%m-%dT%H:%M:%S")
    return [
        *(f"{at}{more}" for more in ("", "?view=source", "blame/", "compare/", "edit/", "move/", "forget/")),
        f"{at}compare/?a={first.pk}&restore=1",
        f"{here}?when={then}",
        f"{here}?path={memory.path}",
        f"{here}restore/?when={then}",
        f"/projects/{project.pk}/between/",
        f"/review/{proposal.public_id}/undo/",
    ]


def apply_all(project: Project) -> Proposal:
    proposal = real.three_changes(project)
    proposal.dream = make.make_dream(project)
    proposal.save()
    review.decide(proposal, review.select_hunks(proposal), Hunk.Verdict.APPROVED, real.ME)
    review.confirm(proposal, proposal.findings.filter(severity=Finding.Severity.BLOCK), real.ME)
    applying.apply(proposal, real.ME)
    return proposal


def leaky(folder: Path) -> list[str]:
    """One project with a secret in a memory, one where it is only in what was kept."""
    stands = real.make_project(folder / "stands", {"deploy.md": f"Deploys use {SECRET}.\n"})
    kept = real.make_project(folder / "kept", {"deploy.md": f"Deploys use {SECRET}.\n"})
    real.put(real.folder(kept) / "deploy.md", "Deploys use a token.\n")
    syncing.refresh(kept)
    return [f"/projects/{project.pk}/secrets/" for project in (stands, kept)]


def spoken(folder: Path) -> list[str]:
    """A session longer than a page with tools in it, one whose transcript is gone, and words to be found."""
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(_turn(number)) + "\n" for number in range(1, 241)))
    project = make.make_project("spoken")
    make.make_memory(project, text="# Deploys\n\nDeploys go through the turbine pipeline.\n")
    session = make.make_session(project, path=str(path), size=path.stat().st_size)
    gone = make.make_session(project, LONG, gone_at=timezone.now())
    make.make_open_end(session, status="in_progress", line_no=8)
    make.make_open_end(session, f"Read {LONG}", blocked_by=["Write the migration", LONG])
    make.make_open_end(gone, LONG)
    log = f"# Monday\n\n- 14:02 Remember: {LONG}\n- Ran the tests\n"
    make.make_memory(project, "logs/2026/03/2026-03-02.md", log, kind="log")
    make.make_memory(project, "logs/2026/03/2026-03-02-evening.md", "- Late\n", kind="log")
    make.make_memory(project, "logs/2026/03/2026-03-01.md", "- Began\n", kind="log")
    index.catch_up(5)
    at = f"/sessions/{session.pk}/"
    return [
        *(f"{at}{more}" for more in ("", "?q=turbine", "?line=7")),
        f"/sessions/{gone.pk}/",
        f"/projects/{project.pk}/?show=sessions",
        f"/projects/{project.pk}/open-ends/",
        f"/projects/{project.pk}/logs/",
        "/search/?q=turbine",
        "/search/?q=absent",
    ]


def _turn(number: int) -> dict[str, object]:
    if number % 4 == 0:
        used: object = [
            {"type": "text", "text": f"I look at **part {number}**."},
            {
                "type": "tool_use",
                "id": f"t{number}",
                "name": "Bash",
                "input": {"command": f"ls {LONG}" + "\nls" * 60},
            },
        ]
        return {"type": "assistant", "message": {"role": "assistant", "content": used}}
    return {"type": "user", "message": {"role": "user", "content": f"Turn {number}, the turbine stands."}}
