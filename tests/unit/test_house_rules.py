"""The rules of the house, by walking the imports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PURE = [
    "gates",
    "textdiff",
    "merge",
    "memdir",
    "language",
    "findings",
    "secrets",
    "safefs",
    "journal",
    "history",
    "locks",
    "transcripts",
    "sources",
    "lib",
    "sandbox",
    "engines/anthropic",
    "engines/eyes",
    "engines/rules",
    "engines/wire",
    "blaming/lines.py",
    "blaming/writes.py",
    "drafts.py",
    "linedates.py",
    "manifest.py",
    "process.py",
    "text.py",
    "ids.py",
    "workspace.py",
]
# The settings' shape is a plain dataclass that pure code may be given; its readers import Django only when called.
ALLOWED_IN_PURE = {"dreams.conf"}


def modules(place: str) -> list[Path]:
    path = ROOT / "dreams" / place
    return [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


def imports(path: Path) -> set[str]:
    """Every module that a file imports at its top, as dotted names."""
    package = ".".join(path.relative_to(ROOT).with_suffix("").parts[:-1])
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base]).rstrip(".")
            found |= {base, *(f"{base}.{name.name}" for name in node.names)}
    return found


@pytest.mark.parametrize("place", PURE)
def test_pure_code_imports_no_django_and_no_rows(place: str) -> None:
    assert modules(place), f"{place} is gone; take it off the list"
    for path in modules(place):
        bad = {
            name
            for name in imports(path)
            if name.split(".")[0] in ("django", "django_q") or name.startswith("dreams.models")
        }
        assert not bad, f"{path.relative_to(ROOT)} imports {sorted(bad)}"


def test_nothing_below_the_web_imports_it() -> None:
    outside = [
        path
        for path in sorted((ROOT / "dreams").rglob("*.py"))
        if not {"web", "admin"} & set(path.relative_to(ROOT).parts)
    ]
    for path in outside:
        bad = {
            name
            for name in imports(path)
            if name.startswith(("dreams.web", "django.http", "django.shortcuts"))
        }
        assert not bad, f"{path.relative_to(ROOT)} imports {sorted(bad)}"


def test_only_writing_runs_the_journal() -> None:
    for path in sorted((ROOT / "dreams").rglob("*.py")):
        if path.parent.name == "journal" or path.name == "writing.py":
            continue
        assert "journal.run(" not in path.read_text(encoding="utf-8"), path


def test_no_template_has_inline_script_or_style() -> None:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        content = path.read_text(encoding="utf-8")
        assert "<style" not in content and " style=" not in content, path
        assert " onclick=" not in content and "javascript:" not in content, path
        for line in content.splitlines():
            assert "<script" not in line or " src=" in line, f"{path}: {line.strip()}"


def test_no_page_asks_another_host_for_anything() -> None:
    for path in [*sorted((ROOT / "templates").rglob("*.html")), *sorted((ROOT / "static").rglob("*.css"))]:
        content = path.read_text(encoding="utf-8")
        for start in ('src="http', 'href="http', "url(http", "@import"):
            assert start not in content, f"{path} holds {start}"
