"""The keys that `--json` prints are those in docs/operations.md, as people script them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.test_commands import SLUG, Shell

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db(transaction=True)

DOC = Path(__file__).parents[2] / "docs/operations.md"


def documented() -> dict[str, str]:
    """Command → the shape behind it, without spaces: `{project,versions:[{version,path}]}`."""
    section = DOC.read_text().split("### What `--json` prints\n", 1)[1].split("\n### ", 1)[0]
    rows = re.findall(r"^- `([^`]+)`[^`]*?(?:`[^`{]*`[^`]*?)*: `(\{[^`]*\})`", section, re.MULTILINE)
    return {command: re.sub(r"\s", "", shape) for command, shape in rows}


def shape(value: Any, like: str) -> str:
    """The shape of `value`, spelled out as far as `like` spells it out."""
    if isinstance(value, list):
        return f"[{shape(value[0], like)}]" if value else ""
    return "{" + ",".join(_key(name, one, like) for name, one in value.items()) + "}"


def _key(name: str, value: Any, like: str) -> str:
    wanted = re.search(rf"\b{name}:(\[?\{{…?)", like)
    if wanted is None:
        return name
    return f"{name}:{{…}}" if wanted[1] == "{…" else f"{name}:{shape(value, like)}"


def test_every_key_that_is_printed_is_in_the_documents(tmp_path: Path, settings: SettingsWrapper) -> None:
    shell = Shell(tmp_path)
    settings.ROOTS = (shell.root,)
    shapes = documented()
    assert len(shapes) > 20

    def same(command: str, *more: str) -> Any:
        printed = shell.json(*command.split(), *more)
        assert shape(printed, shapes[command]) == shapes[command], command
        return printed

    same("discover")
    same("projects")
    same("gates")
    dream = same("dream", SLUG, "--force")["dream"]
    same("proposal", dream)
    same("decide", dream, "--approve")
    same("apply", dream)
    same("rollback --preview", dream)
    same("history", SLUG)
    same("audit")
    same("search", "deploy")
    same("doctor")
    same("people")
    same("hosts")
    same("login_url")
    same("export", SLUG, str(tmp_path / "app.bundle"))
    same("import", str(tmp_path / "app.bundle"))
