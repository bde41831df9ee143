"""Whether a memory is filed as what it is: no type, an unknown or a wrong one, a reference that holds the content. PURE."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from dreams import memdir
from dreams.findings.base import Found

CHECK = "taxonomy"
POINTER_CHARS = 600  # a reference shorter than this is short enough, wherever it points
PROSE_PER_POINTER = 1500  # characters of prose that one pointer may stand among
_POINTER = re.compile(
    r"https?://|\]\(|\[\[|`[^`\n]*[\w.-]/[^`\n]*`|(?:^|[\s(])[~.]?/[\w.-]+/|\b[\w-]+\.(?:md|pdf|html?|docx?|xlsx?)\b|"
    r"\b(?:Slack|Notion|Jira|Linear|Confluence|Grafana|Sentry|Datadog|Figma|wiki|dashboard|ticket|channel|spreadsheet)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)\s*$", re.MULTILINE | re.DOTALL)
_ABOUT_USER = re.compile(
    r"^(?:[*_`]*)(?:the\s+)?user\s+(?:prefers|likes|wants|dislikes|hates|speaks|lives|works|is\s+(?:an?|based|from|new|fluent))\b",
    re.IGNORECASE,
)
LEAST_ABOUT_USER = 2  # statements
MOST_UNTYPED = 3  # told one by one; a directory that knows no types is told so once
SHOWN = 3  # of many


def findings(path: str, data: bytes, hunk_id: str) -> Iterator[Found]:
    """What there is to say of one file's type; an index and a log have none."""
    if not path.endswith(".md") or path.rpartition("/")[2] == memdir.INDEX_NAME or path.startswith("logs/"):
        return
    document = memdir.parse(data)
    kind = memdir.memory_type(document, path)
    kinds = ", ".join(memdir.MEMORY_TYPES)
    if kind is None:
        yield _found(
            path, hunk_id, "no-type", "has no type", f"Give it one of {kinds} in its frontmatter.", 1
        )
    elif kind not in memdir.MEMORY_TYPES:
        says = f"has the type “{kind[:60]}”, which agents do not know"
        yield _found(path, hunk_id, "unknown-type", says, f"Use one of {kinds}.", 1)
    else:
        yield from _wrong(path, document, kind, hunk_id)
        if kind == "reference" and holds_content(document.body):
            yield _found(
                path, hunk_id, "reference-holds-content", "is a reference, and holds the content instead of a pointer",
                "Name the place where it can be read, and keep only what is surprising in it.",
            )  # fmt: skip


def together(found: list[Found]) -> Iterator[Found]:
    """As they are, but for a row of memories without a type, which is one thing to say."""
    untyped = [each for each in found if each.code == "no-type"]
    if len(untyped) <= MOST_UNTYPED:
        yield from found
        return
    names = ", ".join(each.path for each in untyped[:SHOWN])
    said = f"{len(untyped)} memories have no type: {names} and {len(untyped) - SHOWN} more."
    yield Found(CHECK, "no-type", "info", said, untyped[0].remedy, about="no-type")
    yield from (each for each in found if each.code != "no-type")


def _wrong(path: str, document: memdir.Document, kind: str, hunk_id: str) -> Iterator[Found]:
    named = _named(path)
    if named and named != kind:
        says = f"is filed as {kind}, and its name says {named}"
        yield _found(path, hunk_id, "wrong-type", says, "Change the type or the name, whichever is wrong.", 1)
    elif kind in {"project", "reference"} and _is_about_user(document):
        says = f"is filed as {kind}, and tells of the user"
        yield _found(path, hunk_id, "wrong-type", says, "Give it the type user.", 1)


def _named(path: str) -> str:
    """The type that a file's name begins with, or nothing."""
    stem = PurePosixPath(path).name.lower().replace("-", "_")
    return next((kind for kind in memdir.MEMORY_TYPES if stem.startswith(kind + "_")), "")


def _is_about_user(document: memdir.Document) -> bool:
    items = memdir.sections(document.body, document.body_start_line)
    said = [item.content or item.text for item in items if item.kind in {"bullet", "paragraph"}]
    about = sum(bool(_ABOUT_USER.match(each.strip())) for each in said)
    return about >= LEAST_ABOUT_USER and about * 5 >= len(said) * 4


def holds_content(body: str) -> bool:
    """Much text, and hardly a place named where it comes from. Code counts as text and points nowhere."""
    prose = _FENCE.sub("", body)
    pointers = len({match[0] + prose[match.end() : match.end() + 20] for match in _POINTER.finditer(prose)})
    return len(body) > POINTER_CHARS and pointers * PROSE_PER_POINTER < len(body)


def _found(path: str, hunk_id: str, code: str, says: str, remedy: str, line_no: int | None = None) -> Found:
    return Found(CHECK, code, "info", f"{path} {says}.", remedy, path, hunk_id, line_no, path)
