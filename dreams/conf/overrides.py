"""Where a setting's present value comes from: the project, everywhere, the environment, the default."""

from __future__ import annotations

import datetime as dt
import logging
import zoneinfo
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from django.conf import settings

from dreams.conf.config import Config
from dreams.conf.values import BadValue, Spec, Value, parse, specs
from memoryweb import env

if TYPE_CHECKING:
    from dreams.models import Project

log = logging.getLogger(__name__)
_told: set[str] = set()
SourceName = Literal["default", "environment", "everywhere", "project"]
# Settings that the environment may also give without the prefix.
SHORT_NAMES: Mapping[str, tuple[str, ...]] = {"require_os_sandbox": ("REQUIRE_OS_SANDBOX",)}


def from_environment(key: str) -> Value | None:
    """The environment's value, or None. `roots` has its own variable, which separates by `:`."""
    if key == "roots":
        return None
    names = [specs()[key].env_name, *SHORT_NAMES.get(key, ())]
    raw = next(filter(None, map(env.text, names)), "")
    return parse(key, raw) if raw else None


@dataclass(frozen=True, slots=True)
class Sourced:
    value: Value
    source: SourceName


@dataclass(frozen=True, slots=True)
class Overrides:
    """All overrides, read once: a tick over many projects asks the database a single time."""

    everywhere: Mapping[str, Any]
    by_project: Mapping[int, Mapping[str, Any]]

    @classmethod
    def load(cls, project: Project | None = None) -> Overrides:
        """Those of `project` and everywhere; without one, those of every project."""
        from django.db.models import Q  # noqa: PLC0415 - pure callers, and the reading worker, use Config without a database

        from dreams.models import Override  # noqa: PLC0415 - as above

        rows = Override.objects.all()
        if project is not None:
            rows = rows.filter(Q(project=project) | Q(project__isnull=True))
        everywhere: dict[str, Any] = {}
        by_project: dict[int, dict[str, Any]] = {}
        for row in rows:
            own = everywhere if row.project_id is None else by_project.setdefault(row.project_id, {})
            own[row.key] = row.value
        return cls(everywhere, by_project)

    def sourced(self, project_pk: int | None) -> dict[str, Sourced]:
        own = self.by_project.get(project_pk, {}) if project_pk is not None else {}
        return {key: _look_up(spec, own, self.everywhere) for key, spec in specs().items()}

    def config(self, project_pk: int | None) -> Config:
        return Config(**{key: found.value for key, found in self.sourced(project_pk).items()})  # type: ignore[arg-type] # parse() gave each its own type


def sourced(project: Project | None = None) -> dict[str, Sourced]:
    """Every setting with where its value comes from; one query."""
    return Overrides.load(project).sourced(project.pk if project else None)


def _look_up(spec: Spec, own: Mapping[str, Any], everywhere: Mapping[str, Any]) -> Sourced:
    stored: tuple[tuple[SourceName, Mapping[str, Any]], ...] = (("project", own), ("everywhere", everywhere))
    for source, rows in stored[not spec.per_project :]:
        if spec.key in rows and (value := _stored(spec.key, rows[spec.key])) is not None:
            return Sourced(value, source)
    given = from_environment(spec.key)
    if given is not None:
        return Sourced(given, "environment")
    return Sourced(spec.default, "default")


def _stored(key: str, raw: Any) -> Value | None:
    """None for a value that another version, or a hand in Admin, left: one odd row must not stop every page and dream."""
    try:
        return parse(key, raw)
    except BadValue as refused:
        if str(refused) not in _told:
            _told.add(str(refused))
            log.warning("a stored setting is passed over: %s", refused)
        return None


def current(project: Project | None = None) -> Config:
    """The values in force, for `project` or for everywhere; one query."""
    return Overrides.load(project).config(project.pk if project else None)


def zone(config: Config) -> dt.tzinfo:
    """The zone of days and of times on pages: the setting's, else the system's."""
    return zoneinfo.ZoneInfo(config.time_zone or settings.TIME_ZONE)


def engines() -> tuple[str, ...]:
    return tuple(specs()["engine"].choices or ())
