"""How fast search answers: `python bench/search.py [--texts N] [--rounds N]`.

Generates prompts from a fixed seed in a temporary database. Compares, in rounds: scanning every text for the words (as
without an index), and a search with the index. Prints medians of the ratios to the scan, and for indexing to writing
the bare rows: the machine's noise cancels out.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.discovery import start_django

if TYPE_CHECKING:
    from dreams.services.search.query import Query

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
SOUGHT = {
    "a rare word": "turbine",
    "a word in every text": "the",
    "two words": "the turbine",
    "two characters": "zz",
    "two characters of Korean": "배포",
    "a word that is nowhere": "xylophone",
}


def vocabulary(chance: random.Random) -> list[str]:
    words = ["".join(chance.choices(LETTERS, k=chance.randint(2, 9))) for _ in range(6_000)]
    return [*words, *["the"] * 900, "turbine", "배포를"]


def make_texts(count: int) -> list[str]:
    chance = random.Random(7)
    words = vocabulary(chance)
    return [" ".join(chance.choices(words, k=chance.randint(4, 60))) for _ in range(count)]


def timed(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        start_django(Path(temporary))
        write(make_texts(options.texts))
        answer(options.rounds)


def write(texts: list[str]) -> None:
    from django.utils import timezone

    from dreams.models import Project, Prompt, Session
    from dreams.services.search import index

    now = timezone.now()
    project = Project.objects.create(host="here", memory_dir="/m", slug="s", name="n", history_key="k")
    session = Session.objects.create(project=project, session_id="s", path="/s", touched_at=now)
    rows = [
        Prompt(key=n, session=session, offset=n, line_no=n, at=now, text=text) for n, text in enumerate(texts)
    ]
    bare = timed(lambda: Prompt.objects.bulk_create(rows, batch_size=2_000))
    taken = timed(lambda: index.catch_up(3_600))
    size = sum(map(len, texts)) / 1e6
    print(f"{len(texts)} texts, {size:.0f} million characters")
    print(
        f"  taking in       {taken / bare:6.1f} x writing the rows   ({size / taken:.1f} million characters/s)"
    )


def first_page(query: Query) -> int:
    from dreams.services.search.finding import Filters, typed

    return len(typed(query, Filters())[:20])


def answer(rounds: int) -> None:
    from dreams.models import SearchText
    from dreams.services.search.query import parse

    for name, words in SOUGHT.items():
        query = parse(words)

        def scan(terms: tuple[str, ...] = query.terms) -> int:
            return sum(
                all(term in text for term in terms)
                for text in SearchText.objects.values_list("text", flat=True)
            )

        ratios = []
        for _ in range(rounds):
            bare = timed(scan)
            ratios.append(timed(partial(first_page, query)) / bare)
        print(f"  {name:26} {statistics.median(ratios):7.4f} x reading every text")


if __name__ == "__main__":
    main()
