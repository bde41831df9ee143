"""Search: any part of a word in memories, their earlier versions and what was typed, and where each result leads."""

from __future__ import annotations

import datetime as dt
import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from hypothesis import given, strategies as st

from dreams.models import Memory, Project, Prompt, SearchText, Session, Version
from dreams.services.search import finding, index, sqlite
from dreams.services.search.query import parse
from dreams.web.pages import search
from tests.world import rows as world
from tests.world.strategies import tries

_keys = iter(range(1, 10**6))


def _typed(session: Session, text: str, line: int = 1, at: dt.datetime | None = None) -> Prompt:
    return Prompt.objects.create(
        key=next(_keys), session=session, offset=line, line_no=line, at=at or timezone.now(), text=text
    )


def _replaced(memory: Memory, text: str) -> Version:
    """The memory says something else now; returns the new version."""
    memory.sha256 = world.blob(text)
    memory.save()
    return Version.objects.create(
        memory=memory,
        number=memory.versions.count() + 1,
        sha256=memory.sha256,
        at=timezone.now(),
        origin=Version.Origin.OUTSIDE,
    )


@pytest.fixture
def project(db: None) -> Project:
    return world.make_project()


def _found(browser: Client, q: str, **more: str) -> str:
    index.catch_up(5)
    return browser.get(reverse("search"), {"q": q, **more}).content.decode()


def _hrefs(text: str) -> list[str]:
    return [unescape(href) for href in re.findall(r'class="row-title" href="([^"]+)"', text)]


def _groups(text: str) -> list[str]:
    return re.findall(r'id="found-(\w+)"', text)


def test_a_memory_is_found_by_the_accents_of_its_name(browser: Client, project: Project) -> None:
    named = world.make_memory(project, path="über-größen.md", text="About nothing.\n")
    for typed in ("größen", "Über", '"über-größen"', "über md"):
        assert _hrefs(_found(browser, typed, kind="memories")) == [f"/memories/{named.pk}/"], typed
    assert _hrefs(_found(browser, "grösser", kind="memories")) == []
    capital = world.make_memory(project, path="Ärger ÉTÉ.md", text="About nothing.\n")
    for typed in ("Ärger", "ärger", "ÉTÉ", "été"):
        assert _hrefs(_found(browser, typed, kind="memories")) == [f"/memories/{capital.pk}/"], typed


def test_each_kind_is_found_in_its_own_group_and_leads_to_its_place(
    browser: Client, project: Project
) -> None:
    memory = world.make_memory(project, text="# Deploys\n\nDeploys go through the turbine.\n")
    old = memory.versions.get()
    new = _replaced(memory, "# Deploys\n\nDeploys go by hand.\n")
    session = world.make_session(project)
    _typed(session, "Why is the turbine red?", line=17)
    other = world.make_memory(project, path="turbine.md", text="About nothing.\n")
    assert _groups(_found(browser, "turbine")) == ["memories", "versions", "typed"]
    assert _hrefs(_found(browser, "turbine")) == [
        f"/memories/{other.pk}/",
        f"/memories/{memory.pk}/compare/?a={old.pk}&b={new.pk}",
        f"/sessions/{session.pk}/?line=17#line-17",
    ]


def test_a_session_is_found_by_its_title_with_its_words_marked_and_without_its_secret(
    browser: Client, project: Project
) -> None:
    secret = "ghp_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO"
    session = world.make_session(project, title=f"Möve the turbine with {secret}")
    world.make_session(project, title="The turbine of our own dream", own=True)
    text = _found(browser, "move turb")
    assert (_groups(text), _hrefs(text)) == (["sessions"], [f"/sessions/{session.pk}/"])
    assert "<mark>Möve</mark> the <mark>turb</mark>ine" in text
    assert secret not in text
    assert _groups(_found(browser, secret)) == []
    quick = browser.get(
        reverse("search"), {"q": "turb"}, headers={"HX-Request": "true", "HX-Target": "quick-found"}
    ).content.decode()
    assert "<mark>turb</mark>ine" in quick


def test_a_memory_is_opened_at_the_line_with_its_words(browser: Client, project: Project) -> None:
    memory = world.make_memory(project, text="# T\n\nFirst.\nUse the staging-db host, always.\n")
    assert _hrefs(_found(browser, "aging-DB")) == [
        f"/memories/{memory.pk}/?view=source#line-4:~:text=Use%20the%20staging%2Ddb%20host%2C%20always."
    ]


@pytest.mark.more
@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("see src/api/handlers_v2.py for it", "handlers_v2.py"),
        ("see src/api/handlers_v2.py for it", "dlers_v"),
        ("우리는 금요일에 배포하지 않는다", "배포"),
        ("우리는 금요일에 배포", "배포"),
        ("Le café est fermé", "cafe"),
        ("Straße und ÄRGER", "strasse ärger"),
        ("Port 5433", "33"),
        ('He said "never again" there', '"never again"'),
        ("two words\nover a line", '"words over"'),
        ("cafe\u0301 in two characters", "caf\u00e9"),
        ("100% sure_thing", "100% sure_"),
    ],
)
def test_parts_of_words_are_found_in_any_script_with_or_without_accents(
    browser: Client, project: Project, text: str, sought: str
) -> None:
    world.make_memory(project, text=f"# T\n\n{text}\n")
    world.make_memory(project, path="other.md", text="Something else entirely.\n")
    found = _found(browser, sought)
    assert len(_hrefs(found)) == 1
    assert '"words over"' in sought or "<mark>" in found


