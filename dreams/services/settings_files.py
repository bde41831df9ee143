"""Settings and policies as a file, and back: only what a person set, nothing that is the default."""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from dreams import conf
from dreams.models import Override, Policy, Project
from dreams.services import settings_changes
from dreams.services.hosts import host

FORMAT = "memoryweb settings 1"
KEPT = 5
MOST_BYTES = 4 * 1024 * 1024


class BadFile(ValueError):
    """The file cannot be used; nothing was changed."""


@dataclass(slots=True)
class Imported:
    """How many were set, and the projects of the file that are not known here."""

    settings: int = 0
    policies: int = 0
    unknown: list[str] = field(default_factory=list)


def everything() -> dict[str, Any]:
    """What a person set and is not the default; earned policies belong to this machine's decisions and stay here."""
    by_project: dict[str, dict[str, Any]] = {}
    everywhere: dict[str, Any] = {}
    for row in Override.objects.filter(key__in=conf.specs()).select_related("project"):
        if row.project is None:
            if row.value != conf.specs()[row.key].default:
                everywhere[row.key] = row.value
        else:
            by_project.setdefault(row.project.memory_dir, {})[row.key] = row.value
    rows = Policy.objects.filter(maker="").select_related("project")
    policies = [
        {
            "project": row.project.memory_dir if row.project else None,
            "memory_type": row.memory_type,
            "operation": row.operation,
            "kind": row.kind,
            "action": row.action,
        }
        for row in rows
    ]
    return {"format": FORMAT, "everywhere": everywhere, "projects": by_project, "policies": policies}


def write(path: Path) -> Mapping[str, Any]:
    """Save it to a file (0600). Raises OSError."""
    found = everything()
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=2, ensure_ascii=False, sort_keys=True)
        file.write("\n")
    draft.replace(path)
    return found


def read(path: Path, actor: str) -> Imported:
    """Set what the file has, all of it or nothing; what it does not name stays. A dated copy of what holds now is kept first.

    Raises BadFile and OSError.
    """
    given = _loaded(path)
    known = {row.memory_dir: row for row in Project.objects.filter(host=host())}
    _back_up()
    done = Imported()
    try:
        with transaction.atomic():
            _set(given.get("everywhere", {}), None, actor, done)
            for name, values in given.get("projects", {}).items():
                if name in known:
                    _set(values, known[name], actor, done)
                else:
                    done.unknown.append(name)
            for row in given.get("policies", []):
                _set_policy(row, known, actor, done)
    except (conf.BadValue, settings_changes.BadPolicy) as error:
        raise BadFile(f"Nothing was changed. {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise BadFile(f"Nothing was changed. {path} has something that is no setting: {error}") from error
    done.unknown = sorted(set(done.unknown))
    return done


def _loaded(path: Path) -> dict[str, Any]:
    data = path.read_bytes()[: MOST_BYTES + 1]
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not valid JSON.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadFile(f"{path} is not a file of settings. `settings export FILE` makes one.")
    return found


def _set(values: Mapping[str, Any], project: Project | None, actor: str, done: Imported) -> None:
    for key, value in values.items():
        settings_changes.set_override(key, value, actor=actor, project=project)
        done.settings += 1


def _set_policy(row: Mapping[str, Any], known: Mapping[str, Project], actor: str, done: Imported) -> None:
    name = row["project"]
    if name is not None and name not in known:
        done.unknown.append(name)
        return
    settings_changes.set_policy(
        row["operation"],
        row["action"],
        actor=actor,
        memory_type=row["memory_type"],
        kind=row["kind"],
        project=known[name] if name is not None else None,
    )
    done.policies += 1


def _back_up() -> None:
    folder = Path(settings.DATA_DIR) / "settings"
    folder.mkdir(mode=0o700, exist_ok=True)
    stamp = timezone.now().astimezone(dt.UTC).strftime("%Y%m%dT%H%M%S%fZ")
    write(folder / f"{stamp}.json")
    for old in sorted(folder.glob("*.json"))[:-KEPT]:
        old.unlink()
