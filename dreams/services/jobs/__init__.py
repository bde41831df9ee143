"""Jobs of the schedule: `book` the list of them and when each is next · `runs` one run from its start to its end ·
`work` what a job of each kind does · `dreams` a run that starts dreams · `ticking` what is due now."""

from dreams.services.jobs.book import (
    MOST,
    BadJob,
    Clock,
    TooManyJobs,
    Wanted,
    add,
    checked,
    due_times,
    ensure_digest,
    find,
    remove,
    upcoming,
)
from dreams.services.jobs.runs import AlreadyRunning, start_now
from dreams.services.jobs.ticking import begin, run_here, run_job, tick

__all__ = [
    "MOST",
    "AlreadyRunning",
    "BadJob",
    "Clock",
    "TooManyJobs",
    "Wanted",
    "add",
    "begin",
    "checked",
    "due_times",
    "ensure_digest",
    "find",
    "remove",
    "run_here",
    "run_job",
    "start_now",
    "tick",
    "upcoming",
]
