"""Three-way merge → text or labelled conflicts; MEMORY.md by row. PURE."""

from dreams.lib.diff.merge.index_rows import merge_index
from dreams.lib.diff.merge.three_way import (
    Adjacent,
    Choice,
    Chunk,
    Edited,
    Merge,
    Part,
    Side,
    UnresolvedConflictError,
    merge3,
)

__all__ = [
    "Adjacent",
    "Choice",
    "Chunk",
    "Edited",
    "Merge",
    "Part",
    "Side",
    "UnresolvedConflictError",
    "merge3",
    "merge_index",
]
