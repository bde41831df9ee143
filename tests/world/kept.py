"""A world that a module makes once: each of its tests starts with the original rows and files.

Making a proposal on a directory takes as long as a test of it. A module whose tests share one makes it in a transaction
around all of them; after each test its rows are rolled back and its files restored. Not for tests that commit, nor
for those that need other file times than the world has.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from django.conf import settings
from django.db.models import Model

TEXTS = ("journal", "history")  # a project's texts in the data directory


Row = TypeVar("Row", bound=Model)


class Kept(Generic[Row]):
    """`make` gets an empty folder and returns the row that tests start with."""

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
        """The original row, with the original files restored."""
        for place, copy in self._places():
            shutil.rmtree(place, ignore_errors=True)
            if copy.exists():
                shutil.copytree(copy, place, symlinks=True)
        return type(self._row)._default_manager.get(pk=self._row.pk)


#: The fixture `kept` of tests/conftest.py.
Keep: TypeAlias = Callable[[Callable[[Path], Row]], Kept[Row]]
