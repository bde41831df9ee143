"""Names of memory files: new ones, those that are the same on some file system, those not valid everywhere. PURE.

Memory directories are copied between machines, so a new name must be valid on all of them. The rules are those of Windows
(Microsoft, “Naming Files, Paths, and Namespaces”), of macOS, which stores names decomposed, and file systems' 255 bytes.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from dreams.lib.diff.invisible import is_plain
from dreams.lib.memdir.document import INDEX_NAME
from dreams.lib.secrets import redact

SLUG_MAX_BYTES = 120  # leaves room for prefix, number and ending below the 255 bytes a file system allows
NAME_BYTES = 255  # of a name, on every common file system
FORBIDDEN = frozenset('<>:"|?*\\')
#: Devices, with any extension.
RESERVED = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$"}
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"}
)
#: Every agent that works in the folder obeys these, without asking and whoever wrote them.
INSTRUCTIONS = frozenset({"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md"})


def unfit(path: str) -> str:
    """Why a new file cannot have this name, as the end of a sentence; "" if it is valid on every system."""
    if not is_plain(path):
        return "hides characters in its name"
    if redact.values(path):
        return "has a secret in its name"
    return next((why for part in path.split("/") if (why := _unfit_part(part))), "")


def _unfit_part(part: str) -> str:
    if found := next((char for char in part if char in FORBIDDEN), ""):
        return f"has “{found}” in its name, which other systems do not allow"
    if part.partition(".")[0].rstrip().casefold() in RESERVED:
        return f"has the name of a device on other systems ({part})"
    if part in INSTRUCTIONS:
        return f"has the name of a file that agents take instructions from ({part})"
    if part != part.strip() or part.endswith("."):
        return "has a name that begins or ends with a space, or ends with a dot"
    return f"has a name of more than {NAME_BYTES} bytes" if _size(part) > NAME_BYTES else ""


def _size(part: str) -> int:
    """The larger of the size in bytes and, decomposed as on macOS, in UTF-16 units."""
    decomposed = unicodedata.normalize("NFD", part).encode("utf-16-le", "surrogatepass")
    return max(len(part.encode("utf-8", "surrogatepass")), len(decomposed) // 2)


Spellings = Mapping[str, Mapping[str, str]]


def spellings(paths: Iterable[str]) -> Spellings:
    """The spellings of each file and folder in `paths`, with one path for each spelling; for `twin`."""
    found: dict[str, dict[str, str]] = {}
    for path in paths:
        for part in _upwards(path):
            found.setdefault(name_key(part), {}).setdefault(part, path)
    return found


def twin(path: str, others: Spellings) -> str:
    """Another path that is the same as `path` on some file system, or has a folder that is the same as one of its; else ""."""
    for part in _upwards(path):
        for spelt, other in others.get(name_key(part), {}).items():
            if spelt != part:
                return other
    return ""


def _upwards(path: str) -> Iterator[str]:
    """The path, then each folder above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def name_key(file_name: str) -> str:
    """Equal for two names that are the same on some file system: ignores case and Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", file_name).casefold())


def slug_for(name: str) -> str:
    """The letters and digits of any language in lower case, with single underscores for the rest."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).lower())
    kept = "".join(char if _belongs_in_name(char) else " " for char in text[:400])
    slug = "_".join(kept.split()).encode("utf-8")[:SLUG_MAX_BYTES].decode("utf-8", "ignore")
    return slug.strip("_") or "memory"


def _belongs_in_name(char: str) -> bool:
    # Marks are parts of letters in many scripts; without them words would be split.
    return char.isalnum() or unicodedata.category(char) in {"Mn", "Mc"}


def safe_file_name(name: str, kind: str | None, existing: Iterable[str]) -> str:
    """A new file name such as `feedback_run_tests.md`, numbered if it would collide with an existing one."""
    slug = slug_for(name.removesuffix(".md"))
    prefix = f"{slug_for(kind)}_" if kind else ""
    stem = slug if slug.startswith(prefix) else prefix + slug
    if stem in RESERVED:
        stem += "_memory"
    taken = {name_key(other) for other in existing} | {name_key(INDEX_NAME)}
    candidate, number = f"{stem}.md", 2
    while name_key(candidate) in taken:  # ends after at most one try per existing name
        candidate, number = f"{stem}_{number}.md", number + 1
    return candidate
