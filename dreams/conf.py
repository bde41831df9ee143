"""Every setting, once: its default, what it means, its bounds, and where its present value comes from.

A value is looked for in this order: the project's own override, the override for everywhere (both set in the
pages and kept in the database), the environment (`MEMORYWEB_<KEY>`), the default. The defaults are those of the
reference behaviour (24 h, 10 min, 5 sessions, 60 min, 200 lines, 25,000 bytes).
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import math
import urllib.parse
import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Q

from memoryweb import env

if TYPE_CHECKING:
    from dreams.models import Project

Value = bool | int | float | str
# Settings that the environment may also give without the prefix.
SHORT_NAMES: Mapping[str, tuple[str, ...]] = {"require_os_sandbox": ("REQUIRE_OS_SANDBOX",)}
SourceName = Literal["default", "environment", "everywhere", "project"]


class BadValue(ValueError):
    """A value that a setting does not take; the message names the setting, the value and what it takes."""


def setting(  # noqa: PLR0913 - one keyword per thing that a page shows
    default: Any,
    group: str,
    label: str,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: Mapping[str, str] | None = None,
    unit: str = "",
    per_project: bool = True,
    advanced: bool = False,
) -> Any:
    metadata = {
        "group": group,
        "label": label,
        "help": help,
        "minimum": minimum,
        "maximum": maximum,
        "choices": choices,
        "unit": unit,
        "per_project": per_project,
        "advanced": advanced,
    }
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Config:
    """One consistent set of values. Units are in `metadata["unit"]` and in the names."""

    # When to dream
    paused: bool = setting(
        False,
        "When",
        "Pause all dreaming",
        "No dream starts anywhere until this is switched off.",
        per_project=False,
    )
    dreaming: bool = setting(
        True, "When", "Dream here", "Off: this project is never dreamt about, not even when forced."
    )
    min_hours: float = setting(
        24.0,
        "When",
        "Hours between dreams",
        "Time since the last consolidation, by anyone.",
        minimum=0.01,
        maximum=8760,
        unit="h",
    )
    min_sessions: int = setting(
        5,
        "When",
        "Sessions needed",
        "Sessions touched since the last consolidation.",
        minimum=1,
        maximum=1000,
        unit="sessions",
    )
    scan_minutes: float = setting(
        10.0,
        "When",
        "Minutes between looks",
        "How often the sessions of a project are counted again.",
        minimum=0.01,
        maximum=1440,
        unit="min",
    )
    correction_weight: float = setting(
        1.0,
        "When",
        "Weight of a corrected session",
        "A session in which you corrected the agent counts this much. 1 is plain counting.",
        minimum=1,
        maximum=10,
        advanced=True,
    )
    live_minutes: float = setting(
        10.0,
        "When",
        "Minutes until a session is over",
        "A session whose process is not known is taken as live this long after its last byte.",
        minimum=0,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    lock_stale_minutes: float = setting(
        60.0,
        "When",
        "Minutes until a lock is stale",
        "A consolidation lock older than this may be taken even if its process lives.",
        minimum=1,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    max_dreams_at_once: int = setting(
        1,
        "When",
        "Dreams at once",
        "How many dreams may run at the same time.",
        minimum=1,
        maximum=16,
        per_project=False,
    )
    retry_minutes: float = setting(
        15.0,
        "When",
        "Minutes until a failed dream is tried again",
        "Doubles with every failure in a row, up to a day.",
        minimum=1,
        maximum=1440,
        unit="min",
        advanced=True,
    )
    max_attempts: int = setting(
        3,
        "When",
        "Tries of one dream",
        "After this many failures in a row a project waits a day.",
        minimum=1,
        maximum=20,
        advanced=True,
    )

    # Who dreams
    engine: str = setting(
        "rules",
        "Engine",
        "Engine",
        "Rules work with no key and no network. A model reads more between the lines, and costs money.",
        choices={"rules": "Rules (offline)", "anthropic": "Model (Anthropic API or compatible)"},
    )
    model: str = setting("claude-sonnet-5-5", "Engine", "Model", "The model's id, as its server knows it.")
    fallback_model: str = setting(
        "claude-haiku-5-5",
        "Engine",
        "Fallback model",
        "Used after three overloads in a row. Empty: none.",
        advanced=True,
    )
    effort: str = setting(
        "medium",
        "Engine",
        "Effort",
        "How hard the model thinks, where its server knows the option.",
        choices={"low": "Low", "medium": "Medium", "high": "High"},
        advanced=True,
    )
    max_turns: int = setting(
        60, "Engine", "Turns of one dream", "A dream ends after this many.", minimum=1, maximum=1000
    )
    max_tokens: int = setting(
        2_000_000,
        "Engine",
        "Tokens of one dream",
        "Input and output together.",
        minimum=1000,
        maximum=100_000_000,
        unit="tokens",
    )
    max_seconds: int = setting(
        1800,
        "Engine",
        "Seconds of one dream",
        "A dream is ended after this time.",
        minimum=10,
        maximum=3000,
        unit="s",
    )
    max_cost_dream: float = setting(
        1.0, "Budget", "Dollars of one dream", "0 is no limit.", minimum=0, maximum=10_000, unit="$"
    )
    max_cost_day: float = setting(
        5.0,
        "Budget",
        "Dollars of one day",
        "0 is no limit.",
        minimum=0,
        maximum=10_000,
        unit="$",
        per_project=False,
    )
    max_cost_month: float = setting(
        50.0,
        "Budget",
        "Dollars of one month",
        "0 is no limit.",
        minimum=0,
        maximum=100_000,
        unit="$",
        per_project=False,
    )
    max_cost_project: float = setting(
        20.0,
        "Budget",
        "Dollars of one project in a month",
        "0 is no limit.",
        minimum=0,
        maximum=100_000,
        unit="$",
    )
    require_os_sandbox: bool = setting(
        False,
        "Engine",
        "Refuse to dream without an OS sandbox",
        "On: a model dreams only where Landlock or bubblewrap fences its tools in.",
        per_project=False,
        advanced=True,
    )

    # What needs no person
    policy_findings: str = setting(
        "info",
        "Review",
        "Findings a policy accepts",
        "A change with a worse finding always waits for you, whatever a policy says.",
        choices={"none": "None at all", "info": "Notes", "warn": "Notes and warnings"},
    )

    # What an agent loads
    index_max_lines: int = setting(
        200,
        "Index",
        "Lines of the index",
        "An agent loads this many lines of MEMORY.md.",
        minimum=10,
        maximum=10_000,
        unit="lines",
    )
    index_max_bytes: int = setting(
        25_000,
        "Index",
        "Bytes of the index",
        "An agent loads this many bytes of MEMORY.md.",
        minimum=1000,
        maximum=10_000_000,
        unit="bytes",
    )
    row_aim: int = setting(
        150,
        "Index",
        "Characters of an index row",
        "What a row aims at.",
        minimum=40,
        maximum=2000,
        unit="characters",
        advanced=True,
    )
    row_max: int = setting(
        200,
        "Index",
        "Longest index row",
        "A longer row keeps its start; the rest moves into the topic file.",
        minimum=40,
        maximum=4000,
        unit="characters",
        advanced=True,
    )
    many_memories: int = setting(
        30,
        "Index",
        "Many memories",
        "Above this a page advises to merge. It never drops anything.",
        minimum=1,
        maximum=10_000,
        advanced=True,
    )

    # Where things are
    roots: str = setting(
        "",
        "Places",
        "Config folders of your agents",
        "One folder a line. Empty: MEMORYWEB_ROOTS, else CLAUDE_CONFIG_DIR, else ~/.claude.",
        per_project=False,
    )
    time_zone: str = setting(
        "",
        "Places",
        "Time zone",
        "For times on the pages and days in notes. Empty: the system's.",
        per_project=False,
    )

    # Telling you
    digest_email: str = setting(
        "",
        "Digest",
        "Mail a digest to",
        "Addresses, separated by commas. Empty: no mail. It tells names and counts, never contents.",
        per_project=False,
    )
    digest_webhook: str = setting(
        "",
        "Digest",
        "Post a digest to",
        "An https address that gets signed JSON. Empty: none.",
        per_project=False,
    )
    digest_hours: float = setting(
        24.0,
        "Digest",
        "Hours between digests",
        "Only when something waits. Without news, reminders come at longer and longer intervals.",
        minimum=1,
        maximum=744,
        unit="h",
        per_project=False,
    )
    public_url: str = setting(
        "",
        "Digest",
        "Address in links",
        "How you reach these pages from where you read mail. Empty: where this server runs.",
        per_project=False,
        advanced=True,
    )


@dataclass(frozen=True, slots=True)
class Spec:
    """What a page needs to show one setting and check a new value."""

    key: str
    kind: type
    default: Value
    group: str
    label: str
    help: str
    minimum: float | None
    maximum: float | None
    choices: Mapping[str, str] | None
    unit: str
    per_project: bool
    advanced: bool

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
        raise BadValue(f"{spec.label}: {value!r} is not one of {', '.join(spec.choices)}")
    if value and key in _CHECKS and (trouble := _CHECKS[key](value)):
        raise BadValue(f"{spec.label}: {trouble}")
    return value


def _bad_zone(value: str) -> str:
    known = value in zoneinfo.available_timezones()
    return "" if known else f"{value!r} is not a time zone such as Europe/Berlin or UTC"


def _bad_addresses(value: str) -> str:
    for address in value.split(","):
        try:
            validate_email(address.strip())
        except ValidationError:
            return f"{address.strip()!r} is not a mail address"
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
        return f"{value!r} is not an address"
    good = parts.scheme in ("http", "https") and parts.hostname
    return "" if good else f"{value!r} is not an address that starts with https://"


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_CHECKS: Mapping[str, Callable[[str], str]] = {
    "time_zone": _bad_zone,
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
    raise BadValue(f"{spec.label}: {raw!r} is neither on nor off")


def _number(spec: Spec, raw: object) -> int | float:
    try:
        number: int | float = spec.kind(str(raw).strip().replace("_", "").replace(",", ""))
    except ValueError as error:
        raise BadValue(
            f"{spec.label}: {raw!r} is not a {'whole ' if spec.kind is int else ''}number"
        ) from error
    if math.isnan(number) or (spec.minimum is not None and number < spec.minimum):
        raise BadValue(f"{spec.label}: {raw!s} is below the least value, {spec.minimum:g}")
    if spec.maximum is not None and number > spec.maximum:
        raise BadValue(f"{spec.label}: {raw!s} is above the greatest value, {spec.maximum:g}")
    return number


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
        from dreams.models import Override  # noqa: PLC0415 - pure callers use Config without the app registry

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
    if spec.per_project and spec.key in own:
        return Sourced(parse(spec.key, own[spec.key]), "project")
    if spec.key in everywhere:
        return Sourced(parse(spec.key, everywhere[spec.key]), "everywhere")
    given = from_environment(spec.key)
    if given is not None:
        return Sourced(given, "environment")
    return Sourced(spec.default, "default")


def current(project: Project | None = None) -> Config:
    """The values in force, for `project` or for everywhere; one query."""
    return Overrides.load(project).config(project.pk if project else None)


def zone(config: Config) -> dt.tzinfo:
    """The zone of days and of times on pages: the setting's, else the system's."""
    return zoneinfo.ZoneInfo(config.time_zone or settings.TIME_ZONE)


def engines() -> tuple[str, ...]:
    return tuple(specs()["engine"].choices or ())
