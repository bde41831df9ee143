"""The hours of a day in which nothing starts."""

import datetime as dt
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one time of the day to another, which may be on the next day."""

    begin: dt.time
    end: dt.time

    def ends_at(self, moment: dt.datetime, zone: dt.tzinfo) -> dt.datetime | None:
        """When the quiet around `moment` ends, in UTC; None where it is not quiet."""
        local = moment.astimezone(zone)
        now = local.time()
        over_midnight = self.begin > self.end
        is_quiet = now >= self.begin or now < self.end if over_midnight else self.begin <= now < self.end
        if not is_quiet:
            return None
        day = local.date() + (
            dt.timedelta(days=1) if over_midnight and now >= self.begin else dt.timedelta(0)
        )
        return dt.datetime.combine(day, self.end, tzinfo=zone).astimezone(dt.UTC)


def parse(text: str) -> QuietHours | None:
    """ "22:00-07:00"; None for an empty text. Raises ValueError."""
    if not text.strip():
        return None
    begin, dash, end = text.replace("–", "-").partition("-")
    try:
        found = QuietHours(_time(begin), _time(end))
    except ValueError as error:
        raise ValueError(f"“{text}” is not a time such as 22:00-07:00") from error
    if not dash or found.begin == found.end:
        raise ValueError(f"“{text}” is not a time such as 22:00-07:00")
    return found


def _time(text: str) -> dt.time:
    hour, _, minute = text.strip().partition(":")
    return dt.time(int(hour), int(minute or 0))
