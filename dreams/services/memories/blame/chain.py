"""The states of one memory, from its rows, with where each line of the last one came in."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from dreams.lib.files import text
from dreams.models import Memory, Version
from dreams.services import blobs
from dreams.services.memories.blame.lines import Origin, lines_of, origins

#: Beyond these the oldest states are taken as one: what they brought is "before that".
MAX_STATES = 200
MAX_BYTES = 12 << 20


@dataclass(frozen=True, slots=True)
class Chain:
    """`states` are oldest first. `is_cut`: earlier ones exist, so what came with the first is older than it.

    `missing` names the version whose bytes are not kept, where the last one's are not; there are no lines then.
    """

    states: tuple[Version, ...]
    lines: tuple[str, ...]
    origins: tuple[Origin, ...]
    is_cut: bool
    missing: str = ""


def chain(memory: Memory, until: Version) -> Chain:
    """Every state of `memory` up to `until`, which is one of its own. Two queries, and one per 500 texts."""
    rows = memory.versions.filter(Q(at__lt=until.at) | Q(at=until.at, pk__lte=until.pk))
    newest = list(rows.select_related("proposal__dream").order_by("-at", "-pk")[: MAX_STATES + 1])
    kept = _within(newest)
    states = tuple(reversed(kept))
    texts = blobs.get_many(state.sha256 for state in states)
    if until.sha256 and until.sha256 not in texts:
        return Chain(states, (), (), is_cut=False, missing=until.sha256[:12])
    # A state whose bytes are lost is passed over: its lines came with the next one that is kept.
    readable = tuple(state for state in states if not state.sha256 or state.sha256 in texts)
    decoded = [text.decode(texts[state.sha256]) if state.sha256 else None for state in readable]
    last = decoded[-1] if decoded else None
    return Chain(
        readable, tuple(lines_of(last or "")), tuple(origins(decoded)), is_cut=len(kept) < len(newest)
    )


def _within(newest: list[Version]) -> list[Version]:
    """As many of the newest as the limits allow, and always the newest itself."""
    kept: list[Version] = []
    size = 0
    for row in newest[:MAX_STATES]:
        size += row.size
        if kept and size > MAX_BYTES:
            break
        kept.append(row)
    return kept
