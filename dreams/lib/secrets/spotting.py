"""Finds secrets in a text: by their format, by the way they are passed on, or by the name before them. PURE.

All patterns run on re2, in linear time. `spans` returns positions, never a secret's text."""

import base64
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial

import re2

from dreams.lib.secrets.forms import GIVEN, PREFIXED, SHORT

LEAST_PASSWORD = 8  # characters of a password in prose without a sign before it
LEAST_TOKEN = 20  # letters of a token without digits; chosen
_BODY_PLACEHOLDER = re.compile(
    r"example|placeholder|x{4,}|\*{3,}|\.{3,}|…|redacted|changeme|change[-_]me|replace[-_ ]?(?:me|with|this)|your[-_ ]|dummy|insert[-_]|<|>|⟨|\[|0{8,}|1234567890?abc",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"^(?:\$|!\w+$|%[A-Z_]+%$|%\(|process\.env|os\.(?:environ|getenv)|env[.\[(]|ENV[.\[]|secrets?\.|vault:|op://|ref:|arn:|file:|@|/|~/|\./|[A-Za-z]:[\\/]|\{\{|import\.meta|https?://)",
)
_NOT_A_VALUE = re.compile(
    r"^(?:true|false|none|null|undefined|required|optional|string|str|bytes|int|number|bool)\b", re.IGNORECASE
)
_SAMPLE = re.compile(
    r"(?:test|demo|sample|admin|passw(?:or|0r)d|secret|qwerty|letmein|welcome|user|foobar)\d{0,4}",
    re.IGNORECASE,
)
# Only such words, of which one means tests: "E2e!Passw0rd".
_FOR_TESTS = re.compile(
    r"(?=.*(?:test|demo|sample|fake|e2e))"
    r"(?:(?:test|demo|sample|fake|e2e|passw(?:or|0r)d|pass|secret|token|user|admin)[\W\d_]{0,6})+",
    re.IGNORECASE,
)
_COMPOUND = re.compile(r"\d{1,4}(?:-[^\W\d_]{3,})+")  # "256-bit-random"
_DIGEST = re.compile(
    r"(?:sha\d{1,3}|md5|blake2\w?)[:-][0-9a-fA-F+/=]{16,}$|(?i:crc)\d{0,2}[=:](?:0x)?[0-9a-fA-F]{4,16}$|[a-z]+\d+\.\w+$"
    r"|0x[0-9a-fA-F]{40}$"  # the address of a blockchain contract or account: "Token | 0x…"; a key has 64 digits
)
_CALL = re.compile(
    r"(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*$|[\w./*-]+\.(?:py|js|ts|go|rs|rb|sh|md|json|ya?ml|toml|txt|csv|xml|log|bin|img|zip|gz)\b"
)
_STEP = (
    r"(?:[a-z0-9._-]+|[A-Z0-9_-]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+)*)"  # of a path; a random text mixes both cases
)
_PATH = re.compile(rf"(?:{_STEP}/)+{_STEP}?")
# A cloud action, an amount of money, or a result ("R01=PASS"), which lines about logins or accounts also contain.
_NO_WORD = re.compile(r"[a-z][a-z0-9-]*:[A-Z][A-Za-z]+\*?|[$€£]?\d[\d.,]*%.*|[A-Z]+\d+=(?:PASS|FAIL|SKIP|OK)|(?:acct|cus|evt|msg|price|prod|req|sub|toolu)_\w{10,}")  # fmt: skip
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PASSWORDS = re.compile(r"pass|pwd|kennwort|contraseña|senha|clave|psk|\bpw|[a-z_]pw$", re.IGNORECASE)
_BARE = re.compile(r"(?:^|[^a-z])(?:pass|auth)$", re.IGNORECASE)
_MARKS = frozenset("!#%^&*+?~=@$")


def is_placeholder(value: str) -> bool:
    """Whether a value is a placeholder, by its words or because it has few different characters."""
    return (len(set(value)) < 6 and len(value) >= 8) or bool(_BODY_PLACEHOLDER.search(value))


def is_reference(value: str) -> bool:
    """Whether it is a variable, a place in a vault, a path or an address, where the secret is stored."""
    return bool(_REFERENCE.match(value))


def looks_secret(name: str, value: str) -> bool:
    """Whether the value of `name` looks random, unlike prose, identifiers, paths and placeholders after "token:"."""
    if is_placeholder(value) or is_reference(value) or _NOT_A_VALUE.match(value) or _DIGEST.match(value):
        return False
    if any(form.fullmatch(value) for form in (_PATH, _SAMPLE, _FOR_TESTS, _COMPOUND)):
        return False
    if _BARE.search(name):  # other things are also written as "pass: 12_tests" and "auth: oauth2"
        return is_told(value) or is_token(value)
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    if _PASSWORDS.search(name):
        marks = any(not char.isalnum() and char not in "-_./:" for char in value)
        by_chance = len(value) >= 12 and _is_mixed(value)
        return len(value) >= 6 and letters and (digits or marks or by_chance) and not _is_dotted(value)
    if len(value) < 12 or not letters or _is_dotted(value):
        return False
    return entropy(value) >= 3.0 and (digits or (len(value) >= LEAST_TOKEN and _is_mixed(value)))


