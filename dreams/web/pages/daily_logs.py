"""A project's daily logs, one day at a time: each line, whether a dream has read it, and its result."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import Count, F
from django.urls import reverse

from dreams.engines.linedates import day_of_log
from dreams.lib import diff
from dreams.lib.memdir import is_index
from dreams.lib.secrets.masking import Mask
from dreams.models import DreamLog, Evidence, Memory, Project, Proposal
from dreams.services import daily_logs
from dreams.services.scheduling import gates, scheduler
from dreams.services.scheduling.next_dream import beside_its_moment
from dreams.web.paging import listed, page_of

DAYS_PAGE = 60  # two months; chosen
MOST_LINES = 2_000  # of a day; chosen
MOST_CITED = 500  # changes that cite a day; chosen
#: The key of the logs whose names have no day.
UNDATED = "undated"


def distilling(project: Project, now: dt.datetime) -> dict[str, Any] | None:
    """None in every other mode, where dreams read the logs automatically."""
    if project.mode != gates.Mode.DAILY_LOG or project.gone_at:
        return None
    unread = daily_logs.unread(project)
    results = scheduler.evaluate_all(project, now, logs=True)
    closed = next((beside_its_moment(result) for result in results if not result.passed), "")
    return {"logs": len(unread), "lines": sum(len(log.new) for log in unread), "closed": closed}


@dataclass(frozen=True, slots=True)
class Day:
    key: str
    day: dt.date | None
    logs: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class LogLine:
    number: int
    text: str
    mark: Literal["", "heading", "new"]
    became: dict[str, Any] | None


def page(project: Project, wanted: str, number: str | None) -> dict[str, Any]:
    """The day `wanted`, or the newest, and the keys of its neighbours; a fixed number of queries."""
    by_day: dict[str, list[Memory]] = {}
    for row in daily_logs.of_project(project):
        by_day.setdefault(key_of(row.path), []).append(row)
    keys = list(by_day)
    at = keys.index(wanted) if wanted in by_day else 0
    days = [Day(key, day_of_log(rows[0].path), len(rows), key == keys[at]) for key, rows in by_day.items()]
    shown = number or str(at // DAYS_PAGE + 1)
    # Logs of one day in the order they were written.
    logs = _logs(project, sorted(by_day[keys[at]], key=lambda row: row.path)) if keys else []
    return {
        "days": listed(page_of(days, shown, DAYS_PAGE), lambda day: day),
        "chosen": days[at] if days else None,
        "logs": logs,
        "waiting": _waiting([log["pk"] for log in logs if any(line.mark == "new" for line in log["lines"])]),
        "new_lines": sum(line.mark == "new" for log in logs for line in log["lines"]),
        "newer": keys[at - 1] if at else "",
        "older": keys[at + 1] if at + 1 < len(keys) else "",
    }


def _waiting(logs: Sequence[int]) -> Proposal | None:
    """The open proposal whose dream read all of these logs as they are: when it is submitted, nothing in them is new."""
    read = DreamLog.objects.filter(memory__in=logs, used=False, sha256=F("memory__sha256"))
    found = Proposal.objects.filter(dream__read_logs__in=read, state=Proposal.State.OPEN, partial=False)
    return found.annotate(covered=Count("dream__read_logs")).filter(covered=len(logs)).first()


def key_of(path: str) -> str:
    day = day_of_log(path)
    return day.isoformat() if day else UNDATED


def place(evidence: Evidence) -> str:
    """The address of the line that a piece of evidence quotes."""
    project = evidence.hunk.file.proposal.project_id
    row = Memory.objects.filter(project=project, path=evidence.place).first()
    return address(project, evidence.place, row.pk if row else None, evidence.line_no)


def address(project: int, path: str, memory: int | None, line: int | None) -> str:
    """The address of a line of a log, or of its day if the log is gone."""
    anchor = f"#log-{memory}-{line}" if memory and line else ""
    return f"{reverse('project-logs', args=[project])}?day={key_of(path)}{anchor}"


def _logs(project: Project, rows: Sequence[Memory]) -> list[dict[str, Any]]:
    read = list(daily_logs.read(rows))
    mask = Mask.of(brief.text for _, brief in read)
    became = _became(project, [row.path for row in rows])
    found = []
    for row, brief in read:
        lines = diff.visible(mask(brief.text)).rstrip("\n").split("\n")
        made = [
            LogLine(number, said, _mark(said, is_new=number in brief.new), became.get((row.path, number)))
            for number, said in enumerate(lines[:MOST_LINES], start=1)
        ]
        found.append({"pk": row.pk, "path": row.path, "lines": made, "more": max(0, len(lines) - MOST_LINES)})
    return found


def _mark(line: str, *, is_new: bool) -> Literal["", "heading", "new"]:
    if line.startswith("#"):
        return "heading"
    return "new" if is_new else ""


def _became(project: Project, paths: Iterable[str]) -> dict[tuple[str, int], dict[str, Any]]:
    """By log and line: the memory with its text, or the proposal that would add it."""
    cited = Evidence.objects.filter(
        role="log", place__in=list(paths), line_no__isnull=False, hunk__file__proposal__project=project
    )
    rows = cited.select_related("hunk__file__proposal").order_by("pk")[:MOST_CITED]
    known = dict(project.memories.filter(gone_at__isnull=True).values_list("path", "pk"))
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        file, line = row.hunk.file, (row.place, row.line_no or 0)
        if row.hunk.applied_in_id and not row.hunk.undone_in_id and file.path in known:
            if line not in found or not is_index(file.path):
                found[line] = {
                    "said": f"in {diff.visible(file.path)}",
                    "href": reverse("memory", args=[known[file.path]]),
                }
        elif file.proposal.state == Proposal.State.OPEN:
            found.setdefault(
                line, {"said": "in review", "href": reverse("review", args=[file.proposal.public_id])}
            )
    return found
