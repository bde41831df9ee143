"""Two dreams that ask at the same moment share the budgets of day and month: what one has set aside the other cannot take."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import Sum
from django.utils import timezone

from dreams import conf
from dreams.engines.anthropic.engine import AnthropicEngine
from dreams.models import DreamRun, DreamUsage, Override, Project
from dreams.services import database, discovery, dreaming, pricing
from dreams.services.dreaming.reporter import DreamReporter
from tests.world import directory as world, model as kit
from tests.world.model_server import ModelServer, Request, ScriptedReply, ScriptedStep, Use

pytestmark = pytest.mark.django_db(transaction=True)
SLUGS = ("-home-dev-app", "-home-dev-web")
LIMIT = Decimal("0.15")


class AtOnce:
    """Answers the first two requests together, or the first alone when no second comes; each says as much as it may."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2)

    def step(self, request: Request) -> ScriptedStep:
        with suppress(threading.BrokenBarrierError):
            self.both.wait(0.7)
        most = int(request.body["max_tokens"])
        return ScriptedStep(
            ScriptedReply((Use("Read", {"file_path": "/memory/MEMORY.md"}),), output_tokens=most)
        )


@pytest.fixture
def projects(tmp_path: Path, settings: Any) -> list[Project]:
    settings.ROOTS, settings.DATA_DIR = (tmp_path,), tmp_path / "data"
    for slug in SLUGS:
        world.write_sessions(tmp_path, 1, slug=slug)
        world.put(tmp_path / "projects" / slug / "memory/MEMORY.md", world.INDEX)
    discovery.discover()
    return list(Project.objects.order_by("slug"))


def limit(key: str, value: Decimal) -> None:
    for name in ("max_cost_dream", "max_cost_day", "max_cost_month", "max_cost_project"):
        Override.objects.update_or_create(key=name, defaults={"value": 0})
    Override.objects.update_or_create(key=key, defaults={"value": float(value)})


def test_two_dreams_at_once_never_pass_the_budget_that_they_share(
    projects: list[Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit("max_cost_day", LIMIT)
    monkeypatch.setattr(
        "dreams.engines.get", lambda name: AnthropicEngine(patience=kit.QUICK, open_tools=kit.Near)
    )
    asked = [
        dreaming.request(project, DreamRun.Trigger.COMMAND, engine="anthropic", forced=True)
        for project in projects
    ]

    def run(pk: int) -> None:
        try:
            dreaming.run_dream(pk)
        finally:
            connections.close_all()

    with ModelServer(AtOnce()) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        threads = [threading.Thread(target=run, args=(dream.pk,)) for dream in asked]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    spent = DreamUsage.objects.aggregate(sum=Sum("cost_usd"))["sum"]
    assert Decimal(0) < spent <= LIMIT
    errors = list(DreamRun.objects.values_list("error", flat=True))
    assert all("$0.15" in error for error in errors), errors


@pytest.mark.parametrize("key", ["max_cost_day", "max_cost_month"])
def test_what_is_set_aside_counts_for_the_others_until_it_is_booked_or_the_dream_is_over(
    projects: list[Project], key: str
) -> None:
    limit(key, Decimal(5))
    one, other = (
        DreamRun.objects.create(project=project, engine="anthropic", trigger="page", status="running")
        for project in projects
    )
    mine, theirs = (DreamReporter(dream, beat=None) for dream in (one, other))  # type: ignore[arg-type]  # no lock is asked here
    assert mine.reserve(Decimal(3)) is None
    left = theirs.reserve(Decimal(3))
    assert left is not None and left.dollars == 2
    assert theirs.reserve(Decimal(2)) is None
    assert mine.reserve(Decimal(1)) is None, "what was set aside before is given back"
    now_left = pricing.dollars_left(
        projects[0], conf.current(projects[0]), timezone.now(), conf.zone(conf.current())
    )
    assert now_left is not None and now_left.dollars == 2
    DreamRun.objects.filter(pk=other.pk).update(status="failed")
    assert mine.reserve(Decimal(5)) is None


def test_on_a_database_of_many_writers_those_that_ask_wait_for_each_other(
    projects: list[Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has one writer at a time, so that a lock would be missed in no other test."""
    dream = DreamRun.objects.create(project=projects[0], engine="anthropic", trigger="page", status="running")
    limit("max_cost_day", Decimal(5))
    asked: list[str] = []
    monkeypatch.setattr(database, "one_at_a_time", lambda what: asked.append(f"LOCK {what}"))

    def noted(execute: Callable[..., object], sql: str, *more: object) -> object:
        asked.append(sql)
        return execute(sql, *more)

    with connection.execute_wrapper(noted):
        assert DreamReporter(dream, beat=None).reserve(Decimal(3)) is None  # type: ignore[arg-type]  # no lock is asked here
    summed = [number for number, sql in enumerate(asked) if "SUM(" in sql]
    assert asked.index("LOCK budgets") < min(summed), "first the lock, then what is left"
