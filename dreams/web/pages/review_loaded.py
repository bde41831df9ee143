"""A proposal as the review page reads it: its rows once, its decisions, and the texts of the files that are shown."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar
from urllib.parse import urlencode

from django.db.models import Model
from django.urls import reverse

from dreams.engines import drafts
from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import FileChange, Finding, Hunk, Memory, Proposal
from dreams.services import blobs, proposals
from dreams.services.proposals import decisions
from dreams.services.proposals.reading import renames as find_renames
from dreams.web.pages.sight import Sight

WORST = [severity.value for severity in Finding.Severity]
# Where a decision is shown: with the memory that comes, else with one that changes, else with what goes.
_HOMES = {FileChange.Kind.ADD: 0, FileChange.Kind.MODIFY: 1, FileChange.Kind.DELETE: 2}
Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What one verdict decides. `hunks` in the order in which they are read; the first says where it is shown."""

    key: int
    hunks: tuple[Hunk, ...]

    @property
    def main(self) -> Hunk:
        return self.hunks[0]

    @property
    def pk(self) -> int:
        return self.main.pk

    @property
    def file_id(self) -> int:
        return self.main.file_id

    @property
    def state(self) -> decisions.State:
        return decisions.state(self.hunks)

    @property
    def is_open(self) -> bool:
        return self.state == "undecided"

    @property
    def is_taken(self) -> bool:
        return self.state in ("approved", "edited")

    @property
    def reason(self) -> str:
        return self.main.operation.reason if self.main.operation else ""

    @property
    def seen(self) -> str:
        """Changes when any file does that this touches: what the verdict on it was made on."""
        states = sorted(f"{hunk.file_id} {hunk.file.base_sha}" for hunk in self.hunks)
        return hashlib.sha256("\n".join(states).encode()).hexdigest()[:12]


@dataclass
class Loaded:
    """A proposal with all its rows: of hunks and findings without the texts that only a card shows."""

    proposal: Proposal
    files: list[FileChange]
    hunks: Mapping[int, list[Hunk]]
    findings: list[Finding]
    memories: Mapping[str, Memory]
    #: Secrets are shown as they are: a person asked for that.
    is_bare: bool = False

    @cached_property
    def all_hunks(self) -> list[Hunk]:
        return [hunk for file in self.files for hunk in self.hunks[file.pk]]

    @cached_property
    def decisions(self) -> list[Decision]:
        """In the order of the files that they are shown with."""
        order = {file.pk: number for number, file in enumerate(self.files)}
        found = [
            Decision(key, tuple(sorted(rows, key=self._reading)))
            for key, rows in decisions.grouped(self.all_hunks).items()
        ]
        return sorted(found, key=lambda one: (order[one.file_id], one.main.number))

    def _reading(self, hunk: Hunk) -> tuple[object, ...]:
        file = hunk.file
        return (
            file.pk in self.old_names,
            is_index(file),
            _HOMES[FileChange.Kind(file.kind)],
            file.path,
            hunk.number,
        )

    @cached_property
    def decision_of(self) -> Mapping[int, Decision]:
        """Hunk → its decision."""
        return {hunk.pk: decision for decision in self.decisions for hunk in decision.hunks}

    @cached_property
    def renames(self) -> Mapping[int, FileChange]:
        """A file that came → the file that went, where they are one under another name and decided together."""
        alone = [(file, rows[0]) for file in self.files if len(rows := self.hunks[file.pk]) == 1]
        return find_renames((file, row.operation_id) for file, row in alone if row.operation_id is not None)

    @cached_property
    def old_names(self) -> Mapping[int, FileChange]:
        """The reverse of `renames`: a file that went → the file that it is now."""
        by_pk = {file.pk: file for file in self.files}
        return {old.pk: by_pk[new] for new, old in self.renames.items()}

    @cached_property
    def shown_files(self) -> list[FileChange]:
        """The files as a person counts them: what went under its old name is shown under the new one."""
        return [file for file in self.files if file.pk not in self.old_names]

    @cached_property
    def shown_hunks(self) -> list[Hunk]:
        """The changes as a person counts them."""
        return [hunk for file in self.shown_files for hunk in self.hunks[file.pk]]

    def parts_of(self, file: FileChange) -> list[FileChange]:
        """The rows behind one shown file: itself and, renamed, its old name."""
        old = self.renames.get(file.pk)
        return [file, old] if old else [file]

    @cached_property
    def digest(self) -> str:
        """Changes when any file of the proposal does."""
        states = "\n".join(f"{f.pk} {f.base_sha} {f.new_sha} {bool(f.conflict)}" for f in self.files)
        return hashlib.sha256(states.encode()).hexdigest()[:24]

    @property
    def answers(self) -> str:
        """Changes with any verdict and edit: what a review was submitted on."""
        states = "\n".join(f"{hunk.pk} {hunk.verdict} {hunk.edited_sha}" for hunk in self.all_hunks)
        return hashlib.sha256(states.encode()).hexdigest()[:24]

    def moved_since(self, digest: object, answers: object) -> str:
        """Why a press is not for what is here now: its page was made from another `digest` or other `answers`.

        Empty when nothing moved.
        """
        if digest != self.digest:
            return "The proposal changed since this page was shown. Look at it again; nothing was written."
        if answers != self.answers:
            return "Something was decided elsewhere since this page was shown. Look at it again; nothing was written."
        return ""

    @property
    def is_open(self) -> bool:
        return self.proposal.state == Proposal.State.OPEN

    @cached_property
    def found_in(self) -> Mapping[int | None, list[Finding]]:
        """File → the findings that are more than a note; None holds those on the whole."""
        found = defaultdict(list)
        for finding in self.findings:
            if finding.severity != Finding.Severity.INFO:
                found[finding.file_id].append(finding)
        return found

    def has_findings(self, hunk: Hunk) -> bool:
        """More than a note is said of it, or of its file as a whole."""
        return any(found.hunk_id in (hunk.pk, None) for found in self.found_in.get(hunk.file_id, ()))

    def free(self, among: Iterable[Decision]) -> list[Decision]:
        """The undecided ones that no finding and no conflict speaks against, in any of their parts."""
        return [one for one in among if one.is_open and one.key not in self._spoken_of]

    @cached_property
    def _spoken_of(self) -> set[int]:
        against = [f for f in self.findings if f.severity != Finding.Severity.INFO and f.confirmed_at is None]
        files = {finding.file_id for finding in against if finding.hunk_id is None}
        files |= {file.pk for file in self.files if file.conflict}
        own = {finding.hunk_id for finding in against if finding.hunk_id is not None}
        return {decisions.key(h) for h in self.all_hunks if h.pk in own or h.file_id in files}

    def decided(self, hunks: Iterable[Hunk]) -> None:
        """Take over what was just saved of these rows, instead of reading the proposal again."""
        fresh = {hunk.pk: hunk for hunk in hunks}
        for hunk in self.all_hunks:
            if (saved := fresh.get(hunk.pk)) is not None:
                hunk.verdict, hunk.edited_sha = saved.verdict, saved.edited_sha
                hunk.decide_reason = saved.decide_reason


