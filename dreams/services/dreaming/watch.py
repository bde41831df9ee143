"""The engine's reporter: turns, the lease, and the reasons to stop: a cancel, a lost lock, the end of its time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from types import TracebackType
from typing import Self

from django.db import DatabaseError, close_old_connections, connection, transaction
from django.utils import timezone

from dreams import conf
from dreams.engines.types import (
    Allowance,
    Cancelled,
    Edit,
    EngineError,
    LimitReached,
    Phase,
    Usage,
    Work,
)
from dreams.lib import locks
from dreams.lib.secrets import redact
from dreams.models import (
    DreamRun,
    Turn,
)
from dreams.services import pricing
from dreams.services.dreaming import steps
from dreams.services.dreaming.bookkeeping import book
from dreams.services.dreaming.states import LEASE

log = logging.getLogger(__name__)


LEASE_EVERY_SECONDS = 15.0

CANCEL_LOOK_SECONDS = 0.5


class LockLost(EngineError):
    """Another process took the directory while the dream was at it."""


class TimeIsUp(LimitReached):
    """The dream took longer than its setting allows."""


@dataclass(slots=True)
class _Counter:
    number: int = 0


class Watch:
    """The engine's reporter: writes turns, keeps the lease, and sees a cancel, a lost lock and the end of its time."""

    def __init__(self, dream: DreamRun, beat: locks.Heartbeat) -> None:
        self._dream = dream
        self._beat = beat
        self._count = _Counter()
        self._deadline = time.monotonic() + conf.current(dream.project).max_seconds
        self._looked_at = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_lease, name="dream-lease", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _keep_lease(self) -> None:
        """Off the engine's thread, so that a long call to a model does not look like a dead worker."""
        try:
            while not self._stop.wait(LEASE_EVERY_SECONDS):
                self._renew()
        finally:
            connection.close()

    def _renew(self) -> None:
        """While a large proposal is written the database may be busy: then the next beat is soon enough."""
        running = DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING)
        try:
            running.update(lease_until=timezone.now() + LEASE)
            close_old_connections()
        except DatabaseError as error:
            log.info("The lease was not renewed: %s.", error)

    def checkpoint(self) -> None:
        if self._beat.lost is not None:
            raise LockLost(f"The lock was lost: {self._beat.lost} Nothing was changed.")
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

    def turn(
        self,
        phase: Phase,
        text: str,
        *,
        tools: Sequence[Mapping[str, object]] = (),
        files: Sequence[str] = (),
        counts: Mapping[str, int] | None = None,
        usage: Usage | None = None,
        work: Work | None = None,
        edits: Sequence[Edit] = (),
    ) -> None:
        self._count.number += 1
        number, now, used = self._count.number, timezone.now(), usage or Usage()
        with transaction.atomic():
            Turn.objects.create(
                dream=self._dream,
                number=number,
                phase=phase,
                text=redact.redact(text),
                tools=[_without_secrets(tool) for tool in tools],
                files=list(files),
                counts=dict(counts or {}),
                at=now,
                input_tokens=used.input_tokens + used.cache_read_tokens + used.cache_creation_tokens,
                output_tokens=used.output_tokens,
                **asdict(work or Work()),
            )
            book(self._dream, number, now, used)
            steps.keep(self._dream, edits)
        DreamRun.objects.filter(pk=self._dream.pk, status=DreamRun.Status.RUNNING).update(phase=phase)
        self.checkpoint()

    def dollars_left(self) -> Allowance | None:
        """What the tightest budget of day, month and project allows now, this dream's turns counted; None: no limit."""
        config = conf.current(self._dream.project)
        return pricing.dollars_left(
            self._dream.project, config, timezone.now(), conf.zone(config), besides=self._dream
        )

    def reserve(self, dollars: Decimal) -> Allowance | None:
        """Set `dollars` aside for what is asked next, instead of what was; None: done. Otherwise nothing is set aside,
        and this is what is left. Dreams that ask at the same time wait for each other here."""
        with transaction.atomic():
            running = DreamRun.objects.filter(status=DreamRun.Status.RUNNING).order_by("pk")
            list(running.select_for_update().values_list("pk", flat=True))
            left = self.dollars_left()
            if left is not None and left.dollars < dollars:
                return left
            DreamRun.objects.filter(pk=self._dream.pk).update(reserved_usd=dollars if left else None)
        return None


def _without_secrets(tool: Mapping[str, object]) -> dict[str, object]:
    """What was called, as it may be kept: a model can put into a command what it read in a file."""
    return {key: redact.redact(value) if isinstance(value, str) else value for key, value in tool.items()}
