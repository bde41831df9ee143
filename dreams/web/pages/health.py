"""Health: everything that could keep dreams from happening, worst first, each with its remedy."""

from __future__ import annotations

import datetime as dt

from dreams.services import doctor

ORDER: dict[doctor.State, int] = {"bad": 0, "warn": 1, "ok": 2, "info": 3}


def checks(now: dt.datetime, *, thorough: bool = False) -> list[doctor.Check]:
    return sorted(doctor.examine(now, thorough=thorough), key=lambda check: ORDER[check.state])
