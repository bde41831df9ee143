"""What text that steers an agent looks like, one rule per way. PURE, for re2.

Collected from published attacks on agents that read files; a note that talks about prompts, users or permissions must
not look like one.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from dreams.findings.steering.abroad import ABROAD
from dreams.findings.steering.disguise import uncovered
from dreams.findings.steering.english import STEERING
from dreams.findings.steering.ideas import IDEAS
from dreams.findings.steering.parts import (
    ACT,
    AI,
    OLD,
    READ,
    RULES_OF,
    WHO,
    Rule,
    any_of,
    first,
    is_component,
    no_component,
    not_forbidden,
    not_quoted,
    rule,
    unreadable,
)

_PLAIN = "Leave it out: what a note means it can say in plain words."

RULES: tuple[Rule, ...] = (
    *STEERING,
    *IDEAS,
    *ABROAD,
    rule(
        "role-tag", "uses a role or XML tag, as prompts do", READ,
        r"(?i)</?(?:system(?:[_-](?:prompt|message|note))?|assistant|user|human|instructions?|admin|developer|(?:assistant|system|developer|agent|model)[_-](?:instructions?|message|prompt|note|rules?)|tool_(?:use|result|call|response|output)|function_calls?|antml:[a-z_]+|system[-_]reminder|user_query|important|command-name)\b[^>\n]{0,200}>",
        r"\[/?INST\]|<</?SYS>>|<\|[a-z_]{2,30}\|>|\[/?(?:SYSTEM|ADMIN|OVERRIDE|DEVELOPER)(?: [A-Z ]{1,20})?\]|^[\s>*-]*\[(?:system|admin|developer|override)\]\s",
        r"^\s*(?:#{1,6}\s*)?(?:Assistant|Human|ASSISTANT|HUMAN)\s*:\s",
        r"(?i)^\s*(?:#{1,6}\s*)?system(?: (?:prompt|message|override|note))?\s*:\s*(?:you|ignore|override|grant|from now|do not|never|always|act|the user (?:has|is|gave)|new)\b",
        r"[\"'](?:role|ROLE)[\"']\s*:\s*[\"'](?:system|developer)[\"']|\bSYSTEM(?: (?:NOTICE|MESSAGE|ALERT|UPDATE|NOTE))?:\s\w|^\s*#{1,6}\s*Instructions?:\s|\bEND OF (?:MEMORY|CONTEXT|FILE|DOCUMENT|INSTRUCTIONS|PROMPT|INPUT)\b",
        r"\b(?:BEGIN|END) (?:ADMIN|SYSTEM)\b|\b(?:ADMIN|SYSTEM|ROOT) OVERRIDE\b",
        holds=lambda match: not is_component(match),
    ),
    rule(
        "ignore-previous", "tells an agent to ignore its instructions", READ,
        rf"(?i)\b(?:ignore|disregard|discard|forget|override|bypass|stop following|(?:do not|don['’]t) follow|pay no attention to|set aside)\b[^.\n]{{0,40}}\b{OLD}\b[^.\n]{{0,30}}\b{RULES_OF}\b",
        r"(?i)\b(?:(?:do not|don['’]t) follow|ignore|disregard) the (?:instructions?|rules?|prompts?|text|content)? ?(?:above|before this|so far)\b",
        r"(?i)\b(?:forget|ignore|disregard) (?:everything|anything|all)(?: that)? (?:you|above|before|i|we)\b",
        r"(?i)\byou are now (?:an? |in |DAN|free|un|no longer|the )|\bnew (?:system )?instructions?:|\bfrom now on,? (?:you|act|pretend|answer|respond|ignore|obey)\b",
        r"(?i)\b(?:act|respond|answer|behave) as (?:if you (?:were|had)|an? (?:unrestricted|unfiltered|uncensored|jailbroken|evil))\b",
        r"(?i)\bpretend (?:that )?(?:you|to) (?:are|be|have)\b|\b(?:no|without) (?:any )?(?:restrictions or|moral|ethical|safety) \w+",
        r"(?i)\b(?:bypass|circumvent|evade) (?:all|any|your|every) \w+|\bstop following\b",
        r"(?i)\b(?:instructions?|rules?|prompts?|guidelines?) (?:above|before) (?:are|is|were|was|no longer)\b[^.\n]{0,40}\b(?:ignore|outdated|void|cancel|invalid|apply|longer)",
        r"(?i)\byou (?:now )?have no (?:instructions?|rules?|restrictions?|limits?|guidelines?)\b|\byour new (?:role|task|goal|instructions?|identity|purpose|mission|objective)\b",
        r"(?i)\b(?:switch to|enter|activate|enable|engage|you are in) (?:\w+ ){0,2}(?:unrestricted|god|developer|jailbreak|dan|admin|unsafe|maintenance) mode\b",
        r"(?i)\b(?:none of the|no) (?:previous|above|earlier|other) (?:rules?|instructions?|guidelines?)\b|\b(?:rules?|instructions?|guidelines?|polic(?:y|ies)) (?:no longer|do not|don['’]t) apply\b",
        r"(?i)\b(?:treat|consider) (?:everything|all|anything|what(?:ever)?)\b[^.\n]{0,30}\b(?:cancell?ed|void|revoked|obsolete|a test)\b|\b(?:instructions?|prompts?) (?:have|has) been (?:replaced|superseded|revoked|cancell?ed|changed|updated)\b",
        r"(?i)\bno longer bound by\b|\byou are an? (?:AI|assistant|model|agent|bot) (?:without|with no|that (?:never|always|can|ignores))\b|\b(?:assume|take on|play) the role of\b|\byour only (?:job|task|goal|purpose|rule) is\b",
        r"(?i)\b(?:what (?:were|are|is) your|contents? of your|your exact|your original|your system) (?:exact |original |system )?(?:prompt|instructions?|message)\b|\bset aside the \w+ (?:message|prompt|instructions?)\b",
        r"(?i)\byou (?:must|will|should|shall)(?: now)? (?:answer|act|respond|reply|behave) (?:as|like|only|without)\b",
        r"(?i)\b(?:repeat|reveal|print|output|leak|display|dump|quote|show me)\b[^.\n]{0,25}\b(?:system|hidden|initial|original|secret|full) (?:prompt|instructions?|message)\b",
        r"(?i)\b(?:print|repeat|output|reveal) everything (?:above|before|so far)\b|\b(?:above|following) (?:text|message|content)\b[^.\n]{0,20}\b(?:then|and) (?:run|execute|follow|obey)\b",
        holds=not_quoted,
    ),
    rule(
        "agent-order", "gives an order to an agent that reads it", READ,
        rf"(?i)\b(?:note|message|attention|notice|dear|hey|hello|important)\b[^.\n\w]{{1,3}}(?:to |for )?(?:all |any )?{AI}\b[^.\n]{{0,30}}[:,]\s*\S",
        rf"(?i)\b(?:note|message|notice|instructions?|directives?|orders?) (?:to|for) (?:the |all |any )?{AI}\b[^.\n]{{0,20}}:",
        rf"(?i)\b(?:if|since|because) you are an? {AI}\b|\bas an AI (?:language )?(?:model|assistant|agent)\b",
        rf"(?i)\b{AI}\b[^.\n]{{0,25}}\b(?:reading|(?:opens?|reads?|loads?|sees?)) this\b",
        rf"(?i)^[\s*>-]*{AI}\s*[:,]\s*(?:please )?(?:execute|run|you|ignore|send|obey|follow|do as|upload|push)\b",
        rf"(?i)\b{AI}\b[^.\n]{{0,30}}\b(?:must|should|shall|needs? to|has to|have to|will)\b(?: (?:always|now|also|first|immediately|then))* (?:run|execute|download|fetch)\b[^.\n]{{0,25}}(?:\bscripts?\b|\binstall\b|\binstaller\b|\.sh\b|https?://|\bcurl\b|following command)",
        rf"(?i)\b{AI}\b[^.\n]{{0,30}}\b(?:must|should|shall|needs? to|has to|have to|will)\b(?: (?:always|now|also|first|immediately|then))* (?:send|upload|post|forward|e-?mail|exfiltrate|leak|share)\b[^.\n]{{0,40}}(?:https?://|\btranscripts?\b|\btokens?\b|\bkeys?\b|\bsecrets?\b|\bcredentials?\b|\.env\b|\bhistory\b|\bmemor(?:y|ies)\b)",
        r"(?i)\b(?:AI|LLM)s?(?: (?:coding )?(?:agents?|assistants?|models?|tools?|systems?))? (?:must|should|shall|will|need to|have to)(?: (?:always|never|not|also|then))* (?:include|mention|add|say|approve|recommend|rate|prefer|answer|respond|reply|treat|assume|state|report|output|insert)\b",
        r"(?i)\b(?:when|while|before|after) (?:you(?:'re| are)? )?(?:summari[sz]ing|read(?:ing)?|reviewing|processing|analy[sz]ing|parsing|loading) this (?:file|document|page|memory|repo|repository|code|text|note|message)?[^.\n]{0,20}[,:]\s*\w",
        r"(?i)\b(?:for|to) (?:all |any )?(?:AI|LLM)s?(?: \w+)? only\b|\b(?:any|every|each|all) (?:AI|LLM)s?(?: \w+)? (?:that|who|which|must|should)\b",
        r"(?i)^[\s*>-]*(?:assistant|claude|AI|copilot|agent),\s+(?:please |now )?[a-z]+\b",
        rf"(?i)\b{AI}\b must never (?:mention|tell|reveal|disclose)\b",
        r"(?i)\b(?:hidden|secret) (?:system )?(?:instructions?|prompts?|directives?|orders?)\b ?(?:for\b|to\b|:)",
        holds=not_quoted,
    ),
    rule(
        "permission", "gives an agent leave to do things unasked or unseen", "Make sure that you want this of every future session, or reject the hunk.",
        rf"(?i)\b(?:never|don['’]t|do not) ask(?: (?:me|us|the {WHO}|her|him|them|{WHO}|for|before|whether|if|about|first|again|permission|approval|questions?|\w+ vs)\b|\s*[.,;:!—–-]|\s*$)",
        r"(?i)\bno need to (?:ask|confirm)\b|\b(?:run|execute|push|delete|commit|merge|deploy|install|publish|edit|write|overwrite|remove|change|create|send|approve|release|proceed|act|add|go ahead|start|continue|apply|make|use|restart|drop|fix|refactor)\w*\b[^.!?;\n]{0,60}\bwithout (?:asking|confirmation|approval|permission)\b",
        r"(?i)\b(?:never|don['’]t|do not) (?:request|seek|wait for|require) (?:any |the |user )?(?:permission|confirmation|approval|consent)\b",
        r"(?i)\byou (?:now )?(?:have|are granted|were given)(?: \w+)? (?:permission|authori[sz]ation|approval) (?:to|for)\b",
        rf"(?i)\b{WHO} (?:has|have) (?:already |previously |explicitly )?(?:approved|authori[sz]ed|granted|consented to|agreed to) (?:all|any|every|full|this|these)\b|\b(?:authori[sz]ed|approved) in advance\b",
        r"(?i)\b(?:automatically|always|blindly) approve\b|\bapprove (?:every|all|any) (?:pull requests?|PRs?|changes?|merge requests?|commands?)\b|\bmerge (?:\w+ )?without (?:waiting for |any |a )?reviews?\b",
        r"(?i)\b(?:do not|don['’]t|never) (?:log|record|report|disclose|document|mention) (?:this|these|that|it)\b|\b(?:remove|erase|delete|cover) (?:all |any |your )?traces?\b",
        r"(?i)\b(?:delete|remove|erase) this (?:line|note|file|memory|message|instruction) (?:after|once|when) (?:read|you|done|it)",
        rf"(?i)\bhide (?:the |this |any |all )?(?:output|results?|errors?|changes?|diff|log) from (?:the )?{WHO}\b|\bavoid (?:telling|mentioning|informing|notifying)\b[^.\n]{{0,30}}\b{WHO}\b",
        rf"(?i)\bconsider (?:every|all|any|my)\b[^.\n]{{0,40}}\bapproved\b|\bkeep (?:this|it|that) from (?:the )?{WHO}\b|\b{WHO} (?:must|should|may) (?:not|never) (?:know|learn|see this|find out|notice|hear)\b",
        rf"(?i)\bso (?:that )?(?:the )?{WHO} (?:does not|doesn['’]t|never|won['’]t|will not|cannot|can['’]t) (?:see|notice|know|find)\b",
        r"(?i)\bskip(?:ping|s)? (?:all |any |the |every )?(?:confirmation|approval|permission)s?\b",
        r"(?i)\balways (?:approve|accept)\b|\balways allow(?: (?:all|any|every|it|them|this|these|tools?|commands?|edits?|writes?|bash|claude|network|access|me|you|the (?:agent|tool|command|user|assistant)s?)\b|[\"'”`.,;]|$)|\bauto[- ]?(?:approve|accept)s? (?:all|any|every|everything|tools?|commands?|permissions?|changes|edits)\b",
        r"(?i)\b(?:is|are|been|already) pre-?approved\b|\bpre-?approved (?:tools?|commands?|actions?|changes?|edits?|permissions?|requests?|by)\b",
        rf"(?i)\b(?:don['’]t|do not|never|must not|should not) (?:tell|inform|mention|notify|reveal|disclose|alert|let)\b[^.\n]{{0,40}}\b{WHO}\b",
        rf"(?i)\b(?:don['’]t|do not|never) show (?:this|it|them|these|that|the (?:output|diff|log|change)s?) to (?:the )?{WHO}\b",
        rf"(?i)\bwithout (?:telling|informing|notifying|alerting|the knowledge of|letting) (?:the |any |your )?{WHO}\b",
        rf"(?i)\bkeep (?:this|it|that) (?:a )?(?:secret|hidden)\b|\bhid(?:e|den) (?:this|it|that) from (?:the )?{WHO}\b|\bkept? (?:hidden|secret) from (?:the )?{WHO}\b",
        r"(?i)\b(?:silently|secretly|covertly|stealthily|surreptitiously) (?:run|execute|send|post|upload|fetch|delete|write|add|push|commit|install|allow|approve|accept|copy|disable|remove|share|forward|change|edit)\b",
        r"(?i)\b(?:disable|turn off|switch off|bypass|deactivate) (?:the |all |any |your )?(?:sandbox|safety (?:checks?|rules?|filters?)|guardrails?|permission (?:checks?|prompts?)|security checks?|approval prompts?)\b",
        r"--no-verify\b|--dangerously[a-z-]*|\bdangerously[A-Z]\w+|\bBash\(\*\)|[\"']allow[\"']\s*:\s*\[\s*[\"']\*|\bsudo\b[^.\n]{0,30}\bno prompts?\b|--yolo\b|--force-yes\b|bypassPermissions|skip[-_]?permissions|chmod (?:-R )?777|\bgit commit\b[^\n]{0,40} -n\b",
        holds=not_forbidden,
    ),
    rule(
        "delayed-trigger", "waits for a moment to act on", READ,
        rf"(?i)\b(?:when(?:ever)?|if|once|after|next time|as soon as|every time)\b[^.\n]{{0,80}}\b(?:{WHO}|session|conversation|you)\b[^.\n]{{0,40}}\b(?:say|ask|type|mention|start|begin|open|repl(?:y|ie)|respond|thank|confirm|approve|see|read|commit|push|save|close|finish)(?:s|ed|es|d|ted)?\b[^.\n]{{0,100}}[\s,:;]{ACT}\b",
        rf"(?i)\b(?:when(?:ever)?|if|once|after|as soon as)\b[^.\n]{{0,80}}\b{WHO}\b[^.\n]{{0,100}}[\s,:;]delete (?:the |all |any |your )?(?:logs?|files?|history|branch(?:es)?|repo\w*|memor(?:y|ies)|transcripts?|everything|notes?)\b",
        rf"(?i)\b(?:before|after|with|in) (?:each|every) (?:repl(?:y|ies)|responses?|answers?|messages?|turns?)\b[^.\n]{{0,40}}[\s,:;]{ACT}\b",
        rf"(?i)\b(?:if|when(?:ever)?|once)\b[^.\n]{{0,60}}\b{WHO}\b[^.\n]{{0,60}}[\s,:;](?:change|replace|swap) (?:the |any |every )?(?:IBAN|account|wallet|recipient|payee|bank)\b",
        rf"(?i)\bon (?:startup|start-up|boot|launch),? {ACT}\b[^.\n]{{0,60}}(?:https?://|\bscript\b)",
        rf"(?i)\b(?:on|at|after|before|in) (?:the )?(?:next|every|each|start of (?:the |every |each )?(?:next )?)\s?(?:session|conversation|chat|login)\b[^.\n]{{0,60}}[\s,:;]{ACT}\b",
    ),
    rule(
        "markdown-image", "shows an image: loading it can carry data away", "Leave the image out, or name the file in words.",
        r"!\[[^\]\n]{0,300}\]\s?[(\[]",
        holds=lambda match: match.string[: match.start()].count("`") % 2 == 0,
    ),
    rule(
        "raw-html", "holds raw HTML or a comment, which the rendered view does not show", "Write it as plain Markdown.",
        r"<!--",
        r"(?i)</?(?:script|iframe|img|style|link|meta|object|embed|form|input|svg|base|video|audio|a|div|span|details|summary|button|table|body|html|br|p|font|marquee|math|template|noscript)\b[^>\n]{0,300}/?>",
        r"(?i)\bon(?:load|error|click|mouseover)\s?=|\bjavascript:\S|&(?:lt|#x?0*3c|#60);\s?/?(?:script|img|iframe|svg)|\]\(\s?(?:javascript|vbscript|data):",
        holds=no_component,
    ),
    rule(
        "credential-path", "names a place where credentials are kept", "Make sure that a session needs to know this path.",
        r"(?i)(?:~|\$HOME|/home/[\w.-]+|/Users/[\w.-]+|/root|%USERPROFILE%)[/\\]\.(?:ssh|aws|gnupg|kube|docker/config\.json|npmrc|pypirc|config/gcloud|config/gh|azure|terraform\.d|cargo/credentials|env|claude/\.credentials|bash_history|zsh_history)\b",
        r"(?:^|[\s`\"'(=/])\.(?:ssh|aws|gnupg|kube)/\w|\.docker/config\.json|\.config/(?:gcloud|gh)/|\.(?:netrc|pgpass|git-credentials|vault-token)\b|\.claude/\.credentials",
        r"(?i)\.(?:bash|zsh|psql|mysql|python|node_repl)_history\b",
        r"\bid_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:shadow|sudoers)\b|\bcredentials\.json\b|\bservice[-_]account[\w-]*\.json\b|\bLogin Data\b",
        r"(?i)\b(?:cat|print|send|upload|dump|share|paste|commit|leak|contents? of|copy|e-?mail)\b[^.\n]{0,30}\s[`\"']?\.env(?:\.(?:local|prod\w*|dev\w*|staging))?(?:$|[\s`\"',;:)])",
        r"/[\w./-]+/\.env(?:$|[\s`\"',;:)])",
        r"(?i)\bfind\s+[/~]\S*[^\n]{0,60}\.(?:pem|key|p12|pfx|kdbx)\b",
        r"(?i)\b(?:macos|login|system|export(?: the)?|dump(?: the)?|read(?: the)?) keychain\b|\bsecurity find-(?:generic|internet)-password\b",
        holds=lambda match: not re.search(r"\.env\.(?:example|sample|template|dist)", match.string) or ".env" not in match[0],
    ),
    rule(
        "pipe-to-shell", "runs something that cannot be read first", "Leave the command out, or name the script's place in words.",
        r"(?i)\b(?:curl|wget|iwr|irm)\b[^\n]{0,300}\|\s*(?:sudo\s+)?(?:(?:ba|z|da|fi)?sh|python[23]?|node|perl|ruby|iex)\b",
        r"(?i)\b(?:eval|exec)\b\s*[\"'(]?\$\(|\b(?:ba|z|da)?sh\s+(?:<\(|-c\s+[\"']?\$\()\s?(?:curl|wget)|\bpython[23]?\s+-c\s+[\"']?\$\(",
        r"(?i)\bpython[23]?\s+-c\s+[\"'][^\n]{0,200}(?:os\.system|subprocess|exec\(|eval\(|urlopen|requests\.)",
        r"\bbase64\s+(?:-d|--decode|-D)\b|\b(?:nc|ncat|netcat)\s+-[a-z]*e\b|/dev/tcp/",
        r"(?i)\b(?:curl|wget)\b[^\n]{0,200}(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|[0-7]{3,4})|(?:ba|z|da)?sh\s|\./|python[23]?\s)|\b(?:python[23]?|node|perl|ruby)\s+<\(",
        r"(?i)\bperl\s+-e\s+[\"']use Socket|\bphp\s+-r\s+[\"']\$sock",
        r"(?i)\b(?:node|deno|bun|ruby|php)\s+-(?:e|r)\s[^\n]*(?:child_process|exec\(|eval\(|system\()|\bpowershell\b[^\n]{0,80}-enc|\bIEX\s*\(|\bDownloadString\b|\|\s*iex\b",
        holds=not_forbidden,
    ),
    rule(
        "data-sent-away", "sends what is on this machine somewhere else", "Leave the command out.",
        r"(?i)\b(?:env|printenv|history|cat\s+\S+|tar\s[^\n|]{0,80}|find\s[^\n|]{0,80}|ls\s[^\n|]{0,40})\s*\|\s*(?:\w+\s*\|\s*)?(?:curl|nc|ncat|netcat|telnet)\b",
        r"(?i)\bcurl\b[^\n]{0,100}\s(?:-d|--data(?:-binary|-raw)?|-F|-T|--upload-file)\s?[\"']?(?:\w+=)?@(?:~|/|\.env|\$HOME)",
    ),
    rule(
        "destructive-command", "would delete far more than a project", "Leave the command out.",
        r"\brm\s+-[a-zA-Z]*r[a-zA-Z]*\s+(?:-\S+\s+)*[\"']?(?:/|~|\$HOME)(?:/?\*)?/?[\"']?(?:\s|$|[`;&|.,)])|--no-preserve-root|\bmkfs\.\w+|\bdd\b[^\n]{0,60}\bof=/dev/",
        holds=not_forbidden,
    ),
    rule(
        "encoded-blob", "holds an encoded block that nobody can read", "Leave the block out, or say in words what it is.",
        r"\b(?:[A-Za-z0-9+/]{4}){7,}[A-Za-z0-9+/]{0,3}={0,2}|\b(?:[0-9a-fA-F]{2}){33,}\b|(?:\\x[0-9a-fA-F]{2}){8,}|(?:&#x?[0-9a-fA-F]{2,6};){4,}|(?:%[0-9A-Fa-f]{2}){10,}",
        holds=unreadable,
    ),
)  # fmt: skip


# What is told of a line behind its disguise too; an image or a long blob is none of these.
_SPOKEN = tuple(
    each
    for each in RULES
    if each.code
    in {
        "agent-order", "ignore-previous", "permission", "hides-from-user", "delayed-trigger", "claimed-authority",
        "data-sent-away", "pipe-to-shell", "role-tag",
    }
)  # fmt: skip
# One search tells whether a line has to do with another language at all: most have not.
_FOREIGN = any_of(ABROAD)
_ENGLISH = tuple(each for each in RULES if each not in ABROAD)
MOST_KEPT = 20_000  # lines remembered: the same ones stand before and after a change


@dataclass(frozen=True, slots=True)
class Told:
    """One rule that holds in a line, with the words that it is about."""

    code: str
    says: str
    remedy: str
    words: str


@functools.lru_cache(maxsize=MOST_KEPT)
def told(text: str) -> tuple[Told, ...]:
    """What holds somewhere in one line, each code once, and what it says behind a disguise."""
    found: dict[str, Told] = {}
    for each in RULES if _FOREIGN.search(text) else _ENGLISH:
        match = None if each.code in found else first(each, text)
        if match:
            found[each.code] = Told(each.code, each.says, each.remedy, match[0])
    hidden = _unmasked(text)
    if hidden:
        found["disguised"] = Told(
            "disguised", "says something else once it is decoded", _PLAIN, hidden.strip()
        )
    return tuple(found.values())


def _unmasked(text: str) -> str:
    """What a line orders behind its disguise; empty for one that has none or whose other reading orders no more."""
    return next((o for o in uncovered(text) if any(first(r, o) and not first(r, text) for r in _SPOKEN)), "")
