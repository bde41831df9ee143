"""The keys that `--json` prints are those in docs/operations.md, as people script them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.pipeline.test_commands import SLUG, Shell
from tests.world.directory import put

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db(transaction=True)

HEAD = "---\nname: Some\ndescription: of the cluster\ntype: project\n---\n\n"
TOKEN = "ghp_" + "m2Rk9WvX4cT7pB1zN6hQ8dJ3sL5yG0fAuEoI"
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
    _with_everything(shell)
    shapes = documented()
    left = dict(shapes)

    def same(command: str, *more: str, code: int = 0) -> Any:
        printed = shell.json(*command.split(), *more, code=code)
        assert not code or printed.pop("error"), "it is said beside what failed"
        assert shape(printed, shapes[command]) == left.pop(command), command
        return printed

    same("discover")
    same("projects")
    same("gates")
    dream = same("dream", SLUG, "--force")["dream"]
    same("proposal", dream)
    [question] = same("questions", dream)["questions"]
    same("answer", dream, question["id"], question["options"][0]["id"])
    same("digest")
    same("decide", dream, "--approve")
    same("apply", dream)
    same("rollback --preview", dream)
    same("history", SLUG)
    same("audit")
    same("search", "deploy")
    same("secrets", SLUG)
    same("checkup", SLUG)
    same("open_ends", SLUG)
    shell.json("jobs", "add", "0 3 * * *", "checkup")
    same("jobs list")
    same("doctor")
    same("people")
    same("hosts")
    same("login_url")
    same("export", SLUG, str(tmp_path / "app.bundle"))
    same("import", str(tmp_path / "app.bundle"))
    same("recover")
    blob = next((settings.DATA_DIR / "journal").glob("*/blobs/*"))
    blob.chmod(0o600)
    blob.write_bytes(b"damaged")
    same("verify", code=1)
    assert not left, "what no command here prints"


def _with_everything(shell: Shell) -> None:
    """Something to ask about, a secret, and a task that nobody finished."""
    put(shell.memory / "project_cluster.md", f"{HEAD}The code freeze of the shop holds until 2026-02-01.\n")
    put(shell.memory / "project_token.md", f"{HEAD}The importer sends {TOKEN} each time.\n")
    tasks = {"todos": [{"content": "Mend the export", "status": "pending"}]}
    call = {"type": "tool_use", "id": "c", "name": "TodoWrite", "input": tasks}
    record = {
        "type": "assistant",
        "timestamp": "2026-03-02T10:01:00.000Z",
        "message": {"role": "assistant", "content": [call]},
    }
    with next(shell.memory.parent.glob("*.jsonl")).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
