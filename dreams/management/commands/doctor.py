"""`doctor`: what is installed, what runs, and what would prevent a dream."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict

from django.db import DatabaseError

from dreams.lib.files.text import plural
from dreams.management import base
from dreams.services import database, doctor, hosts

SIGNS: Mapping[doctor.State, str] = {"ok": "ok", "warn": "note", "bad": "STOPS", "info": "-"}


class Command(base.Command):
    help = (
        "Say what is installed and what would stop a dream, each with the remedy. Exit 1 when something does."
    )
    # It must also work if the database cannot be created.
    needs_database = False

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "--thorough", action="store_true", help="also read back everything that is stored"
        )
        parser.add_argument(
            "--connection", action="store_true", help="also send the model one short question"
        )

        parser.add_argument(
            "--host",
            metavar="NAME",
            type=base.some_text,
            help="show what the database knows about another host",
        )

    def run(self, options: base.Options) -> base.Result:
        # A missing database is no problem at the first start; the checks report why it cannot be created.
        with suppress(database.DatabaseUnavailable, DatabaseError, OSError):
            database.ensure()
            hosts.register()
        found = _found(options)
        bad = [check for check in found if check.state == "bad"]
        result = {"ok": not bad, "checks": [asdict(check) for check in found]}
        if bad:
            names = ", ".join(check.name for check in bad)
            raise base.Refused(f"{plural(len(bad), 'thing stops', 'things stop')} dreams: {names}.", result)
        return result

    def words(self, result: base.Result) -> base.Words:
        checks = result["checks"]
        said = [". ".join(filter(None, (check["said"], check["detail"]))) for check in checks]
        rows = [(SIGNS[c["state"]], c["name"], found) for c, found in zip(checks, said, strict=True)]
        yield from base.table(("", "what", "found"), rows)
        remedies = [f"{check['name']}: {check['remedy']}" for check in checks if check["remedy"]]
        if remedies:
            yield from ("", "What to do:", *(f"  {line}" for line in remedies))


def _found(options: base.Options) -> list[doctor.Check]:
    """The checks of this host or the named one. Raises Refused."""
    name = options["host"]
    one = next((one for one in hosts.known() if one.name == name), None) if name else None
    if name and one is None:
        raise base.Refused(f"No host is called {name}. `hosts` lists them.")
    if one is not None and not one.is_here:
        return doctor.examine_other(one)
    return doctor.examine(thorough=bool(options["thorough"]), connection=bool(options["connection"]))
