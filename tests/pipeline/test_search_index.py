"""What gets into the search index and out of it: with a memory's version, after a discovery, at a purge."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ

from dreams.models import Prompt, SearchText, Session
from dreams.services import discovery
from dreams.services.hosts import host
from dreams.services.memories import syncing
from dreams.services.scheduling import scheduler
from dreams.services.search import index, postgresql, sqlite
from dreams.services.search.query import TextKind, parse
from dreams.tasks import index_texts
from tests.world import rows as world

pytestmark = pytest.mark.django_db


def _count(words: str, kind: TextKind) -> int:
    terms = parse(words).terms
    sql, values = index.newest(terms, kind)
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        found = SearchText.objects.in_bulk([key for (key,) in cursor.fetchall()])
    return sum(all(term in row.text for term in terms) for row in found.values())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "root/projects/-home-me-x"
    (made / "memory").mkdir(parents=True)
    return made


def _say(folder: Path, *texts: str) -> None:
    lines = [
        {"type": "user", "uuid": f"{text}", "sessionId": "s", "message": {"role": "user", "content": text}}
        for text in texts
    ]
    with (folder / "s.jsonl").open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.mark.not_on_postgresql
def test_a_memory_can_be_found_as_soon_as_it_was_seen_and_what_it_said_before_still(tmp_path: Path) -> None:
    project = world.make_project(memory_dir=str(tmp_path))
    (tmp_path / "a.md").write_text("The lantern is red.\n")
    syncing.refresh(project)
    assert index.waiting() == 0
    (tmp_path / "a.md").write_text("The lantern is blue now.\n")
    syncing.refresh(project)
    (tmp_path / "a.md").unlink()
    syncing.refresh(project)
    assert index.catch_up(5) == 0
    assert _count("lantern", TextKind.MEMORY) == 2
    assert _count("red", TextKind.MEMORY) == 1


@pytest.mark.not_on_postgresql
def test_what_was_typed_waits_after_a_discovery_and_the_next_tick_takes_it_in(folder: Path) -> None:
    _say(folder, "never deploy on a friday", "use the turbine")
    discovery.discover([folder.parents[1]])
    assert index.waiting() == 3  # and the title
    assert _count("turbine", TextKind.TYPED) == 0
    scheduler.tick()
    assert index.waiting() == 0
    assert _count("turbine", TextKind.TYPED) == 1
    assert _count("turbine", TextKind.MEMORY) == 0


def test_a_transcript_that_was_replaced_takes_its_words_along(folder: Path) -> None:
    _say(folder, "use the turbine")
    discovery.discover([folder.parents[1]])
    index.catch_up(5)
    (folder / "s.jsonl").unlink()
    _say(folder, "use the windmill instead, it is better")
    discovery.discover([folder.parents[1]])
    index.catch_up(5)
    assert (_count("turbine", TextKind.TYPED), _count("windmill", TextKind.TYPED)) == (0, 1)


@pytest.mark.not_on_postgresql
def test_a_session_is_found_by_its_title_and_by_the_new_one_once_it_changed(folder: Path) -> None:
    _say(folder, "use the turbine")
    discovery.discover([folder.parents[1]])
    index.catch_up(5)
    assert _count("turbine", TextKind.SESSION) == 1  # nothing else names it yet
    with (folder / "s.jsonl").open("a") as file:
        file.write(json.dumps({"type": "ai-title", "aiTitle": "Windmill plans", "sessionId": "s"}) + "\n")
    discovery.discover([folder.parents[1]])
    index.catch_up(5)
    assert (_count("turbine", TextKind.SESSION), _count("windmill", TextKind.SESSION)) == (0, 1)
    assert (_count("turbine", TextKind.TYPED), _count("windmill", TextKind.MEMORY)) == (1, 0)


def test_what_reads_otherwise_than_before_is_found_by_its_new_words_only(folder: Path) -> None:
    prompt = Prompt.objects.create(
        key=1, session=world.make_session(world.make_project()), offset=0, line_no=1, text="old words"
    )
    index.catch_up(5)
    Prompt.objects.filter(pk=prompt.pk).update(text="new letters", indexed=False)
    index.catch_up(5)
    assert (_count("words", TextKind.TYPED), _count("letters", TextKind.TYPED)) == (0, 1)


def test_a_text_that_is_forgotten_is_gone_and_stays_gone(tmp_path: Path) -> None:
    project = world.make_project(memory_dir=str(tmp_path))
    (tmp_path / "a.md").write_text("The lantern is red.\n")
    syncing.refresh(project)
    memory = project.memories.get()
    index.forget(memory.sha256)
    index.catch_up(5)
    assert _count("lantern", TextKind.MEMORY) == 0
    assert not SearchText.objects.exists()


def test_what_was_typed_and_is_scrubbed_leaves_the_index_at_once_and_comes_back_scrubbed() -> None:
    session = world.make_session(world.make_project())
    prompt = Prompt.objects.create(key=1, session=session, offset=0, line_no=1, text="the lantern word")
    index.catch_up(5)
    Prompt.objects.filter(pk=prompt.pk).update(text="the [redacted: x] word")
    index.read_again(Prompt.objects.filter(pk=prompt.pk), Session.objects.none())
    assert _count("lantern", TextKind.TYPED) == _count("word", TextKind.TYPED) == 0
    index.catch_up(5)
    assert (_count("lantern", TextKind.TYPED), _count("word", TextKind.TYPED)) == (0, 1)


def test_what_is_scrubbed_while_it_is_being_taken_in_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    session = world.make_session(world.make_project(), title="the lantern word")
    Prompt.objects.create(key=1, session=session, offset=0, line_no=1, text="a lantern word")
    real = index.redact.redact

    def purged_meanwhile(text: str) -> str:
        for rows, column in (
            (Prompt.objects.filter(text=text), "text"),
            (Session.objects.filter(title=text), "title"),
        ):
            if "lantern" in text and rows:
                keys = [row.pk for row in rows]
                rows.update(**{column: "the [redacted: x] word"})
                index.read_again(rows.model.objects.filter(pk__in=keys))
        return real(text)

    monkeypatch.setattr(index.redact, "redact", purged_meanwhile)
    index.catch_up(5)
    assert not SearchText.objects.filter(text__contains="lantern").exists()
    assert [_count("word", kind) for kind in (TextKind.TYPED, TextKind.SESSION)] == [1, 1]


def test_taking_in_stops_when_its_time_is_up_and_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "PROMPTS_AT_ONCE", 3)
    session = world.make_session(world.make_project(), title_indexed_at=timezone.now())
    Prompt.objects.bulk_create(
        Prompt(key=n, session=session, offset=n, line_no=n, text=f"needle {n}") for n in range(10)
    )
    clock = iter(range(100))
    monkeypatch.setattr(index.time, "monotonic", lambda: next(clock))
    assert index.catch_up(2) == 7
    assert index.catch_up(50) == 0
    assert _count("needle", TextKind.TYPED) == 10


def test_one_odd_text_does_not_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    session = world.make_session(world.make_project())
    for n, text in enumerate(["odd one", "needle"]):
        Prompt.objects.create(key=n, session=session, offset=n, line_no=n, text=text)

    def redact(text: str) -> str:
        if text.startswith("odd"):
            raise ValueError(text)
        return text

    monkeypatch.setattr(index.redact, "redact", redact)
    assert index.catch_up(5) == 0
    assert _count("needle", TextKind.TYPED) == 1


def test_the_command_answers_with_places() -> None:
    project = world.make_project(host=host())
    world.make_memory(project, path="a.md", text="One.\nThe turbine turns.\n")
    session = world.make_session(project)
    Prompt.objects.create(key=5, session=session, offset=9, line_no=4, text="Why does the turbine turn?")
    out = StringIO()
    call_command("search", "turbine", "--json", "--project", str(project.pk), stdout=out)
    found = json.loads(out.getvalue())
    assert [(row["path"], row["line"], row["text"]) for row in found["memories"]] == [
        ("a.md", 2, "The turbine turns.")
    ]
    assert [(row["session"], row["line"]) for row in found["typed"]] == [(session.session_id, 4)]
    assert found["versions"] == []
    words = StringIO()
    call_command("search", "nowhere", stdout=words)
    assert words.getvalue() == "Nothing found.\n"


@pytest.mark.not_on_postgresql
def test_the_scheduler_fills_the_index_and_leaves_to_a_task_what_a_tick_has_no_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = world.make_session(world.make_project(), title_indexed_at=timezone.now())
    for key in range(2):
        Prompt.objects.create(key=key, session=session, offset=key, line_no=key, text=f"needle {key}")
    cache.clear()
    monkeypatch.setattr(scheduler, "INDEX_SECONDS", 0.0)
    scheduler.tick()
    scheduler.tick()  # the task is in the queue already
    tasks = [row.task for row in OrmQ.objects.all()]
    assert [task["func"] for task in tasks].count("dreams.tasks.index_texts") == 1
    assert index_texts() == "0 texts not indexed yet"


def test_a_damaged_index_is_made_anew_from_the_texts() -> None:
    world.make_memory(world.make_project(), text="A lantern.\n")
    index.catch_up(5)
    with connection.cursor() as cursor:
        is_sqlite = connection.vendor == "sqlite"
        cursor.execute(
            f"DROP TABLE {sqlite.FTS}" if is_sqlite else f"DROP INDEX IF EXISTS {postgresql.INDEX}"
        )
    words = StringIO()
    call_command("search", "--rebuild", stdout=words)
    assert words.getvalue() == "The index is being rebuilt.\n"
    assert _count("lantern", TextKind.MEMORY) == 1
