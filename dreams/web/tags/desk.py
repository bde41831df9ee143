"""Template tags and filters: times, sizes, icons, Markdown, and links that keep the other filters.

`{% load desk %}`: `age`, `due`, `moment`, `absolute`, `day`, `short_path`, `bytes`, `tokens`, `money`, `price`, `markdown`, `visible`, `masked`, `shown`, `breaks`, `brief`, `codes`, `linked`, `elsewhere`, `dots`, `words`, `may`, `section` (filters);
`hidden`, `part`, `transcript`, `icon`, `query`, `host`, `on_disk_of`, `asked_of_host`, `pages`, `bar`, `changed_size`, `options` (tags)."""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from django import template
from django.contrib.auth.models import AbstractUser
from django.core.paginator import Page
from django.http import HttpRequest
from django.template import loader
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dreams.lib import amounts, diff
from dreams.lib.secrets.masking import Mask
from dreams.models import Project
from dreams.services import host_requests, hosts, secret_paths
from dreams.services.people import role_of
from dreams.web import access, render
from dreams.web.hidden_secrets import shown
from dreams.web.pages.diffs import Bit, DiffLine
from dreams.web.pages.session import said_at

# Name → the content of an SVG. An icon is never the only sign of something: it always has a word.
ICONS: dict[str, str] = {
    "moon": '<path d="M12.6 10.3A5.6 5.6 0 0 1 5.7 3.4a5.6 5.6 0 1 0 6.9 6.9Z" fill="currentColor"/>',
    "inbox": '<path d="M2.5 9.5 4.4 3.8h7.2l1.9 5.7v3H2.5v-3Zm0 0h3.2l.8 1.5h3l.8-1.5h3.2"/>',
    "ok": '<circle cx="8" cy="8" r="5.8"/><path d="m5.4 8.2 1.8 1.8 3.4-3.8"/>',
    "check": '<path d="m3.5 8.5 3 3 6-7"/>',
    "cross": '<path d="m4 4 8 8m0-8-8 8"/>',
    "warn": '<path d="M8 2.6 14 13H2L8 2.6Z"/><path d="M8 6.6v3m0 1.6v.1"/>',
    "block": '<path d="M5.6 2.2h4.8l3.4 3.4v4.8l-3.4 3.4H5.6l-3.4-3.4V5.6l3.4-3.4Z"/><path d="M8 5v3.6m0 2v.1"/>',
    "info": '<circle cx="8" cy="8" r="5.8"/><path d="M8 7.4v3.4M8 5v.1"/>',
    "clock": '<circle cx="8" cy="8" r="5.8"/><path d="M8 4.6V8l2.3 1.5"/>',
    "gate-open": '<path d="M3 13.5V3.2l5 1.6v8.7M3 13.5h10.5V3.2H8"/><path d="M6.2 8.7v.8"/>',
    "gate-closed": '<rect x="3.3" y="7" width="9.4" height="6.3" rx="1"/><path d="M5.3 7V5a2.7 2.7 0 0 1 5.4 0v2"/>',
    "running": '<path d="M13.4 6.2A5.8 5.8 0 1 0 13.8 8"/><path d="M13.8 2.8v3.6h-3.6"/>',
    "pause": '<path d="M5.5 3.5v9m5-9v9"/>',
    "play": '<path d="M4.8 3.2 12.6 8l-7.8 4.8V3.2Z"/>',
    "stop": '<rect x="4" y="4" width="8" height="8" rx="1"/>',
    "undo": '<path d="M5.8 3 2.9 6l2.9 3"/><path d="M3 6h6.2a3.6 3.6 0 0 1 0 7.2H6.5"/>',
    "redo": '<path d="m10.2 3 2.9 3-2.9 3"/><path d="M13 6H6.8a3.6 3.6 0 0 0 0 7.2h2.7"/>',
    "edit": '<path d="m3 13 .6-2.9 6.9-6.9 2.3 2.3-6.9 6.9L3 13Z"/><path d="m9 4.7 2.3 2.3"/>',
    "file": '<path d="M4 2.5h5l3 3v8H4v-11Z"/><path d="M9 2.5v3h3"/>',
    "folder": '<path d="M2.3 4h4l1.3 1.7h6.1v7H2.3V4Z"/>',
    "memory": '<path d="M3.5 3h6.8l2.2 2.2V13h-9V3Z"/><path d="M5.8 7h4.4M5.8 9.5h4.4"/>',
    "index": '<path d="M5.8 4.3h7.2M5.8 8h7.2m-7.2 3.7h7.2M3 4.3h.1M3 8h.1M3 11.7h.1"/>',
    "session": '<path d="M2.5 3.5h11v7.6H8L5 13.4v-2.3H2.5V3.5Z"/>',
    "user": '<circle cx="8" cy="5.6" r="2.6"/><path d="M3 13.4c.5-2.7 2.4-4 5-4s4.5 1.3 5 4"/>',
    "agent": '<rect x="3" y="5.2" width="10" height="7.6" rx="1.5"/><path d="M8 5.2V2.8M6.2 8.5v1m3.6-1v1"/>',
    "pin": '<path d="M5.6 2.6h4.8M6.3 2.6v4.3L4.2 9h7.6L9.7 6.9V2.6M8 9v4.5"/>',
    "link": '<path d="M6.7 9.3a2.7 2.7 0 0 0 3.9 0l1.9-1.9a2.7 2.7 0 0 0-3.9-3.9l-.8.8"/><path d="M9.3 6.7a2.7 2.7 0 0 0-3.9 0L3.5 8.6a2.7 2.7 0 0 0 3.9 3.9l.8-.8"/>',
    "key": '<circle cx="5.3" cy="10.5" r="2.6"/><path d="m7.2 8.6 5.5-5.5m-2.4 2.4 1.9 1.9"/>',
    "disk": '<path d="M2.5 9.5 4.3 4h7.4l1.8 5.5v3h-11v-3Zm0 0h11"/><path d="M10.8 11.1h.1"/>',
    "shield": '<path d="M8 2.3 13 4v4c0 3-2.1 4.9-5 5.9C5.1 12.9 3 11 3 8V4l5-1.7Z"/>',
    "pulse": '<path d="M1.8 8.5h2.9l1.7-4.8 3 8.6 1.7-3.8h3.1"/>',
    "coins": '<ellipse cx="8" cy="4.5" rx="4.7" ry="2"/><path d="M3.3 4.5v7c0 1.1 2.1 2 4.7 2s4.7-.9 4.7-2v-7M3.3 8c0 1.1 2.1 2 4.7 2s4.7-.9 4.7-2"/>',
    "log": '<path d="M3 3.2h10M3 6.4h10M3 9.6h6.5M3 12.8h4"/>',
    "gear": '<circle cx="8" cy="8" r="2.1"/><path d="M8 2.2v1.7m0 8.2v1.7M2.2 8h1.7m8.2 0h1.7M3.9 3.9l1.2 1.2m5.8 5.8 1.2 1.2m0-8.2-1.2 1.2m-5.8 5.8-1.2 1.2"/>',
    "trash": '<path d="M2.8 4.3h10.4M6 4.3V2.7h4v1.6m-6 0 .6 9.2h6.8l.6-9.2"/>',
    "plus": '<path d="M8 3.2v9.6M3.2 8h9.6"/>',
    "minus": '<path d="M3.2 8h9.6"/>',
    "left": '<path d="M9.8 3.5 5.3 8l4.5 4.5"/>',
    "right": '<path d="M6.2 3.5 10.7 8l-4.5 4.5"/>',
    "down": '<path d="M3.5 6.2 8 10.7l4.5-4.5"/>',
    "download": '<path d="M8 2.8v7.4m-3-3 3 3 3-3M3 13.2h10"/>',
    "search": '<circle cx="7" cy="7" r="4.3"/><path d="m10.2 10.2 3.3 3.3"/>',
    "eye": '<path d="M1.8 8S4 4 8 4s6.2 4 6.2 4S12 12 8 12 1.8 8 1.8 8Z"/><circle cx="8" cy="8" r="1.8"/>',
    "menu": '<path d="M2.8 4.5h10.4M2.8 8h10.4M2.8 11.5h10.4"/>',
    "conflict": '<path d="M4.5 2.5v4.6L8 9.8m3.5-7.3v4.6L8 9.8m0 0v3.7"/>',
    "dot": '<circle cx="8" cy="8" r="3" fill="currentColor" stroke="none"/>',
}


