"""Parses the YAML block at the head of a memory file into the text a person sees: a fast path for simple lines, YAML for
the rest. PURE."""

import functools
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from types import MappingProxyType
from typing import Literal, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from dreams.lib.memdir.text import split_lines

Value: TypeAlias = "str | list[Value] | dict[str, Value] | None"
Shape: TypeAlias = Literal["flat", "nested", "none", "other"]

MEMORY_TYPES = ("user", "feedback", "project", "reference")

# The places of each field, in order of precedence; the first is used when adding it to a file.
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
    """The parsed block. `problem` is a sentence for a person if the block is not valid YAML, else None."""

    shape: Shape
    raw: Mapping[str, Value]
    problem: str | None = None

    @property
    def metadata(self) -> Mapping[str, Value]:
        """The nested `metadata:` mapping, empty if there is none."""
        nested = self.raw.get("metadata")
        return nested if isinstance(nested, dict) else {}

    def text(self, field: str) -> str | None:
        """The text of a field of FIELD_KEYS, in any of its places; None if it is missing, null or no text."""
        place = self.place(field)
        value = None if place is None else self._at(place)
        return value if isinstance(value, str) else None

    def place(self, field: str) -> tuple[str, ...] | None:
        """The path of keys to the field, such as `("metadata", "type")`."""
        keys = FIELD_KEYS[field]
        top = [(key,) for key in keys if key in self.raw]
        nested = [("metadata", key) for key in keys if key in self.metadata]
        found: list[tuple[str, ...]] = [*top, *nested] if field in TOP_LEVEL_FIELDS else [*nested, *top]
        return found[0] if found else None

    def _at(self, place: tuple[str, ...]) -> Value:
        return self.raw[place[0]] if len(place) == 1 else self.metadata[place[1]]

    @property
    def fields(self) -> list[tuple[str, str]]:
        """(name, text) of every value, for people to read; the name of a nested one has dots."""
        return list(_fields(self.raw))

    @property
    def name(self) -> str | None:
        return self.text("name")

    @property
    def description(self) -> str | None:
        return self.text("description")

    @property
    def type(self) -> str | None:
        """One of MEMORY_TYPES, or any other word in the field."""
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
        """`modified` as an aware datetime, or as a date if it has no offset."""
        return parse_moment(self.modified)

    @property
    def created_at(self) -> datetime | date | None:
        """`created` as an aware datetime, or as a date if it has no offset."""
        return parse_moment(self.created)


def parse_moment(text: str | None) -> datetime | date | None:
    """Parses an ISO date or date and time; returns a date if it has no offset."""
    if text is None or not _DAY.match(text.strip()):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    # The time zone of a time without an offset is unknown; its day is nearly right.
    return moment if moment.tzinfo is not None and len(text.strip()) > 10 else moment.date()


