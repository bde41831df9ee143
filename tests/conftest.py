"""What many tests need: the owner, a logged-in browser, a small world."""

from __future__ import annotations

import gc
import os
import re
import shutil
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.conf import settings as project
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import TransactionTestCase
from django.test.utils import setup_databases, teardown_databases
from django.utils.crypto import get_random_string
from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers

from dreams.lib.locks import acquiring
from dreams.migrations._prices import seed_more, seed_whole
from dreams.models import prepared
from tests.world.new_database import made_once
from tests.world.processes.killed import fsync_at_once

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractUser
    from django.test import Client
    from pytest_django.plugin import DjangoDbBlocker

    from tests.world.kept import Keep, Row
    from tests.world.rows import World

# The suite tries the same examples for everybody, so that it is green or red for a reason; HYPOTHESIS_PROFILE=explore
# looks for new ones. Neither looks at a clock: a busy machine is no reason.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# Always the same examples: more of them cost every run and find nothing new. `make test-more` has a few more
# ("more"), "explore" draws others. It alone looks for the smallest example that fails: that can take half an hour.
settings.register_profile(
    "more",
    settings.get_profile("explore"),
    derandomize=True,
    max_examples=12,
    phases=(Phase.explicit, Phase.generate),
)
settings.register_profile("suite", settings.get_profile("more"), max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))
if settings.get_current_profile_name() != "explore":
    # Hypothesis puts constants of our modules into examples: of those that are imported by then, and of none where a folder
    # above is called “tests”. To find them it parsed all of them, in each process of a new clone.
    providers._get_local_constants = providers.Constants


