"""The result of a check of `doctor`: what was found, and what to do if something is wrong."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from django.db import DatabaseError

from dreams import conf
from dreams.lib.storage.history import HistoryError
from dreams.services import database

# `bad` stops every dream; `warn` should be known to a person; `info` was not checked, or needs no action.
State = Literal["ok", "warn", "bad", "info"]

MOST_NAMES = 5  # in one line; chosen
NO_SPACE = 10**6  # below it not even a small cache file can be written; chosen


@dataclass(frozen=True, slots=True)
class Check:
    """`said` is what was found; `detail` adds to it."""

    name: str
    state: State
    said: str
    detail: str = ""
    remedy: str = ""


def safely(name: str, check: Callable[[], Check]) -> Check:
    """Run a check so that its failure does not hide the others."""
    try:
        return check()
    except DatabaseError as error:
        return _unanswered(name, error)
    except conf.BadValue:
        # The check of settings reports it; here it would hide the rest.
        return Check(name, "info", "Not checked: a setting is invalid", remedy="The Settings row says which.")
    except (HistoryError, OSError, ValueError) as error:
        said = f"This could not be checked: {error}"
        return Check(name, "bad", said, remedy="Fix what the message names.")


def _unanswered(name: str, error: DatabaseError) -> Check:
    """The check of the database says what to do; the others refer to it."""
    said, remedy = f"The database does not answer: {error}", f"Check the disk of {settings.DATA_DIR}."
    if name != "Database":
        remedy = "See Database."
    elif database.is_away(error):
        said, remedy = database.why_away(error), "Start it, or correct DATABASE_URL."
    elif database.is_full(error):
        said, remedy = database.why_full(error), "Make room on that disk."
    elif database.is_damaged(error):
        remedy = database.why_damaged(error)
    return Check(name, "bad", said, remedy=remedy)
