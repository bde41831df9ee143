"""True claims taken from transcripts, and the same with one thing changed: what `claims_fit.py` learns from."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from dreams.language.claims.shapes import shape

CODE = re.compile(r"`([^`\n]{2,80})`")
NUMBER = re.compile(r"(?<![\w.`/-])\d{1,6}(?:\.\d+)?(?![\w.])")
LONG = 400  # code points from which an assistant's message is taken for a report
SHORTEST, LONGEST = 24, 330
REPORTS = 2  # of one transcript, the last


@dataclass(frozen=True)
class Claim:
    """`before` is the 1-based line that the sources end before; `was` the true claim; `put` what was put in."""

    group: str
    transcript: Path
    before: int
    text: str
    kind: str = "true"
    was: str = ""
    put: str = ""


def claims_in(root: Path) -> Iterator[Claim]:
    """The lines of compaction summaries and of the last reports of every transcript below a folder."""
    for path in sorted(root.rglob("*.jsonl")):
        group = path.relative_to(root).parts[0]
        for line, text in _reports(path):
            for claim in dict.fromkeys(_lines(text)):
                yield Claim(group, path, line, claim, was=claim)


def claims_of(file: Path, root: Path) -> Iterator[Claim]:
    """Claims by hand: JSON lines {claim, transcript (below root), before_line}."""
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Claim(row["transcript"].split("/")[0], root / row["transcript"], row["before_line"], row["claim"], was=row["claim"])  # fmt: skip


def _reports(path: Path) -> list[tuple[int, str]]:
    summaries, reports = [], []
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, raw in enumerate(file, start=1):
            try:
                found = json.loads(raw)
                message = found["message"]
                content = message["content"]
            except (ValueError, KeyError, TypeError):
                continue
            if isinstance(content, str) and found.get("isCompactSummary"):
                summaries.append((number, content))
            elif isinstance(content, list) and message.get("role") == "assistant":
                texts = [block.get("text", "") for block in content if isinstance(block, dict)]
                reports += [(number, text) for text in texts if len(text) > LONG]
    return summaries + [report for report in reports[-REPORTS:] if report[0] > REPORTS]


def _lines(text: str) -> Iterator[str]:
    fenced = False
    for raw in text.split("\n"):
        line = re.sub(r"^\s*(?:[-*+]|\d+[.)])\s+", "", raw).strip()
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and SHORTEST < len(line) < LONGEST and _tells(line):
            yield line


def _tells(line: str) -> bool:
    return not line.startswith(("#", "|")) and bool(CODE.search(line) or NUMBER.search(line))


def changed(claims: list[Claim], sources: dict[tuple[Path, int], str], rng: random.Random) -> Iterator[Claim]:
    """Each claim with a name of its own report put for another, with a name of another folder, and with another number."""
    pools: dict[tuple[str, Path], set[str]] = {}
    for claim in claims:
        pools.setdefault((claim.group, claim.transcript), set()).update(CODE.findall(claim.text))
    for claim in claims:
        source = sources[claim.transcript, claim.before]
        own = sorted(name for name in pools[claim.group, claim.transcript] if name.lower() in source)
        others = {name for (group, _), names in pools.items() if group != claim.group for name in names}
        foreign = sorted(name for name in others if name.lower() not in source)
        for kind, pool, alike in (
            ("recombined", own, False),
            ("recombined", own, False),
            ("recombined", own, True),
            ("foreign", foreign, False),
        ):
            yield from _swapped(claim, kind, pool, rng, alike=alike)
        yield from _renumbered(claim, rng)


def _swapped(claim: Claim, kind: str, pool: list[str], rng: random.Random, *, alike: bool) -> Iterator[Claim]:
    """One name put for another; `alike`: one that looks like it."""
    spans = list(CODE.finditer(claim.text))
    words = re.findall(r"[A-Za-z]{3,}", CODE.sub("", claim.text))
    if not spans or (len(words) < 2 and len(spans) < 2):
        return  # a name alone stays true whatever name it is
    span = rng.choice(spans)
    low, whole = span[1].lower(), claim.text.lower()
    fitting = [
        name
        for name in pool
        if name.lower() not in whole and name.lower() not in low and low not in name.lower()
    ]
    if alike:
        fitting = [name for name in fitting if shape(name) == shape(span[1])]
    if fitting:
        name = rng.choice(fitting)
        yield replace(
            claim, kind=kind, put=name, text=claim.text[: span.start(1)] + name + claim.text[span.end(1) :]
        )


def _renumbered(claim: Claim, rng: random.Random) -> Iterator[Claim]:
    spans = list(NUMBER.finditer(claim.text))
    if not spans:
        return
    span = rng.choice(spans)
    whole, dot, part = span[0].partition(".")
    other = f"{whole}.{int(part) + rng.randint(1, 3)}" if dot else str(_another(int(whole), rng))
    yield replace(
        claim, kind="number", put=other, text=claim.text[: span.start()] + other + claim.text[span.end() :]
    )


def _another(number: int, rng: random.Random) -> int:
    other = (
        number + rng.choice((-1, 1, 2, 3, 5)) if number < 50 else int(number * rng.choice((0.5, 0.8, 1.5, 2)))
    )
    return number + 1 if other == number or other < 0 else other
