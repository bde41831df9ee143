"""Opening the person's browser, without putting the login code on a command line that others can read."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from html import escape
from pathlib import Path

from django.conf import settings

PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}"><title>memoryweb</title>
<p><a href="{link}">Go on to memoryweb</a></p></html>
"""


def has_display() -> bool:
    """True where a browser can show something to a person."""
    if os.environ.get("CI") or os.environ.get("SSH_CONNECTION"):
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def page_path() -> Path:
    return Path(settings.DATA_DIR) / "open.html"


def show(link: str) -> None:
    """Open `link` by way of a private file: a process' arguments are seen by every account of the machine."""
    page_path().unlink(missing_ok=True)
    descriptor = os.open(page_path(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as page:
        page.write(PAGE.format(link=escape(link)))
    # Some browsers keep the caller waiting until they are closed.
    threading.Thread(target=webbrowser.open, args=(page_path().as_uri(),), daemon=True).start()


def clear() -> None:
    page_path().unlink(missing_ok=True)
