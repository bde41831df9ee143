"""Measures how many changed claims `check_claims` notices, how many true ones it questions, and its time.

Sessions are generated: modules of functions that the session reads, each with a sentence of prose elsewhere. A claim
rewords one of them; then one thing in it is changed. Run: `.venv/bin/python bench/claims.py [--modules N] [--seed N]`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dreams.lib.prose.claims import check, read

VERBS = ("parse", "merge", "flush", "rotate", "index", "verify", "export", "throttle", "compact", "replay")
THINGS = (
    "journal",
    "invoice",
    "session",
    "avatar",
    "ledger",
    "shard",
    "webhook",
    "digest",
    "catalog",
    "voucher",
)
PLACES = ("queue", "bucket", "volume", "cache", "archive", "table", "topic", "mailbox")
UNITS = ("retries", "seconds", "workers", "rows", "attempts")


@dataclass(frozen=True)
class Fact:
    name: str
    other: str
    verb: str
    thing: str
    place: str
    count: int
    unit: str
    denied: bool

    def source(self) -> str:
        says = "never" if self.denied else "always"
        return (
            f"// {self.name} will {self.verb} each {self.thing} into the {self.place}.\n"
            f"func {self.name}(input {self.thing.title()}) error {{\n"
            f"\tlimit := {self.count} // {self.unit}\n\treturn {self.other}(input, limit)\n}}\n"
            f"// {self.thing} {self.verb} results are {says} kept in the {self.place}.\n"
        )

    def claims(self, rng: random.Random, names: list[str]) -> Iterator[tuple[str, str]]:
        says, turned = ("never", "always") if self.denied else ("always", "never")
        foreign = rng.choice([name for name in names if name not in (self.name, self.other)])
        yield "true", f"`{self.name}()` uses a limit of {self.count} {self.unit} and calls `{self.other}`"
        yield "true", f"`{self.name}` - {self.verb}s every {self.thing} into the {self.place}"
        yield "true", f"The {self.verb} results of a {self.thing} are {says} kept in the {self.place}"
        yield (
            "number",
            f"`{self.name}()` uses a limit of {self.count + rng.randint(1, 9)} {self.unit} and calls `{self.other}`",
        )
        yield "negation", f"The {self.verb} results of a {self.thing} are {turned} kept in the {self.place}"
        yield "recombined", f"`{foreign}` - {self.verb}s every {self.thing} into the {self.place}"
        yield "recombined", f"`{self.name}()` uses a limit of {self.count} {self.unit} and calls `{foreign}`"
        yield "foreign", f"`{self.name}x9` - {self.verb}s every {self.thing} into the {self.place}"


def facts(rng: random.Random, count: int) -> list[Fact]:
    pairs = [(verb, thing) for verb in VERBS for thing in THINGS]
    rng.shuffle(pairs)
    made = []
    for verb, thing in pairs[:count]:
        place, unit = rng.choice(PLACES), rng.choice(UNITS)
        name = f"{verb}{thing.title()}"
        made.append(
            Fact(
                name,
                f"{name}To{place.title()}",
                verb,
                thing,
                place,
                rng.randint(2, 90),
                unit,
                rng.random() < 0.5,
            )
        )
    return made


def session(path: Path, made: list[Fact], rng: random.Random) -> None:
    """A tool call reads each module and its result is the text, with chatter in between."""
    with path.open("w", encoding="utf-8") as file:
        for at in range(0, len(made), 4):
            call = {
                "type": "tool_use",
                "id": f"c{at}",
                "name": "Read",
                "input": {"file_path": f"/srv/app/module{at}.go"},
            }
            text = "\n".join(fact.source() for fact in made[at : at + 4])
            answer = {"type": "tool_result", "tool_use_id": f"c{at}", "content": text}
            chatter = " ".join(rng.choices([*VERBS, *THINGS, *PLACES, *UNITS], k=40))
            for role, content in (("assistant", [call]), ("user", [answer]), ("assistant", chatter)):
                file.write(json.dumps({"type": role, "message": {"role": role, "content": content}}) + "\n")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--modules", type=int, default=60, help="functions in the session, at most 100")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    rng = random.Random(given.seed)
    made = facts(rng, given.modules)
    names = [name for fact in made for name in (fact.name, fact.other)]
    asked, noticed = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        session(path, made, rng)
        evidence = read(path)
        started = time.perf_counter()
        for fact in made:
            for kind, claim in fact.claims(rng, names):
                asked[kind] += 1
                noticed[kind] += check(evidence, claim).answer != "supported"
        spent = time.perf_counter() - started
    for kind, count in asked.items():
        print(f"{kind:11} {noticed[kind]:4} of {count:4} not supported ({noticed[kind] / count:.0%})")
    print(f"{sum(asked.values())} claims, {1000 * spent / sum(asked.values()):.1f} ms each")


if __name__ == "__main__":
    main()
