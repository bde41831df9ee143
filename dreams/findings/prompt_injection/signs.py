"""Signs of steering: what each says of a line, how much it weighs, the words it is made of, and when a likeness is none. PURE."""

import base64
import binascii
import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dreams.findings.prompt_injection.text import Idea, Match, Text, idea_of, words

_TALK = re.compile(
    r"\b(?:injections?|jailbreaks?|attacks?|adversarial|detects?|detection|fixtures?|payloads?|red[- ]team\w*|test cases?|assert|patterns?|filters?|flags|flagged|social engineering|sanitiz\w+|sanitis\w+|classif\w+)\b",
    re.IGNORECASE,
)
_CITES = re.compile(
    r"\b(?:attack(?:er)?s?|payloads?|phrases?|patterns?|regex\w*|regexps?|researchers?|advisory|thesis|novel|story|poem|villain|hacker|typed?|social engineering|suspicious|malicious|red[- ]team\w*)\b[^.!?;]{0,80}$",
    re.IGNORECASE,
)
_CITED = 120  # characters before a phrase that may name its source: a long line read whole for each phrase takes seconds
_QUOTES = "\"“”`'‘’«»"
_FORBIDS = re.compile(
    r"\b(?:never|not|cannot|can['’]t|don['’]t|won['’]t|no|avoid|without|forbids?|bans?|stop|instead of)\b",
    re.IGNORECASE,
)
_FORBIDDEN = re.compile(
    r"[^.!?;]{0,60}\b(?:forbidden|prohibited|banned|not allowed|never|refused|off limits)\b", re.IGNORECASE
)
_FORBIDS_ABROAD = re.compile(
    r"\b(?:nie|niemals|nicht|kein\w*|jamais|ne|pas|aucune?|nunca|no|não|jamás|mai|non|nooit|niet|никогда|не|нельзя)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\bask\b[^.!?;]*\b(?:or|vs|versus|which)\b", re.IGNORECASE)
_ACTS = re.compile(
    r"\b(?:before|first|again|permission|approval|confirm\w*|push|delete|deploy|run|commit|install)\b",
    re.IGNORECASE,
)
_COMPONENT = re.compile(r"</?[A-Z][a-z]\w*(?:\s*/?>|\[|\s+\w+[={])")
_LOCK_FILE = re.compile(r"\bsha\d{1,3}[-:]$")
_DIGESTS = {32, 40, 56, 64, 96, 128}


def not_quoted(place: Match) -> bool:
    """A note on attacks quotes them: We test "ignore previous instructions" attacks; attackers say to forget the rules."""
    before, after = place.before, place.after
    quoted = before.rstrip()[-1:] in _QUOTES and any(mark in after for mark in _QUOTES) and before[-1:] != ""
    return not (_CITES.search(before[-_CITED:]) or (quoted and _TALK.search(before + " " + after)))


def not_forbidden(place: Match) -> bool:
    """ "Never push without asking" gives no leave, it takes it."""
    sentence = place.before[max(map(place.before.rfind, ".!?;")) + 1 :]
    return not (_FORBIDS.search(sentence) or _FORBIDDEN.match(place.text, place.end))


def not_forbidden_abroad(place: Match) -> bool:
    """ "Ne jamais pousser sans demander" gives no leave, it takes it."""
    return not _FORBIDS_ABROAD.search(place.before)


def is_choice(place: Match) -> bool:
    """ "Never ask whether to use tabs or spaces" settles a question; it gives no leave to act."""
    settled = _CHOICE.match(place.text, place.start + max(0, place.words.lower().find("ask")))
    return bool(settled) and not _ACTS.search(settled[0] if settled else "")


def in_code(place: Match) -> bool:
    return place.before.count("`") % 2 == 1


def no_component(place: Match) -> bool:
    """`<Button>` is the component of a user interface, and what stands in code is shown as it is."""
    return not is_component(place) and not in_code(place)


def is_component(place: Match) -> bool:
    """`<User size="5">` of a user interface, and the `<User[]>` in `Promise<User[]>`."""
    typed = place.before[-1:].isalnum() and place.words[0] == "<"
    return typed or bool(_COMPONENT.match(place.words))


def unreadable(place: Match) -> bool:
    """Encoded bytes: no digest, no path, no long name."""
    found = place.words
    if found[0] in "\\&%":
        return True
    if _LOCK_FILE.search(place.before[-8:]):
        return False
    if all(char in string.hexdigits for char in found):
        return len(found) > 64 and len(found) not in _DIGESTS
    if " " in from_base64(found):
        return True
    kinds = [sum(map(kind, found)) / len(found) for kind in (str.isupper, str.islower, str.isdigit)]
    return len(found) >= 64 and kinds[0] > 0.15 and kinds[1] > 0.15 and kinds[2] > 0.02


