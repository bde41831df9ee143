"""Text that speaks to an agent in another's place: new instructions, claimed authority, leave to act, protection turned off. PURE."""

import re

from dreams.findings.prompt_injection import signs as s
from dreams.findings.prompt_injection.signs import Sign, hints, is_choice, may_hint, meant, not_quoted, tells
from dreams.findings.prompt_injection.text import Match, words

_BEFORE = words("previous|prior|earlier|above|preceding|your|system|safety|original|all|any|every|other")
_ROLE = words("role|task|goal|instructions?|identity|purpose|mission|objective|directive|step|job")
_FREE = words("un(?:restricted|filtered|censored|limited|bound)|evil|jailbroken|amoral")
_PROMPT = words(
    r"(?:system|hidden|initial|original|secret|starting|very first) (?:\w+ )?(?:prompts?|instructions?|messages?|configuration|directives?|text)"
)
_YOUR_PROMPT = words(r"your (?:\w+ ){0,2}(?:prompt|instructions?|guidelines|directives|configuration)")
_NOW = words("from (?:now|this point|here)(?: on(?:wards?)?| forward)?|as of (?:now|today)")
_ABOVE_IT = words(
    r"system (?:prompt|message)|claude\.md|safety|guardrails?|(?:all )?polic(?:y|ies)",
    "what(?:ever)? the user|the user['’]?s? (?:requests?|instructions?|wishes|orders)",
    "everything else|your (?:training|guidelines)",
)
_OUTRANKS = words(
    "overrides?|supersedes?|outranks?|trumps?|takes? (?:precedence|priority) over", "(?:is|are) above"
)

_BOOK = words(r"project rules|(?:claude|agents)\.md")
_NOT_SERIOUS = words(
    "suggestions?|(?:do not|don['’]t|does(?: not|n['’]t)) (?:matter|count|apply)",
    "no longer (?:matters?|counts?|valid)|obsolete|optional|too seriously",
)

