"""Turns a proposal's rows into hunks and bytes. Rows hold ids, sha256s and line ranges; the text is in blobs."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import QuerySet

from dreams.engines import drafts
from dreams.engines.types import Citation, Fate
from dreams.findings.base import ChangedHunk
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.redact import redact
from dreams.models import FileChange, Hunk, Operation, Proposal
from dreams.models.prepared import prepared
from dreams.services import blobs


class Texts:
    """Caches blobs by sha256, and their lines: a proposal of many files needs one query, not four per file."""

    def __init__(self, kept: Mapping[str, bytes] | None = None) -> None:
        self._kept = dict(kept or {})
        self._lines: dict[str, list[str]] = {}

    def data(self, sha: str) -> bytes:
        """As `blobs.get`. Raises MissingBlob."""
        if sha not in self._kept:
            self._kept[sha] = blobs.get(sha)
        return self._kept[sha]

    def text(self, sha: str) -> str:
        return text.decode(self.data(sha))

    def lines(self, sha: str) -> Sequence[str]:
        if sha not in self._lines:
            self._lines[sha] = diff.split_lines(self.text(sha))
        return self._lines[sha]


def paths(proposal: Proposal) -> tuple[str, ...]:
    return tuple(proposal.files.values_list("path", flat=True))


def texts_of(files: Iterable[FileChange]) -> Texts:
    """Every text of these files and of their hunks (prefetch the hunks), as it was stored."""
    shas = [sha for f in files for sha in (f.base_sha, f.new_sha, *(h.edited_sha for h in f.hunks.all()))]
    return Texts(blobs.whole(blobs.get_many(shas)))


def bytes_of(sha: str, texts: Texts | None = None) -> bytes | None:
    """The bytes of one version of a file; None for an empty `sha`: no file."""
    return (texts or Texts()).data(sha) if sha else None


def text_hunks(file: FileChange, texts: Texts | None = None) -> list[tuple[Hunk, diff.Hunk]]:
    """The rows of a file's hunks with their lines, in order."""
    texts = texts or Texts()
    base, new = texts.lines(file.base_sha), texts.lines(file.new_sha)
    return [(row, diff_hunk(row, base, new)) for row in file.hunks.all()]


def diff_hunk(row: Hunk, base: Sequence[str], new: Sequence[str]) -> diff.Hunk:
    """A hunk with its lines, from the split texts of its file."""
    return diff.Hunk(
        row.hunk_id,
        row.base_start,
        tuple(base[row.base_start : row.base_start + row.base_count]),
        row.new_start,
        tuple(new[row.new_start : row.new_start + row.new_count]),
    )


def choices(
    file: FileChange,
    *,
    undecided: bool,
    instead: Mapping[int, str] | None = None,
    texts: Texts | None = None,
) -> dict[str, diff.Choice]:
    """hunk id → taken, not taken, or the edited text. `undecided`: whether a pending hunk counts as taken.

    `instead`, hunk pk → text, has edits that are not saved.
    """
    texts = texts or Texts()
    chosen: dict[str, diff.Choice] = {}
    for hunk in file.hunks.all():
        if instead and hunk.pk in instead:
            chosen[hunk.hunk_id] = instead[hunk.pk]
        elif hunk.verdict == Hunk.Verdict.EDITED:
            chosen[hunk.hunk_id] = texts.text(hunk.edited_sha)
        else:
            chosen[hunk.hunk_id] = hunk.is_taken or (undecided and hunk.verdict == Hunk.Verdict.PENDING)
    return chosen


def decided_bytes(
    file: FileChange,
    *,
    undecided: bool = False,
    instead: Mapping[int, str] | None = None,
    texts: Texts | None = None,
) -> bytes | None:
    """The file after its verdicts; None for no file. `undecided` and `instead` as for `choices`."""
    texts = texts or Texts()
    found = [hunk for _, hunk in text_hunks(file, texts)]
    chosen = choices(file, undecided=undecided, instead=instead, texts=texts)
    return drafts.rebuild(bytes_of(file.base_sha, texts), bytes_of(file.new_sha, texts), found, chosen)


def citations_of(row: Hunk) -> tuple[Citation, ...]:
    return tuple(
        Citation(
            source=e.source,  # type: ignore[arg-type] # TextChoices holds the same words
            quote=e.quote,
            place=e.place,
            session_pk=e.session_id,
            line_no=e.line_no,
            offset=e.offset,
            role=e.role,
            at=e.at,
            context=e.context,
            found=e.found,
            note=e.note,
        )
        for e in row.evidence.all()
    )


