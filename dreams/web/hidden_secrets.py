"""Secrets and what cannot be seen, on their way to a page: masked until a person asks for them. Each asking is logged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest

from dreams.lib import diff
from dreams.lib.secrets import redact
from dreams.lib.secrets.masking import Mask
from dreams.models import Memory, Proposal
from dreams.services import review
from dreams.services.review import Actor
from dreams.web.access import actor


@dataclass(frozen=True, slots=True)
class Sight:
    """`known` finds every secret of the texts on a page; `is_bare`: somebody asked to see them."""

    known: Mask
    is_bare: bool

    @classmethod
    def of(cls, texts: Iterable[str], *, is_bare: bool) -> Sight:
        return Sight(Mask.of(texts), is_bare)

    @property
    def mask(self) -> Mask:
        """Hides those that nobody asked to see."""
        return Mask() if self.is_bare else self.known

    @property
    def secrets(self) -> int:
        """How many different ones there are."""
        return len(self.known.shown)


def shown(text: str) -> str:
    """The one place through which every text of a transcript passes before a page shows it."""
    return diff.visible(redact.redact(text).replace("\r\n", "\n"))


KEY = "bare"
#: A visit remembers as many; of more, those asked for first are masked again.
MOST = 50


def is_bare(request: HttpRequest, thing: Memory | Proposal) -> bool:
    return _name(thing) in request.session.get(KEY, ())


def turn(request: HttpRequest, thing: Memory | Proposal) -> None:
    """Show this visit the secrets as they stand (`show=1` in the form), or mask them again."""
    asked = [one for one in request.session.get(KEY, ()) if one != _name(thing)]
    if request.POST.get("show") == "1":
        review.log_secrets_shown(thing, Actor(actor(request)))
        asked = [*asked[1 - MOST :], _name(thing)]
    request.session[KEY] = asked


def _name(thing: Memory | Proposal) -> str:
    return thing.public_id if isinstance(thing, Proposal) else f"memory {thing.pk}"
