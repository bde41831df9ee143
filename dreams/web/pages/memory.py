"""The page of one memory: text, metadata, links, and every earlier version."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum
from django.urls import reverse

from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import Blob, Memory, Project, Proposal, Version
from dreams.services import blobs, hosts
from dreams.services.memories import time_travel
from dreams.services.proposals import summaries, undos
from dreams.web.pages import diffs
from dreams.web.paging import EVERYTHING, OUTSIDE, SYSTEM, WORDS, Filter, PageOfRows, page_of
from dreams.web.render import Resolver, TemplateResolver

VERSIONS_PAGE = 30  # rows; chosen
MOST_ROWS = 3_000  # lines of a difference; chosen
MOST_CHOICES = 200  # versions to choose from; chosen
LONGEST_SKILL_NAME, LONGEST_SKILL_DESCRIPTION = 64, 1_024  # characters; the agent's own constants


class Look(NamedTuple):
    """How a version is shown: its icon, colour and label."""

    icon: str
    tone: str
    what: str


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version with its look, author and reason; `previous` is the id of the version before."""

    version: Version
    look: Look
    who: str
    is_now: bool
    reason: str
    previous: int | None


ORIGINS = {
    Version.Origin.FOUND: Look("eye", "", "Already there when memoryweb started"),
    Version.Origin.OUTSIDE: Look("edit", "", "Changed outside"),
    Version.Origin.APPLY: Look("moon", "accent", "Applied from a proposal"),
    Version.Origin.ROLLBACK: Look("undo", "warn", "Undone"),
    Version.Origin.RESTORE: Look("redo", "ok", "Restored"),
    Version.Origin.EDIT: Look("edit", "ok", "Edited by hand"),
    Version.Origin.FORGET: Look("trash", "warn", "Forgotten"),
    Version.Origin.REDACTION: Look("shield", "ok", "Redacted"),
    Version.Origin.COPIED: Look("memory", "ok", "Copied from another project"),
}
REDONE = Look("redo", "ok", "Redone")
MOVED = Look("right", "ok", "Moved to another project")


@dataclass(frozen=True, slots=True)
class Looks:
    """Version → its look. The undo of an undo is a redo, and a memory may leave for another project: a query each, or none
    if nothing was undone or left."""

    redos: frozenset[int | None]
    moves: frozenset[int | None]

    @classmethod
    def of(cls, rows: Iterable[Version]) -> "Looks":
        made = defaultdict[str, set[int]](set)
        for row in rows:
            if row.proposal_id:
                made[row.origin].add(row.proposal_id)
        undone, left = made[Version.Origin.ROLLBACK], made[Version.Origin.FORGET]
        moves = Proposal.objects.filter(pk__in=left, moved_to__isnull=False).values_list("pk", flat=True)
        return cls(frozenset(undos.redos(undone) if undone else ()), frozenset(moves if left else ()))

    def __call__(self, row: Version) -> Look:
        if row.origin == Version.Origin.ROLLBACK and row.proposal_id in self.redos:
            return REDONE
        if row.origin == Version.Origin.FORGET and row.proposal_id in self.moves:
            return MOVED
        return ORIGINS[Version.Origin(row.origin)]


# Labels in the filter that differ from those of the rows.
_KINDS = {Version.Origin.ROLLBACK: "Undone or redone", Version.Origin.FORGET: "Forgotten or moved away"}

# Not made by memoryweb; the author is unknown.
_NOT_OURS = (Version.Origin.FOUND, Version.Origin.OUTSIDE)


def versions(
    memory: Memory, number: str | None = None, wanted: Filter = EVERYTHING
) -> PageOfRows[VersionRow]:
    """Newest first. `previous` is the version before, regardless of the filter."""
    earlier = Version.objects.filter(memory=OuterRef("memory"), number__lt=OuterRef("number"))
    before = Subquery(earlier.order_by("-number").values("pk")[:1])
    rows = _matching(memory.versions.all(), wanted).annotate(previous=before)
    page = page_of(rows.select_related("proposal__dream").order_by("-number", "-pk"), number, VERSIONS_PAGE)
    shown = list(page.object_list)
    told = _ListTexts.of(shown, memory)
    return PageOfRows([_version(row, memory, row.previous, told) for row in shown], page)


