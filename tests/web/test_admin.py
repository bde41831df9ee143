"""The admin: open to the owner without a password, read-mostly, and every change checked and audited."""

from __future__ import annotations

import re

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dreams import conf
from dreams.models import (
    AuditEntry,
    DreamUsage,
    HistoryFile,
    Host,
    JobRun,
    ModelRequest,
    NotesRequest,
    Override,
    Policy,
    Price,
    Project,
    RequestUsage,
    ScheduledJob,
)
from memoryweb import urls
from tests.world import rows as world
from tests.world.cases import each
from tests.world.rows import World

SHOWN = [
    "project",
    "session",
    "memory",
    "dreamrun",
    "proposal",
    "policy",
    "override",
    "price",
    "auditentry",
    "scheduledjob",
    "jobrun",
    "modelrequest",
    "requestusage",
    "historyfile",
    "notesrequest",
]
MADE_ELSEWHERE = ["project", "session", "memory", "dreamrun", "proposal", "auditentry", "jobrun"]
MADE_ELSEWHERE += ["modelrequest", "requestusage", "historyfile", "notesrequest"]
INLINE = re.compile(
    r"<script(?![^>]*\ssrc=)(?![^>]*type=\"application/json\")|\sstyle=|\son[a-z]+=", re.IGNORECASE
)


@pytest.fixture
def rows(world: World) -> World:
    conf.specs()
    Override.objects.create(key="min_hours", value=12.0)
    DreamUsage.objects.create(
        dream=world.dream,
        turn=1,
        model="m",
        at=world.dream.created_at,
        cost_usd="0.01",
    )
    ModelRequest.objects.create(project=world.project, model="m", at=world.dream.created_at, cost_usd="0.01")
    RequestUsage.objects.create(key=1, session=world.session, model="m", at=world.dream.created_at)
    NotesRequest.objects.create(session=world.session, model="m", asked_at=timezone.now())
    HistoryFile.objects.create(host="here", root="/home/me/.claude", line_no=7, malformed_lines=2)
    Policy.objects.create(operation="add", action="auto")
    Price.objects.create(
        model="m", since="2026-01-01", input=1, output=1, cache_write_5m=1, cache_write_1h=1, cache_read=1
    )
    AuditEntry.objects.create(number=1, at=world.dream.created_at, action="login", hash="x")
    job = ScheduledJob.objects.create(kind="verify", cron="0 3 * * *", host="here", made_at=timezone.now())
    JobRun.objects.create(job=job, kind=job.kind, label=str(job), host=job.host, made_at=timezone.now())
    return world


def _row(name: str) -> object:
    return apps.get_model("dreams", name)._default_manager.first()


@each("name", SHOWN)
def test_a_list_and_a_row_come_up_without_anything_inline(browser: Client, rows: World, name: str) -> None:
    found = browser.get(reverse(f"admin:dreams_{name}_changelist"))
    assert found.status_code == 200
    assert not INLINE.search(found.content.decode())
    row = _row(name)
    one = browser.get(reverse(f"admin:dreams_{name}_change", args=[row.pk]))  # type: ignore[attr-defined]
    assert one.status_code == 200
    assert not INLINE.search(one.content.decode())


@each("year", ["12345678901234567890", "9999", "0", "x"])
def test_a_year_that_is_no_date_shows_all_rows(browser: Client, rows: World, year: str) -> None:
    address = reverse("admin:dreams_session_changelist")
    assert browser.get(f"{address}?touched_at__year={year}", follow=True).status_code == 200


@each("query", ["session_changelist?project=99999999999999999999", "historyfile_changelist?identity=1"])
def test_a_value_that_no_row_can_have_shows_all_rows(browser: Client, rows: World, query: str) -> None:
    name, _, given = query.partition("?")
    address = reverse(f"admin:dreams_{name}")
    assert browser.get(f"{address}?{given}", follow=True).status_code == 200


