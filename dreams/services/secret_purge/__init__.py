"""Secrets in memory: where they stand, a proposal that takes them out of the files, and a purge of all that was kept.

`looking` finds them, `purging` proposes their removal, and is the one rewrite of what was kept.
"""

from dreams.services.secret_purge.looking import Leak, Leaks, look
from dreams.services.secret_purge.purging import Purged, PurgeRefused, propose, purge, resume

__all__ = ["Leak", "Leaks", "PurgeRefused", "Purged", "look", "propose", "purge", "resume"]
