"""What a searched text is, and how many of a kind are looked at. PURE."""

from __future__ import annotations

import enum

# A word that stands in more texts than this is looked for in the newest of them: nobody reads ten thousand results,
# and a page must not wait for them.
CANDIDATES = 20_000
# So many of the newest are looked at first: of a common word they hold more than a page counts.
FEW = 3_000


class Kind(enum.Enum):
    MEMORY = "memory"
    TYPED = "typed"
    SESSION = "session"
