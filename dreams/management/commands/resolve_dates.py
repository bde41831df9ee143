"""`resolve_dates --batch`: replace relative dates in prose with absolute ones. Needs no database."""

import datetime as dt

from dreams.lib.prose.dates import resolve, rewrite
from dreams.management import base, batch
from dreams.management.batch import BatchCommand


class Command(BatchCommand):
    help = (
        "Read JSON lines {text, reference_date} and print one JSON line for each: "
        "{spans: [{start, end, text, iso, granularity}], rewritten}. Vague dates are left out; dates that would be asked about keep their words in the rewritten text."
    )

    def reply(self, row: batch.Row) -> batch.Row:
        text = batch.text_of(row, "text")
        spans = resolve(text, _reference(batch.text_of(row, "reference_date")))
        told = [span for span in spans if span.told]
        shown = [base.fields(span, "start", "end", "text", "iso", "granularity") for span in spans]
        return {"spans": shown, "rewritten": rewrite(text, told)}


def _reference(value: str) -> dt.date | dt.datetime:
    try:
        return dt.date.fromisoformat(value) if len(value) == 10 else dt.datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"'reference_date' must be an ISO date or time, not {value[:40]!r}") from None
