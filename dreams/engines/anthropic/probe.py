"""Is there somebody to ask? What a person wants to know before the first dream, without spending anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dreams.engines.anthropic import keys
from dreams.engines.anthropic.recovery import CallFailed, Kind, Patience, remedy
from dreams.engines.base import EngineError

SHOWN_MODELS = 12
PATIENCE = Patience(stall_seconds=10.0, connect_seconds=5.0)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a test of the connection found, in one or two lines for a person."""

    ok: bool
    said: str
    models: tuple[str, ...] = ()


def probe(
    model: str, environ: Mapping[str, str] | None = None, watch: Callable[[], None] = lambda: None
) -> Finding:
    """Look the models up at the endpoint that the environment names. Raises only what `watch` raises."""
    from dreams.engines.anthropic.client import Client  # noqa: PLC0415 - its library takes a second to import

    try:
        endpoint = keys.endpoint(environ)
    except EngineError as error:
        return Finding(False, str(error))
    try:
        with Client(endpoint, PATIENCE) as client:
            models = client.models(watch)
    except CallFailed as failed:
        return _failed(failed, endpoint.host, model)
    return _found(endpoint.host, model, models)


def _failed(failed: CallFailed, host: str, model: str) -> Finding:
    if failed.kind in (Kind.WRONG_PLACE, Kind.UNKNOWN_MODEL):
        # Some compatible servers list no models. They answered, and that is all that can be known for nothing.
        return Finding(
            True, f"{host} answers, but lists no models. A dream will show whether it knows “{model}”."
        )
    return Finding(False, remedy(failed, host, model, had_answer=False))


def _found(host: str, model: str, models: list[str]) -> Finding:
    known = model in models or any(name.startswith(f"{model}-20") for name in models)
    listed = ", ".join(models[:SHOWN_MODELS]) or "none"
    if known:
        return Finding(True, f"{host} answers and knows “{model}”.", tuple(models))
    return Finding(False, f"{host} answers, but does not list “{model}”. It lists: {listed}.", tuple(models))
