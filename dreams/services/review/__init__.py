"""Reviews: decide, edit, undo, confirm, submit. The state machine of a proposal.

Verdicts can change until the review is submitted; the hunks of an operation are decided together; each verdict has
the sha256 of its base, and one on an old base is refused with the remedy.
"""

from dreams.services.auditlog import Actor
from dreams.services.review.changed_files import confirm_rebase, solve_conflict
from dreams.services.review.deciding import (
    CHANGED,
    BlockingFinding,
    ReviewRefused,
    blocking_findings,
    claimed,
    confirm,
    decide,
    edit,
    filter_blocking,
    is_undecided,
    lock_open_proposal,
    log_secrets_shown,
    mark_viewed,
    refuse_if_away,
    refuse_if_undecided,
    refuse_open_findings,
    select_hunks,
    why_closed,
    with_parts,
)
from dreams.services.review.mending import EditPreview, Mend, mend, preview_edit
from dreams.services.review.submitting import (
    SecondWait,
    approve_as_second,
    lacking_second,
    leave_out,
    reject_as_second,
    second_person_waits,
    submit,
    use_up_sessions,
)
