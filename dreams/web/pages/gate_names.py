"""Gates as a person reads of them."""

from __future__ import annotations

# What each gate is called on the page, and its icon.
GATES = {
    "paused": ("Everywhere", "pause"),
    "project": ("Project", "folder"),
    "review": ("Review", "inbox"),
    "memory": ("Auto memory", "memory"),
    "mode": ("Agent’s mode", "agent"),
    "time": ("Time", "clock"),
    "throttle": ("Check interval", "eye"),
    "sessions": ("Sessions", "session"),
    "inputs": ("Changes", "plus"),
    "engine": ("Engine", "gear"),
    "budget": ("Budget", "coins"),
    "lock": ("Lock", "key"),
}


def name_of(gate: object) -> str:
    """ "Sessions gate"; a gate of another version by its own name."""
    label = GATES[gate][0] if isinstance(gate, str) and gate in GATES else str(gate or "").capitalize()
    return f"{label} gate" if label else "A gate"
