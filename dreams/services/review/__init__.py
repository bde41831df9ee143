"""Reviews: decide, edit, undo, confirm, submit. The state machine of a proposal.

Verdicts are pending until the review is submitted; the parts of an operation are decided together; each verdict
carries the sha256 of the base it was made on, and one made on an old base is refused with the remedy.
"""

from dreams.services.auditlog import Actor
from dreams.services.review.deciding import (
    FindingInTheWay,
    ReviewRefused,
    blocking,
    confirm,
    confirm_rebase,
    decide,
    edit,
    hold_open,
    in_the_way,
    is_undecided,
    log_secrets_shown,
    mark_viewed,
    refuse_away,
    refuse_open_findings,
    refuse_undecided,
    select,
    together,
)
from dreams.services.review.mending import EditPreview, Mend, mend, preview_edit
from dreams.services.review.submitting import (
    Missing,
    agree,
    lacking,
    leave_out,
    missing,
    refuse,
    submit,
    use_up_sessions,
)
