"""Memories suggested by an agent: each becomes a separate proposal that only a person decides on.

Policies and earned trust do not apply to it, as they are only for dreams. The agent's text is no evidence of what the
person said, so all checks run on it.
"""

import datetime as dt
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from dreams import conf
from dreams.engines import drafts
from dreams.engines.types import Citation, Edit
from dreams.lib import memdir
from dreams.lib.files import text
from dreams.lib.secrets import redact
from dreams.models import FileChange, Project, Proposal, Session
from dreams.services import project_lock, proposals
from dreams.services.memories import syncing
from dreams.services.questions.asking import lock_questions

MOST_OPEN = 5  # waiting for the person; chosen
MOST_A_DAY = 20  # from agents in one project; chosen
NAME_CHARS, DESCRIPTION_CHARS, TEXT_CHARS = 80, 200, 4_000
ACTOR = "agent"
REASON = "Your agent suggests to remember this."
State = Proposal.State


class NotTaken(Exception):
    """The suggestion is refused; the message says why and what to do. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What an agent wants to have remembered. `kind` is one of the four memory types."""

    name: str
    description: str
    kind: str
    content: str


def suggest(project: Project, wanted: Suggestion, session: Session | None = None) -> Proposal:
    """Creates a proposal for the person. `session` is the agent's, if known. Raises NotTaken, ProjectElsewhere."""
    project_lock.refuse_elsewhere(project)
    _refuse(project, wanted)
    syncing.refresh(project)
    before = syncing.contents(project)
    path, after = _file(wanted, before)
    steps = _steps(path, after, before, wanted, session)
    draft = drafts.draft(before, _with(before, steps), steps)
    with transaction.atomic():
        lock_questions(project)
        _refuse_too_many(project)
        _refuse_repeated(project, after)
        origin = proposals.ProposalOrigin(Proposal.Origin.SUGGESTED, actor=ACTOR, summary=_summary(wanted))
        return proposals.create(project, origin, draft, before)


# --- What is refused ----------------------------------------------------------------------------------------------


def _refuse(project: Project, wanted: Suggestion) -> None:
    """Checks that need no file to be read. Raises NotTaken."""
    if not conf.current(project).suggestions:
        raise NotTaken("Suggestions are switched off for this project. Reading memories still works.")
    if wanted.kind not in memdir.MEMORY_TYPES:
        raise NotTaken(f"The type is one of {', '.join(memdir.MEMORY_TYPES)}, not {wanted.kind!r}.")
    for what, given, most in (
        ("name", wanted.name, NAME_CHARS),
        ("description", wanted.description, DESCRIPTION_CHARS),
        ("text", wanted.content, TEXT_CHARS),
    ):
        if not given.strip():
            raise NotTaken(f"The {what} is empty.")
        if len(given) > most:
            raise NotTaken(f"The {what} has {len(given):,} characters; {most:,} is the limit. Shorten it.")
    if any(redact.values(given) for given in (wanted.name, wanted.description, wanted.content)):
        raise NotTaken("It contains a secret. Say where the secret is kept instead of what it is.")


def _refuse_too_many(project: Project) -> None:
    rows = Proposal.objects.filter(project=project, origin=Proposal.Origin.SUGGESTED)
    if rows.filter(state__in=Proposal.UNFINISHED).count() >= MOST_OPEN:
        raise NotTaken(
            f"{MOST_OPEN} suggestions are already waiting for the person. Try again once they are decided."
        )
    now, a_day = timezone.now(), dt.timedelta(days=1)
    # A time further in the future comes from a wrong clock.
    if rows.filter(created_at__range=(now - a_day, now + a_day)).count() >= MOST_A_DAY:
        raise NotTaken(f"{MOST_A_DAY} suggestions were made in this project in one day. Try again tomorrow.")


def _refuse_repeated(project: Project, after: str) -> None:
    """Refuses a text that already waits or that the person rejected."""
    same = FileChange.objects.filter(
        proposal__project=project,
        proposal__origin=Proposal.Origin.SUGGESTED,
        new_sha=text.sha256(text.encode(after)),
    ).order_by("-pk")
    states = set(same.values_list("proposal__state", flat=True))
    if not states.isdisjoint(Proposal.UNFINISHED):
        raise NotTaken("This suggestion is already waiting for the person.")
    if State.REJECTED in states:
        raise NotTaken("The person rejected this suggestion before.")


# --- What it changes ----------------------------------------------------------------------------------------------


def _file(wanted: Suggestion, before: dict[str, bytes]) -> tuple[str, str]:
    """The new file's path and text."""
    name, description = text.one_line(wanted.name), text.one_line(wanted.description)
    head = [
        "---",
        f"name: {memdir.render_value(name)}",
        f"description: {memdir.render_value(description)}",
        f"type: {wanted.kind}",
        "---",
        "",
    ]
    body = text.with_line_feeds(text.storable(wanted.content)).strip("\n")
    return memdir.safe_file_name(name, wanted.kind, before), "\n".join([*head, body]) + "\n"


def _steps(
    path: str, after: str, before: dict[str, bytes], wanted: Suggestion, session: Session | None
) -> list[Edit]:
    """The file and its index row, decided together."""
    cited = (_own_word(wanted, session),)
    steps = [Edit(path, None, after, "suggested", "learn", REASON, cited)]
    index = text.decode(before[memdir.INDEX_NAME]) if memdir.INDEX_NAME in before else None
    listed = _with_row(index or "", path, wanted)
    if listed is not None:
        steps.append(Edit(memdir.INDEX_NAME, index, listed, "suggested", "index", REASON, cited))
    return steps


def _summary(wanted: Suggestion) -> str:
    """The sentence for the inbox."""
    return text.storable(f"{text.one_line(wanted.name)}: {text.one_line(wanted.description)}")


def _own_word(wanted: Suggestion, session: Session | None) -> Citation:
    return Citation(
        "agent",
        wanted.content,
        session.path if session else "",
        session_pk=session.pk if session else None,
        role="assistant",
        at=timezone.now(),
        note="" if session else "Its session is not known.",
    )


def _with_row(index: str, path: str, wanted: Suggestion) -> str | None:
    """The index with a row for the new file after the last one; None if it cannot take one."""
    parsed = memdir.parse_index(index)
    heading = parsed.rows[-1].heading if parsed.rows else None
    try:
        made = parsed.appended(
            text.one_line(wanted.name), path, text.one_line(wanted.description), heading=heading
        ).text
    except memdir.MemoryEditError:
        return None
    return made if index or made.endswith("\n") else made + "\n"


def _with(before: dict[str, bytes], steps: list[Edit]) -> dict[str, bytes]:
    return {**before, **{step.path: text.encode(step.after or "") for step in steps}}
