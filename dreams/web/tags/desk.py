"""What the pages' templates use: times, sizes, icons, Markdown, and addresses that keep the other filters.

`{% load desk %}`: `age`, `moment`, `absolute`, `short_path`, `bytes`, `tokens`, `money`, `markdown`, `visible`, `masked`, `breaks`, `brief`, `codes`, `linked`, `dots`, `words`, `section` (filters);
`hidden`, `transcript`, `icon`, `query`, `host`, `on_disk_of`, `asked_of_host`, `pages`, `bar`, `changed_size` (tags).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django import template
from django.core.paginator import Page
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from dreams.lib import ages, diff
from dreams.lib.secrets.masking import Mask
from dreams.models import Project
from dreams.services import host_requests, hosts
from dreams.web import amounts, icons, render
from dreams.web.pages.diffs import Bit, DiffLine, Line

register = template.Library()
# Entry of the navigation → how the names of its pages begin.
SECTIONS = {
    "inbox": ("inbox", "by-kind", "bulk", "snooze", "review", "conflict", "undo", "question"),
    "projects": ("project", "memory", "session"),
    "dreams": ("dream",),
}
# So many characters stand on one line anywhere.
SHORT_NAME = 20
MOST_DOTS = 12
_PROPOSAL = re.compile(r"(?<=\bProposal )(p[0-9a-z]{8})\b")
_DOTS = {
    "approved": '<i class="yes"></i>',
    "edited": '<i class="yes"></i>',
    "rejected": '<i class="no"></i>',
    "undone": '<i class="undone"></i>',
}
BAR_WIDTH = 40

register.filter("bytes", amounts.bytes_)
register.filter("tokens", amounts.tokens)
register.filter("rate", amounts.rate)
register.filter("lasting", amounts.lasting)
register.filter("money", amounts.money)


@register.filter
def age(moment: dt.datetime | None) -> str:
    """`<time>` with the distance as text ("3 h ago", "in 6 h") and the absolute time on hover and focus."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}" data-age>{}</time>',
        _iso(moment),
        with_zone(moment),
        ages.ago(moment, timezone.now()),
    )


@register.filter
def moment(when: dt.datetime | None) -> str:
    """As `age`, and the absolute time also for a keyboard's focus and, beside it, where no script runs."""
    if when is None:
        return ""
    return format_html(
        '<time class="moment" datetime="{}" title="{}" data-age tabindex="0">{}<noscript> ({})</noscript></time>',
        _iso(when),
        with_zone(when),
        ages.ago(when, timezone.now()),
        with_zone(when),
    )


@register.filter
def absolute(moment: dt.datetime | None) -> str:
    """ "12 Nov 2026 16:02", in the person's zone."""
    return f"{timezone.localtime(moment):%-d %b %Y %H:%M}" if moment else ""


def with_zone(moment: dt.datetime) -> str:
    """ "12 Nov 2026 16:02 GMT": a time that stands alone names its zone."""
    return f"{absolute(moment)} {timezone.localtime(moment):%Z}"


@register.filter
def stamp(moment: dt.datetime | None) -> str:
    """`<time>` with the absolute time as its text."""
    if moment is None:
        return ""
    return format_html(
        '<time datetime="{}" title="{}">{}</time>', _iso(moment), with_zone(moment), absolute(moment)
    )


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
    """Safe HTML; give a resolver as the argument to make `[[names]]` links."""
    return mark_safe(render.markdown(text, resolve))  # noqa: S308 - nh3 cleaned it, see dreams.web.render


@register.filter
def visible(text: str) -> str:
    """Text with what cannot be seen written out, such as ⟨U+202E⟩."""
    return diff.visible(str(text))


@register.filter
def masked(text: str) -> str:
    """Text without the secrets that stand in it."""
    return Mask.of([text])(text)


@register.filter
def brief(text: str, most: int) -> str:
    """At most `most` characters: the sentences that fit, else the words that do; "…" where something is left out."""
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
    """A name or path that wraps where its parts end, and not in the middle of a word. `short` ones stay whole."""
    parts = re.split(r"(?<=[/_-])(?=[^/_-])", str(name)) if len(name) > short else [name]
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in parts))


@register.filter
def dots(verdicts: Sequence[str]) -> SafeString:
    """A dot for each of the first verdicts, made here: some thousands of them are in one list."""
    shown = "".join(_DOTS.get(verdict, "<i></i>") for verdict in verdicts[:MOST_DOTS])
    more = "<small>…</small>" if len(verdicts) > MOST_DOTS else ""
    return mark_safe(shown + more)  # noqa: S308 - our own constants


@register.filter
def linked(text: str) -> SafeString:
    """A sentence that names a proposal by its id, with the id as the way there."""
    parts = _PROPOSAL.split(text)
    return format_html_join(
        "", "{}", ((_way(part) if place % 2 else part,) for place, part in enumerate(parts))
    )


