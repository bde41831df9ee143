"""The engines page: each project's engine, limits, prices, and the connection to a model. A fixed number of queries."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.cache import cache
from django.db.models.functions import Lower
from django.utils import timezone

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.engines.anthropic.probe import Probed
from dreams.engines.tokens import PriceTable, rate_for
from dreams.lib.amounts import exact, money
from dreams.models import Project
from dreams.services import pricing
from dreams.services.doctor import Check, installation
from dreams.web.pages.projects import with_unique_names
from dreams.web.pages.settings import SOURCES, as_text
from dreams.web.paging import listed, page_of

PAGE_SIZE = 40  # rows; chosen
MOST_MODELS = 20  # rows; chosen
GROUPS = ("Engine", "Budget")
LAST_TEST = "engines:last-test"
KEPT_SECONDS = 7 * 86_400  # an older test says little; chosen
RULES = "rules"
KEPT_OUT = "It never appears in a page, a log, the database or the tools’ environment"


def engines(number: str | None) -> dict[str, Any]:
    overrides = conf.Overrides.load()
    config, prices = overrides.config(None), pricing.table()
    projects = Project.objects.filter(gone_at=None).order_by(Lower("name"), "pk")
    configs = {pk: overrides.config(pk) for pk in overrides.by_project}
    page = page_of(projects, number, PAGE_SIZE)
    present = set(projects.filter(pk__in=configs).values_list("pk", flat=True))
    choices = [config, *(own for pk, own in configs.items() if pk in present)]
    priced, unpriced = _prices(choices, prices)
    names = dict(with_unique_names((one.pk, str(one)) for one in page.object_list))
    return {
        "config": config,
        "values": _values(overrides.sourced(None)),
        "priced": priced,
        "unpriced": unpriced,
        "are_all_away": not page.paginator.count and Project.objects.exists(),
        "rows": listed(page, lambda project: _row(project, names, overrides, prices)),
        "uses_model": any(one.engine != RULES for one in choices),
    }


def _row(
    project: Project, names: Mapping[int, str], overrides: conf.Overrides, prices: PriceTable
) -> dict[str, Any]:
    found = overrides.sourced(project.pk)
    config = overrides.config(project.pk)
    return {
        "project": project,
        "name": names[project.pk],
        "config": config,
        "uses_model": config.engine != RULES,
        "source": SOURCES[found["engine"].source],
        "own": [spec.label for key, spec in _specs() if found[key].source == "project" and key != "engine"],
        "is_priced": rate_for(prices, config.model, 1) is not None,
    }


def _specs() -> list[tuple[str, conf.Spec]]:
    return [(key, spec) for key, spec in conf.specs().items() if spec.group in GROUPS]


def _values(found: Mapping[str, conf.Sourced]) -> list[dict[str, Any]]:
    return [
        {
            "label": spec.label.replace("Seconds of", "Time of"),
            "text": _shown(spec, found[key].value),
            "source": SOURCES[found[key].source],
            "is_default": found[key].source == "default",
        }
        for key, spec in _specs()
    ]


def _shown(spec: conf.Spec, value: conf.Value) -> str:
    if isinstance(value, bool):
        return as_text(spec, value).capitalize()
    if not isinstance(value, int | float):
        return as_text(spec, value)
    if spec.unit == "$":
        return money(value) if value else "No limit"
    if spec.unit == "s":
        return exact(dt.timedelta(seconds=value))
    return f"{value:,} {spec.unit}".rstrip()


def _prices(choices: Iterable[conf.Config], prices: PriceTable) -> tuple[list[dict[str, Any]], ...]:
    """Each model once, in the order of the settings, with what uses it: those with a price, and those without."""
    users: dict[str, set[str]] = {}
    for config in choices:
        for model, use in ((config.model, "model"), (config.usable_fallback, "fallback")):
            if model:
                users.setdefault(model, set()).add(use)
    priced, unpriced = list[dict[str, Any]](), list[dict[str, Any]]()
    for model, uses in list(users.items())[:MOST_MODELS]:
        rate = rate_for(prices, model, 1)
        row = {"model": model, "rate": rate, "users": " and ".join(sorted(uses, reverse=True))}
        (priced if rate else unpriced).append(row)
    return priced, unpriced


# --- Connection to a model -------------------------------------------------------------------------------------------


def connection_checks(uses_model: bool) -> list[Check]:
    """Server, key and sandbox as rows: their state, and a remedy if something is missing."""
    found = keys.state()
    return [_server(found), _key(found, uses_model), installation.sandbox()]


def _server(found: keys.KeyState) -> Check:
    if not found.host:
        return Check("Server", "bad", "ANTHROPIC_BASE_URL is not an address", remedy=found.remedy)
    given = (
        "From ANTHROPIC_BASE_URL"
        if found.base_url != keys.ANTHROPIC_URL
        else "Anthropic’s own, unless ANTHROPIC_BASE_URL names another"
    )
    return Check("Server", "info", found.base_url, given)


def _key(found: keys.KeyState, uses_model: bool) -> Check:
    if found.usable:
        return Check("Key", "ok", found.said, "" if found.source == "none needed" else KEPT_OUT)
    if not uses_model:
        remedy = found.remedy.replace(keys.OR_RULES, "")
        return Check("Key", "info", found.said, "The rules engine needs none; a model does", remedy)
    return Check("Key", "bad", found.said, "A model is chosen, and its dreams will fail", found.remedy)


def save_test(model: str, finding: Probed) -> None:
    """Keeps the result for the next page and for later visitors."""
    state = keys.state()
    cache.set(LAST_TEST, (timezone.now(), model, state.base_url, state.host, finding), KEPT_SECONDS)


def last_test() -> dict[str, Any] | None:
    match cache.get(LAST_TEST):
        case (dt.datetime() as at, str(model), str(base_url), str(host), Probed() as finding):
            pass
        case _:
            return None  # none yet, or kept by another version
    return {
        "at": at,
        "model": model,
        "host": host,
        "finding": finding,
        "is_old": base_url != keys.state().base_url,
    }
