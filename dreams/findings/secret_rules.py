"""Which places of a text are secrets: by their form (`secret_forms`), or by the name that they are given. PURE.

All patterns run on re2, in linear time. `spans` gives places, never the secret's own words.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import re2

from dreams.findings.secret_forms import PREFIXED

MAX_CHARS = 4_000_000  # of one text; callers hand in files and transcript lines

_NAME = (
    r"password|passwd|passphrase|passcode|pwd|secret|token|credential|api[ _-]?key|access[ _-]?key|secret[ _-]?key|"
    r"private[ _-]?key|auth[ _-]?key|encryption[ _-]?key|signing[ _-]?key|license[ _-]?key|account[ _-]?key|"
    r"(?:app|write|admin|server|master|service|client)[_-]key|[_-]pass|_pat|\bpw|[_-]pw|passwort|kennwort|mot de passe|contraseña|senha"
)
_ASSIGNMENT = (
    r"(?i)\b(?P<name>[A-Za-z0-9_.-]{0,40}(?:"
    + _NAME
    + r"))(?:[_-](?:prod|dev|staging|test|live|value|base|base64|salt|hex|\d{1,2}))?"
    r"[\\\\\"'`*_]{0,4}(?:\s\([^()\n]{0,60}\))?\s{0,4}(?::=|=>|->|=|:|\bis\b|\bist\b|\best\b|\bes\b|\bwas\b|→|\||,\s?[\"'])[*_]{0,2}\s{0,4}[\\\\\"'`]{0,3}(?P<s>[^\s\\\\\"'`,;|<>()\[\]{}]{6,})"
)
_BODY_PLACEHOLDER = re.compile(
    r"example|placeholder|x{4,}|\*{3,}|\.{3,}|…|redacted|changeme|change[-_]me|replace[-_ ]?(?:me|with|this)|your[-_ ]|dummy|insert[-_]|<|>|⟨|\[|0{8,}|1234567890?abc",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"^(?:\$|!\w+$|%[A-Z_]+%$|process\.env|os\.(?:environ|getenv)|env[.\[(]|ENV[.\[]|secrets?\.|vault:|op://|ref:|arn:|file:|@|/|~/|\./|\{\{|import\.meta|https?://)",
)
_NOT_A_VALUE = re.compile(
    r"^(?:true|false|none|null|undefined|required|optional|string|str|bytes|int|number|bool)\b", re.IGNORECASE
)
# What every tutorial's database has; nobody is kept out by it.
_SAMPLE_PASSWORDS = frozenset(
    {"password", "passwd", "pass", "pwd", "postgres", "root", "secret", "guest", "test", "user"}
)
_SAMPLE = re.compile(
    r"(?:test|demo|sample|admin|passw(?:or|0r)d|secret|qwerty|letmein|welcome|user|foobar)\d{0,4}",
    re.IGNORECASE,
)
_DIGEST = re.compile(r"(?:sha\d{1,3}|md5|blake2\w?)[:-][0-9a-fA-F+/=]{16,}$|[a-z]+\d+\.\w+$")
_STEP = (
    r"(?:[a-z0-9._-]+|[A-Z0-9_-]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*)"  # of a path; what is random mixes both cases
)
_PATH = re.compile(rf"(?:{_STEP}/)+{_STEP}?")
_PASSWORDS = re.compile(r"pass|pwd|kennwort|contraseña|senha", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret at text[start:end] (code points), by the rule that knows it."""

    rule: str
    start: int
    end: int


def _table() -> list[tuple[str, str]]:
    rows = [line.split(None, 1) for line in PREFIXED.strip().splitlines()]
    return [(rule, pattern.strip()) for rule, pattern in rows]


GROUP = 27  # rules
_RULES = [(rule, re2.compile(pattern)) for rule, pattern in _table()]


