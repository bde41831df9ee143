"""`make lint` in a clone that has been used for long."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_cache_of_types_is_made_anew_once_the_modules_of_models_are_others(tmp_path: Path) -> None:
    """Django's plugin has mypy look for each module of models that there once was."""
    tools, cache, models = tmp_path / ".venv/bin", tmp_path / ".mypy_cache", tmp_path / "dreams/models"
    for folder in (tools, cache, models, tmp_path / "requirements"):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("ruff", "mypy", "djade", "python"):
        (tools / name).write_text("#!/bin/sh\n")
        (tools / name).chmod(0o755)
    for path in ("requirements/dev.txt", ".venv/installed", "dreams/models/auditlog.py"):
        (tmp_path / path).touch()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    kept = cache / "kept"

    def is_kept() -> bool:
        cache.mkdir(exist_ok=True)
        kept.touch()
        subprocess.run(["make", "lint"], cwd=tmp_path, check=True, capture_output=True)
        return kept.exists()

    assert not is_kept(), "nobody knows of which modules it is"
    assert is_kept()
    (models / "auditlog.py").rename(models / "decisions.py")
    assert not is_kept()
    assert is_kept()
