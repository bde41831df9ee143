"""`readonly_shell`: run an agent's command lines on mounted directories. Needs no database."""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from dreams.lib.files.safefs import Root, SafeFsError
from dreams.lib.json_worker import WorkerFailed
from dreams.lib.sandbox import CommandOutput, Mount, Tree
from dreams.lib.sandbox.mounts import trouble
from dreams.lib.sandbox.tool_worker import Mounts, ToolWorker
from dreams.management import base, batch


class Command(base.Command):
    help = (
        "Run read-only command lines in the agent's sandbox. With --batch, read JSON lines {cmd} and print one "
        "JSON line for each: {cmd, refused, output, exit_code, ms}. With -c, print the output and exit with the "
        "line's own status. A mount named repo hides .git and what git ignores."
    )
    needs_database = False

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "--mount",
            action="append",
            required=True,
            metavar="NAME=DIR",
            help="make DIR available as /NAME; may be repeated",
        )
        parser.add_argument(
            "--cwd",
            metavar="DIR",
            type=base.some_text,
            help="where to start: a path below a mount (default: /)",
        )
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("-c", dest="line", metavar="CMD", help="one command line")
        what.add_argument("--batch", action="store_true", help="read JSON lines from standard input")

    def run(self, options: base.Options) -> base.Result | None:
        mounts = [_mounted(text) for text in options["mount"]]
        names = Counter(mount.name for mount in mounts)
        if twice := [name for name, count in names.items() if count > 1]:
            raise base.BadUsage(f"--mount {twice[0]} is given twice: name each mount once")
        tree = Tree(mounts)
        try:
            cwd = _start(tree, options["cwd"])
            shell = _open(tree.mounts)
        finally:
            tree.close()
        try:
            if options["batch"]:
                batch.answer_standard_input(lambda row: _shown(batch.text_of(row, "cmd"), shell, cwd))
            elif options["json"]:
                return _shown(options["line"], shell, cwd)
            else:
                _print(shell.run_line(options["line"], cwd))
        finally:
            shell.close()
        return None


def _open(mounts: Iterable[Mount]) -> ToolWorker:
    """The same worker as in a dream, but restarted whenever a line kills it."""
    rows = tuple((mount.name, mount.stands_for[0], mount.stands_for) for mount in mounts)
    try:
        return ToolWorker(Mounts(rows), most_starts=sys.maxsize)
    except WorkerFailed as error:
        raise base.Refused(f"the sandbox did not start ({error}); `doctor` says more") from error


def _mounted(text: str) -> Mount:
    name, equals, folder = text.partition("=")
    if not equals or not folder or not name.strip("/") or ".." in name.split("/"):
        raise base.BadUsage(f"--mount {text!r}: write NAME=DIR, for example memory=/home/me/notes")
    try:
        root = Root.open(folder)
    except (OSError, SafeFsError) as error:
        raise base.Refused(
            f"--mount {text!r}: {trouble(error)}; name a directory that can be read"
        ) from error
    name = name.strip("/")
    path = Path(folder).absolute()
    # The resolved path is first: it determines which mount is below which.
    names = tuple(dict.fromkeys((str(path.resolve()), str(path))))
    return Mount(name, root, names)


def _start(tree: Tree, cwd: str | None) -> str:
    path = cwd or "/"
    for spelling in (path, str(Path(path).absolute())):
        try:
            tree.entries(tree.place(spelling, "/"))
        except (OSError, SafeFsError):
            continue
        return spelling
    raise base.BadUsage(f"--cwd {path!r} is no directory below a mount")


def _shown(line: str, shell: ToolWorker, cwd: str) -> batch.Row:
    answer = shell.run_line(line, cwd)
    return {"cmd": line, **base.fields(answer, "refused", "output", "exit_code", "ms")}


def _print(answer: CommandOutput) -> None:
    out = sys.stderr if answer.refused else sys.stdout
    out.write(answer.output)
    out.flush()
    if answer.exit_code:
        raise SystemExit(answer.exit_code)
