"""Transcripts (JSON lines) → typed records, rows and pages. Pure: no Django.

`scan` feeds the database, `page`, `line_at` and `find_quote` feed the session page and evidence, `change` and `same_stat`
say whether a file needs to be read at all. `read_ahead` reads many files on all cores, `search` finds words in one.
"""

from dreams.lib.agents.transcripts.reader import Change, FileMark, change, same_stat
from dreams.lib.agents.transcripts.records import key64
from dreams.lib.agents.transcripts.scan import Summary
from dreams.lib.agents.transcripts.search import Match, find_quote, offset_at
from dreams.lib.agents.transcripts.turns import answered

from .reader import Cancelled, Cursor, Problem, Reader
from .records import Line
from .scan import Batch, MemoryWrite, Prompt, Scan, scan, uuid_key
from .turns import Page, Part, Turn, line_at, line_number, page
from .typed import is_correction, typed_text
from .usage import UsageRow, better, keep_best, without_replays
from .whole_file import Seen, TooMuch, Whole, identity_of, read_whole, seen

__all__ = [
    "Batch",
    "Cancelled",
    "Change",
    "Cursor",
    "FileMark",
    "Line",
    "Match",
    "MemoryWrite",
    "Page",
    "Part",
    "Problem",
    "Prompt",
    "Reader",
    "Scan",
    "Seen",
    "Summary",
    "TooMuch",
    "Turn",
    "UsageRow",
    "Whole",
    "answered",
    "better",
    "change",
    "find_quote",
    "identity_of",
    "is_correction",
    "keep_best",
    "key64",
    "line_at",
    "line_number",
    "offset_at",
    "page",
    "read_whole",
    "same_stat",
    "scan",
    "seen",
    "typed_text",
    "uuid_key",
    "without_replays",
]
