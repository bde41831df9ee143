"""While a dream runs its project was dreamt of when it was before: only a completed dream moves the clock."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from dreams.services import discovery, project_lock
from tests.world import directory as world

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_running_dream_is_not_yet_the_last_one(tmp_path: Path, settings: Any) -> None:
    settings.ROOTS = [tmp_path]
    project = world.discovered(tmp_path)
    before = project.last_consolidated_at
    with project_lock.hold(project, "dream") as held:
        discovery.refresh(project)
        project.refresh_from_db()
        assert project.last_consolidated_at == before
        held.release_completed(timezone.now())
    discovery.refresh(project)
    project.refresh_from_db()
    assert project.last_consolidated_at not in (None, before)
