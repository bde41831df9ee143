"""Every setting once, and where its present value comes from.

A value is looked for in this order: the project's own override, the override for everywhere (both set in the
pages and kept in the database), the environment (`MEMORYWEB_<KEY>`), the default.
"""

import datetime as dt
import ipaddress
import json
import logging
import math
import os
import re
import urllib.parse
import zoneinfo
from collections.abc import Callable, Iterable, Mapping, Set as AbstractSet
from dataclasses import Field, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from dreams.conf.config import Config
from memoryweb import env

if TYPE_CHECKING:
    from dreams.models import Project

Value = bool | int | float | str


class BadValue(ValueError):
    """A value that a setting does not take; the message names the setting, the value and what it takes."""


@dataclass(frozen=True, slots=True)
class Spec:
    """What a page needs to show one setting and check a new value."""

    key: str
    kind: type
    default: Value
    group: str
    label: str
    help: str
    minimum: float | None = None
    maximum: float | None = None
    choices: Mapping[str, str] | None = None
    unit: str = ""
    per_project: bool = True
    advanced: bool = False

    @property
    def env_name(self) -> str:
        return f"MEMORYWEB_{self.key.upper()}"


@cache
def specs() -> Mapping[str, Spec]:
    """Every setting by its key, in reading order."""
    hints = get_type_hints(Config)
    return {f.name: _spec(f, hints[f.name]) for f in fields(Config)}


def _spec(f: Field[Any], kind: type) -> Spec:
    default: Any = f.default
    return Spec(key=f.name, kind=kind, default=default, **f.metadata)


def parse(key: str, raw: object) -> Value:
    """`raw` (a form's text, JSON, an environment variable) as the setting's own type. Raises BadValue."""
    spec = specs()[key]
    if spec.kind is bool:
        return _boolean(spec, raw)
    if spec.kind in (int, float):
        return _number(spec, raw)
    value = str(raw).strip()
    if spec.choices is not None and value not in spec.choices:
        raise BadValue(f"{spec.label}: “{value}” is not one of {', '.join(spec.choices)}")
    if not value and key == "model":
        raise BadValue(f"{spec.label}: its name is missing")
    if value and key in _CHECKS and (trouble := _CHECKS[key](value)):
        raise BadValue(f"{spec.label}: {trouble}")
    return value


@cache  # it looks at every zone on the disk, and settings are read many times in a dream
def _bad_zone(value: str) -> str:
    known = value in zoneinfo.available_timezones()
    return "" if known else f"“{value}” is not a time zone such as Europe/Berlin or UTC"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """The hours of a day in which nothing starts: from one time to another, which may be on the next day."""

    begin: dt.time
    end: dt.time

    def ends_at(self, moment: dt.datetime, zone: dt.tzinfo) -> dt.datetime | None:
        """When the quiet around `moment` ends, in UTC; None where it is not quiet."""
        local = moment.astimezone(zone)
        now = local.time()
        over_midnight = self.begin > self.end
        is_quiet = now >= self.begin or now < self.end if over_midnight else self.begin <= now < self.end
        if not is_quiet:
            return None
        day = local.date() + (
            dt.timedelta(days=1) if over_midnight and now >= self.begin else dt.timedelta(0)
        )
        return dt.datetime.combine(day, self.end, tzinfo=zone).astimezone(dt.UTC)


def quiet_hours(text: str) -> QuietHours | None:
    """ "22:00-07:00"; None for an empty text. Raises ValueError."""
    if not text.strip():
        return None
    begin, dash, end = text.replace("–", "-").partition("-")
    try:
        found = QuietHours(_time_of_day(begin), _time_of_day(end))
    except ValueError as error:
        raise ValueError(f"“{text}” is not a time such as 22:00-07:00") from error
    if not dash or found.begin == found.end:
        raise ValueError(f"“{text}” is not a time such as 22:00-07:00")
    return found


def _time_of_day(text: str) -> dt.time:
    hour, _, minute = text.strip().partition(":")
    return dt.time(int(hour), int(minute or 0))


