"""`verify [PROJECT]`: check everything that is stored."""

from dataclasses import asdict

from dreams.management import base, named
from dreams.services import verifying


class Command(base.Command):
    help = "Read every stored version, journal and audit entry, and report what is damaged or cannot be read. Exits 1 if anything is."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser, optional=True)

    def run(self, options: base.Options) -> base.Result:
        report = verifying.verify(named.any_project(options["project"]))
        result = {
            "ok": not report.problems,
            "checked": report.checked,
            "problems": [asdict(damage) for damage in report.problems],
        }
        if report.problems:
            raise base.Refused(f"{report.sentence}.", result)
        return result

    def words(self, result: base.Result) -> base.Words:
        yield f"Read: {verifying.counted(result['checked'])}."
        for damage in result["problems"]:
            yield f"{damage['what']} ({damage['where']})"
            yield f"  {damage['remedy']}"
        if result["ok"]:
            yield "Everything is as it was written."
