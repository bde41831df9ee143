"""Finds secrets in current memories and in their stored texts.

A secret is identified by a keyed hash (`findings.secrets.fingerprint`); its text never leaves this package.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any

from django.db.models import F, Model, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Concat

from dreams.findings import secrets
from dreams.lib.files import text
from dreams.lib.secrets.forms import titled
from dreams.lib.secrets.redact import MARK, values, without
from dreams.lib.secrets.spotting import spans
from dreams.models import (
    AppliedFile,
    Blob,
    Card,
    Decision,
    DreamLog,
    DreamRun,
    Evidence,
    FileChange,
    Finding,
    HistoryPrompt,
    HostRequest,
    Hunk,
    InstructionText,
    LedgerEntry,
    LeftOut,
    Memory,
    NotesRequest,
    OpenEnd,
    Operation,
    Project,
    Prompt,
    Proposal,
    Question,
    QuestionOption,
    SaidAgain,
    Session,
    SessionNotes,
    TranscriptFile,
    Turn,
    Version,
    WorkStep,
    WorkText,
)
from dreams.services import blobs, hosts
from dreams.services.memories import time_travel
from dreams.services.search import index

# All columns that can name a purged text, or quote from it.


ROWS_AT_ONCE = 500  # of texts; chosen
#: Shorter values are in too many words by chance to be replaced everywhere.
SHORTEST = 6


#: The key on a line of it, which may be quoted or in a string. A word alone, as in a header of the key, is in other texts, too.
_KEY_LINE = re.compile(
    r"[A-Za-z0-9+/=]{16,}|^[\s>#*|]*(?!(?:[A-Z]?[a-z]+|[A-Z]+)\s*$)(?P<short>[A-Za-z0-9+/=]{6,})\s*$"
)


def with_lines(values: Mapping[str, str]) -> dict[str, str]:
    """Those (value → rule) that are long enough to purge; and the lines of a private key without its frame, as the ledger quotes
    single lines."""
    found = {value: rule for value, rule in values.items() if len(value) >= SHORTEST}
    for value, rule in list(found.items()):
        lines = value.splitlines()
        for line in lines if len(lines) > 1 else ():
            found |= {run["short"] or run[0]: rule for run in _KEY_LINE.finditer(line)}
    return found


def rename(project: Project, replaced: Mapping[str, str]) -> None:
    """Replace old sha256s by new ones in all rows of `project`; old texts are deleted unless another project uses them."""
    for rows, columns in (
        *_columns(project),
        (Memory.objects.filter(project=project), ("sha256",)),
        (FileChange.objects.filter(proposal__project=project), ("viewed_sha",)),
        (Hunk.objects.filter(file__proposal__project=project), ("verdict_base_sha",)),
        (DreamLog.objects.filter(memory__project=project), ("sha256",)),
    ):
        for column in columns:
            _rename(rows, column, replaced)
    _rename_in_options(project, replaced)
    _rename_in_conflicts(project, replaced)
    kept = Blob.objects.filter(_named_by(), sha256__in=replaced).values_list("sha256", flat=True)
    drop(replaced.keys() - {*kept} - _in_json().keys())
    noted = Session.objects.filter(project=project, notes__sha256__in=list(replaced.values()))
    index.read_again(noted)
    # Unfinished work may have it in any step, and can be dreamt again.
    WorkStep.objects.filter(dream__project=project).delete()
    WorkText.objects.filter(dream__project=project).delete()
    # The new texts are searchable too.
    sizes = Blob.objects.filter(sha256=OuterRef("sha256")).values("size")
    told = Version.objects.filter(memory__project=project, sha256__in=replaced.values())
    told.update(indexed=False, size=Coalesce(Subquery(sizes), F("size")))


def _rename_in_options(project: Project, replaced: Mapping[str, str]) -> None:
    for row in QuestionOption.objects.filter(question__project=project).exclude(edits=[]):
        sides = [edit[side] for edit in row.edits for side in ("before", "after")]
        if not replaced.keys().isdisjoint(sides):
            row.edits = [
                {**edit, **{side: replaced.get(edit[side], edit[side]) for side in ("before", "after")}}
                for edit in row.edits
            ]
            row.save(update_fields=["edits"])


def _rename_in_conflicts(project: Project, replaced: Mapping[str, str]) -> None:
    for file in FileChange.objects.filter(proposal__project=project, conflict__isnull=False):
        file.conflict = {side: replaced.get(sha, sha) for side, sha in (file.conflict or {}).items()}
        file.save(update_fields=["conflict"])


def drop(shas: Iterable[str]) -> None:
    """Delete texts that no row uses any more."""
    for sha in list(shas):
        index.forget(sha)
        Blob.objects.filter(sha256=sha).delete()


def _rename(rows: QuerySet[Any], column: str, replaced: Mapping[str, str]) -> None:
    for old, new in replaced.items():
        rows.filter(**{column: old}).update(**{column: new})


def forget_digests(
    project: Project, replaced: Collection[str], said: Collection[str], values: Mapping[str, str]
) -> None:
    """Forget what is known of a text with a secret by the text's digest, from which a short secret could be guessed. `replaced`
    are the sha256s of the texts, `said` what was said again (`said_again.with_secrets`); before `rename` and `scrub`."""
    SaidAgain.objects.filter(prompt__session__project=project, statement__in=said).delete()
    for rows, texts, digest in (
        (Card.objects.filter(project=project), ("said", "text"), "key"),
        (Question.objects.filter(project=project), ("why", "places", "evidence"), "subject"),
    ):
        for row in rows.only("pk", *texts).iterator(chunk_size=ROWS_AT_ONCE):
            said = [getattr(row, name) for name in texts]
            if said != _without(said, values):
                rows.filter(pk=row.pk).update(**{digest: token_hex(32)})
    _forget_findings(project, replaced, values)


def _forget_findings(project: Project, replaced: Collection[str], values: Mapping[str, str]) -> None:
    """What findings are known again by, of those that quote a secret or are in a proposal of such a text: it may be in what they
    are about, of which a message quotes the beginning. No proposal that waits has such a text."""
    proposals = Proposal.objects.filter(project=project)
    columns = ("files__base_sha", "files__new_sha", "files__rebased_from", "files__hunks__edited_sha")
    named = {
        pk
        for column in columns
        for pk in proposals.filter(**{f"{column}__in": replaced}).values_list("pk", flat=True)
    }
    rows = Finding.objects.filter(proposal__project=project)
    told = ("message", "remedy", "message_parts")
    for row in rows.only("pk", "proposal", *told).iterator(chunk_size=ROWS_AT_ONCE):
        said = [getattr(row, name) for name in told]
        if row.proposal_id in named or said != _without(said, values):
            parts = {name: part for name, part in row.message_parts.items() if name != Finding.ABOUT}
            rows.filter(pk=row.pk).update(key=token_hex(12), message_parts=parts)


def scrub(project: Project, values: Mapping[str, str]) -> None:
    """Remove the secrets (value → rule) from quotes, reasons and other texts in `project`'s rows."""
    of_proposal = Q(proposal__project=project)
    of_hunk = Q(hunk__file__proposal__project=project)
    for rows, columns in (
        (LedgerEntry.objects.filter(of_hunk), ("text", "target_text", "note")),
        (Evidence.objects.filter(of_hunk), ("quote", "context", "note")),
        (Operation.objects.filter(of_proposal), ("reason",)),
        (Finding.objects.filter(of_proposal), ("message", "remedy")),
        (Decision.objects.filter(of_proposal), ("reason",)),
        (Proposal.objects.filter(project=project), ("summary",)),
        (DreamRun.objects.filter(project=project), ("summary", "error")),
        (Turn.objects.filter(dream__project=project), ("text",)),
        (Memory.objects.filter(project=project), ("name", "description")),
        (Hunk.objects.filter(file__proposal__project=project), ("decide_reason",)),
        (LeftOut.objects.filter(project=project), ("reason",)),
        (Prompt.objects.filter(session__project=project), ("text",)),
        (Session.objects.filter(project=project), ("title",)),
        (OpenEnd.objects.filter(session__project=project), ("subject",)),
        (Card.objects.filter(project=project), ("said", "text")),
        (Question.objects.filter(project=project), ("why",)),
        (QuestionOption.objects.filter(question__project=project), ("label",)),
        (NotesRequest.objects.filter(session__project=project), ("error",)),
        (HostRequest.objects.filter(project=project), ("text",)),
        (InstructionText.objects.filter(projects=project), ("text",)),
    ):
        _scrub_text(rows, columns, values)
    for found, json_columns in (
        (Hunk.objects.filter(file__proposal__project=project), ("claims", "transcript_verdicts")),
        (Finding.objects.filter(of_proposal).exclude(message_parts={}), ("message_parts",)),
        (LeftOut.objects.filter(project=project), ("added",)),
        (DreamRun.objects.filter(project=project), ("self_review", "left_out")),
        (Turn.objects.filter(dream__project=project), ("tools",)),
        (Card.objects.filter(project=project), ("citations",)),
        (OpenEnd.objects.filter(session__project=project), ("blocked_by",)),
        (Proposal.objects.filter(project=project).exclude(undo_asked={}), ("undo_asked",)),
        (HistoryPrompt.objects.filter(prompt__session__project=project), ("pastes",)),
        (Question.objects.filter(project=project), ("places", "evidence")),
        (QuestionOption.objects.filter(question__project=project), ("edits",)),
        (FileChange.objects.filter(of_proposal, conflict__isnull=False), ("conflict",)),
        (HostRequest.objects.filter(project=project), ("given", "report")),
    ):
        _scrub_json(found, json_columns, values)
    _scrub_states(TranscriptFile.objects.filter(session__project=project), values)
    index.read_again(
        Prompt.objects.filter(session__project=project, text__contains=MARK),
        Session.objects.filter(project=project, title__contains=MARK),
        Session.objects.filter(project=project, open_ends__subject__contains=MARK),
        HistoryPrompt.objects.filter(prompt__session__project=project, pastes__icontains=MARK),
        InstructionText.objects.filter(projects=project, text__contains=MARK),
    )


