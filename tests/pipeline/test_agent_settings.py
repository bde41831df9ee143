"""The agent's settings: only our hook goes in, only our hook comes out, and nobody else's write is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from dreams.models import AuditEntry
from dreams.services import agent_settings
from dreams.services.agent_settings import SettingsRefused
from tests.world.cases import each

pytestmark = [pytest.mark.django_db, pytest.mark.not_on_postgresql]

THEIRS = {
    "model": "opus",
    "autoDreamEnabled": False,
    "hooks": {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "SessionEnd": [{"matcher": "clear", "hooks": [{"type": "command", "command": "hook session-end"}]}],
    },
    "größe": "ß",
}


def write(root: Path, values: object, *, indent: int | str = 4) -> bytes:
    data = json.dumps(values, indent=indent, ensure_ascii=False).encode()
    (root / "settings.json").write_bytes(data)
    return data


def read(root: Path) -> dict[str, object]:
    return json.loads((root / "settings.json").read_text("utf-8-sig"))


def add(root: Path) -> bool:
    return agent_settings.add_hook(root, agent_settings.with_hook(root).shown, "me")


def remove(root: Path) -> bool:
    return agent_settings.remove_hook(root, agent_settings.without_hook(root).shown, "me")


@pytest.mark.more
@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_what_was_added_is_taken_out_again_to_the_byte(tmp_path: Path, indent: int | str) -> None:
    before = write(tmp_path, THEIRS, indent=indent)
    assert add(tmp_path) and not agent_settings.without_hook(tmp_path).is_empty
    made = read(tmp_path)
    assert made["hooks"]["SessionEnd"][0] == THEIRS["hooks"]["SessionEnd"][0], "somebody else's hook stays"
    assert made["hooks"]["SessionEnd"][1]["hooks"][0]["command"] == agent_settings.command()
    assert remove(tmp_path) and (tmp_path / "settings.json").read_bytes() == before


@each(
    "text",
    [
        '{"permissions": {"allow": ["Bash(ls:*)", "Read"]}}\n',
        '{\n  "permissions": {"allow": ["Read"]},\n\n  "env": {"A": "1"}\n}\n',
        '{\r\n  "model": "opus"\r\n}\r\n',
        '{"name": "\\u00fc \\ud83d", "ratio": 1.10, "large": 1e3 }',
        "{}\n",
        '\ufeff{\r\n  "model": "opus"\r\n}\r\n',
        '{ "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]},\n\n  "ratio": 1.10}\n',
        '{\n    "hooks": {\n        "SessionEnd": [ {"hooks": [{"type": "command", "command": "x"}]} ]\n    },\n'
        '    "allow": ["a",\n  "b"], "large": 1e3 }\n',
        '{\n  "hooks": {\n    "SessionEnd": [\n      {\n        "hooks": [{"type": "command", "command": "x"}]\n      }\n'
        '    ],\n    "Stop": []\n  },\n  "allow": ["a", "b"]\n}\n',
        '{\r\n  "allow": ["a", "b"],\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
    ],
)
def test_a_text_of_any_form_gets_our_lines_and_is_else_as_it_was(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(text.encode())
    assert not [line for line in agent_settings.with_hook(tmp_path).diff if line.startswith("-")][1:]
    assert add(tmp_path) and not agent_settings.without_hook(tmp_path).is_empty
    assert read(tmp_path) == {**json.loads(text.removeprefix("\ufeff")), "hooks": read(tmp_path)["hooks"]}
    assert b"\r\n" not in text.encode() or b"\n" not in file.read_bytes().replace(b"\r\n", b"")
    assert remove(tmp_path) and file.read_bytes() == text.encode()


def test_a_value_that_is_no_json_is_never_written(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"a": 1e999}')
    with pytest.raises(SettingsRefused, match="cannot be written back as it is"):
        add(tmp_path)
    assert (tmp_path / "settings.json").read_text() == '{"a": 1e999}'


def test_the_diff_is_what_is_written(tmp_path: Path) -> None:
    write(tmp_path, THEIRS)
    change = agent_settings.with_hook(tmp_path)
    added = [line for line in change.diff if line.startswith("+")]
    assert any("session-end" in line for line in added) and not change.is_empty
    agent_settings.add_hook(tmp_path, change.shown, "me")
    assert (tmp_path / "settings.json").read_text() == change.after


def test_settings_that_do_not_exist_are_made_private(tmp_path: Path) -> None:
    assert add(tmp_path)
    assert (tmp_path / "settings.json").stat().st_mode & 0o777 == 0o600
    assert remove(tmp_path) and read(tmp_path) == {}


def test_nothing_is_written_where_nothing_changes(tmp_path: Path) -> None:
    write(tmp_path, THEIRS)
    add(tmp_path)
    before = (tmp_path / "settings.json").stat()
    assert add(tmp_path) is False
    after = (tmp_path / "settings.json").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    assert remove(tmp_path) and remove(tmp_path) is False
    assert AuditEntry.objects.filter(action="agent_settings.changed").count() == 2


def test_a_change_since_the_diff_was_shown_is_seen(tmp_path: Path) -> None:
    write(tmp_path, THEIRS)
    shown = agent_settings.with_hook(tmp_path).shown
    data = write(tmp_path, {**THEIRS, "model": "sonnet"})
    with pytest.raises(SettingsRefused, match="changed since it was shown"):
        agent_settings.add_hook(tmp_path, shown, "me")
    assert (tmp_path / "settings.json").read_bytes() == data


def test_a_write_of_the_agent_in_between_is_never_lost(tmp_path: Path, monkeypatch) -> None:
    write(tmp_path, THEIRS)
    shown = agent_settings.with_hook(tmp_path).shown
    logged_in = {**THEIRS, "oauthAccount": {"id": "x"}}
    back_up = agent_settings._back_up

    def agent_writes(root: Path, data: bytes) -> None:
        back_up(root, data)
        write(tmp_path, logged_in)

    monkeypatch.setattr(agent_settings, "_back_up", agent_writes)
    with pytest.raises(SettingsRefused, match="another program"):
        agent_settings.add_hook(tmp_path, shown, "me")
    assert read(tmp_path) == logged_in
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"], "no draft is left"


def test_a_dated_copy_is_kept_first_and_five_of_them_stay(tmp_path: Path) -> None:
    first = write(tmp_path, THEIRS)
    folder = Path(settings.DATA_DIR) / "agent-settings"
    for old in folder.glob("*.json") if folder.exists() else ():
        old.unlink()
    add(tmp_path)
    (kept,) = folder.glob("*.json")
    assert kept.read_bytes() == first and kept.stat().st_mode & 0o777 == 0o600
    for _ in range(4):
        remove(tmp_path)
        add(tmp_path)
    assert len(list(folder.glob("*.json"))) == 5


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{not json", "not valid JSON"),
        ("[]", "not a JSON object"),
        ('{"a": 1, "a": 2}', "a key is there twice"),
        ('{"hooks": []}', "not in the form"),
        ('{"hooks": {"SessionEnd": "x"}}', "not in the form"),
        *(('{"a": ' + "[" * deep + "]" * deep + "}", "nested too deeply") for deep in (500, 100_000)),
    ],
)
def test_what_it_does_not_understand_is_left_alone(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(SettingsRefused, match=told):
        agent_settings.with_hook(tmp_path)
    assert (tmp_path / "settings.json").read_text() == text


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("{}")
    (tmp_path / "settings.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SettingsRefused, match="by hand"):
        agent_settings.with_hook(tmp_path)


def test_a_change_that_would_lose_a_key_is_refused(tmp_path: Path) -> None:
    before = write(tmp_path, THEIRS)
    shown = agent_settings.with_hook(tmp_path).shown

    def careless(values: dict[str, object]) -> dict[str, object]:
        return {key: value for key, value in values.items() if key != "model"}

    with pytest.raises(SettingsRefused, match="would be lost"):
        agent_settings._rewrite(tmp_path, careless, shown, "me")
    assert (tmp_path / "settings.json").read_bytes() == before


def test_a_long_wait_for_the_lock_is_logged(tmp_path: Path, monkeypatch, caplog) -> None:
    write(tmp_path, THEIRS)
    moments = iter([0.0, 0.3])
    monkeypatch.setattr(agent_settings.time, "monotonic", lambda: next(moments, 1.0))
    monkeypatch.setattr(agent_settings.filelock.FileLock, "acquire", lambda self, timeout: None)
    add(tmp_path)
    assert "waited 300 ms" in caplog.text


def test_the_command_takes_the_hook_out(tmp_path: Path, settings, capsys) -> None:
    settings.ROOTS = [tmp_path]
    before = write(tmp_path, THEIRS)
    add(tmp_path)
    call_command("hook", "remove")
    assert (tmp_path / "settings.json").read_bytes() == before
    assert f"Removed from {tmp_path}" in capsys.readouterr().out