register = template.Library()
# Entry of the navigation → prefixes of its pages' URL names.
SECTIONS = {
    "inbox": ("inbox", "by-kind", "bulk", "snooze", "review", "conflict", "undo", "question"),
    "projects": ("project", "memory", "session"),
    "dreams": ("dream",),
}
# This many characters fit on one line everywhere.
SHORT_NAME = 20
MOST_DOTS = 12
_PROPOSAL = re.compile(r"(?<=\bProposal )(p[0-9a-z]{8})\b")
_DOTS = {
    "approved": '<i class="yes"></i>',
    "edited": '<i class="yes"></i>',
    "rejected": '<i class="no"></i>',
    "undone": '<i class="undone"></i>',
}
BAR_WIDTH = 40  # units of the drawing; chosen

register.filter("bytes", amounts.bytes_)
register.filter("tokens", amounts.tokens)
register.filter("rate", amounts.rate)
register.filter("lasting", amounts.lasting)
register.filter("money", amounts.money)
register.filter("shown", shown)


@register.filter
def price(known: Decimal | None, unpriced: int) -> str:
    """The known cost; says if it is incomplete because some tokens have no price."""
    said = amounts.money(known)
    is_part = unpriced and known is not None
    return format_html('{} <span class="soft nowrap">+ unknown</span>', said) if is_part else said


