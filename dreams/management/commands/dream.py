"""`dream PROJECT`: dream now, in the foreground."""

import signal
from collections.abc import Sequence

from dreams import conf
from dreams.lib.files.text import plural
from dreams.management import base, named, shown
from dreams.models import DreamRun, Project
from dreams.services import discovery, dreaming, forecast, lookup
from dreams.services.apply import writing
from dreams.services.scheduling import gates, scheduler

_FORCEABLE = ", ".join(gate.label for gate in gates.GATES.values() if gate.forceable)


class Command(base.Command):
    help = "Run a dream now, in the foreground, and print the result."

    def arguments(self, parser: base.CommandParser) -> None:
        named.add_project(parser)
        parser.add_argument("--engine", choices=conf.engines(), help="default: the project's setting")
        parser.add_argument(
            "--force",
            action="store_true",
            help=f"pass these gates when they are closed: {_FORCEABLE}",
        )

        parser.add_argument(
            "--logs",
            action="store_true",
            help="read the new lines of the agent's daily logs now: skip the gate for time and the daily-log mode",
        )

    def run(self, options: base.Options) -> base.Result:
        project = lookup.project(options["project"])
        writing.recover()
        scheduler.repair()
        discovery.refresh(project)
        project.refresh_from_db()
        self._refuse_closed(project, options)
        self._say_forecast(project, options["engine"])
        reviewer = named.me()
        dream = dreaming.request(
            project,
            DreamRun.Trigger.COMMAND,
            engine=options["engine"] or "",
            forced=options["force"],
            logs=options["logs"],
            actor=reviewer.name,
        )
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C
        dreaming.run_dream(dream.pk)
        dream.refresh_from_db()
        dreaming.mark_notified([dream.public_id])
        result = shown.dream(dream)
        if dream.status != DreamRun.Status.COMPLETED:
            self._say_unfinished(dream, result["unfinished"])
            raise base.Refused(
                f"{dream.public_id} {dream.get_status_display().lower()}: {dream.error}", result
            )
        return result

    def _say_unfinished(self, dream: DreamRun, files: Sequence[str]) -> None:
        if files:
            changed = plural(len(files), "file was", "files were")
            self.say(f"{changed} changed before it stopped: proposal {dream.public_id} --partial")

    def _say_forecast(self, project: Project, engine: str | None) -> None:
        """Prints the forecast before anything is spent; on stderr, as scripts read stdout."""
        config = conf.current(project)
        if (engine or config.engine) != "rules":
            self.say(forecast.forecast(project, config).sentence)

    def _refuse_closed(self, project: Project, options: base.Options) -> None:
        force, engine, logs = options["force"], options["engine"] or "", options["logs"]
        try:
            scheduler.refuse_closed(project, forced=force, engine=engine, logs=logs)
        except scheduler.GateClosed as refused:
            closed = refused.gate
            more = "" if force or not gates.GATES[closed.name].forceable else " --force passes this."
            if closed.cause == gates.Mode.DAILY_LOG:
                more = " --logs reads them anyway."
            told = {"dream": None, "status": "refused", "error": closed.reason, **shown.NO_DREAM}
            raise base.Refused(f"{closed.reason}{more}", told) from refused

    def words(self, result: base.Result) -> base.Words:
        if result["dream"] is None:
            return  # refused: the reason is on stderr
        yield f"{result['dream']}: {result['result']}"
        for file in result["files"]:
            yield f"  {file['kind']:<7} {file['path']} ({plural(len(file['hunks']), 'change')})"
        if result["proposal"]:
            yield f"Look at it: proposal {result['proposal']} --diff"
        if result["questions"]:
            yield f"It asks {plural(result['questions'], 'question')}: questions {result['dream']}"
