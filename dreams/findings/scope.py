"""Checks what a proposal may touch: only Markdown files of this directory, without colliding names or hard links. PURE.

`standing` warns of existing memories with unfit names.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from dreams.findings.base import NewFinding, Subject
from dreams.lib import diff, memdir
from dreams.lib.files.workspace import MAX_FILE_BYTES

CHECK = "scope"
CONTROL_FILES = frozenset({".consolidate-lock"})
_REJECT = "Reject the change of this file."


def check(subject: Subject) -> Iterator[NewFinding]:
    """Refusals, which cannot be confirmed, and changes of pinned memories."""
    spelt = memdir.spellings(sorted({*subject.before, *subject.after}))
    for path in changed_paths(subject):
        reason = (
            _outside(path)
            or _irregular(path, subject)
            or _not_a_memory(path)
            or _unfit(path, subject)
            or _collides(path, subject, spelt)
            or _linked(path, subject)
        )
        if reason:
            code, message, remedy = reason
            yield NewFinding(CHECK, code, "refuse", message, remedy, path)
    yield from _pinned(subject)


def standing(subject: Subject) -> Iterator[NewFinding]:
    """Existing memories whose names collide on other file systems, or have hidden characters."""
    names = defaultdict[str, list[str]](list)
    for path in sorted(subject.after):
        names[memdir.name_key(path)].append(path)
        if not diff.is_plain(path):
            says = f"{_spelt(path)} hides characters in its name."
            yield NewFinding(CHECK, "name-unfit", "warn", says, "Rename it.", path, about=path)
    for first, *others in names.values():
        if others:
            says = f"{first} and {' and '.join(others)} differ by case or Unicode form only: on some systems they are one file."
            yield NewFinding(CHECK, "name-collides", "warn", says, "Rename one of them.", first, about=first)  # fmt: skip


def _pinned(subject: Subject) -> Iterator[NewFinding]:
    """Only a person, by hand, changes a pinned memory or pins one: it is never removed, merged or reworded."""
    for path in sorted({hunk.path for hunk in subject.hunks if not hunk.by_hand}):
        before, after = subject.before.get(path), subject.after.get(path)
        fronts = (memdir.parse(data or b"").frontmatter for data in (before, after))
        was, now = (bool(front and front.pinned) for front in fronts)
        if was and before != after:
            yield NewFinding(
                CHECK, "pinned-changed", "block", f"{path} is pinned, and this changes it.",
                "Reject the change, or unpin the memory first.", path, about=path,
            )  # fmt: skip
        elif now and not was:
            says = f"This pins {path}: no dream changes a pinned memory."
            yield NewFinding(CHECK, "pinned-unasked", "warn", says, "Reject it, or edit it without `pinned`.", path, about=path)  # fmt: skip


def changed_paths(subject: Subject) -> list[str]:
    differing = {path for path, _ in subject.before.items() ^ subject.after.items()}
    return sorted(differing | {hunk.path for hunk in subject.hunks} | subject.irregular.keys())


def _outside(path: str) -> tuple[str, str, str] | None:
    parts = path.split("/")
    # A leading slash leaves an empty part, as does an empty path.
    climbs = path.startswith("~") or "\\" in path or "\0" in path or not {"..", ""}.isdisjoint(parts)
    if climbs or (len(path) > 1 and path[1] == ":"):
        return "path-outside", f"{path!r} is outside the memory directory.", _REJECT
    if parts[-1] in CONTROL_FILES:
        return "control-file", f"{path} is a control file of the lock.", _REJECT
    if any(part.startswith(".") for part in parts):
        return "dotfile", f"{path} is hidden: the name of a memory cannot begin with a dot.", _REJECT
    return None


def _irregular(path: str, subject: Subject) -> tuple[str, str, str] | None:
    why = subject.irregular.get(path)
    if not why and len(subject.after.get(path) or b"") > MAX_FILE_BYTES:  # no undo could read it
        why = f"is larger than the limit of {MAX_FILE_BYTES:,} bytes"
    return ("irregular", f"{path} {why}.", _REJECT) if why else None


def _not_a_memory(path: str) -> tuple[str, str, str] | None:
    if PurePosixPath(path).suffix != ".md":
        remedy = "Reject it, or give the memory a name that ends in .md."
        return "not-markdown", f"{path} is not a .md file.", remedy
    if memdir.is_log(path):
        return "log-changed", f"{path} is a log: logs are read, never changed.", _REJECT
    return None


def _unfit(path: str, subject: Subject) -> tuple[str, str, str] | None:
    """Why a new name is unfit: it must work on other systems and be readable. A restored file keeps its old name."""
    if path in subject.before or any(hunk.by_hand for hunk in subject.hunks if hunk.path == path):
        return None
    why = memdir.unfit(path)
    return ("name-unfit", f"{_spelt(path)} {why}.", "Reject it, or choose a plain name.") if why else None


def _spelt(path: str) -> str:
    shown = (char if char.isprintable() else f"⟨U+{ord(char):04X}⟩" for char in diff.visible(path))
    return "".join(shown)[:200]


def _collides(path: str, subject: Subject, spelt: memdir.Spellings) -> tuple[str, str, str] | None:
    """Code, message and remedy if the name collides with another: on some file systems both are one file."""
    if path in subject.before or path not in subject.after:
        return None
    other = memdir.twin(path, spelt)
    if not other:
        return None
    message = f"{path} differs from {other} by case or Unicode form only."
    return "name-collides", message, f"Change {other}, or choose another name."


def _linked(path: str, subject: Subject) -> tuple[str, str, str] | None:
    if path not in subject.hard_linked:
        return None
    message = f"{path} has more than one hard link; a change would separate them."
    return "hard-linked", message, "Keep only one of the links, then dream again."