def _way(public_id: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', reverse("review", args=[public_id]), public_id)


@register.simple_tag
def changed_size(added: int, removed: int) -> SafeString:
    """A bar of the lines that come and go, at most BAR_WIDTH wide."""
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
    """A sentence whose `commands` stand in backticks, as in a terminal, with them as code."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:
        return format_html("{}", text)
    return format_html_join(
        "", "{}", ((_code(part) if place % 2 else part,) for place, part in enumerate(parts))
    )


def _code(text: str) -> SafeString:
    return format_html("<code>{}</code>", text)


@register.simple_tag
def icon(name: str, extra: str = "") -> SafeString:
    """An inline picture for the eye only; the word beside it carries the meaning."""
    inside = mark_safe(icons.ICONS[name])  # noqa: S308 - our own constants
    return format_html(
        '<svg class="icon {}" width="16" height="16" viewBox="0 0 16 16" fill="none" stroke="currentColor"'
        ' stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{}</svg>',
        extra,
        inside,
    )


@register.filter
def words(line: Line | DiffLine) -> SafeString:
    """The text of a line of a difference: what changed in it is marked, and so is code and what a link leads to."""
    mark = "del" if line.kind == "del" else "ins"
    runs = (
        (run.changed, format_html_join("", "{}", ((_bit(bit),) for bit in run.bits))) for run in line.runs
    )
    marked = (format_html(f"<{mark}>{{}}</{mark}>", run) if changed else run for changed, run in runs)
    return format_html_join("", "{}", ((run,) for run in marked))


def _bit(bit: Bit) -> str:
    return format_html('<span class="look-{}">{}</span>', bit.look, bit.text) if bit.look else bit.text


@register.simple_tag
def transcript(session: int, line: int | None) -> str:
    """The address of a session, at a line of its transcript where one is known."""
    return reverse("session", args=[session]) + (f"?line={line}#line-{line}" if line else "")


@register.filter
def section(page: str | None) -> str:
    """Under which entry of the navigation a page is."""
    name = page or ""
    return next((one for one, starts in SECTIONS.items() if name.startswith(starts)), name)


@register.simple_tag
def hidden(**fields: object) -> SafeString:
    """The fields that a form carries unseen: `{% hidden back=back file=file.pk %}`; of a list one for each of its values."""
    return format_html_join(
        "",
        '<input type="hidden" name="{}" value="{}">',
        ((name, one) for name, value in fields.items() for one in _each(value)),
    )


def _each(value: object) -> Iterable[object]:
    return map(str, value) if isinstance(value, list | tuple) else [str(value)]


@register.simple_tag(takes_context=True)
def query(context: Mapping[str, Any], **changes: object) -> str:
    """`?…` of this page with `changes` made; an empty value takes a parameter out."""
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
    """The name of the host with this key, as a tag; nothing where the database has one host."""
    names: Mapping[str, str] = context.get("hosts") or {}
    return format_html('<span class="tag host">{}</span>', diff.visible(names.get(key, key))) if names else ""


@register.simple_tag
def on_disk_of(project: Project, what: str) -> str:
    """Says of `what` that it is on the disk of another host; nothing for a project of this host."""
    if not host_requests.is_elsewhere(project):
        return ""
    said = '<div class="message">{}<div><b>{} on {}.</b> Open memoryweb there to see it.</div></div>'
    return format_html(said, icon("disk"), what, diff.visible(hosts.name_of(project.host)))


@register.inclusion_tag("dreams/_host_requests.html", takes_context=True)
def asked_of_host(context: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """What is asked of the host that has the project's files, and what came of it; nothing for a project of this host."""
    return {
        "request": context["request"],
        "csrf_token": context.get("csrf_token"),
        "host_requests": host_requests.of_project(project),
    }


@register.inclusion_tag("_pages.html", takes_context=True)
def pages(context: Mapping[str, Any], page: Page[Any], place: str = "") -> dict[str, Any]:
    """Newer and older, with where one is; nothing when all fits on one page. `place` is where the list begins ("#history")."""
    return {"request": context["request"], "page": page, "place": place}


@register.inclusion_tag("_bar.html")
def bar(used: float, limit: float, label: str = "", extra: str = "") -> dict[str, Any]:
    """A budget: `used` of `limit`, what is over in another colour and pattern. `label` says it in words."""
    share = used / limit if limit else 0.0
    inside = min(share, 1.0)
    # Over the limit, the whole width is what is used, and the limit stands inside it.
    limit_at = 1 / share if share > 1 else 1.0
    return {
        "inside": round(300 * (inside if share <= 1 else limit_at), 1),
        "limit_at": round(300 * limit_at, 1),
        "over": round(300 * (1 - limit_at), 1),
        "is_over": share > 1,
        "label": label or f"{used:,.0f} of {limit:,.0f}",
        "extra": extra,
    }


def _iso(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat(timespec="seconds")
