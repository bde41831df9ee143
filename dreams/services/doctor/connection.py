"""Whether a model answers where it would be asked: one short question, only when somebody asks for it."""

from __future__ import annotations

from dreams import conf
from dreams.engines.anthropic.probe import probe
from dreams.services.doctor.rows import Check


def connection() -> Check:
    """It goes over the network and uses some hundred tokens; nothing of a memory is sent."""
    found = probe(conf.current().model)
    facts = "; ".join(f"{name}: {said}" for name, said in found.facts)
    return Check("Connection", "ok" if found.ok else "bad", found.said.rstrip("."), facts, found.remedy)
