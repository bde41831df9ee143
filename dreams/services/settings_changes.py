"""Changing a setting or a policy: check, transaction, write and audit in one unit, for pages, admin and commands."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.db import transaction

from dreams import conf
from dreams.models import Operation, Override, Policy, Project
from dreams.services import auditlog, database, jobs

# The types that the reference behaviour knows, and the index; a policy may also name none of them ("": any).
MEMORY_TYPES = ("", "user", "feedback", "project", "reference", "index")


# The kinds of change that a dream makes; an undo needs no policy.
POLICY_KINDS = tuple(kind.value for kind in Operation.Kind if kind != Operation.Kind.UNDO)

#: Whoever gives one of them wants a digest: a job sends it.
DIGEST_ADDRESSES = ("digest_email", "digest_webhook")


class BadPolicy(ValueError):
    """A policy for a type, operation or action that does not exist; the message names it."""


def set_override(key: str, raw: object, *, actor: str, project: Project | None = None) -> conf.Value:
    """Keep `raw` as the setting `key`, for `project` or for everywhere. Raises KeyError, conf.BadValue."""
    spec = conf.specs()[key]
    value = conf.parse(key, raw)
    if project is not None and not spec.per_project:
        raise conf.BadValue(f"{spec.label}: this is set for all projects together")
    with transaction.atomic():
        database.one_at_a_time("settings")
        row = Override.objects.select_for_update().filter(project=project, key=key).first()
        was = row.value if row else None
        is_default = _is_default_without(key, value, project)
        if was == value or (row is None and is_default):
            return value
        if row is not None and is_default:
            row.delete()
        else:
            row = row or Override(project=project, key=key)
            row.value, row.changed_by = value, actor
            row.save()
        auditlog.record(
            "setting.changed",
            actor=actor,
            project=project,
            object_id=key,
            was=_logged(key, was),
            now=_logged(key, value),
        )
        if key in DIGEST_ADDRESSES and value:
            jobs.ensure_digest(actor)
    return value


def _is_default_without(key: str, value: conf.Value, project: Project | None) -> bool:
    """Whether the default holds here without a value of our own, and is this one: then there is nothing to keep."""
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
    """As the audit log keeps it for ever: of a webhook's address the host, as the rest is often a secret."""
    if key != "digest_webhook" or not value:
        return value
    return f"{urlsplit(str(value)).hostname} (the rest is not stored)"


def reset_override(key: str, *, actor: str, project: Project | None = None) -> bool:
    """Back to what is given elsewhere. False when nothing was set here. Raises KeyError."""
    if key not in conf.specs():
        raise KeyError(key)
    with transaction.atomic():
        database.one_at_a_time("settings")
        row = Override.objects.select_for_update().filter(project=project, key=key).first()
        if row is None:
            return False
        row.delete()
        auditlog.record(
            "setting.changed",
            actor=actor,
            project=project,
            object_id=key,
            was=_logged(key, row.value),
            now=None,
        )
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
    """What happens with `operation` on memories of this type, or with changes of this `kind`.

    "" as `action` removes the policy. True when something changed. Raises BadPolicy.
    """
    check_policy(operation, action, memory_type, kind)
    of = {"project": project, "memory_type": memory_type, "operation": operation, "kind": kind, "maker": ""}
    with transaction.atomic():
        database.one_at_a_time("settings")
        # Only the rule itself: its order joins the project, which PostgreSQL cannot lock where there is none.
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
    """Raises BadPolicy, which names what is wrong."""
    if kind and (operation or memory_type):
        raise BadPolicy("A policy is about a kind of change, or about an operation on a type of memory")
    if kind and kind not in POLICY_KINDS:
        raise BadPolicy(f"“{kind}” is not one of {', '.join(POLICY_KINDS)}")
    if not kind and operation not in Policy.Operation.values:
        raise BadPolicy(f"“{operation}” is not one of {', '.join(Policy.Operation.values)}")
    if operation == Policy.Operation.CATCH and memory_type:
        raise BadPolicy("The policy for what was caught is about every type of memory")
    if action and action not in Policy.Action.values:
        raise BadPolicy(f"“{action}” is not one of {', '.join(Policy.Action.values)}")
    if memory_type not in MEMORY_TYPES:
        raise BadPolicy(f"“{memory_type}” is not one of {', '.join(MEMORY_TYPES[1:])}")
