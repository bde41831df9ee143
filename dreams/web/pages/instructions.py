"""The instruction files that an agent loads in a project's folder, with their texts and problems."""

from dataclasses import dataclass
from typing import Any

from dreams.lib import diff, memdir
from dreams.lib.agents.claude_code.instructions import MAX_HOPS
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import Memory, Project
from dreams.services.memories import instructions, syncing
from dreams.services.memories.instructions import CheckedFile, Contradiction, LoadedFiles

MOST_PROMOTED = 20  # rows; chosen
PROBLEMS = {
    "missing": "There is no such file.",
    "circle": "It is one of the files that include this one; it is not loaded again.",
    "too deep": f"More than {MAX_HOPS} files away from the first one; not loaded.",
    "outside": "Outside the repository; not loaded, because this project is not trusted.",
    "doubled": "Already loaded above.",
    "binary": "Not a text file; not loaded.",
    "too large": "Larger than 200 KB; not read.",
    "unreadable": "It cannot be read.",
}


@dataclass(frozen=True, slots=True)
class File:
    told: CheckedFile
    problem: str
    text: str
    against: list[dict[str, Any]]
    shown: dict[str, Any] | None = None

    @property
    def indent(self) -> int:
        return min(self.told.file.depth, MAX_HOPS + 1)


def page(project: Project, folder: str, text: int | None = None, line: int | None = None) -> dict[str, Any]:
    """`text` is the row of the opened file, at its `line`."""
    problem = ""
    try:
        report = instructions.report(project, folder)
    except instructions.NoFolder as error:
        report, problem = LoadedFiles(()), str(error)
    known = {row.path: row for row in project.memories.filter(gone_at__isnull=True)}
    mask = Mask.of(one.file.text for one in report.files)
    rows = project.instruction_texts.filter(pk=text) if text else project.instruction_texts.none()
    asked = rows.values_list("path", flat=True).first()
    files = [_file(one, mask, known, line or 0 if one.file.path == asked else None) for one in report.files]
    return {
        "folder": folder,
        "report": report,
        "files": files,
        "promotions": _promotions(project, list(known.values())),
        "problem": problem,
    }


def _file(told: CheckedFile, mask: Mask, known: dict[str, Memory], asked: int | None) -> File:
    masked = mask(told.file.text)
    return File(
        told,
        PROBLEMS.get(told.file.problem, told.file.problem),
        diff.visible(masked).strip("\n"),
        [_against(one, mask, known.get(one.memory)) for one in told.contradictions],
        None if asked is None else _shown(masked, asked),
    )


def _shown(text: str, line: int) -> dict[str, Any]:
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return {"before": diff.visible(text).strip("\n"), "line": "", "after": ""}
    before, at, after = (
        diff.visible("\n".join(some)) for some in (lines[: line - 1], lines[line - 1 : line], lines[line:])
    )
    return {"before": before.lstrip("\n"), "line": at, "after": after.rstrip("\n")}


def _against(one: Contradiction, mask: Mask, row: Memory | None) -> dict[str, Any]:
    said = Mask.of([one.statement])
    return {
        "line": one.line,
        "quote": diff.visible(mask(one.quote)),
        "pk": row.pk if row else None,
        "path": one.memory,
        "memory_line": one.memory_line,
        "statement": diff.visible(said(mask(one.statement))),
    }


def _promotions(project: Project, rows: list[Memory]) -> list[dict[str, Any]]:
    """Memories about how to work here, which could move to an instruction file; newest first."""
    told = [row for row in rows if row.kind == Memory.Kind.TOPIC and row.type in ("feedback", "user")]
    newest = sorted(told, key=lambda row: (-row.mtime_ns, row.path))[:MOST_PROMOTED]
    data = syncing.contents(project) if newest else {}
    return [
        {"pk": row.pk, "title": row.title, "path": row.path, "where": _where(row), "text": body}
        for row in newest
        if (body := _body(data.get(row.path, b"")))
    ]


def _where(row: Memory) -> str:
    return (
        "~/.claude/CLAUDE.md, for all your projects" if row.type == "user" else "CLAUDE.md, for everyone here"
    )


def _body(data: bytes) -> str:
    body = text.decode(data[len(data) - len(text.encode(memdir.parse(data).body)) :]).strip()
    return diff.visible(Mask.of([body])(body))
