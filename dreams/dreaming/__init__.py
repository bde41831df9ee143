"""One dream, from the request to its end: `states` · `story` · `reading` what the engine is given · `watch` its reporter ·
`bookkeeping` what it used."""

from dreams.dreaming.bookkeeping import used_by_model, work_of
from dreams.dreaming.states import LEASE, back_off, cancel, lost_its_worker, request
from dreams.dreaming.story import run_dream

__all__ = [
    "LEASE",
    "back_off",
    "cancel",
    "lost_its_worker",
    "request",
    "run_dream",
    "used_by_model",
    "work_of",
]
