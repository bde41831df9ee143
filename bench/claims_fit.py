#!/usr/bin/env python3
"""Fits the weights of the claim check on any folder of transcripts, and reports how well they do on unseen folders.

    python bench/claims_fit.py ROOT [--claims FILE] [--without FILE] [--alarms 0.03] [--seed 1]

True claims are statements of assistants below ROOT on their work (except the lines of --without), and those of FILE, JSON
lines {claim, transcript, before_line, kind?, was?}; false ones have one thing changed. Each folder directly below ROOT is held
out once. Prints verdicts by kind and folder, with weights fitted without the folder, then the weights for
`dreams/lib/prose/claims/binding.py`. Assistants also state things without a source: read the doubted claims, exclude those.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench._claims_changes import Sources, changed
from bench._claims_true import Claim, claims_in, claims_of
from dreams.lib.prose.claims import SessionText, check, read
from dreams.lib.prose.claims.anchors import Kind, claim_of
from dreams.lib.prose.claims.binding import BARS, PRESENT, WEIGHTS, bind, is_told, observations

# The allowed sign of each observation's weight; one in neither list may have both.
MORE = {"crowd", "line gap", "odd in list", "slot gap", "slot other"}
LESS = {"near", "own weight"}
# Names from the lines that a claim is about are counted but not learnt from: half of them are true there too.
LEARNT: dict[Kind, set[str]] = {
    "code": {"recombined", "recombined alike", "foreign"},
    "number": {"number", "number swapped", "numbers exchanged", "version"},
}
ROUNDS, RIDGE, STEP = 400, 0.05, 0.05
NUMBERS_SHARE = 0.4  # of the allowed false alarms

Weights = dict[str, float]


@dataclass
class Row:
    """One anchor of one claim; `told` if the words near it can decide anything."""

    claim: int
    group: str
    kind: str
    anchor: Kind
    false: bool
    seen: Weights
    told: bool
    absent: bool


def rests_on_something(claim: Claim, evidence: SessionText) -> bool:
    """Whether the session has work before it: a summary of another session cannot be checked."""
    return any(unit.role in {"assistant", "tool"} for unit in evidence.units[: evidence.before(claim.before)])


def rows_of(claims: Sequence[Claim], sources: Sources) -> list[Row]:
    rows: list[Row] = []
    for number, one in enumerate(claims):
        if number % 200 == 0:
            print(f"{number} of {len(claims)} claims looked up", file=sys.stderr)
        rows += _rows(number, one, sources.evidence[one.transcript])
    return rows


def _rows(number: int, one: Claim, evidence: SessionText) -> Iterable[Row]:
    claim, end = claim_of(one.text), evidence.before(one.before)
    was = {anchor.text for anchor in claim_of(one.was).anchors}
    for anchor in claim.anchors:
        if anchor.kind == "code" and not anchor.marked:
            continue
        found = bind(evidence, claim, anchor, end)
        false = one.kind != "true" and anchor.text not in was
        seen = observations(evidence, claim, found)
        absent = found.presence < PRESENT
        yield Row(number, one.group, one.kind, anchor.kind, false, seen, is_told(found), absent)


def fit(rows: Sequence[Row], kind: Kind) -> Weights:
    """Fits a logistic model by gradient descent; each weight is kept to its allowed sign."""
    used = [r for r in rows if r.anchor == kind and r.told and not r.absent and (r.kind == "true" or (r.false and r.kind in LEARNT[kind]))]  # fmt: skip
    names = sorted(used[0].seen)
    mean, spread = _standard(used, names)
    data = [
        ([(r.seen[n] - mean[n]) / spread[n] for n in names], float(r.false), w)
        for r, w in zip(used, _evened(used), strict=True)
    ]
    weights, bias = [0.0] * len(names), 0.0
    first, second = [0.0] * (len(names) + 1), [0.0] * (len(names) + 1)
    for turn in range(1, ROUNDS + 1):
        slope = [RIDGE * weight for weight in weights] + [0.0]
        for values, false, share in data:
            error = (_odds(sum(map(float.__mul__, weights, values)) + bias) - false) * share
            for at, value in enumerate(values):
                slope[at] += error * value
            slope[-1] += error
        steps = _adam(slope, first, second, turn)
        weights = [
            _held(name, weight - step) for name, weight, step in zip(names, weights, steps, strict=False)
        ]
        bias -= steps[-1]
    told = {name: weight / spread[name] for name, weight in zip(names, weights, strict=True)}
    one = bias - sum(told[name] * mean[name] for name in names)
    return {**told, "one": told.get("one", 0.0) + one}


def _adam(slope: list[float], first: list[float], second: list[float], turn: int) -> list[float]:
    for at, value in enumerate(slope):
        first[at] = 0.9 * first[at] + 0.1 * value
        second[at] = 0.999 * second[at] + 0.001 * value * value
    return [
        STEP * (f / (1 - 0.9**turn)) / (math.sqrt(s / (1 - 0.999**turn)) + 1e-8)
        for f, s in zip(first, second, strict=True)
    ]


def _held(name: str, weight: float) -> float:
    return max(0.0, weight) if name in MORE else min(0.0, weight) if name in LESS else weight


def _standard(rows: Sequence[Row], names: Sequence[str]) -> tuple[Weights, Weights]:
    mean = {name: sum(row.seen[name] for row in rows) / len(rows) for name in names}
    spread = {
        name: math.sqrt(sum((row.seen[name] - mean[name]) ** 2 for row in rows) / len(rows)) + 1e-6
        for name in names
    }
    return mean, spread


def _evened(rows: Sequence[Row]) -> list[float]:
    """Weights of rows: true and false ones count equally, and large folders less than by their size."""
    sizes: dict[str, int] = defaultdict(int)
    for row in rows:
        sizes[row.group] += 1
    shares = [sizes[row.group] ** -0.35 for row in rows]
    totals = {
        side: sum(s for s, row in zip(shares, rows, strict=True) if row.false == side)
        for side in (True, False)
    }
    return [share / totals[row.false] / 2 for share, row in zip(shares, rows, strict=True)]


def _odds(value: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))


def bars(
    rows: Iterable[Row], weights: dict[tuple[str, Kind], Weights], true: int, alarms: float
) -> dict[Kind, float]:
    """The doubt that only the allowed share of true claims exceeds, with weights fitted without their folder."""
    doubts: dict[Kind, dict[int, float]] = {"code": defaultdict(float), "number": defaultdict(float)}
    for row in rows:
        if row.kind == "true" and row.told and not row.absent:
            known = doubts[row.anchor]
            known[row.claim] = max(known[row.claim], doubt(weights[row.group, row.anchor], row))
    shares: dict[Kind, float] = {"code": 1 - NUMBERS_SHARE, "number": NUMBERS_SHARE}
    return {
        kind: round(sorted([*doubts[kind].values(), 0.0], reverse=True)[int(alarms * share * true)], 2)
        for kind, share in shares.items()
    }


def doubt(weights: Weights, row: Row) -> float:
    return _odds(sum(weight * row.seen[name] for name, weight in weights.items()))


def verdicts(
    claims: Sequence[Claim], sources: Sources, weights: dict[tuple[str, Kind], Weights]
) -> list[bool]:
    """For each claim, whether the complete check does not support it, with weights fitted without its folder."""
    noticed = []
    for one in claims:
        for kind in BARS:
            WEIGHTS[kind] = weights[one.group, kind]
        noticed.append(check(sources.evidence[one.transcript], one.text, one.before).answer != "supported")
    return noticed


def table(claims: Sequence[Claim], noticed: Sequence[bool]) -> None:
    asked: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for claim, one in zip(claims, noticed, strict=True):
        asked[claim.kind, claim.group].append(one)
        asked[claim.kind, " all"].append(one)
    for (kind, group), found in sorted(asked.items()):
        print(f"{kind:18} {group[:36]:36} {sum(found):4} of {len(found):4} ({sum(found) / len(found):.0%})")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("root", type=Path)
    options.add_argument("--claims", type=Path, help="claims by hand")
    options.add_argument("--without", type=Path, help="lines that are not true before they were said")
    options.add_argument("--alarms", type=float, default=0.03, help="share of true claims whose names or numbers may be doubted")  # fmt: skip
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    without = set(given.without.read_text(encoding="utf-8").split("\n")) if given.without else set()
    by_hand = list(claims_of(given.claims, given.root)) if given.claims else []
    told = [*claims_in(given.root, without), *(claim for claim in by_hand if claim.kind == "true")]
    sources = Sources({path: read(path) for path in {claim.transcript for claim in [*told, *by_hand]}})
    true = [claim for claim in told if rests_on_something(claim, sources.evidence[claim.transcript])]
    claims = [
        *true,
        *(c for c in by_hand if c.kind != "true"),
        *changed(true, sources, random.Random(given.seed)),
    ]
    rows = rows_of(claims, sources)
    groups = sorted({row.group for row in rows} | {claim.group for claim in claims})
    unseen = {
        (group, kind): fit([r for r in rows if r.group != group], kind) for group in groups for kind in BARS
    }
    BARS.update(bars(rows, unseen, len(true), given.alarms))
    final = {kind: fit(rows, kind) for kind in BARS}
    table(claims, verdicts(claims, sources, unseen))
    print(json.dumps({"BARS": BARS}))
    for kind, weights in final.items():
        print(f'"{kind}": {{')
        for name, weight in sorted(weights.items()):
            if abs(weight) >= 0.005:
                print(f'    "{name}": {weight:.2f},')
        print("},")


if __name__ == "__main__":
    main()
