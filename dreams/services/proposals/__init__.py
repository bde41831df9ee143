"""Proposals as rows: `saving` makes them, `checks` has them checked and keeps what was said, `rows_to_hunks` turns rows into hunks
and bytes, `transcript_verdicts` asks the sessions, `rebase` follows a file that changed meanwhile. `decisions` counts what is
to be decided, and `summaries` says in a sentence what was."""

from dreams.services.proposals.checks import examine, report_with, subject_of, subject_of_draft, verdicts_on
from dreams.services.proposals.rows_to_hunks import (
    Texts,
    added_lines,
    bytes_of,
    choices,
    decided_bytes,
    inputs_key,
    lines_of,
    memory_type,
    text_hunks,
    texts_of,
)
from dreams.services.proposals.saving import (
    Mark,
    ProposalOrigin,
    Restored,
    carry_over,
    create,
    open_for,
    open_of,
    redraft,
    rejected_before,
    save_hunk,
    supersede,
)
from dreams.services.proposals.transcript_verdicts import TranscriptVerdicts
