"""Checks whether a session supports a claim: its names and numbers must belong together there, not just appear. Pure: no Django.

`read` a transcript into `SessionText` once, then `check` claims against it, each before its own line. `sessions` and `evidence`
read; `anchors` takes a claim apart; `occurrences` finds its names and their company; `binding` weighs how they go together;
`wordings` finds the same words, `polarity` what is denied or turned; `answers` asks them in turn.
"""

from .answers import ClaimCheck, check, stands
from .evidence import SessionText
from .sessions import read
