"""What the code surely says already, and not a word more. Pure but for the recorder.

What it likely says, and what an instruction file says, is asked (`questions/repository.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from dreams.engines.rules.code_facts import CodeFact, facts
from dreams.engines.rules.notes.bodies import Unit
from dreams.engines.rules.notes.removing import fates, free_units, remove
from dreams.engines.rules.notes.tree import Recorder
from dreams.engines.rules.repository import Repository
from dreams.engines.types import Citation
from dreams.lib.files.text import quoted
from dreams.lib.prose import lexicon, similarity
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.statements import statement

LEAST_WORDS = 3


def derive(rec: Recorder, repo: Repository | None) -> None:
    """Take out what the repository says; what is about the person or how to work with them stays."""
    found = facts(repo)
    if not found:
        return
    said = Said(found)
    units = [unit for unit in free_units(rec.tree) if rec.tree.kind(unit.path) not in {"user", "feedback"}]
    for unit in sorted(units, key=lambda each: (each.path, -each.first_line)):
        rec.report.checkpoint()
        fact = None if unit.frame else said.by(unit)
        if fact is not None and _remove(rec, unit, fact):
            rec.count("derived", 1)


def _remove(rec: Recorder, unit: Unit, fact: CodeFact) -> bool:
    note = f"{fact.path} says it, line {fact.line_no}: {quoted(fact.quote)}."
    cited = Citation("repository", fact.quote, place=fact.path, line_no=fact.line_no)
    return remove(rec, unit, "prune", note, fates(unit, "stated", note=note), (cited,))


class Said:
    """The repository's facts, to look a statement up in."""

    def __init__(self, found: Sequence[CodeFact]) -> None:
        self._code: dict[str, list[CodeFact]] = defaultdict(list)
        for fact in found:
            for key in keys_of(f"`{fact.values[-1]}` {fact.values[0]}"):
                self._code[key].append(fact)

    def by(self, unit: Unit) -> CodeFact | None:
        """The fact that says all that the statement and the headings above it say."""
        if len([word for word in statement(unit.text).weights if word not in lexicon.GENERIC]) < LEAST_WORDS:
            return None
        fact = self._by_code(unit)
        return fact if fact and _place_adds_nothing(unit, fact) else None

    def _by_code(self, unit: Unit) -> CodeFact | None:
        keys = keys_of(unit.text)
        plain = f" {similarity.normalised(unit.text)} "
        near = {id(fact): fact for key in keys for fact in self._code.get(key, ())}
        for fact in near.values():
            named = all(f" {similarity.normalised(value)} " in plain for value in fact.values)
            if named and keys <= keys_of(fact.words) and not statement(unit.text).negations:
                return fact
        return None


def _place_adds_nothing(unit: Unit, fact: CodeFact) -> bool:
    """Below "Staging", or in a file about 2.x, the same words say something else."""
    around = statement(". ".join([*unit.headings, unit.path.removesuffix(".md").replace("_", " ")]))
    told = statement(f"{unit.text}. {fact.words}")
    return around.environments <= told.environments and around.numbers <= told.numbers
