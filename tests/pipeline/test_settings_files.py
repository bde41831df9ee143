"""Settings as a file and back: what a person set, and never what is the default."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command

from dreams.management.base import Refused
from dreams.models import Override, Policy
from dreams.services import settings_changes
from tests.world import rows

pytestmark = pytest.mark.django_db


def test_a_value_equal_to_the_default_is_not_stored() -> None:
    settings_changes.set_override("min_hours", 24, actor="me")
    assert not Override.objects.exists()
    settings_changes.set_override("min_hours", 12, actor="me")
    settings_changes.set_override("min_hours", 24, actor="me")
    assert not Override.objects.exists()


def test_the_default_is_stored_where_something_else_would_hold() -> None:
    project = rows.make_project()
    settings_changes.set_override("min_hours", 12, actor="me")
    settings_changes.set_override("min_hours", 24, actor="me", project=project)
    assert Override.objects.get(project=project).value == 24


def test_the_default_is_stored_against_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORYWEB_MIN_HOURS", "6")
    settings_changes.set_override("min_hours", 24, actor="me")
    assert Override.objects.get().value == 24


def test_what_is_exported_is_imported_elsewhere(tmp_path: Path) -> None:
    project = rows.make_project()
    settings_changes.set_override("min_hours", 12, actor="me")
    settings_changes.set_override("min_sessions", 3, actor="me", project=project)
    settings_changes.set_policy("add", "auto", actor="me", memory_type="user", project=project)
    settings_changes.set_policy("catch", "auto", actor="me")
    Policy.objects.create(kind="learn", maker="rules 1", action="auto")
    Override.objects.create(key="scan_minutes", value=10.0)
    file = tmp_path / "mine.json"
    call_command("settings", "export", str(file))
    saved = json.loads(file.read_text())
    assert file.stat().st_mode & 0o777 == 0o600
    assert saved["everywhere"] == {"min_hours": 12.0}, "defaults are left out"
    assert len(saved["policies"]) == 2, "what was earned stays here"
    Override.objects.all().delete()
    Policy.objects.all().delete()
    call_command("settings", "import", str(file))
    assert {(row.project_id, row.key): row.value for row in Override.objects.all()} == {
        (None, "min_hours"): 12.0,
        (project.pk, "min_sessions"): 3,
    }
    assert set(Policy.objects.values_list("operation", "project")) == {("add", project.pk), ("catch", None)}


@pytest.mark.not_on_postgresql
def test_a_dated_copy_of_what_holds_now_is_kept_first(tmp_path: Path) -> None:
    folder = Path(settings.DATA_DIR) / "settings"
    for old in folder.glob("*.json") if folder.exists() else ():
        old.unlink()
    settings_changes.set_override("min_hours", 12, actor="me")
    file = tmp_path / "mine.json"
    call_command("settings", "export", str(file))
    settings_changes.set_override("min_hours", 6, actor="me")
    call_command("settings", "import", str(file))
    (kept,) = folder.glob("*.json")
    assert json.loads(kept.read_text())["everywhere"] == {"min_hours": 6.0}
    for _ in range(6):
        call_command("settings", "import", str(file))
    assert len(list(folder.glob("*.json"))) == 5


@pytest.mark.parametrize(
    "wrong",
    [
        {"everywhere": {"min_hours": 12, "no_such": 1}},
        {"everywhere": {"min_hours": "soon"}},
        {
            "everywhere": {"min_sessions": 3},
            "policies": [
                {"project": None, "operation": "x", "action": "auto", "memory_type": "", "kind": ""}
            ],
        },
        {"everywhere": []},
        {"policies": [{}]},
    ],
)
def test_a_file_with_one_wrong_thing_changes_nothing(tmp_path: Path, wrong: dict[str, object]) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"format": "memoryweb settings 1", **wrong}))
    with pytest.raises(Refused, match="Nothing was changed") as refused:
        call_command("settings", "import", str(file))
    assert "object" not in str(refused.value), "in the words of Python"
    assert not Override.objects.exists() and not Policy.objects.exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"everywhere": {"min_hour": 12}}, "min_hour is not a setting; min_hours is."),
        ({"everywere": {"min_hours": 12}}, "everywere is not a setting; everywhere is."),
        ({"everywhere": {"12": 12}}, "12 is not a setting."),
    ],
)
def test_a_misspelt_key_is_named_with_the_nearest_right_one(
    tmp_path: Path, wrong: dict[str, object], said: str
) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"format": "memoryweb settings 1", **wrong}))
    with pytest.raises(Refused) as refused:
        call_command("settings", "import", str(file))
    assert str(refused.value) == f"Nothing was changed. {said}"


def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    for text in ("{", "[]", "{}"):
        file.write_text(text)
        with pytest.raises(Refused):
            call_command("settings", "import", str(file))


def test_of_a_file_without_an_end_only_so_much_is_read() -> None:
    with pytest.raises(Refused, match="not valid JSON"):
        call_command("settings", "import", "/dev/zero")


def test_a_project_that_is_not_known_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.json"
    given = {"format": "memoryweb settings 1", "projects": {"/no/such/memory": {"min_hours": 12}}}
    file.write_text(json.dumps(given))
    call_command("settings", "import", str(file))
    assert "not known here: /no/such/memory" in capsys.readouterr().out
