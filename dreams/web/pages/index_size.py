"""The size of an index against its limits, and the rows that are cut off: for lists, a project, a memory and an earlier day."""

from dataclasses import dataclass

from django.db.models import QuerySet

from dreams import conf
from dreams.lib import memdir
from dreams.models import Memory, Project
from dreams.models.prepared import prepared
from dreams.services import blobs


@dataclass(frozen=True, slots=True)
class IndexSize:
    """The index against its limits. `lost` are the rows beyond them, which the agent never sees."""

    lines: int
    bytes: int
    max_lines: int
    max_bytes: int
    lost: tuple[memdir.IndexRow, ...] = ()
    first_lost_line: int | None = None

    @property
    def by_bytes(self) -> bool:
        """Whether the limit of bytes is closer than that of lines."""
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
        """In thousands of bytes, like the limit: "20.4"."""
        return "under 0.1" if 0 < self.bytes < 50 else f"{self.bytes / 1000:.1f}"

    @property
    def max_size(self) -> str:
        return f"{self.max_bytes / 1000:g}"

    @property
    def label(self) -> str:
        return f"Index: {self.lines:,} of {self.max_lines:,} lines, {self.size} of {self.max_size} KB"


def size_by_row(lines: int, size: int, config: conf.Config) -> IndexSize:
    """From the database row, for lists: also counts frontmatter and comments, which the agent does not load."""
    return IndexSize(lines, size, config.index_max_lines, config.index_max_bytes)


def size_as_loaded(data: bytes, config: conf.Config) -> IndexSize:
    """As the agent loads it, with the rows that are cut off."""
    found = memdir.loaded(data, max_lines=config.index_max_lines, max_bytes=config.index_max_bytes)
    return IndexSize(
        lines=found.lines,
        bytes=found.bytes,
        max_lines=config.index_max_lines,
        max_bytes=config.index_max_bytes,
        lost=found.rows_dropped,
        first_lost_line=found.first_dropped_line,
    )


def size_of(project: Project, config: conf.Config) -> tuple[IndexSize | None, int | None]:
    """The index as the agent loads it, and its row's id; None if there is no index."""
    row = next(iter(_index_row(project.pk)), None)
    if row is None:
        return None, None
    data = blobs.get_many([row.sha256]).get(row.sha256)
    found = size_by_row(row.lines, row.size, config) if data is None else size_as_loaded(data, config)
    return found, row.pk


@prepared
def _index_row(project: int) -> QuerySet[Memory]:
    return Memory.objects.filter(project_id=project, path=memdir.INDEX_NAME, gone_at__isnull=True)[:1]
