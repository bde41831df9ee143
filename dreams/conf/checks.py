"""System checks: a bad configuration is refused before anything starts, with the remedy."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from dreams import conf


@register()
def queue_times(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A `retry` at or below `timeout` hands a running dream to a second worker."""
    cluster = settings.Q_CLUSTER
    found: list[CheckMessage] = []
    if cluster["retry"] <= cluster["timeout"]:
        found.append(
            Error(
                f"The queue hands a task out again after {cluster['retry']} s, but lets it run for {cluster['timeout']} s.",
                hint="Set MEMORYWEB_TASK_RETRY above MEMORYWEB_TASK_TIMEOUT.",
                id="memoryweb.E001",
            )
        )
    if cluster["queue_limit"] != 1:
        found.append(
            Error(
                "The queue's local limit is not 1: tasks would age in a worker's own queue and be handed out twice.",
                hint="Leave queue_limit at 1 in Q_CLUSTER.",
                id="memoryweb.E002",
            )
        )
    return found


@register()
def dream_fits_the_task(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A dream must end by its own clock before the queue kills its worker."""
    longest = conf.specs()["max_seconds"].maximum or 0
    if settings.Q_CLUSTER["timeout"] > longest:
        return []
    return [
        Error(
            f"A dream may take {longest:.0f} s, but the queue kills a task after {settings.Q_CLUSTER['timeout']} s.",
            hint=f"Set MEMORYWEB_TASK_TIMEOUT above {longest:.0f}.",
            id="memoryweb.E003",
        )
    ]


@register()
def environment_values(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Every MEMORYWEB_<KEY> in the environment holds what its setting takes."""
    found: list[CheckMessage] = []
    for key, spec in conf.specs().items():
        try:
            conf.from_environment(key)
        except conf.BadValue as error:
            found.append(Error(str(error), hint=f"Correct or unset {spec.env_name}.", id="memoryweb.E004"))
    return found
