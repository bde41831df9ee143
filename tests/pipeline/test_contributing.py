"""CONTRIBUTING.md is true: each of its recipes, followed to the letter in a copy of the project, works."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.world.cases import each

pytestmark = pytest.mark.not_on_postgresql

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "CONTRIBUTING.md"
COPIED = (
    "dreams",
    "memoryweb",
    "templates",
    "static",
    "tests",
    "docs",
    "Makefile",
    "pyproject.toml",
    "manage.py",
    "README.md",
    "CHANGELOG.md",
)
MOST_FILES = 6
_STEP = re.compile(r"\d+\. `(?P<path>[^`]+)`,.*?(?P<how>new|at the end|below `(?P<anchor>.+)`):\Z")


@dataclass(frozen=True)
class Step:
    path: str
    how: str
    anchor: str
    text: str


def recipes() -> dict[str, list[Step]]:
    """Title of a section → its steps, in order."""
    found: dict[str, list[Step]] = {}
    lines = iter(GUIDE.read_text(encoding="utf-8").splitlines())
    title = ""
    for line in lines:
        if line.startswith("## "):
            title = line[3:]
        step = _STEP.match(line)
        if step is None:
            assert not re.match(r"\d+\. ", line), f"a step that cannot be followed: {line}"
            continue
        assert next(lines).startswith("   ```"), line
        block: list[str] = []
        while (inner := next(lines)) != "   ```":
            block.append(inner.removeprefix("   "))
        how = "below" if step["anchor"] else step["how"]
        found.setdefault(title, []).append(
            Step(step["path"], how, step["anchor"] or "", "\n".join(block) + "\n")
        )
    return found


def follow(step: Step, project: Path) -> None:
    path = project / step.path
    if step.how == "new":
        assert not path.exists(), step.path
        path.write_text(step.text, encoding="utf-8")
        return
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if step.how == "below":
        places = [number for number, line in enumerate(lines) if line.rstrip("\n") == step.anchor]
        assert places, f"{step.path} has no line “{step.anchor}”"
        lines.insert(places[0] + 1, step.text)
    else:
        lines.append(step.text)
    path.write_text("".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project in which every recipe was followed; what is compiled comes along."""
    made = tmp_path_factory.mktemp("project")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, made / name, ignore=shutil.ignore_patterns("browser"))
        else:
            shutil.copy(source, made / name)
    for steps in recipes().values():
        for step in steps:
            follow(step, made)
    return made


def run(project: Path, *words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", *words], cwd=project, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
    return ran.stdout


def test_there_is_a_recipe_for_each_kind_of_thing() -> None:
    kinds = (
        "gate",
        "finding",
        "question kind",
        "column to the list of projects",
        "page",
        "setting",
        "command",
        "agent",
        "engine",
    )
    assert set(recipes()) == {f"To add {'an' if kind[0] in 'ae' else 'a'} {kind}" for kind in kinds}


@each("title", recipes())
def test_a_recipe_touches_few_files(title: str) -> None:
    assert len({step.path for step in recipes()[title]}) <= MOST_FILES


@pytest.mark.sweep
def test_whoever_follows_the_recipes_has_a_project_whose_tests_pass(project: Path) -> None:
    """The recipes' own tests, those of all gates and columns, and those that hold lists and documents to the code."""
    own = [step.path for steps in recipes().values() for step in steps if step.path.startswith("tests/")]
    lists = ["tests/unit/test_docs_are_true.py", "tests/unit/test_house_rules.py"]
    lists += ["tests/unit/test_gates_evaluation.py", "tests/web/test_projects.py"]
    run(project, "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *sorted(set(own)), *lists)


def test_what_the_recipes_write_is_as_the_checks_want_it(project: Path) -> None:
    run(
        project,
        "ruff",
        "check",
        "--no-cache",
        *sorted({s.path for steps in recipes().values() for s in steps if s.path.endswith(".py")}),
    )
