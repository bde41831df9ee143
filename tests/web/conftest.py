"""Nothing is kept between web tests that the database does not roll back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.cache import cache
from django.test import Client

from tests.conftest import logged_in
from tests.web.reading import Reader


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """The count of wrong logins lives in the cache."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def browser(owner: AbstractUser) -> Client:
    """Logged in as the owner, and reading pages as a browser does."""
    reader = Reader()
    logged_in(reader, owner)
    return reader
