"""Updates questions when their proposals or memories change, or after an undo."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from dreams.findings.base import ChangedHunk
from dreams.lib.files import text
from dreams.models import DreamRun, Hunk, Operation, Project, Proposal, Question, QuestionOption, public_ids
from dreams.models.prepared import prepared
from dreams.services import blobs

State = Question.State
NOT_NOW = dt.timedelta(days=7)  # how long “not now” lasts; chosen
#: Open, or held back by the dream that asked; not put off by a person.
UNANSWERED = Q(state=State.OPEN) | Q(state=State.LATER, later_until=None)
LIVE = (State.OPEN, State.WAITING, State.LATER)
#: Not those of a project that is gone or not watched: they are asked again when it returns.
NOW_ASKED = Q(state=State.OPEN, asked=True, project__gone_at=None)


def operations_of(question: Question) -> QuerySet[Operation]:
    """The operations of its answer: one, or one per row of an `index` question."""
    if question.operation is None:
        return Operation.objects.none()
    return Operation.objects.filter(
        proposal=question.operation.proposal_id, key__startswith=question.public_id
    )


def answers_in(proposal: Proposal) -> QuerySet[Operation]:
    """The proposal's operations that are answers: their keys begin with a question's id; all others are hexadecimal."""
    return Operation.objects.filter(proposal=proposal, key__startswith=public_ids.QUESTION)


def reopen(questions: Iterable[Question]) -> None:
    """Open these again and clear their answers."""
    Question.objects.filter(pk__in=[question.pk for question in questions]).update(
        state=State.OPEN,
        answer="",
        rows=[],
        answered_by="",
        answered_at=None,
        operation=None,
        later_until=None,
    )


def proposal_ended(proposal: Proposal) -> None:
    """Call it in the transaction that submits, rejects or supersedes a proposal.

    A question whose change will be written is answered; all others are open again.
    """
    rows = list(
        Question.objects.filter(
            operation__proposal=proposal, state__in=(State.WAITING, State.ANSWERED)
        ).select_related("operation")
    )
    if proposal.state == Proposal.State.OPEN or not rows:
        return
    kept = []
    for question in rows:
        hunks = Hunk.objects.filter(operation__in=operations_of(question), verdict__in=Hunk.TAKEN)
        if proposal.state in (Proposal.State.REJECTED, Proposal.State.SUPERSEDED):
            hunks = hunks.filter(applied_in__isnull=False)
        if hunks.exists():
            kept.append(question.pk)
    Question.objects.filter(pk__in=kept).update(state=State.ANSWERED)
    reopen(question for question in rows if question.pk not in kept)


def undone(hunks: Iterable[Hunk]) -> None:
    """Reopen questions whose changes are all undone now; each only once."""
    operations = {hunk.operation_id for hunk in hunks if hunk.operation_id}
    if not operations:
        return
    proposals = Operation.objects.filter(pk__in=operations).values("proposal")
    rows = Question.objects.filter(operation__proposal__in=proposals, state=State.ANSWERED, undone=0)
    for question in rows.select_related("operation"):
        own = Hunk.objects.filter(operation__in=operations_of(question))
        if (
            own.filter(undone_in__isnull=False).exists()
            and not own.filter(applied_in__isnull=False, undone_in__isnull=True).exists()
        ):
            reopen([question])
            Question.objects.filter(pk=question.pk).update(undone=1, asked=True)


# --- Outdated -----------------------------------------------------------------------------------------------------


def refresh(project: Project) -> None:
    """After memories changed: outdate questions whose statements no longer exist, and end a due "not now". A question
    of the last dream opens again once its files are back as that dream read them.

    Reads rows and blobs only. `memories.sync` calls it.
    """
    rows = _undecided(project.pk)
    if not rows:
        return
    wanted = {place["path"] for row in rows for place in memory_places(row)}
    shas = shas_of(project, wanted)
    texts = {sha: one_line(text.decode(data)) for sha, data in blobs.get_many(shas.values()).items()}
    now = {path: texts[sha] for path, sha in shas.items() if sha in texts}
    made = _made_meanwhile(project, rows)
    gone = {row.pk for row in rows if not all(is_there(place, now) for place in memory_places(row))}
    old = made | gone
    # Of one that is held back the state says so, also once its files are back.
    ended = [row.pk for row in rows if row.pk in old and not _waits_for_its_dream(row)]
    Question.objects.filter(pk__in=ended).update(state=State.OUTDATED)
    due = [
        row
        for row in rows
        if row.pk not in old and row.state == State.LATER and is_due(row) and has_changed(row, shas)
    ]
    reopen(due)
    Question.objects.filter(pk__in=[row.pk for row in due]).update(asked=True)
    back = [
        row
        for row in rows
        if row.state == State.OUTDATED and memory_places(row) and not has_changed(row, shas)
        if row.pk not in made
    ]
    for row in back:
        row.state = State.LATER if row.later_until else State.OPEN
    Question.objects.bulk_update(back, ["state"])


def _made_meanwhile(project: Project, rows: Iterable[Question]) -> set[int]:
    """Those whose answer would make a file that exists by now, such as the first index."""
    learning = [row.pk for row in rows if row.kind == Question.Kind.LEARN]
    answers = QuestionOption.objects.filter(question__in=learning).values_list("question", "edits")
    new = [(pk, edit["path"]) for pk, edits in answers for edit in edits if not edit["before"]]
    there = shas_of(project, (path for _, path in new)) if new else {}
    return {pk for pk, path in new if path in there}


@prepared
def _undecided(project: int) -> QuerySet[Question]:
    """Includes outdated questions of the last dream, as no later dream has dropped them."""
    done = DreamRun.objects.filter(project=project, status=DreamRun.Status.COMPLETED).order_by("-pk")
    live = Q(project=project, state__in=(State.OPEN, State.LATER))
    rows = Question.objects.filter(live | Q(dream__in=done.values("pk")[:1], state=State.OUTDATED))
    return rows.select_related("proposal")


def shas_of(project: Project, paths: Iterable[str]) -> dict[str, str]:
    """Path → sha256 of those memories that exist."""
    found = project.memories.filter(path__in=set(paths), gone_at__isnull=True)
    return dict(found.values_list("path", "sha256"))


def memory_places(question: Question) -> list[dict[str, Any]]:
    """The question's places in memories, not in sessions or elsewhere in the repository."""
    return [place for place in question.places if place.get("sha")]


