"""Secrets are masked on pages until a person asks for them: which ones this visit asked for. Each asking is logged."""

from __future__ import annotations

from django.http import HttpRequest

from dreams.models import Memory, Proposal
from dreams.services import review
from dreams.services.review import Reviewer
from dreams.web.access import actor

KEY = "bare"
#: A visit remembers as many; of more, those asked for first are masked again.
MOST = 50


def is_bare(request: HttpRequest, thing: Memory | Proposal) -> bool:
    return _name(thing) in request.session.get(KEY, ())


def turn(request: HttpRequest, thing: Memory | Proposal) -> None:
    """Show this visit the secrets as they stand (`show=1` in the form), or mask them again."""
    asked = [one for one in request.session.get(KEY, ()) if one != _name(thing)]
    if request.POST.get("show") == "1":
        review.log_secrets_shown(thing, Reviewer(actor(request)))
        asked = [*asked[1 - MOST :], _name(thing)]
    request.session[KEY] = asked


def _name(thing: Memory | Proposal) -> str:
    return thing.public_id if isinstance(thing, Proposal) else f"memory {thing.pk}"
