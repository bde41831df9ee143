"""`password`: set the password of an account; required if other machines can reach the pages."""

import getpass
import sys

from dreams.management import base
from dreams.services import login

MOST_CHARACTERS = 1_000  # the most that are read; chosen


class Command(base.Command):
    help = "Set the password of your account, or of the account NAME. It is asked for twice, or read from stdin (one line)."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("name", nargs="?", default="", metavar="NAME")

    def run(self, options: base.Options) -> base.Result:
        login.set_password(options["name"], _asked())
        return {"set": True}

    def words(self, result: base.Result) -> list[str]:
        return ["The password is set."]


def _asked() -> str:
    """Asks twice. Raises Refused if the answers differ."""
    if not sys.stdin.isatty():
        return sys.stdin.readline(MOST_CHARACTERS).rstrip("\r\n")
    first = getpass.getpass("Password: ")
    if getpass.getpass("Once more: ") != first:
        raise base.Refused("The two passwords differ. Nothing was changed.")
    return first
