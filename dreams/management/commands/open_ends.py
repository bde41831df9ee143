"""`open_ends PROJECT`: the tasks that agents left unfinished."""

from dreams.management import base, named
from dreams.models import OpenEnd
from dreams.services import lookup, session_notes

MOST_LISTED = 200  # rows at once; chosen


class Command(base.Command):
    help = "List the tasks that agents noted in sessions and did not finish, newest session first."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)

    def run(self, options: base.Options) -> base.Result:
        rows = session_notes.open_ends(lookup.project(options["project"]))
        listed = [_row(one) for one in rows.select_related("session")[:MOST_LISTED]]
        return {"open_ends": listed, "total": rows.count()}

    def words(self, result: base.Result) -> base.Words:
        listed, total = result["open_ends"], result["total"]
        if not listed:
            return ["No open ends."]
        head = ("Task", "Status", "Waits for", "Session", "Line", "Last seen")
        rows = [
            (
                one["subject"],
                one["status"].replace("_", " "),
                "; ".join(one["blocked_by"]),
                one["session"],
                one["line"],
                one["last_seen"] or "",
            )
            for one in listed
        ]
        more = [f"{total - len(listed)} more are on the project’s page."] if total > len(listed) else []
        return [*base.table(head, rows), *more]


def _row(one: OpenEnd) -> base.Result:
    return {
        **base.fields(one, "subject", "status", "blocked_by"),
        "session": one.session.session_id,
        "title": one.session.title,
        "line": one.line_no,
        "last_seen": one.at.isoformat() if one.at else None,
    }