@pytest.mark.more
@pytest.mark.parametrize("name", SHOWN)
def test_a_list_can_be_searched_and_filtered(browser: Client, rows: World, name: str) -> None:
    model_admin = admin.site._registry[apps.get_model("dreams", name)]
    address = reverse(f"admin:dreams_{name}_changelist")
    if model_admin.search_fields:
        assert browser.get(address, {"q": "acme"}).status_code == 200


@pytest.mark.more
@pytest.mark.parametrize("name", MADE_ELSEWHERE)
def test_what_the_engine_made_is_neither_added_nor_deleted_here(
    browser: Client, rows: World, name: str
) -> None:
    row = _row(name)
    assert browser.get(reverse(f"admin:dreams_{name}_add")).status_code == 403
    gone = browser.post(
        reverse(f"admin:dreams_{name}_delete", args=[row.pk]),
        {"post": "yes"},  # type: ignore[attr-defined]
    )
    assert gone.status_code == 403
    assert _row(name) is not None


@pytest.mark.parametrize("name", ["auditentry", "project", "policy"])
def test_every_choice_of_a_filter_has_words(browser: Client, rows: World, name: str) -> None:
    text = browser.get(reverse(f"admin:dreams_{name}_changelist")).content.decode()
    choices = re.findall(r'<a href="\?[^"]*">([^<]*)</a>', text.partition('id="changelist-filter"')[2])
    assert "none" in choices and all(choice.strip() for choice in choices)


@pytest.mark.parametrize(
    ("name", "raw", "written"),
    [("override", "12.0", "12"), ("dreamusage", "0.0100000000", "$0.01"), ("price", "1.0000", "$1")],
)
def test_values_are_written_as_on_the_pages(
    browser: Client, rows: World, name: str, raw: str, written: str
) -> None:
    pages = [reverse(f"admin:dreams_{name}_changelist")]
    if name != "price":  # whose form takes every place that is stored
        pages.append(reverse(f"admin:dreams_{name}_change", args=[_row(name).pk]))  # type: ignore[attr-defined]
    for page in pages:
        text = browser.get(page).content.decode()
        assert raw not in text and re.search(rf'[>"]{re.escape(written)}[<"]', text), page


def test_a_price_below_nothing_is_refused_beside_its_field(browser: Client, rows: World) -> None:
    price = Price.objects.get(model="m")
    address = reverse("admin:dreams_price_change", args=[price.pk])
    form = browser.get(address).context["adminform"].form
    given = {name: "" if value is None else value for name, value in form.initial.items()}
    answer = browser.post(address, {**given, "input": "-0.5"})
    assert answer.context["adminform"].form.errors == {"input": ["This cannot be below 0."]}
    price.refresh_from_db()
    assert price.input == 1
    assert browser.post(address, {**given, "input": "0"}).status_code == 302
    price.refresh_from_db()
    assert price.input == 0


def test_a_host_is_called_by_its_name(browser: Client, rows: World) -> None:
    Host.objects.create(key="a-key-of-letters", name="desk")
    Project.objects.update(host="a-key-of-letters")
    text = browser.get(reverse("admin:dreams_project_changelist")).content.decode()
    assert ">desk</td>" in text and ">desk</a>" in text and ">a-key-of-letters<" not in text


def test_moments_are_written_as_on_the_pages(browser: Client, rows: World) -> None:
    text = browser.get(reverse("admin:dreams_auditentry_changelist")).content.decode()
    assert f"{timezone.localtime(rows.dream.created_at):%-d %b %Y, %H:%M}" in text


def test_what_is_only_shown_leads_to_its_page_and_to_no_history_of_the_admin(
    browser: Client, rows: World
) -> None:
    def tools(name: str) -> str:
        row = _row(name)
        text = browser.get(reverse(f"admin:dreams_{name}_change", args=[row.pk])).content.decode()  # type: ignore[attr-defined]
        return text.partition('class="object-tools"')[2].partition("</ul>")[0]

    assert "Its page" in tools("memory") and "History" not in tools("memory")
    assert "Its page" not in tools("price") and "History" in tools("price")


