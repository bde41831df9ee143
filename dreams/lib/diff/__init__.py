"""Differences between two texts: hunks to decide on, words to mark, rows to show. PURE.

Text is `str` with lines ending at "\\n" only, decoded by the caller from UTF-8 with surrogates for invalid bytes, so that
CRLF, lone carriage returns, odd separators and undecodable bytes stay unchanged.
"""

from dreams.lib.diff.hunks import (
    Choice,
    Granularity,
    Hunk,
    HunkMismatchError,
    apply_hunks,
    fitted,
    hunks,
    line_changes,
)
from dreams.lib.diff.invisible import is_hidden, is_plain, visible
from dreams.lib.diff.lines import line_end_of, split_lines
from dreams.lib.diff.moves import HunkLine, Move, moved, moved_within, renamed
from dreams.lib.diff.rows import DiffRow, hunk_rows, pieces, rows
from dreams.lib.diff.words import CharacterSpan, tokens, word_spans
