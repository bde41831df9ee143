"""Questions about statements: what seems doubled, changed, contradicted, leant on, or asked to be forgotten. PURE."""

from __future__ import annotations

from collections.abc import Iterator

from dreams.engines.rules.notes.tree import is_log, is_team
from dreams.engines.rules.questions.asking import Asking
from dreams.engines.rules.questions.forget import forget
from dreams.engines.rules.questions.same import same
from dreams.engines.types import Question
from dreams.lib.prose.statement_index import StatementIndex


def about_statements(asking: Asking) -> Iterator[Question]:
    """All families that look at one index of the memories as the dream found them."""
    texts = asking.tree_before.texts
    index = StatementIndex(
        {path: text for path, text in texts.items() if not is_log(path) and not is_team(path)}
    )
    asking.report.checkpoint()
    for family in (same, forget):
        yield from family(asking, index)
