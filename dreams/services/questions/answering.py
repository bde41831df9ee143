"""Turns an answer into an approved change, which is written on submit like any decision and can be undone."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from dreams.engines import drafts
from dreams.engines.types import Citation, Edit
from dreams.models import Finding, Hunk, Operation, Project, Proposal, Question, QuestionOption, Session
from dreams.services import auditlog, blobs, proposals, review
from dreams.services.memories import syncing
from dreams.services.proposals import rebase, saving
from dreams.services.questions import joining, options, question_states
from dreams.services.questions.asking import lock_questions
from dreams.services.review import Actor, ReviewRefused

log = logging.getLogger(__name__)

State = Question.State
LATER = "later"
_NO_LONGER_FIT = (options.DoesNotFit, joining.NothingToDo, blobs.MissingBlob)
#: How many quotes a change takes from its question.
MOST_EVIDENCE = 5
APPLY_FIRST = "Apply that first, then answer this. The question stays open."
SUMMARY = "Your answers to questions."


class NeedsConfirmation(ReviewRefused):
    """The answer's change has findings that a person must confirm first; `findings` has them, worst first."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        said = " ".join(finding.message for finding in findings[:3])
        super().__init__(
            f"Nothing was changed. This answer has an open finding: {said} Confirm it, or choose another."
        )
        self.findings = tuple(findings)


@dataclass(frozen=True, slots=True)
class Answered:
    """The operations that an answer made and their proposal; none for "leave as it is" and "not now"."""

    question: Question
    operations: tuple[Operation, ...] = ()
    proposal: Proposal | None = None


def answer(
    question: Question,
    option_id: str,
    reviewer: Actor,
    rows: Sequence[str] = (),
    *,
    confirm: bool = False,
) -> Answered:
    """Choose an option: `rows` are the ticked paths of an `index` question; without any, all of them.

    The change is added to the dream's open proposal, else to the project's open answers, and approved there. `confirm`
    confirms the findings that block it. Raises NeedsConfirmation and other ReviewRefused.
    """
    if option_id == LATER:
        return later(question, reviewer)
    option = _option(question, option_id)
    _refuse_unknown_rows(option, rows)
    if not option.edits:
        with transaction.atomic():
            lock_questions(question.project)
            _claim(question, option, State.ANSWERED, reviewer)
            _log("question.answered", question, reviewer)
        return Answered(question)
    review.refuse_if_away(question.project)
    syncing.refresh(question.project)
    try:
        edits = options.edits_of(option, rows)
        return _carry_out(question, option, edits, reviewer, tuple(rows), confirm)
    except _NO_LONGER_FIT as problem:
        _outdate(question)
        raise ReviewRefused(
            f"This question is outdated: {_why(problem)}. The next dream asks again if it still matters."
        ) from problem


def _why(problem: Exception) -> str:
    if isinstance(problem, options.DoesNotFit):
        return f"{problem} has since changed in the same place"
    if isinstance(problem, joining.NothingToDo):
        return "the memories already say this"
    return "the text of this answer is no longer stored"


def _option(question: Question, option_id: str) -> QuestionOption:
    found = question.options.filter(option_id=option_id).select_related("question").first()
    if found is None:
        named = ", ".join([*question.options.values_list("option_id", flat=True), LATER])
        raise ReviewRefused(f"{question.public_id} has no option {option_id!r}. Choose one of: {named}.")
    return found


def _refuse_unknown_rows(option: QuestionOption, rows: Sequence[str]) -> None:
    if not rows:
        return
    known = (
        {edit["operation"] for edit in option.edits} if option.question.kind == Question.Kind.INDEX else set()
    )
    unknown = sorted(set(rows) - known)
    if unknown:
        raise ReviewRefused(
            f"{option.question.public_id} has no row {', '.join(unknown)} for {option.option_id!r}."
        )


def _claim(
    question: Question, option: QuestionOption, state: Question.State, reviewer: Actor, **more: object
) -> None:
    """Mark it as answered. Raises ReviewRefused if it is no longer open."""
    claimed = Question.objects.filter(pk=question.pk, state__in=(State.OPEN, State.LATER)).update(
        state=state,
        answer=option.option_id,
        answered_by=reviewer.name,
        answered_at=timezone.now(),
        later_until=None,
        asked=True,
        **more,
    )
    question.refresh_from_db()
    if not claimed:
        raise ReviewRefused(_no_longer_open(question))


def _no_longer_open(question: Question) -> str:
    state = Question.State(question.state).label.lower()
    remedy = "Undo the answer first." if question.state == State.WAITING else "Look at the questions again."
    return f"This question is no longer open: {state}. {remedy}"