def is_index(file: FileChange) -> bool:
    return file.path.rpartition("/")[2] == memdir.INDEX_NAME


def line_of(hunk: Hunk) -> int:
    """Its first line (1-based): of the new text, or of the old where nothing is added."""
    return (hunk.new_start if hunk.new_count else hunk.base_start) + 1


def find(public_id: str) -> Proposal | None:
    """By its own id or by its dream's."""
    rows = Proposal.objects.select_related("project", "dream", "undoes", "undoes__dream")
    own = rows.filter(public_id=public_id).first()
    if own is not None:
        return own
    return rows.filter(dream__public_id=public_id).order_by("by_policy", "-pk").first()


def load(proposal: Proposal) -> Loaded:
    """Five queries, whatever the size of the proposal."""
    return load_all([proposal])[0]


def load_all(proposals: Sequence[Proposal]) -> list[Loaded]:
    """As `load`, in the same order: five queries for all of them together."""
    by_pk = {proposal.pk: proposal for proposal in proposals}
    files = {file.pk: file for file in FileChange.objects.filter(proposal__in=by_pk)}
    for file in files.values():
        file.proposal = by_pk[file.proposal_id]
    hunks = _hunks(by_pk, files)
    # The index last: its rows are decided with the memories that they name.
    ordered = sorted(files.values(), key=lambda file: (file.path == memdir.INDEX_NAME, file.path))
    findings: defaultdict[int, list[Finding]] = defaultdict(list)
    for found in Finding.objects.filter(proposal__in=by_pk).defer(*_FINDING_TEXTS).order_by("pk"):
        findings[found.proposal_id].append(found)
    projects = {proposal.project_id for proposal in proposals}
    paths = FileChange.objects.filter(proposal__in=by_pk).order_by().values("path")
    memories = list(Memory.objects.filter(project__in=projects, path__in=paths))
    return [
        Loaded(
            proposal=proposal,
            files=(mine := [file for file in ordered if file.proposal_id == proposal.pk]),
            hunks={file.pk: hunks[file.pk] for file in mine},
            findings=findings[proposal.pk],
            memories={m.path: m for m in memories if m.project_id == proposal.project_id},
        )
        for proposal in proposals
    ]


_FINDING_TEXTS = ("message", "told", "remedy", "key", "check_name", "code", "confirmed_by")


