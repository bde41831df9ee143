"""The YAML block at the head of a memory file, read as the text a person sees. PURE.

Values stay text: `1.10` is not a float, `on` not a boolean and `12:30` not 750. Only a bare null (empty, `~`,
`null`) becomes None.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from types import MappingProxyType
from typing import Literal, TypeAlias

from .text import split_lines

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
Shape: TypeAlias = Literal["flat", "nested", "none", "other"]

MEMORY_TYPES = ("user", "feedback", "project", "reference")

# Where each field stands, in order of precedence; the first is written when the file has none.
FIELD_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "name": ("name",),
        "description": ("description",),
        "type": ("type",),
        "pinned": ("pinned",),
        "origin_session_id": ("originSessionId", "origin_session_id"),
        "modified": ("modified", "modifiedAt", "updated", "updated_at", "last_updated"),
        "created": ("created", "createdAt", "created_at"),
    }
)
TOP_LEVEL_FIELDS = frozenset({"name", "description"})

_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^---[ \t]*\r?(?:\n|\Z)", re.MULTILINE)
_KEY_LINE = re.compile(r"^(?:[^\W\d][\w.-]*|\"[^\"\n]+\"|'[^'\n]+')[ \t]*:(?:[ \t]|\r?$)", re.MULTILINE)

_TRUE = frozenset({"true", "yes", "on", "1", "y"})
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


MOST_FIELDS = 100  # of one mapping


def _fields(found: Mapping[str, Value], above: str = "") -> Iterator[tuple[str, str]]:
    for key, value in islice(found.items(), MOST_FIELDS):
        if isinstance(value, dict):
            yield from _fields(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", _as_text(value)


def _as_text(value: Value) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {text}" for name, text in _fields(value))
    if isinstance(value, list):
        return ", ".join(map(_as_text, value))
    return value or ""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What the block says. `problem` is a sentence for a person when the block is not clean YAML, else None."""

    shape: Shape
    raw: Mapping[str, Value]
    problem: str | None = None

    @property
    def metadata(self) -> Mapping[str, Value]:
        """The nested `metadata:` mapping, empty where there is none."""
        nested = self.raw.get("metadata")
        return nested if isinstance(nested, dict) else {}

    def text(self, field: str) -> str | None:
        """The text of a field of FIELD_KEYS, wherever it stands; None when it is missing, null or no text."""
        place = self.place(field)
        value = None if place is None else self._at(place)
        return value if isinstance(value, str) else None

    def place(self, field: str) -> tuple[str, ...] | None:
        """The path of keys where the field stands, such as `("metadata", "type")`."""
        keys = FIELD_KEYS[field]
        top = [(key,) for key in keys if key in self.raw]
        nested = [("metadata", key) for key in keys if key in self.metadata]
        found: list[tuple[str, ...]] = [*top, *nested] if field in TOP_LEVEL_FIELDS else [*nested, *top]
        return found[0] if found else None

    def _at(self, place: tuple[str, ...]) -> Value:
        return self.raw[place[0]] if len(place) == 1 else self.metadata[place[1]]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """(name, text) of every value, to be read by a person; the name of a nested one has dots."""
        return list(_fields(self.raw))

    @property
    def name(self) -> str | None:
        return self.text("name")

    @property
    def description(self) -> str | None:
        return self.text("description")

    @property
    def type(self) -> str | None:
        """One of MEMORY_TYPES, or the other word that stands there."""
        return self.text("type")

    @property
    def pinned(self) -> bool:
        """Pinned memories are never removed, merged or reworded."""
        return (self.text("pinned") or "").strip().lower() in _TRUE

    @property
    def origin_session_id(self) -> str | None:
        return self.text("origin_session_id")

    @property
    def modified(self) -> str | None:
        return self.text("modified")

    @property
    def created(self) -> str | None:
        return self.text("created")

    @property
    def modified_at(self) -> datetime | date | None:
        """`modified` as an aware datetime, or as the day when no offset stands with it."""
        return parse_moment(self.modified)

    @property
    def created_at(self) -> datetime | date | None:
        """`created` as an aware datetime, or as the day when no offset stands with it."""
        return parse_moment(self.created)


def parse_moment(text: str | None) -> datetime | date | None:
    """An ISO date or date and time; one without an offset is only good for its day."""
    if text is None or not _DAY.match(text.strip()):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    # The time zone of a time without an offset is anybody's guess; its day is not far wrong.
    return moment if moment.tzinfo is not None and len(text.strip()) > 10 else moment.date()


def head_length(text: str) -> int:
    """How many characters the frontmatter takes, both `---` lines included; 0 when there is none.

    Prose between two thematic breaks is not frontmatter: the block must be empty or hold a `key:` line.
    """
    opened = _OPEN.match(text)
    closed = opened and _CLOSE.search(text, opened.end())
    if not opened or not closed:
        return 0
    block = text[opened.end() : closed.start()]
    return closed.end() if _KEY_LINE.search(block) or not _has_content(block) else 0


def _has_content(block: str) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in block.splitlines())


def block_of(head: str) -> str:
    """The lines between the two `---` lines of a head."""
    lines = split_lines(head)
    return "".join(lines[1:-1])
