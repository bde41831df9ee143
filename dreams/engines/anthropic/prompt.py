"""The prompt in sections: files of ours, static ones first, so that nearly all of it is read from the cache. PURE."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from dreams.conf import Config
from dreams.engines.anthropic import mending, schemas
from dreams.engines.anthropic.conversation import CACHED
from dreams.engines.anthropic.stream import Json

FOLDER = Path(__file__).parent / "prompts"


@cache
def static_sections() -> tuple[tuple[str, str], ...]:
    """(file name, text) of every section, in order."""
    return tuple((path.name, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md")))


@cache
def version() -> str:
    """Changes with any word of prompt, tools or the request to mend: twelve hexadecimal digits, kept with each dream."""
    digest = hashlib.sha256(repr((schemas.ALL, mending.ASK)).encode())
    for name, text in static_sections():
        digest.update(f"\0{name}\0{text}".encode())
    return digest.hexdigest()[:12]


def system(config: Config, has_index: bool) -> list[Json]:
    """The system blocks; the last one carries a cache mark, which covers the tools too."""
    fixed = "\n".join(text for _, text in static_sections())
    return [
        {"type": "text", "text": fixed},
        {"type": "text", "text": _budget(config, has_index), "cache_control": CACHED},
    ]


def _budget(config: Config, has_index: bool) -> str:
    first = (
        f"# The index\n\nAn agent loads the first {config.index_max_lines} lines of MEMORY.md and at most "
        f"{config.index_max_bytes:,} bytes. Aim at {config.row_aim} characters in a new row, {config.row_max} at most. "
        "While the index fits, never shorten a row that is there, whatever its length."
    )
    if has_index:
        return first
    return first + " There is no MEMORY.md yet: make one with the first memory that you write."


def request(system_blocks: Sequence[Json], tools: Sequence[Json], messages: Sequence[Json]) -> Json:
    """The parts of a request that do not depend on the model."""
    return {"system": list(system_blocks), "tools": list(tools), "messages": list(messages)}
