"""Finds the row for what a person types: a project by slug, directory or id; a dream or proposal by its public id."""

import difflib
import os

from django.db.models import F, Q, QuerySet

from dreams.lib.files import text
from dreams.lib.files.text import is_below, with_home
from dreams.lib.refusal import Ambiguous, Refusal
from dreams.models import DreamRun, Project, Proposal, Session, TranscriptFolder
from dreams.services.hosts import host, name_of

MAX_CANDIDATES = 10  # listed in an error; chosen
LONGEST_ID = 18  # digits; more do not fit into the column


class Unknown(Refusal):
    """Nothing has this name; the message has similar names and the remedy."""


def project(name: str, *, anywhere: bool = False) -> Project:
    """Finds a project by slug, memory directory (absolute, relative or `~`) or id, else by its display name.

    Searches this host, and with `anywhere` then other hosts. Raises Unknown, Ambiguous.
    """
    name = text.storable(name)
    where = Q(slug=name) | Q(memory_dir__in=_directories(name))
    if name.isascii() and name.isdecimal() and len(name) <= LONGEST_ID:
        where |= Q(pk=int(name))
    for meant in (where, Q(name=name) & ~Q(name="")):
        rows = Project.objects.filter(meant).order_by(F("gone_at").asc(nulls_first=True), "pk")
        here, others = rows.filter(host=host()), rows.exclude(host=host())
        found = _only_one(name, here) or _elsewhere(name, others, anywhere)
        if found is not None:
            return found
    raise Unknown(f"No project {name!r}.{_near(name)} `projects` lists them; `discover` looks for new ones.")


def _only_one(name: str, rows: QuerySet[Project]) -> Project | None:
    found = list(rows[: MAX_CANDIDATES + 1])
    present = [row for row in found if row.gone_at is None] or found
    if len(present) > 1:
        listed = ", ".join(f"{row.pk} ({row.memory_dir})" for row in present[:MAX_CANDIDATES])
        raise Ambiguous(f"{name!r} is more than one project; name it by id or directory: {listed}")
    return present[0] if present else None


def _elsewhere(name: str, rows: QuerySet[Project], wanted: bool) -> Project | None:
    if wanted:
        return _only_one(name, rows)
    first = rows.first()
    if first is not None:
        owner = name_of(first.host)
        raise Unknown(f"{first.slug} belongs to {owner}, and this is {name_of(host())}. Do it there.")
    return None


def _directories(name: str) -> set[str]:
    """The path as typed and with links resolved, as discovery resolves links of a config folder."""
    if not name or "\0" in name:
        return set()
    path = os.path.abspath(with_home(name))  # noqa: PTH100 - links are kept
    return {path, os.path.realpath(path)}


def session(name: str) -> Session:
    """Finds a session by its id or the start of it, among those on disk and an agent's runs. Raises Unknown, Ambiguous."""
    rows = Session.objects.filter(project__host=host(), gone_at__isnull=True)
    rows = rows.filter(own=False).select_related("project").order_by("-touched_at")
    name = text.storable(name)
    exact = rows.filter(session_id=name).first()
    if exact is not None:
        return exact
    found = list(rows.filter(session_id__startswith=name)[: MAX_CANDIDATES + 1]) if name else []
    if len(found) > 1:
        listed = ", ".join(row.session_id for row in found[:MAX_CANDIDATES])
        raise Ambiguous(f"{name!r} is more than one session: {listed}")
    if not found:
        raise Unknown(f"No session {name!r} is known. `discover` looks for new ones.")
    return found[0]


def _near(name: str) -> str:
    slugs = Project.objects.filter(host=host(), gone_at__isnull=True).values_list("slug", flat=True)[:2000]
    # People mostly type the end of a long slug
    having = [slug for slug in slugs if name and name.lower() in slug.lower()]
    near = list(dict.fromkeys([*having[:3], *difflib.get_close_matches(name, slugs, n=3)]))[:3]
    return f" Near it: {', '.join(near)}." if near else ""


def proposal(name: str) -> Proposal:
    """Finds a proposal by its id or its dream's. Raises Unknown."""
    name = text.storable(name)
    found = Proposal.objects.filter(public_id=name).select_related("project", "dream").first()
    if found is not None:
        return found
    made = Proposal.of(dream(name))
    if made is None:
        raise Unknown(f"{name} proposed nothing, so there is nothing to decide on.")
    return made


def dream(name: str) -> DreamRun:
    """Finds a dream by its id or its proposal's. Raises Unknown."""
    name = text.storable(name)
    found = (
        DreamRun.objects.filter(Q(public_id=name) | Q(proposals__public_id=name))
        .select_related("project")
        .first()
    )
    if found is None:
        raise Unknown(f"No dream {name!r}. The dreams page lists them.")
    return found


def all_proposals(name: str) -> list[Proposal]:
    """All proposals of a dream, newest first, or the one with this id. Raises Unknown."""
    name = text.storable(name)
    one = Proposal.objects.filter(public_id=name).first()
    return [one] if one else list(dream(name).proposals.order_by("-pk"))


def project_at(folder: str) -> Project:
    """The project of `folder`: that of the innermost repository or working directory which contains it.

    Raises Unknown, Ambiguous.
    """
    here = {os.path.abspath(folder), os.path.realpath(folder)}  # noqa: PTH100 - texts are compared
    rows = Project.objects.filter(host=host(), gone_at__isnull=True, kind=Project.Kind.AUTO)
    known = [(place, row.pk) for row in rows for place in [row.repo_dir]]
    folders = TranscriptFolder.objects.filter(project__in=rows, gone_at__isnull=True)
    known += folders.values_list("cwd", "project")
    found = [(len(place), pk) for place, pk in known if place and any(is_below(one, place) for one in here)]
    innermost = {pk for length, pk in found if length == max(found)[0]}
    if len(innermost) == 1:
        return rows.get(pk=innermost.pop())
    if innermost:
        listed = ", ".join(
            f"{row.pk} ({row.memory_dir})" for row in rows.filter(pk__in=innermost).order_by("pk")
        )
        raise Ambiguous(f"{folder} belongs to more than one project; name it by id or directory: {listed}")
    raise Unknown(f"No project is known for {folder}. `projects` lists them; `discover` looks for new ones.")
