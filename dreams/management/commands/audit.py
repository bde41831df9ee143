"""`audit [PROJECT]`: the audit log, newest first, as sentences with ids."""

from dreams.management import base, named
from dreams.models import AuditEntry
from dreams.services import auditlog, lookup
from dreams.services.audit_sentences import Sentences

LIMIT = 10_000  # rows at once; chosen


class Command(base.Command):
    help = "List the audit log in sentences, newest first."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser, optional=True)
        parser.add_argument(
            "--action",
            choices=sorted(auditlog.ACTIONS),
            metavar="ACTION",
            help="only this action, such as review.submitted; an unknown one lists them all",
        )
        parser.add_argument("--limit", type=base.limit, default=50, help=f"rows, at most {LIMIT}")
        parser.add_argument(
            "--explain",
            metavar="REASON",
            help="record why the newest entries are missing, so that `verify` no longer reports them",
        )

    def run(self, options: base.Options) -> base.Result:
        if options["explain"] is not None:
            if not options["explain"].strip():
                raise base.BadUsage("The reason is empty. Say why the entries are missing.")
            if not auditlog.cut_off():
                raise base.Refused("No newest entry is missing, so there is nothing to explain.")
            auditlog.explain_cut(named.me().name, options["explain"])
        rows = AuditEntry.objects.order_by("-number")
        if options["project"] is not None:
            rows = rows.filter(project_id_was=lookup.project(options["project"]).pk)
        if options["action"]:
            rows = rows.filter(action=options["action"])
        found = list(rows[: min(options["limit"], LIMIT)])
        told = Sentences.of(found)
        return {"entries": [_shown(row, told.sentence(row)) for row in found]}

    def words(self, result: base.Result) -> base.Words:
        rows = [
            (e["number"], e["at"].isoformat()[:19], e["sentence"], e["object_id"]) for e in result["entries"]
        ]
        return base.table(("no.", "when", "what happened", "id"), rows)


def _shown(row: AuditEntry, sentence: str) -> base.Result:
    shown = base.fields(row, "number", "at", "action", "actor", "object_id", "batch", "data")
    return {**shown, "sentence": sentence, "project": row.project_label}