def is_told(value: str) -> bool:
    """Whether a word of a sentence is a password: letters and digits mixed at random, or with a mark among them.

    Names have few changes between letters and digits: "OAuth2Client", "argon2id", "us-east-1".
    """
    if len(value) < LEAST_PASSWORD or _names_something(value):
        return False
    kinds = {_kind(char) for char in value if char.isalnum()}
    if len(kinds | ({"mark"} if _MARKS.intersection(value) else set())) < 3 or "digit" not in kinds:
        return False
    inner = value[1:-1]
    return _turns(value) >= (0.3 if _MARKS.intersection(inner) else 0.45) * (len(value) - 1)


def is_mixed(value: str) -> bool:
    """Whether a word is a password without any context: capitals, small letters, digits and a mark inside."""
    kinds = {_kind(char) for char in value if char.isalnum()}
    return (
        len(value) >= LEAST_PASSWORD + 2
        and len(kinds) == 3
        and bool(_MARKS.intersection(value[1:-1]))
        and is_told(value)
    )


def is_token(value: str, least: int = LEAST_TOKEN) -> bool:
    """Whether a long word is a token: digits throughout, or upper and lower case at random."""
    if len(value) < least or _names_something(value) or value.isdigit():
        return False
    return sum(map(str.isdigit, value)) >= 2 and _turns(value) >= 0.25 * len(value) and entropy(value) >= 3.0


def is_login(value: str) -> bool:
    """Whether it is a name and password of an HTTP header: "name:password" in base64."""
    try:
        name, colon, password = base64.b64decode(value, validate=True).decode("ascii").partition(":")
    except ValueError:
        return False
    return bool(colon) and f"{name}{password}".isprintable() and not is_placeholder(f"{name}:{password}")


def _names_something(value: str) -> bool:
    if is_placeholder(value) or is_reference(value) or _DIGEST.match(value) or _CALL.match(value):
        return True
    return any(form.fullmatch(value) for form in (_PATH, _SAMPLE, _FOR_TESTS, _NO_WORD))


def _kind(char: str) -> str:
    return "digit" if char.isdigit() else "upper" if char.isupper() else "lower"


def _turns(value: str) -> int:
    """How often the kind of character changes; a sign between two words does not count."""
    plain = [_kind(char) if char.isalnum() else "mark" for char in value if char.isalnum() or char in _MARKS]
    return sum(a != b for a, b in itertools.pairwise(plain))


def _is_dotted(value: str) -> bool:
    """Whether it is a path, a call, an attribute or a version: code, not a value."""
    return not _is_mixed(value) and bool(
        re.fullmatch(r"[A-Za-z_][A-Za-z_]*\d{0,2}(?:[./:-][A-Za-z_]+\d{0,2})*[/.]?|[\d.]+", value)
    )


def _is_mixed(value: str) -> bool:
    """Whether upper and lower case are mixed at random, unlike CamelCase."""
    turns = sum(
        a.isupper() != b.isupper() for a, b in itertools.pairwise(value) if a.isalpha() and b.isalpha()
    )
    return turns >= 5 and 0.3 <= sum(map(str.isupper, value)) / len(value) <= 0.7


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


