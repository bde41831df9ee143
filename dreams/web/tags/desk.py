"""Template tags and filters: times, sizes, icons, Markdown, and links that keep the other filters.

`{% load desk %}`: `age`, `due`, `moment`, `absolute`, `day`, `short_path`, `bytes`, `tokens`, `money`, `price`, `markdown`, `visible`, `masked`, `shown`, `breaks`, `brief`, `codes`, `linked`, `folded_lines`, `elsewhere`, `dots`, `words`, `folded`, `may`, `seen_by`, `section` (filters);
`hidden`, `part`, `rows`, `transcript`, `icon`, `query`, `host`, `on_disk_of`, `asked_of_host`, `pages`, `bar`, `changed_size`, `options` (tags)."""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from django import template
from django.contrib.auth.models import AbstractUser
from django.core.paginator import Page
from django.http import HttpRequest
from django.template import loader
from django.urls import reverse
from django.utils import timezone
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dreams.lib import amounts, diff
from dreams.lib.files.text import plural
from dreams.lib.secrets.masking import masked
from dreams.models import Project
from dreams.services import host_requests, hosts, secret_paths
from dreams.services.people import role_of
from dreams.services.review import SecondWait
from dreams.web import access, render
from dreams.web.hidden_secrets import shown
from dreams.web.pages.diffs import Bit, DiffLine
from dreams.web.pages.session import quote_address
from dreams.web.tags.icons import ICONS

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
#: A line of more characters has a finding, too; about so many are seen of it.
LONG_LINE, OPEN_START = 1_000, 500
BAR_WIDTH = 40  # units of the drawing; chosen

register.filter("bytes", amounts.bytes_)
register.filter("tokens", amounts.tokens)
register.filter("rate", amounts.rate)
register.filter("lasting", amounts.lasting)
register.filter("money", amounts.money)
register.filter("masked", masked)
register.filter("shown", shown)
register.simple_tag(quote_address, name="transcript")


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
    return mark_safe("<wbr>".join(map(conditional_escape, parts)))  # noqa: S308 - escaped


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
    sizes = [sum(len(bit.text) for bit in run.bits) for run in line.runs]
    starts = accumulate(sizes, initial=0)
    late = any(run.changed and start > OPEN_START for run, start in zip(line.runs, starts, strict=False))
    return _folded(format_html_join("", "{}", ((run,) for run in marked)), sum(sizes), late)


@register.filter
def folded(text: str) -> SafeString:
    """A line of text; a long one shows its beginning, and the whole at a click."""
    return _folded(conditional_escape(text), len(text))


@register.filter
def folded_lines(text: str) -> SafeString:
    """A text for <pre>, each of whose long lines is folded."""
    return format_html_join("", "{}", ((folded(line),) for line in text.splitlines(keepends=True)))


def _folded(line: SafeString, size: int, is_open: bool = False) -> SafeString:
    """The text is in the page whole, so that copying and searching find all of it; styles cut what is seen.
    `is_open`: a change in it would be hidden."""
    if size <= LONG_LINE:
        return line
    shown = mark_safe(" open") if is_open else ""
    head = '<details class="line-fold"{}><summary>All {} characters</summary></details><div class="line-long">{}</div>'
    return format_html(head, shown, f"{size:,}", line)


def _bit(bit: Bit) -> str:
    return format_html('<span class="look-{}">{}</span>', bit.look, bit.text) if bit.look else bit.text


@register.filter
def may(user: object, name: str) -> bool:
    """Whether a reader may use an address: `{% if user|may:"settings" %}`."""
    return isinstance(user, AbstractUser) and access.allows(role_of(user), name)


@register.filter
def seen_by(second: SecondWait, name: str) -> dict[str, Any]:
    """What an account may approve as the second person, or all if nothing; and the files with changes that it decided itself."""
    left = second.left_for(name)
    own = dict.fromkeys(h.file.path for h in second.hunks if left.hunks and name in second.not_by[h.pk])
    told = " and ".join(own) if len(own) < 4 else plural(len(own), "file")
    return {"shown": left if left.hunks else second, "own": told}


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
        (
            (name, str(one))
            for name, value in fields.items()
            for one in (value if isinstance(value, list | tuple) else [value])
        ),
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


@register.simple_tag(takes_context=True)
def rows(
    context: Mapping[str, Any],
    template: str,
    items: Iterable[Any],
    ages: str = "",
    of: str = "",
    **given: object,
) -> SafeString:
    """Each of `items` by `part`, as `item`: a loop here takes a fifth of the time of one in a template.

    `ages` names moments of an item: the piece gets their ages. `of` names its host's key: the piece gets its tag as `host`.
    """
    found = []
    for item in items:
        passing = {name: age(getattr(item, name)) for name in ages.split()}
        if of:
            passing["host"] = host(context, getattr(item, of))
        found.append(part(template, item=item, **passing, **given))
    return mark_safe("".join(found))  # noqa: S308 - templates escape


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
