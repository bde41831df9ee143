"""The weights of `doubt`, fitted as `bench/claims_fit.py` does on what sessions bear out, and on the same with one thing changed."""

from __future__ import annotations

from dreams.language.claims.anchors import Kind

BARS: dict[Kind, float] = {"code": 0.77, "number": 0.7}  # a doubt above it is one too many
WEIGHTS: dict[Kind, dict[str, float]] = {
    "code": {
        "crowd near": 1.16,
        "crowd wide": 1.61,
        "far lost": 0.99,
        "good places": -0.40,
        "known": 0.24,
        "line gap": 1.66,
        "near": -1.15,
        "near lost": 1.38,
        "near other": 1.11,
        "near ratio": -0.99,
        "odd in list": 1.00,
        "often": 1.72,
        "one": -1.44,
        "others": -0.94,
        "own weight": -1.50,
        "own words": -0.70,
        "surprise": -4.72,
        "surprise told": -0.78,
        "taken": 0.63,
        "taken told": 0.22,
        "unable": 0.40,
        "unexpected": 0.52,
    },
    "number": {
        "crowd near": 0.63,
        "good places": -0.91,
        "known": 0.18,
        "line gap": 0.48,
        "near": -1.25,
        "near gap": 1.07,
        "near lost": 1.89,
        "near other": 2.19,
        "near ratio": -1.24,
        "odd in list": 0.38,
        "often": 0.46,
        "one": -0.64,
        "others": -0.60,
        "slot gap": 1.01,
        "slot other": 1.65,
        "slot same": -0.79,
        "slot taken": 0.47,
        "surprise": -6.56,
        "surprise told": -0.81,
        "wider gap": 0.93,
    },
}
