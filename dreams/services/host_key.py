"""The host's own key for naming secrets: the same secret has the same name from one process to the next, and its name
says nothing to anybody without the key. Whoever runs findings with a database calls this first."""

from __future__ import annotations

from django.conf import settings

from dreams.findings import secrets


def use() -> None:
    """Let findings name secrets with this host's key."""
    secrets.use_key(settings.SECRET_KEY.encode())