def _bad_quiet_hours(value: str) -> str:
    try:
        quiet_hours(value)
    except ValueError as error:
        return str(error)
    return ""


def _bad_addresses(value: str) -> str:
    for address in value.split(","):
        try:
            validate_email(address.strip())
        except ValidationError:
            return f"“{address.strip()}” is not a mail address"
    return ""


def bad_receiver(value: str) -> str:
    """What is wrong with `value` as a webhook, or "". Plain HTTP is only for this machine: a digest names projects."""
    trouble = _bad_address(value)
    if trouble or value.startswith("https:"):
        return trouble
    host = urllib.parse.urlsplit(value).hostname or ""
    return "" if _is_here(host) else f"{host} is another machine: its address must start with https://"


def _bad_address(value: str) -> str:
    try:
        parts = urllib.parse.urlsplit(value)
        _ = parts.port  # a port that is no number raises only when asked for
    except ValueError:
        return f"“{value}” is not an address"
    good = parts.scheme in ("http", "https") and parts.hostname
    return "" if good else f"“{value}” is not an address that starts with https://"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bad_folders(value: str) -> str:
    lines = (line.strip() for line in value.splitlines())
    wrong = next((line for line in lines if line and not line.startswith(("/", "~"))), "")
    return f"“{wrong}” does not start with / or ~" if wrong else ""


_CHECKS: Mapping[str, Callable[[str], str]] = {
    "roots": _bad_folders,
    "time_zone": _bad_zone,
    "quiet_hours": _bad_quiet_hours,
    "digest_email": _bad_addresses,
    "digest_webhook": bad_receiver,
    "public_url": _bad_address,
}


def _boolean(spec: Spec, raw: object) -> bool:
    if isinstance(raw, bool):
        return raw
    value = str(raw).strip().lower()
    if value in env.TRUE:
        return True
    if value in env.FALSE or not value:
        return False
    raise BadValue(f"{spec.label}: “{raw}” is neither “on” nor “off”")


#: A comma is read where it groups three digits: in “0,50” it is a decimal one, and without it a limit would be a hundredfold.
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")


def _number(spec: Spec, raw: object) -> int | float:
    text = str(raw).strip()
    if not text:
        raise BadValue(f"{spec.label}: a number is missing")
    try:
        number: int | float = spec.kind(text.replace(",", "") if _GROUPED.fullmatch(text) else text)
    except ValueError as error:
        point = "; write decimals with a point, as in 0.5" if "," in text and spec.kind is float else ""
        whole = "whole " if spec.kind is int else ""
        raise BadValue(f"{spec.label}: “{text}” is not a {whole}number{point}") from error
    if math.isnan(number) or (spec.minimum is not None and number < spec.minimum):
        raise BadValue(f"{spec.label}: {text} is below the minimum, {spec.minimum:,.15g}")
    if spec.maximum is not None and number > spec.maximum:
        raise BadValue(f"{spec.label}: {text} is above the maximum, {spec.maximum:,.15g}")
    return number


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


@cache
def _keys_by_name() -> Mapping[str, str]:
    """The setting that each name in the environment gives, itself or by the file that it names."""
    named = {
        name: key for key, spec in specs().items() for name in (spec.env_name, *SHORT_NAMES.get(key, ()))
    }
    return named | {f"{name}_FILE": key for name, key in named.items()}


def _in_environment() -> AbstractSet[str]:
    """The settings that the environment names: few, where to look for each would take long."""
    keys = _keys_by_name()
    return {keys[name] for name in os.environ if name in keys}


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
    def load(cls, project: "Project | None" = None) -> "Overrides":
        """Those of `project` and everywhere; without one, those of every project."""
        from dreams.models import config  # noqa: PLC0415 - pure callers, and the reading worker, use Config without a database

        everywhere: dict[str, Any] = {}
        by_project: dict[int, dict[str, Any]] = {}
        for own, key, value in config.overrides() if project is None else config.overrides_of(project.pk):
            (everywhere if own is None else by_project.setdefault(own, {}))[key] = json.loads(value)
        return cls(everywhere, by_project)

    def sourced(self, project_pk: int | None) -> dict[str, Sourced]:
        own = self.by_project.get(project_pk, {}) if project_pk is not None else {}
        named = _in_environment()
        return {key: _look_up(spec, own, self.everywhere, named) for key, spec in specs().items()}

    def config(self, project_pk: int | None) -> Config:
        return Config(**{key: found.value for key, found in self.sourced(project_pk).items()})  # type: ignore[arg-type] # parse() gave each its own type


