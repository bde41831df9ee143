"""What looks like a secret is never learnt: better to miss a sentence than to keep a key. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter

_SHAPES = re.compile(
    r"-----BEGIN|\b(?:sk|pk|rk)[-_](?:live|test|ant|proj|or)?[-_]?\w{12,}|\bgh[pousr]_\w{16,}|\bgithub_pat_\w+|\bglpat-[\w-]{12,}"
    r"|\bAKIA[0-9A-Z]{8,}|\bxox[abprs]-[\w-]{8,}|\bAIza[\w-]{20,}|\bya29\.[\w-]+|\beyJ[\w-]{8,}\.[\w-]{8,}|\bnpm_\w{20,}|\bhf_\w{16,}"
    r"|://[^/\s:@]+:[^/\s:@]+@|\bbearer\s+[\w.-]{12,}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|(?:api|access|private|secret|auth|license)[-_ ]?key|pin)s?\b"
    r"[^.\n]{0,40}?(?:\bis\b|[:=])\s*[\"'`]?(?P<value>[^\s\"'`]{4,})",
    re.IGNORECASE,
)
# Here even a plain word is one: "the password is swordfish".
_PASSWORD = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|pwd|pin)\s*(?:\bis\b|[:=])\s*(?!(?:in|not|stored|kept|set|read|the|a|an|required|"
    r"never|always|only|managed|taken|from|at|on|rotated|hashed|optional)\b)\S",
    re.IGNORECASE,
)
_CUT_OUT = re.compile(r"\[redacted\b", re.IGNORECASE)
_LONG = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_PLAIN_VALUE = re.compile(r"[a-z]+[.,;]?|[a-z]+(?:[-_/][a-z]+)+[.,;]?", re.IGNORECASE)


def looks_secret(text: str) -> bool:
    """A key's shape, a value beside the word "password", a long run without sense, or the mark of what was cut out before."""
    if _CUT_OUT.search(text) or _SHAPES.search(text) or _PASSWORD.search(text):
        return True
    if any(not _PLAIN_VALUE.fullmatch(match["value"]) for match in _NAMED.finditer(text)):
        return True
    return any(_is_random(run) for run in _LONG.findall(text))


def _is_random(run: str) -> bool:
    mixed = any(map(str.isdigit, run)) and any(map(str.isalpha, run))
    counts = Counter(run)
    entropy = -sum(n / len(run) * math.log2(n / len(run)) for n in counts.values())
    return mixed and entropy > 3.5 and not re.fullmatch(r"[A-Za-z]+(?:[-_/]\w{1,12})+", run)
