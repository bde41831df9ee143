"""Three-way merge → text or labelled conflicts; MEMORY.md by row. PURE."""

from dreams.merge.index import merge_index
from dreams.merge.model import Choice, Chunk, Edited, Labels, Merge, Part, Side, UnresolvedConflictError
from dreams.merge.three_way import Adjacent, merge3

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
