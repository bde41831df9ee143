"""A command that answers JSON lines and nothing else. It needs no database and no settings to fit together."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from dreams.management import batch


class BatchCommand(BaseCommand):
    """Base of `resolve_dates` and `similar`. Subclasses give `reply`."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--batch", action="store_true", required=True, help="read JSON lines from standard input"
        )

    def handle(self, *args: object, **options: object) -> None:
        batch.answer(sys.stdin.buffer, sys.stdout, self.reply)

    def reply(self, row: batch.Row) -> batch.Row:
        """The answer to one line. ValueError refuses the line and says why."""
        raise NotImplementedError
