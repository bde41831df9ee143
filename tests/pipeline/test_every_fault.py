"""Every fault × moment through real HTTP, to its end: state, requests, lock, clock, proposal, cost; a row is a test.

The dream reads, writes a memory, says that it is done, is told what the checks found, and leaves it. The fault strikes
in one of these requests. No thread but the engine's touches the database in so short a dream.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache

from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.lib import locks
from dreams.models import DreamRun, LockHold, Project, Proposal
from dreams.services import dreaming
from memoryweb import BASE_DIR
from tests.world import directory as world, faults as fault_rows, model as kit
from tests.world.faults import MENDING, MOMENTS, ROWS, TURN, Row
from tests.world.manifest import manifest
from tests.world.model_server import ModelServer, Request, Script, ScriptedReply, ScriptedStep, Text, Use, say

PRIOR_NS = 1_780_000_000_123_456_789
# Long enough that there is something to leave out where a prompt does not fit.
READ = ScriptedReply((Use("Bash", {"command": "printf '%0900d' 1 2 3 4"}),))
WRITE = ScriptedReply(
    (
        Text("I write it down now. " * 5),
        Use(
            "Write",
            {
                "file_path": "/memory/feedback_x.md",
                "content": "---\nname: X\ntype: feedback\n---\n\nThe queue is drained by hand.\n",
                "reason": "Said so.",
                # It stands nowhere: the checks have something to say, so that there is a turn of mending.
                "citations": [{"session": "feedback_testing.md", "quote": "Nobody said this."}],
            },
        ),
    ),
    piece=60,
)
TURNS = (READ, WRITE, say("Done. " * 30), say("It is right as it is. " * 30))
pytestmark = pytest.mark.django_db


@pytest.fixture
def project(tmp_path: Path, settings: Any) -> Project:
    cache.clear()
    settings.ROOTS = (tmp_path,)
    settings.DATA_DIR = tmp_path / "data"
    found = world.discovered(tmp_path)
    lock = world.folder(found) / ".consolidate-lock"
    lock.write_text("")
    os.utime(lock, ns=(PRIOR_NS, PRIOR_NS))
    return found


def at_turn(number: int, request: Request) -> bool:
    return request.turns == number


def script_of(row: Row) -> Script:
    """Each turn's answer; before the one that is struck, the broken ones."""
    steps = [ScriptedStep(reply, when=partial(at_turn, number)) for number, reply in enumerate(TURNS)]
    struck = dataclasses.replace(steps[row.turn], fault=row.fault)
    # A busy machine may see silence where there was none, and ask again.
    answers = steps * (5 if row.fault.kind == "stall" else 1)
    return Script([*[struck] * (30 if row.lasts else 1), *answers])


def dreamt(project: Project, row: Row, monkeypatch: pytest.MonkeyPatch) -> tuple[DreamRun, ModelServer]:
    patience = kit.IMPATIENT if row.fault.kind == "stall" else kit.QUICK
    engine = AnthropicEngine(patience=patience, open_tools=kit.Near)
    monkeypatch.setattr("dreams.engines.get", lambda name: engine)
    with ModelServer(script_of(row)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        asked = dreaming.request(project, DreamRun.Trigger.COMMAND, engine="anthropic", forced=True)
        run = dreaming.run_dream(asked.pk)
    assert run is not None
    return run, server


def struck(server: ModelServer, turn: int) -> int:
    return sum(Request(call.body).turns == turn for call in server.calls)


def counted(server: ModelServer, *, broken: bool) -> int:
    """Input tokens of the whole answers, or of all that began."""
    calls = [call.counted for call in server.calls if (call.sent_whole and call.fault is None) or broken]
    return sum(found.input + found.cache_read + found.cache_creation for found in calls)


def cases() -> Iterator[Any]:
    """Each kind of fault, with each end that it has, at least once; more of them are in `make test-more`, all by hand.

    There a connection closes at every moment of a stream, and each other way to break one strikes at every third moment:
    where it strikes and what it is are handled apart from each other.
    """
    seen: set[object] = set()
    for row in ROWS:
        kinds = {(row.fault.kind, row.end, row.lasts)}
        marks = [] if not kinds <= seen else [pytest.mark.by_hand if left_out(row) else pytest.mark.sweep]
        yield pytest.param(row, id=row.name, marks=marks)
        seen |= kinds


#: With which moment of a stream these begin: all together strike at every one.
THIRDS = {"the connection is reset": 0, "the stream ends early": 1, "garbage": 2, "an error event": 0}


def left_out(row: Row) -> bool:
    is_third = row.moment in MOMENTS and row.what in THIRDS
    return is_third and list(MOMENTS).index(row.moment) % 3 != THIRDS[row.what]


@pytest.mark.more
@pytest.mark.parametrize("row", list(cases()))
def test_every_fault_has_its_end(project: Project, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    before = manifest(world.folder(project))
    run, server = dreamt(project, row, monkeypatch)

    assert run.status == row.end, run.error
    assert row.says in run.error and "\n" not in run.error
    # A busy machine may see silence where there was none.
    silent = row.fault.kind == "stall"
    assert struck(server, row.turn) == row.requests or (silent and len(server.calls) > row.requests)
    _lock_clock_and_memories_are_right(project, before, moved=row.end == "completed")
    _nothing_ran_twice_and_nothing_partial_is_proposed(run, row)
    spent = run.input_tokens + run.cache_read_tokens + run.cache_creation_tokens
    assert spent == counted(server, broken=row.paid) or silent
    assert run.priced_usd is not None or row.turn == 0


def _lock_clock_and_memories_are_right(project: Project, before: Any, *, moved: bool) -> None:
    folder = world.folder(project)
    assert not LockHold.objects.exists() and (folder / ".consolidate-lock").read_text() == ""
    clock = locks.last_consolidated_ns(folder)
    assert clock is not None and (clock > PRIOR_NS if moved else clock == PRIOR_NS)
    after = manifest(folder)
    for found in (before, after):
        found.pop("", None), found.pop(".consolidate-lock", None)
    assert after == before


def _nothing_ran_twice_and_nothing_partial_is_proposed(run: DreamRun, row: Row) -> None:
    ran = [tool["name"] for turn in run.turns.order_by("number") for tool in turn.tools]
    assert ran == (["Bash", "Write"] if row.end == "completed" else ["Bash", "Write"][: row.turn])
    made = [file.path for proposal in Proposal.objects.all() for file in proposal.files.all()]
    assert made == (["feedback_x.md"] if row.end == "completed" else [])
    said = "\n".join(run.turns.values_list("text", flat=True))
    assert row.end == "failed" or "Recovered:" in said or "earlier messages were left out" in said


@pytest.mark.more
def test_the_dream_of_the_table_has_a_turn_of_mending(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, server = dreamt(project, next(row for row in ROWS if row.turn == TURN[MENDING]), monkeypatch)
    assert "was checked" in Request(server.calls[-1].body).text() and run.self_review


def test_the_table_in_the_documents_is_this_one() -> None:
    text = (BASE_DIR / "docs/engines.md").read_text(encoding="utf-8")
    assert fault_rows.table() in text
