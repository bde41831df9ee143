"""The invented projects. Each module has one, of its own character, with the untidiness that time brings."""

from __future__ import annotations

import datetime as dt

from dreams.services.demo.content import bookshelf, garden, homelab, orders
from dreams.services.demo.writing import Demo


def projects(now: dt.datetime) -> Demo:
    """All of them, with dates relative to `now` (aware)."""
    return Demo(now, (orders.project(now), garden.project(now), homelab.project(now), bookshelf.project(now)))
