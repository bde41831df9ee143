"""The real settings over a data directory of the run's own, with a fast password hasher.

Files of tests lie in memory where there is enough of it: on a disk every removed folder is waited for, and thousands are.
Set `TMPDIR` to have them elsewhere.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_memory = Path("/dev/shm")
if "TMPDIR" not in os.environ and _memory.is_dir() and shutil.disk_usage(_memory).free > 2_000_000_000:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_memory)
_base = Path(tempfile.mkdtemp(prefix="memoryweb-tests-"))
atexit.register(shutil.rmtree, _base, ignore_errors=True)
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