INSTRUCTIONS: tuple[Sign, ...] = (
    # Rules set aside
    tells(
        "ignore-previous",
        rf"{s.IGNORE} … {_BEFORE} … \b{s.LAW}\b … 30",
        r"\b(?:forget|ignore|disregard) (?:everything|anything|all)(?: that)? (?:you|above|before|i|we)\b",
        rf"\b(?:ignore|disregard|(?:do not|don['’]t) follow) (?:the )?(?:{s.LAW}|text|content)? ?(?:above|before this|so far)\b",
        rf"\b(?:none of the|no) (?:previous|above|earlier|other) {s.LAW}\b",
        rf"\byou (?:now )?have (?:no|new|other|different|secret) {s.LAW}\b",
        rf"\b{s.LAW} (?:no longer|do not|don['’]t) (?:apply|count)\b|\bno longer bound by\b",
        r"\b(?:no|without) (?:any )?(?:restrictions or|moral|ethical|safety) \w+",
        r"\b(?:do not|don['’]t|never) refuse\b",
        f"{_OUTRANKS} … {_ABOVE_IT} … 12",
        rf"{s.THIS} (?:always )?(?:wins|prevails|comes first|takes precedence|has (?:priority|the last word)|is final)\b",
    ),
    hints(
        "ignore-previous",
        f"{s.IGNORE} … (?:{s.LAWS}|{s.TOLD_BEFORE})",
        f"{s.REMOVE} … {s.SAFETY} … 12",
        rf"{s.REMOVE} … \b(?:safety|ethical|security|content|access) {s.LAW}\b … 50",
        f"‹discard|drop|cancel|abandon|forget› … {s.TOLD_BEFORE} … 12",
        rf"(?:{s.LAWS}|\b(?:safety|security|file access) (?:checks?|settings|controls?|features)|\b(?:restrictions?|limitations|safeguards))[\"']? (?:(?:is|are|was|were|has been|have been|be|now)\b[^.!?;\n]{{0,20}}?)?{s.LIFTED}",
        rf"\bno (?:file |access |safety |content )+(?:{s.LAW}|checks)\b",
        r"\bwithout (?:any (?:\w+ )?(?:restriction|filter\w*)|restrictions|censorship|question|(?:content )?filter\w*|safety)\b",
        r"\bdo anything now\b",
        r"\bno (?:limits|limitations|restrictions|rules|constraints|boundaries|ethic\w+)\b",
        r"\buncensored\b|\bjailbroken\b|\bunrestricted (?:AI|mode|access|assistant|model)",
        rf"\b(?:free|freed) (?:of|from) (?:all |any |your )?(?:\w+ )?{s.LAW}\b",
        r"\brestrictions?[\"']?\s?[:=]\s?[\"']?(?:none|false|off)|\bbypass_\w+",
        r"\b(?:safety|require_)\w*[\"']?\s?(?:[:=,]|to)\s?(?:value\s?=\s?)?(?:false|off|none|0)",
    ),
    # Another role
    tells(
        "ignore-previous",
        r"\byou are now (?:an? |in |DAN|free|un|no longer|the )|\bnew (?:system )?instructions?:",
        rf"{_NOW},? (?:you|your|act|pretend|answer|respond|ignore|obey)\b",
        rf"\byour (?:new|real|true|actual|sole|only|secret|secondary|hidden) {_ROLE}",
        rf"\b(?:act|respond|answer|behave|operate) as (?:if you (?:were|had)|an? {_FREE})",
        rf"\b(?:become|you are) an? {_FREE}|\bpretend (?:that )?(?:you|to) (?:are|be|have)\b",
        r"\byou (?:must|will|should|shall)(?: now)? (?:answer|act|respond|reply|behave) (?:as|like|only|without)\b",
    ),
    hints(
        "ignore-previous",
        rf"{s.POWER} mode\b|\b(?:DAN|jailbreak|unsafe|evil|opposite) mode\b",
        r"\byou(?:['’]re| are) (?:now|actually|really|no longer) (?:an? |the |in |DAN|free|un\w+|[\"'“])",
        r"\b(?:your|its) (?:true|real) (?:state|self|identity|purpose)\b",
        r"\bact as (?:if|though)\b",
        r"\byou are (?:DAN|an? \w+ (?:AI|assistant|model) (?:with no|without|named))\b",
    ),
    # Instructions laid bare
    tells(
        "ignore-previous",
        f"‹repeat|reveal|print|output|leak|display|dump|quote|show me› … {_PROMPT} … 25",
        r"\b(?:what (?:were|are|is) your|contents? of your|your exact|your original|your system) (?:exact |original |system )?(?:prompt|instructions?|message)\b",
    ),
    hints(
        "ignore-previous",
        rf"{s.SHOW} … "
        rf"\b(?:your|the|its) {_PROMPT}|{_YOUR_PROMPT}|\binitialization (?:string|above|text) || \b(?:text|words?|messages?|instructions?|everything|conversation|notes) (?:above|you were given|from the beginning)",
        r"\byou (?:were|have been) (?:told|given|instructed)\b[^.!?\n]{0,30}\b(?:initially|before|at the (?:beginning|start))\b",
        r"\b(?:instructions|setup notes|rules) you were given\b",
        r"\bnot (?:supposed|allowed) to (?:tell|say|share|reveal)\b",
    ),
    # What governs an agent called unimportant, or less than this note
    tells(
        "ignore-previous",
        f"{_BOOK} … {_NOT_SERIOUS}",
        "‹(?:other|older) notes|in case of doubt|whatever the user|disagree› … ‹go with this (?:one|note)|(?:only )?this (?:one|note) (?:counts|wins|has the last word)›",
        "‹this (?:one|note)› … ‹has the last word|wins› … 2",
    ),
    hints(
        "ignore-previous",
        "‹overwrite|replace|rewrite› … ‹your (?:own )?memory› … 1",
        "‹update|change|modify|reset› … ‹your (?:core |base |own )?(?:instructions|rules|guidelines)› … 1",
        f"{s.LAWS} || ‹what was (?:said|agreed|written) before› … {_NOT_SERIOUS}",
        f"‹only› … {s.THIS} … ‹counts?› … 2",
    ),
)

