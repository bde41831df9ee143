"""Hides prompts from memoryweb's pages, and shows them again. The agent's own files are never touched."""

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from dreams.lib.files.text import storable
from dreams.models import HiddenPrompt, Prompt, Session
from dreams.services.discovery.prompt_history import UNNAMED


def hide(prompt: Prompt) -> None:
    with transaction.atomic():
        HiddenPrompt.objects.get_or_create(key=prompt.pk)
        _title_anew(prompt)


def show(prompt: Prompt) -> None:
    with transaction.atomic():
        HiddenPrompt.objects.filter(key=prompt.pk).delete()
        _title_anew(prompt)


def _title_anew(prompt: Prompt) -> None:
    """A session that only the history has is called by what was typed first: by the first that is shown."""
    if not hasattr(prompt, "history"):
        return
    is_hidden = Exists(HiddenPrompt.objects.filter(key=OuterRef("pk")))
    rows = Prompt.objects.filter(~is_hidden, session=prompt.session_id, session__gone_at__isnull=False)
    first = rows.order_by(F("at").asc(nulls_last=True), "offset").values_list("text", flat=True).first()
    known = Session.objects.filter(pk=prompt.session_id).exclude(session_id=UNNAMED)
    known.update(title=storable(first or "", 300), title_indexed_at=None)