LONG_ONES = re.compile(r"\bmark\.(more|sweep)\b")
# Tables that are filled by migrations alone, and stay.
MIGRATED = {"django_migrations", "django_content_type", "auth_permission"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`make test-more` imports no file without a test of its own: each of its processes collected all others, too."""
    if "(more or sweep)" not in config.option.markexpr or not collection_path.name.startswith("test_"):
        return None
    return None if _names_a_long_test(collection_path) else True


def _names_a_long_test(file: Path) -> bool:
    return bool(LONG_ONES.search(file.read_text(encoding="utf-8")))


#: Files with a long test that `make test-more` would not find, of those that were imported.
NOT_FOUND = pytest.StashKey[list[str]]()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None]:
    """What is `early` comes first: as the last file of a run it kept one process busy while the others were done."""
    long = {item.path for item in items if any(item.iter_markers("more")) or any(item.iter_markers("sweep"))}
    config.stash[NOT_FOUND] = [str(file) for file in long if not _names_a_long_test(file)]
    yield
    items.sort(key=lambda item: not any(item.iter_markers("early")))


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end, and a test leaves few circles behind: a collector that looked
    through all of it again and again cost an eighth of the run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(scope="session", autouse=True)
def folders_are_of_this_machine() -> Iterator[None]:
    """The tests' folders come from no other one, even where they are mounted into the container that runs the tests."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(acquiring, "sees_those_of_the_machine", lambda: True)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk() -> Iterator[None]:
    """A killed process loses nothing that the kernel holds, so no test sees whether the disk has it, and to wait for that
    was half of what a test takes that applies something. That the disk is asked, and in which order, is told by the
    journal's own calls (test_journal_order); processes of their own ask it truly. What is no open file is still refused.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", fsync_at_once)
        yield


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_modify_db_settings: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[None]:
    """Migrated by the first process of a run that needs it; the others have a copy of what that one made."""
    on_sqlite = connection.vendor == "sqlite"
    file = Path(connection.settings_dict["TEST"]["NAME"] or "")
    with django_db_blocker.unblock(), made_once(file) if on_sqlite else nullcontext(False) as there:
        made = setup_databases(verbosity=0, interactive=False, serialized_aliases=[], keepdb=there)
    yield
    with django_db_blocker.unblock():
        teardown_databases(made, verbosity=0)


@pytest.fixture(scope="session", autouse=True)
def emptied_tables() -> Iterator[None]:
    """After a test that commits, the tables hold what migrations put there: prices, and what Django says of tables."""
    from dreams.models import Price
    from dreams.services.auditlog import head_file

    prices: list[Price] = []

    def empty(case: TransactionTestCase) -> None:
        tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
        connection.ops.execute_sql_flush(_emptied(sorted({*tables} - MIGRATED)))
        if prices:
            Price.objects.bulk_create(prices)  # one query; the migrations save row by row
        else:
            seed_whole(apps, None)
            seed_more(apps, None)
            prices.extend(Price.objects.all())
        head_file().unlink(missing_ok=True)  # what it tells of was emptied too

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


def _emptied(tables: Sequence[str]) -> list[str]:
    """For PostgreSQL not Django's TRUNCATE, which makes a new file of every table and index: 126 ms of CPU where this is 2."""
    if connection.vendor != "postgresql":
        return connection.ops.sql_flush(no_style(), tables, reset_sequences=False)
    unchecked = "SET LOCAL session_replication_role = 'replica'"
    return [unchecked, *(f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables)]  # noqa: S608 - names of our own


@pytest.fixture(scope="session", autouse=True)
def prepared_queries_stay_what_they_were() -> Iterator[None]:
    """Whoever asks a prepared query for the 1st, 2nd, 8th, 64th … time: it is what it would be if it were made anew, or a
    value, a setting or the clock decided what it looks like."""
    compared_at = {1, 2, *(8**power for power in range(1, 8))}
    asked: Counter[int] = Counter()
    rows = prepared._Form.rows

    def compared(form: prepared._Form[Any], given: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        asked[id(form)] += 1
        if asked[id(form)] in compared_at:
            anew = form.make(*given, **named).query.get_compiler(using="default")
            values = prepared._flat((*given, *named.values()), connection.ops)
            known = [own if place is None else values[place] for place, own in form.places]
            assert _in_short(form.sql, known) == _in_short(*prepared._put_together(anew)), form.make.__name__
        return rows(form, given, named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared._Form, "rows", compared)
        yield


def _in_short(sql: str, values: Sequence[object]) -> tuple[str, list[object]]:
    """Without how often a value is in a list, and with JSON as what it says: psycopg's own has no equal."""
    plain = dict.fromkeys(str(getattr(one, "obj", one)) for one in values)
    return re.sub(r"IN \(%s(, %s)*\)", "IN ()", sql), list(plain)


@pytest.fixture(autouse=True)
def no_texts_of_other_tests() -> Iterator[None]:
    """Projects go with their rows, and their texts with them: else whatever recovers, verifies or purges reads those of
    all tests before it."""
    yield
    for name in ("journal", "history"):
        shutil.rmtree(Path(project.DATA_DIR) / name, ignore_errors=True)


@pytest.fixture(scope="module")
def kept(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Keep[Row]]:
    """To make a world with which each test of a module begins."""
    from tests.world.kept import Kept

    with django_db_blocker.unblock(), transaction.atomic():
        yield lambda make: Kept(tmp_path_factory.mktemp("kept"), make)
        transaction.set_rollback(True)


@pytest.fixture
def owner(db: None) -> AbstractUser:
    from dreams.services.login import ensure_owner

    return ensure_owner()


@pytest.fixture
def browser(client: Client, owner: AbstractUser) -> Client:
    """The test client, logged in as the owner."""
    logged_in(client, owner)
    return client


def logged_in(client: Client, user: AbstractUser) -> None:
    """As `force_login`, but the session is written once and as it ends; that writes and reads it fifteen times."""
    store = SessionStore()
    kept = {
        SESSION_KEY: str(user.pk),
        BACKEND_SESSION_KEY: "django.contrib.auth.backends.ModelBackend",
        HASH_SESSION_KEY: user.get_session_auth_hash(),
    }
    key = get_random_string(32)
    Session.objects.create(
        session_key=key, session_data=store.encode(kept), expire_date=store.get_expiry_date()
    )
    client.cookies[project.SESSION_COOKIE_NAME] = key


@pytest.fixture
def world(db: None) -> World:
    from tests.world.rows import make_world

    return make_world()
