"""`settings export FILE`, `settings import FILE`: settings and policies that differ from the defaults."""

from pathlib import Path

from dreams.lib.files.text import plural
from dreams.management import base, named
from dreams.services import settings_changes


class Command(base.Command):
    help = "Save settings and policies to a file, or set them from one."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("action", choices=("export", "import"))
        parser.add_argument("file", type=base.some_path, metavar="FILE")

    def run(self, options: base.Options) -> base.Result:
        path: Path = options["file"]
        try:
            if options["action"] == "export":
                found = settings_changes.write(path)
                count = len(found["everywhere"]) + sum(map(len, found["projects"].values()))
                done = settings_changes.Imported(count, len(found["policies"]))
            else:
                done = settings_changes.read(path, named.me().name)
        except OSError as error:
            raise base.Refused(base.refusal(error, path)) from error
        return {"file": str(path), **base.fields(done, "settings", "policies", "unknown")}

    def words(self, result: base.Result) -> base.Words:
        policies = plural(result["policies"], "policy", "policies")
        yield f"{result['file']}: {plural(result['settings'], 'setting')} and {policies}."
        for name in result["unknown"]:
            yield f"  not known here: {name}"
