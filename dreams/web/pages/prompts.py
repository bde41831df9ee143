"""What a person typed in a project, newest first, one session's prompts before all others. A fixed number of queries."""

from dataclasses import dataclass
from functools import partial

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q

from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.agents.claude_code.history import pasted_text
from dreams.models import HiddenPrompt, HistoryFile, Project, Prompt, Session
from dreams.web.hidden_secrets import shown
from dreams.web.paging import Listed, listed, page_of

PAGE = 100  # rows; chosen


@dataclass(frozen=True, slots=True)
class Pasted:
    """`text` is None where the agent keeps it and nobody asked for it; `asked` but None: it is no longer there."""

    number: int
    text: str | None
    asked: bool = False
    is_kept_by_agent: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    prompt: Prompt
    text: str
    title: str
    here: bool
    note: str
    hidden: bool
    pastes: list[Pasted]
    images: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """`session` is the one that comes first; `hidden` counts those that are left out or, if `is_hidden`, listed.

    `history` is the agent's file that they come from, where one was found.
    """

    rows: Listed[Row]
    session: Session | None
    hidden: int
    is_hidden: bool
    history: HistoryFile | None

    @property
    def has_long_pastes(self) -> bool:
        return any(paste.is_kept_by_agent for row in self.rows.items for paste in row.pastes)


def prompts(
    project: Project, number: str | None, session: int | None, paste: int | None, *, hidden: bool
) -> Prompts:
    """`paste` is the prompt whose long pastes are read from the agent's folder."""
    first = project.sessions.filter(pk=session).first() if session else None
    is_hidden = Exists(HiddenPrompt.objects.filter(key=OuterRef("pk")))
    rows = Prompt.objects.filter(session__project=project, session__own=False).annotate(is_hidden=is_hidden)
    here = ExpressionWrapper(Q(session=first.pk if first else 0), output_field=BooleanField())
    chosen = rows.filter(is_hidden=hidden).annotate(here=here).select_related("session", "history")
    page = page_of(chosen.order_by("-here", F("at").desc(nulls_last=True), "-pk"), number, PAGE)
    make = partial(_row, project.root, first.pk if first else 0, paste, hidden)
    count = page.paginator.count if hidden else rows.filter(is_hidden=True).count()
    history = HistoryFile.objects.filter(host=project.host, root=project.root).first()
    return Prompts(listed(page, make), first, count, hidden, history)


def _row(root: str, first: int, paste: int | None, hidden: bool, row: Prompt) -> Row:
    history = getattr(row, "history", None)
    asked = paste == row.pk
    return Row(
        prompt=row,
        text=shown(row.text),
        title=shown(str(row.session)),
        here=row.session_id == first,
        note=NO_ANSWER if history else "",
        hidden=hidden,
        pastes=[_paste(root, one, asked=asked) for one in history.pastes] if history else [],
        images=history.images if history else 0,
    )


def _paste(root: str, kept: dict[str, str | int], *, asked: bool) -> Pasted:
    number = int(kept.get("number", 0))
    if not kept.get("hash"):
        return Pasted(number, shown(str(kept.get("text", ""))))
    text = pasted_text(root, str(kept["hash"])) if asked else None
    return Pasted(number, None if text is None else shown(text), asked, is_kept_by_agent=True)
