"""What many tests need: the owner, a logged-in browser, a small world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser
    from django.test import Client

    from tests.world import World


@pytest.fixture
def owner(db: None) -> AbstractUser:
    from dreams.login import ensure_owner

    return ensure_owner()


@pytest.fixture
def browser(client: Client, owner: AbstractUser) -> Client:
    """The test client, logged in as the owner."""
    client.force_login(owner)
    return client


@pytest.fixture
def world(db: None) -> World:
    from tests.world import make_world

    return make_world()
