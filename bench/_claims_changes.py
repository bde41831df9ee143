"""Changes one thing in true claims, in several kinds of ways: `claims_fit.py` learns from them and counts them."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench._claims_true import Claim
from dreams.lib.prose.claims.anchors import claim_of, shape
from dreams.lib.prose.claims.evidence import SessionText
from dreams.lib.prose.claims.occurrences import Field, company_of

CODE = re.compile(r"`([^`\n]{2,80})`")
NUMBER = re.compile(r"(?<![\w.`/#:-])\d{1,6}(?:\.\d+)?(?![\w.]*\w)")
VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+\.\d+(?!\w)")
DATE = re.compile(r"\b20\d\d-\d\d-\d\d\b|\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)\b")  # fmt: skip
UNIT = re.compile(
    r"(?<=\d) ?(ms|s|m|seconds?|minutes?|hours?|days?|KB|MB|GB|lines?|files?|tests?|rows?|bytes?)\b"
)
UNITS = {
    "ms": "s", "s": "ms", "m": "s", "second": "minute", "seconds": "minutes", "minute": "second", "minutes": "seconds", "hour": "day",
    "hours": "days", "day": "hour", "days": "hours", "KB": "MB", "MB": "GB", "GB": "MB", "line": "file", "lines": "files", "file": "line",
    "files": "lines", "test": "file", "tests": "files", "row": "byte", "rows": "bytes", "byte": "row", "bytes": "rows",
}  # fmt: skip
OPPOSITES = {
    "direction": "before/after first/last above/below increases/decreases higher/lower minimum/maximum top/bottom starts/ends earlier/later ascending/descending "
    "input/output reads/writes loads/saves adds/removes added/removed opens/closes sync/async passes/fails passed/failed oldest/newest creates/deletes",
    "enable": "enabled/disabled enables/disables true/false active/inactive allowed/forbidden required/optional public/private visible/hidden",
    "env": "staging/production prod/dev development/test local/remote client/server frontend/backend linux/macos stdout/stderr server/browser",
    "actor": "user/assistant claude/gemini agent/user parent/subagent developer/reviewer",
}  # fmt: skip
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|can|could|does|did|will|would|must|should|may)\b(?! not\b| never\b|n't)"
)
_VERB = re.compile(r"(?<![\w`])([a-z]{3,}[^s\W]s)\b(?= (?:the|a|an|all|only|with|for|from|it|each|every)\b)")
_NOT = re.compile(r"\b(is|are|was|were|can|could|did|will|would|must|should|may|has|have)(?: not|n['’]t)\b|\bcannot\b|\bno longer\b|\b(?:does not|doesn['’]t) (\w+)", re.IGNORECASE)  # fmt: skip
_NEAR, _AROUND = 6, 4  # best-matching places of a claim, and lines around each


@dataclass
class Pools:
    """Replacements: names and numbers of a transcript's claims, those near the claim, and names that no source has."""

    own: Sequence[str]
    foreign: Sequence[str]
    near: Sequence[str]
    numbers: Sequence[str]
    versions: Sequence[str]


@dataclass
class Sources:
    """For each transcript its evidence, and for each line the lower-case text before it."""

    evidence: dict[Path, SessionText]
    texts: dict[tuple[Path, int], str] = field(default_factory=dict)

    def text(self, claim: Claim) -> str:
        key = claim.transcript, claim.before
        if key not in self.texts:
            with claim.transcript.open(encoding="utf-8", errors="replace") as file:
                text = "".join(raw for number, raw in enumerate(file, start=1) if number < claim.before)
            self.texts[key] = text.replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t").lower()
        return self.texts[key]


def changed(claims: Sequence[Claim], sources: Sources, rng: random.Random) -> Iterator[Claim]:
    """Each true claim with one thing changed, in every applicable way."""
    names, numbers = defaultdict[Path, set[str]](set), defaultdict[Path, set[str]](set)
    groups = {claim.transcript: claim.group for claim in claims}
    for claim in claims:
        names[claim.transcript].update(CODE.findall(claim.text))
        numbers[claim.transcript].update(NUMBER.findall(claim.text))
    for claim in claims:
        strange = {n for path, found in names.items() if groups[path] != claim.group for n in found}
        pools = _pools(claim, sources, names[claim.transcript], strange, numbers[claim.transcript])
        yield from _renamed(claim, pools, rng)
        yield from _renumbered(claim, pools, rng)
        yield from _negated(claim)
        yield from _opposed(claim)


