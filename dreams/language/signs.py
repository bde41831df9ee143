"""What single marks say: boxes and signs of success or failure, and whether a text asks. Pure."""

from __future__ import annotations

import re

from dreams.language.words import code_spans

_QUOTES = "\"'”’“‘"
_SIGNS = {
    "[x]": "done", "✅": "done", "✔": "done", "☑": "done", "[ ]": "open", "☐": "open", "⬜": "open", "🚧": "open", "⏳": "open",
    "❌": "failed", "✗": "failed", "✘": "failed", "🔴": "failed", "⚠": "warned", "🟡": "warned", "🟢": "done",
}  # fmt: skip
_SIGN = re.compile("|".join(re.escape(sign) for sign in _SIGNS), re.IGNORECASE)


def signs(text: str) -> frozenset[str]:
    if text.isascii() and "[" not in text:  # the common case, spared a long search
        return frozenset()
    code = code_spans(text)
    return frozenset(
        _SIGNS[match[0].lower()]
        for match in _SIGN.finditer(text)
        if not any(start <= match.start() < end for start, end in code)  # `[ ]` is a character class
    )


def asks(text: str) -> bool:
    """Whether it ends in a question of its own, and not in one that it quotes."""
    bare = text.strip(" *_`)")
    quoted = bare[-1:] in _QUOTES and bare[:1] not in _QUOTES
    return not quoted and bare.rstrip(" *_)`" + _QUOTES).endswith("?")