def _grouped() -> list[tuple[re.Pattern[str], list[tuple[str, re.Pattern[str]]]]]:
    """Rules in groups, each with one pattern that tells whether any of them fits: one for all would outgrow re2's memory."""
    groups = [_RULES[at : at + GROUP] for at in range(0, len(_RULES), GROUP)]
    forms = [pattern.replace("?P<s>", "?:") for _, pattern in _table()]
    return [
        (re2.compile("|".join(f"(?:{form})" for form in forms[at * GROUP : (at + 1) * GROUP])), group)
        for at, group in enumerate(groups)
    ]


_GROUPS = _grouped()
_ASSIGNED = re2.compile(_ASSIGNMENT)


def spans(text: str) -> list[SecretSpan]:
    """Where secrets stand in `text`, in order, none overlapping; placeholders and references are none."""
    text = _encodable(text[:MAX_CHARS])
    found = [*_prefixed(text), *_assigned(text)]
    return list(_apart(sorted(found, key=lambda span: (span.start, -span.end))))


def _encodable(text: str) -> str:
    """Lone surrogates, which re2 cannot take, as one other character each, so that places stay."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def _prefixed(text: str) -> Iterator[SecretSpan]:
    for any_of_them, group in _GROUPS:
        if any_of_them.search(text):
            yield from _by_rules(text, group)


def _by_rules(text: str, group: list[tuple[str, re.Pattern[str]]]) -> Iterator[SecretSpan]:
    for rule, pattern in group:
        for match in pattern.finditer(text):
            start, end = match.span(pattern.groupindex.get("s", 0))
            if _is_live(rule, text[start:end]):
                yield SecretSpan(rule, start, end)


def _assigned(text: str) -> Iterator[SecretSpan]:
    for match in _ASSIGNED.finditer(text):
        start = match.start(_ASSIGNED.groupindex["s"])
        value = match["s"].rstrip(".:!?*_")
        if match["s"].endswith("!") and any(map(str.isdigit, value)):
            value += "!"  # "is required!" ends a sentence
        if _looks_secret(match["name"], value):
            yield SecretSpan("assigned-secret", start, start + len(value))


def _apart(ordered: list[SecretSpan]) -> Iterator[SecretSpan]:
    end = -1
    for span in ordered:
        if span.start >= end:
            yield span
            end = span.end


def _is_live(rule: str, value: str) -> bool:
    """A form that prose can have too needs a random look besides."""
    if rule in {"bearer", "cookie", "registry-login"}:
        return _looks_secret(rule, value)
    if rule in {"given-password", "netrc-login"}:
        return _looks_secret("password", value)
    if rule == "url-credentials" and (_REFERENCE.match(value) or value.lower() in _SAMPLE_PASSWORDS):
        return False
    return not _is_placeholder(value)


def _is_placeholder(value: str) -> bool:
    return (len(set(value)) < 6 and len(value) >= 8) or bool(_BODY_PLACEHOLDER.search(value))


def _looks_secret(name: str, value: str) -> bool:
    """Random-looking: prose, identifiers, paths and placeholders behind "token:" are none."""
    if _is_placeholder(value) or _REFERENCE.match(value) or _NOT_A_VALUE.match(value) or _DIGEST.match(value):
        return False
    if _PATH.fullmatch(value) or _SAMPLE.fullmatch(value):
        return False
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    marks = any(not char.isalnum() and char not in "-_./:" for char in value)
    if _PASSWORDS.search(name):
        return len(value) >= 6 and letters and (digits or marks) and not _is_dotted(value)
    if len(value) < 12 or not letters or not digits or _is_dotted(value):
        return False
    return entropy(value) >= 3.0


def _is_dotted(value: str) -> bool:
    """A path, a call, a member of something, or a version: code, not a value."""
    return not _is_mixed(value) and bool(
        re.fullmatch(r"[A-Za-z_][A-Za-z_]*\d{0,2}(?:[./:-][A-Za-z_]+\d{0,2})*[/.]?|[\d.]+", value)
    )


def _is_mixed(value: str) -> bool:
    """Upper and lower case as by chance, unlike CamelCase."""
    turns = sum(
        a.isupper() != b.isupper() for a, b in itertools.pairwise(value) if a.isalpha() and b.isalpha()
    )
    return turns >= 5 and 0.3 <= sum(map(str.isupper, value)) / len(value) <= 0.7


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