def _carry_out(
    question: Question,
    option: QuestionOption,
    edits: Sequence[Edit],
    reviewer: Actor,
    rows: tuple[str, ...],
    confirm: bool,
) -> Answered:
    project = question.project
    found = proposals.open_dream_proposal(project)
    waiting = found if found and found.state == Proposal.State.OPEN else None
    # Before the transaction, because it reads the sessions on disk.
    verdicts = proposals.verdicts_on(waiting, _added(edits)) if waiting else None
    with transaction.atomic():
        lock_questions(project)
        _claim(question, option, State.WAITING, reviewer, rows=list(rows))
        present = syncing.contents(project)
        target, made = _joined(waiting, question, edits, present, reviewer)
        hunks = list(joining.hunks_of(made))
        before = {one.key for one in _blocking(target)}
        review.decide(target, hunks, Hunk.Verdict.APPROVED, reviewer, reason=_reason(option))
        proposals.examine(target, present, verdicts=verdicts if target == waiting else None)
        _confirm_or_refuse(target, before, reviewer, confirm)
        Question.objects.filter(pk=question.pk).update(operation=made[0])
        question.refresh_from_db()
        _log("question.answered", question, reviewer, proposal=target.public_id)
    return Answered(question, tuple(made), target)


def move_answers(proposal: Proposal) -> int:
    """Move the answers of a proposal that is about to be superseded to the project's open answers; returns how many.

    One that no longer fits is not moved; its question opens again once the proposal is closed.
    """
    rows = Question.objects.filter(operation__proposal=proposal, state=State.WAITING)
    moved = 0
    for question in rows.select_related("project", "operation").order_by("answered_at", "pk"):
        try:
            moved += _move(question)
        except (*_NO_LONGER_FIT, ReviewRefused) as problem:
            log.info("answer to %s is not kept: %s", question.public_id, problem)
    return moved


@transaction.atomic
def _move(question: Question) -> bool:
    """Confirmed findings stay confirmed: a finding's key is made from its text. False for an answer that was undone meanwhile."""
    lock_questions(question.project)
    superseded = question.operation
    question.refresh_from_db()
    if question.state != State.WAITING or question.operation != superseded:
        return False
    option = _option(question, question.answer)
    edits = options.edits_of(option, question.rows)
    present = syncing.contents(question.project)
    who = Actor(question.answered_by)
    confirmed = set(
        Finding.objects.filter(
            proposal__operations__questions=question,
            severity=Finding.Severity.BLOCK,
            confirmed_at__isnull=False,
        ).values_list("key", flat=True)
    )
    target, made = _joined(None, question, edits, present, who)
    review.decide(target, list(joining.hunks_of(made)), Hunk.Verdict.APPROVED, who, reason=_reason(option))
    proposals.examine(target, present)
    review.confirm(target, [one for one in review.blocking_findings(target) if one.key in confirmed], who)
    Question.objects.filter(pk=question.pk).update(operation=made[0])
    return True


def _added(edits: Sequence[Edit]) -> str:
    added: list[str] = []
    for edit in edits:
        before = set((edit.before or "").splitlines())
        added += [line for line in (edit.after or "").splitlines() if line not in before]
    return "\n".join(dict.fromkeys(added))


def _reason(option: QuestionOption) -> str:
    return f"Answered: {option.label}"


def _joined(
    waiting: Proposal | None,
    question: Question,
    edits: Sequence[Edit],
    present: dict[str, bytes],
    reviewer: Actor,
) -> tuple[Proposal, list[Operation]]:
    """Add the answer's change to the dream's open proposal where it fits, else to the project's open answers."""
    citations = _citations(question)
    if not options.brought_onto(present, edits):
        raise joining.NothingToDo
    if waiting is not None and _takes_answers(waiting):
        try:
            return waiting, joining.join(waiting, question, edits, present, citations)
        except joining.NothingToDo:
            pass  # it reverts what the dream changes
        except options.DoesNotFit:
            _refuse_beside_approved(waiting, edits, present)
    target = _answers_of(question.project, reviewer, present)
    for file in target.files.filter(path__in={edit.path for edit in edits}):
        rebase.rebase(file, present.get(file.path))  # the file's base may be days old
    try:
        return target, joining.join(target, question, edits, present, citations)
    except (options.DoesNotFit, joining.NothingToDo) as problem:
        raise ReviewRefused(f"Another answer changes the same lines. {APPLY_FIRST}") from problem


def _refuse_beside_approved(proposal: Proposal, edits: Sequence[Edit], present: Mapping[str, bytes]) -> None:
    """An answer that clashes with an approved change could not be written after it."""
    files = proposal.files.filter(path__in={edit.path for edit in edits}).prefetch_related("hunks")
    decided = {file.path: proposals.decided_bytes(file) for file in files}
    try:
        options.brought_onto({**present, **decided}, edits)
    except options.DoesNotFit as problem:
        raise ReviewRefused(f"An approved change touches the same lines. {APPLY_FIRST}") from problem


def _takes_answers(proposal: Proposal) -> bool:
    """Whether it is open; an answer given during a submit waits for the next one."""
    try:
        return _still_open(proposal)
    except ReviewRefused:
        return False