def _pools(claim: Claim, sources: Sources, names: set[str], strange: set[str], numbers: set[str]) -> Pools:
    text = sources.text(claim)
    near, beside = _beside(claim, sources.evidence[claim.transcript])
    standing = (n for n in numbers | beside if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", text))
    return Pools(
        sorted(name for name in names if name.lower() in text), sorted(name for name in strange if name.lower() not in text),
        sorted(near), sorted(standing), sorted({match[0] for match in VERSION.finditer(text)}),
    )  # fmt: skip


def _beside(claim: Claim, evidence: SessionText) -> tuple[set[str], set[str]]:
    """The names and the numbers in the lines around the best-matching places of the claim."""
    end = evidence.before(claim.before)
    found = Field(evidence, company_of(evidence, claim_of(claim.text), None), end)
    names, numbers = set[str](), set[str]()
    for place in found.richest(_NEAR):
        first, last = evidence.bounds(place)
        for unit in range(max(first, place - _AROUND), min(last, place + _AROUND + 1, end)):
            for anchor in claim_of(evidence.units[unit].text).anchors:
                (names if anchor.kind == "code" else numbers).add(anchor.text)
    return {name for name in names if 3 < len(name) < 60}, numbers


def _put(claim: Claim, kind: str, start: int, end: int, new: str) -> Claim:
    return replace(claim, kind=kind, put=new, text=claim.text[:start] + new + claim.text[end:])


def _renamed(claim: Claim, pools: Pools, rng: random.Random) -> Iterator[Claim]:
    spans = list(CODE.finditer(claim.text))
    words = re.findall(r"[A-Za-z]{3,}", CODE.sub("", claim.text))
    if not spans or (len(words) < 2 and len(spans) < 2):
        return  # a claim of only a name is true with any name
    ways = (
        ("recombined", pools.own, False), ("recombined", pools.own, False), ("recombined alike", pools.own, True),
        ("near", pools.near, False), ("near alike", pools.near, True), ("foreign", pools.foreign, False),
    )  # fmt: skip
    whole = claim.text.lower()
    for kind, pool, alike in ways:
        span = rng.choice(spans)
        low = span[1].lower()
        fitting = [
            name
            for name in pool
            if name.lower() not in whole
            and name.lower() not in low
            and low not in name.lower()
            and not (alike and shape(name) != shape(span[1]))
        ]
        if fitting:
            yield _put(claim, kind, *span.span(1), rng.choice(fitting))


def _renumbered(claim: Claim, pools: Pools, rng: random.Random) -> Iterator[Claim]:
    spans = list(NUMBER.finditer(claim.text))
    if spans:
        span = rng.choice(spans)
        yield _put(claim, "number", *span.span(), _another(span[0], rng))
        span = rng.choice(spans)
        fitting = [n for n in pools.numbers if n not in claim.text and abs(len(n) - len(span[0])) <= 1]
        if fitting:
            yield _put(claim, "number swapped", *span.span(), rng.choice(fitting))
    if len(spans) > 1 and spans[0][0] != spans[1][0]:
        one, other = spans[:2]
        text = claim.text
        crossed = (
            f"{text[: one.start()]}{other[0]}{text[one.end() : other.start()]}{one[0]}{text[other.end() :]}"
        )
        yield replace(claim, kind="numbers exchanged", put=other[0], text=crossed)
    yield from _measured(claim, pools, rng)


def _measured(claim: Claim, pools: Pools, rng: random.Random) -> Iterator[Claim]:
    version, date, unit = (pattern.search(claim.text) for pattern in (VERSION, DATE, UNIT))
    if version:
        fitting = [other for other in pools.versions if other not in claim.text]
        yield _put(claim, "version", *version.span(), rng.choice(fitting) if fitting else f"{version[0]}1")
    if date:
        digits = list(re.finditer(r"\d+", date[0]))[-1 if date[0].startswith("20") else 0]
        new = f"{int(digits[0]) % 28 + 1:0{len(digits[0])}}"
        yield _put(claim, "date", date.start() + digits.start(), date.start() + digits.end(), new)
    if unit:
        yield _put(claim, "unit", *unit.span(1), UNITS[unit[1]])


def _another(number: str, rng: random.Random) -> str:
    whole, dot, part = number.partition(".")
    if dot:
        return f"{whole}.{int(part) + rng.randint(1, 3)}"
    value = int(whole)
    other = (
        value + rng.choice((-1, 1, 2, 3, 5)) if value < 50 else int(value * rng.choice((0.5, 0.8, 1.5, 2)))
    )
    return str(value + 1 if other == value or other < 0 else other)


def _negated(claim: Claim) -> Iterator[Claim]:
    """The claim with a denial inverted, dropped or added, whichever applies first."""
    bare = CODE.sub(lambda match: "\0" * len(match[0]), claim.text)
    absolute = re.search(r"\b(always|never)\b", bare)
    denied, plain, verb = _NOT.search(bare), _AUXILIARY.search(bare), _VERB.search(bare)
    if absolute:
        yield _put(
            claim, "negation turned", *absolute.span(), "never" if absolute[0] == "always" else "always"
        )
    elif denied:
        yield _put(claim, "negation dropped", *denied.span(), _without_not(denied))
    elif plain:
        yield _put(claim, "negation added", plain.end(), plain.end(), " not")
    elif verb:
        yield _put(claim, "negation added", *verb.span(1), f"does not {verb[1][:-1]}")


def _without_not(match: re.Match[str]) -> str:
    if match[2]:
        return f"{match[2]}s"
    return {"cannot": "can", "no longer": "still"}.get(match[0].lower(), match[1] or "")


def _opposed(claim: Claim) -> Iterator[Claim]:
    bare = CODE.sub(lambda match: "\0" * len(match[0]), claim.text)
    for kind, listed in OPPOSITES.items():
        pairs = [pair.split("/") for pair in listed.split()]
        other = {one: two for pair in pairs for one, two in (pair, pair[::-1])}
        found = next((word for word in re.finditer(r"[A-Za-z]+", bare) if word[0].lower() in other), None)
        if found:
            yield _put(claim, kind, *found.span(), other[found[0].lower()])
    turned = re.search(r"\bfrom (\S+) to (\S+?)(?=[\s,.;)]|$)", claim.text)
    if turned:
        yield _put(claim, "direction", *turned.span(), f"from {turned[2]} to {turned[1]}")
