"""Transcripts (JSON lines) → typed records, rows and pages. Pure: no Django.

`scan` feeds the database, `page` and `find_quote` feed the session page and evidence, `change` and `same_stat`
tell whether a file needs to be read at all. `read_ahead` reads many files on all cores, `search` finds words in one.
"""

from dreams.lib.agents.transcripts.reader import FileGrowth, FileMark, begins_as, change, same_stat
from dreams.lib.agents.transcripts.records import FIRST_YEAR, key64
from dreams.lib.agents.transcripts.scan import Summary
from dreams.lib.agents.transcripts.search import Match, find_quote
from dreams.lib.agents.transcripts.turns import answered

from .reader import Cancelled, Cursor, Reader
from .scan import Batch, Prompt, Scan, scan, uuid_key
from .turns import Turn, TurnPart, line_at, page
from .typed_prompts import is_correction
from .usage import UsageRow, keep_best
from .whole_file import FileStat, Whole, identity_of, read_whole, seen