def printable(data: bytes) -> str:
    """The bytes as a text; "" unless all of them are printable."""
    text = data.decode("ascii", "replace")
    return text if set(text) <= set(string.printable) else ""


def from_base64(word: str) -> str:
    """What it says; "" if it says nothing printable."""
    try:
        return printable(base64.b64decode(word + "=" * (-len(word) % 4), validate=True))
    except binascii.Error:
        return ""


Judge = Callable[[Match], bool]
ENOUGH = 3  # of the weights of the signs that meet
# What a rule may well forbid: "never push without asking" gives no leave, it takes it.
FORBIDDABLE = frozenset({
    "permission", "protection-off", "access-granted", "data-sent-away", "agent-settings", "pipe-to-shell",
    "destructive-command",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sign:
    """`code` is one of `ADVICE`; empty for what every honest note has too. `holds` says whether a likeness is meant."""

    code: str
    weight: int
    ideas: tuple[Idea, ...]
    holds: Judge

    def found(self, text: Text) -> Match | None:
        """A place where it is meant."""
        if text.lacks(self.ideas):
            return None
        return next((place for idea in self.ideas for place in text.places(idea) if self.holds(place)), None)


def _sign(weight: int, code: str, *ideas: Idea, holds: Judge | None = None) -> Sign:
    usual = meant if code in FORBIDDABLE else not_quoted
    return Sign(code, weight, tuple(map(idea_of, ideas)), holds or usual)


tells = partial(_sign, ENOUGH)  # has no good use in a note: it is told wherever it stands
hints = partial(_sign, ENOUGH - 1)  # seldom has a good use: told beside one sign of any kind
may_hint = partial(_sign, 1)  # guides and plain notes do it too: told beside two signs more


def bears(*ideas: Idea) -> Sign:
    """Has a thousand good uses: tells nothing itself, and adds to what does."""
    return _sign(1, "", *ideas, holds=lambda _: True)


def meant(place: Match) -> bool:
    return not_quoted(place) and not_forbidden(place)


# Who
AGENT = words(
    "AIs?|LLMs?|(?:chat)?bots?|GPT|ChatGPT|Claude|Copilot|Gemini|Cursor|language models?",
    "the model",
    r"(?:(?:AI|coding) )?(?:agents?|assistants?)|AI (?:models?|systems?|tools?)",
    r"automated (?:[\w-]+ )?(?:systems?|software|tools?|reviewers?)",
)
PERSON = words(
    "users?|humans?|persons?|people|developers?|owners?|operators?|maintainers?|reviewers?",
    "customers?|clients?",
)
ANYBODY = words(
    "any(?:one|body)|some(?:one|body)|no(?:body|[- ]one)|every(?:one|body)|others|them|they|him", "her|me"
)
OUTSIDER = words(
    r"(?:the |a |an |our )?(?:\w+ )?(?:vendors?|suppliers?|contractors?|partners?|third part(?:y|ies)|freelancers?|strangers?|competitors?)(?:['’]s)?",
    "anyone who|whoever",
    r"(?:external|outside|personal) (?:\w+ )?(?:address|e-?mail|account|server|storage)",
)
AUTHORITY = words(
    r"admin\w*|owner|boss|management|manager|legal|compliance|(?-i:IT)|security(?: team)?",
    "head office|company|ceo|cto|leads?|team lead|vendor|maintainers?|department|ops team",
    r"anthropic|openai|google|microsoft|users?|the (?:team|developers?)|repo(?:sitory)? owner",
)

# What governs an agent
LAW = words(
    "instructions?|directives?|rules?|guidelines?|guidance|prompts?|orders|commands?|constraints?",
    "restrictions?|polic(?:y|ies)|safeguards?|guardrails?|limitations?|limits|programming",
    "training|directions?|filters?|measures|modules?|protocols?",
)
_GUARD = words("safety|security|ethical|content|moral|access|system|protective")
_OWN = words(
    "your|my|previous|prior|earlier|above|preceding|initial|original|starting|existing|current",
    f"old|past|given|hidden|secret|default|all|any|every|other|usual|{_GUARD}",
)
LAWS = words(
    rf"{_OWN}(?: (?:of )?(?:the |your |and |or )?[\w-]+){{0,3}}? {LAW}|system (?:prompt|message)s?",
    f"{LAW} (?:above|before|you (?:were|have|got|received))",
)
SAFETY = rf"\b(?:(?:your|all|any|every) (?:[\w-]+ )?)?(?:(?:your|previous|prior|{_GUARD})(?: and \w+)?|safety[- ]related) (?:\w+ )?(?:{LAW}|settings|entries)\b"
TOLD_BEFORE = words(
    "(?:(?:the )?(?:rest|remainder) of (?:this|the)|th(?:is|ese)) (?:data|content|text|document|information|input|page|message)",
    "everything (?:else|above|before|you)|other content",
    "(?:all |any |future )+(?:security|safety) (?:concerns?|warnings?|issues?|findings?|alerts?)",
    "what (?:you were|i|they|the user|was) (?:told|said)",
    r"the user['’]s (?:\w+ )?(?:questions?|requests?|instructions?|wish(?:es)?|prompts?|query)",
)
THIS = words(
    "(?:this|these|the following|the above) (?:line|note|entry|entries|memory|memories|rule|rules|instruction|instructions|paragraph|text|message|section|fact|block|remark|reminder|file|sentence)s?"
)
ELSEWHERE = (
    words(
        "(?:web ?)?(?:pages?|sites?)|wiki|tool (?:results?|outputs?|calls?)",
        "(?:test|command|program) outputs?|(?:build |server )?logs?|log files?|tickets?|comments?",
        "issues?|tracker",
        r"e-?mails?|documents?|attachments?|downloads?|search results?|release page|links?",
    )
    + r"|https?://|<\w+> tags\b"
)
INSTRUCTIONS = words(r"instructions?|commands?|orders?|directives?|requests?|steps|text")

# What is worth guarding
PRIVATE = (
    words(
        "passwords?|credentials?|secrets?|tokens?|api[ _-]?keys?|(?:ssh|private|signing|deploy) keys?",
        "connection strings?|session (?:tokens?|ids?|cookies?|data|logs?)|cookies",
        r"\w+_(?:API_)?(?:KEY|TOKEN|SECRET)|credential files?|env(?:ironment)? (?:variables|files?)",
        "sensitive (?:data|information|files?|file access|queries)",
        "personal (?:data|information|details)|PII|security codes?|card numbers?|etc/passwd",
        "customer (?:data|records|lists?|e-?mails?)|private (?:data|information|messages)",
        r"all (?:\w+ )?(?:messages|e-?mails|files|data|records|inputs)",
        r"saved (?:\w+ )?(?:addresses|cards|details)",
        "(?:chat|conversation|session|shell|browsing) (?:history|logs?|transcripts?|contents?)",
        "transcripts?|prompts",
        "(?:the|this|entire|full|whole) (?:conversation|codebase|repository|memory|context)",
        "memory (?:contents?|files?)|source code|id_rsa",
    )
    + r"|\.(?:env|aws|ssh)\b|~/\.\w+"
)
PERSONAL = words(
    r"account numbers?|card (?:numbers?|cvv)|(?:full )?credit card (?:\w+ )?(?:number|details|cvv)",
    "cvv|social security numbers?|ssns?|home address(?:es)?|dates? of birth|passport numbers?",
    "login passwords?|bank account",
)
_ENDING = "com|net|org|io|dev|example|xyz|ru|cn|top|info|me|co|site|online|cloud|app|test|shop|biz"
HOST = rf"https?://|[\w.+-]+@[\w-]+\.[a-z]{{2,}}|\b(?:[\w-]+\.)+(?:{_ENDING})\b"
_RECEIVER = words("endpoint|server|address|e-?mail|site|account|webhook|url|link")
PLACE = rf"{HOST}|\bwebhook|{OUTSIDER}|" + words(
    f"gists?|pastebin|this {_RECEIVER}",
    rf"(?:my|our|an external|a remote|the attacker['’]?s?) (?:\w+ )?{_RECEIVER}",
)
# What protects, and what only keeps quality up: the second may be left out for a good reason.
SHIELD = words(
    r"sandbox\w*|guardrails?",
    "(?:tls|ssl|certificate|signature|host[- ]key|checksum|integrity|input|identity|licen[cs]e|copyright) (?:checks?|verification|validation|warnings?)",
    r"(?:2fa|mfa|two-factor)\w*",
    "(?:audit|security|access)(?: (?:logs?|logging|trails?|entry|entries|files))",
    r"security (?:tests?|scan\w*)|alerts|monitoring|rate limit\w*",
    "(?:security|safety|permission|access|malware|virus) (?:checks?|scans?|scanners?|prompts?|warnings?|alerts?|controls?|hooks?|reviews?|questions?)",
    "firewall|antivirus|branch (?:protection|rules?)",
    "(?:approval|confirmation|review|retention|safety|security|consent) (?:steps?|gates?|process|(?:work)?flows?|requirements?|dialogs?|prompts?|warnings?|caveats?|checks?|box)",
    "disclaimers|authentication|masking",
)
CHECK = words(
    "validations?|(?:code |security |peer )?reviews?|testing|tests|verification|quality gates?",
    r"(?:git |pre-commit )?hooks?|lint\w*|type[- ]check\w*",
    r"approvals?|confirmations?|audits?|checks?|procedures?|safeguards?|second pair of eyes",
)
# A look by somebody else than the one who did the work.
REVIEW = words(
    "(?:code |security |peer )?reviews?|reviewers?|approvals?|confirmations?|audits?", "second pair of eyes"
)
OFF = words(
    "disabl(?:e|ing)|deactivat(?:e|ing)",
    r"(?:turn|switch)(?:ing)?(?: (?:the|this|that|any|all|every|your|its)(?: \w+)?)? off",
    "bypass(?:ing)?|skip(?:s|ping)?|circumvent|evade|weaken|suppress|remove|silence|mute",
    "waived?|cancell?ed|revoked|drop|lift|leave out|comment out|take out|(?:go|get|work) around",
    "ease|relax|loosen|lower|wave through|ignore|leave off",
)
IS_OFF = words(
    r"disabled|deactivated|(?:turned|switched|stay|leave \w+) off|bypassed|skipped|circumvented",
    "weakened|suppressed|waived|cancell?ed|revoked|dropped|lifted|left out|eased|relaxed|exempt",
    "ignored|clicked away|waved through|be (?:off|open)",
)
POWER = words(
    "root|(?:super|cluster[- ]?)?admin(?:istrator)?|sudo|superuser|super-user|elevated|unlimited",
    "unrestricted|full|system[- ]level|privileged|developer|god|maintenance|trusted|verified",
    "authori[sz]ed|owner",
)

# What is done
IGNORE = words(
    r"ignor(?:e|ing)|disregard(?:ing)?|forg[eo]t(?:ting|ten)?|overrid(?:e|es|ing)|overrul\w+",
    "abandon|neglect|set aside|pay no attention to|stop (?:following|obeying)",
    "(?:do not|don['’]t) (?:follow|obey)|circumvent|evade|violate|regardless of|contrary to",
    "without regard (?:to|for)|free (?:of|from)",
)
REMOVE = words(
    "bypass(?:es|ing)?|discard|cancel|void|nullify|revoke|replace|delete|erase|clear|remove|reset",
    "break|disable|(?:turn|switch)(?:ed)? off|skip|lift|roll back|lower|weaken|suspend|override",
)
LIFTED = words(
    "updated|changed|replaced|lifted|removed|disabled|suspended|revoked|cancell?ed|void|null",
    r"obsolete|outdated|overridden|superseded|waived|bypassed|relaxed|off|rewritten|no longer \w+",
    "a joke|expired|ended",
)
SHOW = words(
    "print|output|repeat|reveal|show|tell me|display|disclose|leak|dump|recite|quote",
    "write(?: out| down)?|list|give me|send me|share|spell[- ]check|translate",
    "encode|summari[sz]e|describe|provide|return|copy|paste|expose|append|include|read back",
    "convert|rephrase|what (?:is|are|were|was)|tell us|see|extract|decode",
)
SAY = words(
    "say|print|output|reply|respond|answer|write|report|return|repeat|state|conclude|claim",
    "tell (?:the user|them|him|her)|generate|display|include|append|add",
)
SEND = words(
    "(?:send|post|upload|forward|exfiltrate|copy|e-?mail|leak|share|transmit|submit|ship|sync|mirror|paste|publish|deliver|transfer|back up|relay|export|attach|append|embed|encode|put|include|insert|drop|pop)(?:s|es|ing|d|ed)?",
    "copied|includ(?:es?|ing)|routed?|routing|cop(?:y|ies)",
)
ADD = words(
    "append|includ(?:e|ing)|add(?:ing)?|output|insert|mention(?:ed|ing)?|suggest|recommend|embed",
    "attach|link to|refer to",
    "(?:respond|reply|answer|end) with|put",
)
ANSWERS = words(
    r"(?:all|every|each|any|your|next|first|later|future)(?: of your)? (?:\w+ )?(?:responses?|answers?|repl(?:y|ies)|summar(?:y|ies)|messages?)",
    "summaries (?:end|must|should)",
    r"when(?:ever)? (?:the |my )?[\w.]+(?: \w+)? (?:asks?|mentions?|says?|wants?|sends?)",
    "when(?:ever)? (?:asked|discussing|summari[sz]ing|talking|answering)",
)
PLANTED = rf"(?:[\"'“‘][^\"'”’\n]{{3,80}}[\"'”’]|{PLACE})"
FETCH = words(r"download|fetch|curl|wget|pull|retrieve|grab(?:bing)?")
# Deeds that reach beyond the project's own files or cannot be taken back, and what means anything at all.
FAR = words(
    r"(?:force[- ]?)?push(?:es|ed|ing)?|deploy\w*|publish\w*|releas(?:e|ing)|delet(?:e|ing|ions?)",
    r"remov(?:e|ing)|drop|wip(?:e|ing)|eras(?:e|ing)|overwrit(?:e|ing)|install\w*|merg(?:e|ing)",
    r"send(?:ing)?|upload\w*|approv(?:e|ing)",
    r"sudo|root|transfer\w*|purchas\w+|pay(?:ments?)?|refunds?|prod(?:uction)?|outside",
    "shell commands?",
    r"network|--\w[\w-]+",
)
WIDE = words(
    "anything|everything|whatever",
    r"(?:any|all|every) (?:\w+ )?(?:commands?|actions?|operations?|tools?|requests?|scripts?)",
    "proceed|continue|go ahead|act|operate|future|from now on|at will",
)
OWN_WORK = words(
    r"edit|fix(?:es)?|format\w*|lint|refactor\w*|rename|commit|tests?|ruff|mypy|type[- ]check\w*",
    r"restart|rebuild|build|document\w*|stage|branch|worktree|typos?|applied|apply|comment|update",
    "read|create|src|docs|changes?",
)
DEED = words(
    "add|append|approve|change|commit|copy|create|delete|disable|download|drop|edit|enable|erase",
    "execute|export|fetch|forward|grant|include|insert|install",
    "inject|merge|modify|move|patch|post|publish|push|remove|rename|replace|reset|rotate|run|send",
    "share|swap|switch|turn|update|upload|wipe|write|clear|purge|start|tidy up|store|save|record",
    "collect|remember",
)
TELL = words(
    "tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)",
    r"alert(?:ing)?|acknowledge|admit|let(?:ting)? \w+ know|bring(?:ing)? (?:\w+ )?up",
)
NOTE = words(r"report(?:ing)?|flag(?:ged|ging)?|point(?:ing)? (?:\w+ )?out|writ(?:e|ing) (?:\w+ )?down")
NO_NEED = words(
    "need(?: not|n['’]t)|no (?:need|point|reason)(?: in| to| for)?|better not(?: to)?",
    "(?:would |['’]d )?rather (?:not|you didn['’]t)",
    "(?:do not|don['’]t|does(?: not|n['’]t)|needn['’]t) (?:need|have) to",
)
_NOT = words("do not|don['’]t|never|not to|must not|should not|without|avoid|refrain from")
NOT_TO = f"(?:{_NOT}|{NO_NEED})"
EASE = words(
    r"(?:it['’]?s|is|are|that['’]?s|be|perfectly) (?:\w+ )?(?:fine|ok|okay|alright|all right|normal|handy|simplest|easiest|cleaner|enough|annoying|good)",
    "fine|okay|alright|feel free|(?:no|any) (?:real )?harm|nothing wrong",
    "nobody (?:minds|cares|looks|checks|reads)|no one (?:minds|cares|reads)",
    "everyone (?:here )?does|most of us|we all do|happy for you|would be (?:nice|lovely|good)",
    r"saves? (?:\w+ )*time|less (?:work|fuss)",
    r"(?:slows?|hold) (?:\w+ )*(?:down|up)|usually|normally|generally|we don['’]t|for convenience",
    r"a formality|noise|clutter\w*|just|simply|in the way|prefers?|appreciate|anyway|trust you",
    "needn['’]t|not needed|it['’]s only us|faster|quicker|speed|trusted|proven|established",
    "reputable|safely|best practice|standard practice|industry|reliable|flaky|acceptable",
    "unnecessarily|delays?|approved",
)
