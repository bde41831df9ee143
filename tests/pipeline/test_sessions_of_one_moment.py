"""Sessions that were touched at one moment are always read in one order, whatever a database does with changed rows."""

from __future__ import annotations

import datetime as dt

import pytest

from dreams.models import Session
from dreams.services.dreaming import dream_inputs
from tests.world import rows as world

pytestmark = pytest.mark.django_db

MOMENT = dt.datetime(2026, 3, 1, 12, tzinfo=dt.UTC)


def test_a_changed_row_does_not_change_the_order() -> None:
    project = world.make_project()
    made = [world.make_session(project, touched_at=MOMENT, size=9, session_id=f"s{n}") for n in range(5)]
    for row in (made[1], made[3]):
        Session.objects.filter(pk=row.pk).update(lines=7)
    rows = dream_inputs.unused(project.sessions.all())
    assert rows.query.order_by == ("-touched_at", "pk")
    assert [row.session_id for row in rows] == [row.session_id for row in made]
