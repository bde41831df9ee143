"""A table of cases as one test: all are run, and each failing one is named.

`@each("said, meant", [...])` takes the arguments of `pytest.mark.parametrize`. A separate test per case spends most of its
time on set-up; keep those for cases that need their own fixtures, or a mark.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

Check = Callable[..., None]


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Check], Check]:
    """Decorates a test. Two stacked decorators try all pairs. All cases share the same fixtures, but each has an empty
    `tmp_path` of its own."""
    words = [word.strip() for word in names.split(",")] if isinstance(names, str) else list(names)
    rows = [dict(zip(words, case, strict=True)) if len(words) > 1 else {words[0]: case} for case in cases]
    table = [(", ".join(repr(value) for value in row.values()), row) for row in rows]
    assert table, "a table without a case shows nothing"

    def of(check: Check) -> Check:
        @functools.wraps(check)
        def whole(**given: Any) -> None:
            _try_all(check, table, given)

        asked = inspect.signature(check).parameters.items()
        # The signature for pytest: only the fixtures and the columns of another table above this one.
        whole.__signature__ = inspect.Signature([one for name, one in asked if name not in words])  # type: ignore[attr-defined]
        del whole.__wrapped__
        return whole

    return of


def _try_all(check: Check, table: list[tuple[str, dict[str, Any]]], given: dict[str, Any]) -> None:
    wrong: list[tuple[str, BaseException]] = []
    base: Path | None = given.get("tmp_path")
    for number, (name, row) in enumerate(table):
        if base is not None:
            (own := base / f"case-{number}").mkdir()
            given = {**given, "tmp_path": own}
        try:
            check(**given, **row)
        except (Exception, pytest.fail.Exception) as error:
            wrong.append((name, error))
    if wrong:
        told = "\n".join(f"[{name}] {type(error).__name__}: {error}" for name, error in wrong)
        raise AssertionError(f"{len(wrong)} of {len(table)} cases fail:\n{told}") from wrong[0][1]
