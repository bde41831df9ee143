"""The available commands, by name. Each is compiled from its arguments (which may raise Refused) and then run."""

from ..process import Compile
from . import compare, file_info, filters, find, grep, jq, ls, print_files, sed, shell_builtins, sort

_COMMANDS: dict[str, Compile] = {
    **compare.COMMANDS,
    **file_info.COMMANDS,
    **filters.COMMANDS,
    **find.COMMANDS,
    **grep.COMMANDS,
    **jq.COMMANDS,
    **ls.COMMANDS,
    **print_files.COMMANDS,
    **sed.COMMANDS,
    **shell_builtins.COMMANDS,
    **sort.COMMANDS,
}


def find_command(name: str) -> Compile | None:
    """The command with this exact name; `./cat` and `/bin/cat` are other programs and not available."""
    return _COMMANDS.get(name)


# What to use instead of unavailable commands.
_INSTEAD = {
    **dict.fromkeys(("ag", "ack"), "rg"),
    **dict.fromkeys(("less", "more"), "cat or head"),
    **dict.fromkeys(("xxd", "od", "hexdump"), "cat -A"),
    **dict.fromkeys(("exa", "eza"), "ls"),
    **dict.fromkeys(("md5sum", "sha1sum", "sha512sum"), "sha256sum"),
    **dict.fromkeys(("for", "while"), "a wildcard, as in head -n 3 *.md"),
    **dict.fromkeys(("egrep", "fgrep"), "grep -E or grep -F"),
    **dict.fromkeys(("python", "python3", "perl", "node"), "sed, cut, sort, uniq or jq"),
    **dict.fromkeys(
        ("rm", "mv", "cp", "ln", "mkdir", "touch", "tee", "chmod", "dd", "truncate", "patch"),
        "the Write, Edit and Delete tools",
    ),
    **dict.fromkeys(("env", "printenv", "export", "set"), "the text itself: the environment is empty"),
    **dict.fromkeys(
        ("bash", "sh", "eval", "source", "exec", "time", "timeout", "sudo"), "the command itself"
    ),
    "git": "ls, cat and grep below /repo; its history is not here",
    "awk": "cut -d' ' -f2 for a field, grep for lines, sed -n '3,8p' for a range",
    "bat": "cat -n",
    "column": "cut or sed",
    "comm": "diff, or sort a b | uniq -d",
    "date": "stat -c %y FILE for a file's time",
    "fd": "find . -name",
    "file": "head -c 200",
    "paste": "cat",
    "readlink": "ls -l",
    "realpath": "pwd and ls",
    "rev": "cut",
    "strings": "grep -a",
    "[[": "[ … ]",
    "tac": "nl -ba FILE | sort -rn, or tail",
    "tree": "find . -maxdepth 2, or ls -R",
    "xargs": "a wildcard, or grep -rl TEXT DIR --include='*.md' for find … | xargs grep",
}


def unknown(name: str) -> str:
    """Why a command is not available, and what to use instead."""
    instead = f"; use {_INSTEAD[name]}" if name in _INSTEAD else f" ({', '.join(known_commands())})"
    return f"{name[:60]!r} is not one of the commands here{instead}"


def known_commands() -> list[str]:
    return sorted(_COMMANDS)