def test_the_audit_log_cannot_be_changed(browser: Client, rows: World) -> None:
    entry = AuditEntry.objects.get()
    address = reverse("admin:dreams_auditentry_change", args=[entry.pk])
    assert browser.post(address, {"actor": "someone"}).status_code == 403


def test_the_admin_fits_its_models() -> None:
    """The admin is imported with the addresses, which may be after the system's own checks."""
    assert urls.urlpatterns
    assert admin.site.check(None) == []


def test_the_queues_rows_which_name_functions_to_call_have_no_form(browser: Client, db: None) -> None:
    assert not [model for model in admin.site._registry if model._meta.app_label == "django_q"]
    assert browser.get("/admin/django_q/schedule/add/").status_code == 404


def test_a_stranger_is_led_to_our_own_login_and_back(client: Client, db: None) -> None:
    answer = client.get(reverse("admin:index"))
    assert answer.status_code == 302
    assert answer["Location"].startswith(reverse("login"))
    assert "admin" in answer["Location"]


def test_accounts_are_changed_on_their_own_page_alone(browser: Client, db: None) -> None:
    assert not [model for model in admin.site._registry if model._meta.app_label == "auth"]


def test_a_threshold_is_checked_as_on_the_settings_page(browser: Client, db: None) -> None:
    address = reverse("admin:dreams_override_add")
    refused = browser.post(address, {"key": "min_hours", "value": "soon"})
    assert "is not a number" in refused.content.decode()
    wrong = browser.post(address, {"key": "paused", "value": "on", "project": world.make_project().pk})
    assert "set for all projects together" in wrong.content.decode()
    assert not Override.objects.exists()


def test_a_threshold_that_does_not_fit_to_another_is_refused(browser: Client, db: None) -> None:
    answer = browser.post("/admin/dreams/override/add/", {"key": "row_aim", "value": "500"}).content.decode()
    assert "500 is above “Long index rows”, 200" in answer
    assert not Override.objects.exists()


def test_the_default_of_a_threshold_is_no_setting_and_is_refused_as_such(browser: Client, db: None) -> None:
    add = reverse("admin:dreams_override_add")
    assert (
        "Hours between dreams: this is the default."
        in browser.post(add, {"key": "min_hours", "value": "24"}).content.decode()
    )
    browser.post(add, {"key": "min_hours", "value": "12"})
    change = reverse("admin:dreams_override_change", args=[Override.objects.get().pk])
    assert "To go back to it, delete this setting." in browser.post(change, {"value": "24"}).content.decode()
    assert Override.objects.get().value == 12.0


def test_a_threshold_counts_at_once_and_is_written_down(browser: Client, db: None) -> None:
    browser.post(reverse("admin:dreams_override_add"), {"key": "min_hours", "value": "12"})
    assert conf.current().min_hours == 12.0
    row = Override.objects.get()
    assert row.changed_by == "owner"
    browser.post(reverse("admin:dreams_override_change", args=[row.pk]), {"value": "8"})
    assert conf.current().min_hours == 8.0
    browser.post(reverse("admin:dreams_override_delete", args=[row.pk]), {"post": "yes"})
    assert conf.current().min_hours == 24.0
    assert AuditEntry.objects.filter(action="setting.changed").count() == 3


def test_adding_a_threshold_that_is_there_changes_it(browser: Client, db: None) -> None:
    for value in ("12", "6"):
        browser.post(reverse("admin:dreams_override_add"), {"key": "min_hours", "value": value})
    assert [row.value for row in Override.objects.all()] == [6.0]


def test_a_number_that_no_project_has_is_refused_in_plain_words(browser: Client, db: None) -> None:
    given = {"operation": "add", "action": "auto", "project": "99999"}
    page = browser.post(reverse("admin:dreams_policy_add"), given).content.decode()
    assert "No project has this number." in page


def test_adding_a_policy_that_is_there_changes_it(browser: Client, db: None) -> None:
    for action in ("auto", "review"):
        browser.post(reverse("admin:dreams_policy_add"), {"operation": "add", "action": action})
    assert [row.action for row in Policy.objects.all()] == ["review"]


