"""Whatever the disk refuses, files are as before or as after; an answer names the thing and the remedy; nothing is lost.

One call of each story here, refused and killed; every call, and every fault, by `bench/faults.py` (docs/security.md has the figures).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from bench import faults
from memoryweb import BASE_DIR
from tests.world.processes import faulty_disk
from tests.world.processes.faulty_disk import CREATE, ERROR, FAULTS, KILL, SYNC, WRITE, Disk, Fault

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.skipif(bool(faulty_disk.missing()), reason=faulty_disk.missing()),
    pytest.mark.not_on_postgresql,
]
#: Of one story the moments that matter most, by what the struck call is about.
MOMENTS = {
    "the journal is full": Fault("full", ERROR, 28, CREATE | WRITE, only="-1.1"),
    "a memory cannot be staged": Fault("staged", ERROR, 122, CREATE, only=".memoryweb-"),
    "a swap is refused": Fault("swap", ERROR, 30, only="/memory/feedback_testing.md"),
    "the commit cannot be made to last": Fault("commit", ERROR, 5, SYNC, only="commit.json"),
    "killed at the commit": Fault("kill", KILL, only="commit.json"),
    "the database is gone for good": Fault("rows", ERROR, 5, WRITE, WRITE, only=".sqlite3-wal"),
    "the history is full": Fault("history", ERROR, 28, CREATE | WRITE, CREATE | WRITE, only="/history/"),
}


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    with faults.home(tmp_path_factory.mktemp("faulty")) as disk:
        yield disk


@pytest.fixture(scope="module")
def apply(disk: Disk) -> faults.Story:
    return faults.Story("apply", disk)


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_apply_is_done_or_not_and_recovered(apply: faults.Story, moment: str) -> None:
    figures = faults.Figures()
    assert apply.strike(MOMENTS[moment], 0, figures)
    assert figures.wrong == []


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (MOMENTS["the journal is full"], "/data/journal: No space left on device. The disk is full: make room"),
        (MOMENTS["a memory cannot be staged"], "/memory: Disk quota exceeded. Your share of the disk is used up"),
        (MOMENTS["a swap is refused"], "/memory: Read-only file system. It is mounted read-only: mount it"),
        (MOMENTS["the database is gone for good"], "then `recover` finishes or undoes what was begun"),
        (Fault("id", ERROR, 5, faulty_disk.READ, only="/host_id"), "host_id cannot be made or read (Input/output error). Check its disk"),
    ],
)  # fmt: skip
def test_the_answer_names_the_thing_and_the_remedy(apply: faults.Story, fault: Fault, says: str) -> None:
    apply.start_anew(apply.whole)
    done = apply.run(fault, 0)
    assert done.code == 1 and says in done.err, done.err
    assert apply.state(apply.tree()) in ("before", "after")


@pytest.mark.parametrize("name", faults.STORIES)
def test_a_few_calls_of_every_story(disk: Disk, name: str) -> None:
    for story, figures in faults.sweep(
        disk, [name], [FAULTS[fault] for fault in ("EIO", "kill")], start=90, limit=1
    ):
        assert figures.wrong == [], story
        assert sum(figures.runs.values()) >= 2


def test_the_whole_sweep_starts_outside_a_run_of_tests() -> None:
    line = [
        sys.executable,
        "bench/faults.py",
        "--story",
        "apply",
        "--fault",
        "EIO",
        "--start",
        "90",
        "--limit",
        "1",
    ]
    environment = {name: value for name, value in os.environ.items() if name != "TESTS_RUN"}
    done = subprocess.run(
        line, cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert (done.returncode, "1 faults" in done.stdout) == (0, True), done.stdout + done.stderr
