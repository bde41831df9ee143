"""Runs one dream, from the request to its end.

`lifecycle` has all steps in order · `reporter` records the engine's turns and stops it · `dream_inputs` collects what it reads ·
`self_review` runs the checks before a person sees the result · `steps` keeps usage and changes turn by turn, and proposes
unfinished work if asked.
"""

from dreams.services.dreaming.lifecycle import run_dream
from dreams.services.dreaming.reporter import (
    LEASE,
    active,
    back_off,
    cancel,
    forsaken,
    lost_its_command,
    lost_its_worker,
    note_told,
    refuse_second,
    request,
    under_way,
)
from dreams.services.dreaming.steps import (
    PartialRefused,
    changed as unfinished_files,
    is_turn,
    propose as propose_partial,
    sweep as sweep_unfinished,
    used_by_model,
    work_of,
)
