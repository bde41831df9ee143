"""How much of the index an agent loads, for the bar on the pages."""

from __future__ import annotations

from dataclasses import dataclass

from dreams import conf
from dreams.lib import memdir

MOST_ROWS_SHOWN = 30


@dataclass(frozen=True, slots=True)
class LostRow:
    """A row of the index that the agent never sees, because it stands behind the cut."""

    line_no: int
    title: str


@dataclass(frozen=True, slots=True)
class Budget:
    """The index against its limits. `exact` is False where only the file's own size is known, not what counts."""

    lines: int
    bytes: int
    max_lines: int
    max_bytes: int
    lost: tuple[LostRow, ...] = ()
    lost_count: int = 0
    first_lost_line: int | None = None
    exact: bool = True

    @property
    def by_bytes(self) -> bool:
        """Bytes are the tighter of the two limits."""
        return self.bytes / self.max_bytes > self.lines / self.max_lines

    @property
    def used(self) -> int:
        return self.bytes if self.by_bytes else self.lines

    @property
    def limit(self) -> int:
        return self.max_bytes if self.by_bytes else self.max_lines

    @property
    def is_over(self) -> bool:
        return self.used > self.limit

    @property
    def percent(self) -> int:
        return round(100 * self.used / self.limit)

    @property
    def size(self) -> str:
        """In thousands of bytes, as the limit is a round number of those: "20.4"."""
        return "under 0.1" if 0 < self.bytes < 50 else f"{self.bytes / 1000:.1f}"

    @property
    def max_size(self) -> str:
        return f"{self.max_bytes / 1000:g}"

    @property
    def label(self) -> str:
        return f"Index: {self.lines:,} of {self.max_lines:,} lines, {self.size} of {self.max_size} KB"


def of_size(lines: int, size: int, config: conf.Config) -> Budget:
    """From a row alone, for lists: frontmatter and comments are counted too, which the agent would not."""
    return Budget(lines, size, config.index_max_lines, config.index_max_bytes, exact=False)


def of_index(data: bytes, config: conf.Config) -> Budget:
    """As the agent loads it, with the rows that fall off."""
    found = memdir.loaded(data, max_lines=config.index_max_lines, max_bytes=config.index_max_bytes)
    lost = tuple(
        LostRow(row.line_no, row.title or row.target) for row in found.rows_dropped[:MOST_ROWS_SHOWN]
    )
    return Budget(
        lines=found.lines,
        bytes=found.bytes,
        max_lines=config.index_max_lines,
        max_bytes=config.index_max_bytes,
        lost=lost,
        lost_count=len(found.rows_dropped),
        first_lost_line=found.first_dropped_line,
    )
