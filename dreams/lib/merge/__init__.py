"""Three-way merge → text or labelled conflicts; MEMORY.md by row. PURE."""

from dreams.lib.merge.index import merge_index
from dreams.lib.merge.model import Choice, Chunk, Edited, Labels, Merge, Part, Side, UnresolvedConflictError
from dreams.lib.merge.three_way import Adjacent, merge3

__all__ = [
    "Adjacent",
    "Choice",
    "Chunk",
    "Edited",
    "Labels",
    "Merge",
    "Part",
    "Side",
    "UnresolvedConflictError",
    "merge3",
    "merge_index",
]
