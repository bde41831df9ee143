"""`notes SESSION`: hand-over notes of a session, in ten sections."""

from dreams.engines.handover import sections
from dreams.management import base, named
from dreams.models import NotesRequest, Session, SessionNotes
from dreams.services import handing_over, lookup, session_notes


class Command(base.Command):
    help = "Write hand-over notes for whoever continues a session: ten sections, from its transcript."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("session", metavar="SESSION", help="a session’s id, or its first characters")
        parser.add_argument(
            "--engine", choices=["rules", "anthropic"], default="rules", help="who writes them (rules)"
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="ask a model although the session is short, or little of it is new",
        )

    def run(self, options: base.Options) -> base.Result:
        session = lookup.session(options["session"])
        if options["engine"] == "rules":
            return _result(session, session_notes.by_rules(session))
        asked = handing_over.request(session, named.me().name, force=options["force"])
        self.say(f"Asking {asked.model}.")
        done = handing_over.run(asked.pk)
        if done is None or done.status != NotesRequest.Status.DONE:
            raise base.Refused((done.error if done else "") or "It was cancelled.")
        notes = SessionNotes.objects.get(session=session, origin=SessionNotes.Origin.MODEL)
        cost = None if done.cost_usd is None else float(done.cost_usd)
        return {**_result(session, notes), "engine": "anthropic", "model": done.model, "cost_usd": cost}

    def words(self, result: base.Result) -> base.Words:
        return str(result["markdown"]).splitlines()


def _result(session: Session, notes: SessionNotes) -> base.Result:
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
