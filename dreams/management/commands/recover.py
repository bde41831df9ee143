"""`recover [--abandon WRITE]`: finish or undo what a crash interrupted, or abandon one write."""

from dataclasses import asdict

from dreams.management import base, named
from dreams.services import recovery
from dreams.services.apply import writing


class Command(base.Command):
    help = "Finish or undo writes that a crash interrupted, and report what was done. `serve` does this at every start."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "--abandon",
            metavar="WRITE",
            default="",
            help="give up this interrupted write, whose folder is gone or whose record is damaged",
        )

    def run(self, options: base.Options) -> base.Result:
        if (wanted := options["abandon"]) and not writing.abandon(wanted, named.me()):
            raise base.Refused(
                f"No interrupted write is called {wanted}. `recover` lists those that are waiting."
            )
        found = recovery.recover()
        result = asdict(found)
        if found.problems:
            raise base.Refused(f"Not everything could be recovered. {' '.join(found.problems)}", result)
        return result

    def words(self, result: base.Result) -> base.Words:
        lines = [line for lines in result.values() for line in lines]
        return lines or ["Nothing to recover."]