@register.filter
def age(moment: dt.datetime | None) -> str:
    """`<time>` with the age ("3 h ago") and the absolute time on hover and focus."""
    return _distance(moment, "data-age", amounts.ago)


@register.filter
def due(moment: dt.datetime | None) -> str:
    """As `age`, for a time in the future: "in 6 h", "now"."""
    return _distance(moment, "data-due", amounts.until)


def _distance(moment: dt.datetime | None, kind: str, words: Callable[[dt.datetime, dt.datetime], str]) -> str:
    if moment is None:
        return ""
    opens = _time(moment, kind, timezone.get_current_timezone())
    return mark_safe(f"{opens}{words(moment, timezone.now())}</time>")  # noqa: S308 - in our own words


@lru_cache(maxsize=4_096)
def _time(moment: dt.datetime, kind: str, zone: dt.tzinfo) -> SafeString:
    del zone  # the reader's zone, for `with_zone`
    return format_html('<time datetime="{}" title="{}" {}>', _iso(moment), with_zone(moment), kind)


@register.filter
def aged(things: Iterable[Any]) -> tuple[tuple[Any, str], ...]:
    """Each row with the age of its `moment`, for a `part` that shows both."""
    return tuple((one, age(one.moment)) for one in things)


@register.filter
def moment(when: dt.datetime | None) -> str:
    """As `age`; the absolute time is also shown on keyboard focus, and always without JavaScript."""
    if when is None:
        return ""
    return format_html(
        '<time class="moment" datetime="{}" title="{}" data-age tabindex="0">{}<noscript> ({})</noscript></time>',
        _iso(when),
        with_zone(when),
        amounts.ago(when, timezone.now()),
        with_zone(when),
    )


@register.filter
def absolute(moment: dt.datetime | None) -> str:
    """ "12 Nov 2026 16:02", in the person's zone."""
    return f"{timezone.localtime(moment):%-d %b %Y %H:%M}" if moment else ""


def with_zone(moment: dt.datetime) -> str:
    """ "12 Nov 2026 16:02 GMT": for a time without context."""
    return f"{timezone.localtime(moment):%-d %b %Y %H:%M %Z}"


