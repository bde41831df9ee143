"""Runs one dream, from the request to its end.

`states` has how a dream is requested, claimed, cancelled and ended · `lifecycle` all steps of one in order · `reporter` records
the engine's turns and stops it · `dream_inputs` collects what it reads · `self_review` runs the checks before a person sees the
result · `unfinished` keeps the work of one that ends early, and proposes it if asked.
"""

from dreams.services.dreaming.lifecycle import run_dream
from dreams.services.dreaming.reporter import is_turn, used_by_model, work_of
from dreams.services.dreaming.states import (
    LEASE,
    active,
    back_off,
    cancel,
    forsaken,
    lost_its_command,
    lost_its_worker,
    mark_notified,
    refuse_second,
    request,
    under_way,
)
