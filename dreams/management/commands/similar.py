"""`similar --batch`: the duplicate decision of the rules engine. Needs no database."""

from __future__ import annotations

from dreams.language import similarity
from dreams.lib.prose.comparing import compare
from dreams.management import batch
from dreams.management.batch_command import BatchCommand


class Command(BatchCommand):
    help = "Read JSON lines {a, b} and print one JSON line for each: {same, mergeable, score, why}."

    def reply(self, row: batch.Row) -> batch.Row:
        one, other = batch.text_of(row, "a"), batch.text_of(row, "b")
        certain, likely = similarity.same(one, other), compare(one, other)
        is_likely = certain.same or likely.relation == "same"
        return {
            "same": is_likely,
            "mergeable": certain.same,
            "score": max(certain.score, likely.score) if is_likely else min(certain.score, likely.score),
            "why": certain.why if certain.same else likely.rule,
        }
