"""Undo: a dream, a file or a hunk, at once or much later, also after other edits."""

from dreams.rollback.previewing import NothingToUndo, Preview, Selection, UndoneFile, preview
from dreams.rollback.undoing import propose, rollback

__all__ = ["NothingToUndo", "Preview", "Selection", "UndoneFile", "preview", "propose", "rollback"]
