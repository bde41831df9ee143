"""Slugs begin with `-`: they are taken bare, anywhere on the line, and mistyped options are still refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.world.agent_folder import Root
from tests.world.cases import each
from tests.world.command_line import typed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.not_on_postgresql]


@pytest.fixture(autouse=True)
def projects(tmp_path: Path) -> None:
    """Projects whose slugs begin like `-h`, `-v` and other options; two config folders share one slug."""
    first, second = Root(tmp_path / "one"), Root(tmp_path / "two")
    for cwd in ("/home/dev/two", "/var/www", "/json", "/shared/app"):
        first.session(cwd, "s1")
    second.session("/shared/app", "s1")
    assert typed("discover", "--root", str(first.path), "--root", str(second.path)).returncode == 0


@each(
    "line",
    [
        ("gates", "-home-dev-two", "--json"),
        ("gates", "--json", "-var-www"),
        ("gates", "-json", "--json"),
        ("gates", "--json", "--", "-var-www"),
    ],
)
def test_a_bare_slug_is_a_project_before_and_after_options(line: tuple[str, ...]) -> None:
    found = typed(*line)
    assert (found.returncode, found.stderr) == (0, "")
    assert [project["slug"] for project in json.loads(found.stdout)["projects"]] == [
        word for word in line if word.startswith("-") and word not in {"--", "--json"}
    ]


def test_a_slug_between_options_and_their_values() -> None:
    found = typed("gates", "--now", "2026-03-02T10:00:00+00:00", "-home-dev-two", "--json")
    assert found.returncode == 0
    found = typed("dream", "--engine", "rules", "-home-x", "--force")
    assert found.returncode == 1
    assert "-home-x" in found.stderr
    assert found.stderr.count("\n") == 1


def test_an_options_value_may_begin_with_a_dash() -> None:
    found = typed("decide", "d00000000", "--approve", "--path", "-odd.md")
    assert found.returncode == 1
    assert "d00000000" in found.stderr
    below = typed("dreambench", "--facts", "-5")
    assert (below.returncode, below.stderr) == (2, "The number of facts must be from 10 to 20,000.\n")


def test_a_mistyped_option_is_a_usage_error() -> None:
    option = "--jsn"
    found = typed("gates", "-home-dev-two", option)
    assert (found.returncode, found.stdout) == (2, "")
    assert option in found.stderr


def test_an_optional_second_word_may_follow_an_option() -> None:
    found = typed("history", "-home-dev-two", "--json", "-odd.md")
    assert found.returncode in (0, 1)
    assert "unrecognized" not in found.stderr


def test_an_ambiguous_slug_exits_2_with_the_candidates() -> None:
    found = typed("gates", "-shared-app")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("/memory") == 2


def test_a_directory_or_an_id_tells_projects_apart() -> None:
    rows = json.loads(typed("projects", "--json").stdout)["projects"]
    row = next(row for row in rows if row["slug"] == "-shared-app")
    for name in (f"{row['memory_dir']}/", str(row["id"])):
        found = typed("gates", name, "--json")
        assert json.loads(found.stdout)["projects"][0]["memory_dir"] == row["memory_dir"]


def test_an_unknown_project_is_refused_with_a_near_one() -> None:
    found = typed("gates", "-home-dev-too")
    assert (found.returncode, found.stdout) == (1, "")
    assert "-home-dev-two" in found.stderr
