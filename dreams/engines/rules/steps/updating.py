"""What sessions changed for sure: a new value in the place of the old one, wherever that is said. Pure but for the recorder.

What is not certain is a question, and so is a statement that leans on a changed one.
"""

from __future__ import annotations

from collections.abc import Sequence

from dreams.engines.rules.notes.rewriting import reword
from dreams.engines.rules.notes.tree import Recorder, Tree, is_index, is_log, is_team
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.rules.value_updates import Update, is_certain, is_said, updates
from dreams.lib.prose.statement_index import StatementIndex

CHANGED = "You said that it has changed."


def update(rec: Recorder, heard: Sequence[Heard]) -> set[str]:
    """Bring the values that were told into memory; the sentences that it says now, so that none is learnt or put anew beside it."""
    if not any(typed.changes for each in heard for typed in each.typed):
        return set()
    index = StatementIndex(
        {path: text for path, text in rec.tree.texts.items() if not is_log(path) and not is_team(path)}
    )
    done: set[str] = set()
    for each in list(updates(index, heard)):
        rec.report.checkpoint()
        if is_said(each) or (is_certain(each, heard) and _write(rec, each)):
            done |= {each.typed.text, each.typed.quote}
    return done


def _write(rec: Recorder, each: Update) -> bool:
    if not all(is_free(rec.tree, wording.statement.path) for wording in each.wordings):
        return False
    quote = each.typed.quote
    made = reword(rec, each.wordings, each.heard.reason(quote), CHANGED, each.heard.citations(quote))
    rec.count("updated", made)
    return made


def is_free(tree: Tree, path: str) -> bool:
    """Whether a statement of the file may be put anew unasked."""
    return path in tree.indexes() and not is_team(path) if is_index(path) else tree.free(path)
