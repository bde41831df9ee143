"""An app for servers under test: their rules engine dreams while a file `sleep` is in the data directory."""

from __future__ import annotations

import time
from pathlib import Path

from django.apps import AppConfig
from django.conf import settings

from dreams.engines.types import EngineTurn, Job, Outcome, Reporter


class SleepyConfig(AppConfig):
    name = "tests.world.processes"
    label = "sleepy"

    def ready(self) -> None:
        from dreams import engines

        engines._PLACES["rules"] = ("tests.world.processes.sleepy", "SleepyEngine")


class SleepyEngine:
    name = "rules"

    def run(self, job: Job, report: Reporter) -> Outcome:
        report.turn(EngineTurn("orient", "Fell asleep."))
        while (Path(settings.DATA_DIR) / "sleep").exists():
            time.sleep(0.05)
            report.checkpoint()
        return Outcome(summary="Slept well.")
