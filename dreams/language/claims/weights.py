"""The weights of `doubt`, fitted as `bench/claims_fit.py` does on what sessions bear out, and on the same with one thing changed."""

from __future__ import annotations

from dreams.language.claims.anchors import Kind

BARS: dict[Kind, float] = {"code": 0.8, "number": 0.7}  # a doubt above it is one too many
WEIGHTS: dict[Kind, dict[str, float]] = {
    "code": {
        "crowd near": 1.22,
        "crowd wide": 1.57,
        "far lost": 1.04,
        "good places": -0.46,
        "known": 0.09,
        "line gap": 1.72,
        "near": -1.46,
        "near lost": 1.44,
        "near other": 1.55,
        "near ratio": -0.73,
        "odd in list": 1.03,
        "often": 1.59,
        "one": -1.22,
        "others": -0.97,
        "own weight": -1.61,
        "own words": -0.73,
        "surprise": -4.34,
        "surprise told": -0.81,
        "unable": 0.55,
        "unexpected": 0.58,
    },
    "number": {
        "crowd near": 0.30,
        "far lost": 0.01,
        "good places": -1.15,
        "known": 0.57,
        "line gap": 0.19,
        "near": -1.62,
        "near gap": 0.83,
        "near lost": 1.58,
        "near other": 2.19,
        "near ratio": -1.53,
        "odd in list": 0.08,
        "often": 0.03,
        "one": -0.44,
        "others": -0.88,
        "slot gap": 0.69,
        "slot other": 2.06,
        "slot same": -1.64,
        "slot taken": 0.27,
        "surprise": -5.60,
        "surprise told": -0.36,
        "wider gap": 1.05,
    },
}