@register.filter
def stamp(moment: dt.datetime | None) -> str:
    """`<time>` with the absolute time as its text."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', _iso(moment), with_zone(moment), absolute(moment)
    )


@register.filter
def day(when: dt.date) -> str:
    """ "12 Nov 2026", for a date without a time zone."""
    return f"{when:%-d %b %Y}"


@register.filter
def short_path(path: str | Path) -> str:
    """The home folder as `~`; a long path keeps its first folder and its last three."""
    text, home = str(path), str(Path.home())
    if text == home or text.startswith(home + "/"):
        text = "~" + text[len(home) :]
    parts = text.split("/")
    return "/".join([*parts[:2], "…", *parts[-3:]]) if len(parts) > 6 and len(text) > 60 else text


@register.filter
def markdown(text: str, resolve: render.Resolver | None = None) -> SafeString:
    """Safe HTML; with a resolver as the argument, `[[names]]` become links."""
    return mark_safe(render.markdown(text, resolve))  # noqa: S308 - nh3 cleaned it, see dreams.web.render


@register.filter
def visible(text: str) -> str:
    """The text with invisible characters written out, such as ⟨U+202E⟩."""
    return diff.visible(str(text))


@register.filter
def masked(text: str) -> str:
    """The text with its secrets masked."""
    return Mask.of([text])(text)


@register.filter
def brief(text: str, most: int) -> str:
    """At most `most` characters: the sentences that fit, else the words that fit; "…" marks a cut."""
    if len(text) <= most:
        return text
    cut = text[: most - 2]
    sentence = max(cut.rfind(end) for end in (". ", "! ", "? ")) + 1
    if sentence > most // 3:
        return f"{cut[:sentence]} …"
    words, _, _ = cut.rpartition(" ")
    return f"{(words if len(words) > most // 2 else cut).rstrip(' ,;:')} …"


@register.filter
def breaks(name: str, short: int = SHORT_NAME) -> SafeString:
    """A name or path that wraps between its parts, not inside a word. `short` ones do not wrap."""
    parts = secret_paths.parts(str(name)) if len(name) > short else [name]
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in parts))


@register.filter
def dots(verdicts: Sequence[str]) -> SafeString:
    """A dot for each of the first verdicts. Made in Python: a list may have thousands of them."""
    shown = "".join(_DOTS.get(verdict, "<i></i>") for verdict in verdicts[:MOST_DOTS])
    more = "<small>…</small>" if len(verdicts) > MOST_DOTS else ""
    return mark_safe(shown + more)  # noqa: S308 - our own constants


@register.filter
def linked(text: str) -> SafeString:
    """A sentence with the id of a proposal as a link to it."""
    parts: list[str] = _PROPOSAL.split(text)
    parts[1::2] = [
        format_html('<a href="{}">{}</a>', reverse("review", args=[one]), one) for one in parts[1::2]
    ]
    return format_html_join("", "{}", ((part,) for part in parts))


@register.simple_tag
def changed_size(added: int, removed: int) -> SafeString:
    """A bar of added and removed lines, at most BAR_WIDTH wide."""
    scale = BAR_WIDTH / max(added + removed, BAR_WIDTH / 4)
    came, went = round(added * scale, 1), round(removed * scale, 1)
    whole = round(came + went, 1)
    return mark_safe(  # noqa: S308 - numbers
        f'<svg class="size" width="{whole}" height="6" viewBox="0 0 {whole} 6" aria-hidden="true">'
        f'<rect class="size-ins" width="{came}" height="6"/>'
        f'<rect class="size-del" x="{came}" width="{went}" height="6"/></svg>'
    )


@register.filter
def codes(text: str) -> SafeString:
    """A sentence with its `commands` in backticks as code."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:
        return format_html("{}", text)
    parts[1::2] = [format_html("<code>{}</code>", part) for part in parts[1::2]]
    return format_html_join("", "{}", ((part,) for part in parts))


@register.simple_tag
@lru_cache(maxsize=512)
def icon(name: str, extra: str = "") -> SafeString:
    """An inline icon, hidden from screen readers: the word beside it has the meaning."""
    inside = mark_safe(ICONS[name])  # noqa: S308 - our own constants
    return format_html(
        '<svg class="icon {}" width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor"'
        ' stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{}</svg>',
        extra,
        inside,
    )


@register.filter
def words(line: DiffLine) -> SafeString:
    """The text of a line of a diff, with changes, code and link targets marked."""
    mark = "del" if line.kind == "del" else "ins"
    runs = (
        (run.changed, format_html_join("", "{}", ((_bit(bit),) for bit in run.bits))) for run in line.runs
    )
    marked = (format_html(f"<{mark}>{{}}</{mark}>", run) if changed else run for changed, run in runs)
    return format_html_join("", "{}", ((run,) for run in marked))


def _bit(bit: Bit) -> str:
    return format_html('<span class="look-{}">{}</span>', bit.look, bit.text) if bit.look else bit.text


@register.simple_tag
def transcript(session: int, line: int | None, note: str = "") -> str:
    """The address of a quote: see `pages.session.said_at`."""
    return said_at(session, line, note)


@register.filter
def may(user: object, name: str) -> bool:
    """Whether a reader may use an address: `{% if user|may:"settings" %}`."""
    return isinstance(user, AbstractUser) and access.allows(role_of(user), name)


@register.filter
def section(page: str | None) -> str:
    """The entry of the navigation that a page belongs to."""
    name = page or ""
    return next((one for one, starts in SECTIONS.items() if name.startswith(starts)), name)


