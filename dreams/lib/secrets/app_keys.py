"""Keys that every copy of an app carries, by their vendors' own words no secret: client keys, publishable keys, keys of nobody. PURE.

In what is added they block like any other key. What stands already is a person's to judge: a server may use such a key, too.
"""

from __future__ import annotations

import base64
import re

from dreams.lib.secrets.spotting import SecretSpan

_FORMS = re.compile(
    r"AIza|pk_(?:live|test)_|pk\.|phc_|sb_publishable_|FLWPUBK|(?:pub|sub)-c-|pubkey-|sq0idp-|(?:live|test)_pub_|rzp_"
)
# What the line says right before the value: "Production client_key: `", "anon key (web) →", "NEXT_PUBLIC_STRIPE_KEY=".
_NAMED = re.compile(
    r"(?:(?:publi(?:c|shable)|anon|client|browser)[ _-]?(?:api[ _-]?)?key|\b(?:NEXT_PUBLIC|NUXT_PUBLIC|EXPO_PUBLIC|VITE|REACT_APP)_\w*)"
    r"(?:\s?\([^()\n]{0,40}\))?(?:\W|\bis\b){0,12}$",
    re.IGNORECASE,
)
# Rules that go by a name alone; the form of every other says what a key is.
_BY_NAME = frozenset({"assigned-secret", "told-secret", "given-secret"})


def is_for_apps(text: str, span: SecretSpan) -> bool:
    """Whether a key that was spotted in `text` is one that an app shows to everybody who looks into it."""
    value = text[span.start : span.end]
    if _FORMS.match(value):
        return True
    if span.rule == "json-web-token":
        return _is_of_nobody(value)
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    return span.rule in _BY_NAME and _NAMED.search(before) is not None


def _is_of_nobody(token: str) -> bool:
    """Whether it is made out to the role of who is not logged in."""
    claims = token.split(".")[1]
    try:
        return b'"role":"anon"' in base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))
    except ValueError:
        return False
