"""Proposals as rows: `saving` makes and checks them (`subjects` is what the checks look at, `reports` what they said), `reading`
turns rows into hunks and bytes, `hearing` asks the sessions, `rebase` follows a file that changed meanwhile. `decisions`
counts what is to be decided, and `summaries` says in a sentence what was."""

from dreams.services.proposals.hearing import Hearing, of_dream
from dreams.services.proposals.reading import (
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
    Origin,
    Restored,
    create,
    examine,
    listened,
    redraft,
    report_with,
    save_hunk,
    save_hunks,
)
from dreams.services.proposals.subjects import (
    carry_over,
    open_for,
    open_of,
    rejected_before,
    subject_of,
    subject_of_draft,
    supersede,
)

__all__ = [
    "Hearing",
    "Mark",
    "Origin",
    "Restored",
    "Texts",
    "added_lines",
    "bytes_of",
    "carry_over",
    "choices",
    "create",
    "decided_bytes",
    "examine",
    "inputs_key",
    "lines_of",
    "listened",
    "memory_type",
    "of_dream",
    "open_for",
    "open_of",
    "redraft",
    "rejected_before",
    "report_with",
    "save_hunk",
    "save_hunks",
    "subject_of",
    "subject_of_draft",
    "supersede",
    "text_hunks",
    "texts_of",
]
