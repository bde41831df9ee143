"""Masks secrets and invisible characters on pages until a person asks to see them. Each such request is logged."""

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
    """`known` finds every secret in the texts of a page; `is_bare`: the visitor asked to see them."""

    known: Mask
    is_bare: bool

    @classmethod
    def of(cls, texts: Iterable[str], *, is_bare: bool) -> "Sight":
        return Sight(Mask.of(texts), is_bare)

    @property
    def mask(self) -> Mask:
        """Hides secrets unless the visitor asked to see them."""
        return Mask() if self.is_bare else self.known

    @property
    def secrets(self) -> int:
        """How many different ones there are."""
        return len(self.known.shown)


def shown(text: str) -> str:
    """A text of a transcript with its secrets masked. Pages show no transcript text without it."""
    return diff.visible(redact.redact(text).replace("\r\n", "\n"))


KEY = "bare"
#: A visit remembers this many; beyond it, the oldest are masked again.
MOST = 50


def is_bare(request: HttpRequest, thing: Memory | Proposal) -> bool:
    asked = _name(thing) in request.session.get(KEY, ())
    if asked:
        request.shows_secrets = True  # type: ignore[attr-defined] # read below, on the way out
    return asked


def show_or_mask(request: HttpRequest, thing: Memory | Proposal) -> None:
    """Shows this visit the secrets (`show=1` in the form), or masks them again."""
    asked = [one for one in request.session.get(KEY, ()) if one != _name(thing)]
    if request.POST.get("show") == "1":
        review.log_secrets_shown(thing, Actor(actor(request)))
        asked = [*asked[1 - MOST :], _name(thing)]
    request.session[KEY] = asked


def _name(thing: Memory | Proposal) -> str:
    return thing.public_id if isinstance(thing, Proposal) else f"memory {thing.pk}"


# --- File names -----------------------------------------------------------------------------------------------------

#: Text fields are never masked: saving them would replace the secret with the mask.
_TYPED = re.compile(r"(<textarea\b.*?</textarea>)", re.DOTALL)


def secret_paths_masked(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """Masks secrets in file names on every page. Links and forms with the masked name still find the file."""

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
