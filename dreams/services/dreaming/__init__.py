"""One dream, from the request to its end.

`story` is all of it in order · `watch` its states and its reporter · `reading` what is new and what the engine is given ·
`self_review` what the checks say before a person sees it · `steps` what it used and changed so far, and its unfinished
work as a proposal, if asked.
"""

from dreams.services.dreaming.steps import PartialRefused, used_by_model, work_of
from dreams.services.dreaming.steps import changed as unfinished_files
from dreams.services.dreaming.steps import propose as propose_partial
from dreams.services.dreaming.steps import sweep as sweep_unfinished
from dreams.services.dreaming.story import run_dream
from dreams.services.dreaming.watch import (
    LEASE,
    back_off,
    cancel,
    forsaken,
    lost_its_command,
    lost_its_worker,
    note_told,
    request,
    under_way,
)
