"""`extract [PROJECT] [--session ID]`: read new parts of sessions and catch statements to remember."""

from dataclasses import asdict

from dreams.lib.files import flush
from dreams.lib.files.text import plural
from dreams.management import base, named
from dreams.models import Card, Project, Proposal
from dreams.services import lookup, project_lock
from dreams.services.catching import lifecycle
from dreams.services.hosts import host

APPLIED = " (applied by a policy; can be undone)"


class Command(base.Command):
    help = "Read what is new in sessions and propose what you plainly asked to be remembered."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser, optional=True)
        parser.add_argument("--session", metavar="ID", help="only this session, from its first line")

    def run(self, options: base.Options) -> base.Result:
        session = None if options["session"] is None else lookup.session(options["session"])
        if options["project"] is not None:
            projects = [lookup.project(options["project"])]
        elif session is not None:
            projects = [session.project]
        else:
            projects = list(Project.objects.filter(host=host(), gone_at__isnull=True))
        if session is not None and session.project not in projects:
            raise base.Refused(
                f"{session.session_id} is of {session.project.slug}, not of {projects[0].slug}."
            )
        done = []
        for project in projects:
            project_lock.refuse_elsewhere(project)
            try:
                found = lifecycle.catch(project, asked=True, session=session)
            except OSError as error:
                found = lifecycle.Caught(closed=flush.in_words(error))
            if found.closed:
                if len(projects) == 1:
                    raise base.Refused(f"{project}: {found.closed}")
                self.say(f"{project}: {found.closed}")
            if found.stopped:
                self.say(f"{project}: {found.stopped}")
            done.append((project, found))
        return _result(done)

    def words(self, result: base.Result) -> base.Words:
        yield f"Read {plural(len(result['sessions']), 'session')}, caught {plural(len(result['caught']), 'thing')}."
        for one in result["skipped"]:
            yield f"Not read: {one['path']}: {one['reason']}."
        for card in result["caught"]:
            yield f"  {card['id']}  {card['text']}{APPLIED if card['applied'] else ''}"
        for proposal in result["proposals"].values():
            yield f"Look at it: proposal {proposal} --diff"


def _result(done: list[tuple[Project, lifecycle.Caught]]) -> base.Result:
    proposals = {str(project.slug): found.proposal.public_id for project, found in done if found.proposal}
    return {
        "sessions": [session.session_id for _, found in done for session in found.read],
        "caught": [_card(card) for _, found in done for card in found.cards],
        "proposal": next(iter(proposals.values()), None),
        "proposals": proposals,
        "skipped": [asdict(one) for _, found in done for one in found.skipped],
    }


def _card(card: Card) -> base.Result:
    cited = card.citations[0] if card.citations else {}
    return {
        "id": card.public_id,
        "project": card.project.slug,
        **base.fields(card, "text", "said", "state"),
        "applied": bool(card.proposal and card.proposal.state == Proposal.State.APPLIED),
        "session": card.session.session_id if card.session else None,
        "line": cited.get("line_no"),
    }