LONGEST_KEPT = 16_384  # characters of a text whose secrets are remembered: some 64 MB at most
MAX_CHARS = 4_000_000  # of one text; callers pass files and transcript lines

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
# KRAKEN_PRIVATE=…, CUSTOMERIO_KEY=…: a setting in capitals; keys for sorting, caching or lookups are no secrets.
_SETTING = (
    r"\b(?P<name>[A-Z][A-Z0-9_]*_(?:KEY|PRIVATE|AUTH|CREDENTIALS?|APIKEY|SIGNATURE|SALT|REPORTER_ID|SESSION|PAT|CERT_KEY))"
    r"[\"']?\s{0,2}[=:]\s{0,2}[\"'`]?(?P<s>[^\s\"'`,;|<>()\[\]{}]{16,})"
)
_NO_SECRET_KEY = re.compile(
    r"(?:^|_)(?:CACHE|PRIMARY|FOREIGN|PUBLIC|PUB|SORT|PARTITION|OBJECT|GROUP|HOST|IDEMPOTENCY|I18N|TRANSLATION|ROUTING|LOOKUP)_KEY$"
)
# Passwords of databases in tutorials, which protect nothing.
_SAMPLE_PASSWORDS = frozenset(
    {
        "password",
        "passwd",
        "pass",
        "pwd",
        "postgres",
        "root",
        "secret",
        "token",
        "guest",
        "test",
        "user",
        "anonymous",
        "anoncvs",
    }
)


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret at text[start:end] (code points), and the rule that found it."""

    rule: str
    start: int
    end: int


Judge = Callable[[str], bool]
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{20,}")
_JUDGES: dict[str, Judge] = {
    "form": lambda value: not (is_placeholder(value) or _FOR_TESTS.fullmatch(value.partition("-")[2])),
    # Only its key lines: quote marks or list dashes around them do not make it a placeholder.
    "block": lambda value: not all(map(is_placeholder, _KEY_LINE.findall(value))),
    "password": partial(looks_secret, "password"),
    "token": partial(looks_secret, "token"),
    "told": is_told,
    "mixed": is_mixed,
    "login": is_login,
    "random": partial(is_token, least=16),
    "unnamed": lambda value: is_token(value) and not _UUID.fullmatch(value),
    "address": lambda value: (
        not (is_placeholder(value) or is_reference(value) or value.lower() in _SAMPLE_PASSWORDS)
        and not (value.isupper() and value.replace("_", "").isalpha())  # TOKEN, DB_PASSWORD
    ),
}
GROUP = 20  # rules


@dataclass(frozen=True)
class _Rule:
    """`form` is its pattern, which is compiled on first use: most never are."""

    name: str
    judge: Judge
    form: str

    @property
    def source(self) -> str:
        return self.form.replace("?P<s>", "?:")

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        built: re.Pattern[bytes] = re2.compile(self.form)
        return built


def _rule(name: str, judge: str, pattern: str) -> _Rule:
    return _Rule(name, _JUDGES[judge], pattern)


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
    """Lets a pattern for the start of a word also match after an underscore, as in file names."""
    if not pattern.startswith(r"\b") or "?P<s>" in pattern:
        return pattern
    return rf"(?:\b|_)(?P<s>{pattern[2:]})"


class _Prefixed:
    """Selects the rules that may match a text: those whose fixed words (`ghp_`, `password`) are in it.

    Rules without a fixed word are in groups; one pattern per group tells whether any of its rules matches.
    """

    def __init__(self, rules: list[_Rule]) -> None:
        self._rules, self._filter = rules, re2.Filter()
        for rule in rules:
            self._filter.Add(rule.source)
        self._filter.Compile()
        always = set(self._filter.Match("", potential=True) or ())
        self._worded = frozenset(range(len(rules))) - always
        wordless = sorted(always)
        groups = [wordless[at : at + GROUP] for at in range(0, len(wordless), GROUP)]
        self._groups = [
            (re2.compile("|".join(f"(?:{rules[at].source})" for at in group)), group) for group in groups
        ]

    def fitting(self, data: bytes) -> list[_Rule]:
        """All rules that match, and some that do not, in their order. In bytes, as re2 encodes a text for each pattern."""
        found = self._worded.intersection(self._filter.Match(data, potential=True) or ())
        wordless = (group for any_of_them, group in self._groups if any_of_them.search(data))
        return [self._rules[at] for at in sorted(found.union(*wordless))]


@cache
def _all_rules() -> _Prefixed:
    return _Prefixed(list(_rules()))


_ASSIGNED = re2.compile(_ASSIGNMENT)
_SET = re2.compile(_SETTING)


def spans(text: str) -> list[SecretSpan]:
    """The secrets in `text`, in order, without overlaps; placeholders and references do not count."""
    return list(_spans(text) if len(text) > LONGEST_KEPT else _kept_spans(text))


def _spans(text: str) -> tuple[SecretSpan, ...]:
    text = _encodable(text[:MAX_CHARS])
    return tuple(_apart(sorted([*_prefixed(text), *_assigned(text)], key=_place)))


#: An engine's round and each check of a dream search the same memories.
_kept_spans = lru_cache(2_048)(_spans)


def may_hold_any(text: str) -> bool:
    """Whether any pattern of a secret matches in `text`. If not, `spans` finds nothing in it nor in any of its lines,
    because no pattern depends on the start or end of a text."""
    data = _encodable(text).encode()
    forms = (rule.pattern for rule in _all_rules().fitting(data))
    return any(form.search(data) for form in (_ASSIGNED, _SET, *forms))


def _place(span: SecretSpan) -> tuple[int, int, bool]:
    """Sort key: by start, then the longest, with the rules for sentences last."""
    return span.start, -span.end, span.rule.startswith("told-")


def _encodable(text: str) -> str:
    """The text with each lone surrogate, which re2 rejects, replaced by one character, so that positions stay."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def _prefixed(text: str) -> Iterator[SecretSpan]:
    data = text.encode()
    for rule in _all_rules().fitting(data):
        before = at = 0  # the same place in bytes and in characters
        for match in rule.pattern.finditer(data):
            start, end = match.span(rule.pattern.groupindex.get("s", 0))
            at, before = at + len(data[before:start].decode()), start
            found = data[start:end].decode()
            marks, value = (0, found) if rule.judge is _JUDGES["form"] else _bare(found)
            if rule.judge(value):
                yield SecretSpan(rule.name, at + marks, at + marks + len(value))