def sourced(project: "Project | None" = None) -> dict[str, Sourced]:
    """Every setting with where its value comes from; one query."""
    return Overrides.load(project).sourced(project.pk if project else None)


def _look_up(
    spec: Spec, own: Mapping[str, Any], everywhere: Mapping[str, Any], in_environment: AbstractSet[str]
) -> Sourced:
    stored: tuple[tuple[SourceName, Mapping[str, Any]], ...] = (("project", own), ("everywhere", everywhere))
    for source, rows in stored[not spec.per_project :]:
        if spec.key in rows and (value := _stored(spec.key, rows[spec.key])) is not None:
            return Sourced(value, source)
    given = from_environment(spec.key) if spec.key in in_environment else None
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


def current(project: "Project | None" = None) -> Config:
    """The values in force, for `project` or for everywhere; one query."""
    return Overrides.load(project).config(project.pk if project else None)


def at_odds(values: Mapping[str, Value], changed: Iterable[str] = ("row_aim",)) -> dict[str, str]:
    """What of `changed` does not fit to the other `values`, each with why."""
    aim, most = int(values["row_aim"]), int(values["row_max"])
    if aim <= most:
        return {}
    why = {
        "row_aim": f"{aim:,} is above “{specs()['row_max'].label}”, {most:,}: each new row would be a long one",
        "row_max": f"{most:,} is below “{specs()['row_aim'].label}”, {aim:,}: each new row would be a long one",
    }
    key = next((key for key in why if key in changed), "")
    return {key: why[key]} if key else {}


def zone(config: Config) -> dt.tzinfo:
    """The zone of days and of times on pages: the setting's, else the system's."""
    return zoneinfo.ZoneInfo(config.time_zone or settings.TIME_ZONE)


def engines() -> tuple[str, ...]:
    return tuple(specs()["engine"].choices or ())


@register()
def queue_times(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A `retry` at or below `timeout` hands a running dream to a second worker."""
    cluster = settings.Q_CLUSTER
    found: list[CheckMessage] = []
    if cluster["retry"] <= cluster["timeout"]:
        found.append(
            Error(
                f"The queue starts a task again after {cluster['retry']} s, but lets it run for {cluster['timeout']} s.",
                hint="Set MEMORYWEB_TASK_RETRY above MEMORYWEB_TASK_TIMEOUT.",
                id="memoryweb.E001",
            )
        )
    if cluster["queue_limit"] != 1:
        found.append(
            Error(
                "The queue's local limit is not 1: tasks could wait in a worker's own queue and be started twice.",
                hint="Leave queue_limit at 1 in Q_CLUSTER.",
                id="memoryweb.E002",
            )
        )
    return found


@register()
def dream_fits_the_task(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A dream must end by its own clock before the queue kills its worker."""
    longest = specs()["max_seconds"].maximum or 0
    if settings.Q_CLUSTER["timeout"] > longest:
        return []
    return [
        Error(
            f"A dream may take {longest:.0f} s, but the queue kills a task after {settings.Q_CLUSTER['timeout']} s.",
            hint=f"Set MEMORYWEB_TASK_TIMEOUT above {longest:.0f}.",
            id="memoryweb.E003",
        )
    ]


@register()
def environment_values(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Every MEMORYWEB_<KEY> in the environment holds what its setting takes."""
    found: list[CheckMessage] = []
    for key, spec in specs().items():
        try:
            from_environment(key)
        except BadValue as error:
            found.append(Error(str(error), hint=f"Correct or unset {spec.env_name}.", id="memoryweb.E004"))
    return found
