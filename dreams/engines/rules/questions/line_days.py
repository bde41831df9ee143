"""Relative dates of lines that nobody knows the day of for sure: asked, with the day filled in. PURE."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.units import KEEP
from dreams.engines.rules.steps import dating
from dreams.engines.types import Place, Question
from dreams.lib.prose import similarity

MOST = 20
WEIGHT = 0.25


def unsure_days(context: Asking) -> Iterator[Question]:
    """Whether "yesterday" is the day before its file's mtime, where many files share that mtime or it was set lately; and
    of pinned and hand-edited memories, which are not changed unasked."""
    tree = context.tree_before
    asked = 0
    for found in dating.undated(tree, context.job.line_dates):
        if (found.known.believable and not _is_settled(context, found.path)) or asked >= MOST:
            continue
        option = context.draftsman.option("replace", "Write the day", partial(dating.write_out, found=found))
        if option is None:
            continue
        asked += 1
        known = found.known
        yield Question(
            "changed",
            f"{found.path} {similarity.normalised(found.line)[:200]}",
            f"{found.meant} if this was written on {known.day.isoformat()} ({known.note}), which is not sure.",
            (Place(found.path, found.line_no, found.line),),
            (option, KEEP),
            option.edits[0].citations,
            weight=WEIGHT,
        )


def _is_settled(context: Asking, path: str) -> bool:
    return path in context.job.hand_edited or context.tree_before.pinned(path)
