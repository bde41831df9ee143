"""Shared parts of all commands: JSON or text, exit codes, one line for a failure, and slugs as arguments.

Exit 0 done, 1 refused or failed, 2 usage. With `--json`, stdout has exactly one JSON object, with the message as `error`
if the exit code is not 0; messages go to stderr. No traceback is shown: an unexpected error is one line, and its
traceback goes to a log file.
"""

import argparse
import datetime as dt
import json
import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser, SystemCheckError
from django.db import DatabaseError, connections

from dreams.lib import diff, progress
from dreams.lib.files import flush
from dreams.lib.files.text import columns, is_there
from dreams.lib.refusal import Ambiguous, Refusal
from memoryweb import STOPPED, faults

if TYPE_CHECKING:
    from dreams.services.secret_paths import SecretPaths

DONE, REFUSED, USAGE = 0, 1, 2
# The parsed arguments, the object that `--json` prints, and its lines for a person.
Options = Mapping[str, Any]
Result = Mapping[str, Any]
Words = Iterable[str]
# A slug begins with "-", like an option. During parsing it is prefixed with a character that no argument can
# contain.
SHIELD = "\0"
# When progress is first shown, and how often.
QUIET_SECONDS, EVERY_SECONDS = 1.0, 0.2
# What a terminal may act on and JSON leaves as it is: control characters, and those that turn a line around.
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
LAST_PORT = 65_535  # the largest of TCP


