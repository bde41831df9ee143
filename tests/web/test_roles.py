"""Each address takes what the account's role may do, and no more; pages show nobody what they may not use."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver, resolve, reverse
from django.utils import timezone

from dreams.models import DreamSession, Question, Session, Turn
from dreams.services.people import Role
from dreams.web import access
from dreams.web.views import errors
from tests.web.test_queries import PAGES, _grow
from tests.world import rows as make
from tests.world.rows import World

pytestmark = pytest.mark.django_db

FLAGS: dict[Role, dict[str, bool]] = {
    Role.VIEWER: {},
    Role.REVIEWER: {"is_staff": True},
    Role.ADMIN: {"is_staff": True, "is_superuser": True},
}
#: What was promised of each role, in words of their own: the table must not be its only proof.
TRANSCRIPTS = {"session", "session-prompt", "session-notes", "project-prompts", "project-logs", "evidence"}
UNMASKING = {"memory-secrets", "review-secrets"}
DECIDING = {"review-decide", "review-submit", "review-apply", "undo", "memory-restore", "card-decide"}
ADMINS = {
    *(
        "settings",
        "project-settings",
        "settings-pause",
        "policy-answer",
        "policy-end",
        "feed-make",
        "hook-write",
    ),
    *("person-add", "person-role", "person-password", "person-remove"),
    *("project-purge", "project-trust", "schedule-run", "schedule-remove", "admin:index"),
}
TABLE = re.compile(r"admin:[a-z]+_[a-z]+_[a-z]+$")  # app, table, deed
MADE_UP = {"str": "x", "slug": "x", "int": 1, "path": "x"}


def everything() -> dict[str, str]:
    """Name → address of all that the URL conf has, Django's admin too: of its tables one for each deed, as all have one row."""
    found = {}
    for name, address in _named(get_resolver(), ""):
        deed = name.rpartition("_")[2] if TABLE.match(name) else name
        found.setdefault(deed, (name, address))
    return dict(found.values())


def _named(resolver: URLResolver, space: str) -> Iterator[tuple[str, str]]:
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver):
            yield from _named(one, f"{one.namespace}:" if one.namespace else space)
        elif isinstance(one, URLPattern) and one.name:
            yield f"{space}{one.name}", _address(f"{space}{one.name}", one)


def _address(name: str, pattern: URLPattern) -> str:
    given = pattern.pattern.converters
    kinds = {key: type(kind).__name__.removesuffix("Converter").lower() for key, kind in given.items()}
    groups = pattern.pattern.regex.groups - len(given)
    if groups:
        return reverse(name, args=["dreams"])
    return reverse(name, kwargs={key: MADE_UP.get(kind, "x") for key, kind in kinds.items()})


class Reached:
    """Behind all middleware, before any view: what comes here was let through."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> HttpResponse:
        return HttpResponse("reached", content_type="text/plain")


def client_of(role: Role | None) -> Client:
    client = Client()
    if role:
        client.force_login(User.objects.create_user(role.label, **FLAGS[role]))
    return client


def answers(role: Role | None) -> dict[str, str]:
    """Name → "get", "post", "get post" or "": what of an address a role reaches, by real requests."""
    client, found = client_of(role), {}
    with override_settings(MIDDLEWARE=[*settings.MIDDLEWARE, f"{__name__}.Reached"]):
        for name, address in everything().items():
            asked = {"get": client.get(address), "post": client.post(address)}
            found[name] = " ".join(verb for verb, one in asked.items() if one.content == b"reached")
    return found


def test_every_address_has_a_row_and_every_row_an_address() -> None:
    ours = {name for name in everything() if not name.startswith("admin:")}
    assert ours == access.LEAST.keys() | access.OPEN
    assert not access.LEAST.keys() & access.OPEN
    assert access.TO_POST.keys() | access.OWN <= access.LEAST.keys()


def test_an_address_without_a_row_is_refused_to_an_admin_too(
    monkeypatch: pytest.MonkeyPatch, browser: Client
) -> None:
    monkeypatch.delitem(access.LEAST, "usage")
    assert browser.get(reverse("usage")).status_code == 403


@pytest.fixture
def bare_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of pages that say no cost seconds; what one says is tested below."""
    monkeypatch.setattr(errors, "forbidden", lambda *_: HttpResponse(status=403))


