"""An engine's edit as JSON fields and back: its citations, and what became of the lines that it removed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import get_args

from django.utils.dateparse import parse_datetime

from dreams.engines.types import Citation, EvidenceSource, Fate, FateKind, OperationKind
from dreams.lib.files import text
from dreams.services.proposals.limits import QUOTE_LIMIT


def stored_citation(found: Citation) -> dict[str, object]:
    """`citation` reads it."""
    fields = asdict(found) | {"at": found.at.isoformat() if found.at else None}
    return {
        name: text.storable(value, QUOTE_LIMIT) if isinstance(value, str) else value
        for name, value in fields.items()
    }


def stored_fate(found: Fate) -> dict[str, str]:
    """`fate` reads it."""
    return {name: text.storable(value, QUOTE_LIMIT) for name, value in asdict(found).items()}


def citation(found: Mapping[str, object], sessions: Collection[int]) -> Citation:
    """`sessions` are the rows that still exist; a citation of another one keeps its quote and place only."""
    session, at = _number(found.get("session_pk")), found.get("at")
    source: EvidenceSource = next(
        (kind for kind in get_args(EvidenceSource) if kind == found.get("source")), "memory"
    )
    return Citation(
        source=source,
        quote=str(found.get("quote", "")),
        place=str(found.get("place", "")),
        session_pk=session if session in sessions else None,
        line_no=_number(found.get("line_no")),
        offset=_number(found.get("offset")),
        role=str(found.get("role", "")),
        at=parse_datetime(at) if isinstance(at, str) else None,
        context=str(found.get("context", "")),
        found=bool(found.get("found", False)),
        note=str(found.get("note", "")),
    )


def fate(found: Mapping[str, object]) -> Fate:
    kind: FateKind = next((kind for kind in get_args(FateKind) if kind == found.get("kind")), "stated")
    names = ("text", "target_path", "target_text", "note")
    line, path, target, note = (str(found.get(name, "")) for name in names)
    return Fate(line, kind, path, target, note)


def operation_kind(name: str) -> OperationKind:
    return next((kind for kind in get_args(OperationKind) if kind == name), "edit")


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
