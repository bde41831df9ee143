"""The engines by name. The client of a model is imported only when that engine is used."""

from importlib import import_module

from dreams.engines.types import Engine, EngineError

_PLACES = {
    "rules": ("dreams.engines.rules.engine", "RulesEngine"),
    "anthropic": ("dreams.engines.anthropic.engine", "AnthropicEngine"),
}


def get(name: str) -> Engine:
    """A new engine. Raises EngineError with the remedy when the name is unknown or it cannot be loaded."""
    if name not in _PLACES:
        raise EngineError(f"There is no engine “{name}”. Choose one of: {', '.join(_PLACES)}.")
    module, kind = _PLACES[name]
    try:
        engine: Engine = getattr(import_module(module), kind)()
    except (ImportError, AttributeError) as error:
        raise EngineError(
            f"The engine “{name}” cannot be loaded ({error}). Choose the rules engine in the settings."
        ) from error
    return engine
