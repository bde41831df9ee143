"""memoryweb: review, apply and undo what dreams change in the notes of coding agents."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent


@cache
def version() -> str:
    """The version stands once: in the newest heading of CHANGELOG.md."""
    text = (BASE_DIR / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## (\d+\.\d+\.\d+)", text, re.MULTILINE)
    return found.group(1) if found else "0.0.0"
