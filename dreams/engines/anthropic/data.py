"""Text of transcripts and files on its way to the model: redacted, made visible, and fenced in as data. PURE.

What stands in a transcript may have been written by anybody. It reaches the model between tags of ours that nothing
inside can close or open.
"""

from __future__ import annotations

import re

from dreams.lib.diff import visible
from dreams.lib.secrets import redact

# Our tags have a beginning of their own, so that ordinary mark-up in a note stays as it is.
TAG = "dream-"
_TAG = re.compile(rf"<(?=\s*/?\s*{TAG})", re.IGNORECASE)


def clean(text: str) -> str:
    """Without secrets, and with every invisible character written out."""
    return visible(redact.redact(text))


def fenced(tag: str, text: str, **attributes: object) -> str:
    """`text` as data between tags."""
    named = "".join(f' {name}="{attribute(value)}"' for name, value in attributes.items())
    return f"<{TAG}{tag}{named}>\n{_TAG.sub('&lt;', clean(text))}\n</{TAG}{tag}>"


def bare(text: str) -> str:
    """What stands between the tags of `fenced`, for a person; also of a text that was cut short."""
    first, _, rest = text.partition("\n")
    inside = rest if first.startswith(f"<{TAG}") else text
    before, _, last = inside.rstrip().rpartition("\n")
    return before if last.startswith(f"</{TAG}") else inside


def attribute(value: object) -> str:
    """One line that cannot leave its quotes."""
    flat = " ".join(clean(str(value)).split())[:300]
    return flat.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
