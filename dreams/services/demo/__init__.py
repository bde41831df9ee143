"""A believable demo, for a machine without any coding agent: a config folder of four projects in the data directory.

Everything in it is invented here, is dated relative to the moment it is made, and is the same for the same moment.
It never touches a real config folder. `demo/` in the data directory is the mark that pages show a banner for.
"""

from __future__ import annotations

import datetime as dt
import os
import shutil
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from dreams.services import discovery
from dreams.services.demo import writing
from dreams.services.demo.content import projects


def root() -> Path:
    """The demo's config folder, whether it exists or not."""
    return Path(settings.DEMO_ROOT)


def is_wanted() -> bool:
    """True where none of the configured folders exists, or the demo itself is all there is."""
    return not any(found.is_dir() and not is_demo(found) for found in discovery.configured_roots())


def is_demo(path: Path) -> bool:
    return path == root()


def is_shown() -> bool:
    """True while the demo is what the pages show."""
    return root().is_dir() and is_wanted()


def ensure(now: dt.datetime | None = None) -> bool:
    """Make the demo unless it is there; True when it was made. A half-made one of a crash is made anew."""
    if root().is_dir():
        return False
    draft = root().with_name("demo.draft")
    shutil.rmtree(draft, ignore_errors=True)
    # Paths inside the transcripts are those of the finished folder.
    writing.write(draft, root(), projects(now or timezone.now()))
    os.replace(draft, root())  # noqa: PTH105 - the one step that makes it whole
    return True