class Refused(Exception):
    """The command cannot do it: one line for a person, exit 1. `result` is still printed."""

    def __init__(self, message: str, result: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.result = result


class BadUsage(Exception):
    """The arguments do not make sense: one line for a person, exit 2."""


class Unwritten(OSError):
    """The output could not be written."""


class Command(BaseCommand):
    """Base of all commands. Subclasses define `arguments` and `run`; the result of `run` is printed."""

    needs_database = True
    has_json = True
    is_watched = False  # a person waits for its first line, so stderr says why that takes long
    # Django's own options work, but help and usage name only the command's: they are what a person looks for.
    suppressed_base_arguments = {
        "--version",
        "--verbosity",
        "--settings",
        "--pythonpath",
        "--traceback",
        "--no-color",
        "--force-color",
    }
    requires_system_checks: Sequence[str] = ()  # type: ignore[assignment] # checks run in _checked, with one line a fault

    def arguments(self, parser: CommandParser) -> None:
        """Adds the command's arguments."""

    def run(self, options: Options) -> Result | None:
        """Runs the command. `--json` prints the result. Raises Refused, BadUsage or a service's Refusal."""
        raise NotImplementedError

    def words(self, result: Result) -> Words:
        """The result as lines for a person."""
        return [json.dumps(result, indent=2, ensure_ascii=False, default=as_json)]

    # --- Parsing --------------------------------------------------------------------------------------------------

    def add_arguments(self, parser: CommandParser) -> None:
        if self.has_json:
            parser.add_argument("--json", action="store_true", help="print one JSON object")
        self.arguments(parser)

    def run_from_argv(self, argv: list[str]) -> NoReturn:
        self._called_from_command_line = True  # so a usage error exits with 2 instead of raising
        parser = self.create_parser(argv[0], argv[1])
        arguments = parsed(parser, argv[2:])
        try:
            code = self._guarded(arguments)
            sys.stdout.flush()
        except OSError as error:
            code = self._unwritten(error)
        for connection in connections.all(initialized_only=True):
            connection.close()
        sys.exit(code)

    def handle(self, *args: Any, **options: Any) -> None:
        """For `call_command`: the same, with exceptions instead of exit codes."""
        self._begin(options)
        self._print(self._answer(options), options)

    def _answer(self, options: Mapping[str, Any]) -> Mapping[str, Any] | None:
        paths = self._paths()
        try:
            with progress_in_terminal():
                return self.run({key: paths.meant(value) for key, value in options.items()})
        except Ambiguous as unclear:
            raise BadUsage(str(unclear)) from unclear
        except Refusal as refused:
            raise Refused(str(refused)) from refused

    # --- Running --------------------------------------------------------------------------------------------------

    def _guarded(self, options: Mapping[str, Any]) -> int:
        try:
            self._begin(options)
            self._print(self._answer(options), options)
        except Refused as refused:
            return self._fail(str(refused), REFUSED, options, refused.result)
        except BadUsage as error:
            return self._fail(str(error), USAGE, options)
        except (CommandError, ImproperlyConfigured) as error:
            return self._fail(str(error), REFUSED, options)
        except SystemCheckError as error:
            return self._fail(" ".join(str(error).split()), REFUSED, options)
        except KeyboardInterrupt:
            return self._fail("Stopped.", STOPPED, options)
        except UnicodeEncodeError as error:
            told = f"{error.object!a} is not text in the encoding of this terminal."
            return self._fail(told, REFUSED, options)
        except (BrokenPipeError, Unwritten):
            raise
        except Exception as error:
            kept = faults.keep(faults.file_in(Path(settings.DATA_DIR)), traceback.format_exc())
            return self._fail(f"{fault(error)} {kept}", REFUSED, options)
        return DONE

    def _unwritten(self, error: OSError) -> int:
        """The reader has closed the pipe, like `head`, or the disk is full."""
        # Flushing the buffer at exit would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return REFUSED
        return self._fail(
            f"The answer could not be written ({error.strerror}). Write it elsewhere.", REFUSED, {}
        )

    def _begin(self, options: Mapping[str, Any]) -> None:
        from dreams.services import database, hosts  # noqa: PLC0415 - commands without a database start faster

        if options.get("verbosity", 1) > 1:
            logging.getLogger().setLevel(logging.INFO)
        self._checked()
        if self.needs_database:
            try:
                database.ensure(self.stderr.write if self.is_watched else None)
                hosts.register()
            except database.DatabaseUnavailable as error:
                raise Refused(str(error)) from error

    def _checked(self) -> None:
        """Runs only our checks: Django's import all views, which takes longer than most commands."""
        from django.core.checks import ERROR  # noqa: PLC0415 - as above
        from django.core.checks.registry import registry  # noqa: PLC0415 - as above

        if not self.needs_database:
            return
        ours = [check for check in registry.get_checks() if check.__module__ == "dreams.conf"]
        errors = [
            error
            for check in ours
            for error in check(app_configs=None, databases=None)
            if error.level >= ERROR
        ]
        if errors:
            raise Refused(
                " ".join(f"{error.msg.rstrip('.')}. {error.hint or ''}".strip() for error in errors)
            )

    def _print(self, result: Mapping[str, Any] | None, options: Mapping[str, Any]) -> None:
        try:
            self._write(result, options)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Unwritten(error.errno, error.strerror) from error

    def _write(self, result: Mapping[str, Any] | None, options: Mapping[str, Any]) -> None:
        if result is None:
            return
        mask = self._paths().mask
        if options.get("json"):
            is_utf8 = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
            made = mask(json.dumps(result, ensure_ascii=not is_utf8, default=as_json))
            self.stdout.write(_UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", made))
        else:
            for line in self.words(result):
                self.stdout.write(diff.visible(mask(line)))

    def _paths(self) -> "SecretPaths":
        """File names with secrets: masked in the output, accepted masked as arguments."""
        from dreams.services import secret_paths  # noqa: PLC0415 - imports the tables, which not every command needs

        return secret_paths.known() if self.needs_database else secret_paths.NONE

    def _fail(
        self, message: str, code: int, options: Mapping[str, Any], result: Mapping[str, Any] | None = None
    ) -> int:
        if options.get("json"):
            result = {**(result or {}), "error": (result or {}).get("error") or message}
        self._print(result, options)
        self.stderr.write(self._for_terminal(message))
        return code

    def say(self, message: str) -> None:
        """Prints progress and remarks to stderr, so that stdout has only the result."""
        self.stderr.write(self._for_terminal(message), self.style.NOTICE)

    def _for_terminal(self, text: str) -> str:
        """The text for a terminal, without secrets in names and without control characters, which could move the cursor."""
        return in_one_line(diff.visible(self._paths().mask(text)))


def parsed(parser: CommandParser, words: Sequence[str]) -> dict[str, Any]:
    """The command's arguments; a usage error ends the process with 2.

    Intermixed, because plain argparse rejects an optional word after an option: `history SLUG --json PATH`.
    """
    complain = parser.error

    def refuse(message: str) -> None:
        told = message.replace(SHIELD, "")
        if "--json" in words:
            sys.stdout.write(json.dumps({"error": told}) + "\n")
        complain(told)

    parser.error = refuse  # type: ignore[method-assign]  # for one parse
    known = frozenset(name for action in parser._actions for name in action.option_strings)
    found = vars(parser.parse_intermixed_args(shielded(words, known)))
    return {key: unshielded(value) for key, value in found.items()}


def shielded(arguments: Sequence[str], known: frozenset[str]) -> list[str]:
    """`arguments` with the shield before words that start with a single `-` and are not options of this command.

    `--anything` is not shielded, so that a mistyped option is still a usage error. After a bare `--` nothing is an
    option; the `--` itself is removed, as intermixed parsing would lose what follows it.
    """
    found: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return found + [SHIELD + word for word in arguments[position + 1 :]]
        is_value = argument.startswith("-") and not argument.startswith("--") and argument not in known
        # argparse recognises negative numbers, and could not convert a shielded one.
        found.append(SHIELD + argument if is_value and not argument[1:].isdecimal() else argument)
    return found


def unshielded(value: Any) -> Any:
    if isinstance(value, str):
        return value.removeprefix(SHIELD)
    if isinstance(value, Path):
        return Path(str(value).removeprefix(SHIELD))
    if isinstance(value, list):
        return [unshielded(part) for part in value]
    return value


@contextmanager
def progress_in_terminal() -> Iterator[None]:
    """Shows the progress of long work on one line of a terminal; Ctrl-C stops it cleanly."""
    if not sys.stderr.isatty():
        yield
        return
    shown_at, began = 0.0, time.monotonic()

    def tell(what: str, done: int, total: int) -> None:
        nonlocal shown_at
        now = time.monotonic()
        if now - began > QUIET_SECONDS and now - shown_at > EVERY_SECONDS:
            shown_at = now
            said = f"{what}: {done:,} of {total:,}" if total else f"{what}…"
            sys.stderr.write(f"\r\033[K{said}{' (Ctrl-C stops)' if progress.can_stop() else ''}")
            sys.stderr.flush()

    try:
        with progress.watched(tell):
            yield
    finally:
        if shown_at:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def fault(error: Exception) -> str:
    """An unexpected error in one line."""
    from dreams.services import database  # noqa: PLC0415 - as above

    if database.is_away(error):
        return f"{database.why_away(error)} Start it, then try again."
    if database.is_damaged(error):
        return database.why_damaged(error)
    if isinstance(error, DatabaseError):
        return (
            f"The database cannot be used: {error}. Check its disk ({settings.DATA_DIR}); then `recover` finishes or undoes "
            "what was begun. `doctor` says more."
        )
    if isinstance(error, OSError) and error.errno:
        return flush.refusal(error, "")
    return f"An unexpected fault: {type(error).__name__}: {error}."


def refusal(error: OSError, file: Path) -> str:
    """Why the file that a person named cannot be read or written; `error` may name a temporary file instead."""
    return flush.refusal(OSError(error.errno, error.strerror), file)


def path(given: str | Path) -> Path:
    """A typed path as an absolute one; `~` is the home folder. Raises BadUsage."""
    try:
        return Path(given).expanduser().absolute()
    except RuntimeError as error:
        raise BadUsage(f"{given}: there is no such home folder.") from error


def config_folder(given: str | Path) -> Path:
    """A typed `--root` as an absolute path. Raises BadUsage; Refused if it is no folder, or out of reach."""
    folder = path(given)
    try:
        is_folder = is_there(folder) and folder.is_dir()
    except OSError as error:
        raise Refused(refusal(error, folder)) from error
    if not is_folder:
        raise Refused(f"There is no folder {folder}. Give an agent's config folder, such as ~/.claude.")
    return folder


def some_path(text: str) -> Path:
    """The argparse type of a path, which is not empty, as of a variable without a value: that is not the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("A path is empty. Name a folder or a file.")
    return Path(text)


def some_text(text: str) -> str:
    """The argparse type of what a variable without a value must not leave out: that would be all, or the default."""
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text


def port(text: str) -> int:
    """The argparse type of `--port`."""
    if text.isdecimal() and int(text) <= LAST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(f"a port is a number from 0 to {LAST_PORT}, not {text!r}")


def limit(text: str) -> int:
    """The argparse type of `--limit`."""
    if text.isdecimal() and int(text):
        return int(text)
    raise argparse.ArgumentTypeError(f"a limit is a number from 1, not {text!r}")


def as_json(value: Any) -> Any:
    """Times as ISO 8601, paths and everything else as text."""
    return value.isoformat() if isinstance(value, dt.datetime | dt.date) else str(value)


def fields(row: object, *names: str) -> dict[str, Any]:
    """The attributes of a row with these names."""
    return {name: getattr(row, name) for name in names}


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Lines with aligned columns; a line break in a file's name does not start a new row."""
    return columns([head, *([in_one_line(str(cell)) for cell in row] for row in rows)])


def in_one_line(text: str) -> str:
    """A file's name may have a tab or a line feed, which `diff.visible` leaves, as texts have them too."""
    return text.replace("\n", "⟨U+000A⟩").replace("\t", "⟨U+0009⟩")