@dataclass(frozen=True, slots=True)
class _ListTexts:
    """Reasons and looks for the versions of one list."""

    reasons: Mapping[int, str]
    looks: Looks

    @classmethod
    def of(cls, rows: Sequence[Version], memory: Memory) -> "_ListTexts":
        made = (row.proposal for row in rows if row.proposal)
        return cls(summaries.reasons_in(memory.path, made), Looks.of(rows))


def _matching(rows: QuerySet[Version], wanted: Filter) -> QuerySet[Version]:
    if wanted.kind:
        rows = rows.filter(origin=wanted.kind)
    if wanted.who == OUTSIDE:
        return rows.filter(actor="", origin__in=_NOT_OURS)
    if wanted.who == SYSTEM:
        return rows.filter(actor="").exclude(origin__in=_NOT_OURS)
    return rows.filter(actor=wanted.who) if wanted.who else rows


def filters(memory: Memory) -> dict[str, Any]:
    """One query."""
    seen = set(memory.versions.order_by().values_list("origin", "actor").distinct())
    people = sorted({actor for _, actor in seen if actor})
    named = [(actor, actor) for actor in people]
    if any(not actor and origin not in _NOT_OURS for origin, actor in seen):
        named.append((SYSTEM, WORDS[SYSTEM]))
    if any(not actor and origin in _NOT_OURS for origin, actor in seen):
        named.append((OUTSIDE, WORDS[OUTSIDE]))
    kinds = {origin for origin, _ in seen}
    return {
        "kinds": [(name, _KINDS.get(name, what)) for name, (_, _, what) in ORIGINS.items() if name in kinds],
        "people": named,
    }


def last_kept(memory: Memory) -> int | None:
    """The newest version with a text: the last content of a removed memory."""
    rows = memory.versions.exclude(sha256="").order_by("-number", "-pk")
    return rows.values_list("pk", flat=True).first()


def version(memory: Memory, pk: int) -> VersionRow | None:
    row = memory.versions.select_related("proposal__dream").filter(pk=pk).first()
    return None if row is None else _version(row, memory, None, _ListTexts.of([row], memory))


def _version(row: Version, memory: Memory, previous: int | None, told: _ListTexts) -> VersionRow:
    look = told.looks(row)
    if not row.sha256 and row.origin == Version.Origin.OUTSIDE:
        look = Look("trash", "warn", "Removed outside")
    if row.aside_at:
        look = Look("warn", "warn", "Written while changes were being applied, not in the file")
    return VersionRow(
        version=row,
        look=look,
        # The label of an outside version already says where it came from.
        who=row.actor or ("" if row.origin in _NOT_OURS else WORDS[SYSTEM]),
        is_now=bool(row.sha256) and memory.gone_at is None and row.sha256 == memory.sha256,
        reason=told.reasons.get(row.proposal_id or 0, ""),
        previous=previous,
    )


def compare(old: VersionRow, new: VersionRow, *, is_bare: bool = False) -> dict[str, Any]:
    """The diff of two kept versions; a removed file is empty. `is_bare`: with its secrets."""
    shas = (old.version.sha256, new.version.sha256)
    kept = blobs.get_many(shas)
    missing = next((sha[:12] for sha in shas if sha and sha not in kept), "")
    before, after = ("" if missing else text.decode(kept.get(sha, b"")) for sha in shas)
    known = Mask.of((before, after))
    return {
        **diffs.difference(before, after, Mask() if is_bare else known, MOST_ROWS),
        "old": old,
        "new": new,
        "missing": missing,
        "secrets": len(known.shown),
    }


