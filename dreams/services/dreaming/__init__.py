"""Runs one dream, from the request to its end.

`lifecycle` is all of it in order · `reporter` what the engine tells and why it stops · `dream_inputs` what is new and what the engine is given ·
`self_review` what the checks say before a person sees it · `steps` what it used and changed so far, and its unfinished
work as a proposal, if asked.
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
    propose as propose_partial,
    sweep as sweep_unfinished,
    used_by_model,
    work_of,
)
