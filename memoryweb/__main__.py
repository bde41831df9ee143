"""All commands of memoryweb: `memoryweb help` if installed, `python manage.py help` in a copy of the source."""

import json
import os
import sys
import textwrap
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from memoryweb import COMMAND_VARIABLE, INSTALLED_COMMAND, STOPPED, version

if TYPE_CHECKING:
    from django.core.management.base import BaseCommand

SYSTEM = os.name
LAST_STREAM = 2  # stderr
USAGE = 2  # exit code
WIDTH = 100  # characters in a line of the list of commands


def main() -> None:
    """The installed command; without a subcommand it runs `serve`."""
    words = sys.argv[1:]
    if not words or (words[0].startswith("--") and words[0] not in ("--help", "--version")):
        words = ["serve", *words]
    run(words, os.environ.get(COMMAND_VARIABLE) or INSTALLED_COMMAND)


def run(words: Sequence[str], command: str) -> None:
    """Runs one command. `command` is what a person types for it, used in remedies."""
    if list(words[:2]) == ["hook", "session-end"]:
        from memoryweb import session_hook  # noqa: PLC0415 - before anything that takes its time

        session_hook.run(words[2:])
    if SYSTEM == "nt":
        sys.exit("memoryweb runs on Linux and macOS. On Windows, install and start it inside WSL2.")
    if list(words) in (["--version"], ["version"]):
        sys.stdout.write(f"memoryweb {version()}\n")
        return
    _complete_streams()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
    os.environ[COMMAND_VARIABLE] = command
    try:
        _execute([command.rsplit(maxsplit=1)[-1], *words])
    except KeyboardInterrupt:  # during the start; later each command handles it
        sys.stderr.write("Stopped.\n")
        sys.exit(STOPPED)


def _execute(typed: list[str]) -> None:
    try:
        from django.core.exceptions import ImproperlyConfigured  # noqa: PLC0415 - it may be missing
        from django.core.management import ManagementUtility, get_commands  # noqa: PLC0415
    except ImportError:
        sys.exit("Django is not installed here. Run `make install`, then use .venv/bin/python manage.py.")

    def wrapped(text: str, later: str) -> str:
        return textwrap.fill(text, WIDTH, subsequent_indent=later, break_on_hyphens=False)

    class Commands(ManagementUtility):
        def fetch_command(self, subcommand: str) -> "BaseCommand":
            try:
                return super().fetch_command(subcommand)
            except SystemExit as unknown:  # Django exits with the code of a failure
                sys.exit(unknown.code and USAGE)

        def main_help_text(self, commands_only: bool = False) -> str:
            """What each command of memoryweb does, in a sentence; Django's are named below."""
            if commands_only:
                return super().main_help_text(commands_only=True)
            if self.settings_exception:  # none of ours is listed then
                raise self.settings_exception
            found = sorted(get_commands().items())
            ours = {name: _does(name) for name, app in found if app == "dreams"}
            rows = [wrapped(f"  {name:16}{does}.", " " * 18) for name, does in ours.items()]
            django = wrapped("  " + ", ".join(name for name, _ in found if name not in ours), "  ")
            title = f"Commands. `{self.prog_name} COMMAND --help` has the options of each."
            return "\n".join([title, "", *rows, "", "Commands of Django and its queue:", "", django])

    try:
        Commands(typed).execute()
    except ImproperlyConfigured as error:
        told = f"memoryweb cannot start: {error}"
        if "--json" in typed:
            sys.stdout.write(json.dumps({"error": told}) + "\n")
        sys.exit(told)


def _does(name: str) -> str:
    """The first sentence of a command's help, read from its text: importing all commands takes half a second more."""
    import ast  # noqa: PLC0415 - only here

    commands = Path(__file__).parents[1] / "dreams/management/commands"
    text = (commands / f"{name}.py").read_text("utf-8")
    lines = (line for one in ast.parse(text).body if isinstance(one, ast.ClassDef) for line in one.body)
    [told] = (
        ast.literal_eval(line.value)
        for line in lines
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "help"
    )
    return str(told).partition(". ")[0].rstrip(".")


def _complete_streams() -> None:
    """Opens standard streams that were closed by the parent, so that no other file gets their numbers. Characters that the
    terminal does not support are escaped."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= LAST_STREAM:
        os.set_inheritable(spare, True)
    os.close(spare)
    sys.stdin, sys.stdout, sys.stderr = (
        os.fdopen(number, mode) if stream is None else stream
        for number, (stream, mode) in enumerate(((sys.stdin, "r"), (sys.stdout, "w"), (sys.stderr, "w")))
    )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


if __name__ == "__main__":
    main()
