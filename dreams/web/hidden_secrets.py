"""Masks secrets and invisible characters on their way to a page, until a person asks to see them. Each request is logged."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase

from dreams.lib import diff
from dreams.lib.files.text import decode, encode
from dreams.lib.secrets import redact
from dreams.lib.secrets.masking import Mask
from dreams.models import Memory, Proposal
from dreams.services import review, secret_paths
from dreams.services.review import Actor
from dreams.web.access import actor


@dataclass(frozen=True, slots=True)
class Sight:
    """`known` finds every secret of the texts on a page; `is_bare`: somebody asked to see them."""

    known: Mask
    is_bare: bool

    @classmethod
    def of(cls, texts: Iterable[str], *, is_bare: bool) -> "Sight":
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
    asked = _name(thing) in request.session.get(KEY, ())
    if asked:
        request.shows_secrets = True  # type: ignore[attr-defined] # read below, on the way out
    return asked


def turn(request: HttpRequest, thing: Memory | Proposal) -> None:
    """Show this visit the secrets as they stand (`show=1` in the form), or mask them again."""
    asked = [one for one in request.session.get(KEY, ()) if one != _name(thing)]
    if request.POST.get("show") == "1":
        review.log_secrets_shown(thing, Actor(actor(request)))
        asked = [*asked[1 - MOST :], _name(thing)]
    request.session[KEY] = asked


def _name(thing: Memory | Proposal) -> str:
    return thing.public_id if isinstance(thing, Proposal) else f"memory {thing.pk}"


# --- File names -----------------------------------------------------------------------------------------------------

#: What a person types is never masked: saved, the mask would stand in place of the secret.
_TYPED = re.compile(r"(<textarea\b.*?</textarea>)", re.DOTALL)


def secret_paths_masked(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """File names on every page without their secrets; a link or form that names one by its mask still finds it."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        paths = secret_paths.known()
        if not paths:
            return get_response(request)
        request.GET, request.POST = _meant(paths, request.GET), _meant(paths, request.POST)  # type: ignore[assignment]
        response = get_response(request)
        return response if hasattr(request, "shows_secrets") else _masked(paths.mask, response)

    return middleware


def _meant(paths: secret_paths.SecretPaths, given: QueryDict) -> QueryDict:
    found = given.copy()
    for key, values in given.lists():
        found.setlist(key, [str(paths.meant(value)) for value in values])
    return found


def _masked(mask: Mask, response: HttpResponseBase) -> HttpResponseBase:
    if isinstance(response, StreamingHttpResponse):
        response.streaming_content = (encode(mask(decode(part))) for part in response)
    elif isinstance(response, HttpResponse):
        pieces = _TYPED.split(decode(response.content))
        response.content = encode("".join(one if n % 2 else mask(one) for n, one in enumerate(pieces)))
        if "Content-Length" in response:
            response["Content-Length"] = str(len(response.content))
    return response
