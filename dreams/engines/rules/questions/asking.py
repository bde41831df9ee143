"""What a family of questions is given. PURE but for the transcript."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dreams.engines.rules.drafting import Draftsman
from dreams.engines.rules.notes.tree import Tree
from dreams.engines.rules.repository import Repository
from dreams.engines.rules.user_statements.lessons import Gathered
from dreams.engines.rules.user_statements.prompts import Heard
from dreams.engines.types import Edit, Job, Place, Question, Reporter
from dreams.lib.prose.statement_index import Statement


@dataclass(frozen=True, slots=True)
class Asking:
    """What a family looks at: the memories as the dream found them, and what the dream changes.

    `statements` are those of every file, read once for all families. `touched` has, for each path that the dream changes, the lines (1-based, as found) that it changes or removes.
    """

    job: Job
    report: Reporter
    tree_before: Tree
    draftsman: Draftsman
    heard: Sequence[Heard]
    gathered: Gathered
    edits: Sequence[Edit]
    statements: Sequence[Statement] = ()
    touched: Mapping[str, frozenset[int]] = field(default_factory=dict)
    repository: Repository | None = None

    def is_touched(self, place: Place) -> bool:
        """Whether this dream changes the statement already."""
        lines = self.touched.get(place.path)
        if lines is None or place.session_pk is not None:
            return False
        if place.line_no is None:
            return place.path not in self.job.workspace.paths()  # the whole file is removed
        height = place.text.count("\n") + 1
        return not lines.isdisjoint(range(place.line_no, place.line_no + height))


Family = Callable[[Asking], Iterator[Question]]