def _hunks(proposals: Collection[int], files: Mapping[int, FileChange]) -> Mapping[int, list[Hunk]]:
    """File → its hunks in their order."""
    found: dict[int, list[Hunk]] = {pk: [] for pk in files}
    rows = Hunk.objects.filter(file__proposal__in=proposals).select_related("operation").order_by("number")
    for hunk in rows.defer("claims", "heard"):
        hunk.file = files[hunk.file_id]
        found[hunk.file_id].append(hunk)
    return found


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Worst first."""
    return sorted(findings, key=lambda finding: WORST.index(finding.severity))


def address(proposal: Proposal, *, anchor: str = "", **query: int | str | None) -> str:
    """The page's address, at a file or a hunk."""
    given = {key: value for key, value in query.items() if value not in (None, "")}
    return (
        reverse("review", args=[proposal.public_id])
        + (f"?{urlencode(given)}" if given else "")
        + (f"#{anchor}" if anchor else "")
    )


@dataclass(frozen=True, slots=True)
class FileTexts:
    """Both states of a file and its hunks with their lines. `edited` has the texts that a person put in."""

    base: bytes | None
    new: bytes | None
    hunks: tuple[tuple[Hunk, diff.Hunk], ...]
    edited: Mapping[str, str]

    @property
    def is_text(self) -> bool:
        return text.is_utf8(self.base or b"") and text.is_utf8(self.new or b"")

    def decided(self) -> bytes | None:
        """The file with everything that is not rejected; None when it is not to exist."""
        pending = Hunk.Verdict.PENDING
        chosen = {
            row.hunk_id: self.edited.get(row.hunk_id, row.is_taken or row.verdict == pending)
            for row, _ in self.hunks
        }
        return drafts.rebuild(self.base, self.new, [hunk for _, hunk in self.hunks], chosen)

    def whole(self, row: Hunk) -> str:
        """The new text, of a file that is one change: a person's own where there is one."""
        return self.edited.get(row.hunk_id, text.decode(self.new or b""))

    def as_shown(self) -> list[diff.Hunk]:
        """The hunks with a person's own text in place of the proposed one."""
        return [
            replace(hunk, new_lines=tuple(diff.split_lines(self.edited[row.hunk_id])))
            if row.hunk_id in self.edited
            else hunk
            for row, hunk in self.hunks
        ]


def shas(loaded: Loaded, file: FileChange) -> Iterator[str]:
    """Every text of a shown file: before and after, of its old name too, and what a person put in."""
    for part in loaded.parts_of(file):
        yield from (part.base_sha, part.new_sha)
    yield from (hunk.edited_sha for hunk in loaded.hunks[file.pk])


def texts_of(loaded: Loaded, shown: Collection[int]) -> Mapping[str, bytes]:
    """The blobs of these files and of the index, in one query."""
    wanted = [file for file in loaded.files if file.pk in shown or file.path == memdir.INDEX_NAME]
    return blobs.get_many(sha for file in wanted for sha in shas(loaded, file))


def file_texts(file: FileChange, rows: Sequence[Hunk], texts: Mapping[str, bytes]) -> FileTexts:
    base, new = texts.get(file.base_sha), texts.get(file.new_sha)
    old_lines, new_lines = (diff.split_lines(text.decode(side or b"")) for side in (base, new))
    return FileTexts(
        base=base if file.base_sha else None,
        new=new if file.new_sha else None,
        hunks=tuple((row, proposals.lines_of(row, old_lines, new_lines)) for row in rows),
        edited={
            row.hunk_id: text.decode(texts.get(row.edited_sha, b""))
            for row in rows
            if row.verdict == Hunk.Verdict.EDITED
        },
    )


@dataclass(frozen=True, slots=True)
class TextSight(Sight):
    """What a card shows in place of secrets. `plain` are the texts themselves (sha256 → bytes), `texts` as shown."""

    plain: Mapping[str, bytes]
    texts: Mapping[str, bytes]

    def secrets_in(self, *shas: str) -> int:
        return self.known.count("\n".join(text.decode(self.plain.get(sha, b"")) for sha in shas))

    def rows(self, rows: Iterable[Row], *fields: str) -> list[Row]:
        """Rows read for a page, and never saved, with their words masked."""
        found = list(rows)
        if self.mask.shown:
            for row in found:
                for name in fields:
                    setattr(row, name, self.mask.deep(getattr(row, name)))
        return found


def sight(loaded: Loaded, texts: Mapping[str, bytes]) -> TextSight:
    seen = Sight.of(map(text.decode, texts.values()), is_bare=loaded.is_bare)
    return TextSight(seen.known, seen.is_bare, texts, masked(texts, seen.mask))


def masked(texts: Mapping[str, bytes], mask: Mask) -> Mapping[str, bytes]:
    return {sha: mask.bytes(data) for sha, data in texts.items()}
