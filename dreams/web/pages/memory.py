"""One memory: its text, what it says of itself, who links to it, and every state it was in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from django.db.models import Sum
from django.urls import reverse

from dreams.lib import diff, memdir
from dreams.lib.files import text
from dreams.lib.secrets.masking import Mask
from dreams.models import Blob, Evidence, Memory, Project
from dreams.services import blobs
from dreams.web.render import Resolver
from dreams.web.shown import shown

MOST_LINKS = 60
# As many as an index has rows; they are folded.
MOST_LINKS_OUT = 500
MOST_EVIDENCE = 6
# Links into a memory are looked for in its siblings' texts; beyond this a page would wait too long.
MOST_SIBLING_BYTES = 4 << 20
MOST_SIBLINGS = 2_000
MOST_EDIT_BYTES = 1 << 20
MOST_SHOWN_CHARS = 400_000


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Link:
    """A memory that is linked to, or links here; `pk` is None where the target is missing."""

    label: str
    pk: int | None


@dataclass(frozen=True, slots=True)
class Body:
    """The text as shown. `source` is safe to show: what cannot be seen or decoded is written out."""

    fields: list[Field]
    problem: str
    body: str
    source: str
    is_utf8: bool
    has_bom: bool
    line_end: str
    is_cut: bool
    lines: int


@dataclass(frozen=True, slots=True)
class Leaving:
    """What forgetting a memory takes along."""

    index_rows: list[str]
    linked_from: list[Link]


def current_bytes(memory: Memory) -> bytes | None:
    """The bytes as last seen; None for a memory that is gone, or whose bytes are not kept."""
    if memory.gone_at is not None:
        return None
    return blobs.get_many([memory.sha256]).get(memory.sha256)


def body_of(data: bytes) -> Body:
    document = memdir.parse(data)
    front = document.frontmatter
    shown = document.text[:MOST_SHOWN_CHARS]
    return Body(
        fields=[Field(diff.visible(name), diff.visible(value)) for name, value in front.fields]
        if front
        else [],
        problem=(front.problem or "") if front else "",
        body=diff.visible(document.body[:MOST_SHOWN_CHARS].replace("\r\n", "\n")),
        source=diff.visible(shown.replace("\r\n", "\n")),
        is_utf8=document.is_utf8,
        has_bom=bool(document.bom),
        line_end="CRLF" if document.newline == "\r\n" else "LF",
        is_cut=len(document.text) > MOST_SHOWN_CHARS,
        lines=document.text.count("\n") + (not document.text.endswith("\n") and bool(document.text)),
    )


# --- Links --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Resolve:
    """`[[name]]` and `[…](name.md)` → the memory's page, in whatever case and Unicode form it is written."""

    known: Mapping[str, int]
    # A template would call it without a name before it hands it on.
    do_not_call_in_templates: bool = True

    def __call__(self, name: str) -> str | None:
        pk = _find(self.known, name)
        return None if pk is None else reverse("memory", args=[pk])


def resolver(project: Project) -> Resolver:
    return Resolve(_names(project))


def _names(project: Project) -> dict[str, int]:
    rows = project.memories.filter(gone_at__isnull=True).values_list("path", "name", "pk")[:MOST_SIBLINGS]
    found: dict[str, int] = {}
    for path, name, pk in rows:
        found.setdefault(_key(path), pk)
        found.setdefault(_key(PurePosixPath(path).name), pk)
        if name:
            found.setdefault(_key(name), pk)
    return found


def _key(name: str) -> str:
    return memdir.name_key(unquote(name).strip().removeprefix("./").removesuffix(".md"))


def _find(known: Mapping[str, int], name: str) -> int | None:
    plain = name.partition("#")[0]
    return known.get(_key(plain)) or known.get(_key(memdir.slug_for(plain)))


def links_out(memory: Memory, data: bytes, mask: Mask) -> list[Link]:
    known = _names(memory.project)
    found: dict[str, Link] = {}
    for target in _targets(text.decode(data)):
        pk = _find(known, target)
        if pk != memory.pk:
            found.setdefault(_key(target), Link(diff.visible(mask(target)), pk))
    return list(found.values())[:MOST_LINKS_OUT]


def _targets(content: str) -> list[str]:
    named = [link.target for link in memdir.wikilinks(content)]
    return named + [link.path for link in memdir.markdown_links(content) if link.is_memory]


def links_in(memory: Memory) -> list[Link]:
    """Siblings whose text links here."""
    rows = memory.project.memories.filter(gone_at__isnull=True).exclude(pk=memory.pk)
    if (rows.aggregate(n=Sum("size"))["n"] or 0) > MOST_SIBLING_BYTES:
        return []
    wanted = {_key(memory.path), _key(PurePosixPath(memory.path).name)} | (
        {_key(memory.name)} if memory.name else set()
    )
    paths = list(rows.values_list("pk", "path", "sha256")[:MOST_SIBLINGS])
    # One query however many there are: their sizes together are bounded above.
    kept = Blob.objects.filter(sha256__in=rows.values("sha256")).values_list("sha256", "data")
    texts = {sha: bytes(data) for sha, data in kept}
    found = [
        Link(diff.visible(path), pk)
        for pk, path, sha in paths
        if sha in texts and wanted & {_key(target) for target in _targets(text.decode(texts[sha]))}
    ]
    return found[:MOST_LINKS]


# --- Evidence -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proof:
    """A quote that a dream's change to this memory rests on."""

    quote: str
    who: str
    at: dt.datetime | None
    session: int | None
    session_title: str
    line: int | None
    proposal: str


def evidence(memory: Memory) -> list[Proof]:
    """What spoke for the changes that stand in it now, newest first."""
    standing = Evidence.objects.filter(
        hunk__file__proposal__project=memory.project_id,
        hunk__file__path=memory.path,
        hunk__applied_in__isnull=False,
        hunk__undone_in__isnull=True,
    )
    rows = standing.select_related("session", "hunk__file__proposal").order_by("-hunk__applied_in", "-pk")
    # One quote may speak for several changes, and is read once.
    proofs = {(one.quote, one.session, one.line): one for one in map(_proof, rows[: MOST_EVIDENCE * 4])}
    return list(proofs.values())[:MOST_EVIDENCE]


def _proof(row: Evidence) -> Proof:
    return Proof(
        quote=shown(row.quote),
        who="You" if row.role == "user" else row.role.capitalize() or row.get_source_display(),
        at=row.at,
        session=row.session_id,
        session_title=str(row.session) if row.session else row.place,
        line=row.line_no,
        proposal=row.hunk.file.proposal.public_id,
    )


def leaving(memory: Memory) -> Leaving:
    index = (
        memory.project.memories.filter(path="MEMORY.md", gone_at__isnull=True).exclude(pk=memory.pk).first()
    )
    data = blobs.get_many([index.sha256]).get(index.sha256) if index else None
    content = text.decode(data or b"")
    mask = Mask.of([content])
    rows = memdir.parse_index(content).rows_for(memory.path)
    return Leaving(
        index_rows=[diff.visible(mask(row.raw)) for row in rows[:MOST_LINKS]],
        linked_from=[link for link in links_in(memory) if link.label != "MEMORY.md"],
    )