def _still_open(proposal: Proposal) -> bool:
    """Locks the row, so that no submit can start. Raises ReviewRefused while one is running."""
    state = Proposal.objects.select_for_update().values_list("state", flat=True).get(pk=proposal.pk)
    if state == Proposal.State.OPEN:
        review.lock_open_proposal(proposal)
    return state == Proposal.State.OPEN


def _answers_of(project: Project, reviewer: Actor, present: dict[str, bytes]) -> Proposal:
    found = proposals.open_with_origin(project, Proposal.Origin.ANSWERS)
    if found is not None and _still_open(found):
        return found
    origin = proposals.ProposalOrigin(Proposal.Origin.ANSWERS, actor=reviewer.name, summary=SUMMARY)
    return proposals.create(project, origin, drafts.Draft(), present)


def _citations(question: Question) -> list[Citation]:
    """The question's quotes, else its places."""
    named = {place.get("session") for place in question.places}
    named |= {found.get("session_pk") for found in question.evidence}
    sessions = set(Session.objects.filter(pk__in=named - {None}).values_list("pk", flat=True))
    found = [saving.citation(each, sessions) for each in question.evidence]
    return (found or [_of_place(place, sessions) for place in question.places])[:MOST_EVIDENCE]


def _of_place(place: dict[str, object], sessions: set[int]) -> Citation:
    fields = {
        **place,
        "source": "transcript" if place.get("session") else "memory",
        "quote": place["text"],
        "place": place["path"],
        "session_pk": place.get("session"),
        "line_no": place.get("line"),
        "found": True,
    }
    return saving.citation(fields, sessions)


def _blocking(proposal: Proposal) -> list[Finding]:
    """The findings that block any of its changes, approved or not."""
    return review.blocking_findings(proposal, Hunk.objects.filter(file__proposal=proposal))


def _confirm_or_refuse(proposal: Proposal, before: set[str], reviewer: Actor, confirm: bool) -> None:
    """The answer's new findings: refuse the answer, confirm them, or ask for a confirmation."""
    new = [finding for finding in _blocking(proposal) if finding.key not in before]
    refused = [finding for finding in new if finding.severity == Finding.Severity.REFUSE]
    if refused:
        raise ReviewRefused(f"This answer cannot be applied: {refused[0].message} Choose another.")
    if new and not confirm:
        raise NeedsConfirmation(new)
    review.confirm(proposal, new, reviewer)


def take_back(question: Question, reviewer: Actor) -> Question:
    """Undo an answer that is not submitted yet, also "leave as it is" and "not now". Reopens the question.

    Raises ReviewRefused.
    """
    verdicts = None
    if question.operation is not None:
        verdicts = proposals.verdicts_on(question.operation.proposal, "")
    with transaction.atomic():
        lock_questions(question.project)
        question.refresh_from_db()
        target = question.operation.proposal if question.operation else None
        if question.state == State.OPEN:
            raise ReviewRefused("This question is open; there is no answer to undo.")
        if question.state == State.OUTDATED or (target is not None and not _still_open(target)):
            raise ReviewRefused("This answer can no longer be undone here. Undo the applied change instead.")
        if target is not None:
            joining.take_out(target, list(question_states.operations_of(question)))
            _examine_rest(target, reviewer, verdicts)
        question_states.reopen([question])
        question.refresh_from_db()
        _log("question.taken_back", question, reviewer, proposal=target.public_id if target else "")
    return question


def _examine_rest(target: Proposal, reviewer: Actor, verdicts: proposals.TranscriptVerdicts | None) -> None:
    if target.origin == Proposal.Origin.ANSWERS and not target.files.exists():
        proposals.supersede(target, reviewer.name)
        return
    proposals.examine(target, syncing.contents(target.project), verdicts=verdicts)


def later(question: Question, reviewer: Actor) -> Answered:
    """Not now: asked again once one of its files changed, after seven days at the earliest."""
    with transaction.atomic():
        lock_questions(question.project)
        question.refresh_from_db()
        if question.state not in (State.OPEN, State.LATER):
            raise ReviewRefused(_no_longer_open(question))
        shas = question_states.shas_of(question.project, [place["path"] for place in question.places])
        for place in question_states.memory_places(question):
            place["sha"] = shas.get(place["path"], place["sha"])
        question.state, question.later_until = State.LATER, timezone.now() + question_states.NOT_NOW
        question.save(update_fields=["state", "later_until", "places"])
        _log("question.later", question, reviewer)
    return Answered(question)


def _outdate(question: Question) -> None:
    """Forgets which files it was about, so that only another dream asks it again: the answer still would not fit."""
    places = [{**place, "sha": ""} for place in question.places]
    rows = Question.objects.filter(pk=question.pk, state__in=(State.OPEN, State.LATER))
    rows.update(state=State.OUTDATED, places=places)


def _log(action: str, question: Question, reviewer: Actor, **more: Any) -> None:
    auditlog.record(
        action, actor=reviewer, about=question, kind=question.kind, answer=question.answer, **more
    )
