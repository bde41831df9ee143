"""`findings BEFORE_DIR AFTER_DIR`: all findings on a change by anyone. Needs no database."""

from pathlib import Path

from dreams import findings
from dreams.findings import directories
from dreams.findings.directories import Said, with_citations
from dreams.findings.examining import keys_in, rule_of
from dreams.lib.files import text
from dreams.lib.secrets.redact import without_keys
from dreams.management import base, named


class Command(base.Command):
    help = (
        "List all findings between two versions of a memory directory, and what became of each removed line."
    )
    needs_database = False

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("before", metavar="BEFORE_DIR", type=base.some_path)
        parser.add_argument("after", metavar="AFTER_DIR", type=base.some_path)
        parser.add_argument("--explain", action="store_true", help="name the rule behind each finding")
        parser.add_argument(
            "--transcripts", metavar="DIR", type=base.some_path, help="search these sessions for evidence"
        )

    def run(self, options: base.Options) -> base.Result:
        self.explain = options["explain"]
        subject = directories.compare(_read(options["before"]), _read(options["after"]))
        if options["transcripts"]:
            try:
                said = Said(directories.turns_below(options["transcripts"]))
            except OSError as error:
                raise base.Refused(_unreadable(options["transcripts"], error)) from error
            subject = with_citations(subject, said)
        report, keys = findings.examine(subject), keys_in(subject)
        return {
            "findings": [_finding(found) for found in report.findings],
            "ledger": [_row(row, keys) for row in report.ledger],
            "worst": report.worst(),
        }

    def words(self, result: base.Result) -> base.Words:
        for found in result["findings"]:
            yield from named.words(found, explain=self.explain)
        for row in result["ledger"]:
            place = f" {row['target_path']}:{row['target_line']}" if row["target_path"] else ""
            note = f" ({row['note']})" if row["note"] else ""
            yield f"{row['fate']}{place}: {row['text'].strip()}{note}"
        if not result["findings"] and not result["ledger"]:
            yield "No findings for this change."


def _read(folder: Path) -> directories.Directory:
    try:
        return directories.read(folder)
    except OSError as error:
        raise base.Refused(_unreadable(folder, error)) from error


def _unreadable(folder: Path, error: OSError) -> str:
    return f"{folder} cannot be read ({error.strerror or error}). Name an existing directory."


def _finding(found: findings.NewFinding) -> base.Result:
    return {
        **base.fields(found, "check", "code", "severity"),
        "path": text.storable(found.path),
        "hunk": found.hunk_id,
        "line": found.line_no,
        "message": text.storable(found.message),
        "remedy": text.storable(found.remedy),
        "rule": text.storable(rule_of(found.check, found.code, found.message_parts.detail)),
    }


def _row(row: findings.RemovedLine, keys: str) -> base.Result:
    return {
        "path": text.storable(row.path),
        "hunk": row.hunk_id,
        "text": text.storable(without_keys(row.text, keys)),
        "fate": row.fate,
        "target_path": text.storable(row.target_path),
        "target_line": row.target_line,
        "target_text": text.storable(without_keys(row.target_text, keys)),
        "note": text.storable(row.note),
    }
