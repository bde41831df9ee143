"""Which machine this is: a project belongs to the host whose files it is, and its work is queued to that host."""

from __future__ import annotations

import platform

from django.conf import settings


def host() -> str:
    return platform.node() or "localhost"


def cluster_name(host_name: str) -> str:
    """The queue that a host's cluster listens to."""
    return f"{settings.Q_CLUSTER['name']}@{host_name}"
