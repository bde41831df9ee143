"""What secrets look like: prefixes from vendors' documented formats, assignments, URLs, headers, key blocks. PURE.

All patterns run on re2, in linear time. `spans` gives places, never the secret's own words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import re2

MAX_CHARS = 4_000_000  # of one text; callers hand in files and transcript lines

# id, pattern; the group `s` is the secret where the pattern has more around it.
_PREFIXED = r"""
anthropic-key        \bsk-ant-[a-zA-Z0-9]{2,12}-[A-Za-z0-9_-]{20,}
openai-key           \bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}
openai-key           \bsk-[A-Za-z0-9]{32,64}\b
openrouter-key       \bsk-or-v1-[0-9a-f]{40,80}
aws-access-key       \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b
github-token         \bgh[pousr]_[A-Za-z0-9]{30,}
github-token         \bgithub_pat_[A-Za-z0-9_]{22,}
gitlab-token         \bgl(?:pat|dt|rt|ptt|cbt|soat|imt|ft|agent|rtr|oas|ffct)-[A-Za-z0-9_.-]{20,}
slack-token          \bxox[abeoprs]-[A-Za-z0-9-]{10,}
slack-token          \bxapp-\d-[A-Za-z0-9-]{10,}
slack-webhook        https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}
discord-webhook      https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{10,25}/[A-Za-z0-9_-]{30,}
discord-token        \b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}
stripe-key           \b(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}
stripe-key           \bwhsec_[A-Za-z0-9+/=]{24,}
google-api-key       \bAIza[0-9A-Za-z_-]{35}
google-oauth         \bGOCSPX-[A-Za-z0-9_-]{20,60}
google-oauth         \bya29\.[A-Za-z0-9_-]{20,}
npm-token            \bnpm_[A-Za-z0-9]{36}
pypi-token           \bpypi-Ag[A-Za-z0-9_-]{40,}
rubygems-key         \brubygems_[0-9a-f]{48}
crates-token         \bcio[A-Za-z0-9]{32}\b
docker-token         \bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}
sendgrid-key         \bSG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,64}
twilio-key           \bSK[0-9a-f]{32}\b
mailgun-key          \bkey-[0-9a-f]{32}\b
mailchimp-key        \b[0-9a-f]{32}-us\d{1,2}\b
digitalocean-token   \bdo[opr]_v1_[0-9a-f]{64}
huggingface-token    \b(?:hf|api_org)_[A-Za-z0-9]{30,60}
databricks-token     \bdapi[0-9a-f]{32}
shopify-token        \bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}
square-token         \bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,60}
telegram-token       \b\d{8,10}:AA[A-Za-z0-9_-]{33}
linear-key           \blin_(?:api|oauth)_[A-Za-z0-9]{32,80}
notion-token         \b(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,60})
supabase-token       \bsb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,60})
vault-token          \bhv[sbr]\.[A-Za-z0-9_-]{24,}
terraform-token      \b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}
doppler-token        \bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,80}
planetscale-token    \bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,80}
postman-key          \bPMAK-[0-9a-f]{24}-[0-9a-f]{34}
figma-token          \bfig[dopu]_[A-Za-z0-9_-]{30,80}
groq-key             \bgsk_[A-Za-z0-9]{40,64}
xai-key              \bxai-[A-Za-z0-9]{60,}
replicate-token      \br8_[A-Za-z0-9]{30,50}
perplexity-key       \bpplx-[A-Za-z0-9]{40,60}
langsmith-key        \blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}
grafana-token        \bgl(?:sa|c)_[A-Za-z0-9+/=_]{32,}
newrelic-key         \bNR(?:AK|JS|II)-[A-Za-z0-9]{20,40}
sentry-token         \bsntry[su]_[A-Za-z0-9+/=_]{40,}
azure-storage-key    \bAccountKey=(?P<s>[A-Za-z0-9+/]{80,90}={0,2})
azure-sas            [?&]sig=(?P<s>[A-Za-z0-9%+/]{40,80})
airtable-token       \bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}
atlassian-token      \bATATT3[A-Za-z0-9_=-]{60,}
bitbucket-token      \bATBB[A-Za-z0-9]{28,40}
dropbox-token        \bsl\.[A-Za-z0-9_-]{100,}
heroku-key           \bHRKU-[A-Za-z0-9_-]{30,80}
fly-token            \bfo1_[A-Za-z0-9_-]{40,80}
tailscale-key        \btskey-[a-z]{2,12}-[A-Za-z0-9-]{16,80}
mapbox-token         \bsk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,60}
pulumi-token         \bpul-[0-9a-f]{40}
age-key              \bAGE-SECRET-KEY-1[0-9A-Z]{50,64}
square-token         \bEAAA[a-zA-Z0-9_-]{56,70}\b
facebook-token       \bEAACEdEose0cBA[A-Za-z0-9]{40,}
fly-token            \bfm[12]_[A-Za-z0-9+/=_-]{80,}
nuget-key            \boy2[a-z0-9]{43}\b
artifactory-key      \bAKC[A-Za-z0-9]{60,75}\b
artifactory-token    \bcmVmdGtu[A-Za-z0-9]{50,60}\b
clojars-token        \bCLOJARS_[a-z0-9]{60}\b
contentful-token     \bCFPAT-[A-Za-z0-9_-]{43}
dynatrace-token      \bdt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}
easypost-key         \bEZ[AT]K[A-Za-z0-9]{54}
frameio-token        \bfio-u-[A-Za-z0-9_=-]{64}
flutterwave-key      \bFLW(?:SECK|PUBK)_TEST-[a-h0-9]{32}-X\b
hubspot-token        \bpat-(?:na|eu)\d-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
intra42-secret       \bs-s4t2(?:ud|af)-[0-9a-f]{64}
prefect-key          \bpnu_[A-Za-z0-9]{36}\b
readme-key           \brdme_[a-z0-9]{70}
scalingo-token       \btk-us-[A-Za-z0-9_-]{48}
brevo-key            \bxkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}
shippo-token         \bshippo_(?:live|test)_[0-9a-f]{40}
typeform-token       \btfp_[A-Za-z0-9_.=-]{59}
netlify-token        \bnfp_[A-Za-z0-9]{36,60}
resend-key           \bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b
onepassword-token    \bops_eyJ[A-Za-z0-9+/=_-]{100,}
infracost-key        \bico-[A-Za-z0-9]{32}\b
launchdarkly-key     \b(?:api|sdk)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
octopus-key          \bAPI-[A-Z0-9]{26}\b
openshift-token      \bsha256~[A-Za-z0-9_-]{43}
settlemint-token     \bsm_(?:aat|pat|sat)_[A-Za-z0-9]{16}\b
sonar-token          \bsq[pua]_[0-9a-f]{40}\b
sourcegraph-token    \bsgp_(?:[A-Za-z0-9]{16}_|local_)?[0-9a-f]{40}\b
adafruit-key         \baio_[A-Za-z0-9]{28}\b
alibaba-key          \bLTAI[A-Za-z0-9]{12,20}\b
tencent-key          \bAKID[A-Za-z0-9]{32}\b
duffel-token         \bduffel_(?:live|test)_[A-Za-z0-9_=-]{43}
maxmind-key          \b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b
nvidia-key           \bnvapi-[A-Za-z0-9_-]{60,70}
fireworks-key        \bfw_[A-Za-z0-9]{22,24}\b
tavily-key           \btvly-(?:dev-|prod-)?[A-Za-z0-9]{32}\b
firecrawl-key        \bfc-[0-9a-f]{32}\b
polar-token          \bpolar_(?:oat|pat|at_[ou])_[A-Za-z0-9]{32,50}
posthog-key          \bph[xs]_[A-Za-z0-9]{40,50}
plaid-token          \baccess-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
razorpay-key         \brzp_(?:live|test)_[A-Za-z0-9]{14}\b
braintree-token      \baccess_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}
buildkite-token      \bbk(?:ua|pt|ct|pat)_[0-9a-f]{40}
cloudflare-ca-key    \bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}
circleci-token       \bCCIPAT_[A-Za-z0-9]{22}_[0-9a-f]{40}
harness-token        \b[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}\b
json-web-token       \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}
private-key          -----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?
url-credentials      \b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@"'<>`]*:(?P<s>[^\s/@"'<>`]{3,})@[^\s/@"'<>`]+
bearer               (?i)\b(?:bearer|basic)\s+(?P<s>[A-Za-z0-9._~+/-]{20,}={0,2})
bearer               (?i)\bauthorization["']?\s*[:=]\s*["']?(?:token\s+)?(?P<s>[A-Za-z0-9._~+/-]{20,}={0,2})
"""
_NAME = (
    r"password|passwd|passphrase|passcode|pwd|secret|token|credential|api[ _-]?key|access[ _-]?key|secret[ _-]?key|"
    r"private[ _-]?key|auth[ _-]?key|encryption[ _-]?key|signing[ _-]?key|license[ _-]?key|account[ _-]?key"
)
_ASSIGNMENT = (
    r"(?i)\b(?P<name>[A-Za-z0-9_.-]{0,40}(?:"
    + _NAME
    + r"))(?:[_-](?:prod|dev|staging|test|live|value|base64|\d{1,2}))?"
    r"[\\\\\"'`*_]{0,4}(?:\s\([^()\n]{0,60}\))?\s{0,4}(?::=|=>|=|:|\bis\b|\bwas\b|→)[*_]{0,2}\s{0,4}[\\\\\"'`]{0,3}(?P<s>[^\s\\\\\"'`,;|<>()\[\]{}]{6,})"
)
_BODY_PLACEHOLDER = re.compile(
    r"example|placeholder|x{4,}|\*{3,}|\.{3,}|…|redacted|changeme|change[-_]me|your[-_ ]|dummy|insert[-_]|<|>|⟨|\[|0{8,}|1234567890?abc",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"^(?:\$|%[A-Z_]+%$|process\.env|os\.(?:environ|getenv)|env[.\[(]|ENV[.\[]|secrets?\.|vault:|op://|ref:|arn:|file:|@|/|~/|\./|\{\{|import\.meta|https?://)",
)
_NOT_A_VALUE = re.compile(
    r"^(?:true|false|none|null|undefined|required|optional|string|str|bytes|int|number|bool)\b", re.IGNORECASE
)
# What every tutorial's database has; nobody is kept out by it.
_SAMPLE_PASSWORDS = frozenset(
    {"password", "passwd", "pass", "pwd", "postgres", "root", "secret", "guest", "test", "user"}
)
_DIGEST = re.compile(
    r"(?:sha\d{1,3}|md5|blake2\w?)[:-][0-9a-fA-F+/=]{16,}$|(?:[\w.-]+/){2,}[A-Za-z][\w.-]*$|[a-z]+\d+\.\w+$"
)
_PASSWORDS = re.compile(r"pass|pwd", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SecretSpan:
    """A secret at text[start:end] (code points), by the rule that knows it."""

    rule: str
    start: int
    end: int


def _table() -> list[tuple[str, str]]:
    rows = [line.split(None, 1) for line in _PREFIXED.strip().splitlines()]
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
    if rule == "bearer":
        return _looks_secret(rule, value)
    if rule == "url-credentials" and (_REFERENCE.match(value) or value.lower() in _SAMPLE_PASSWORDS):
        return False
    return not _is_placeholder(value)


def _is_placeholder(value: str) -> bool:
    return (len(set(value)) < 6 and len(value) >= 8) or bool(_BODY_PLACEHOLDER.search(value))


def _looks_secret(name: str, value: str) -> bool:
    """Random-looking: prose, identifiers, paths and placeholders behind "token:" are none."""
    if _is_placeholder(value) or _REFERENCE.match(value) or _NOT_A_VALUE.match(value) or _DIGEST.match(value):
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
    return bool(re.fullmatch(r"[A-Za-z_][A-Za-z_]*\d{0,2}(?:[./:-][A-Za-z_]+\d{0,2})*[/.]?|[\d.]+", value))


def entropy(value: str) -> float:
    """Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
