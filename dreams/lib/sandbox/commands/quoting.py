"""Names as GNU's tools quote them for a shell, in the C locale."""

from __future__ import annotations

import re

_NEEDS_QUOTES = re.compile(rb"[ !\"$&()*;<=>\[^`|?\\']|^[~#]|^$|^[{}]$")
_ODD = re.compile(rb"[^\x20-\x7e]+")
_LETTERS = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r"}


def shell_quoted(name: bytes, *, always: bool = False) -> bytes:
    """In quotes where a shell would need them (or always); what does not print as `$'\\n'`."""
    if not (always or _NEEDS_QUOTES.search(name) or _ODD.search(name)):
        return name
    if b"'" in name and not re.search(rb'["$`\\\\]|[^\x20-\x7e]', name):
        return b'"' + name + b'"'
    escaped = _ODD.sub(lambda found: b"'$'" + _escaped(found[0]) + b"''", name.replace(b"'", b"'\\''"))
    return b"'" + (escaped.removesuffix(b"''") if _ODD.search(name[-1:]) else escaped + b"'")


def _escaped(data: bytes) -> bytes:
    return b"".join(b"\\" + (_LETTERS[byte] if byte in _LETTERS else b"%03o" % byte) for byte in data)