AUTHORITY_CLAIMED: tuple[Sign, ...] = (
    tells(
        "claimed-authority",
        f"{s.AUTHORITY} … ‹(?:pre-?)?approved|authori[sz]ed?|granted|cleared|signed off|consented|permitted|sanctioned|agreed› … "
        f"‹full|unlimited|all|any|every|everything|complete|unrestricted|destructive|permanent|future›",
        rf"{s.AUTHORITY} … ‹said|says|agreed|allowed|permits?|allows?|confirmed|decided|told us|mentioned› … "
        rf"(?:{s.AGENT}|\byou\b|\b(?:everything|anything|unrestricted)\b) … ‹can|may|should|to|is|are|exempt› … 24",
        r"\b(?:as|i am|i['’]m|this is) (?:the |your |an? )?(?:\w+ )?(?:lead|administrator|admin|developer|creator|owner|operator|boss|manager|maintainer|root)\b,? (?:and )?i (?:\w+ )?(?:permit|allow|order|command|authori[sz]e|grant|instruct|require|demand)\b",
        rf"{s.PERSON} trusts you\b",
        r"\byou (?:have been|were|are) (?:given|granted) (?:\w+ )?(?:clearance|authority|rights|access|leave)\b",
        rf"{s.AGENT} (?:may|can|are free to|are allowed to) (?:ignore|skip|bypass|override|disable|force)\b",
        holds=not_quoted,
    ),
    hints(
        "claimed-authority",
        rf"\b(?:user|i|me|operator|agent|role)\b[\"'’]?(?:\s?m|\s(?:am|is|has(?: been)?|have|had|are)|\s?[:=])\s?[\"']?(?:an? |been |now |granted |authenticated as |verified as |the )*{s.POWER}(?: (?:access|permissions?|privileges?|rights|clearance|status))?[\"',]?",
        rf"\bi['’]?(?:ve| have) (?:been )?(?:given|granted|got) {s.POWER}",
        r"\b(?:user|identity)_verified\b|\belevated (?:access|privileges|permissions)",
        r"\bmy (?:access|privilege) level\b|\bauthenticated as\b",
        r"\bthis is (?:the|your) \w+ (?:\w+ )?(?:speaking|here)\b",
        r"\bthis is from the (?:security|admin\w*|it|compliance) \w+|\bclearance\b",
        r"\bthis is the (?:system )?administrator\b",
        r"\b(?:cleared|pre-?approved|verified) for (?:unrestricted|full|all)\b",
        r"\b(?:is|are) (?:safe|trusted|approved)(?: and (?:safe|trusted|approved))? for (?:all|any|every)\b",
        r"\b(?:remember|treat|regard|consider|cite|mark)\b[^.!?;\n]{0,50}\bas (?:an? |the )?(?:\w+ )?(?:trusted|authoritative|reliable|safe|legitimate|official|verified|pre-?approved)\b",
        r"\b(?:blindly|implicitly|unconditionally|fully|always) (?:trust|believe|accept)\b",
        r"\b(?:always|only|never|exclusively)(?: be)? recommend\w*[^.!?;\n]{0,60}\b(?:providers?|vendors?|brands?|products|partners?|fund|etf|choice|pick)\b",
        rf"{s.AUTHORITY} … ‹has no problem|is (?:aware|okay|relaxed|fine)|said|told us|mentioned|confirmed|agreed|authori[sz]ed|approved› … "
        rf"\b(?:limits|guardrails|branch rules|root|two-factor|unmasked|masking|sharing|deletions|without|no longer|lifted|secrets|credentials|transcripts?|privileges|access|payments)\b",
    ),
)

