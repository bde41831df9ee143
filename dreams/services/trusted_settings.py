"""Trusting a repository: whether its own settings may say where memories stand. One unit with its audit entry."""

from __future__ import annotations

from django.db import transaction

from dreams.models import Project
from dreams.services import auditlog


def set_trusted(project: Project, trusted: bool, *, actor: str) -> bool:
    """True when something changed. It takes effect at the next look for files."""
    with transaction.atomic():
        changed = Project.objects.filter(pk=project.pk).exclude(trusted=trusted).update(trusted=trusted)
        if changed:
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
