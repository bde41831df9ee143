"""Nothing is kept between web tests that the database does not roll back."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.cache import cache
from django.http import QueryDict
from django.template import Context, VariableDoesNotExist
from django.test import Client

from dreams.models import Proposal
from dreams.services import login
from tests.conftest import logged_in
from tests.web.reading import Reader
from tests.world import review
from tests.world.kept import Keep, Kept


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """Of the cache, and of the count of wrong logins."""
    cache.clear()
    login._wrong.clear()
    yield
    cache.clear()


class MissingNames(logging.Filter):
    """What templates asked of a value that has no such name. Django shows nothing in its place, and says so at DEBUG alone
    in a record that holds all that the page was made from: none goes on from here."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, VariableDoesNotExist) and len(error.params) > 1:
            name, value = error.params
            # What may be left out: a value of the page or of its address, of nothing, and the first of an empty list.
            may = value is None or isinstance(value, Context | QueryDict) or name.isdecimal()
            # Django's own pages ask its fields for what some have.
            if not may and "'admin/" not in record.getMessage():
                self.found.add(f"{type(value).__name__} has no {name!r}: {record.getMessage()}")
        return record.levelno > logging.DEBUG


@pytest.fixture(autouse=True)
def every_name_in_a_template_is_there() -> Iterator[None]:
    """A figure whose name had changed in the code alone was an empty place on its page."""
    missing, logger = MissingNames(), logging.getLogger("django.template")
    before = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addFilter(missing)
    yield
    logger.removeFilter(missing)
    logger.setLevel(before)
    assert not missing.found, "\n".join(sorted(missing.found))


@pytest.fixture
def browser(owner: AbstractUser) -> Client:
    """Logged in as the owner, and reading pages as a browser does."""
    reader = Reader()
    logged_in(reader, owner)
    return reader


@pytest.fixture(scope="module")
def made(kept: Keep) -> Kept[Proposal]:
    """Seven changes in five files, unless a module makes another proposal."""
    return kept(lambda folder: review.make_proposal(review.make_project(folder)))


@pytest.fixture
def proposal(made: Kept[Proposal], db: None) -> Proposal:
    return made.anew()


@pytest.fixture(scope="module")
def first_looks() -> dict[str, str]:
    return {}


@pytest.fixture
def opened(browser: Client, proposal: Proposal, first_looks: dict[str, str]) -> str:
    """The review as it opens, before a test changes anything: as every test of a module begins with the same rows, it is
    asked for once."""
    address = f"/review/{proposal.public_id}/"
    if address not in first_looks:
        first_looks[address] = browser.get(address).content.decode()
    return first_looks[address]
