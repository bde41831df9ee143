"""Drafting the options of a question: the same steps that change memories, on paper. PURE.

A draft starts from the directory as the dream found it and leaves the workspace alone.
"""

from __future__ import annotations

from collections.abc import Callable

from dreams.engines.paper import Paper
from dreams.engines.rules.notes.tree import Recorder, Tree
from dreams.engines.types import Edit, Option, Reporter
from dreams.lib.files.workspace import Workspace


class Draftsman:
    """Drafts one option after the other, each on the same untouched directory (`tree`)."""

    def __init__(self, workspace: Workspace, report: Reporter) -> None:
        self._report = report
        self.tree = Tree(Paper(workspace), report)

    def edits(self, work: Callable[[Recorder], object]) -> tuple[Edit, ...]:
        """What `work` would change; empty where it changes nothing. The tree is as before afterwards."""
        rec = Recorder(self.tree, self._report)
        try:
            work(rec)
        finally:
            for edit in reversed(rec.edits):
                self._put_back(edit)
        return tuple(rec.edits)

    def option(self, name: str, label: str, work: Callable[[Recorder], object]) -> Option | None:
        """An option that changes something; None where the work is not possible."""
        made = self.edits(work)
        return Option(name, label, made) if made else None

    def _put_back(self, edit: Edit) -> None:
        if edit.before is None:
            self.tree.workspace.delete(edit.path)
        else:
            self.tree.workspace.write(edit.path, edit.before)
        self.tree.put(edit.path, edit.before)
