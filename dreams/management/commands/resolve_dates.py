"""`resolve_dates --batch`: relative dates in prose become absolute ones. Needs no database."""

from __future__ import annotations

import datetime as dt
import sys
from argparse import ArgumentParser

from django.core.management.base import BaseCommand

from dreams.language.dates import DateSpan, resolve, rewrite
from dreams.management import batch


class Command(BaseCommand):
    help = (
        "Read JSON lines {text, reference_date} and print one JSON line for each: "
        "{spans: [{start, end, text, iso, granularity}], rewritten}. Vague dates are left out."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--batch", action="store_true", required=True, help="read JSON lines from standard input"
        )

    def handle(self, *args: object, **options: object) -> None:
        batch.answer(sys.stdin.buffer, sys.stdout, _reply)


def _reply(row: batch.Row) -> batch.Row:
    text = batch.text_of(row, "text")
    spans = resolve(text, _reference(batch.text_of(row, "reference_date")))
    return {"spans": [_shown(span) for span in spans], "rewritten": rewrite(text, spans)}


def _reference(value: str) -> dt.date | dt.datetime:
    try:
        return dt.date.fromisoformat(value) if len(value) == 10 else dt.datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"'reference_date' must be an ISO date or time, not {value[:40]!r}") from None


def _shown(span: DateSpan) -> batch.Row:
    return {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "iso": span.iso,
        "granularity": span.granularity,
    }
