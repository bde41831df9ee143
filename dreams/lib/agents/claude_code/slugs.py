"""Claude Code's folder name for a working directory. Pure: no Django.

The rule is lossy, so a slug is only ever computed from a path and compared, never decoded.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

MAX_SLUG = 200
_OTHER = re.compile(r"[^A-Za-z0-9]")


def slug_of(path: str) -> str:
    """The slug of a path: NFC, every character outside A-Z, a-z, 0-9 as `-`. Not yet cut at 200 characters.

    Characters beyond U+FFFF become two dashes, since the agent counts UTF-16 units.
    """
    normal = unicodedata.normalize("NFC", path)
    return _OTHER.sub(lambda m: "--" if ord(m[0]) > 0xFFFF else "-", normal)


def is_slug_of(name: str, path: str) -> bool:
    """Whether a folder of this name may be the one of `path`.

    Over 200 characters the agent cuts and adds a hash that differs between its versions: only the first 200 count.
    """
    slug = slug_of(path)
    if len(slug) <= MAX_SLUG:
        return name == slug
    return name.startswith(slug[:MAX_SLUG] + "-")


def folder_name(path: str, existing: Iterable[str]) -> str:
    """The folder name to use for `path`: one that exists, else the plain rule (cut at 200 when longer)."""
    slug = slug_of(path)
    if len(slug) <= MAX_SLUG:
        return slug
    return min((name for name in existing if is_slug_of(name, path)), default=slug[:MAX_SLUG])
