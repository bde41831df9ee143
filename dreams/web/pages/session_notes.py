"""Notes on a session: the agent's own and hand-over notes, with links into the transcript."""

import re
from dataclasses import dataclass
from decimal import Decimal

from django.core.paginator import Page

from dreams import conf
from dreams.engines.anthropic import keys
from dreams.engines.handover.model import ASKED
from dreams.models import NotesRequest, OpenEnd, Project, Session, SessionNotes
from dreams.services import forecast, session_notes
from dreams.services.hosts import host
from dreams.web.hidden_secrets import shown
from dreams.web.paging import page_of
from dreams.web.render import Resolver, TemplateResolver

_LINE = re.compile(r"\(line (\d{1,9})\)")


@TemplateResolver
def line_here(name: str) -> str | None:
    """Where "line 7" is on the session's page."""
    number = name.removeprefix("line ")
    return f"?line={number}#line-{number}" if name.startswith("line ") and number.isdecimal() else None


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes in Markdown. `resolve` leads to the lines that they name; `is_open`: it was just written."""

    row: SessionNotes
    text: str
    resolve: Resolver | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class Handover:
    """What the page offers: `has_rules` where notes by rules are there, `is_older` where the transcript grew since.

    `model` is empty where none can be asked, `cost` what asking it is expected to cost, `asked` the last request.
    """

    can_write: bool
    has_rules: bool
    is_older: bool
    model: str
    cost: Decimal | None
    asked: NotesRequest | None
    sections: int = len(ASKED)

    @property
    def is_waiting(self) -> bool:
        return self.asked is not None and self.asked.status in NotesRequest.UNFINISHED


def notes(session: Session, *, is_open: bool) -> list[Notes]:
    """The newest hand-over first, and unfolded where it `is_open`; the agent's own notes last. Two queries."""
    rows = list(session.notes.order_by("origin"))
    kept = session_notes.texts([session.pk]).get(session.pk, [])
    found = sorted(
        zip(rows, kept, strict=False),
        key=lambda pair: (pair[0].is_handover, pair[0].written_at),
        reverse=True,
    )
    return [
        _notes(row, shown(text), is_open=is_open and number == 0) for number, (row, text) in enumerate(found)
    ]


def _notes(row: SessionNotes, text: str, *, is_open: bool) -> Notes:
    if not row.is_handover:
        return Notes(row, text, None, is_open=False)
    return Notes(row, with_lines(text, r"([[line \1]])"), line_here, is_open=is_open)


def handover(session: Session, notes: list[Notes]) -> Handover:
    """Two queries, and one of the prices where a model can be asked."""
    mine = next((each.row for each in notes if each.row.origin == SessionNotes.Origin.RULES), None)
    can_write = session.gone_at is None and not session.own and session.project.host == host()
    config = conf.current(session.project)
    model = config.model if can_write and keys.state().usable else ""
    return Handover(
        can_write=can_write,
        has_rules=mine is not None,
        is_older=mine is not None and session.size > mine.size,
        model=model,
        cost=forecast.of_notes(session, model) if model else None,
        asked=session.notes_requests.first(),
    )


def downloaded(text: str, address: str) -> str:
    """The notes as a file: each line that is named is a link to the session's page at `address`."""
    return with_lines(text, rf"([line \1]({address}?line=\1#line-\1))")


def with_lines(text: str, instead: str) -> str:
    """`(line 7)` written as `instead`, but not in a fence."""
    pieces = text.split("```")
    pieces[::2] = [_LINE.sub(instead, piece) for piece in pieces[::2]]
    return "```".join(pieces)


OPEN_ENDS_PAGE = 200  # rows; chosen


def page(project: Project, number: str | None) -> Page[OpenEnd]:
    return page_of(session_notes.open_ends(project).select_related("session"), number, OPEN_ENDS_PAGE)