def test_all_words_must_occur_and_words_in_quotes_side_by_side(browser: Client, project: Project) -> None:
    world.make_memory(project, text="Red lamps, green doors.\n")
    assert _hrefs(_found(browser, "doors red"))
    assert not _hrefs(_found(browser, "doors blue"))
    assert not _hrefs(_found(browser, '"doors red"'))
    assert _hrefs(_found(browser, '"green doors"'))


@pytest.mark.more
@tries(12, 60)
@given(typed=st.text(max_size=30) | st.text(alphabet="\"'*():^-+ ANDORNEAR%_\\ab", max_size=20))
def test_anything_that_can_be_typed_is_a_query(browser: Client, project: Project, typed: str) -> None:
    assert browser.get(reverse("search"), {"q": typed}).status_code == 200


def test_what_was_not_found_is_named_as_it_was_typed(browser: Client) -> None:
    text = " ".join(_found(browser, '"no such words"').split())
    assert "has <b>&quot;no such words&quot;</b>." in text


def test_nothing_that_is_found_becomes_markup(browser: Client, project: Project) -> None:
    evil = "<script>alert(1)</script> needle <img src=x> \u202eabc"
    world.make_memory(project, path="a<b>needle.md", text=evil)
    _typed(world.make_session(project, title="<i>t</i>"), evil)
    for headers in ({}, {"HX-Request": "true", "HX-Target": "quick-found"}):
        text = browser.get(reverse("search"), {"q": "needle"}, headers=headers).content.decode()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "<i>t" not in text
        assert "\u202e" not in text
        assert "<mark>needle</mark>" in text


def test_a_secret_that_was_typed_is_neither_shown_nor_found(browser: Client, project: Project) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    _typed(world.make_session(project), f"Use {secret} please")
    assert secret not in _found(browser, "please")
    assert "[redacted:" in _found(browser, "please")
    assert not _hrefs(_found(browser, secret[4:20]))


def test_a_text_that_many_versions_share_is_kept_once(project: Project) -> None:
    first = world.make_memory(project, text="The same.\n")
    world.make_memory(project, path="copy.md", text="The same.\n")
    _replaced(first, "Another.\n")
    _replaced(first, "The same.\n")
    assert index.catch_up(5) == 0
    assert SearchText.objects.count() == 2


def test_an_earlier_version_tells_whether_its_words_still_stand(browser: Client, project: Project) -> None:
    gone = world.make_memory(project, path="gone.md", text="A lantern burns.\n", gone_at=timezone.now())
    kept = world.make_memory(project, path="kept.md", text="A lantern burns here.\n")
    _replaced(kept, "A lantern burns there.\n")
    text = _found(browser, "lantern burns", kind="versions")
    assert text.index("gone.md") < text.index("kept.md")
    assert "no longer says so" in text.partition("kept.md")[0]
    assert "still says so" in text.partition("kept.md")[2]
    assert gone.path not in _found(browser, "lantern", kind="memories")


