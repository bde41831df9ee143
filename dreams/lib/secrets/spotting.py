"""Which places of a text are secrets: by their form, by how they are handed over, or by the name that they are given. PURE.

All patterns run on re2, in linear time. `spans` gives places, never the secret's own words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import re2

from dreams.lib.secrets import value_tests
from dreams.lib.secrets.forms import GIVEN, PREFIXED, SHORT

MAX_CHARS = 4_000_000  # of one text; callers hand in files and transcript lines

_NAME = (
    r"password|passwd|passphrase|passcode|pwd|secret|token|credential|api[ _-]?key|access[ _-]?key|secret[ _-]?key|"
    r"private[ _-]?key|auth[ _-]?key|encryption[ _-]?key|signing[ _-]?key|license[ _-]?key|account[ _-]?key|"
    r"(?:pre-?)?shared[ _-]?key|instrumentation[ _-]?key|community string|"
    r"(?:app|write|admin|server|master|service|client)[_-]key|[_-]pass|\b(?:ssh)?pass|_pat|\bpw|[_-]pw|(?:bind|root|admin|db)pw|\b(?:wpa[_-]?)?psk|"
    r"[a-z]_auth|passwort|kennwort|mot de passe|contraseña|senha"
)
_ASSIGNMENT = (
    r"(?i)\b(?P<name>[A-Za-z0-9_.-]*(?:"
    + _NAME
    + r"))(?:[_-](?:prod|dev|staging|test|live|value|base|base64|salt|hex|\d{1,2}))?"
    r"[\\\\\"'`*_]{0,4}(?:\s\([^()\n]{0,60}\))?(?:\s(?:for|of|on|in)\s[\w.@' -]+?)?\s{0,4}(?::=|=>|->|=|:|\bis\b:?|\bist\b|\best\b|\bes\b|\bwas\b|→|\||,\s?[\"'])[*_]{0,2}\s{0,4}(?:b['\"]|[\\\\\"'`]{0,3})(?P<s>[^\s\\\\\"'`,;|<>()\[\]{}]{6,})"
)
# KRAKEN_PRIVATE=…, CUSTOMERIO_KEY=…: a setting in capitals; what only sorts, caches or finds things is no secret.
_SETTING = (
    r"\b(?P<name>[A-Z][A-Z0-9_]*_(?:KEY|PRIVATE|AUTH|CREDENTIALS?|APIKEY|SIGNATURE|SALT|REPORTER_ID|SESSION|PAT|CERT_KEY))"
    r"[\"']?\s{0,2}[=:]\s{0,2}[\"'`]?(?P<s>[^\s\"'`,;|<>()\[\]{}]{16,})"
)
_NO_SECRET_KEY = re.compile(
    r"(?:^|_)(?:CACHE|PRIMARY|FOREIGN|PUBLIC|PUB|SORT|PARTITION|OBJECT|GROUP|HOST|IDEMPOTENCY|I18N|TRANSLATION|ROUTING|LOOKUP)_KEY$"
)
# What every tutorial's database has; nobody is kept out by it.
_SAMPLE_PASSWORDS = frozenset(
    {
        "password",
        "passwd",
        "pass",
        "pwd",
        "postgres",
        "root",
        "secret",
        "guest",
        "test",
        "user",
        "anonymous",
        "anoncvs",
    }
)


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret at text[start:end] (code points), by the rule that knows it."""

    rule: str
    start: int
    end: int


Judge = Callable[[str], bool]
_JUDGES: dict[str, Judge] = {
    "form": lambda value: not value_tests.is_placeholder(value),
    "password": partial(value_tests.looks_secret, "password"),
    "token": partial(value_tests.looks_secret, "token"),
    "told": value_tests.is_told,
    "mixed": value_tests.is_mixed,
    "login": value_tests.is_login,
    "random": partial(value_tests.is_token, least=16),
    "unnamed": lambda value: value_tests.is_token(value) and not value_tests.is_uuid(value),
    "address": lambda value: (
        not (
            value_tests.is_placeholder(value)
            or value_tests.is_reference(value)
            or value.lower() in _SAMPLE_PASSWORDS
        )
        and not (value.isupper() and value.replace("_", "").isalpha())  # TOKEN, DB_PASSWORD
    ),
}
GROUP = 20  # rules


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    judge: Judge
    source: str
    pattern: re.Pattern[str]


