"""Changes settings and policies for pages, admin and commands: check, write and audit in one transaction. Also sets whether
a repository's settings are trusted, and exports and imports all settings."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from dreams import conf
from dreams.lib.refusal import Refusal
from dreams.lib.storage.history import durable
from dreams.models import Operation, Override, Policy, Project
from dreams.services import auditlog, database, discovery, jobs
from dreams.services.discovery import instruction_files
from dreams.services.hosts import host
from memoryweb import datadir

# The memory types of the reference behaviour, and the index; a policy may also name none ("": any).
MEMORY_TYPES = ("", "user", "feedback", "project", "reference", "index")


_BY_PEOPLE = (Operation.Kind.COPY, Operation.Kind.RESTORE, Operation.Kind.UNDO)
# The kinds of change in a dream; no policy is about another.
POLICY_KINDS = tuple(kind.value for kind in Operation.Kind if kind not in _BY_PEOPLE)

#: Setting one of them means that a digest is wanted, which a job sends.
DIGEST_ADDRESSES = ("digest_email", "digest_webhook")


class BadPolicy(ValueError):
    """The policy names an unknown type, operation or action; the message says which."""


def set_override(key: str, raw: object, *, actor: str, project: Project | None = None) -> conf.Value:
    """Stores `raw` as the setting `key`, for `project` or for all. Raises KeyError, conf.BadValue."""
    spec = conf.specs()[key]
    value = conf.parse(key, raw)
    if project is not None and not spec.per_project:
        raise conf.BadValue(f"{spec.label}: this applies to all projects and cannot be set for one")
    with transaction.atomic():
        database.one_at_a_time("settings")
        row = Override.objects.select_for_update().filter(project=project, key=key).first()
        was = row.value if row else None
        is_default = is_default_without(key, value, project)
        if was == value or (row is None and is_default):
            return value
        if row is not None and is_default:
            row.delete()
        else:
            row = row or Override(project=project, key=key)
            row.value, row.changed_by = value, actor
            row.save()
        _record_change(key, was, value, actor, project)
        if key in DIGEST_ADDRESSES and value:
            jobs.ensure_digest(actor)
    return value


def _record_change(key: str, was: object, now: object, actor: str, project: Project | None) -> None:
    """Also has the next tick read changed config folders, as the person waits for their contents."""
    was, now = _logged(key, was), _logged(key, now)
    auditlog.record("setting.changed", actor=actor, project=project, object_id=key, was=was, now=now)
    if key == "roots":
        transaction.on_commit(partial(cache.delete, discovery.LAST_LOOK))


def is_default_without(key: str, value: conf.Value, project: Project | None) -> bool:
    """Whether the default applies without an override and equals this value: then there is nothing to store."""
    found = conf.Overrides.load(project)
    own = found.everywhere if project is None else found.by_project.get(project.pk, {})
    rest = {name: given for name, given in own.items() if name != key}
    without = (
        conf.Overrides(rest, found.by_project)
        if project is None
        else conf.Overrides(found.everywhere, {project.pk: rest})
    )
    below = without.sourced(project.pk if project else None)[key]
    return below.source == "default" and below.value == value


def _logged(key: str, value: object) -> object:
    """The value for the audit log, which is permanent: only the host of a webhook's address, as the rest is often a secret."""
    if key != "digest_webhook" or not value:
        return value
    return f"{urlsplit(str(value)).hostname} (the rest is not stored)"


def reset_override(key: str, *, actor: str, project: Project | None = None) -> bool:
    """Removes an override. False if there was none. Raises KeyError."""
    if key not in conf.specs():
        raise KeyError(key)
    with transaction.atomic():
        database.one_at_a_time("settings")
        row = Override.objects.select_for_update().filter(project=project, key=key).first()
        if row is None:
            return False
        row.delete()
        _record_change(key, row.value, None, actor, project)
    return True


def set_policy(
    operation: str,
    action: str,
    *,
    actor: str,
    memory_type: str = "",
    kind: str = "",
    project: Project | None = None,
) -> bool:
    """Sets the policy for `operation` on memories of this type, or for changes of this `kind`.

    An `action` of "" removes the policy. True if something changed. Raises BadPolicy.
    """
    check_policy(operation, action, memory_type, kind)
    of = {"project": project, "memory_type": memory_type, "operation": operation, "kind": kind, "maker": ""}
    with transaction.atomic():
        database.one_at_a_time("settings")
        # Without the default order, which joins the project: PostgreSQL cannot lock a project that is null.
        rows = Policy.objects.select_for_update(of=("self",))
        row = rows.filter(**of).first()
        was = row.action if row else ""
        if was == action:
            return False
        if row is not None and not action:
            row.delete()
        else:
            row = row or Policy(**of)
            row.action, row.changed_by = action, actor
            row.save()
        auditlog.record(
            "policy.changed",
            actor=actor,
            project=project,
            object_id=kind or f"{operation} {memory_type or 'any'}",
            was=was or None,
            now=action or None,
        )
    return True