def fates_of(row: Hunk) -> tuple[Fate, ...]:
    """What the engine claims about removed lines. The ledger checks it each time: a claim is never proof."""
    return tuple(Fate(c["text"], c["fate"], c["path"], c["target"], c["note"]) for c in row.claims)


def changed_hunks(file: FileChange, chosen: Mapping[str, diff.Choice], texts: Texts) -> list[ChangedHunk]:
    """The hunks of a file for the checks, without those not `chosen` (see `choices`)."""
    found: list[ChangedHunk] = []
    shift = 0
    for row, hunk in text_hunks(file, texts):
        choice = chosen[hunk.id]
        if choice is False:
            continue
        added = choice if isinstance(choice, str) else hunk.added
        lines = strip_line_ends(added)
        found.append(
            ChangedHunk(
                path=file.path,
                hunk_id=hunk.id,
                base_start=hunk.base_start,
                removed=strip_line_ends(hunk.removed),
                new_start=hunk.base_start + shift,
                added=lines,
                # What an agent said supports nothing.
                citations=tuple(c for c in citations_of(row) if c.source != "agent"),
                fates=fates_of(row),
                by_hand=isinstance(choice, str) or file.proposal.origin not in Proposal.DRAFTED,
                operation=str(row.operation_id or ""),
            )
        )
        shift += len(lines) - len(hunk.base_lines)
    return found


def strip_line_ends(joined: str) -> tuple[str, ...]:
    """Lines without their ends."""
    return tuple(line.rstrip("\r\n") for line in diff.split_lines(joined))


def added_lines(lines: diff.Hunk) -> list[str]:
    """The new lines of a hunk, in a form that every database can store."""
    return [text.storable(line.strip(), 1000) for line in lines.new_lines if line.strip()]


def inputs_key(hunk: Hunk) -> str:
    """As `drafts.DraftHunk.inputs_key`, from the saved evidence."""
    return drafts.DraftHunk(diff.Hunk(hunk.hunk_id, 0, (), 0, ()), "", citations_of(hunk), ()).inputs_key


def memory_type(path: str, data: bytes | None) -> str:
    """`index` for MEMORY.md, else the memory's own type, else empty."""
    if memdir.is_index(path):
        return "index"
    stated = memdir.memory_type(memdir.parse(data or b""), path) or ""
    return text.storable(redact(stated), 40)  # as the column of a memory's type


# Renamed files: a proposal has only added and deleted files.

Kind = FileChange.Kind
Files = dict[str, FileChange]


def renames(files: Iterable[tuple[FileChange, int]]) -> Mapping[int, FileChange]:
    """Added file (its pk) → the deleted file with the same text and in the same operation.

    `files` are those with a single hunk, each with its operation, of any proposals. At most one query.
    """
    groups = [(deleted, added) for deleted, added in _by_operation(files) if deleted and added]
    texts = blobs.get_many(
        sha
        for deleted, added in groups
        for file in (*deleted.values(), *added.values())
        for sha in (file.base_sha, file.new_sha)
    )
    found: dict[int, FileChange] = {}
    for deleted, added in groups:
        named = diff.renamed(
            {path: text.decode(texts.get(file.base_sha, b"")) for path, file in deleted.items()},
            {path: text.decode(texts.get(file.new_sha, b"")) for path, file in added.items()},
        )
        found |= {added[new].pk: deleted[old] for new, old in named.items()}
    return found


def _by_operation(files: Iterable[tuple[FileChange, int]]) -> Iterable[tuple[Files, Files]]:
    """Deleted and added files of each operation, by path; without files in conflict."""
    found: dict[int, tuple[Files, Files]] = defaultdict(lambda: ({}, {}))
    for file, operation in files:
        if not file.conflict and file.kind in (Kind.DELETE, Kind.ADD):
            found[operation][file.kind == Kind.ADD][file.path] = file
    return found.values()


def old_names(proposals: Collection[int]) -> list[tuple[int, bool]]:
    """For each renamed file in these proposals: which proposal, and whether its change is decided.

    One query; three if an operation has both added and deleted files.
    """
    files = {file.pk: file for file in _moved_files(list(proposals))}
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


@prepared
def _moved_files(proposals: list[int]) -> QuerySet[FileChange]:
    """Added and deleted files, of operations that have both."""
    moving = Operation.objects.filter(proposal__in=proposals, hunks__file__kind=Kind.ADD)
    moving = moving.filter(hunks__file__kind=Kind.DELETE)
    hunks = Hunk.objects.filter(operation__in=moving)
    return FileChange.objects.filter(kind__in=(Kind.ADD, Kind.DELETE), pk__in=hunks.values("file"))
