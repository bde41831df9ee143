"""Generated examples are the same for everybody, so that the suite is green or red for a reason."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture.providers import HypothesisProvider

ODD = 918_273_645


def test_what_modules_happen_to_be_imported_decides_only_what_is_explored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("odd")
    module.__file__ = str(tmp_path / "odd.py")
    Path(module.__file__).write_text(f"ODD = {ODD}\n")
    monkeypatch.setitem(sys.modules, "odd", module)
    drawn = HypothesisProvider(None)._local_constants.integers
    assert (ODD in drawn) == (settings.get_current_profile_name() == "explore")