def choices(memory: Memory) -> list[VersionRow]:
    """Versions for the two pickers of the compare page."""
    rows = list(memory.versions.select_related("proposal__dream").order_by("-number", "-pk")[:MOST_CHOICES])
    told = _ListTexts.of(rows, memory)
    return [_version(row, memory, None, told) for row in rows]


def with_picked(options: Sequence[VersionRow], picked: Iterable[VersionRow]) -> list[VersionRow]:
    """The options, followed by picked versions that are not among them."""
    known = {one.version.pk for one in options}
    return [*options, *(one for one in picked if one.version.pk not in known)]


MOST_LINKS = 60  # shown; chosen
# An index may have this many rows; they are folded.
MOST_LINKS_OUT = 500
# Links to a memory are searched in the texts of its siblings; more would take too long for a page.
MOST_SIBLING_BYTES = 4 << 20
MOST_SIBLINGS = 2_000
MOST_EDIT_BYTES = 1 << 20
MOST_SHOWN_CHARS = 400_000


def current_bytes(memory: Memory) -> bytes | None:
    """The last known content; None for a removed memory, or if the database and the history have lost it."""
    if memory.gone_at is not None:
        return None
    data = blobs.get_many([memory.sha256]).get(memory.sha256)
    return time_travel.whole(memory.project, memory.sha256, data or b"") or data


def why_not_editable(data: bytes) -> str:
    """Why this file must be edited elsewhere; empty if it can be edited here."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "It contains bytes that are not UTF-8, which a browser would lose. Edit it in an editor."
    if len(data) > MOST_EDIT_BYTES:
        return "It is larger than 1 MB. Edit it in an editor; your changes are kept in its history."
    return ""


def body_of(data: bytes) -> dict[str, Any]:
    document = memdir.parse(data)
    front = document.frontmatter
    shown = document.text[:MOST_SHOWN_CHARS]
    return {
        "fields": [(diff.visible(name), diff.visible(value)) for name, value in front.fields]
        if front
        else (),
        "problem": front.problem if front else "",
        "body": diff.visible(document.body[:MOST_SHOWN_CHARS].replace("\r\n", "\n")),
        "source": diff.visible(shown.replace("\r\n", "\n")),
        "is_utf8": document.is_utf8,
        "has_bom": bool(document.bom),
        "line_end": "CRLF" if document.newline == "\r\n" else "LF",
        "is_cut": len(document.text) > MOST_SHOWN_CHARS,
        "lines": document.text.count("\n") + (not document.text.endswith("\n") and bool(document.text)),
    }


def as_skill(memory: Memory, data: bytes) -> str:
    """The memory as a SKILL.md, without secrets: a name of letters, digits and hyphens, what it is for, and the text."""
    name = "-".join(re.findall("[a-z0-9]+", memdir.slug_for(memory.title)))[:LONGEST_SKILL_NAME].strip("-")
    said = " ".join((memory.description or memory.title).split())[:LONGEST_SKILL_DESCRIPTION]
    body = memdir.parse(data).body.replace("\r\n", "\n").strip()
    # A string of JSON is one of YAML.
    made = (
        f"---\nname: {name or 'memory'}\ndescription: {json.dumps(said, ensure_ascii=False)}\n---\n\n{body}\n"
    )
    return Mask.of([made])(made)


# --- Links --------------------------------------------------------------------------------------------------------


def resolver(project: Project) -> Resolver:
    """`[[name]]` and `[…](name.md)` → the memory's page, ignoring case and Unicode form."""
    known = _names(project)

    @TemplateResolver
    def resolve(name: str) -> str | None:
        pk = _find(known, name)
        return None if pk is None else reverse("memory", args=[pk])

    return resolve


