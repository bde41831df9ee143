"""The rules engine (`engine`): deterministic, extractive, no model, no network. Pure: no Django."""
