"""Finds secrets in added lines (block) and in existing ones (warn). PURE.

A finding has the rule, the place and a keyed hash, never the secret itself.
"""

import hashlib
import hmac
import os
from collections.abc import Iterator
from dataclasses import replace

from dreams.findings.base import NewFinding, Subject
from dreams.findings.lines import CheckedLine, added_lines, found_at
from dreams.lib.files.text import decode
from dreams.lib.secrets.forms import spoken
from dreams.lib.secrets.spotting import SecretSpan, is_for_apps, spans

CHECK = "secrets"
_key = [os.urandom(32)]  # until `use_key`; a plain hash of a short password could be guessed


def use_key(key: bytes) -> None:
    """Set the host's key, so that confirmations stay valid across processes."""
    _key[0] = hashlib.sha256(b"findings.secrets\0" + key).digest()


def fingerprint(secret: str) -> str:
    """A keyed hash of a secret, equal for the same secret on the same host."""
    return hmac.new(_key[0], secret.encode("utf-8", "surrogatepass"), "sha256").hexdigest()[:16]


def check(subject: Subject) -> Iterator[NewFinding]:
    fresh: dict[tuple[str, int], CheckedLine] = {
        (line.path, line.number): line for line in added_lines(subject)
    }
    for path in sorted(subject.after):
        yield from _in_file(path, subject.after[path], fresh)
    for line in fresh.values():
        # Lines of a file that the new state does not have are checked separately.
        if line.path not in subject.after:
            yield from (_added(line, span, line.text) for span in spans(line.text))


def standing(subject: Subject) -> Iterator[NewFinding]:
    for path in sorted(subject.after):
        yield from _in_file(path, subject.after[path], {})


def _in_file(path: str, data: bytes, fresh: dict[tuple[str, int], CheckedLine]) -> Iterator[NewFinding]:
    """Secrets of a whole file, because a private key spans several lines."""
    text = decode(data)
    for span in spans(text):
        first = text.count("\n", 0, span.start) + 1
        last = first + text.count("\n", span.start, span.end)
        line = next((fresh[path, n] for n in range(first, last + 1) if (path, n) in fresh), None)
        yield _added(replace(line, number=first), span, text) if line else _stands(path, first, span, text)


def _added(line: CheckedLine, span: SecretSpan, text: str) -> NewFinding:
    return found_at(
        line,
        CHECK,
        f"secret-{span.rule}",
        "block",
        f"adds what looks like a secret ({spoken(span.rule)})",
        "Edit the change and remove the secret, or reject it. If the secret is still valid, revoke it.",
        about=fingerprint(text[span.start : span.end]),
    )


def _stands(path: str, number: int, span: SecretSpan, text: str) -> NewFinding:
    """A warning for an existing secret; for a key that apps show publicly only information."""
    of_app = is_for_apps(text, span)
    what = "a key that apps show" if of_app else "what looks like a secret"
    act = (
        "If only a server uses it, redact and revoke it"
        if of_app
        else "Redact it, and revoke it if it is still valid"
    )
    return found_at(
        CheckedLine(path, number, ""),
        CHECK,
        f"standing-secret-{span.rule}",
        "info" if of_app else "warn",
        f"already holds {what} ({spoken(span.rule)})",
        f"{act}: every session loads it.",
        about=fingerprint(text[span.start : span.end]),
    )
