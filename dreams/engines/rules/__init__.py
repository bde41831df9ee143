"""The rules engine: deterministic, extractive, no model, no network. Pure: no Django."""

from dreams.engines.rules.engine import RulesEngine

__all__ = ["RulesEngine"]