def _as_the_table_says(found: dict[str, str], role: Role | None) -> bool:
    return found == {
        name: " ".join(verb for verb in ("get", "post") if access.allows(role, name, posts=verb == "post"))
        for name in found
    }


def test_a_stranger_reaches_nothing_but_the_login(bare_refusals: None) -> None:
    assert {name for name, verbs in answers(None).items() if verbs} == access.OPEN


def test_a_viewer_reads_and_changes_nothing_but_what_is_theirs(bare_refusals: None) -> None:
    found = answers(Role.VIEWER)
    assert {name for name, verbs in found.items() if "post" in verbs} == access.OPEN | access.OWN
    assert not {name for name in TRANSCRIPTS | UNMASKING | DECIDING | ADMINS if found[name]}
    assert found["review"] == found["memory"] == found["audit"] == "get"
    assert _as_the_table_says(found, Role.VIEWER)


def test_a_reviewer_decides_and_undoes_and_leaves_settings_alone(bare_refusals: None) -> None:
    found = answers(Role.REVIEWER)
    assert all("post" in found[name] for name in DECIDING | UNMASKING)
    assert all("get" in found[name] for name in TRANSCRIPTS)
    assert not {
        name for name, verbs in found.items() if verbs and (name in ADMINS or name.startswith("admin:"))
    }
    assert _as_the_table_says(found, Role.REVIEWER)


@pytest.mark.more
def test_an_admin_reaches_everything(bare_refusals: None) -> None:
    found = answers(Role.ADMIN)
    assert all(verbs == "get post" for verbs in found.values())
    assert len(found) > 100


def test_a_refusal_says_who_can(world: World) -> None:
    client = client_of(Role.VIEWER)
    answer = client.post(reverse("review-submit", args=[world.proposal.public_id]))
    assert answer.status_code == 403
    assert "Only a reviewer or an admin can do this" in answer.content.decode()
    assert (
        "Your role is viewer. Only an admin can do this" in client.get(reverse("settings")).content.decode()
    )


# --- What pages show ------------------------------------------------------------------------------------------------

CONTROL = re.compile(r"<(form|a|button)\b([^>]*)>")
ATTRIBUTE = re.compile(r'(?<![\w-])(href|action|formaction|method)="([^"]*)"')


def _beyond(page: str, here: str, role: Role) -> set[str]:
    """Addresses of the page's links, forms and buttons that its reader may not use."""
    found = set()
    for tag, text in CONTROL.findall(page):
        given = dict(ATTRIBUTE.findall(text))
        address = (
            given.get("href")
            or given.get("action")
            or given.get("formaction")
            or (here if tag == "form" else "")
        )
        try:
            name = resolve(urlsplit(unescape(address)).path).view_name
        except Resolver404:
            continue
        posts = tag == "button" or given.get("method") == "post"
        if not access.allows(role, name, posts=posts):
            found.add(name)
    return found


@pytest.mark.more
@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER])
def test_no_page_leads_its_reader_to_what_they_may_not_use(role: Role, world: World) -> None:
    _grow(world, 0, 2)
    client = client_of(role)
    for name, address_of in PAGES.items():
        address = address_of(world)
        answer = client.get(address)
        if answer.status_code == 200 and not answer.streaming:
            text = answer.content.decode()
            assert not _beyond(text, urlsplit(address).path, role), name
            assert len(re.findall(r"<h1[ >]", text)) <= 1
            assert text.count("<form") == text.count("</form>"), name


@pytest.mark.more
def test_nothing_is_left_of_what_a_role_may_not_do(world: World) -> None:
    viewer, reviewer, admin = (client_of(role) for role in (Role.VIEWER, Role.REVIEWER, Role.ADMIN))
    Question.objects.create(project=world.project, kind="same", subject="x", why="Said twice.", asked=True)
    applied = make.make_proposal(make.make_project())
    make.make_written(applied)
    for reader, address, words in (
        (reviewer, "/schedules/", ("Add a job", "You can set")),
        (reviewer, "/engines/", ("Press the button",)),
        (viewer, "/", ("until you submit", "Only you can tell")),
        (viewer, "/search/", ("titles of sessions",)),
        (viewer, "/search/?q=zzqqzz", ("nothing you typed", "inside each session")),
        (viewer, reverse("review", args=[world.proposal.public_id]), ("until you submit",)),
        (viewer, "/projects/", (">Review<",)),
        (viewer, reverse("review", args=[applied.public_id]), ("Undo this change", 'class="hunk-end')),
        (viewer, "/dreams/", (">Review<",)),
    ):
        for said in words:
            assert said in admin.get(address).content.decode()
            assert said not in reader.get(address).content.decode()


