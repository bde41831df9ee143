"""A demo for a machine without a coding agent: a config folder with four projects in the data directory.

Everything in it is invented, dated relative to its creation, and the same for the same time. It never touches a real
config folder. Pages have a banner while the demo is shown, and it is removed once other folders are used: invented data
must not be counted with real data.
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
from dreams.services.memories import syncing


def root() -> Path:
    """The demo's config folder, whether it exists or not."""
    return Path(settings.DEMO_ROOT)


def is_wanted() -> bool:
    """True if no folder was chosen in the pages and no configured folder other than the demo's exists."""
    if conf.current().roots:
        return False
    return not any(is_folder(found) and not is_demo(found) for found in discovery.configured_roots())


def is_demo(path: Path) -> bool:
    return path == root()


def is_shown() -> bool:
    """True while its folder is one of the configured ones."""
    return root().is_dir() and root() in discovery.configured_roots()


def ensure(now: dt.datetime | None = None) -> bool:
    """Creates the demo unless it exists; True if it was created. One left incomplete by a crash is created again."""
    if root().is_dir():
        return False
    draft = root().with_name("demo.draft")
    shutil.rmtree(draft, ignore_errors=True)
    # Paths inside the transcripts are those of the final folder.
    writing.write(draft, root(), now or timezone.now())
    os.replace(draft, root())  # noqa: PTH105 - the one step that makes it whole
    return True


def leave() -> bool:
    """Removes the demo and all data of its projects once its folder is no longer configured; True if it was removed.

    Waits for a pending or running dream of it to end: the next tick tries again.
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
