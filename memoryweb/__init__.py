"""memoryweb: review, apply and undo what dreams change in the notes of coding agents."""

import os
import re
from functools import cache
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
#: In a copy of the source, templates and static files are next to the packages; installed, they are in this package.
IS_SOURCE = (BASE_DIR / "manage.py").is_file()
RESOURCES = BASE_DIR if IS_SOURCE else Path(__file__).resolve().parent

COMMAND_VARIABLE = "MEMORYWEB_COMMAND"
SOURCE_COMMAND = "python manage.py"
INSTALLED_COMMAND = "memoryweb"
STOPPED = 130  # the exit code after Ctrl-C, as in a shell


@cache
def version() -> str:
    """The version from the newest heading of CHANGELOG.md; if installed, from the package's metadata."""
    if not IS_SOURCE:
        from importlib import metadata  # noqa: PLC0415 - half of the start of the hook

        return metadata.version("memoryweb")
    text = (BASE_DIR / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(r"^## (\d+\.\d+\.\d+)", text, re.MULTILINE)
    return found.group(1) if found else "0.0.0"


def typed(command: str) -> str:
    """A command as a person types it here, with the name that started this process."""
    return f"{os.environ.get(COMMAND_VARIABLE) or SOURCE_COMMAND} {command}"