def _rule(name: str, judge: str, pattern: str) -> _Rule:
    return _Rule(name, _JUDGES[judge], pattern.replace("?P<s>", "?:"), re2.compile(pattern))


def _rules() -> Iterator[_Rule]:
    for line in PREFIXED.strip().splitlines():
        name, pattern = line.split(None, 1)
        yield _rule(name, "form", _after_underscore(pattern.strip()))
    for line in SHORT.strip().splitlines():
        name, pattern = line.split(None, 1)
        yield _rule(name, "random", pattern.strip())
    for line in GIVEN.strip().splitlines():
        name, judge, pattern = line.split(None, 2)
        yield _rule(name, judge, pattern.strip())


def _after_underscore(pattern: str) -> str:
    """A form that begins a word may also follow an underscore, which file names put between words."""
    if not pattern.startswith(r"\b") or "?P<s>" in pattern:
        return pattern
    return rf"(?:\b|_)(?P<s>{pattern[2:]})"


def _grouped() -> list[tuple[re.Pattern[str], list[_Rule]]]:
    """Rules in groups, each with one pattern that tells whether any of them fits: one for all would outgrow re2's memory."""
    rules = list(_rules())
    groups = [rules[at : at + GROUP] for at in range(0, len(rules), GROUP)]
    return [(re2.compile("|".join(f"(?:{rule.source})" for rule in group)), group) for group in groups]


_GROUPS = _grouped()
_ASSIGNED = re2.compile(_ASSIGNMENT)
_SET = re2.compile(_SETTING)


def spans(text: str) -> list[SecretSpan]:
    """Where secrets stand in `text`, in order, none overlapping; placeholders and references are none."""
    text = _encodable(text[:MAX_CHARS])
    found = [*_prefixed(text), *_assigned(text)]
    return list(_apart(sorted(found, key=_place)))


def _place(span: SecretSpan) -> tuple[int, int, bool]:
    """In order; of those that begin at one place the longest, and what a sentence tells last."""
    return span.start, -span.end, span.rule.startswith("told-")


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


def _by_rules(text: str, group: list[_Rule]) -> Iterator[SecretSpan]:
    for rule in group:
        for match in rule.pattern.finditer(text):
            start, end = match.span(rule.pattern.groupindex.get("s", 0))
            value = text[start:end] if rule.judge is _JUDGES["form"] else _ended(text[start:end])
            if rule.judge(value):
                yield SecretSpan(rule.name, start, start + len(value))


def _ended(value: str) -> str:
    """Without what ends a sentence: "is required!" is no password, "hunter2!" is one."""
    bare = value.rstrip(".:!?*_")
    return bare + "!" if value.endswith("!") and any(map(str.isdigit, bare)) else bare


def _assigned(text: str) -> Iterator[SecretSpan]:
    for match in _ASSIGNED.finditer(text):
        start, value = match.start(_ASSIGNED.groupindex["s"]), _ended(match["s"])
        if text[match.end() : match.end() + 1] == "(":  # what is called gives the secret, and is none
            continue
        if value_tests.looks_secret(match["name"], value):
            yield SecretSpan("assigned-secret", start, start + len(value))
    for match in _SET.finditer(text):
        start, value = match.start(_SET.groupindex["s"]), _ended(match["s"])
        if not _NO_SECRET_KEY.search(match["name"]) and value_tests.is_token(value, 16):
            yield SecretSpan("assigned-secret", start, start + len(value))


def _apart(ordered: list[SecretSpan]) -> Iterator[SecretSpan]:
    end = -1
    for span in ordered:
        if span.start >= end:
            yield span
            end = span.end
