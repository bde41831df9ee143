"""What did not change costs a listing: no reading, no writing, and no query per file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.world.agent_folder import Root, answer, append, typed

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


def test_one_appended_file_among_many_costs_its_new_bytes(tmp_path: Path) -> None:
    root = Root(tmp_path)
    fill(root, 5)
    root.discover()
    line = b'{"type":"summary","summary":"Done"}\n'
    append(root.folder(root.base / "work" / "two") / "s3.jsonl", line)
    assert root.discover().bytes_read == len(line)
