"""Whether what is claimed stands in a session: bound, not only present. Pure: no Django.

`read` a transcript into `Evidence` once, then `check` claims against it, each before its own line.
"""

from .evidence import Evidence
from .reading import read
from .verdict import Quote, Verdict, check, stands

__all__ = ["Evidence", "Quote", "Verdict", "check", "read", "stands"]