def test_nobody_is_told_that_something_waits_for_them_where_they_may_do_nothing(world: World) -> None:
    """The gates and the state of a project are the same for every reader, also for one who put its proposal off."""
    viewer, admin = client_of(Role.VIEWER), client_of(Role.ADMIN)
    admin.post("/snooze/", {"proposal": world.proposal.public_id, "until": "dream"})
    for reader in (viewer, admin):
        for address in ("/projects/", reverse("project", args=[world.project.pk])):
            text = reader.get(address).content.decode()
            assert "for you" not in text.lower()
            assert "Proposal open" in text or "is waiting for a review; finish that first" in text


def test_a_viewer_is_not_called_to_what_only_others_may_decide(world: World) -> None:
    for role, title, news in ((Role.ADMIN, "<title>(1) Inbox", 1), (Role.VIEWER, "<title>Inbox", 0)):
        reader = client_of(role)
        assert title in reader.get("/").content.decode()
        pulse = reader.get("/pulse/?count=9&last=0&since=0")
        assert json.loads(pulse["HX-Trigger"])["waiting"]["count"] == news
        assert pulse.content.decode().count("to review.") == news


def test_a_viewer_does_not_see_what_the_tools_of_a_dream_read(world: World) -> None:
    tool = {"name": "Read", "input": {"path": "s.jsonl"}, "output": "what was said there"}
    Turn.objects.create(dream=world.dream, number=1, phase="gather", at=timezone.now(), tools=[tool])
    address = reverse("dream", args=[world.dream.public_id])
    assert "what was said there" in client_of(Role.REVIEWER).get(address).content.decode()
    assert "what was said there" not in client_of(Role.VIEWER).get(address).content.decode()


def test_a_viewer_finds_memories_and_no_sessions(world: World) -> None:
    text = client_of(Role.VIEWER).get(reverse("search") + "?q=tests").content.decode()
    assert "What you typed" not in text
    assert "Memories" in text


def test_a_viewer_sees_no_title_of_a_session_which_is_what_a_person_typed(world: World) -> None:
    Session.objects.update(title="Pay Ines quietly")
    DreamSession.objects.create(dream=world.dream, session=world.session, from_byte=0, to_byte=1)
    project, dream = (
        reverse("project", args=[world.project.pk]),
        reverse("dream", args=[world.dream.public_id]),
    )
    review = reverse("review", args=[world.proposal.public_id])
    addresses = [project, f"{project}?show=sessions", f"{project}?show=sessions&q=quietly", dream, review]
    viewer, reviewer = client_of(Role.VIEWER), client_of(Role.REVIEWER)
    for address in addresses:
        assert "Pay Ines" in reviewer.get(address).content.decode(), address
        page = viewer.get(address).content.decode()
        assert "Pay Ines" not in page and re.search("[Aa] session", page), address


@pytest.mark.parametrize("role", Role)
def test_a_link_that_python_cannot_read_stays_on_the_page_of_a_memory(role: Role, world: World) -> None:
    # Browsers and the cleaner of pages take it; Python refuses a user name that has a wide slash.
    memory = make.make_memory(world.project, "odd.md", "See http://a\uff0fb@host.example/ first.\n")
    page = client_of(role).get(reverse("memory", args=[memory.pk]))
    assert (page.status_code, 'href="http://a\uff0fb@host.example/"' in page.content.decode()) == (200, True)


@pytest.mark.parametrize("role", Role)
def test_who_did_not_have_the_sessions_is_told_whom_a_quote_calls_you(role: Role) -> None:
    text = client_of(role).get("/").content.decode()
    assert ("“you” is the person whose sessions these are" in text) is (role < Role.ADMIN)