def check_policy(operation: str, action: str, memory_type: str, kind: str) -> None:
    """Raises BadPolicy if a part of the policy is unknown."""
    if kind and (operation or memory_type):
        raise BadPolicy("A policy covers a kind of change, or an operation on a type of memory")
    if kind and kind not in POLICY_KINDS:
        raise BadPolicy(f"“{kind}” is not one of {', '.join(POLICY_KINDS)}")
    if not kind and not operation:
        raise BadPolicy("Choose an operation or a kind of change")
    if not kind and operation not in Policy.Operation.values:
        raise BadPolicy(f"“{operation}” is not one of {', '.join(Policy.Operation.values)}")
    if operation == Policy.Operation.CATCH and memory_type:
        raise BadPolicy("The policy for what was caught covers every type of memory")
    if action and action not in Policy.Action.values:
        raise BadPolicy(f"“{action}” is not one of {', '.join(Policy.Action.values)}")
    if memory_type not in MEMORY_TYPES:
        raise BadPolicy(f"“{memory_type}” is not one of {', '.join(MEMORY_TYPES[1:])}")


def set_trusted(project: Project, trusted: bool, *, actor: str) -> bool:
    """Sets the trust; True if it changed. Takes effect at the next discovery."""
    with transaction.atomic():
        changed = Project.objects.filter(pk=project.pk).exclude(trusted=trusted).update(trusted=trusted)
        if changed:
            instruction_files.forget(project)
            auditlog.record(
                "project.trusted",
                actor=actor,
                project=project,
                object_id=project.slug,
                was=not trusted,
                now=trusted,
            )
    project.trusted = trusted
    return bool(changed)


FORMAT = "memoryweb settings 1"
KEPT = 5  # earlier settings files; chosen
MOST_BYTES = 4 * 1024 * 1024  # of a settings file; chosen


class BadFile(Refusal):
    """The settings file cannot be used; nothing was changed."""


@dataclass(slots=True)
class Imported:
    """How many settings were set, and the projects in the file that are unknown here."""

    settings: int = 0
    policies: int = 0
    unknown: list[str] = field(default_factory=list)


def everything() -> dict[str, Any]:
    """Everything that a person set and that is not the default. Earned policies are left out: they come from local decisions."""
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
    """Saves `everything` to a file (0600). Raises OSError."""
    found = everything()
    text = json.dumps(found, indent=2, ensure_ascii=False, sort_keys=True)
    durable.write_file(path, lambda file: file.write(f"{text}\n".encode()))
    return found


def read(path: Path, actor: str) -> Imported:
    """Applies all settings in the file or none; others are unchanged. Saves a dated copy of the current settings first.

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
    except (conf.BadValue, BadPolicy) as error:
        raise BadFile(f"Nothing was changed. {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise BadFile(
            f"Nothing was changed. {path} contains something that is not a setting. Compare it with what "
            "`settings export FILE` creates."
        ) from error
    done.unknown = sorted(set(done.unknown))
    return done


def _loaded(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not valid JSON.") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise BadFile(f"{path} is not a settings file. `settings export FILE` creates one.")
    parts = ("format", "everywhere", "projects", "policies")
    if (wrong := next((key for key in found if key not in parts), None)) is not None:
        raise BadFile(f"Nothing was changed. {conf.unknown(wrong, parts)}")
    return found


def _set(values: Mapping[str, Any], project: Project | None, actor: str, done: Imported) -> None:
    for key, value in values.items():
        if key not in conf.specs():
            raise BadFile(f"Nothing was changed. {conf.unknown(key, conf.specs())}")
        set_override(key, value, actor=actor, project=project)
        done.settings += 1
    present = {key: found.value for key, found in conf.sourced(project).items()}
    for key, why in conf.at_odds(present, values).items():
        raise conf.BadValue(f"{conf.specs()[key].label}: {why}")


def _set_policy(row: Mapping[str, Any], known: Mapping[str, Project], actor: str, done: Imported) -> None:
    name = row["project"]
    if name is not None and name not in known:
        done.unknown.append(name)
        return
    set_policy(
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
    write(copy := folder / f"{stamp}.json")
    datadir.make_room(copy, "*.json", KEPT)
