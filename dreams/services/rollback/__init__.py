"""Undo: a dream, a file or a hunk, at once or much later, also after other edits."""

from dreams.services.rollback.previewing import NothingToUndo, Preview, Selection, UndoneFile, preview
from dreams.services.rollback.undoing import propose, rollback

__all__ = ["NothingToUndo", "Preview", "Selection", "UndoneFile", "preview", "propose", "rollback"]
