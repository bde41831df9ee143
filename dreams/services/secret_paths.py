"""File names with secrets in them: masked in everything that leaves, and understood where a mask is given back.

A name cannot be stored without its secret, because it is how the file is found. So whatever shows text (pages, commands,
answers over MCP) passes it through here last, and whatever takes names passes them through here first.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from urllib.parse import quote

from django.db import DatabaseError

from dreams.lib.secrets.masking import HIDDEN, Mask
from dreams.models import Memory


@dataclass(frozen=True, slots=True)
class SecretPaths:
    """`mask` hides the secrets of all file names; `meant` puts them back. No two secrets have one mask."""

    mask: Mask
    _secrets: dict[str, str]

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def meant(self, given: object) -> object:
        """What was given by somebody who was shown masks, as it is on disk; texts inside lists and dicts too."""
        return Mask(self._secrets).deep(given) if self else given


NONE = SecretPaths(Mask(), {})


def known() -> SecretPaths:
    """Those of all memories, gone ones too: the audit log names them. None where the database cannot be asked."""
    try:
        paths = list(Memory.objects.filter(secret_in_path=True).values_list("path", flat=True))
    except DatabaseError:
        return NONE
    return _of(paths)


def _of(paths: list[str]) -> SecretPaths:
    found = dict[str, str]()
    for value, short in Mask.of(paths).shown.items():
        hidden = short + HIDDEN[0] * sum(one.startswith(short) for one in found)
        found[hidden] = value
    return SecretPaths(
        Mask({form: hidden for hidden, value in found.items() for form in _forms(value)}), found
    )


def _forms(value: str) -> set[str]:
    """As it is, in HTML, and in an address."""
    return {value, html.escape(value), quote(value), quote(value, safe="")}
