"""What text that steers an agent looks like, one rule per way; and which likenesses are none. PURE.

The patterns run on re2, in linear time, so that no line can hang a check. Collected from published attacks on agents
that read files; a note that talks about prompts, users or permissions must not look like one.
"""

from __future__ import annotations

import base64
import binascii
import re
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import re2

Judge = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """`holds` decides whether a likeness is meant; the first that is counts."""

    code: str
    pattern: re.Pattern[str]
    says: str
    remedy: str
    holds: Judge


def _always(match: re.Match[str]) -> bool:
    return True


def _rule(code: str, says: str, remedy: str, *patterns: str, holds: Judge = _always) -> Rule:
    pattern = cast("re.Pattern[str]", re2.compile("|".join(f"(?:{each})" for each in patterns)))
    return Rule(code, pattern, says, remedy, holds)


def first(rule: Rule, text: str) -> re.Match[str] | None:
    """The first place where the rule holds."""
    return next((match for match in rule.pattern.finditer(text) if rule.holds(match)), None)


_TALK = re.compile(
    r"\b(?:injections?|jailbreaks?|attacks?|adversarial|detects?|detection|fixtures?|payloads?|red[- ]team\w*)\b",
    re.IGNORECASE,
)
_QUOTES = "\"“”`'‘’«»"


def _not_quoted(match: re.Match[str]) -> bool:
    """A note on attacks quotes them: We test "ignore previous instructions" attacks."""
    before, after = match.string[: match.start()], match.string[match.end() :]
    quoted = before.rstrip()[-1:] in _QUOTES and any(mark in after for mark in _QUOTES) and before[-1:] != ""
    return not (quoted and _TALK.search(before + " " + after))


def _no_component(match: re.Match[str]) -> bool:
    """`<Button>` is the component of a user interface, and what stands in code is shown as it is."""
    return not _is_component(match) and match.string[: match.start()].count("`") % 2 == 0


def _is_component(match: re.Match[str]) -> bool:
    """`<User size="5">` of a user interface, and the `<User[]>` in `Promise<User[]>`."""
    typed = match.string[max(0, match.start() - 1) : match.start()].isalnum()
    return (typed and match[0][0] == "<") or bool(
        re.match(r"</?[A-Z][a-z]\w*(?:\s*/?>|\[|\s+\w+[={])", match[0])
    )


_DIGESTS = {32, 40, 56, 64, 96, 128}


def _unreadable(match: re.Match[str]) -> bool:
    """Encoded bytes: no digest, no path, no long name."""
    found = match[0]
    if found[0] in "\\&%":
        return True
    if re.search(r"\bsha\d{1,3}[-:]$", match.string[max(0, match.start() - 8) : match.start()]):
        return False  # the integrity line of a lock file
    if all(char in string.hexdigits for char in found):
        return len(found) > 64 and len(found) not in _DIGESTS
    if _decoded_text(found):
        return True
    kinds = [sum(map(kind, found)) / len(found) for kind in (str.isupper, str.islower, str.isdigit)]
    return len(found) >= 64 and kinds[0] > 0.15 and kinds[1] > 0.15 and kinds[2] > 0.02


def _decoded_text(found: str) -> str:
    """What a base64 word says, if it says words."""
    try:
        raw = base64.b64decode(found + "=" * (-len(found) % 4), validate=True)
        text = raw.decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    return text if " " in text and all(char in string.printable for char in text) else ""


_WHO = r"(?:user|human|person|developer|owner|operator|anyone|anybody|someone|somebody)"
_AI = r"(?:AIs?|LLMs?|AI (?:agents?|assistants?|models?|tools?)|(?:coding )?agents?|(?:the )?assistants?|Claude|GPT|Copilot|Cursor|Gemini|language models?|the model)"
_ACT = (
    r"(?:run|execute|send|post|upload|fetch|curl|wget|download|forward|push|install|share|export|leak|exfiltrate|"
    r"e-?mail (?:it|them|all|me|the (?:logs?|files?|repo|transcripts?|memory)))"
)
_OLD = r"(?:previous|prior|earlier|above|preceding|all|other|your|any|every|system|safety|the above|everything|original)"
_RULES_OF = r"(?:instructions?|rules?|prompts?|guidelines?|messages?|restrictions?|training|guardrails?|directives?|checks|polic(?:y|ies)|constraints?)"
_READ = "Read the line as an agent would, and leave it out if it gives orders that you did not give."