def _bare(found: str) -> tuple[int, str]:
    """Where it begins, without emphasis, and it without a sentence's end: "required!" is "required", but "hunter2!" stays."""
    marks = len(found) - len(found.lstrip("*_"))
    marks = marks if found.rstrip(".:!?").endswith(found[:marks]) else 0
    bare = found[marks:].rstrip(".:!?*_")
    return marks, bare + "!" if found.endswith("!") and any(map(str.isdigit, bare)) else bare


def _assigned(text: str) -> Iterator[SecretSpan]:
    for match in _ASSIGNED.finditer(text):
        marks, value = _bare(match["s"])
        start = match.start(_ASSIGNED.groupindex["s"]) + marks
        if text[match.end() : match.end() + 1] == "(":  # a function call returns the secret, its name is none
            continue
        goes_on = text[start - 1] == "`" and text[match.end() : match.end() + 1] == " "
        if goes_on and not any(map(str.isdigit, value)):  # `#pragma warning`: code
            continue
        if looks_secret(match["name"], value):
            yield SecretSpan("assigned-secret", start, start + len(value))
    for match in _SET.finditer(text):
        marks, value = _bare(match["s"])
        start = match.start(_SET.groupindex["s"]) + marks
        if not _NO_SECRET_KEY.search(match["name"]) and is_token(value, 16):
            yield SecretSpan("assigned-secret", start, start + len(value))


def _apart(ordered: list[SecretSpan]) -> Iterator[SecretSpan]:
    end = -1
    for span in ordered:
        if span.start >= end:
            yield span
            end = span.end


# --- Keys that every copy of an app contains -----------------------------------------------------------------------
# Not secret according to their vendors: client keys, publishable keys, keys of anonymous users. Added text with one is
# blocked as with any other key. In existing text a person decides: a server may use such a key, too.

_APP_FORMS = re.compile(
    r"AIza|pk_(?:live|test)_|pk\.|phc_|sb_publishable_|FLWPUBK|(?:pub|sub)-c-|pubkey-|sq0idp-|(?:live|test)_pub_|rzp_"
)
# The text directly before the value: "Production client_key: `", "anon key (web) →", "NEXT_PUBLIC_STRIPE_KEY=".
_APP_NAMED = re.compile(
    r"(?:(?:publi(?:c|shable)|anon|client|browser)[ _-]?(?:api[ _-]?)?key|\b(?:NEXT_PUBLIC|NUXT_PUBLIC|EXPO_PUBLIC|VITE|REACT_APP)_\w*)"
    r"(?:\s?\([^()\n]{0,40}\))?(?:\W|\bis\b){0,12}$",
    re.IGNORECASE,
)
# Rules that depend on the text near a value; all others know a key by its format.
_BY_NAME = ("assigned-", "told-", "given-", "cell-")


def is_by_form(span: SecretSpan) -> bool:
    """Whether a secret is recognised by its own format: a value after a name may be an example, a path or a checksum."""
    return not span.rule.startswith(_BY_NAME)


LEAST_ASSIGNED = 16  # characters of a token assigned to a name; "age1yubikey1" has twelve; chosen


def is_certain(text: str, span: SecretSpan) -> bool:
    """Whether a secret may be removed without asking: its format is known, or it is assigned to a name and looks random.

    "ROUNDTRIP-2026-05-13", "password123!" and "step1+step2" are assigned too. A key that ends in dots was cut off.
    """
    value = text[span.start : span.end]
    by_chance = span.rule.startswith("assigned-") and (is_token(value, LEAST_ASSIGNED) or is_mixed(value))
    return not text.startswith(("...", "…"), span.end) and (is_by_form(span) or by_chance)


def is_for_apps(text: str, span: SecretSpan) -> bool:
    """Whether a key found in `text` is one that an app shows to all its users."""
    value = text[span.start : span.end]
    if _APP_FORMS.match(value):
        return True
    if span.rule == "json-web-token":
        return _is_of_nobody(value)
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    return not is_by_form(span) and _APP_NAMED.search(before) is not None


def _is_of_nobody(token: str) -> bool:
    """Whether the token is for the role of users who are not logged in."""
    claims = token.split(".")[1]
    try:
        return b'"role":"anon"' in base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4))
    except ValueError:
        return False
