"""Secrets in memory: where they stand, a proposal that takes them out of the files, and a purge of all that was kept.

`looking` finds them, `purging` proposes their removal, and is the one rewrite of what was kept.
"""

from dreams.services.secret_purge.looking import Leak, Leaks, look
from dreams.services.secret_purge.purging import (
    Purged,
    PurgeRefused,
    ids_at,
    places_of,
    propose,
    purge,
    resume,
)

__all__ = [
    "Leak",
    "Leaks",
    "PurgeRefused",
    "Purged",
    "ids_at",
    "look",
    "places_of",
    "propose",
    "purge",
    "resume",
]