_YES = words(
    "confirmations?|approvals?|permissions?|consent|authori[sz]ations?|sign-?off|go-ahead",
    "green light|a yes|an? (?:ok|okay|answer|reply)|questions?",
)
_WITHOUT = rf"\bwithout (?:any |a |further |additional |explicit |prior |user |the \w+['’]?s? |her |his |their |my |your )*(?:waiting for )?(?:any |a )?(?:{_YES}|\b(?:asking|prompting|checking|confirming|hesitation|review)\b)"
_NOT_ASK = (
    words(
        "never|don['’]t|do not|need not|needn['’]t|no need to|no longer (?:need|have) to|must not",
        "should not|(?:stop|skip)|(?:don['’]t|do not|does not|needn['’]t|never) (?:need|have) to",
        "without having to",
    )
    + " "
    + words(
        "ask(?:ing)?|prompt|bother|consult|interrupt|disturb|confirm(?:ing)?|wait for",
        "check (?:in|back|with)|check(?:ing)? with|request|seek|require",
    )
)


def _unbounded(place: Match) -> bool:
    """Leave to do what reaches beyond the project's own files, what cannot be taken back, or anything at all.

    What a sentence names of the daily work ("edit src/", "run the tests") it leaves to the agent for good reason.
    """
    before, _, _ = place.words.rpartition("without")
    if not meant(place) or is_choice(place) or _NEGATED.search(before):
        return False
    said = _ASKING.sub(" ", place.sentence)
    return bool(_REACHES.search(said)) or not _DAILY.search(said)


_NEGATED = re.compile(r"\b(?:never|not|don['’]t|cannot|no)\b", re.IGNORECASE)
_ASKING = re.compile(rf"(?i){_WITHOUT}|{_NOT_ASK}")
_REACHES = re.compile(rf"(?i){s.FAR}|{s.WIDE}")
_DAILY = re.compile(rf"(?i){s.OWN_WORK}")


LEAVE: tuple[Sign, ...] = (
    tells(
        "permission",
        rf"{_NOT_ASK}(?: (?:me|us|(?:the )?(?:{s.ANYBODY}|{s.PERSON})|for|before|whether|if|about|first|again|any|{_YES})\b|\s*[.,;:!—–-]|\s*$)",
        f"{_NOT_ASK} … {s.FAR} … 12",
        f"{s.FAR} … ‹needs? no|requires? no› … {_YES} … 12",
        f"(?:{s.FAR}|{s.WIDE}) … {_WITHOUT} … 60",
        rf"\b(?:no|skip(?:ping)?) (?:all |any |further |more |user )*{_YES}(?: \w+)?(?: (?:is |are )?(?:needed|required|necessary))\b",
        rf"\bskip(?:ping)? (?:all |any |user )+{_YES}",
        rf"\b{_YES} (?:is|are|was|were) (?:not|never|no longer) (?:needed|required|necessary)\b",
        holds=_unbounded,
    ),
    tells(
        "permission",
        rf"\b(?:standing|blanket|permanent|advance) {_YES}",
        r"\b(?:assume|answer|say|type|reply|press|choose|consider)(?: with)? [\"'“]?(?:yes|y|ok|allow|approved)[\"'”]? (?:for|to|on|at|in) (?:every|all|any|each|the)\b",
        rf"\b(?:treat|consider|regard|take|count) (?:all |any |every |them |each )?(?:{_YES}|requests?|as\b)?[^.!?;\n]{{0,24}}\b(?:given|approved|confirmed|pre-?approved)\b",
        r"\b(?:automatically|always|blindly) (?:approve|accept|allow)\b(?: (?:all|any|every|it|them|this|tools?|commands?|edits?|network|access|me|you)\b)",
        r"\bauto[- ]?(?:approve|accept)s? (?:all|any|every|everything)\b",
        r"\b(?:is|are|been|already) pre-?approved\b|\bask (?:for )?forgiveness\b",
        r"\bapprove on \w+ behalf\b|\b(?:sign off|approve|release)\w*[^.!?;\n]{0,20}\bin my name\b",
    ),
    hints(
        "permission",
        f"(?:{s.DEED}|{s.AGENT}) … {_WITHOUT} … 60",
        r"\bno (?:further |more |additional )?(?:\w+ )?(?:checks?|verification|caveats?|refusals?) (?:is |are )?(?:needed|required|necessary)\b",
        r"\b(?:execute|run|obey|follow) (?:all|any|every|whatever) (?:\w+ )?commands? (?:\w+ )?(?:they|it|i|he|she|from|sent|given|found)\b",
        r"\b(?:execute|obey) user commands\b|\balways (?:execute|obey|comply)\b",
        r"\b(?:never|no need to|(?:do not|don['’]t)(?: need to)?) (?:verify|validate|question|double-check|second-guess|scrutini[sz]e)\b",
        rf"\b(?:got|have|has) (?:my|the user['’]s|full|every) (?:okay|ok|yes|{_YES})",
        "‹permission|consent|approval› … ‹was given› … 20",
        holds=_unbounded,
    ),
)

