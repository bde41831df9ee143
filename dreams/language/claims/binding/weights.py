"""The weights of `doubt`, fitted as `bench/claims_fit.py` does on what sessions bear out, and on the same with one thing changed."""

from __future__ import annotations

from dreams.language.claims.anchors import Kind

BARS: dict[Kind, float] = {"code": 0.7, "number": 0.61}  # a doubt above it is one too many
WEIGHTS: dict[Kind, dict[str, float]] = {
    "code": {
        "content": -0.21,
        "crowd": 1.72,
        "far lost": 0.71,
        "line gap": 1.45,
        "near": -1.13,
        "near gap": 1.32,
        "near ratio": -0.99,
        "odd in list": 0.90,
        "often": 0.95,
        "one": -0.41,
        "others": -0.75,
        "own weight": -1.21,
        "own words": -0.78,
        "rival": 0.49,
        "rival own": -0.57,
        "surprise": -4.09,
    },
    "number": {
        "crowd": 1.10,
        "far lost": 1.42,
        "line gap": 1.15,
        "near": -2.79,
        "near gap": 0.82,
        "near ratio": -0.98,
        "often": 0.95,
        "one": -0.91,
        "others": -0.87,
        "rival": 1.09,
        "rival own": -0.92,
        "slot gap": 1.56,
        "slot other": 1.34,
        "surprise": -2.28,
    },
}
