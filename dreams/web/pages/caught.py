"""A project's cards: the quote, the line it would become, its file, and the findings of the checks."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, F, Prefetch, Q
from django.utils import timezone

from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.memdir import INDEX_NAME
from dreams.models import Card, Finding, Project
from dreams.services.catching import card_states, lifecycle
from dreams.services.scheduling.gate_inputs import Everywhere
from dreams.web.pages.session import quote_address

#: How long the page offers to undo the rejection of a card.
LATELY = dt.timedelta(days=1)
MOST_LATELY = 20  # cards on the page; chosen


def of_project(project: Project, after: str = "") -> dict[str, Any]:
    """`after`: the card that was just decided; the next open one becomes the current card.

    `waiting` cards are listed once there is room; `closed` is why nothing is caught now.
    """
    listed = card_states.listed(project)
    rows = _rows(project, listed)
    now = _next_open(rows, after)
    proposal = next((row.proposal.public_id for row in rows if row.proposal and row.state != "rejected"), "")
    moment = timezone.now()
    return {
        "cards": [_shown(row, row.public_id == now) for row in rows],
        "open": sum(row.state == Card.State.OPEN for row in listed),
        "approved": sum(row.state == Card.State.APPROVED for row in listed),
        "waiting": project.cards.filter(state=Card.State.WAITING).count(),
        "closed": lifecycle.why_not_read(project, Everywhere.load(), moment),
        "proposal": proposal,
    }


def _rows(project: Project, listed: Sequence[Card]) -> list[Card]:
    """Those to decide on, and those decided last, in the order in which they were typed."""
    lately = Q(state=Card.State.REJECTED, decided_at__gte=timezone.now() - LATELY)
    is_listed = Q(pk__in=[card.pk for card in listed])
    is_open = ExpressionWrapper(Q(state=Card.State.OPEN), output_field=BooleanField())
    found = Finding.objects.filter(
        severity__in=[Finding.Severity.BLOCK, Finding.Severity.REFUSE, Finding.Severity.WARN]
    )
    rows = Card.objects.filter(is_listed | lately, project=project).select_related(
        "session", "operation", "proposal"
    )
    rows = rows.prefetch_related("operation__hunks__file", Prefetch("operation__hunks__findings", found))
    chosen = rows.order_by(is_open.desc(), F("decided_at").desc(nulls_last=True), "pk")[:MOST_LATELY]
    return sorted(chosen, key=lambda row: (row.said_at is None, row.said_at, row.pk))


def _next_open(rows: Sequence[Card], after: str) -> str:
    """The first open card after `after`, else the first open one, else `after`."""
    names = [row.public_id for row in rows]
    start = names.index(after) + 1 if after in names else 0
    around = [*rows[start:], *rows[:start]]
    return next((row.public_id for row in around if row.state == Card.State.OPEN), after)


def _shown(row: Card, is_now: bool) -> dict[str, Any]:
    hunks = list(row.operation.hunks.all()) if row.operation else []
    file = next((hunk.file for hunk in hunks if hunk.file.path != INDEX_NAME), None)
    # A line, its file's description and its index row have the same findings.
    findings = list({found.code: found for hunk in reversed(hunks) for found in hunk.findings.all()}.values())
    cited = row.citations[0] if row.citations else {}
    line, note = cited.get("line_no"), str(cited.get("note") or "")
    return {
        "row": row,
        "is_open": row.state == Card.State.OPEN,
        # The agent wrote it, and the person agreed.
        "said_by_agent": cited.get("role") == "assistant",
        "no_answer": note if note == NO_ANSWER else "",
        "session_url": quote_address(row.session.pk, line, note) if row.session else "",
        "path": file.path if file else "",
        "is_new_file": bool(file and file.kind == "add"),
        "findings": [found for found in findings if found.severity == Finding.Severity.WARN],
        "blocks": [found for found in findings if found.is_blocking],
        "is_now": is_now,
    }
