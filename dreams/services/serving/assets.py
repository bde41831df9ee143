"""Static files, gathered into the data directory when they differ from those gathered before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import django
from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from memoryweb import version


def collect() -> bool:
    """Gather them if needed; True when it was. A hundredth of a second when nothing changed."""
    root = Path(settings.STATIC_ROOT)
    # Beside the folder, not in it: everything in the folder is served.
    mark = root.with_name(root.name + ".fingerprint")
    wanted = fingerprint()
    if root.is_dir() and _read(mark) == wanted:
        return False
    mark.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    mark.write_text(wanted, encoding="ascii")
    return True


def fingerprint() -> str:
    """Changes with the version and with the name, size or mtime of any static file."""
    digest = hashlib.sha256(f"{version()} {django.VERSION}".encode())
    for line in sorted(_lines()):
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _lines() -> Iterator[str]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            found = Path(storage.path(name)).stat()
            yield f"{name}\0{found.st_size}\0{found.st_mtime_ns}\n"


def _read(mark: Path) -> str:
    try:
        return mark.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
