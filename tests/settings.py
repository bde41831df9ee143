"""The real settings over a data directory of the run's own, with a fast password hasher.

Files of tests lie in memory where there is enough of it: on a disk every removed folder is waited for, and thousands are.
Set `TMPDIR` to have them elsewhere.
"""

import atexit
import contextlib
import os
import shutil
import tempfile
from pathlib import Path

_memory = Path("/dev/shm")
if "TMPDIR" not in os.environ and _memory.is_dir() and shutil.disk_usage(_memory).free > 2_000_000_000:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_memory)


def _new_base() -> Path:
    """A folder that goes with this process, not with a copy of it."""
    made, owner = Path(tempfile.mkdtemp(prefix="memoryweb-tests-")), os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(made, ignore_errors=True))
    return made


_base = _new_base()
# What all processes of a run share lies with the one that started them.
os.environ.setdefault("TESTS_RUN", str(_base))
for _name in [name for name in os.environ if name.startswith(("MEMORYWEB_", "ANTHROPIC_", "CLAUDE_"))]:
    if _name != "MEMORYWEB_CHROMIUM":  # which browser the tests drive
        del os.environ[_name]
os.environ["MEMORYWEB_DATA_DIR"] = str(_base / "data")
os.environ["MEMORYWEB_ROOTS"] = str(_base / "no-root")
os.environ["MEMORYWEB_TIME_ZONE"] = "UTC"

from memoryweb.settings import *  # noqa: E402, F403
from memoryweb.settings import DATA_DIR, DATABASES, Q_CLUSTER  # noqa: E402
from tests.world.processes.commands import SWITCHED_OFF  # noqa: E402

os.environ.update(SWITCHED_OFF)

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {
        "NAME": str(DATA_DIR / "test.sqlite3")
    }  # a file: the real locking, not memory's
Q_CLUSTER = {**Q_CLUSTER, "sync": False}


def move() -> None:
    """A process that is a copy of one with these settings takes a data directory of its own."""
    from django.conf import settings
    from django.core.cache import caches
    from django.utils.log import configure_logging

    base = _new_base()
    shutil.copytree(DATA_DIR, base / "data")

    def moved(value: object) -> object:
        if isinstance(value, dict):
            value.update({key: moved(one) for key, one in value.items()})  # whoever has it has the new ones
            return value
        if isinstance(value, str | Path):
            return type(value)(str(value).replace(str(_base), str(base)))
        return tuple(moved(one) for one in value) if isinstance(value, tuple) else value

    shared = os.environ.pop("TESTS_RUN")
    os.environ.update({name: str(moved(value)) for name, value in os.environ.items()})
    os.environ["TESTS_RUN"] = shared
    for name in (name for name in dir(settings) if name.isupper()):
        setattr(settings, name, moved(getattr(settings, name)))
    with contextlib.suppress(AttributeError):  # none was made yet
        del caches["default"]
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