_DEFEAT = words(
    "disable|deactivate|(?:turn|switch)(?:ing)? off|bypass|circumvent|evade|(?:work|get|go) around|kill"
)
_REFUSED = words("(?:if|when(?:ever)?|once)") + r"[^.!?;\n]{0,40}" + words("denied|refused|blocked|rejected")
_MAY_BE_OFF = words(
    "(?:can|may|could|should) (?:always )?be (?:safely )?(?:skipped|bypassed|ignored|omitted|disabled|dropped)",
    "not (?:needed|required|necessary)|unnecessary|redundant",
)
_IDENTITY = words("host keys?|certificates?(?: warnings?)?|signatures?")

PROTECTION: tuple[Sign, ...] = (
    # By an option or a setting that has no other use
    tells(
        "protection-off",
        r"--no-verify\b|--dangerously[a-z-]*|\bdangerously[A-Z]\w+|skip[-_]?permissions|bypassPermissions",
        r"\bgit commit\b[^\n]{0,40} -n\b|--yolo\b|--force-yes\b|--(?:trust|allow)-all\b|chmod (?:-R )?777",
        r"\bBash\(\*\)|[\"']allow[\"']\s*:\s*\[\s*[\"']\*",
        r"\bstrict-ssl(?:\s|=)false\b|--trusted-host\b|--insecure\b|\bverify\s?=\s?False\b",
        r"--no-check-certificate\b|--no-gpg-check|--allow-unauthenticated|\bsslVerify\s+false\b",
    ),
    # In words
    tells(
        "protection-off",
        f"{s.SHIELD} … ‹(?:can|may) (?:always )?be› … {s.IS_OFF} … 30",
        rf"{_DEFEAT} (?:the |all |any |your |every )*{s.SHIELD}",
        f"{_REFUSED} … ‹retry|another way|bypass|work ?around|through (?:python|perl|a)|via|use (?:sudo|eval)› … 30",
        f"‹accept|ignor(?:e|ing)|trust› … ‹any|all|unknown|self-signed› … {_IDENTITY} … 6",
    ),
    hints(
        "protection-off",
        f"{s.OFF} … {s.SHIELD} … 20",
        f"{s.SHIELD} … {s.IS_OFF} … 50",
        rf"{s.SHIELD}[^\n]{{0,60}}" + words("(?:disable|skip|turn off|remove|bypass) (?:them|it)"),
        "‹accept|allow|approve› … ‹everything|anything› … 6",
        f"{s.CHECK} … {_MAY_BE_OFF} … 10",
        f"{s.CHECK} … ‹unnecessarily|needlessly›",
        f"‹don['’]t|doesn['’]t|do not|does not|never|no longer› … ‹(?:require|need|display|show)s?› … {s.SHIELD} || {s.CHECK} … 14",
        rf"‹push\w*|deploy\w*|releas\w+|merg\w+› … ‹without› … {s.CHECK} … 20",
        "‹bypass(?:es|ing)?› … ‹verification|approval|authentication|confirmation› … 12",
        r"‹force[- ]push\w*› … ‹acceptable|fine|ok|okay|allowed|safe› … 20",
        r"\balways (?:use|add|pass|include) (?:the )?[\"'`]?--(?:force|yes|assume-yes|(?:skip|no)-\w+)(?:[\s\"'`]|$)",
    ),
    # A look by somebody else may be left out for a good reason
    may_hint("protection-off", f"{s.OFF} … {s.REVIEW} … 12", f"{s.REVIEW} … {s.IS_OFF} … 20"),
)