def _scrub_text(rows: QuerySet[Any], columns: tuple[str, ...], values: Mapping[str, str]) -> None:
    """Only rows that the database finds are read."""
    for column in columns:
        for value in values:
            for row in rows.filter(**{f"{column}__contains": value}).iterator(chunk_size=ROWS_AT_ONCE):
                setattr(row, column, without(getattr(row, column), values))
                row.save(update_fields=[column])


def _scrub_json(rows: QuerySet[Any], columns: tuple[str, ...], values: Mapping[str, str]) -> None:
    """JSON is escaped in the database, so it is searched here, a few hundred rows at a time."""
    for row in rows.only("pk", *columns).iterator(chunk_size=ROWS_AT_ONCE):
        for column in columns:
            before = getattr(row, column)
            after = _without(before, values)
            if after != before:
                setattr(row, column, after)
                row.save(update_fields=[column])


def _scrub_states(files: QuerySet[TranscriptFile], values: Mapping[str, str]) -> None:
    """What was read of transcripts, as JSON: the next reading continues from it."""
    escaped = {json.dumps(value, ensure_ascii=False)[1:-1]: rule for value, rule in values.items()}
    for row in files.only("pk", "state").iterator(chunk_size=ROWS_AT_ONCE):
        before = text.decode(bytes(row.state))
        if before != (after := without(before, escaped)):
            files.filter(pk=row.pk).update(state=text.encode(after))


