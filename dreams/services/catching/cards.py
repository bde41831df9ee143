"""Cards: what a person typed and the line of memory it would become. A person decides on cards; the proposal is drafted from
them.

A project has at most one open proposal of cards, in addition to a dream's. It excludes rejected cards; approved ones are
written together. At most `MOST_OPEN` are listed; the others wait until there is room.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from dreams import conf
from dreams.engines import drafts
from dreams.lib.files import text
from dreams.lib.files.workspace import Workspace
from dreams.lib.prose import comparing
from dreams.lib.refusal import Refusal
from dreams.models import Card, FileChange, Finding, Hunk, Policy, Project, Proposal, Session
from dreams.services import auditlog, database, policies, proposals, review
from dreams.services.apply import applying
from dreams.services.catching import card_states
from dreams.services.catching.statements import CaughtStatement, scratch
from dreams.services.proposals import saving
from dreams.services.proposals.transcript_verdicts import QUOTE_LIMIT
from dreams.services.review import Actor, ReviewRefused

if TYPE_CHECKING:
    from dreams.engines.rules import catching

log = logging.getLogger(__name__)
State = Card.State
#: Cards to review in one project; the others are only counted.
MOST_OPEN = 5
MOST_TEXT = 1_000
SUMMARY = "What you said in sessions."
BY_POLICY = Actor(policies.POLICY_ACTOR)


def create(project: Project, found: Sequence[CaughtStatement]) -> list[Card]:
    """Creates cards for new statements; one that was caught before is skipped. Call it in a transaction."""
    rows = {comparing.digest(one.text): _card(project, one) for one in found}
    known = set(project.cards.filter(key__in=rows).values_list("key", flat=True))
    return Card.objects.bulk_create(row for key, row in rows.items() if key not in known)


def _card(project: Project, one: CaughtStatement) -> Card:
    return Card(
        project=project,
        session_id=next((cited.session_pk for cited in one.citations if cited.session_pk), None),
        key=comparing.digest(one.text),
        said=text.storable(one.said, QUOTE_LIMIT),
        text=text.storable(one.text, MOST_TEXT),
        memory_type=one.memory_type,
        citations=[saving.stored_citation(cited) for cited in one.citations],
        engine=one.engine,
        said_at=one.at,
    )


# --- The proposal -------------------------------------------------------------------------------------------------


def refresh(
    project: Project, *, only_approved: bool = False, decide: Callable[[], None] = lambda: None
) -> Proposal | None:
    """Drafts the proposal again from the cards and the current memories, and lists waiting cards if there is room.

    `only_approved` lets undecided cards wait again, so that the approved ones can be written. `decide` changes cards first.
    Raises ReviewRefused while the proposal is being submitted.
    """
    with scratch(project) as copy, transaction.atomic():
        database.one_at_a_time(f"cards of {project.pk}")
        waiting = proposals.open_with_origin(project, Proposal.Origin.CAUGHT)
        if waiting is not None:
            review.lock_open_proposal(waiting)
        decide()
        if waiting is not None:
            card_states.take_over_verdicts(waiting)
        cards = _chosen(project, only_approved)
        before = copy.snapshot.contents()
        made = _placed(copy, cards, conf.current(project))
        draft = drafts.draft(before, copy.contents(), made.edits)
        waiting = _saved(project, waiting, draft, before)
        _note(cards, made.operations, draft, waiting)
        if waiting is not None:
            _mirror(waiting)
    return waiting


def _chosen(project: Project, only_approved: bool) -> list[Card]:
    listed = card_states.listed(project)
    if only_approved:
        return [card for card in listed if card.state == State.APPROVED]
    room = MOST_OPEN - sum(card.state == State.OPEN for card in listed)
    more = project.cards.filter(state=State.WAITING).order_by(F("said_at").asc(nulls_last=True), "pk")[
        : max(0, room)
    ]
    return [*listed, *more]


def _placed(copy: Workspace, cards: Sequence[Card], config: conf.Config) -> "catching.PlacedStatements":
    from dreams.engines.rules import catching  # noqa: PLC0415 - its patterns are slow to build, and no page needs them
    from dreams.engines.rules.user_statements.lessons import Lesson  # noqa: PLC0415 - as above

    named = {found.get("session_pk") for card in cards for found in card.citations}
    sessions = set(Session.objects.filter(pk__in=named - {None}).values_list("pk", flat=True))
    lessons = [
        Lesson(card.text, card.memory_type, [saving.citation(one, sessions) for one in card.citations])
        for card in cards
    ]
    return catching.place(copy, lessons, config)


def _saved(
    project: Project, waiting: Proposal | None, draft: drafts.Draft, before: Mapping[str, bytes]
) -> Proposal | None:
    if draft.is_empty:
        if waiting is not None:
            waiting.cards.update(proposal=None)
            proposals.supersede(waiting, "")
        return None
    if waiting is None:
        return proposals.create(
            project, proposals.ProposalOrigin(Proposal.Origin.CAUGHT, summary=SUMMARY), draft, before
        )
    proposals.redraft(waiting, draft, before)
    return waiting


def _note(
    cards: Sequence[Card], names: Sequence[str | None], draft: drafts.Draft, proposal: Proposal | None
) -> None:
    """Stores which change each card became. A card that memory already covers, or that has no place in it, is outdated."""
    keys = {step: key for key, made in draft.operations.items() for step in made.steps}
    rows = {row.key: row for row in proposal.operations.all()} if proposal else {}
    for card, name in zip(cards, names, strict=True):
        operation = rows.get(keys.get(name or "", ""))
        card.proposal, card.operation = (proposal, operation) if operation else (None, None)
        if operation is None:
            card.state = State.OUTDATED
        elif card.state == State.WAITING:
            card.state = State.OPEN
        card.save(update_fields=["proposal", "operation", "state"])
    chosen = {card.pk for card in cards}
    if proposal is not None:
        left = proposal.cards.filter(state=State.OPEN).exclude(pk__in=chosen)
        left.update(state=State.WAITING, proposal=None, operation=None)


def _mirror(proposal: Proposal) -> None:
    """Approves exactly the changes whose cards are all approved."""
    for operation in proposal.operations.prefetch_related("cards", "hunks"):
        cards, hunks = list(operation.cards.all()), list(operation.hunks.all())
        wanted = bool(cards) and all(card.state == State.APPROVED for card in cards)
        if wanted and not all(hunk.is_taken for hunk in hunks):
            by = next(card.decided_by for card in cards)
            review.decide(proposal, hunks, Hunk.Verdict.APPROVED, Actor(by), reason="Caught.")
        elif not wanted and any(hunk.is_taken for hunk in hunks):
            review.decide(proposal, hunks, Hunk.Verdict.PENDING, Actor(""))


# --- Decisions ----------------------------------------------------------------------------------------------------


def approve(card: Card, reviewer: Actor, *, confirm: bool = False) -> Card:
    """Approves the card; nothing is written before `submit`. `confirm` confirms findings against it.

    Raises ReviewRefused.
    """
    with transaction.atomic():
        if card.proposal is not None:
            review.lock_open_proposal(card.proposal)
        _claim(card, State.APPROVED, reviewer, (State.OPEN,))
        blocking = blocking_of(card)
        refused = next((found for found in blocking if found.severity == Finding.Severity.REFUSE), None)
        if refused:
            raise ReviewRefused(f"This cannot be remembered: {refused.message}")
        if blocking and not confirm:
            raise ReviewRefused(f"Nothing was changed. Confirm this first: {blocking[0].message}")
        if card.proposal is not None:
            review.confirm(card.proposal, blocking, reviewer)
            _mirror(card.proposal)
    return card


def reject(card: Card, reviewer: Actor) -> Card:
    """Rejects the card: its statement is not caught or proposed by a dream again."""
    refresh(
        card.project,
        decide=lambda: _claim(card, State.REJECTED, reviewer, (State.OPEN, State.APPROVED)),
    )
    return card


def edit(card: Card, wording: str, reviewer: Actor) -> Card:
    """Replaces the card's text with the person's version and approves it. Raises ReviewRefused."""
    wording = text.one_line(wording)
    if not wording or len(wording) > MOST_TEXT:
        raise ReviewRefused(f"Write one line of at most {MOST_TEXT:,} characters.")
    if card.project.cards.filter(key=comparing.digest(wording)).exclude(pk=card.pk).exists():
        raise ReviewRefused("Another card says this already.")

    def reword() -> None:
        changed = Card.objects.filter(pk=card.pk, state__in=(State.OPEN, State.APPROVED))
        if changed.update(text=wording, key=comparing.digest(wording), state=State.OPEN):
            _log("card.edited", card, reviewer)

    if wording != card.text:
        refresh(card.project, decide=reword)
    card.refresh_from_db()
    return approve(card, reviewer)


def take_back(card: Card, reviewer: Actor) -> Card:
    """Undoes a decision that was not submitted yet."""
    if card.state == State.APPROVED and card.proposal and card.proposal.state != Proposal.State.OPEN:
        raise ReviewRefused("This has been submitted. Undo the applied change instead.")

    refresh(card.project, decide=lambda: _wait_again(card, reviewer))
    return card


def _wait_again(card: Card, reviewer: Actor) -> None:
    _claim(card, State.WAITING, reviewer, (State.APPROVED, State.REJECTED))
    Card.objects.filter(pk=card.pk).update(decided_at=None, decided_by="")


def _claim(card: Card, state: Card.State, reviewer: Actor, of: Sequence[Card.State]) -> None:
    now = timezone.now()
    taken = Card.objects.filter(pk=card.pk, state__in=of).update(
        state=state, decided_at=now, decided_by=reviewer.name
    )
    card.refresh_from_db()
    if not taken:
        raise ReviewRefused(f"This was decided meanwhile: {card.get_state_display().lower()}.")
    _log(_ACTIONS[state], card, reviewer)


_ACTIONS = {
    State.APPROVED: "card.approved",
    State.REJECTED: "card.rejected",
    State.WAITING: "card.taken_back",
}


def _log(action: str, card: Card, reviewer: Actor) -> None:
    auditlog.record(action, actor=reviewer, about=card, text=text.sha256(card.text.encode()))


def blocking_of(card: Card) -> list[Finding]:
    """The findings that must be confirmed before the card can be written, and those that can never be confirmed."""
    if card.operation is None or card.proposal is None:
        return []
    return list(review.blocking_findings(card.proposal, card.operation.hunks.all()))


def submit(
    project: Project, reviewer: Actor, *, unless: Callable[[Proposal], bool] = lambda _: False
) -> applying.ApplyReport:
    """Writes the approved cards, `unless` it refuses them, and lists the undecided ones again. Raises ReviewRefused and
    project_lock.ProjectBusy."""
    if not any(card.state == State.APPROVED for card in card_states.listed(project)):
        raise ReviewRefused("No card is approved yet.")
    try:
        proposal = refresh(project, only_approved=True)
        if proposal is None:
            raise ReviewRefused("Memory already says all of this.")
        if unless(proposal):
            raise ReviewRefused("A person decides on this.")
        return applying.apply(proposal, reviewer)
    finally:
        refresh(project)


def remember_by_policy(project: Project) -> None:
    """Approves and writes cards without findings beyond those a policy may ignore, if the person's policy for caught cards
    allows it. A card that a person approved waits for their submit, and the others with it."""
    action = policies.action_for(policies.table(project), "", Policy.Operation.CATCH)
    if action != Policy.Action.AUTO:
        return
    fine, undone = policies.accepted(project), policies.UndoneLines.of(project)
    try:
        for card in card_states.listed(project):
            if card.state == State.OPEN and _may_pass(card, fine, undone):
                approve(card, BY_POLICY)
        if any(_is_by_policy(card) for card in card_states.listed(project)):
            # Drafted without the other cards, it may have other findings.
            submit(
                project,
                BY_POLICY,
                unless=lambda made: (
                    not all(
                        _is_by_policy(card) and _may_pass(card, fine, undone)
                        for card in made.cards.filter(state=State.APPROVED)
                    )
                ),
            )
    except Refusal as refused:
        log.info("cards of %s: left to a person: %s", project, refused)
        _leave_to_a_person(project)


def _leave_to_a_person(project: Project) -> None:
    left = [card for card in card_states.listed(project) if _is_by_policy(card)]

    def wait() -> None:
        for card in left:
            _wait_again(card, BY_POLICY)

    if left:
        refresh(project, decide=wait)


def _is_by_policy(card: Card) -> bool:
    return card.state == State.APPROVED and card.decided_by == policies.POLICY_ACTOR


def _may_pass(card: Card, fine: Collection[str], undone: policies.UndoneLines) -> bool:
    """Whether nothing is found against the card's changes or their files, none is of team memory, and none brings back what a
    person undid."""
    if card.operation is None:
        return False
    files = FileChange.objects.filter(hunks__operation=card.operation)
    found = Finding.objects.filter(Q(hunk__operation=card.operation) | Q(hunk=None, file__in=files))
    if found.exclude(severity__in=fine).exists():
        return False
    return not any(
        policies.is_shared(file.path) or undone.come_back(file.path, lines)
        for file in files.distinct().prefetch_related("hunks")
        for row, lines in proposals.text_hunks(file)
        if row.operation_id == card.operation_id
    )
