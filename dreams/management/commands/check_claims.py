"""`check_claims --transcripts DIR --batch`: check whether sessions support claims. Needs no database."""

from collections.abc import Callable
from functools import partial

from dreams.lib.prose.claims.answers import ClaimCheck
from dreams.lib.prose.claims.sessions import Sessions
from dreams.management import base, batch
from dreams.management.batch import BatchCommand


class Command(BatchCommand):
    help = (
        "Read JSON lines {claim, transcript?, before_line?} and print one JSON line for each: "
        "{verdict, evidence: [{session, line, quote, role}], why, only_tools}. The transcript is a path below DIR; without one, all "
        "are searched. only_tools: only tool output or web pages support it."
    )

    def arguments(self, parser: base.CommandParser) -> None:
        super().arguments(parser)
        parser.add_argument(
            "--transcripts", metavar="DIR", required=True, help="folder that contains the sessions"
        )

    def replying(self, options: base.Options) -> Callable[[batch.Row], batch.Row]:
        folder = str(options["transcripts"])
        try:
            return partial(_reply, Sessions(folder))
        except OSError as error:
            why = error.strerror or error
            raise base.Refused(f"{folder} cannot be read ({why}). Name an existing directory.") from error


def _reply(sessions: Sessions, row: batch.Row) -> batch.Row:
    claim = batch.text_of(row, "claim")
    if row.get("transcript") is None:
        if row.get("before_line") is not None:
            raise ValueError("'before_line' needs a 'transcript' whose line it is")
        session, found = sessions.check_all(claim)
    else:
        session = batch.text_of(row, "transcript")
        found = sessions.check(claim, session, _line(row))
    return _shown(session, found)


def _line(row: batch.Row) -> int | None:
    line = row.get("before_line")
    if line is None:
        return None
    if not isinstance(line, int) or isinstance(line, bool) or line < 1:
        raise ValueError("'before_line' must be a whole number, 1 or more")
    return line


def _shown(session: str, found: ClaimCheck) -> batch.Row:
    quotes = [{"session": session, "line": q.line, "quote": q.quote, "role": q.role} for q in found.evidence]
    return {
        "verdict": found.answer,
        "evidence": quotes,
        "why": found.why,
        "only_tools": found.only_foreign,
    }
