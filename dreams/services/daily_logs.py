"""An agent's daily logs: which lines are unread, and which were used.

As with sessions, lines are used when the proposal is decided, not when the dream ends; an undo makes them unread again.
"""

import datetime as dt
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from dreams.engines.linedates import day_of_log
from dreams.engines.types import LogBrief
from dreams.lib.files import text
from dreams.models import DreamLog, DreamRun, Memory, Project
from dreams.services import blobs

#: For one dream, newest days first; the rest stays unread.
MOST_LOGS = 400
MOST_LINES = 20_000  # to bound time; chosen


def of_project(project: Project) -> list[Memory]:
    """The existing logs, newest day first."""
    rows = project.memories.filter(kind=Memory.Kind.LOG, path__endswith=".md", gone_at__isnull=True)
    return sorted(rows, key=lambda row: (day_of_log(row.path) or dt.date.min, row.path), reverse=True)


def unread(project: Project) -> list[LogBrief]:
    """The logs with new lines, newest first, within the limits."""
    return [brief for _, brief in _unread(project)]


def new_lines(project: Project) -> int:
    return sum(len(brief.new) for brief in unread(project))


def mark_read(dream: DreamRun) -> list[LogBrief]:
    """The logs with new lines, recorded as read by this dream."""
    found = list(_unread(dream.project))
    DreamLog.objects.bulk_create(
        DreamLog(dream=dream, memory=memory, sha256=memory.sha256) for memory, _ in found
    )
    return [brief for _, brief in found]


def use_up(dream: DreamRun, besides: Collection[str] = ()) -> None:
    """Mark these logs as used, as their proposal is decided; those at the paths `besides` stay unread."""
    dream.read_logs.exclude(memory__path__in=besides).update(used=True)


def give_back(dream: DreamRun) -> None:
    """Mark them as unread again after an undo, including what later dreams read of them."""
    for read in dream.read_logs.filter(used=True):
        DreamLog.objects.filter(memory=read.memory_id, pk__gte=read.pk).update(used=False)


def _unread(project: Project) -> Iterator[tuple[Memory, LogBrief]]:
    room = MOST_LINES
    for log, brief in read(of_project(project), only_changed=True):
        if brief.new and room > 0:
            room -= len(brief.new)
            yield log, brief


def read(logs: Sequence[Memory], *, only_changed: bool = False) -> Iterator[tuple[Memory, LogBrief]]:
    """The texts of these logs and their new parts, as far as they are stored; two queries.

    `only_changed`: only those that changed since they were last used, at most `MOST_LOGS`.
    """
    rows = DreamLog.objects.filter(memory__in=logs, used=True).order_by("pk")
    used = dict(rows.values_list("memory_id", "sha256"))
    if only_changed:
        logs = [log for log in logs if used.get(log.pk) != log.sha256][:MOST_LOGS]
    texts = blobs.get_many({sha for log in logs for sha in (log.sha256, used.get(log.pk, "")) if sha})
    for log in logs:
        if log.sha256 in texts:
            now, before = (texts.get(sha, b"") for sha in (log.sha256, used.get(log.pk, "")))
            new = lines_not_in(text.decode(before), text.decode(now))
            yield log, LogBrief(log.path, day_of_log(log.path), text.decode(now), new)


def lines_not_in(before: str, now: str) -> frozenset[int]:
    """Numbers (1-based) of the lines of `now` that `before` lacks or has less often; empty lines are never new."""
    left, new = Counter(before.split("\n")), set[int]()
    for number, line in enumerate(now.split("\n"), start=1):
        if left[line] > 0:
            left[line] -= 1
        elif line.strip():
            new.add(number)
    return frozenset(new)