def _names(project: Project) -> dict[str, int]:
    """What links call the memories now. A name in frontmatter never hides another memory’s file of that name."""
    rows = project.memories.filter(gone_at__isnull=True).order_by("path").values_list("path", "name", "pk")
    known = list(rows[:MOST_SIBLINGS])[::-1]  # the first of a name stays
    by_name = {key: pk for path, name, pk in known for key in _keys(path, name)}
    return by_name | {key: pk for path, _, pk in known for key in _keys(path, "")}


def _keys(path: str, name: str) -> list[str]:
    """What links to a memory call it: its path, its file's name, and the name in its frontmatter."""
    return [_key(one) for one in (path, PurePosixPath(path).name, name) if one]


def _key(name: str) -> str:
    return memdir.name_key(unquote(name).strip().removeprefix("./").removesuffix(".md"))


def _find(known: Mapping[str, int], name: str) -> int | None:
    plain = name.partition("#")[0]
    return known.get(_key(plain)) or known.get(_key(memdir.slug_for(plain)))


def links_out(memory: Memory, data: bytes, mask: Mask) -> list[dict[str, Any]]:
    known = _names(memory.project)
    found: dict[str, dict[str, Any]] = {}
    for target in _targets(text.decode(data)):
        pk = _find(known, target)
        if pk != memory.pk:
            found.setdefault(_key(target), {"label": diff.visible(mask(target)), "pk": pk})
    return list(found.values())[:MOST_LINKS_OUT]


def _targets(content: str) -> list[str]:
    named = [link.target for link in memdir.wikilinks(content)]
    return named + [link.path for link in memdir.markdown_links(content) if link.is_memory]


def links_in(memory: Memory) -> list[dict[str, Any]] | None:
    """Siblings whose text links to this memory; None if there is too much text to look."""
    rows = memory.project.memories.filter(gone_at__isnull=True).exclude(pk=memory.pk)
    sums = rows.aggregate(n=Sum("size"), files=Count("pk"))
    if (sums["n"] or 0) > MOST_SIBLING_BYTES or sums["files"] > MOST_SIBLINGS:
        return None
    known = _names(memory.project)
    # Not what is the name of another memory now: its links lead there.
    wanted = {key for key in _keys(memory.path, memory.name) if known.get(key, memory.pk) == memory.pk}
    paths = list(rows.values_list("pk", "path", "sha256"))
    # One query: their total size is limited above.
    kept = Blob.objects.filter(sha256__in=rows.values("sha256")).values_list("sha256", "data")
    texts = {sha: bytes(data) for sha, data in kept}
    return [
        {"label": diff.visible(path), "pk": pk}
        for pk, path, sha in paths
        if sha in texts and wanted & {_key(target) for target in _targets(text.decode(texts[sha]))}
    ]


def move_targets(memory: Memory) -> QuerySet[Project]:
    """The projects of this host that it can move to."""
    others = Project.objects.filter(host=hosts.host(), gone_at=None, repo_gone_at=None)
    others = others if memory.project.host == hosts.host() else others.none()
    return others.exclude(pk=memory.project_id).order_by("name", "pk")


def leaving(memory: Memory) -> dict[str, Any]:
    """What else changes where the memory is forgotten: its index rows are removed, and links to it lead nowhere."""
    names = memdir.indexes_of(memory.path)
    indexes = memory.project.memories.filter(path__in=names, gone_at__isnull=True).exclude(pk=memory.pk)
    kept = blobs.get_many([index.sha256 for index in indexes])
    texts = {index.path: text.decode(kept.get(index.sha256, b"")) for index in indexes}
    mask = Mask.of(texts.values())
    rows = [row for at, content in texts.items() for row in memdir.parse_index(content).rows_for(names[at])]
    links = links_in(memory)
    return {
        "index_rows": [diff.visible(mask(row.raw)) for row in rows[:MOST_LINKS]],
        "more_rows": max(0, len(rows) - MOST_LINKS),
        "linked_from": [link for link in links or () if link["label"] not in names],
        "not_looked_for": links is None,
    }