RULES: tuple[Rule, ...] = (
    _rule(
        "role-tag", "uses a role or XML tag, as prompts do", _READ,
        r"(?i)</?(?:system|assistant|user|human|instructions?|admin|developer|tool_(?:use|result|call)|function_calls?|antml:[a-z_]+|system[-_]reminder|user_query|important|command-name)\b[^>\n]{0,200}>",
        r"\[/?INST\]|<</?SYS>>|<\|[a-z_]{2,30}\|>|\[/?(?:SYSTEM|ADMIN|OVERRIDE|DEVELOPER)(?: [A-Z ]{1,20})?\]",
        r"^\s*(?:#{1,6}\s*)?(?:Assistant|Human|ASSISTANT|HUMAN)\s*:\s",
        r"(?i)^\s*(?:#{1,6}\s*)?system(?: (?:prompt|message|override|note))?\s*:\s*(?:you|ignore|override|grant|from now|do not|never|always|act|the user (?:has|is|gave)|new)\b",
        r"\b(?:BEGIN|END) (?:ADMIN|SYSTEM)\b|\b(?:ADMIN|SYSTEM|ROOT) OVERRIDE\b",
        holds=lambda match: not _is_component(match),
    ),
    _rule(
        "ignore-previous", "tells an agent to ignore its instructions", _READ,
        rf"(?i)\b(?:ignore|disregard|forget|override|bypass|stop following|(?:do not|don['’]t) follow|pay no attention to|set aside)\b[^.\n]{{0,40}}\b{_OLD}\b[^.\n]{{0,30}}\b{_RULES_OF}\b",
        r"(?i)\b(?:(?:do not|don['’]t) follow|ignore|disregard) the (?:instructions?|rules?|prompts?|text|content)? ?(?:above|before this|so far)\b",
        r"(?i)\b(?:forget|ignore|disregard) (?:everything|anything|all)(?: that)? (?:you|above|before|i|we)\b",
        r"(?i)\byou are now (?:an? |in |DAN|free|un|no longer|the )|\bnew (?:system )?instructions?:|\bfrom now on,? (?:you|act|pretend|answer|respond|ignore|obey)\b",
        r"(?i)\b(?:act|respond|answer|behave) as (?:if you (?:were|had)|an? (?:unrestricted|unfiltered|uncensored|jailbroken|evil))\b",
        r"(?i)\bpretend (?:that )?(?:you|to) (?:are|be|have)\b|\b(?:no|without) (?:any )?(?:restrictions or|moral|ethical|safety) \w+",
        r"(?i)\b(?:bypass|circumvent|evade) (?:all|any|your|every) \w+",
        holds=_not_quoted,
    ),
    _rule(
        "agent-order", "gives an order to an agent that reads it", _READ,
        rf"(?i)\b(?:note|message|attention|notice|dear|hey|hello|important)\b[^.\n\w]{{1,3}}(?:to |for )?(?:all |any )?{_AI}\b[^.\n]{{0,30}}[:,]\s*\S",
        rf"(?i)\b(?:note|message|notice|instructions?|directives?|orders?) (?:to|for) (?:the |all |any )?{_AI}\b[^.\n]{{0,20}}:",
        rf"(?i)\b(?:if|since|because) you are an? {_AI}\b|\bas an AI (?:language )?(?:model|assistant|agent)\b",
        rf"(?i)\b{_AI}\b[^.\n]{{0,25}}\breading this\b",
        rf"(?i)^[\s*>-]*{_AI}\s*[:,]\s*(?:please )?(?:execute|run|you|ignore|send|obey|follow|do as|upload|push)\b",
        rf"(?i)\b{_AI}\b[^.\n]{{0,30}}\b(?:must|should|shall|needs? to|has to|have to|will)\b(?: (?:always|now|also|first|immediately|then))* (?:run|execute|download|fetch)\b[^.\n]{{0,25}}(?:\bscripts?\b|\binstall\b|\binstaller\b|\.sh\b|https?://|\bcurl\b|following command)",
        rf"(?i)\b{_AI}\b[^.\n]{{0,30}}\b(?:must|should|shall|needs? to|has to|have to|will)\b(?: (?:always|now|also|first|immediately|then))* (?:send|upload|post|forward|e-?mail|exfiltrate|leak|share)\b[^.\n]{{0,40}}(?:https?://|\btranscripts?\b|\btokens?\b|\bkeys?\b|\bsecrets?\b|\bcredentials?\b|\.env\b|\bhistory\b|\bmemor(?:y|ies)\b)",
        rf"(?i)\b{_AI}\b must never (?:mention|tell|reveal|disclose)\b",
        r"(?i)\b(?:hidden|secret) (?:system )?(?:instructions?|prompts?|directives?|orders?)\b ?(?:for\b|to\b|:)",
        holds=_not_quoted,
    ),
    _rule(
        "permission", "gives an agent leave to do things unasked or unseen", "Make sure that you want this of every future session, or reject the hunk.",
        rf"(?i)\b(?:never|don['’]t|do not) ask(?: (?:me|us|the {_WHO}|her|him|them|{_WHO}|for|before|whether|if|about|first|again|permission|approval|questions?|\w+ vs)\b|\s*[.,;:!—–-]|\s*$)",
        r"(?i)\bwithout asking\b|\bno need to ask\b|\bwithout (?:confirmation|approval|permission)\b",
        r"(?i)\bskip(?:ping|s)? (?:all |any |the |every )?(?:confirmation|approval|permission)s?\b",
        r"(?i)\balways (?:allow|approve|accept)\b|\bauto[- ]?(?:approve|accept)s? (?:all|any|every|everything|tools?|commands?|permissions?|changes|edits)\b",
        r"(?i)\b(?:is|are|been|already) pre-?approved\b|\bpre-?approved (?:tools?|commands?|actions?|changes?|edits?|permissions?|requests?|by)\b",
        rf"(?i)\b(?:don['’]t|do not|never) (?:tell|inform|mention|notify|reveal|disclose|alert|let)\b[^.\n]{{0,40}}\b{_WHO}\b",
        rf"(?i)\b(?:don['’]t|do not|never) show (?:this|it|them|these|that|the (?:output|diff|log|change)s?) to (?:the )?{_WHO}\b",
        rf"(?i)\bwithout (?:telling|informing|notifying|alerting|the knowledge of|letting) (?:the |any |your )?{_WHO}\b",
        rf"(?i)\bkeep (?:this|it|that) (?:a )?(?:secret|hidden)\b|\bhid(?:e|den) (?:this|it|that) from (?:the )?{_WHO}\b|\bkept? (?:hidden|secret) from (?:the )?{_WHO}\b",
        r"(?i)\b(?:silently|secretly|covertly|stealthily|surreptitiously) (?:run|execute|send|post|upload|fetch|delete|write|add|push|commit|install|allow|approve|accept|copy|disable|remove|share|forward|change|edit)\b",
        r"(?i)\b(?:disable|turn off|switch off|bypass|deactivate) (?:the |all |any |your )?(?:sandbox|safety (?:checks?|rules?|filters?)|guardrails?|permission (?:checks?|prompts?)|security checks?|approval prompts?)\b",
        r"--no-verify\b|--dangerously[a-z-]*|--yolo\b|--force-yes\b|bypassPermissions|skip[-_]?permissions|chmod (?:-R )?777|\bgit commit\b[^\n]{0,40} -n\b",
    ),
    _rule(
        "delayed-trigger", "waits for a moment to act on", _READ,
        rf"(?i)\b(?:when(?:ever)?|if|once|after|next time|as soon as|every time)\b[^.\n]{{0,80}}\b(?:{_WHO}|session|conversation|you)\b[^.\n]{{0,40}}\b(?:say|ask|type|mention|start|begin|open|log|repl(?:y|ie)|respond|thank|confirm|approve|see|read)(?:s|ed|es|d)?\b[^.\n]{{0,100}}[\s,:;]{_ACT}\b",
        rf"(?i)\b(?:when(?:ever)?|if|once|after|as soon as)\b[^.\n]{{0,80}}\b{_WHO}\b[^.\n]{{0,100}}[\s,:;]delete (?:the |all |any |your )?(?:logs?|files?|history|branch(?:es)?|repo\w*|memor(?:y|ies)|transcripts?|everything|notes?)\b",
        rf"(?i)\b(?:on|at|after|before|in) (?:the )?(?:next|every|each|start of (?:the |every |each )?(?:next )?)\s?(?:session|conversation|chat|login)\b[^.\n]{{0,60}}[\s,:;]{_ACT}\b",
    ),
    _rule(
        "markdown-image", "shows an image: loading it can carry data away", "Leave the image out, or name the file in words.",
        r"!\[[^\]\n]{0,300}\]\s?[(\[]",
        holds=lambda match: match.string[: match.start()].count("`") % 2 == 0,
    ),
    _rule(
        "raw-html", "holds raw HTML or a comment, which the rendered view does not show", "Write it as plain Markdown.",
        r"<!--",
        r"(?i)</?(?:script|iframe|img|style|link|meta|object|embed|form|input|svg|base|video|audio|a|div|span|details|summary|button|table|body|html|br|p|font|marquee|math|template|noscript)\b[^>\n]{0,300}/?>",
        r"(?i)\bon(?:load|error|click|mouseover)\s?=|\bjavascript:\S|\]\(\s?(?:javascript|vbscript|data):",
        holds=_no_component,
    ),
    _rule(
        "credential-path", "names a place where credentials are kept", "Make sure that a session needs to know this path.",
        r"(?i)(?:~|\$HOME|/home/[\w.-]+|/Users/[\w.-]+|/root|%USERPROFILE%)[/\\]\.(?:ssh|aws|gnupg|kube|docker/config\.json|npmrc|pypirc|config/gcloud|config/gh|azure|terraform\.d|cargo/credentials|env|claude/\.credentials|bash_history|zsh_history)\b",
        r"(?:^|[\s`\"'(=/])\.(?:ssh|aws|gnupg|kube)/\w|\.docker/config\.json|\.config/(?:gcloud|gh)/|\.(?:netrc|pgpass|git-credentials|vault-token)\b|\.claude/\.credentials",
        r"(?i)\.(?:bash|zsh|psql|mysql|python|node_repl)_history\b",
        r"\bid_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:shadow|sudoers)\b|\bcredentials\.json\b|\bservice[-_]account[\w-]*\.json\b|\bLogin Data\b",
        r"(?i)\b(?:cat|print|send|upload|dump|share|paste|commit|leak|contents? of|copy|e-?mail)\b[^.\n]{0,30}\s[`\"']?\.env(?:\.(?:local|prod\w*|dev\w*|staging))?(?:$|[\s`\"',;:)])",
        r"/[\w./-]+/\.env(?:$|[\s`\"',;:)])",
        r"(?i)\b(?:macos|login|system|export(?: the)?|dump(?: the)?|read(?: the)?) keychain\b|\bsecurity find-(?:generic|internet)-password\b",
        holds=lambda match: not re.search(r"\.env\.(?:example|sample|template|dist)", match.string) or ".env" not in match[0],
    ),
    _rule(
        "pipe-to-shell", "runs something that cannot be read first", "Leave the command out, or name the script's place in words.",
        r"(?i)\b(?:curl|wget|iwr|irm)\b[^\n]{0,300}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|fi)?sh|python[23]?|node|perl|ruby|iex)\b",
        r"(?i)\b(?:eval|exec)\b\s*[\"'(]?\$\(|\b(?:ba|z|da)?sh\s+(?:<\(|-c\s+[\"']?\$\()\s?(?:curl|wget)|\bpython[23]?\s+-c\s+[\"']?\$\(",
        r"(?i)\bpython[23]?\s+-c\s+[\"'][^\n]{0,200}(?:os\.system|subprocess|exec\(|eval\(|urlopen|requests\.)",
        r"\bbase64\s+(?:-d|--decode|-D)\b|\b(?:nc|ncat|netcat)\s+-[a-z]*e\b|/dev/tcp/",
        r"(?i)\bpowershell\b[^\n]{0,80}-enc|\bIEX\s*\(|\bDownloadString\b|\|\s*iex\b",
    ),
    _rule(
        "destructive-command", "would delete far more than a project", "Leave the command out.",
        r"\brm\s+-[a-zA-Z]*r[a-zA-Z]*\s+(?:-\S+\s+)*[\"']?(?:/|~|\$HOME)(?:/?\*)?/?[\"']?(?:\s|$|[`;&|.,)])|--no-preserve-root|\bmkfs\.\w+|\bdd\b[^\n]{0,60}\bof=/dev/",
    ),
    _rule(
        "encoded-blob", "holds an encoded block that nobody can read", "Leave the block out, or say in words what it is.",
        r"\b(?:[A-Za-z0-9+/]{4}){7,}[A-Za-z0-9+/]{0,3}={0,2}|\b(?:[0-9a-fA-F]{2}){33,}\b|(?:\\x[0-9a-fA-F]{2}){8,}|(?:&#x?[0-9a-fA-F]{2,6};){4,}|(?:%[0-9A-Fa-f]{2}){10,}",
        holds=_unreadable,
    ),
)  # fmt: skip


def matches(text: str) -> Iterator[tuple[Rule, re.Match[str]]]:
    """Each rule that holds somewhere in one line, with the first place."""
    for rule in RULES:
        match = first(rule, text)
        if match:
            yield rule, match
