"""Updates cards when their proposal changes, and lists the statements that a dream must not propose again."""

from collections.abc import Collection, Iterable

from django.db.models import F, Q

from dreams.models import Card, Hunk, Project, Proposal, Session

State = Card.State
#: States of cards that a person has seen: a dream does not propose these again.
SEEN = (State.OPEN, State.APPROVED, State.REJECTED)
#: Neither here nor on the review page, whose verdicts a card takes over later.
_UNDECIDED = Q(state__in=(State.OPEN, State.WAITING)) & ~Q(
    operation__hunks__in=Hunk.objects.exclude(verdict=Hunk.Verdict.PENDING)
)


def known_to_a_dream(project: Project) -> tuple[str, ...]:
    """The statements of cards that are open, approved or rejected."""
    return tuple(project.cards.filter(state__in=SEEN).values_list("text", flat=True))


def undecided(project: Project, sessions: Collection[Session]) -> list[Card]:
    """The cards that rules made of these sessions and that nobody decided on."""
    rows = project.cards.filter(_UNDECIDED, engine="rules", session__in=sessions)
    return list(rows.order_by("pk"))


def outdate(cards: Iterable[Card]) -> bool:
    """Marks those that are still undecided as no longer needed; whether there was one. Their keys are free: what is said again
    becomes a new card."""
    rows = Card.objects.filter(_UNDECIDED, pk__in=[card.pk for card in cards])
    return bool(rows.update(state=State.OUTDATED, key=F("public_id")))


def take_over_verdicts(proposal: Proposal) -> None:
    """Marks cards as decided if all their changes were decided on the review page, or rejected by a second person."""
    for card in proposal.cards.filter(state__in=(State.OPEN, State.APPROVED)).exclude(operation=None):
        was = card.state
        hunks = Hunk.objects.filter(operation=card.operation_id)
        verdicts = set(hunks.values_list("verdict", flat=True))
        last = hunks.order_by("-decided_at").first()
        if verdicts and verdicts <= Hunk.TAKEN:
            card.state = State.APPROVED
        elif verdicts == {Hunk.Verdict.REJECTED.value}:
            card.state = State.REJECTED
        if card.state != was and last is not None:
            card.decided_at, card.decided_by = last.decided_at, last.decided_by
            card.save(update_fields=["state", "decided_at", "decided_by"])


def proposal_ended(proposal: Proposal) -> None:
    """Call it when a proposal is submitted, rejected or superseded, in the same transaction. Undecided cards wait again."""
    if proposal.origin != Proposal.Origin.CAUGHT:
        return
    take_over_verdicts(proposal)
    left = proposal.cards.filter(state=State.OPEN)
    if proposal.state == Proposal.State.SUPERSEDED:
        left = proposal.cards.filter(state__in=(State.OPEN, State.APPROVED))
    left.update(state=State.WAITING, proposal=None, operation=None)


def listed(project: Project) -> list[Card]:
    """The cards of the open proposal, decided or not, in the order in which they were typed."""
    rows = project.cards.filter(state__in=(State.OPEN, State.APPROVED), proposal__state=Proposal.State.OPEN)
    return list(rows.order_by(F("said_at").asc(nulls_last=True), "pk"))
