"""Which file of a proposal is another one under a new name: a proposal itself knows only files that come and go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from dreams.lib import diff
from dreams.lib.files import text
from dreams.models import FileChange, Hunk, Operation
from dreams.services import blobs

Kind = FileChange.Kind
Files = dict[str, FileChange]


def renames(files: Iterable[tuple[FileChange, int]]) -> Mapping[int, FileChange]:
    """A file that came (its id) → the file that went, where they are one text and decided together.

    `files` are those with a single hunk, and its operation; of one proposal or of many. One query, none where no
    operation has both a file that came and one that went.
    """
    groups = [(gone, come) for gone, come in _by_operation(files) if gone and come]
    texts = blobs.get_many(
        sha for gone, come in groups for file in (*gone.values(), *come.values()) for sha in _shas(file)
    )
    found: dict[int, FileChange] = {}
    for gone, come in groups:
        named = diff.renamed(
            {path: text.decode(texts.get(file.base_sha, b"")) for path, file in gone.items()},
            {path: text.decode(texts.get(file.new_sha, b"")) for path, file in come.items()},
        )
        found |= {come[new].pk: gone[old] for new, old in named.items()}
    return found


def _shas(file: FileChange) -> tuple[str, str]:
    return file.base_sha, file.new_sha


def _by_operation(files: Iterable[tuple[FileChange, int]]) -> Iterable[tuple[Files, Files]]:
    """What went and what came with each operation, by path; files in conflict are neither."""
    found: dict[int, tuple[Files, Files]] = defaultdict(lambda: ({}, {}))
    for file, operation in files:
        if not file.conflict and file.kind in (Kind.DELETE, Kind.ADD):
            found[operation][file.kind == Kind.ADD][file.path] = file
    return found.values()


def old_names(proposals: Collection[int]) -> list[tuple[int, bool]]:
    """For each renamed file in these proposals: which proposal, and whether its change is decided.

    Two queries more where an operation has files that came and files that went.
    """
    moving = Operation.objects.filter(proposal__in=proposals, hunks__file__kind=Kind.ADD)
    moving = moving.filter(hunks__file__kind=Kind.DELETE)
    files = FileChange.objects.filter(
        kind__in=(Kind.ADD, Kind.DELETE), pk__in=Hunk.objects.filter(operation__in=moving).values("file")
    ).in_bulk()
    if not files:
        return []
    hunks: dict[int, list[tuple[int | None, str]]] = defaultdict(list)
    for pk, operation, verdict in Hunk.objects.filter(file__in=files).values_list(
        "file", "operation", "verdict"
    ):
        hunks[pk].append((operation, verdict))
    alone = {pk: rows[0] for pk, rows in hunks.items() if len(rows) == 1}
    found = renames((files[pk], operation) for pk, (operation, _) in alone.items() if operation is not None)
    return [(old.proposal_id, alone[old.pk][1] != Hunk.Verdict.PENDING) for old in found.values()]
