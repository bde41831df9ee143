"""Questions about statements: what seems doubled, changed, contradicted, leant on, or asked to be forgotten. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from dreams.engines.rules.notes.tree import is_log, is_team
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.changed import Changed, told_changes
from dreams.engines.rules.questions.forget import forget
from dreams.engines.rules.questions.leaning import leaning
from dreams.engines.rules.questions.same import same
from dreams.engines.rules.questions.two_values import two_values
from dreams.engines.types import Question
from dreams.lib.prose.statement_index import StatementIndex


def about_statements(asking: Asking) -> Iterator[Question]:
    """All families that look at one index of the memories as the dream found them."""
    texts = asking.tree_before.texts
    index = StatementIndex(
        {path: text for path, text in texts.items() if not is_log(path) and not is_team(path)}
    )
    asking.report.checkpoint()
    yield from forget(asking, index)
    exchanges: list[Changed] = []
    for found in (told_changes, two_values):
        for question, exchange in found(asking, index):
            yield question
            exchanges += [exchange] if exchange else []
    yield from leaning(asking, index, exchanges)
    yield from same(asking, index, {each for exchange in exchanges for each in exchange.about})
