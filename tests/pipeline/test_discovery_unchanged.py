"""What did not change costs a listing: no reading, no writing, and no query per file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import Value
from django.db.models.functions import Concat
from django.test.utils import CaptureQueriesContext

from dreams.models import Project, TranscriptFile
from tests.world.agent_folder import Root, answer, append, session, typed, write

pytestmark = pytest.mark.django_db

WRITES = ("INSERT", "UPDATE", "DELETE")


def fill(root: Root, sessions: int) -> None:
    for name in ("one", "two", "three"):
        repo = root.repository(name)
        root.memory(repo, "fact.md")
        for n in range(sessions):
            root.session(repo, f"s{n}", [typed("Hello", cwd=str(repo)), answer(f"{name}-{n}")])
            root.session(repo, f"s{n}/subagents/agent-a", [answer(f"{name}-{n}-a", isSidechain=True)])


def queries(root: Root) -> list[str]:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        assert root.discover().bytes_read == 0
    return [query["sql"] for query in captured]


def test_a_second_discovery_reads_nothing_and_writes_nothing(tmp_path: Path) -> None:
    root = Root(tmp_path)
    fill(root, 3)
    first = root.discover()
    assert first.bytes_read > 0
    assert not [sql for sql in queries(root) if sql.startswith(WRITES)]
    again = root.discover()
    assert (
        (again.projects, again.sessions, again.memories)
        == (first.projects, first.sessions, first.memories)
        == (3, 9, 3)
    )


def test_the_number_of_queries_does_not_grow_with_the_number_of_files(tmp_path: Path) -> None:
    few, many = Root(tmp_path / "few"), Root(tmp_path / "many")
    fill(few, 1)
    fill(many, 12)
    few.discover()
    many.discover()
    assert len(queries(few)) == len(queries(many)) < 15


@pytest.mark.not_on_postgresql
def test_one_appended_file_among_many_costs_its_new_bytes(tmp_path: Path) -> None:
    root = Root(tmp_path)
    fill(root, 5)
    root.discover()
    line = b'{"type":"summary","summary":"Done"}\n'
    append(root.folder(root.base / "work" / "two") / "s3.jsonl", line)
    assert root.discover().bytes_read == len(line)


@pytest.mark.not_on_postgresql
def test_a_file_under_another_name_is_seen_though_its_numbers_stay(tmp_path: Path) -> None:
    root = Root(tmp_path)
    fill(root, 2)
    root.discover()
    folder = root.folder(root.base / "work" / "two")
    (folder / "s0.jsonl").rename(folder / "renamed.jsonl")
    assert root.discover().sessions == 6
    gone = TranscriptFile.objects.filter(gone_at__isnull=False).values_list("path", flat=True)
    assert list(gone) == [str(folder / "s0.jsonl")]
    assert TranscriptFile.objects.get(path=str(folder / "renamed.jsonl")).gone_at is None


@pytest.mark.not_on_postgresql
def test_a_file_that_went_and_came_back_as_it_was_is_there_again_unread(tmp_path: Path) -> None:
    root = Root(tmp_path)
    fill(root, 2)
    root.discover()
    path = root.folder(root.base / "work" / "one") / "s1.jsonl"
    away = path.rename(tmp_path / "away.jsonl")
    assert root.discover().sessions == 5
    assert TranscriptFile.objects.get(path=str(path)).gone_at is not None
    away.rename(path)
    again = root.discover()
    assert (again.sessions, again.bytes_read) == (6, 0)
    assert TranscriptFile.objects.get(path=str(path)).gone_at is None


def test_a_fork_in_a_folder_where_nothing_differs_is_read_again_with_what_it_shares(tmp_path: Path) -> None:
    root = Root(tmp_path)
    one, two = root.repository("one"), root.repository("two")
    shared = [typed("Hello", uuid="root", cwd=str(one)), answer("shared")]
    older = root.session(one, "older", shared)
    fork = root.session(two, "fork", [*shared, answer("own")])
    os.utime(older, (1_000, 1_000))
    root.discover()
    assert session("older").requests.count() == 1
    write(older, [typed("Another", uuid="other", cwd=str(one)), answer("another")])
    report = root.discover()
    assert report.bytes_read == older.stat().st_size + fork.stat().st_size
    assert session("fork").requests.count() == 2


@pytest.mark.not_on_postgresql
def test_a_file_of_another_host_is_not_taken_for_ours(tmp_path: Path) -> None:
    root = Root(tmp_path)
    fill(root, 1)
    root.discover()
    Project.objects.update(host="another-host", history_key=Concat(Value("other"), "history_key"))
    again = root.discover()
    assert (again.projects, again.sessions) == (3, 3)
    assert again.bytes_read > 0
