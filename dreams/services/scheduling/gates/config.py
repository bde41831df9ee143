"""The thresholds of the gates: defaults of the reference behaviour, each of them a setting."""

from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from decimal import Decimal

_NOTHING = timedelta(0)
_HEAVIEST = 100.0


@dataclass(frozen=True, slots=True)
class GateConfig:
    """Frozen thresholds; a project's own by `dataclasses.replace`. Raises ValueError that names the remedy.

    `correction_weight`: what a session with corrections or fixes counts; 1.0 is plain counting.
    Caps are US dollars, None is no cap: for one dream, and per day and per month over all projects and per
    month for this project. Days and months begin at midnight in `zone`.
    """

    min_age: timedelta = timedelta(hours=24)
    scan_throttle: timedelta = timedelta(minutes=10)
    min_sessions: int = 5
    correction_weight: float = 2.0
    dream_cap: Decimal | None = None
    day_cap: Decimal | None = None
    month_cap: Decimal | None = None
    project_cap: Decimal | None = None
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        for name in ("min_age", "scan_throttle"):
            if getattr(self, name) <= _NOTHING:
                raise ValueError(f"{name} must be longer than nothing; to dream at once use force instead.")
        if self.min_sessions < 1:
            raise ValueError(
                "min_sessions must be 1 or more; to dream without new sessions use force instead."
            )
        # The comparison is written so that it refuses NaN too.
        if not 1.0 <= self.correction_weight <= _HEAVIEST:
            raise ValueError(f"correction_weight must lie between 1 and {_HEAVIEST:g}; 1 is plain counting.")
        for name in ("dream_cap", "day_cap", "month_cap", "project_cap"):
            _check_cap(name, getattr(self, name))


def _check_cap(name: str, cap: Decimal | None) -> None:
    if cap is not None and not (cap.is_finite() and cap > 0):
        raise ValueError(
            f"{name} must be an amount over $0, or nothing for no cap; "
            "to spend nothing choose the rules engine, which is free."
        )
