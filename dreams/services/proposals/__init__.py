"""Proposals as rows: `saving` creates them, `checks` runs the checks and saves their findings, `rows_to_hunks` turns rows into
hunks and bytes, `transcript_verdicts` searches the sessions, `rebase` follows a file that changed meanwhile. `decisions`
counts decisions, and `summaries` puts the outcome in a sentence."""

from dreams.services.proposals.checks import check_draft, examine, report_with, subject_of, verdicts_on
from dreams.services.proposals.rows_to_hunks import (
    Texts,
    added_lines,
    bytes_of,
    choices,
    decided_bytes,
    diff_hunk,
    inputs_key,
    memory_type,
    paths,
    text_hunks,
    texts_of,
)
from dreams.services.proposals.saving import (
    OperationMark,
    ProposalOrigin,
    RestoredStat,
    carry_over,
    create,
    open_dream_proposal,
    open_with_origin,
    redraft,
    rejected_hunks,
    save_hunk,
    supersede,
)
from dreams.services.proposals.transcript_verdicts import TranscriptVerdicts