def test_whoever_sets_a_policy_reads_what_it_does(browser: Client, db: None) -> None:
    add = reverse("admin:dreams_policy_add")
    assert "What dreams may write without asking you" in browser.get(add).content.decode()
    told = "Memories can be removed without asking you."
    given = {"operation": "add", "action": "auto"}
    assert told not in browser.post(add, given, follow=True).content.decode()
    answer = browser.post(add, {**given, "operation": "remove"}, follow=True)
    assert told in answer.content.decode()
    assert "Remove, any type: apply without asking" in answer.content.decode()
    policy = Policy.objects.get(operation="remove")
    page = browser.get(reverse("admin:dreams_policy_change", args=[policy.pk])).content.decode()
    assert "Without it" in page and "reviewed" in page


def test_a_policy_of_the_list_says_once_what_it_does(browser: Client, db: None) -> None:
    Policy.objects.create(operation="add", memory_type="user", action="auto")
    row = browser.get(reverse("admin:dreams_policy_changelist")).content.decode().partition("<tbody>")[2]
    row = row.partition("</tbody>")[0]
    assert "Add, user type: apply without asking" in row and "Apply without asking" not in row


def test_a_policy_is_set_and_taken_away_with_a_trace(browser: Client, db: None) -> None:
    fields = {"operation": "add", "action": "auto", "memory_type": "feedback"}
    browser.post(reverse("admin:dreams_policy_add"), fields)
    row = Policy.objects.get()
    assert (row.action, row.memory_type, row.changed_by) == ("auto", "feedback", "owner")
    browser.post(
        reverse("admin:dreams_policy_changelist"),
        {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"},
    )
    assert not Policy.objects.exists()
    assert AuditEntry.objects.filter(action="policy.changed").count() == 2


def test_trusting_a_project_here_is_written_down_and_nothing_else_changes(
    browser: Client, rows: World
) -> None:
    project = rows.project
    browser.post(
        reverse("admin:dreams_project_change", args=[project.pk]),
        {"trusted": "on", "name": "other", "host": "x"},
    )
    found = Project.objects.get(pk=project.pk)
    assert (found.trusted, found.name, found.host) == (True, project.name, project.host)
    assert AuditEntry.objects.filter(action="project.trusted").exists()


def test_lists_do_not_ask_the_database_once_per_row(
    browser: Client, rows: World, django_assert_max_num_queries: object
) -> None:
    for number in range(10):
        project = world.make_project(f"p{number}")
        world.make_memory(project)
        world.make_session(project)
        world.make_proposal(project, world.make_dream(project))
    for name in ("session", "memory", "dreamrun", "proposal"):
        with django_assert_max_num_queries(15):  # type: ignore[operator]
            browser.get(reverse(f"admin:dreams_{name}_changelist"))


@each("page", ["index", "dreams_project_changelist", "dreams_policy_add", "password_change"])
def test_every_page_has_the_picture_of_the_tab_and_the_name(browser: Client, page: str) -> None:
    text = browser.get(reverse(f"admin:{page}")).content.decode()
    assert re.search(r'<link rel="icon" href="[^"]*img/favicon[^"]*\.svg"', text)
    assert re.search(r'id="site-name"><a href="/admin/">memoryweb</a>', text)


def test_a_job_is_added_and_removed_as_on_its_page(browser: Client, world: World) -> None:
    add = reverse("admin:dreams_scheduledjob_add")
    page = browser.post(add, {"kind": "verify", "cron": "0 3 * *"}).content.decode()
    assert "not five fields" in page
    page = browser.post(add, {"kind": "verify", "cron": "99 3 * * *"}).content.decode()
    assert "“99 3 * * *” is not a schedule. Minutes are 0-59" in page
    browser.post(add, {"kind": "verify", "cron": "0  3 * * *"})
    job = ScheduledJob.objects.get()
    assert (job.cron, job.made_by, job.next_at is None) == ("0 3 * * *", "owner", False)
    browser.post(reverse("admin:dreams_scheduledjob_delete", args=[job.pk]), {"post": "yes"})
    assert not ScheduledJob.objects.exists()
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {"job.added", "job.removed"}
