"""Five-field cron in a time zone: when a job is due, and delays that spread jobs.

When summer time begins or ends, times are read as a person means them. A job "at 02:30" is due once every day: if
02:30 occurs twice, the first time; if it does not occur, as much later as the clock was put forward. A job
"every hour" is due every hour that passes, also the repeated one.
"""

import datetime as dt
import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from croniter import CroniterBadCronError, CroniterBadDateError, CroniterError, croniter

FIELDS = 5  # of an expression, as in crontab(5)
#: Digits, ranges, lists, steps and the short names of months and weekdays. croniter accepts more than cron does.
_FIELD = re.compile(r"[0-9*/,-]*(?:[a-z]{3}[0-9*/,-]*)*")
_MEANT = (
    "Minutes are 0-59, hours 0-23, days 1-31, months 1-12 or jan-dec, days of the week 0-6 or sun-sat; "
    "* is every one, and , - / are for several."
)
_HOURS = 1
# The agent's own constants for spreading jobs.
MOST_DELAY = dt.timedelta(minutes=15)
MOST_EARLY_SECONDS = 90
_DAY = dt.timedelta(days=1)
_MINUTE = dt.timedelta(minutes=1)


class BadCron(ValueError):
    """An invalid schedule; the message says what is wrong and what to write."""


def checked(expression: str) -> str:
    """The expression with single spaces. Raises BadCron, also if it is never due."""
    fields = expression.lower().split()
    if len(fields) != FIELDS:
        raise BadCron(
            f"“{expression.strip()}” is not five fields: minute, hour, day of the month, month, day of the week, "
            "as in “0 3 * * *” for every day at 03:00."
        )
    found = " ".join(fields)
    try:
        if not all(_FIELD.fullmatch(field) for field in fields):
            raise CroniterBadCronError
        croniter(found, dt.datetime(2026, 1, 1)).get_next(dt.datetime)  # noqa: DTZ001 - a time of the clock
    except CroniterBadDateError as error:
        raise BadCron(f"“{found}” is never due: there is no such day.") from error
    except (CroniterError, ValueError) as error:
        raise BadCron(f"“{found}” is not a schedule. {_MEANT}") from error
    return found


def next_time(expression: str, after: dt.datetime, zone: dt.tzinfo) -> dt.datetime | None:
    """The first moment after `after` when it is due, in UTC; None if there is none in the next 50 years."""
    try:
        if _is_every_hour(expression):
            return _every_hour(expression, after.astimezone(dt.UTC), zone)
        return _by_the_clock(expression, after.astimezone(dt.UTC), zone)
    except CroniterBadDateError:
        return None


def times(expression: str, after: dt.datetime, zone: dt.tzinfo) -> Iterator[dt.datetime]:
    """Every moment after `after` when it is due."""
    found = next_time(expression, after, zone)
    while found is not None:
        yield found
        found = next_time(expression, found, zone)


@lru_cache(maxsize=256)
def _is_every_hour(expression: str) -> bool:
    return croniter.expand(expression)[0][_HOURS] == ["*"]


def _by_the_clock(expression: str, after: dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """A time that the clock skips is moved after the gap, so the search starts before a gap of the last day."""
    begin = after + min(_offset(after - _DAY, zone), _offset(after, zone))
    clock = croniter(expression, begin.replace(tzinfo=None) - _MINUTE)
    while True:
        found: dt.datetime = clock.get_next(dt.datetime).replace(tzinfo=zone).astimezone(dt.UTC)
        if found > after:
            return found


def _every_hour(expression: str, after: dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """By the current offset; if that changes before the next time, by the new one from the change on."""
    offset = _offset(after, zone)
    found = croniter(expression, (after + offset).replace(tzinfo=None)).get_next(dt.datetime)
    moment: dt.datetime = found.replace(tzinfo=dt.UTC) - offset
    if _offset(moment, zone) == offset:
        return moment
    change = _change(after, moment, zone)
    is_due = croniter.match(expression, change.astimezone(zone).replace(tzinfo=None))
    return change if is_due else _every_hour(expression, change, zone)


def _change(before: dt.datetime, after: dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """The first second after `before` with another offset; `after` has one."""
    offset = _offset(before, zone)

    def is_changed(second: int) -> bool:
        return _offset(dt.datetime.fromtimestamp(second, dt.UTC), zone) != offset

    start, end = int(before.timestamp()) + 1, int(after.timestamp())
    first = start + bisect_left(range(start, end), True, key=is_changed)
    return dt.datetime.fromtimestamp(first, dt.UTC)


def _offset(moment: dt.datetime, zone: dt.tzinfo) -> dt.timedelta:
    return moment.astimezone(zone).utcoffset() or dt.timedelta(0)


# --- Spreading ----------------------------------------------------------------------------------------------------


def delay(seed: str, period: dt.timedelta) -> dt.timedelta:
    """How much later than its time a recurring job starts: the same for one `seed`, at most a tenth of the period and
    15 minutes."""
    return dt.timedelta(seconds=int(_share(seed) * min(period / 10, MOST_DELAY).total_seconds()))


def head_start(seed: str, local: dt.datetime) -> dt.timedelta:
    """How much earlier a one-time job starts, because many people choose the full or half hour."""
    return dt.timedelta(seconds=int(_share(seed) * MOST_EARLY_SECONDS) if local.minute in (0, 30) else 0)


def _share(seed: str) -> float:
    """A number from 0 to below 1."""
    return int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8], "big") / 2**64
