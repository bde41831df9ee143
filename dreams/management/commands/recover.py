"""`recover`: finish or undo what a crash interrupted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from dreams.management.base import Command as BaseCommand
from dreams.management.base import Refused
from dreams.services.upkeep import recovery


class Command(BaseCommand):
    help = "Finish or undo writes that a crash interrupted, and report what was done. `serve` does this at every start."

    def run(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        found = recovery.recover()
        result = asdict(found)
        if found.problems:
            raise Refused("Not everything could be recovered; see above.", result)
        return result

    def words(self, result: Mapping[str, Any]) -> Iterable[str]:
        lines = [line for lines in result.values() for line in lines]
        return lines or ["There was nothing to recover."]
