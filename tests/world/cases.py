"""A table of cases as one test: each is tried, and each that fails is named.

`@each("said, meant", [...])` takes what `pytest.mark.parametrize` takes. A test of its own for each phrase takes longer
around the phrase than for it; keep those for cases that need a world of their own, or a mark.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Check = Callable[..., None]


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Check], Check]:
    """Two above each other try all pairs. All cases have the same fixtures."""
    words = [word.strip() for word in names.split(",")] if isinstance(names, str) else list(names)
    rows = [dict(zip(words, case, strict=True)) if len(words) > 1 else {words[0]: case} for case in cases]
    table = [(", ".join(repr(value) for value in row.values()), row) for row in rows]
    assert table, "a table without a case shows nothing"

    def of(check: Check) -> Check:
        @functools.wraps(check)
        def whole(**given: Any) -> None:
            _try_all(check, table, given)

        asked = inspect.signature(check).parameters.items()
        # What pytest looks at: the fixtures alone, or what another table above this one has.
        whole.__signature__ = inspect.Signature([one for name, one in asked if name not in words])  # type: ignore[attr-defined]
        del whole.__wrapped__
        return whole

    return of


def _try_all(check: Check, table: list[tuple[str, dict[str, Any]]], given: dict[str, Any]) -> None:
    wrong: list[tuple[str, BaseException]] = []
    for name, row in table:
        try:
            check(**given, **row)
        except (Exception, pytest.fail.Exception) as error:
            wrong.append((name, error))
    if wrong:
        told = "\n".join(f"[{name}] {type(error).__name__}: {error}" for name, error in wrong)
        raise AssertionError(f"{len(wrong)} of {len(table)} cases fail:\n{told}") from wrong[0][1]
