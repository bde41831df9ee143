"""`jobs add|list|run|remove`: scheduled jobs."""

import datetime as dt
import signal

from django.utils import timezone

from dreams.management import base, named
from dreams.models import JobRun, ScheduledJob
from dreams.services import jobs
from dreams.services.hosts import host, name_of

OF_ADD = ("project", "after", "once", "until")


class Command(base.Command):
    help = "Manage scheduled jobs: add CRON KIND, or add KIND --after ID; list; run ID; remove ID. KIND is dream, checkup, digest, verify or export."

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument("action", choices=["add", "list", "run", "remove"])
        parser.add_argument(
            "words", nargs="*", metavar="CRON KIND | ID", help='CRON is five fields: "0 3 * * *"'
        )
        parser.add_argument("--project", metavar="P", help="only this project; default: all")
        parser.add_argument("--after", metavar="ID", help="run when this job has ended, instead of by CRON")
        parser.add_argument("--once", action="store_true", help="end after one run")
        parser.add_argument("--until", metavar="DAY", help="the last day, as 2026-12-31")

    def run(self, options: base.Options) -> base.Result:
        words: list[str] = options["words"]
        if options["action"] != "add" and any(options[name] not in (None, False) for name in OF_ADD):
            raise base.BadUsage(f"Only `jobs add` takes {', '.join(f'--{name}' for name in OF_ADD)}.")
        match options["action"]:
            case "add":
                return self._add(words, options)
            case "run":
                return self._run(_job(words))
            case "remove":
                gone = jobs.remove(_job(words), actor=named.me().name)
                return {"removed": [job.public_id for job in gone]}
        if words:
            raise base.BadUsage("`jobs list` takes no arguments.")
        now, clock = timezone.now(), jobs.Clock.load()
        rows = ScheduledJob.objects.select_related("project", "after")
        return {"jobs": [_shown(job, now, clock) for job in rows]}

    def _add(self, words: list[str], options: base.Options) -> base.Result:
        if not words:
            raise base.BadUsage('Give a schedule and a kind, as in: jobs add "0 3 * * *" dream')
        *cron, kind = words
        wanted = jobs.Wanted(
            kind=kind,
            cron=" ".join(cron),
            after=None if options["after"] is None else _job([options["after"]]),
            project=named.any_project(options["project"]),
            once=options["once"],
            until=_day(options["until"]),
        )
        try:
            job = jobs.add(wanted, actor=named.me().name)
        except (jobs.SameJob, jobs.TooManyJobs) as error:
            raise base.Refused(str(error)) from error
        except jobs.BadJob as error:
            raise base.BadUsage(str(error)) from error
        return _shown(job, timezone.now(), jobs.Clock.load())

    def _run(self, job: ScheduledJob) -> base.Result:
        if job.host != host():
            raise base.Refused(f"{job} belongs to {name_of(job.host)}, which has its files. Run it there.")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # like Ctrl-C
        run = jobs.run_here(jobs.start_now(job, actor=named.me().name))
        result = {"id": job.public_id, "status": run.status, "text": run.text, "parts": run.parts}
        if run.status == JobRun.Status.FAILED:
            raise base.Refused(run.text, result)
        return result

    def words(self, result: base.Result) -> base.Words:
        if "jobs" in result:
            return _lines(result["jobs"])
        if "removed" in result:
            return [f"Removed {', '.join(result['removed'])}."]
        if "status" in result:
            parts = result["parts"] if len(result["parts"]) > 1 else []
            return [result["text"], *[f"  {part['name']}: {part['text']}" for part in parts]]
        return _added(result)


def _job(words: list[str]) -> ScheduledJob:
    if len(words) != 1:
        raise base.BadUsage("Name one job by its id; `jobs list` shows them.")
    job = jobs.find(words[0])
    if job is None:
        raise base.Refused(f"There is no job {words[0]!r}. `jobs list` shows them.")
    return job


def _day(text: str | None) -> dt.date | None:
    try:
        return None if text is None else dt.date.fromisoformat(text)
    except ValueError as error:
        raise base.BadUsage(f"“{text}” is not a day such as 2026-12-31.") from error


def _shown(job: ScheduledJob, now: dt.datetime, clock: jobs.Clock) -> base.Result:
    """The next times are in the person's time zone, with the offset."""
    return {
        "id": job.public_id,
        "project": job.project.slug if job.project else None,
        "after": job.after.public_id if job.after else None,
        **base.fields(job, "kind", "cron", "once", "until", "ended_at", "failures"),
        "next": [at.astimezone(clock.zone) for at in jobs.upcoming(job, now, clock)],
    }


def _lines(found: list[base.Result]) -> base.Words:
    if not found:
        return ['There are no jobs. Add one: jobs add "0 3 * * *" dream']
    rows = [
        [job["id"], job["kind"], job["project"] or "all projects", _when(job), _next(job)] for job in found
    ]
    return base.table(["ID", "KIND", "PROJECT", "WHEN", "NEXT"], rows)


def _when(job: base.Result) -> str:
    when = job["cron"] or f"after {job['after']}"
    once = ", once" if job["once"] else ""
    return f"{when}{once}" + (f", until {job['until']}" if job["until"] else "")


def _next(job: base.Result) -> str:
    if job["ended_at"]:
        return "ended"
    return f"{job['next'][0]:%Y-%m-%d %H:%M}" if job["next"] else ""


def _added(job: base.Result) -> base.Words:
    yield f"{job['id']}: {job['kind']} of {job['project'] or 'all projects'}, {_when(job)}"
    for at in job["next"]:
        yield f"  {at:%a %Y-%m-%d %H:%M}"
