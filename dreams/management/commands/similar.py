"""`similar --batch`: the duplicate decision of the rules engine. Needs no database."""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from dreams.language import similarity
from dreams.management import batch


class Command(BaseCommand):
    help = "Read JSON lines {a, b} and print one JSON line for each: {same, score, why}."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--batch", action="store_true", required=True, help="read JSON lines from standard input"
        )

    def handle(self, *args: object, **options: object) -> None:
        batch.answer(sys.stdin.buffer, sys.stdout, _reply)


def _reply(row: batch.Row) -> batch.Row:
    decision = similarity.same(batch.text_of(row, "a"), batch.text_of(row, "b"))
    return {"same": decision.same, "score": decision.score, "why": decision.why}