def test_earlier_versions_are_found_alike_from_their_texts_and_from_all_versions(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, month_ago = world.make_project("other"), timezone.now() - dt.timedelta(days=30)
    gone = world.make_memory(project, path="gone.md", text="A lantern burns.\n", gone_at=timezone.now())
    for owner, path in ((project, "kept.md"), (other, "far.md")):
        kept = world.make_memory(owner, path=path, text=f"A lantern burns in {path}.\n")
        kept.versions.update(at=month_ago)
        _replaced(kept, f"A lantern is in {path}.\n")
        _replaced(kept, f"No light is in {path}.\n")
    index.catch_up(5)
    narrowed = (
        finding.Filters(),
        finding.Filters(project=other.pk),
        finding.Filters(since=month_ago + dt.timedelta(days=1)),
    )
    found = {}
    for many in (1, 10**9):  # no word is in most texts, every word is
        monkeypatch.setattr(finding, "MANY", many)
        words = map(parse, ("lantern", "lantern burns", "nowhere", "in far.md"))
        found[many] = [finding.versions(query, filters) for query in words for filters in narrowed]
    assert found[1] == found[10**9]
    assert {row.newest: row.count for row in found[1][0]}[gone.versions.get().pk] == 1
    assert sorted(row.count for row in found[1][0]) == [1, 2, 2]


def test_the_answer_can_be_narrowed_to_a_project_a_kind_and_a_time(browser: Client, project: Project) -> None:
    other = world.make_project("other")
    old = timezone.now() - dt.timedelta(days=60)
    _typed(world.make_session(project, title="Here"), "the needle now")
    _typed(world.make_session(other, title="There"), "the needle then", at=old)
    world.make_memory(other, text="A needle.\n")
    assert len(_hrefs(_found(browser, "needle"))) == 3
    assert len(_hrefs(_found(browser, "needle", kind="typed"))) == 2
    assert len(_hrefs(_found(browser, "needle", project=str(other.pk)))) == 2
    assert "Here" in _found(browser, "needle", kind="typed", since="month")
    assert "There" not in _found(browser, "needle", kind="typed", since="month")
    assert _groups(_found(browser, "needle", kind="nonsense", since="x", project="-1"))


def test_a_group_shows_and_counts_a_few_and_its_own_page_shows_all(
    browser: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = world.make_session(project)
    for line in range(1, 31):
        _typed(session, f"needle number {line}", line=line)
    first = _found(browser, "needle")
    assert len(_hrefs(first)) == 5
    assert "Show all" in first
    monkeypatch.setattr(search, "COUNTED", 29)
    assert "<p>29 or more, in sessions</p>" in _found(browser, "needle")
    assert "<p>30, in sessions</p>" in _found(browser, "needle", kind="typed")
    pages = [_hrefs(_found(browser, "needle", kind="typed", page=page)) for page in "12"]
    assert [len(page) for page in pages] == [20, 10]
    assert not set(pages[0]) & set(pages[1])


def test_the_field_of_every_page_gets_a_short_list_without_the_page(
    browser: Client, project: Project
) -> None:
    world.make_memory(project)
    index.catch_up(5)
    assert 'id="quick-found"' in browser.get("/").content.decode()
    answer = browser.get(
        reverse("search"), {"q": "postgres"}, headers={"HX-Request": "true", "HX-Target": "quick-found"}
    )
    text = answer.content.decode()
    assert "<html" not in text
    assert "<mark>Postgre" in text
    assert f"{reverse('search')}?q=postgres" in text


@pytest.mark.more
def test_searching_costs_the_same_however_much_is_found(browser: Client, project: Project) -> None:
    def queries() -> int:
        index.catch_up(5)
        with CaptureQueriesContext(connection) as caught:
            _found(browser, "needle")
        return len(caught)

    world.make_memory(project, text="needle\n")
    _replaced(world.make_memory(project, path="b.md", text="needle b\n"), "nothing")
    _typed(world.make_session(project), "needle")
    queries()  # the first answer of a new login also stores the session
    few = queries()
    for number in range(12):
        memory = world.make_memory(project, path=f"{number}.md", text=f"needle {number}\n")
        _replaced(memory, f"other {number}")
        _typed(world.make_session(project), f"needle {number}", line=number + 2)
    assert queries() == few


def test_of_a_common_word_as_many_are_found_as_are_counted_and_of_all_others_everything(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [world.make_memory(project, path=f"m{n}.md", text=f"The turbine is {n}.\n") for n in range(9)]
    old = [memory.versions.get().pk for memory in made]
    for memory in made:
        _replaced(memory, f"{memory.path}: the turbine is red.\n" if memory.pk % 2 else "Nothing.\n")
    index.catch_up(5)
    asked = parse("turbine")

    def found() -> list[tuple[int, bool]]:
        return [(row.newest, row.still) for row in finding.versions(asked, finding.Filters())]

    everything = found()
    assert sorted(everything) == [(pk, bool(memory.pk % 2)) for pk, memory in zip(old, made, strict=True)]
    monkeypatch.setattr(finding, "FEW", 4)
    assert found() == everything  # four are not as many as are counted: all are looked for
    monkeypatch.setattr(finding, "MOST", 4)
    assert len(newest := found()) == 4
    assert set(newest) <= set(everything)


@pytest.mark.not_on_postgresql  # which misses no index: it answers more slowly
def test_a_damaged_index_is_rebuilt_from_the_page_that_tells_of_it(browser: Client, project: Project) -> None:
    world.make_memory(project)
    assert index.catch_up(5) == 0
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE {sqlite.FTS}")
    assert "Rebuild the index" in _found(browser, "postgres")
    response = browser.post(reverse("search-rebuild"), follow=True)
    assert "being rebuilt" in response.content.decode()
    found = _found(browser, "postgres")
    assert "Rebuild the index" not in found and reverse("memory", args=[Memory.objects.get().pk]) in found


def test_only_the_owner_may_search(client: Client, db: None) -> None:
    assert client.get(reverse("search"), {"q": "x"}).status_code == 302


def test_a_search_only_reads_and_says_how_much_waits(browser: Client) -> None:
    session = world.make_session(world.make_project(), title_indexed_at=timezone.now())
    _typed(session, "needle")
    for headers in ({}, {"HX-Request": "true", "HX-Target": "quick-found"}):
        with CaptureQueriesContext(connection) as queries:
            page = browser.get("/search/?q=needle", headers=headers).content.decode()
        assert "not indexed yet" in page
        texts = [q["sql"] for q in queries if "dreams_searchtext" in q["sql"] or "dreams_prompt" in q["sql"]]
        assert texts and all(sql.startswith("SELECT") for sql in texts)
