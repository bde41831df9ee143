"""Settings as the page shows them: what is in force, and where it comes from."""

from __future__ import annotations

import datetime as dt
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass

from dreams import conf
from dreams.models import Channel, Project
from dreams.services import notify

SOURCES = {
    "default": "Default",
    "environment": "From the environment",
    "everywhere": "Set here for all projects",
    "project": "Set for this project",
}
GROUPS = {
    "When": "When a project is ready to dream.",
    "Catching": "What you plainly say in a session becomes a card the same day.",
    "Engine": "What does the dreaming, and its limits.",
    "Budget": "What dreams may cost. Only a model costs anything.",
    "Review": "What policies may apply without you, and how many questions a dream asks.",
    "Index": "How much of MEMORY.md an agent loads, and how dreams write it.",
    "Places": "Where your agents keep their notes.",
    "Digest": "A summary of what is waiting for you, by mail or webhook. Off until you give an address; when it is sent is on Schedule.",
}
# Paused has its own place at the end, where nothing is pressed by accident.
APART = frozenset({"paused"})


@dataclass(frozen=True, slots=True)
class Setting:
    spec: conf.Spec
    value: conf.Value
    source: conf.SourceName
    source_label: str
    can_reset: bool
    text: str
    error: str = ""

    @property
    def is_switch(self) -> bool:
        return self.spec.kind is bool

    @property
    def is_number(self) -> bool:
        return self.spec.kind in (int, float)

    @property
    def is_long(self) -> bool:
        return self.spec.key == "roots"

    @property
    def default(self) -> str:
        return as_text(self.spec, self.spec.default)

    @property
    def bounds(self) -> str:
        low, high = self.spec.minimum, self.spec.maximum
        return f"{low:,.15g} to {high:,.15g}" if low is not None and high is not None else ""


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    sentence: str
    common: list[Setting]
    advanced: list[Setting]
    has_errors: bool


@dataclass(frozen=True, slots=True)
class Told:
    """A way of sending the digest that has an address, and how it went last."""

    label: str
    to: str
    sent_at: dt.datetime | None
    error: str


def channels() -> list[Told]:
    rows = {row.name: row for row in Channel.objects.all()}
    return [
        _told(Channel.Name(name), _without_login(to), rows.get(name))
        for name, to in notify.configured().items()
    ]


def _told(name: Channel.Name, to: str, row: Channel | None) -> Told:
    return Told(str(name.label), to, row.sent_at if row else None, row.error if row else "")


def _without_login(to: str) -> str:
    """A webhook's address often holds its secret: the host says enough."""
    return urllib.parse.urlsplit(to).hostname or to if "://" in to else to


def groups(
    project: Project | None, typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[Group]:
    """All settings by group; `typed` and `errors` are those of a form that was not taken."""
    values = conf.sourced(project)
    shown = [
        _setting(spec, values[key], project, (typed or {}).get(key), (errors or {}).get(key, ""))
        for key, spec in conf.specs().items()
        if key not in APART and (project is None or spec.per_project)
    ]
    found = [_group(name, [s for s in shown if s.spec.group == name]) for name in GROUPS]
    return [group for group in found if group.common or group.advanced]


def as_text(spec: conf.Spec, value: conf.Value) -> str:
    if spec.kind is bool:
        return "on" if value else "off"
    if spec.choices is not None:
        return spec.choices.get(str(value), str(value))
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def as_typed(spec: conf.Spec, value: conf.Value) -> str:
    """As a form has it: of a choice its value, not its name."""
    return as_text(spec, value) if spec.choices is None else str(value)


def _setting(
    spec: conf.Spec, found: conf.Sourced, project: Project | None, typed: str | None, error: str
) -> Setting:
    here: conf.SourceName = "project" if project is not None else "everywhere"
    plain = as_typed(spec, found.value)
    return Setting(
        spec=spec,
        value=found.value,
        source=found.source,
        source_label=SOURCES[found.source],
        can_reset=found.source == here,
        text=plain if typed is None else typed,
        error=error,
    )


def _group(name: str, settings: list[Setting]) -> Group:
    return Group(
        name=name,
        sentence=GROUPS[name],
        common=[s for s in settings if not s.spec.advanced],
        advanced=[s for s in settings if s.spec.advanced],
        has_errors=any(s.error for s in settings if s.spec.advanced),
    )
