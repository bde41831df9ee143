"""A memory's type and its file name. PURE."""

import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath

from .document import Document
from .frontmatter import MEMORY_TYPES

INDEX_NAME = "MEMORY.md"
SLUG_MAX_BYTES = 120  # leaves room for prefix, number and ending below the 255 bytes a file system allows


def memory_type(document: Document, path: str) -> str | None:
    """What the frontmatter says, else what the file name's prefix says, else None.

    A word that is none of the four types is given back as it stands.
    """
    stated = (document.frontmatter.type or "").strip() if document.frontmatter else ""
    if stated:
        return stated.lower() if stated.lower() in MEMORY_TYPES else stated
    stem = PurePosixPath(path).name.lower().replace("-", "_")
    return next((kind for kind in MEMORY_TYPES if stem.startswith(kind + "_")), None)


def name_key(file_name: str) -> str:
    """Equal for two names that some file system takes for one: case and Unicode form put aside."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", file_name).casefold())


def slug_for(name: str) -> str:
    """Letters and digits of any language in lower case, everything else as single underscores."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).lower())
    kept = "".join(char if _belongs_in_name(char) else " " for char in text[:400])
    slug = "_".join(kept.split()).encode("utf-8")[:SLUG_MAX_BYTES].decode("utf-8", "ignore")
    return slug.strip("_") or "memory"


def _belongs_in_name(char: str) -> bool:
    # Marks are parts of letters in many scripts; without them words would break apart.
    return char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"}


def safe_file_name(name: str, kind: str | None, existing: Iterable[str]) -> str:
    """A fresh file name such as `feedback_run_tests.md`, numbered when an existing one would collide."""
    slug = slug_for(name.removesuffix(".md"))
    prefix = f"{slug_for(kind)}_" if kind else ""
    stem = slug if slug.startswith(prefix) else prefix + slug
    taken = {name_key(other) for other in existing} | {name_key(INDEX_NAME)}
    candidate, number = f"{stem}.md", 2
    while name_key(candidate) in taken:  # ends after at most one try per existing name
        candidate, number = f"{stem}_{number}.md", number + 1
    return candidate