def head_length(text: str) -> int:
    """The number of characters of the frontmatter, both `---` lines included; 0 if there is none.

    Prose between two thematic breaks is not frontmatter: the block must be empty or contain a `key:` line.
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


# --- From lines to values --------------------------------------------------------------------------------------------

MAX_BLOCK_CHARS = 32_768  # chosen
MOST_KEPT = 2_000  # blocks, which a dream parses repeatedly; chosen
MAX_YAML_VALUES = 1_000  # counted after aliases are followed, so that an alias bomb stops here
MAX_YAML_DEPTH = 12  # levels; chosen
MAX_BRACKETS = 200  # thousands of nested ones would keep the YAML reader busy for a second

# Characters that YAML allows unescaped, except line separators and the byte order mark.
_BEYOND_ASCII = "\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_TEXT = f" -~{_BEYOND_ASCII}"
PLAIN = rf"(?![-?:,\[\]{{}}#&*!|>'\"%@`= ])(?:(?!: |:$| #)[{_TEXT}])*(?<! )"
# A one-line value that YAML and a person read alike. Everything else is parsed as YAML.
_SIMPLE = re.compile(
    rf"(?P<indent> *)(?P<key>[A-Za-z_][\w-]*):(?: +(?:\"(?P<double>[ !#-\[\]-~{_BEYOND_ASCII}]*)\""
    rf"|'(?P<single>[ -&(-~{_BEYOND_ASCII}]*)'|(?P<plain>{PLAIN})))? *",
    re.ASCII,
)
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_SALVAGE = re.compile(r"(?P<indent>[ \t]*)(?P<key>[^\W\d][\w.-]*)[ \t]*:(?:[ \t]+(?P<value>.*))?")


@functools.lru_cache(maxsize=MOST_KEPT)
def parse_block(block: str) -> Frontmatter:
    """Parses the lines between the two `---` lines."""
    if len(block) > MAX_BLOCK_CHARS:
        problem = f"The frontmatter is longer than {MAX_BLOCK_CHARS:,} characters: shorten it."
        return _frontmatter(_read_line_by_line(block[:MAX_BLOCK_CHARS]), problem)
    simple = read_simple(block)
    if simple is not None:
        return _frontmatter(simple, None)
    return read_yaml(block)


def _frontmatter(raw: dict[str, Value], problem: str | None) -> Frontmatter:
    shape: Shape = "other"
    if isinstance(raw.get("metadata"), dict):
        shape = "nested"
    elif any(key in raw for keys in FIELD_KEYS.values() for key in keys):
        shape = "flat"
    elif not raw:
        shape = "none"
    return Frontmatter(shape, MappingProxyType(raw), problem)


def read_simple(block: str) -> dict[str, Value] | None:
    """The fast path: one-line values, nested at most one level. None if a YAML parser is needed."""
    raw: dict[str, Value] = {}
    nested: dict[str, Value] | None = None
    depth = 0
    for line in block.replace("\r\n", "\n").split("\n"):
        if not line:
            continue
        match = _SIMPLE.fullmatch(line)
        if match is None:
            return None
        key, value, indent = match["key"], _simple_value(match), len(match["indent"])
        if indent == 0:
            if nested == {}:
                return None
            nested = {} if value is None else None
            depth, target = 0, raw
            entry: Value = value if nested is None else nested
        else:
            if nested is None or value is None or depth not in (0, indent):
                return None
            depth, target, entry = indent, nested, value
        if key in target or (match["plain"] or "") in _NULL - {""}:
            return None
        target[key] = entry
    return None if nested == {} else raw


def _simple_value(match: re.Match[str]) -> str | None:
    for kind in ("plain", "double", "single"):
        value: str | None = match[kind]
        if value is not None and (value or kind != "plain"):
            return value
    return None


def read_yaml(block: str) -> Frontmatter:
    """The block parsed as YAML, its values as text; invalid YAML is parsed line by line."""
    try:
        if block.count("[") + block.count("{") > MAX_BRACKETS:
            raise ValueError(f"it holds more than {MAX_BRACKETS} opening brackets")
        node = _yaml().compose(_WITH_A_NUMBER.sub(_quoted, block))
        raw, doubled = _mapping(node)
    except (YAMLError, RecursionError, ValueError, AttributeError, TypeError, LookupError) as error:
        return _frontmatter(_read_line_by_line(block), _explain(error))
    problem = f"The key “{doubled[:60]}” appears twice; the last one counts." if doubled else None
    return _frontmatter(raw, problem)


# "name: Community — #general", "description: Gates, PR #126": a YAML comment would have a space after "#".
_WITH_A_NUMBER = re.compile(
    r"^(?P<key>name|description): +(?P<text>[^\W_](?=[^\r\n]*? #\w)(?:(?!: |:\r?$| # )[^\r\n])*)(?=\r?$)",
    re.MULTILINE,
)


def _quoted(match: re.Match[str]) -> str:
    return f"{match['key']}: {json.dumps(match['text'].rstrip(), ensure_ascii=False)}"


def _yaml() -> YAML:
    """A new parser each time: an instance must not be shared between threads."""
    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False
    return yaml


def _explain(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    where = f" (line {mark.line + 2} of the file)" if mark is not None else ""
    reason = str(getattr(error, "problem", None) or getattr(error, "reason", None) or str(error) or "unclear")
    return (
        f"The frontmatter is not valid YAML{where}: {reason[:200]}. It was read line by line. "
        "Often a value holds a colon or a quotation mark, and needs quotes around it."
    )


def _mapping(node: Node | None) -> tuple[dict[str, Value], str]:
    """The block's mapping, and the first duplicate key."""
    if node is None:
        return {}, ""
    if not isinstance(node, MappingNode):
        raise ValueError("it is not a list of keys and values")
    reader = _NodeReader()
    raw = reader.mapping(node, 0)
    return raw, reader.doubled


class _NodeReader:
    """Converts composed nodes to text values, with a limit so that aliases cannot multiply endlessly."""

    def __init__(self) -> None:
        self.left = MAX_YAML_VALUES
        self.doubled = ""

    def value(self, node: Node, depth: int) -> Value:
        self.left -= 1
        if self.left < 0 or depth > MAX_YAML_DEPTH:
            raise ValueError(f"it holds more than {MAX_YAML_VALUES:,} values or {MAX_YAML_DEPTH} levels")
        if isinstance(node, MappingNode):
            return self.mapping(node, depth)
        if isinstance(node, SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        return self._scalar(node)

    def mapping(self, node: MappingNode, depth: int) -> dict[str, Value]:
        result: dict[str, Value] = {}
        for key_node, value_node in node.value:
            key = (
                str(key_node.value)
                if isinstance(key_node, ScalarNode)
                else str(self.value(key_node, depth + 1))
            )
            if key in result:
                self.doubled = self.doubled or key
            result[key] = self.value(value_node, depth + 1)
        return result

    @staticmethod
    def _scalar(node: Node) -> str | None:
        text = str(node.value)
        return None if isinstance(node, ScalarNode) and not node.style and text in _NULL else text


def _read_line_by_line(block: str) -> dict[str, Value]:
    """The values that can be recovered from a block of invalid YAML, such as `description: "x" is short for y`."""
    raw: dict[str, Value] = {}
    nested: dict[str, Value] | None = None
    for match in _salvaged_lines(block):
        key, value = match["key"], _unquoted((match["value"] or "").strip())
        if match["indent"]:
            if nested is not None:
                nested[key] = value
            continue
        nested = {} if key == "metadata" and value is None else None
        raw[key] = value if nested is None else nested
    return raw


def _salvaged_lines(block: str) -> Iterator[re.Match[str]]:
    lines = block.split("\n")[:MAX_YAML_VALUES]
    return (match for line in lines if (match := _SALVAGE.fullmatch(line.removesuffix("\r"))))


def _unquoted(value: str) -> str | None:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" and value[0] not in value[1:-1]:
        return value[1:-1]
    return None if value in _NULL else value