def _without(value: object, values: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return without(value, values)
    if isinstance(value, list):
        return [_without(item, values) for item in value]
    if isinstance(value, dict):
        return {key: _without(item, values) for key, item in value.items()}
    return value


#: Stored texts searched, newest first; each takes well under a millisecond.
MOST_TEXTS = 20_000
CHUNK = 200


@dataclass(frozen=True, slots=True)
class SecretLine:
    """A secret's place in a current memory. `line_no` is 1-based."""

    path: str
    memory_pk: int
    line_no: int


@dataclass(slots=True)
class Leak:
    """One secret: the rule that found it, its current places, and how many stored texts have it."""

    id: str
    rule: str
    places: list[SecretLine] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    texts: int = 0

    @property
    def kind(self) -> str:
        """The rule in words."""
        return titled(self.rule)

    @property
    def stands(self) -> bool:
        """Whether it is in a current memory."""
        return bool(self.places)


@dataclass(frozen=True, slots=True)
class Leaks:
    """Those in current memories first. `all_looked_at` is False if there are more stored texts than MOST_TEXTS."""

    found: tuple[Leak, ...]
    all_looked_at: bool


def find_secrets(project: Project) -> Leaks:
    """All secrets in what is stored for `project`."""
    hosts.name_secrets()
    found: dict[str, Leak] = {}
    for memory, data in current_texts(project):
        content = text.decode(data)
        for span in spans(content):
            leak = _leak(found, content[span.start : span.end], span.rule)
            leak.places.append(SecretLine(memory.path, memory.pk, content.count("\n", 0, span.start) + 1))
    paths = kept_texts(project)
    for sha, content in contents_of(project):
        for value, rule in values(content).items():
            leak = _leak(found, value, rule)
            leak.texts += 1
            leak.paths = sorted({*leak.paths, *paths[sha]})
    ordered = sorted(found.values(), key=lambda leak: (not leak.stands, leak.rule, leak.id))
    return Leaks(tuple(ordered), len(paths) <= MOST_TEXTS)


def kept_texts(project: Project) -> dict[str, set[str]]:
    """sha256 → paths of its versions, proposals, edits, applied files, drafted answers, conflicts, and notes on sessions (with a
    name instead of a path)."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    paths: dict[type[Model], F | Concat] = {
        Version: F("memory__path"),
        Hunk: F("file__path"),
        SessionNotes: Concat(Value("notes on session "), "session__session_id"),
    }
    for rows, columns in _columns(project):
        named = rows.values_list(paths.get(rows.model, F("path")), *columns)
        for path, *shas in named.iterator(chunk_size=2000):
            for sha in filter(None, shas):
                found[sha].add(path)
    for sha, named_for in _in_json(project).items():
        found[sha] |= named_for
    return dict(found)


def contents_of(project: Project) -> Iterator[tuple[str, str]]:
    """sha256 and text of the stored ones, newest first, then of drafted answers and conflicts; at most MOST_TEXTS each, in
    small parts. Whole, if the history has them so: a secret may be in what a disk has damaged."""
    seen = set()
    for sha, data in _rows(Blob.objects.filter(_named_by(project))):
        seen.add(sha)
        yield sha, text.decode(time_travel.whole(project, sha, data))
    others = sorted(_in_json(project).keys() - seen)[:MOST_TEXTS]
    for start in range(0, len(others), CHUNK):
        for sha, data in blobs.get_many(others[start : start + CHUNK]).items():
            yield sha, text.decode(time_travel.whole(project, sha, data))


def _in_json(project: Project | None = None) -> dict[str, set[str]]:
    """sha256 → paths of the texts that options of questions and conflicts name."""
    options = QuestionOption.objects.exclude(edits=[])
    conflicts = FileChange.objects.filter(conflict__isnull=False)
    if project is not None:
        options = options.filter(question__project=project)
        conflicts = conflicts.filter(proposal__project=project)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for edits in options.values_list("edits", flat=True).iterator(chunk_size=CHUNK):
        for edit in edits:
            found[edit["before"]].add(edit["path"])
            found[edit["after"]].add(edit["path"])
    for path, sides in conflicts.values_list("path", "conflict").iterator(chunk_size=CHUNK):
        for sha in (sides or {}).values():
            found[sha].add(path)
    found.pop("", None)
    return dict(found)


def unnamed() -> Iterator[tuple[str, str]]:
    """sha256 and text of what no row uses any more, such as replaced edits."""
    used = _in_json()
    rows = _rows(Blob.objects.exclude(_named_by()))
    return ((sha, text.decode(data)) for sha, data in rows if sha not in used)


def _rows(rows: QuerySet[Blob]) -> Iterator[tuple[str, bytes]]:
    newest = rows.order_by("-first_seen_at").values_list("sha256", "data")[:MOST_TEXTS]
    for sha, data in newest.iterator(chunk_size=CHUNK):
        yield sha, bytes(data)


def _named_by(project: Project | None = None) -> Q:
    """Texts that `project`, or any, has."""
    found = Q()
    for rows, columns in _columns(project):
        for column in columns:
            found |= Q(sha256__in=rows.exclude(**{column: ""}).values(column))
    return found


def _columns(project: Project | None) -> tuple[tuple[QuerySet[Any], tuple[str, ...]], ...]:
    """Where a text is named, the columns' own order after the path."""

    def of(model: type[Model], way: str) -> QuerySet[Any]:
        rows = model._default_manager.order_by()
        return rows.filter(**{way: project}) if project else rows

    return (
        (of(Version, "memory__project"), ("sha256",)),
        (of(FileChange, "proposal__project"), ("base_sha", "new_sha", "rebased_from")),
        (of(Hunk, "file__proposal__project"), ("edited_sha",)),
        (of(Decision, "proposal__project"), ("base_sha", "text_sha")),
        (of(AppliedFile, "application__proposal__project"), ("before_sha", "after_sha")),
        (of(SessionNotes, "session__project"), ("sha256",)),
    )


def current_texts(project: Project) -> Iterator[tuple[Memory, bytes]]:
    """The memories as last seen, by path, each with its text."""
    rows = project.memories.filter(gone_at__isnull=True).order_by("path")
    kept = blobs.get_all(rows.values_list("sha256", flat=True))
    return (
        (row, time_travel.whole(project, row.sha256, kept[row.sha256])) for row in rows if row.sha256 in kept
    )


def _leak(found: dict[str, Leak], value: str, rule: str) -> Leak:
    name = secrets.fingerprint(value)
    return found.setdefault(name, Leak(name, rule))
