"""`hosts`: list the installations that share this database, set which of them accept requests, take over a former one."""

from dataclasses import asdict

from django.utils import timezone

from dreams.lib import amounts
from dreams.lib.files.text import plural
from dreams.management import base, named
from dreams.services import host_requests, hosts


class Command(base.Command):
    help = "List the hosts of this database. accept: carry out requests from other hosts here; decline: stop doing so; adopt NAME: take over all projects of a former host."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "action", nargs="?", choices=["list", "accept", "decline", "adopt"], default="list"
        )
        parser.add_argument("name", nargs="?", default="", metavar="NAME", help="a former host's name")

    def run(self, options: base.Options) -> base.Result:
        if (options["action"] == "adopt") != bool(options["name"]):
            raise base.BadUsage("Only `hosts adopt` takes a NAME, and it needs one.")
        if options["action"] in ("accept", "decline"):
            host_requests.set_accepts(options["action"] == "accept", named.me().name)
        if options["action"] != "adopt":
            return {"hosts": [asdict(one) for one in hosts.known()]}
        return asdict(hosts.adopt(options["name"], named.me().name))

    def words(self, result: base.Result) -> base.Words:
        if "hosts" in result:
            yield from base.table(
                ("", "Host", "Projects", "Last seen", "Takes requests"),
                [_row(one) for one in result["hosts"]],
            )
            return
        yield f"{plural(len(result['moved']), 'project')} moved to this host. `discover` brings them up to date."
        for slug in result["left"]:
            yield f"Left {slug}: it has history under both names. Its earlier history is still on its page."


def _row(one: base.Result) -> tuple[object, ...]:
    seen = amounts.ago(one["last_seen"], timezone.now()) if one["last_seen"] else "never"
    return (
        "*" if one["is_here"] else "",
        one["name"],
        one["projects"],
        seen,
        "yes" if one["accepts"] else "no",
    )
