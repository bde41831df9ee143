"""All settings, and the sources of their current values.

A value is looked up in this order: the project's own override, the override for everywhere (both set in the
pages and kept in the database), the environment (`MEMORYWEB_<KEY>`), the default.
"""

import datetime as dt
import difflib
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
from dreams.lib.files.text import storable
from memoryweb import COMMAND_VARIABLE, env

if TYPE_CHECKING:
    from dreams.models import Project

Value = bool | int | float | str


class BadValue(ValueError):
    """An invalid value; the message names the setting, the value and what is valid."""


@dataclass(frozen=True, slots=True)
class Spec:
    """The description of one setting: to show it and to check new values."""

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
    """All settings by key, in the order of the page."""
    hints = get_type_hints(Config)
    defaults: Any = Config()
    return {
        f.name: Spec(f.name, hints[f.name], getattr(defaults, f.name), **f.metadata) for f in fields(Config)
    }


def parse(key: str, raw: object) -> Value:
    """Converts `raw` (a form's text, JSON, an environment variable) to the setting's type. Raises BadValue."""
    spec = specs()[key]
    if spec.kind is bool:
        return _boolean(spec, raw)
    if spec.kind in (int, float):
        return _number(spec, raw)
    if not isinstance(raw, str) or storable(raw) != raw:
        raise BadValue(f"{spec.label}: {str(raw)[:40]!r} is not a text")
    value = raw.strip()
    if spec.choices is not None and value not in spec.choices:
        raise BadValue(f"{spec.label}: “{value}” is not one of {', '.join(spec.choices)}")
    if not value and key == "model":
        raise BadValue(f"{spec.label}: its name is missing")
    if value and key in _CHECKS and (trouble := _CHECKS[key](value)):
        raise BadValue(f"{spec.label}: {trouble}")
    return value


@cache  # it reads the names of all zones from disk, and a dream reads settings many times
def _bad_zone(value: str) -> str:
    known = value in zoneinfo.available_timezones()
    return "" if known else f"“{value}” is not a time zone such as Europe/Berlin or UTC"


@dataclass(frozen=True, slots=True)
class QuietHours:
    """The hours of a day in which nothing starts. The end may be on the next day."""

    begin: dt.time
    end: dt.time

    def ends_at(self, moment: dt.datetime, zone: dt.tzinfo) -> dt.datetime | None:
        """When the quiet hours at `moment` end, in UTC; None outside them."""
        local = moment.astimezone(zone)
        now = local.time()
        over_midnight = self.begin > self.end
        is_quiet = now >= self.begin or now < self.end if over_midnight else self.begin <= now < self.end
        if not is_quiet:
            return None
        day = local.date() + dt.timedelta(days=over_midnight and now >= self.begin)
        wall = dt.datetime.combine(day, self.end)
        # Of an hour that happens twice, the one that passes now; of one that is skipped, the moment of the jump.
        end = wall.replace(fold=local.fold, tzinfo=zone).astimezone(dt.UTC)
        minute = dt.timedelta(minutes=1)
        while (end - minute).astimezone(zone).replace(tzinfo=None) >= wall:
            end -= minute
        return end


def quiet_hours(text: str) -> QuietHours | None:
    """Parses "22:00-07:00"; None for an empty text. Raises ValueError."""
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
    """Why `value` is not a valid webhook, or "". Plain HTTP only to this machine, as a digest names projects."""
    trouble = _bad_address(value)
    if trouble or value.startswith("https:"):
        return trouble
    host = urllib.parse.urlsplit(value).hostname or ""
    return "" if is_this_machine(host) else f"{host} is another machine: its address must start with https://"


def _bad_address(value: str) -> str:
    try:
        parts = urllib.parse.urlsplit(value)
        _ = parts.port  # an invalid port raises only on access
    except ValueError:
        return f"“{value}” is not an address"
    good = parts.scheme in ("http", "https") and parts.hostname
    return "" if good else f"“{value}” is not an address that starts with https://"


def is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _bad_folders(value: str) -> str:
    lines = (line.strip() for line in value.splitlines())
    wrong = next((line for line in lines if line and not line.startswith(("/", "~"))), "")
    return f"“{wrong}” does not start with / or ~" if wrong else ""


def _bad_model(value: str) -> str:
    return "a model’s name has at most 100 characters" if len(value) > 100 else ""


