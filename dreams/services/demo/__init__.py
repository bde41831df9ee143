"""A demo for a machine without a coding agent: a config folder with four projects in the data directory.

Everything in it is invented here, is dated relative to the moment it is made, and is the same for the same moment.
It never touches a real config folder. Pages have a banner while its folder is looked at, and once others are it leaves: what
is invented must not be counted among what is real.
"""

import datetime as dt
import os
import shutil
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from dreams import conf
from dreams.lib.files.text import is_folder
from dreams.models import DreamRun, Project
from dreams.services import discovery, hosts
from dreams.services.demo import writing
from dreams.services.demo.content import projects
from dreams.services.memories import syncing


def root() -> Path:
    """The demo's config folder, whether it exists or not."""
    return Path(settings.DEMO_ROOT)


def is_wanted() -> bool:
    """True where nobody chose a folder in the pages, and none of the environment's exists, or the demo itself is all there is."""
    if conf.current().roots:
        return False
    return not any(is_folder(found) and not is_demo(found) for found in discovery.configured_roots())


def is_demo(path: Path) -> bool:
    return path == root()


def is_shown() -> bool:
    """True while its folder is looked at."""
    return root().is_dir() and root() in discovery.configured_roots()


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


def leave() -> bool:
    """Take the demo away, with all that is known of its projects, once its folder is no longer looked at; True when it left.

    A dream of it that waits or runs is let end first: the next tick asks again.
    """
    if not root().is_dir() or is_shown():
        return False
    rows = Project.objects.filter(host=hosts.host(), root=os.path.realpath(root()))
    if DreamRun.objects.filter(project__in=rows, status__in=("pending", "running")).exists():
        return False
    kept = [syncing.history_path(project) for project in rows]
    with transaction.atomic():
        rows.delete()
    for folder in (*kept, root()):
        shutil.rmtree(folder, ignore_errors=True)
    return True
