"""Whether what is claimed stands in a session: bound, not only present. Pure: no Django.

`read` a transcript into `Evidence` once, then `check` claims against it, each before its own line (`verdict`). What is read:
`sessions`, `evidence`, `terms`. What is asked: `anchors`, and the `field` in which they should be. `wordings` finds what is
said in the same words; `binding` weighs names and numbers by their `occurrences` and `neighbours`; `polarity` weighs what
is denied or turned.
"""

from .evidence import Evidence
from .sessions import read
from .verdict import Quote, Verdict, check, stands

__all__ = ["Evidence", "Quote", "Verdict", "check", "read", "stands"]
