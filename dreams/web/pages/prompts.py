"""The prompts of a project, newest first, those of one session before all others. A fixed number of queries."""

from functools import partial
from typing import Any

from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q

from dreams.lib.agents.base import NO_ANSWER
from dreams.lib.agents.claude_code.history import pasted_text
from dreams.models import HiddenPrompt, HistoryFile, Project, Prompt
from dreams.web.hidden_secrets import shown
from dreams.web.paging import listed, page_of

PAGE = 100  # rows; chosen


def prompts(
    project: Project, number: str | None, session: int | None, paste: int | None, *, hidden: bool
) -> dict[str, Any]:
    """Prompts of `session` come first; `paste` is the prompt whose long pastes are read from the agent's folder.

    `hidden` counts the hidden ones, which are listed if `is_hidden`. `history` is the agent's file with the prompts.
    """
    first = project.sessions.filter(pk=session).first() if session else None
    is_hidden = Exists(HiddenPrompt.objects.filter(key=OuterRef("pk")))
    rows = Prompt.objects.filter(session__project=project, session__own=False).annotate(is_hidden=is_hidden)
    here = ExpressionWrapper(Q(session=first.pk if first else 0), output_field=BooleanField())
    chosen = rows.filter(is_hidden=hidden).annotate(here=here).select_related("session", "history")
    page = page_of(chosen.order_by("-here", F("at").desc(nulls_last=True), "-pk"), number, PAGE)
    found = listed(page, partial(_row, project.root, first.pk if first else 0, paste, hidden))
    return {
        "rows": found,
        "session": first,
        "hidden": page.paginator.count if hidden else rows.filter(is_hidden=True).count(),
        "is_hidden": hidden,
        "history": HistoryFile.objects.filter(host=project.host, root=project.root).first(),
        "has_long_pastes": any(one["is_kept_by_agent"] for row in found.items for one in row["pastes"]),
    }


def _row(root: str, first: int, paste: int | None, hidden: bool, row: Prompt) -> dict[str, Any]:
    history = getattr(row, "history", None)
    asked = paste == row.pk
    return {
        "prompt": row,
        "text": shown(row.text),
        "title": shown(str(row.session)),
        "here": row.session_id == first,
        "note": NO_ANSWER if history else "",
        "hidden": hidden,
        "pastes": [_paste(root, one, asked=asked) for one in history.pastes] if history else [],
        "images": history.images if history else 0,
    }


def _paste(root: str, kept: dict[str, str | int], *, asked: bool) -> dict[str, Any]:
    """`text` is None if only the agent has it and it was not `asked` for or no longer exists."""
    is_kept_by_agent = bool(kept.get("hash"))
    text: str | None = str(kept.get("text", ""))
    if is_kept_by_agent:
        text = pasted_text(root, str(kept["hash"])) if asked else None
    return {
        "number": int(kept.get("number", 0)),
        "text": None if text is None else shown(text),
        "asked": asked and is_kept_by_agent,
        "is_kept_by_agent": is_kept_by_agent,
    }
