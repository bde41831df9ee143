"""Lists of questions: beside a review, for a project, and across projects."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from dreams.engines.types import KEEP
from dreams.lib.files import text
from dreams.models import Project, Proposal, Question
from dreams.services.questions import asking, question_states, shown_questions
from dreams.web.pages.question_card import QuestionCard, cards

State = Question.State
#: Open questions across projects.
MOST_ACROSS: Final = 20
MOST_IN_INBOX: Final = 5
#: Answers that are listed so that they can be undone.
MOST_ANSWERED: Final = 20
RECENTLY: Final = dt.timedelta(days=1)
#: Beside a review: its project may have others that are open.
NONE_HERE: Final = "None open here"


@dataclass(frozen=True, slots=True)
class QuestionList:
    """A list of questions: `cards` are open; `done` were answered or postponed and can be undone; `waits` are open
    proposals with answers that are written when they are submitted."""

    cards: list[QuestionCard]
    count: int
    projects: int | None = None
    done: Sequence[QuestionCard] = ()
    unshown: int = 0
    waits: Iterable[Proposal] = ()
    none_here = NONE_HERE

    @property
    def words(self) -> str:
        return words(self.count, self.projects, self.unshown)


def words(count: int, projects: int | None = None, unshown: int = 0) -> str:
    """ "12 questions in 5 projects", or "7 of 60 questions" on a page of one project that shows 7."""
    if not count:
        return f"{text.plural(unshown, 'question')} not shown yet" if unshown else "No open questions"
    said = f"{f'{count:,} of ' if unshown else ''}{text.plural(count + unshown, 'question')}"
    return said if projects is None else f"{said} in {text.plural(projects, 'project')}"


def across() -> QuestionList:
    """The most useful open questions of all projects, and recent answers."""
    found = shown_questions.open_questions(MOST_ACROSS)
    done = _recent(Question.objects.filter(project__gone_at__isnull=True))
    return QuestionList(
        cards(found.questions), found.count, found.projects, done=cards(done), waits=waits(None)
    )


def some_across() -> QuestionList:
    """The first few for the inbox, with the count of all. The inbox lists proposals itself."""
    found = shown_questions.open_questions(MOST_IN_INBOX)
    return QuestionList(cards(found.questions), found.count, found.projects)


def of_project(project: Project) -> QuestionList:
    """The questions of one project, also those that belong to a proposal."""
    made = cards(shown_questions.of_project(project))
    still_open = [card for card in made if card.is_open]
    return QuestionList(
        still_open,
        len(still_open),
        done=[card for card in made if card.can_undo],
        unshown=asking.unshown(project).count(),
        waits=waits(project),
    )


def of_proposal(proposal: Proposal) -> QuestionList:
    """The questions beside a review: those of its dream, and those whose answers it contains."""
    made = cards(shown_questions.of_proposal(proposal))
    is_open = proposal.state == Proposal.State.OPEN
    still_open = [card for card in made if card.is_open]
    return QuestionList(
        still_open,
        len(still_open),
        done=[card for card in made if not card.is_open],
        unshown=asking.unshown(proposal.project).count() if is_open and made else 0,
    )


def muted(project: Project) -> list[dict[str, Any]]:
    """The kinds that were mostly answered "leave as it is", with the questions that were therefore not asked."""
    found = []
    for kind in sorted(asking.muted_kinds(project)):
        rows = project.questions.filter(kind=kind).order_by("-answered_at", "-pk")
        answers = rows.filter(state__in=(State.WAITING, State.ANSWERED)).exclude(answer="")
        last = list(answers.values_list("answer", flat=True)[: asking.LOOKED_AT])
        still = rows.filter(state=State.OPEN).order_by("-weight", "pk")
        label = str(Question.Kind(kind).label)
        acts = sum(answer != KEEP.id for answer in last)
        found.append(
            {"label": label, "acts": acts, "answers": len(last), "questions": list(still[:MOST_ACROSS])}
        )
    return found


def _recent(rows: QuerySet[Question]) -> list[Question]:
    """Recent answers and postponements that can be undone, and every answer that waits for a submit."""
    now = timezone.now()
    lately = Q(state=State.ANSWERED, operation__isnull=True, answered_at__gte=now - RECENTLY)
    put_off = Q(state=State.LATER, later_until__gte=now + question_states.NOT_NOW - RECENTLY)
    found = (
        rows.filter(Q(state=State.WAITING) | lately | put_off)
        .select_related("project", "dream", "operation__proposal")
        .prefetch_related("options")
        .order_by("-answered_at", "-pk")
    )
    return list(found[:MOST_ANSWERED])


def waits(project: Project | None) -> QuerySet[Proposal]:
    """The open proposals of one or all projects, with the number of `answers` that a submit would write."""
    rows = Proposal.objects.all() if project is None else project.proposals.all()
    answered = rows.filter(state=Proposal.State.OPEN, operations__questions__state=State.WAITING)
    return answered.select_related("project").annotate(answers=Count("operations__questions")).order_by("pk")
