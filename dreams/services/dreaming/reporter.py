"""The engine's reporter: records its turns and what they used, renews the lease, and stops it for a cancel, a lost lock or the
time limit.
"""

import datetime as dt
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Self

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.db.models import BooleanField, Case, F, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from dreams import conf
from dreams.engines.tokens import KINDS, Dollars, ModelUsage, Tokens
from dreams.engines.types import (
    Allowance,
    Cancelled,
    EngineError,
    EngineTurn,
    LimitReached,
    Usage,
    Work,
)
from dreams.lib import locks
from dreams.lib.secrets import redact
from dreams.models import DreamRun, DreamUsage, Turn
from dreams.services import pricing
from dreams.services.dreaming import unfinished
from dreams.services.dreaming.states import LEASE

log = logging.getLogger(__name__)

LEASE_EVERY_SECONDS = 15.0  # far below LEASE, which it renews; chosen

CANCEL_LOOK_SECONDS = 0.5  # between two looks at the row; chosen


class DirectoryTaken(EngineError):
    """The directory is away, or another process took it during the dream."""


class TimeIsUp(LimitReached):
    """The dream took longer than its setting allows."""


class DreamReporter:
    """The engine's reporter: writes turns, keeps the lease, and sees a cancel, a lost lock and the end of its time."""

    def __init__(self, dream: DreamRun, beat: locks.Heartbeat) -> None:
        self._dream = dream
        self._beat = beat
        self._turns = self._steps = 0
        self._deadline = time.monotonic() + conf.current(dream.project).max_seconds
        self._looked_at = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_lease, name="dream-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _keep_lease(self) -> None:
        """In a separate thread, so that a long model call does not look like a dead worker."""
        try:
            while not self._stop.wait(LEASE_EVERY_SECONDS):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        """If the database is busy, for example with a large proposal, the next beat renews."""
        running = DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING)
        try:
            close_old_connections()
            running.update(lease_until=timezone.now() + LEASE)
        except DatabaseError as error:
            log.info("The lease was not renewed: %s.", error)

    def checkpoint(self) -> None:
        if self._beat.lost is not None:
            raise DirectoryTaken(f"The lock was lost: {self._beat.lost} Nothing was changed.")
        now = time.monotonic()
        if now > self._deadline:
            raise TimeIsUp(
                "It took longer than its setting allows (Time limit per dream). Nothing was changed."
            )
        if now - self._looked_at < CANCEL_LOOK_SECONDS:
            return
        self._looked_at = now
        state = (
            DreamRun.objects.filter(pk=self._dream.pk).values_list("status", "cancel_requested_at").first()
        )
        if state is None or state[0] != DreamRun.Status.RUNNING or state[1] is not None:
            raise Cancelled

    def last_checkpoint(self) -> None:
        """Check again before proposing, as it may have been cancelled, or the directory moved or taken, since the last look."""
        self._beat.beat()
        self._looked_at = -CANCEL_LOOK_SECONDS
        self.checkpoint()

    def turn(self, turn: EngineTurn) -> None:
        self._turns += 1
        number, now, used = self._turns, timezone.now(), turn.usage
        with transaction.atomic():
            Turn.objects.create(
                dream=self._dream,
                number=number,
                phase=turn.phase,
                text=redact.redact(turn.text),
                tools=[_without_secrets(tool) for tool in turn.tools],
                files=list(turn.files),
                counts=dict(turn.counts),
                at=now,
                input_tokens=used.input_tokens + used.cache_read_tokens + used.cache_creation_tokens,
                output_tokens=used.output_tokens,
                **asdict(turn.work),
            )
            _record_usage(self._dream, number, now, used)
            unfinished.save(self._dream, turn.edits, self._steps)
        self._steps += len(turn.edits)
        DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING).update(phase=turn.phase)
        self.checkpoint()

    def dollars_left(self) -> Allowance | None:
        """What the tightest budget of day, month and project still allows, including this dream's turns; None: no limit."""
        config = conf.current(self._dream.project)
        return pricing.dollars_left(
            self._dream.project, config, timezone.now(), conf.zone(config), besides=self._dream
        )

    def reserve(self, dollars: Decimal) -> Allowance | None:
        """Set `dollars` aside for what is asked next, instead of what was; see `pricing.set_aside`."""

        def keep(aside: Decimal | None) -> None:
            DreamRun.objects.filter(pk=self._dream.pk).update(reserved_usd=aside)

        return pricing.set_aside(dollars, self.dollars_left, keep)


