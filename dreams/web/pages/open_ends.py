"""The tasks that agents left unfinished in a project, by session, the newest first. Read-only."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from dreams.models import OpenEnd, Project, Session
from dreams.services import open_ends
from dreams.web.paging import Listed, listed, page_of

OPEN_ENDS_PAGE = 200


@dataclass(frozen=True, slots=True)
class Row:
    """`session` is also what the rows are grouped by."""

    session: Session
    subject: str
    status: str
    begun: bool
    blocked_by: list[str]
    line: int
    at: dt.datetime | None


def page(project: Project, number: str | None) -> Listed[Row]:
    rows = open_ends.of_project(project).select_related("session")
    return listed(page_of(rows, number, OPEN_ENDS_PAGE), _row)


def _row(row: OpenEnd) -> Row:
    return Row(
        session=row.session,
        subject=row.subject,
        status=row.get_status_display(),
        begun=row.status == OpenEnd.Status.IN_PROGRESS,
        blocked_by=row.blocked_by,
        line=row.line_no,
        at=row.at,
    )