def is_there(place: Mapping[str, Any], now: Mapping[str, str]) -> bool:
    """Whether the statement still exists. `now` has each file's text on one line, as lines move and wrap but words do not."""
    return place["path"] in now and one_line(place.get("anchor", place["text"])) in now[place["path"]]


def explained(
    proposal: Proposal, hunks: Sequence[ChangedHunk], after: Mapping[str, bytes]
) -> list[ChangedHunk]:
    """`hunks`, where an answer explains no removed line any more if another statement of its question, which it keeps, is gone."""
    rows = Question.objects.filter(operation__proposal=proposal).exclude(kind=Question.Kind.INDEX)
    asked = {str(row.operation_id): memory_places(row) for row in rows}
    removed: defaultdict[str, defaultdict[str, str]] = defaultdict(lambda: defaultdict(str))
    for hunk in hunks:
        removed[hunk.operation][hunk.path] += one_line("\n".join(hunk.removed))
    paths = {place["path"] for places in asked.values() for place in places} & after.keys()
    now = {path: one_line(text.decode(after[path])) for path in paths}
    untrue = {
        key
        for key, places in asked.items()
        if not all(is_there(place, now) or is_there(place, removed[key]) for place in places)
    }
    return [replace(hunk, fates=()) if hunk.operation in untrue else hunk for hunk in hunks]


def one_line(content: str) -> str:
    """`content` with each run of white space as one space, in a form that the database can store."""
    return text.one_line(text.storable(content))


def is_held(question: Question) -> bool:
    """Whether it is held back until the dream's changes to the same lines are decided."""
    return question.state == State.LATER and question.later_until is None


def _waits_for_its_dream(question: Question) -> bool:
    """Whether it is held back and the dream's changes are not decided."""
    proposal = question.proposal
    return is_held(question) and proposal is not None and proposal.state in Proposal.UNFINISHED


def is_due(question: Question) -> bool:
    """Whether "not now" is over. A time further away than `NOT_NOW` came from a clock that ran ahead, so it is ignored."""
    now = timezone.now()
    return question.later_until is None or not now < question.later_until <= now + NOT_NOW


def has_changed(question: Question, shas: Mapping[str, str]) -> bool:
    """Whether a file of its places changed since the person chose "not now"."""
    return any(place.get("sha") != shas.get(place["path"]) for place in memory_places(question))
