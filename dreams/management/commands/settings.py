"""`settings export FILE`, `settings import FILE`: settings and policies that differ from the defaults."""

from pathlib import Path

from dreams.lib.files.text import plural
from dreams.management import base, named
from dreams.services import settings_changes


class Command(base.Command):
    help = "Save settings and policies to a file, or set them from one."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("action", choices=("export", "import"))
        parser.add_argument("file", type=Path, metavar="FILE")

    def run(self, options: base.Options) -> base.Result:
        path: Path = options["file"]
        try:
            if options["action"] == "export":
                found = settings_changes.write(path)
                count = len(found["everywhere"]) + sum(map(len, found["projects"].values()))
                return {
                    "file": str(path),
                    "settings": count,
                    "policies": len(found["policies"]),
                    "unknown": [],
                }
            done = settings_changes.read(path, named.me().name)
        except OSError as error:
            raise base.Refused(base.refusal(error, path)) from error
        return {
            "file": str(path),
            "settings": done.settings,
            "policies": done.policies,
            "unknown": done.unknown,
        }

    def words(self, result: base.Result) -> base.Words:
        settings, policies = (
            plural(result["settings"], "setting"),
            plural(result["policies"], "policy", "policies"),
        )
        yield f"{result['file']}: {settings} and {policies}."
        for name in result["unknown"]:
            yield f"  not known here: {name}"