@register.simple_tag
def hidden(**fields: object) -> SafeString:
    """Hidden fields of a form: `{% hidden back=back file=file.pk %}`; for a list, one for each value."""
    return format_html_join(
        "",
        '<input type="hidden" name="{}" value="{}">',
        ((name, one) for name, value in fields.items() for one in _each(value)),
    )


@register.simple_tag
def options(choices: Iterable[tuple[object, str]], chosen: object = "") -> SafeString:
    """The options of a select field, cached: there may be hundreds of projects."""
    return _options(tuple(choices), str(chosen))


@lru_cache(maxsize=64)
def _options(choices: Iterable[tuple[object, str]], chosen: str) -> SafeString:
    selected = mark_safe(" selected")
    each = (
        (value, selected if str(value) == chosen else "", diff.visible(label)) for value, label in choices
    )
    return format_html_join("\n", '<option value="{}"{}>{}</option>', each)


def _each(value: object) -> Iterable[object]:
    return map(str, value) if isinstance(value, list | tuple) else [str(value)]


@register.simple_tag(takes_context=True)
def query(context: Mapping[str, Any], **changes: object) -> str:
    """The query string of this page with `changes`; an empty value removes a parameter."""
    request: HttpRequest = context["request"]
    params = request.GET.copy()
    for name, value in changes.items():
        if value in (None, ""):
            params.pop(name, None)
        else:
            params[name] = str(value)
    return f"?{params.urlencode()}" if params else request.path


@register.simple_tag(takes_context=True)
def host(context: Mapping[str, Any], key: str) -> str:
    """The name of the host with this key, as a tag; empty if the database has only one host."""
    names: Mapping[str, str] = context.get("hosts") or {}
    shown = diff.visible(names.get(key, key)) if names and key else ""
    return format_html('<span class="tag host">{}</span>', shown) if shown else ""


@register.simple_tag
def part(template: str, **given: object) -> SafeString:
    """Renders a template from its arguments alone, such as a row of a list, and caches the result.

    Ages, hosts and permissions must be arguments, as they differ between pages.
    """
    return _made_of(template, tuple((name, type(value), value) for name, value in given.items()))


MOST_PARTS = 4_096  # about a thousand bytes each


@lru_cache(maxsize=MOST_PARTS)
def _made_of(template: str, given: tuple[tuple[str, type, object], ...]) -> SafeString:
    return loader.render_to_string(template, {name: value for name, _, value in given})


@register.simple_tag
def on_disk_of(project: Project, what: str) -> str:
    """Says that `what` is on the disk of another host; empty for a project of this host."""
    if not host_requests.is_elsewhere(project):
        return ""
    said = '<div class="message">{}<div><b>{} on {}.</b> Open memoryweb there to see them.</div></div>'
    return format_html(said, icon("disk"), what, diff.visible(hosts.name_of(project.host)))


@register.filter
def elsewhere(project: Project) -> str:
    """The name of the other host that has the project's files; "" for a project of this host."""
    return hosts.name_of(project.host) if host_requests.is_elsewhere(project) else ""


@register.inclusion_tag("dreams/_host_requests.html", takes_context=True)
def asked_of_host(context: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """Requests to the host that has the project's files, and their results; empty for a project of this host."""
    return {
        "request": context["request"],
        "csrf_token": context.get("csrf_token"),
        "host_requests": host_requests.of_project(project),
        "refuses": host_requests.refuses(project),
    }


@register.inclusion_tag("_pages.html", takes_context=True)
def pages(context: Mapping[str, Any], page: Page[Any], place: str = "") -> dict[str, Any]:
    """Links to newer and older rows, with the position; empty for a single page. `place` is the list's anchor ("#history")."""
    return {"request": context["request"], "page": page, "place": place}


@register.inclusion_tag("_bar.html")
def bar(used: float, limit: float, label: str = "") -> dict[str, Any]:
    """A bar of `used` and `limit`, the excess in another colour and pattern. `label` describes it."""
    share = used / limit if limit else 0.0
    inside = min(share, 1.0)
    # Over the limit, the full width is the used amount, and the limit is a mark inside it.
    limit_at = 1 / share if share > 1 else 1.0
    return {
        "inside": round(300 * (inside if share <= 1 else limit_at), 1),
        "limit_at": round(300 * limit_at, 1),
        "over": round(300 * (1 - limit_at), 1),
        "is_over": share > 1,
        "label": label or f"{used:,.0f} of {limit:,.0f}",
    }


def _iso(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat(timespec="seconds")
