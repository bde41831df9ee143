"""`similar --batch`: the duplicate decision of the rules engine. Needs no database."""

from __future__ import annotations

from dreams.language import similarity
from dreams.management import batch
from dreams.management.batch_command import BatchCommand


class Command(BatchCommand):
    help = "Read JSON lines {a, b} and print one JSON line for each: {same, mergeable, score, why}."

    def reply(self, row: batch.Row) -> batch.Row:
        decision = similarity.told_alike(batch.text_of(row, "a"), batch.text_of(row, "b"))
        return {
            "same": decision.same or decision.retold,
            "mergeable": decision.same,
            "score": decision.score,
            "why": decision.why,
        }
