"""`notes SESSION`: hand-over notes of a session, ten sections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import CommandParser

from dreams.engines.handover import sections
from dreams.management import base, named
from dreams.models import Session, SessionNotes
from dreams.services import session_notes


class Command(base.Command):
    help = "Write notes for whoever goes on with a session: ten sections, from its transcript."

    def arguments(self, parser: CommandParser) -> None:
        parser.add_argument("session", metavar="SESSION", help="a session’s id, or how it begins")

    def run(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        session = named.session(options["session"])
        try:
            return _result(session, session_notes.by_rules(session))
        except session_notes.NotReadable as refused:
            raise base.Refused(str(refused)) from refused

    def words(self, result: Mapping[str, Any]) -> Iterable[str]:
        return str(result["markdown"]).splitlines()


def _result(session: Session, notes: SessionNotes) -> Mapping[str, Any]:
    text = session_notes.text_of(notes)
    bodies = sections.read(text)
    return {
        "session": session.session_id,
        "project": session.project.slug,
        "engine": "rules",
        "written_at": notes.written_at.isoformat(),
        "sections": [
            {"name": one.name, "heading": one.heading, "text": bodies[one.name]} for one in sections.SECTIONS
        ],
        "markdown": text,
    }
