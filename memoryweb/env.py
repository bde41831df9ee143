"""Typed readers for environment variables that refuse invalid values.

Every reader takes the variable's name and a default, and raises `ImproperlyConfigured` that names the
variable, its value and what is valid.
"""

import os
import zoneinfo
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off"})
#: Every name that was asked for: what else has our prefix sets nothing.
asked: set[str] = set()


def text(name: str, default: str = "") -> str:
    """The value of `name`, else the content of the file that `<name>_FILE` names, else `default`."""
    asked.update((name, f"{name}_FILE"))
    if name in os.environ:
        return os.environ[name].strip()
    file_name = os.environ.get(f"{name}_FILE", "").strip()
    if not file_name:
        return default
    try:
        return _absolute(f"{name}_FILE", file_name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ImproperlyConfigured(f"{name}_FILE names {file_name}, which cannot be read: {why}") from error


def integer(name: str, default: int, *, minimum: int | None = None, maximum: int | None = None) -> int:
    value = text(name)
    if not value:
        return default
    try:
        number = int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be a whole number") from error
    if minimum is not None and number < minimum:
        raise ImproperlyConfigured(f"{name} is {number}; it must be at least {minimum}")
    if maximum is not None and number > maximum:
        raise ImproperlyConfigured(f"{name} is {number}; it must be at most {maximum}")
    return number


def choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = text(name).lower()
    if value and value not in choices:
        raise ImproperlyConfigured(f"{name} is {value!r}; it must be one of {', '.join(choices)}")
    return value or default


def zone(name: str) -> str:
    """A time zone's name; empty if not set."""
    value = text(name)
    try:
        return zoneinfo.ZoneInfo(value).key if value else ""
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it must be the name of a time zone, such as Europe/Berlin"
        ) from error


def database_url(name: str) -> str:
    """The address of a supported database. It may contain a password, so no message repeats it."""
    value = text(name)
    scheme = value.partition(":")[0]
    if value and scheme not in ("sqlite", "postgres", "postgresql"):
        raise ImproperlyConfigured(f"{name} must begin with postgres:// or sqlite:///")
    if scheme.startswith("postgres") and not (find_spec("psycopg") or find_spec("psycopg2")):
        raise ImproperlyConfigured(
            f"{name} names a PostgreSQL, and its driver is not installed here; install psycopg[binary]"
        )
    try:
        dj_database_url.parse(value or "sqlite://")
    except ValueError:
        raise ImproperlyConfigured(
            f"{name} is no valid address. In a password write %23 for #, %5B for [, %2F for / and so on"
        ) from None
    return value


def path(name: str, default: Callable[[], Path]) -> Path:
    """An absolute path; `~` is the home folder."""
    value = text(name)
    if value:
        return _absolute(name, value)
    try:
        return default()
    except RuntimeError as error:
        raise ImproperlyConfigured(f"This user has no home folder. Set HOME, or {name}") from error


def paths(name: str) -> tuple[Path, ...]:
    """Several paths, separated as in PATH (`:`)."""
    return tuple(_absolute(name, part) for part in text(name).split(os.pathsep) if part.strip())


def _absolute(name: str, value: str) -> Path:
    try:
        return Path(os.path.abspath(Path(value).expanduser()))  # noqa: PTH100 - links are kept: the person chose the link
    except RuntimeError as error:
        raise ImproperlyConfigured(f"{name} is {value!r}; there is no such home folder") from error


def words(name: str) -> tuple[str, ...]:
    """Several words, separated by commas."""
    value = text(name)
    return tuple(part.strip() for part in value.split(",") if part.strip()) if value else ()
