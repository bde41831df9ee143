"""`copy_memories FROM TO`: propose the memories of one project to another, for example after a repository was moved."""

from dreams.lib.files import flush, safefs
from dreams.lib.refusal import Refusal
from dreams.management import base, named, shown
from dreams.models import Memory, Project
from dreams.services import lookup
from dreams.services.memories import moved, syncing


class Command(base.Command):
    help = "Propose the memories of one project to another, for example after its repository was moved; or move one."

    def arguments(self, parser: base.CommandParser) -> None:
        for name, metavar in (("source", "FROM"), ("target", "TO")):
            parser.add_argument(name, metavar=metavar, help=f"a project: {named.PROJECT_HELP}")
        parser.add_argument(
            "--move", metavar="PATH", help="write this memory to TO, then remove it from FROM, at once"
        )

    def run(self, options: base.Options) -> base.Result:
        source, target = lookup.project(options["source"]), lookup.project(options["target"])
        try:
            if options["move"] is not None:
                return _move(source, options["move"], target)
            made = moved.propose(source, target, named.me())
        except (safefs.SafeFsError, OSError) as error:
            raise base.Refused(flush.in_words(error)) from error
        return {"proposal": made.public_id if made else None, "summary": made.summary if made else ""}

    def words(self, result: base.Result) -> base.Words:
        if "steps" in result:
            for step in result["steps"]:
                yield f"{step['project']}:"
                yield from (f"  {line}" for line in shown.report_words(step))
                if step["applied"]:
                    yield f"  `rollback {step['proposal']}` undoes it."
        elif result["proposal"] is None:
            yield "All of its memories are already there."
        else:
            yield f"Proposal {result['proposal']}: {result['summary']} Nothing is written yet."


def _move(source: Project, path: str, target: Project) -> base.Result:
    """Both steps as `apply` reports one, in order; the second only if the first is complete."""
    syncing.refresh(source)
    memory = Memory.objects.filter(project=source, path=path, gone_at=None).select_related("project").first()
    if memory is None:
        raise base.Refused(f"{path} is no memory of {source.slug} now.")
    steps: list[dict[str, object]] = []
    for half in moved.halves(memory, target, named.me()):
        try:
            done = half.act()
        except Refusal as refused:
            raise base.Refused(f"{path} stays in {source.slug}: {refused}", {"steps": steps}) from refused
        steps.append({"project": half.project.slug, **shown.report(done)})
        if not done.complete:
            why = done.error or f"it waits as {done.proposal}."
            raise base.Refused(f"{path} stays in {source.slug}: {why}", {"steps": steps})
    return {"steps": steps}
