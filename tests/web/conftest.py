"""Nothing is kept between web tests that the database does not roll back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """The count of wrong logins lives in the cache."""
    cache.clear()
    yield
    cache.clear()