_CHECKS: Mapping[str, Callable[[str], str]] = {
    "model": _bad_model,
    "fallback_model": _bad_model,
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


#: Commas may only group three digits: in “0,50” it is a decimal comma, and ignoring it would multiply a limit by a hundred.
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
# Settings whose environment variable also works without the prefix.
SHORT_NAMES: Mapping[str, tuple[str, ...]] = {"require_os_sandbox": ("REQUIRE_OS_SANDBOX",)}


def from_environment(key: str) -> Value | None:
    """The value from the environment, or None. `roots` has a separate variable, with `:` between folders."""
    if key == "roots":
        return None
    names = [specs()[key].env_name, *SHORT_NAMES.get(key, ())]
    raw = next(filter(None, map(env.text, names)), "")
    return parse(key, raw) if raw else None


@cache
def _keys_by_name() -> Mapping[str, str]:
    """Environment variable → its setting; includes the `_FILE` variables, which name a file with the value."""
    named = {
        name: key for key, spec in specs().items() for name in (spec.env_name, *SHORT_NAMES.get(key, ()))
    }
    return named | {f"{name}_FILE": key for name, key in named.items()}


#: Ours too, though `env` is not asked for them at the start.
_ALSO_KNOWN = frozenset({COMMAND_VARIABLE, "MEMORYWEB_DIGEST_HOURS"})


def unknown_in_environment() -> list[str]:
    """A sentence for each variable with our prefix that sets nothing."""
    known = env.asked | _keys_by_name().keys() | _ALSO_KNOWN
    ours = (name for name in sorted(os.environ) if name.upper().startswith("MEMORYWEB_"))
    return [unknown(name, known) for name in ours if name not in known]


def unknown(name: str, known: Iterable[str]) -> str:
    """Says that `name` is no setting, and which of `known` it may have been meant as."""
    near = difflib.get_close_matches(name, [*known], n=1)
    return f"{name} is not a setting" + (f"; {near[0]} is." if near else ".")


@dataclass(frozen=True, slots=True)
class Sourced:
    value: Value
    source: SourceName


@dataclass(frozen=True, slots=True)
class Overrides:
    """All overrides, read once: a tick over many projects needs a single query."""

    everywhere: Mapping[str, Any]
    by_project: Mapping[int, Mapping[str, Any]]

    @classmethod
    def load(cls, project: "Project | None" = None) -> "Overrides":
        """The overrides of `project` and everywhere; without a project, those of all projects."""
        from dreams.models import config  # noqa: PLC0415 - pure callers, and the reading worker, use Config without a database

        everywhere: dict[str, Any] = {}
        by_project: dict[int, dict[str, Any]] = {}
        for own, key, value in config.overrides() if project is None else config.overrides_of(project.pk):
            (everywhere if own is None else by_project.setdefault(own, {}))[key] = json.loads(value)
        return cls(everywhere, by_project)

    def sourced(self, project_pk: int | None) -> dict[str, Sourced]:
        own = self.by_project.get(project_pk, {}) if project_pk is not None else {}
        # The settings in the environment. They are few; checking each setting would be slow.
        keys = _keys_by_name()
        named = {keys[name] for name in os.environ if name in keys}
        return {key: _look_up(spec, own, self.everywhere, named) for key, spec in specs().items()}

    def config(self, project_pk: int | None) -> Config:
        return Config(**{key: found.value for key, found in self.sourced(project_pk).items()})  # type: ignore[arg-type] # parse() gave each its own type


def sourced(project: "Project | None" = None) -> dict[str, Sourced]:
    """Every setting with its value and source; one query."""
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
    """The value of a row; None if invalid (from another version or the admin), so that one bad row does not stop everything."""
    try:
        return parse(key, raw)
    except BadValue as refused:
        if str(refused) not in _told:
            _told.add(str(refused))
            log.warning("a stored setting is passed over: %s", refused)
        return None


def current(project: "Project | None" = None) -> Config:
    """The current values, for `project` or for everywhere; one query."""
    return Overrides.load(project).config(project.pk if project else None)


def at_odds(values: Mapping[str, Value], changed: Iterable[str] = ("row_aim",)) -> dict[str, str]:
    """Keys of `changed` whose values contradict other `values`, each with the reason."""
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
    """The time zone of days and of times on pages: from the setting, else the system's."""
    return zoneinfo.ZoneInfo(config.time_zone or settings.TIME_ZONE)


def engines() -> tuple[str, ...]:
    return tuple(specs()["engine"].choices or ())


@register()
def queue_times(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Checks the queue's times: with a `retry` at or below `timeout`, a running dream would be given to a second worker."""
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
                "The queue’s local limit is not 1: tasks could wait in a worker’s own queue and be started twice.",
                hint="Leave queue_limit at 1 in Q_CLUSTER.",
                id="memoryweb.E002",
            )
        )
    return found


@register()
def dream_fits_the_task(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Checks that a dream reaches its own time limit before the queue kills its worker."""
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
    """Checks that every MEMORYWEB_<KEY> in the environment has a valid value."""
    found: list[CheckMessage] = []
    for key, spec in specs().items():
        try:
            from_environment(key)
        except BadValue as error:
            found.append(Error(str(error), hint=f"Correct or unset {spec.env_name}.", id="memoryweb.E004"))
    return found
