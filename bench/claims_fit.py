#!/usr/bin/env python3
"""Fit the weights of the claim check on any folder of transcripts, and say how well they do on folders that they never saw.

    python bench/claims_fit.py ROOT [--claims FILE] [--alarms 0.035] [--seed 1]

True claims are the lines of compaction summaries and reports below ROOT (and those of FILE, JSON lines {claim, transcript,
before_line}); false ones are the same with one name or number changed. Each folder right below ROOT is held out once.
Prints the table by folder and kind, then `dreams/language/claims/weights.py`. Look at what counts as true before you use it.
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

from bench._claims_changes import Claim, changed, claims_in, claims_of
from dreams.language.claims.anchors import Kind, claim_of
from dreams.language.claims.binding import bind
from dreams.language.claims.doubt import FEWEST, PRESENT, observations
from dreams.language.claims.evidence import Evidence
from dreams.language.claims.reading import read

# Which way each observation may speak; what is in neither list may speak both ways.
MORE = {"crowd near", "crowd wide", "far lost", "line gap", "near gap", "near lost", "near other", "odd in list", "slot gap", "slot other", "slot taken", "taken", "taken told", "unable", "unexpected", "wider gap"}  # fmt: skip
LESS = {"near", "near ratio", "own weight", "own words", "slot same", "surprise", "surprise told"}
ONLY_NUMBERS = {"near gap", "slot gap", "slot other", "slot same", "slot taken", "wider gap"}
ROUNDS, RIDGE, STEP = 500, 0.02, 0.05
NUMBERS_SHARE = 0.25  # of the alarms that are allowed

Weights = dict[str, float]


@dataclass
class Row:
    """One anchor of one claim; `told` where its company can tell anything."""

    claim: int
    group: str
    kind: str
    anchor: Kind
    false: bool
    seen: Weights
    told: bool
    absent: bool


def rows_of(claims: Sequence[Claim]) -> list[Row]:
    rows: list[Row] = []
    opened: dict[Path, Evidence] = {}
    for number, one in enumerate(claims):
        if number % 200 == 0:
            print(f"{number} of {len(claims)} claims looked up", file=sys.stderr)
        evidence = opened.get(one.transcript) or opened.setdefault(one.transcript, read(one.transcript))
        rows += _rows(number, one, evidence)
    return rows


def _rows(number: int, one: Claim, evidence: Evidence) -> Iterable[Row]:
    claim, end = claim_of(one.text), evidence.before(one.before)
    was = {anchor.text for anchor in claim_of(one.was).anchors}
    for anchor in claim.anchors:
        if anchor.kind == "code" and not anchor.marked:
            continue
        found = bind(evidence, claim, anchor, end)
        false = one.kind != "true" and anchor.text not in was
        told = min(found.known, found.agree) >= FEWEST
        seen = observations(evidence, claim, found)
        yield Row(number, one.group, one.kind, anchor.kind, false, seen, told, found.presence < PRESENT)


def fit(rows: Sequence[Row], kind: Kind) -> Weights:
    """A logistic model by descent, each weight held to the direction that it may speak in."""
    used = [r for r in rows if r.anchor == kind and r.told and not r.absent and (r.false or r.kind == "true")]
    names = sorted(name for name in used[0].seen if kind == "number" or name not in ONLY_NUMBERS)
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
    """True and false count alike, and a large folder less than its size."""
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


def doubt(weights: Weights, row: Row) -> float:
    if row.absent:
        return 2.0
    return _odds(sum(weight * row.seen[name] for name, weight in weights.items())) if row.told else 0.0


def worst(rows: Iterable[Row], weights: dict[tuple[str, Kind], Weights]) -> dict[tuple[int, Kind], float]:
    """For each claim the greatest doubt of its names and of its numbers, by weights that never saw its folder."""
    found: dict[tuple[int, Kind], float] = defaultdict(float)
    for row in rows:
        key = row.claim, row.anchor
        found[key] = max(found[key], doubt(weights[row.group, row.anchor], row))
    return found


def bars(claims: Sequence[Claim], doubts: dict[tuple[int, Kind], float], alarms: float) -> dict[Kind, float]:
    """The doubt above which as many true claims lie as are allowed."""
    true = [number for number, claim in enumerate(claims) if claim.kind == "true"]
    shares: dict[Kind, float] = {"code": 1 - NUMBERS_SHARE, "number": NUMBERS_SHARE}
    found: dict[Kind, float] = {}
    for kind, share in shares.items():
        ranked = sorted((doubts.get((number, kind), 0.0) for number in true), reverse=True)
        found[kind] = min(0.95, ranked[int(alarms * share * len(true))])
    return found


def table(claims: Sequence[Claim], doubts: dict[tuple[int, Kind], float], limits: dict[Kind, float]) -> None:
    asked: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for number, claim in enumerate(claims):
        noticed = any(doubts.get((number, kind), 0.0) > limit for kind, limit in limits.items())
        asked[claim.kind, claim.group].append(noticed)
        asked[claim.kind, "all"].append(noticed)
    for (kind, group), noticed in sorted(asked.items()):
        print(
            f"{kind:11} {group[:40]:40} {sum(noticed):4} of {len(noticed):4} ({sum(noticed) / len(noticed):.0%})"
        )


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("root", type=Path)
    options.add_argument("--claims", type=Path, help="true claims by hand")
    options.add_argument("--only-claims", action="store_true", help="only those, none from the transcripts")
    options.add_argument(
        "--alarms", type=float, default=0.035, help="share of true claims that may be doubted"
    )
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    true = [] if given.only_claims else list(claims_in(given.root))
    true += claims_of(given.claims, given.root) if given.claims else []
    sources = {(c.transcript, c.before): _text_before(c.transcript, c.before) for c in true}
    claims = [*true, *changed(true, sources, random.Random(given.seed))]
    rows = rows_of(claims)
    groups, kinds = sorted({row.group for row in rows}), sorted({row.anchor for row in rows})
    unseen = {
        (group, kind): fit([r for r in rows if r.group != group], kind) for group in groups for kind in kinds
    }
    doubts = worst(rows, unseen)
    limits = bars(claims, doubts, given.alarms)
    table(claims, doubts, limits)
    print(json.dumps({"BARS": limits}))
    for kind in kinds:
        print(f'"{kind}": {{')
        for name, weight in sorted(fit(rows, kind).items()):
            if abs(weight) >= 0.005:
                print(f'    "{name}": {weight:.2f},')
        print("},")


def _text_before(path: Path, line: int) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        text = "".join(raw for number, raw in enumerate(file, start=1) if number < line)
    return text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t").lower()


if __name__ == "__main__":
    main()
