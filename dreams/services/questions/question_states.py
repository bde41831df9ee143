"""Updates questions when something else changes: their proposals, their memories, an undo."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from dreams.lib.files import text
from dreams.models import DreamRun, Hunk, Operation, Project, Proposal, Question, public_ids
from dreams.models.prepared import prepared
from dreams.services import blobs

State = Question.State
NOT_NOW = dt.timedelta(days=7)  # what “not now” puts off; chosen
#: Open, or held back by the dream that asked: put off, and not by a person.
UNANSWERED = Q(state=State.OPEN) | Q(state=State.LATER, later_until=None)
LIVE = (State.OPEN, State.WAITING, State.LATER)


def operations_of(question: Question) -> QuerySet[Operation]:
    """The changes that its answer made: one, or one for each row of an `index` question."""
    if question.operation is None:
        return Operation.objects.none()
    return Operation.objects.filter(
        proposal=question.operation.proposal_id, key__startswith=question.public_id
    )


def answers_in(proposal: Proposal) -> QuerySet[Operation]:
    """The changes of a proposal that are answers: their keys begin with a question's id, all others are hexadecimal."""
    return Operation.objects.filter(proposal=proposal, key__startswith=public_ids.QUESTION)


def reopen(questions: Iterable[Question]) -> None:
    """Ask these again, as if they had not been answered."""
    Question.objects.filter(pk__in=[question.pk for question in questions]).update(
        state=State.OPEN,
        answer="",
        rows=[],
        answered_by="",
        answered_at=None,
        operation=None,
        later_until=None,
    )


def settle(proposal: Proposal) -> None:
    """A proposal was submitted, rejected or superseded: call it in the same transaction.

    What is to be written is answered. Where an answer's change is not, the question is open again.
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
    """These changes were undone: an answer of which nothing is left is asked once more, and not a third time."""
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
    """Memories changed: questions about statements that are no longer there vanish, and "not now" may end. What vanished
    with its files since the last dream is asked again once they are back as that dream saw them.

    Looks at rows and blobs only. `memories.sync` calls it.
    """
    rows = _undecided(project.pk)
    if not rows:
        return
    wanted = {place["path"] for row in rows for place in memory_places(row)}
    shas = shas_of(project, wanted)
    texts = {sha: one_line(text.decode(data)) for sha, data in blobs.get_many(shas.values()).items()}
    now = {path: texts[sha] for path, sha in shas.items() if sha in texts}
    old = [row.pk for row in rows if not all(is_there(place, now) for place in memory_places(row))]
    Question.objects.filter(pk__in=old).update(state=State.OUTDATED)
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
    ]
    for row in back:
        row.state = State.LATER if row.later_until else State.OPEN
    Question.objects.bulk_update(back, ["state"])


@prepared
def _undecided(project: int) -> QuerySet[Question]:
    """Those of the last dream also where they are outdated: no dream has left them out since."""
    done = DreamRun.objects.filter(project=project, status=DreamRun.Status.COMPLETED).order_by("-pk")
    live = Q(project=project, state__in=(State.OPEN, State.LATER))
    return Question.objects.filter(live | Q(dream__in=done.values("pk")[:1], state=State.OUTDATED))


def shas_of(project: Project, paths: Iterable[str]) -> dict[str, str]:
    """Path → sha256 of those memories that are there."""
    found = project.memories.filter(path__in=set(paths), gone_at__isnull=True)
    return dict(found.values_list("path", "sha256"))


def memory_places(question: Question) -> list[dict[str, Any]]:
    """Those in a memory, not in a session or elsewhere in the repository."""
    return [place for place in question.places if place.get("sha")]


def is_there(place: Mapping[str, Any], now: Mapping[str, str]) -> bool:
    """`now` has each file's text on one line. Lines move and wrap; the words of a statement do not."""
    return place["path"] in now and one_line(place.get("anchor", place["text"])) in now[place["path"]]


def one_line(content: str) -> str:
    """`content` with every run of white space as one space, as a database keeps it."""
    return text.one_line(text.storable(content))


def is_held(question: Question) -> bool:
    """Held back because the dream's own changes touch it, until they are decided."""
    return question.state == State.LATER and question.later_until is None


def is_due(question: Question) -> bool:
    """Put off no longer. A time further ahead than any is put off was worked out by a clock that ran ahead."""
    now = timezone.now()
    return question.later_until is None or not now < question.later_until <= now + NOT_NOW


def has_changed(question: Question, shas: Mapping[str, str]) -> bool:
    """A file of its places is another than when the person said "not now"."""
    return any(place.get("sha") != shas.get(place["path"]) for place in memory_places(question))
