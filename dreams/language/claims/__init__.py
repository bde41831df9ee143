"""Whether what is claimed stands in a session: bound, not only present. Pure: no Django.

`read` a transcript into `Evidence` once, then `check` claims against it, each before its own line. Here stands what is read
(`reading`, `layout`, `terms`, `evidence`), what is asked (`anchors`, `field`) and what is found word for word (`verbatim`,
`wordings`); `binding` weighs names and numbers, `denials` weighs what is denied or turned.
"""

from .evidence import Evidence
from .reading import read
from .verdict import Quote, Verdict, check, stands

__all__ = ["Evidence", "Quote", "Verdict", "check", "read", "stands"]