def _without_secrets(tool: Mapping[str, object]) -> dict[str, object]:
    """A tool call without secrets, as a model can copy them from a file into a command."""
    return {key: redact.redact(value) if isinstance(value, str) else value for key, value in tool.items()}


# --- Usage --------------------------------------------------------------------------------------------------------


def _record_usage(dream: DreamRun, turn: int, at: dt.datetime, usage: Usage) -> None:
    """Record what a turn used, even if the dream was ended meanwhile, as it is paid for.

    Call it in the turn's transaction.
    """
    DreamUsage.objects.bulk_create(_usage_row(dream, turn, at, used) for used in usage.by_model)
    if usage.by_model:
        DreamRun.objects.filter(pk=dream.pk).update(**_grown(usage))


def _usage_row(dream: DreamRun, turn: int, at: dt.datetime, used: ModelUsage) -> DreamUsage:
    tokens = {f"{kind}_tokens": getattr(used.tokens, kind) for kind in KINDS}
    dollars = {f"{kind}_usd": getattr(used.dollars, kind) for kind in KINDS} if used.dollars else {}
    cost = used.dollars.total if used.dollars else None
    return DreamUsage(
        dream=dream,
        turn=turn,
        at=at,
        model=used.model[:100],
        requests=used.requests,
        cost_usd=cost,
        **tokens,
        **dollars,
    )


def _grown(usage: Usage) -> dict[str, object]:
    """The dream's own sums with one turn's added."""
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
    grown: dict[str, object] = {name: F(name) + getattr(usage, name) for name in kinds}
    priced = [used.dollars.total for used in usage.by_model if used.dollars is not None]
    if priced:
        grown["priced_usd"] = Coalesce(F("priced_usd"), Decimal(0)) + sum(priced, Decimal(0))
    unpriced = sum(used.tokens.total for used in usage.by_model if used.dollars is None)
    # The reserved amount is spent now.
    return {**grown, "unpriced_tokens": F("unpriced_tokens") + unpriced, "reserved_usd": None}


def used_by_model(dream: DreamRun) -> list[ModelUsage]:
    """Requests by model, most expensive first, with and without a price separately; one query."""
    priced = Case(
        When(cost_usd__isnull=False, then=Value(True)), default=Value(False), output_field=BooleanField()
    )
    rows = (
        dream.usage.annotate(priced=priced)
        .values("model", "priced")
        .annotate(
            n=Sum("requests"),
            **{kind: Sum(f"{kind}_tokens") for kind in KINDS},
            **{f"{kind}_cost": Sum(f"{kind}_usd") for kind in KINDS},
        )
        .order_by("-priced", "model")
    )
    found = [
        ModelUsage(
            row["model"],
            row["n"],
            Tokens.of(row),
            Dollars.of(row) if row["priced"] else None,
        )
        for row in rows
    ]
    return sorted(found, key=lambda used: used.dollars.total if used.dollars else Decimal(-1), reverse=True)


def is_turn(dream: DreamRun, api_ms: int) -> bool:
    """Whether a row is a turn, and no note of the engine such as the model's name."""
    return api_ms > 0 or dream.engine == "rules"


def work_of(dream: DreamRun) -> Work:
    """Time and lines of all turns; one query."""
    names = ("api_ms", "api_ms_without_retries", "tool_ms", "lines_added", "lines_removed")
    sums = dream.turns.aggregate(**{name: Sum(name) for name in names})
    return Work(**{name: total or 0 for name, total in sums.items()})
