"""A world that a module makes once: each of its tests finds the rows and the files as they were made.

To make a proposal on a directory takes as long as a test then takes with it. A module whose tests begin with the same one
makes it in a transaction around all of them; what a test does to rows is rolled back to there, and its files are put
back. Not for tests that commit, and not for those that look at files of other times than those that the world gave them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from django.conf import settings
from django.db.models import Model

TEXTS = ("journal", "history")  # what the data directory holds of a project


Row = TypeVar("Row", bound=Model)


class Kept(Generic[Row]):
    """`make` is given an empty folder, and returns the row that tests begin with."""

    def __init__(self, base: Path, make: Callable[[Path], Row]) -> None:
        self._folder, self._copies = base / "world", base / "copies"
        self._folder.mkdir()
        self._row = make(self._folder)
        for place, copy in self._places():
            if place.exists():
                shutil.copytree(place, copy, symlinks=True)

    def _places(self) -> list[tuple[Path, Path]]:
        texts = [(Path(settings.DATA_DIR) / name, self._copies / name) for name in TEXTS]
        return [(self._folder, self._copies / "world"), *texts]

    def anew(self) -> Row:
        """The row as it was made, over files as they were made."""
        for place, copy in self._places():
            shutil.rmtree(place, ignore_errors=True)
            if copy.exists():
                shutil.copytree(copy, place, symlinks=True)
        return type(self._row)._default_manager.get(pk=self._row.pk)


#: The fixture `kept` of tests/conftest.py.
Keep: TypeAlias = Callable[[Callable[[Path], Row]], Kept[Row]]
