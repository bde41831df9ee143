"""The checkup page: findings about the current memories, by file."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dreams.findings import prompt_injection
from dreams.findings.base import NewFinding
from dreams.lib import diff
from dreams.models import Project
from dreams.services.memories import checkup, said_again
from dreams.web.pages.review_evidence import without_place

MOST = 300  # rows; chosen
#: This many findings of one kind are shown per file; the rest is folded.
MOST_ALIKE = 3
#: A finding with the same words in this many files is shown once, with a list of the files.
LEAST_FILES = 3
MOST_PLACES = 12
MOST_SAID_AGAIN = 30  # statements, each with up to 12 quotes; chosen


@dataclass(frozen=True, slots=True)
class Said:
    severity: str
    line_no: int | None
    message: str
    remedy: str


def page(project: Project) -> dict[str, Any]:
    """`steering` are lines that could steer an agent, by file; `files` have all other findings that are not in a group, those
    with a problem in `worst`."""
    made = checkup.check(project)
    again = said_again.listed(project)
    edits = said_again.row_edits(project, again[:MOST_SAID_AGAIN])
    pks = dict(project.memories.filter(gone_at__isnull=True).values_list("path", "pk"))
    shown = made.found[:MOST]
    groups, by_path = _grouped([found for found in shown if not _could_steer(found)], pks)
    # Their common risk and remedy are shown once.
    steering = [
        replace(found, message=found.message.replace(prompt_injection.COULD, ""), remedy="")
        for found in shown
        if _could_steer(found)
    ]
    steering_groups, steering_by_path = _grouped(steering, pks)
    files = [_file(path, pks.get(path), found) for path, found in by_path.items()]
    return {
        "groups": groups,
        "steering": [
            {"path": path, "pk": pks.get(path), "said": [*map(_said, found)]}
            for path, found in steering_by_path.items()
        ],
        "steering_groups": steering_groups,
        "worst": [file for file in files if file["has_problem"]],
        "files": [file for file in files if not file["has_problem"]],
        "said_again": [(one, pks.get(one.path), one in edits) for one in again[:MOST_SAID_AGAIN]],
        "more_said_again": max(0, len(again) - MOST_SAID_AGAIN),
        "warnings": made.warnings,
        "sentence": made.sentence,
        "more": max(0, len(made.found) - MOST),
        "memories": made.files,
        "is_emptied": not made.files and project.memories.exists(),
        "secrets": sum(found.check == "secrets" for found in made.found),
    }


def _could_steer(found: NewFinding) -> bool:
    return found.severity == "info" and found.code in prompt_injection.COULD_STEER


def _grouped(
    shown: Sequence[NewFinding], pks: Mapping[str, int]
) -> tuple[list[dict[str, Any]], Mapping[str, list[NewFinding]]]:
    """Findings that occur in many files, problems first; and all others by path."""
    alike: dict[Said, list[NewFinding]] = defaultdict(list)
    for found in shown:
        alike[replace(_said(found), line_no=None)].append(found)
    groups: list[dict[str, Any]] = []
    alone = set[int]()
    for said, places in alike.items():
        if (files := len({found.path for found in places})) >= LEAST_FILES:
            lines = [
                {"path": found.path, "pk": pks.get(found.path), "line_no": found.line_no} for found in places
            ]
            first, folded = lines[:MOST_PLACES], lines[MOST_PLACES:]
            groups.append({"said": said, "files": files, "first": first, "folded": folded})
        else:
            alone.update(map(id, places))
    by_path: dict[str, list[NewFinding]] = defaultdict(list)
    for found in shown:
        if id(found) in alone:
            by_path[found.path].append(found)
    return sorted(groups, key=lambda group: group["said"].severity == "info"), by_path


def _file(path: str, pk: int | None, found: Sequence[NewFinding]) -> dict[str, Any]:
    seen: Counter[str] = Counter()
    first, alike = list[Said](), list[Said]()
    for one in found:
        seen[one.code] += 1
        (first if seen[one.code] <= MOST_ALIKE else alike).append(_said(one))
    has_problem = any(one.severity != "info" for one in found)
    return {"path": path, "pk": pk, "said": first, "alike": alike, "has_problem": has_problem}


def _said(found: NewFinding) -> Said:
    message = diff.visible(without_place(found.message, found.path))
    return Said(found.severity, found.line_no, message, diff.visible(found.remedy))
