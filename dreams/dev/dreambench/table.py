"""Scores of several systems side by side. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dreams.dev.dreambench.scoring import Score
from dreams.dev.dreambench.truth import KINDS, World


def lines(world: World, scores: Mapping[str, Score]) -> Iterator[str]:
    """Right / left / wrong per kind, and below it what counts for a whole directory."""
    yield f"seed {world.seed}, {world.facts} facts, {world.given or world.wordings} wordings, {len(world.directories)} directories, {len(world.cases)} cases"
    yield "right / left / wrong"
    names = list(scores)
    yield from _columns(["kind", *names], list(_kinds(scores)))
    yield ""
    yield from _columns(["over all", *names], list(_totals(scores)))


def _kinds(scores: Mapping[str, Score]) -> Iterator[list[str]]:
    for kind in KINDS:
        if any(kind in score.kinds for score in scores.values()):
            yield [kind, *(_cell(score.kinds.get(kind, Counter())) for score in scores.values())]
    if any(score.held_out for score in scores.values()):
        yield ["held-out wordings", *(_cell(score.held_out) for score in scores.values())]


def _cell(counts: Counter[str]) -> str:
    return " / ".join(str(counts[verdict]) for verdict in ("right", "left", "wrong"))


def _totals(scores: Mapping[str, Score]) -> Iterator[list[str]]:
    each = list(scores.values())
    yield ["done right", *(_share(s.right) for s in each)]
    yield ["facts kept", *(_share(s.facts_kept, 4) for s in each)]
    yield ["wrong merges", *(str(s.wrong_merges) for s in each)]
    yield ["invented dates", *(str(len(s.invented_dates)) for s in each)]
    yield ["invented words", *(str(len(s.invented_words)) for s in each)]
    yield ["index loaded whole", *(f"{s.loaded_whole} of {s.directories}" for s in each)]
    yield ["broken links", *(str(s.broken_links) for s in each)]
    yield ["new dangling rows", *(str(s.new_dangling) for s in each)]
    yield ["secrets left", *(str(s.secrets) for s in each)]
    yield ["questions", *(str(s.asked.total()) if s.asked else "–" for s in each)]
    yield ["useful questions", *(_share(s.useful_share, 2) for s in each)]
    yield ["blocking findings", *(str(len(s.cost.blocking)) for s in each)]
    yield [
        "changes when dreamt again",
        *("–" if s.cost.again is None else str(len(s.cost.again)) for s in each),
    ]
    yield ["seconds", *(f"{s.cost.seconds:.1f}" for s in each)]
    yield ["tokens in / out", *(f"{s.cost.input_tokens:,} / {s.cost.output_tokens:,}" for s in each)]
    yield ["cost", *(f"${float(s.cost.cost_usd):.2f}" for s in each)]


def _share(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _columns(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    for row in [head, *rows]:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
