"""`{% load search_marks %}`: `found`, `found_html` and `parts_found` mark search terms: in text, in safe HTML, in parts."""

import html
import re
from collections.abc import Iterable

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

from dreams.services.search.hits import ExcerptPart, marked
from dreams.web.tags.desk import breaks, visible

register = template.Library()
_TAG = re.compile(r"(<[^>]*>)")


@register.filter
def found(text: str, terms: tuple[str, ...] = ()) -> SafeString:
    """`text`, escaped, with each of the folded `terms` in a `<mark>`."""
    if not terms:
        return SafeString(conditional_escape(text))
    return _marked(text, terms)


@register.filter
def found_html(safe: SafeString, terms: tuple[str, ...] = ()) -> SafeString:
    """The same for safe HTML: only the text between its tags is marked."""
    if not terms:
        return safe
    pieces = _TAG.split(safe)
    done = [piece if at % 2 else _marked(html.unescape(piece), terms) for at, piece in enumerate(pieces)]
    return mark_safe("".join(done))  # noqa: S308 - tags as they were, and text that is escaped anew


@register.filter
def parts_found(parts: Iterable[ExcerptPart], is_name: bool = False) -> SafeString:
    """The parts of a search result's text, with matches marked; a name may wrap anywhere."""
    shown = ((visible(part.text), part.is_match) for part in parts)
    return _joined(
        (breaks(text, 0) if is_name and not is_match else text, is_match) for text, is_match in shown
    )


def _joined(pieces: Iterable[tuple[str, bool]]) -> SafeString:
    """Texts, escaped unless they are safe, in a `<mark>` if they match."""
    safe = ((conditional_escape(text), is_match) for text, is_match in pieces)
    return mark_safe("".join(f"<mark>{text}</mark>" if is_match else text for text, is_match in safe))  # noqa: S308 - escaped


def _marked(text: str, terms: tuple[str, ...]) -> SafeString:
    return _joined((part.text, part.is_match) for part in marked(text, terms))
