"""The data directory: for the database, the keys and the history. Made private on first use."""

import os
import secrets
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

#: A folder with one of these is a data directory.
OURS = ("secret_key", "host_id", "memoryweb.sqlite3")


def ensure(folder: Path) -> Path:
    """Creates `folder` (0700) if missing, and makes a public one private, as anyone who can open a lock's file can hold
    the lock. A folder with other files keeps its mode. Raises ImproperlyConfigured with the remedy."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077 and _is_only_ours(folder):
            folder.chmod(0o700)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data directory {folder} cannot be made ({error.strerror}). Set MEMORYWEB_DATA_DIR to a folder you can write to."
        ) from error
    return folder


def _is_only_ours(folder: Path) -> bool:
    with os.scandir(folder) as entries:
        first = next(entries, None)
    is_known = first is None or any((folder / name).exists() for name in OURS)
    return is_known and folder.stat().st_uid == os.geteuid()


def lock_file(folder: Path, name: str) -> Path:
    """The file `folder`/`name` for a lock, private (0600) even if an earlier version created it public."""
    file = folder / name
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if os.fstat(descriptor).st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)
    return file


def oldest_first(newest: Path, pattern: str) -> list[Path]:
    """The copies in the folder of `newest`, which is the last. Their names have the time, so one that sorts behind it is from a
    clock that ran ahead, and comes first."""
    return sorted(newest.parent.glob(pattern), key=lambda path: (path <= newest, path))


def make_room(newest: Path, pattern: str, most: int) -> None:
    """Keeps the last `most` of these copies."""
    for old in oldest_first(newest, pattern)[:-most]:
        old.unlink(missing_ok=True)


def secret_key(folder: Path) -> str:
    """The signing key in `folder`/secret_key."""
    return _made_once(folder, "secret_key")


def webhook_secret(folder: Path) -> str:
    """The secret for signatures of webhooks, in `folder`/webhook_secret."""
    return _made_once(folder, "webhook_secret")


def hook_token(folder: Path) -> str:
    """The token that authenticates the agent's hook, in `folder`/hook_token."""
    return _made_once(folder, "hook_token")


def host_id(folder: Path) -> str:
    """The id of this installation among those that share a database, in `folder`/host_id: computers may be renamed or have
    several users. A random token of 64 characters."""
    return _made_once(folder, "host_id")


def _made_once(folder: Path, name: str) -> str:
    """The random text in `folder`/`name`, created (0600) on first use.

    Two processes may start at once: each writes its key to a temporary file and links it into place, so both read the
    same key and never a partial one.
    """
    file = ensure(folder) / name
    try:
        if not file.exists():
            _make(file)
        text = file.read_bytes().decode("ascii", "ignore").strip()
    except OSError as error:
        raise _unfit(file, error) from error
    if not text or not text.isprintable():
        raise ImproperlyConfigured(
            f"{file} is damaged. Copy it from a backup, or remove it: the next start makes a new one"
            + (", and `hosts adopt` takes over the projects." if name == "host_id" else ".")
        )
    return text


def _make(file: Path) -> None:
    # Random, as in a container a killed process has the same PID after a restart.
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as handle:
            handle.write(secrets.token_urlsafe(48))
            handle.flush()
            os.fsync(handle.fileno())  # a power failure could leave an empty key
        with suppress(FileExistsError):
            os.link(draft, file)
    except OSError as error:
        raise _unfit(file, error) from error
    finally:
        with suppress(OSError):
            draft.unlink()


def _unfit(file: Path, error: OSError) -> ImproperlyConfigured:
    why = error.strerror or type(error).__name__
    return ImproperlyConfigured(
        f"{file} cannot be made or read ({why}). Check its disk, or set MEMORYWEB_DATA_DIR to a folder you can write to."
    )
