"""Orders to any agent that reads a note: what it should do, to whom it should give access, what it should run. PURE."""

import re

from dreams.findings.prompt_injection import signs as s
from dreams.findings.prompt_injection.signs import Sign, hints, may_hint, meant, tells
from dreams.findings.prompt_injection.text import Match, near, words

_MUST = words("must|shall|should|(?:is|are) (?:required|expected|supposed|to)|ha(?:s|ve) to|needs? to|will")
_MOMENT = words(
    "when(?:ever)?|if|once|after|before|as soon as|the moment|(?:every|each|next) time|should",
    "in case|upon|until",
)
_SEEN = rf"(?:{s.PERSON}|\b(?:anyone|someone|somebody|you|session|conversation|chat|tests? pass|pull request|keyword|phrase|messages?|turns?)\b)"
_HARM = (
    near(s.SEND, (s.PRIVATE, s.HOST, r"\bwebhook\b")),
    r"\b(?:wipe|erase|destroy|purge)\b|\b(?:delete|remove|drop|weaken|disable) (?:the |all |any |every |your )?(?:\w+ )?(?:history|logs?|database|tests?|backups?|licen[cs]e(?: check)?|evidence|audit\w*|repo\w*|branch(?:es)?|notes|memor\w+)\b",
    r"\b(?:swap|replace|change) the (?:account|iban|wallet|bank|recipient|keys?|tokens?)\b|\bopen(?: a| the)? port\b|\breverse shell\b|\bbackdoor\b|\b(?:merge|push|publish|approve)\b(?: (?:the|it|all|every|any|everything|on)\b)",
    near(
        words("run|execute|source|call"),
        r"(?:\.(?:sh|py|ps1|js)\b|https?://|\b(?:curl|wget|scripts?|payload|whatever)\b)",
    ),
    near(words("open|visit|load|download|fetch|import|follow|read"), r"https?://", within=20),
)
_FROM_ME = words(
    r"as if (?:i|they|it|the user|the owner|he|she)\b[^.!?;\n]{0,20}(?:had|were|was)?",
    "as (?:coming|being|sent) from (?:me|the (?:user|owner|admin))",
    "as (?:an )?instructions? from me|as mine",
)

ORDERS: tuple[Sign, ...] = (
    # To whatever agent reads it
    tells(
        "agent-order",
        rf"(?:^[\s*>-]*|\b(?:note|message|attention|notice|dear|hey|hello|important)\b[^.\n\w]{{1,3}}(?:to |for )?(?:all |any )?){s.AGENT}(?:,\s+(?:please |now )?[a-z]+|\s?:\s*(?:please|you|ignore|obey|follow|always|never|do|{s.DEED}))\b",
        rf"\b(?:note|message|notice|directives?|(?:secret|hidden) (?:system )?(?:instructions?|prompts?|orders?)) (?:to|for) (?:the |all |any )?{s.AGENT}[^.\n]{{0,20}}:",
        rf"\b(?:if|since|because) you are an? {s.AGENT}",
        r"\bas an AI (?:language )?(?:model|assistant|agent)\b",
        r"\b(?:hidden|secret) (?:instructions?|prompts?|orders?)\s?:",
        rf"\b(?:(?:who|which)ever|anyone|{s.AGENT}) (?:\w+ )?(?:loads?|reads?|opens?|sees?|loading|reading|opening) this\b",
        near(
            rf"(?:{s.AGENT}|\b(?:who|which)ever\b|\byou\b)",
            _MUST,
            (words("obey|comply|follow (?:only|every|all|any)"), *_HARM),
            within=16,
        ),
        rf"\b(?:AI|LLM)s?(?: (?:coding )?(?:agents?|assistants?|models?|tools?|systems?))? {_MUST}(?: \w+)? (?:include|mention|add|say|approve|recommend|rate|prefer|answer|respond|reply|treat|assume|state|report|output|insert)\b",
        r"\b(?:when|while|before|after) (?:summari[sz]ing|reading|reviewing|processing|parsing|loading) this (?:file|document|page|data|memory|repo\w*|code|text|note|message)[^.\n]{0,20}[,:]\s*\w",
        r"\bstop (?:what(?:ever)? you(?:['’]re| are) doing|your (?:current )?(?:task|work))\b",
        r"\bact as (?:root|admin|owner|superuser|god|a system administrator)\b",
        r"\bobey (?:the|me|this|every|all|any|only)\b",
        r"\byour (?:very )?first (?:step|task|action|job)(?: in (?:any|every|each|a) session)? (?:is|will be|must be)\b",
        r"^\s*\[(?://|comment|_metadata_|hidden|note)\]:\s?(?:#|<>)",
    ),
    hints(
        "agent-order",
        r"\b(?:message|note|instructions?|notice|order|request|directive)s? (?:from|by) (?:me\b|(?:the )?(?:user|system|orchestrator|admin\w*|developers?|owner)\b|your (?:\w+ )?(?:owner|user|developers?|creators?|admin\w*)|anthropic|openai|management)",
        rf"(?:^\W*|\b(?:an?|this|important|special|private) |['’]s )(?:note|message|notice)s? (?:to|for) (?:the |all |any )?(?:\w+ )?{s.AGENT}",
        r"#{2,}\s?\(?system_|\[(?:system|session|security|admin)(?:[_ -][\w -]*)?\](?:[\s:]|$)",
        r"^\W*(?:system|security(?: team)?)\s?(?:message|update|override|note|chain of thought)[\w ]*:\s",
        r"\b(?:security|system|admin) (?:override|update|message|notice|alert):",
        r"(?-i:[\[{<(#-][#/ -]?(?:[A-Z]+[ _])*(?:AI|LLM|SYSTEM|ADMIN|INSTRUCTIONS?|DIRECTIVES?|OVERRIDE|HIDDEN|ASSISTANT|AGENT)(?:[ _][A-Z]+)*(?:\]|\}|>|---|:)(?:[:\s]|$))",
        r"\bAGENT_INSTRUCTIONS?\b|\bthe previous tool returned\b",
        r"\bstop (?:what you|everything|immediately|your (?:current )?task)",
        r"\byou should (?:immediately )?stop\b|\bspecial case:|\bnever ?mind\b",
        r"\byou (?:already |previously )?agreed (?:to|that)\b|\bas we (?:established|agreed)\b",
        r"\blast time we (?:spoke|talked)\b|\b(?:task|instructions?) (?:that )?i gave you\b",
        rf"‹tell|inform|ask|urge|warn|direct|advise|let› … ‹(?:the |any |all |every )?(?:users?|customers?|reader|them|him|her|people)› … "
        rf"‹visit|click|go to|log ?in|re-?enter|reset|call|ring|transfer|pay|download|verify|must|need to› … "
        rf"{s.PLACE} || ‹passwords?|card|account|payment› || \+?\d[\d ]{{7,}} … 60",
    ),
    # Text from elsewhere taken for the person's word
    tells(
        "foreign-orders",
        f"‹treat|follow(?:ed)?|trust|execute|obey|carry out|counts?› … {_FROM_ME} … 60",
        f"{s.ELSEWHERE} … ‹counts? as|has the same (?:authority|weight)|same authority|is an? (?:order|instruction) from› … 30",
        "‹run|execute|follow|do|obey› … ‹whatever|anything that|everything that|every link|any command (?:they|it|you|that|from|in|given|sent)› … 1",
        "‹execute|run› … ‹every|all|any|each› … ‹code blocks?|snippets?|commands?|scripts?› … ‹you|that|in|from|found› … 2",
        r"‹accept|follow|trust|approve|obey|grant› … ‹every|all|any› … ‹\w+ (?:from|by|of)› … 1",
        "‹translate|decode|unscramble|decrypt|reverse› … ‹and|then› … ‹follow|do|run|execute|obey|act› … 30",
        rf"‹follow|trust|execute|obey› … {s.INSTRUCTIONS} … \b(?:in|from|on)\b … {s.ELSEWHERE} … 12",
    ),
    hints(
        "foreign-orders",
        f"{s.ELSEWHERE} … ‹says|suggests|asks|tells you|contains?› … ‹good|follow|do|executed?|run|as it stands|obey|act on› … 30",
        f"‹follow|do|execute|obey|steps› … ‹(?:you )?come across|found|find|listed› … {s.ELSEWHERE} … 30",
    ),
    # Words or addresses planted in every answer
    tells("planted-words", f"‹in|at the end of|into|with|to› … {s.ANSWERS} … {s.HOST}"),
    hints(
        "planted-words",
        f"{s.ADD} … {s.PLANTED} … {s.ANSWERS}",
        f"{s.ANSWERS} … {s.ADD} … {s.PLANTED} … 90",
        f"{s.ANSWERS} … ‹end|carry|contain› … {s.HOST}",
    ),
    # Waiting for a moment
    tells(
        "delayed-trigger",
        near(_MOMENT, _SEEN, r"[,:\"”]|\b(?:then|and|to|also)\b", _HARM, within=60),
        rf"{_MOMENT} … {_SEEN} … ‹say|says|said|ask|asks|types?|mentions?|thanks?|approved?|replies› … [\s,:;](?:send|post|upload|forward|push|delete|share|export)\b … 60",
        near(r"\bon the (?:first|last|\d{1,2}\w{0,2}) (?:of )?\w+\b", _HARM, within=20),
        r"‹(?:on|at|after|in) (?:the )?(?:next|every|each|start of (?:the |every |each )?(?:next )?)› … ‹(?:session|conversation|chat|login|start)\w*› … "
        r"‹run|execute|send|post|upload|fetch|download|push|install›",
        r"\bon the \d+\w\w (?:user )?(?:query|message|turn|request)\b … ‹say|output|send|run|print|reply› … 12",
        near(r"\b(?:after|before) (?:\w+ )?(?:messages?|turns?|repl(?:y|ies))\b", _HARM, within=20),
    ),
    # Holding on and spreading
    tells(
        "self-spreading",
        f"{s.THIS} … ‹(?:must|should|may|shall|can|has to) (?:never|not)|cannot› … ‹be (?:removed|deleted|edited|pruned|merged|shortened|changed)› … 3",
        f"‹copy|spread|propagate|replicate|re-?add|repeat|add|put|write› … {s.THIS} … ‹every|all|each|other› … ‹memor(?:y|ies)|projects?|files? (?:that )?you|notes› … 16",
        f"‹re-?add|add|write› … {s.THIS} … ‹again|back› … 30",
    ),
    hints(
        "self-spreading",
        rf"‹copy|add|re-?add|insert|repeat|write|propagate|spread|replicate|append|paste|put› … (?:{s.THIS}|\bthis line\b) … "
        rf"‹(?:every|all|each|other|any) (?:\w+ )?(?:memor\w+|projects?|notes?|sessions?|conversations?)|(?:notes|memor\w+) of other projects|back|again|verbatim|claude\.md|agents\.md|memory\.md› … 30",
        "‹when(?:ever)? you (?:summari[sz]e|update|create|write)|in (?:all|every) (?:future )?› … ‹memory|memories|profile|notes?|summar(?:y|ies)› … "
        "‹include|add|copy|repeat|mention› … ‹note|mention|reminder|this› … 60",
        "‹include› … ‹note|mention|reminder› … ‹all|every› … ‹summar(?:y|ies)|memory (?:logs?|notes?)|memories|profiles?› … 30",
        r"‹modify|edit|append|write|overwrite|add|insert|copy› … ‹(?:claude|soul|memory|agents|cursorrules)(?:\.md)?› … ‹every|all|each|other› … 20",
        f"{s.THIS} … ‹(?:must|should|shall|may|can|is)(?: never| not|not)› … ‹removed|deleted|edited|pruned|merged|changed|summari[sz]ed|questioned|overridden|ignored› … 20",
        f"{s.THIS} || ‹it|this|that› … ‹must|should|has to|needs to|make sure› … ‹survives?|persists?|outlives?|outlasts?|stays?|remains?› … "
        f"‹compactions?|consolidations?|clean(?:s|ing)?[ -]?ups?|dreams?|summari[sz]ation› … 20",
    ),
)

_ROLE = words("(?:super ?|cluster[- ]?)?admin(?:istrator)?s?|superusers?|root|owners?|maintainers?")
_GROUP = words(
    "sudoers?(?: file| group)?|sudo group|wheel(?: group)?|(?:domain )?admins?(?: group)?",
    "administrators|owners|maintainers|authorized_keys|allow ?list",
)
_ACCESS = words("access|rights?|permissions?|privileges?|role|scope")
_STRONG = words(
    "full|unrestricted|unlimited|admin(?:istrator)?|root|owner|sudo|superuser|maintainer",
    r"cluster-admin|\w*AdministratorAccess|roles/owner|elevated",
)
_ALL = words("all|every|any|everyone|everybody|anyone|public|the (?:internet|world)|everywhere")
_GIVE = words(
    "give|giving|grant|hand|provide|assign|attach|allow|should (?:get|have)|needs?|let|raise",
    r"upgrade|elevate|widen|extend|open(?: up)?|set|make sure \w+ (?:has|gets)",
)


def _not_only(place: Match) -> bool:
    """ "Write access only on the release branch" bounds what it gives."""
    return meant(place) and not re.search(
        r"\b(?:only|no longer|own|after|read[- ]only)\b", place.sentence, re.IGNORECASE
    )


ACCESS: tuple[Sign, ...] = (
    # Somebody
    tells(
        "access-granted",
        rf"\b(?:make|turn|promote|elevate|upgrade|raise|invite)\b (?:[^.!?;\n]|[.!?]\S){{1,40}}? (?:an?|the|to|into|as(?: an?)?)(?: (?:super|new|full))? {_ROLE}(?: (?:of|on|in|for|everywhere|privileges|rights)\b|[.,;]|$)",
        f"‹add|put|place|enrol|invite|register|append› … ‹to|in|into› … (?:the )?{_GROUP} … 30",
        f"‹should be|must be|belongs› … ‹in|to› … (?:the )?{_GROUP} … 6",
        rf"{_GIVE} … ‹cluster-admin|\w*AdministratorAccess|roles/owner› … 30",
        f"{_GIVE} … {_STRONG} … {_ACCESS} … 24",
        f"{_GIVE} … {_ACCESS} … {_ALL} … 30",
        f"{_GIVE} … {_ALL} … {_ACCESS} … 16",
        f"‹role|permission|rights?› … ‹to|as› … {_ROLE} … 12",
        f"{_ALL} … ‹should|can|may|must|to› … ‹merge|push|write|deploy› … ‹(?:to )?(?:main|master|production)› … 24",
        "‹sudo› … ‹without a password|nopasswd› … 12",
        holds=_not_only,
    ),
    hints(
        "access-granted",
        rf"{_GIVE} … {_STRONG}|\b(?:write|merge|owner)  … {_ACCESS}",
        f"{_GIVE} … {_ALL} … ‹secrets?|vault|repositor(?:y|ies)|repos?› … 30",
        rf"‹open(?: up)?|make› … ‹bucket|vault|database|repo\w*|storage|share› … (?:\bpublic\b|\bto (?:the )?{_ALL}) … 30",
        f"{_GIVE} … ‹shared admin login|admin login|root login|(?:production |database )?password› … 16",
        f"‹escalate|elevate› … {_ACCESS}",
        "‹use|take› … ‹root|admin|sudo› … ‹login|account|password› … 6",
        "‹add(?:ed|ing)?|put|register› … ‹ssh key|deploy key|public key› … 20",
        holds=_not_only,
    ),
    may_hint(
        "access-granted",
        r"‹create|add|grant|make|register› … "
        r"\b(?:new )?admin(?:istrator)? (?:users?|accounts?|tokens?)\b|\badmin scope\b|\bbackdoor\b || \b(?:debug|hidden|special)(?: \w+)? endpoint\b",
        holds=_not_only,
    ),
    # The agent itself
    hints(
        "access-granted",
        r"‹widen|extend|empty|emptied|loosen|add|set|allow|edit|expand› … "
        r"‹yourself|your own permissions|allow(?:ed)? (?:list|commands)|allowlist|denied commands|permission (?:mode|questions)|permissions\.(?:allow|defaultMode)›",
    ),
)

_STARTUP = r"(?:\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)\b|\bcrontab\b|\bcron (?:entry|job)\b|\bauthorized_keys\b|LaunchAgents|/etc/hosts\b|/etc/cron|\bsystemd unit\b|\.git/hooks|\b(?:PreToolUse|PostToolUse|SessionStart|UserPromptSubmit|SessionEnd)\b)"
_SHELL = r"(?:sudo\s+)?(?:(?:ba|z|da|fi)?sh|python[23]?|node|perl|ruby|iex)\b"

MACHINE: tuple[Sign, ...] = (
    tells(
        "pipe-to-shell",
        rf"\b(?:curl|wget|iwr|irm)\b[^\n]{{0,300}}\|\s*{_SHELL}|\b(?:eval|exec)\b\s*[\"'(]?\$\(",
        r"\b(?:ba|z|da)?sh\s+(?:<\(|-c\s+[\"']?\$\()\s?(?:curl|wget)|\|\s*iex\b|\bIEX\s*\(",
        r"\bDownloadString\b",
        r"\bpython[23]?\s+-c\s+[\"'][^\n]{0,200}(?:os\.system|subprocess|exec\(|eval\(|urlopen|requests\.)",
        r"\b(?:node|deno|bun|ruby|php|perl)\s+-(?:e|r)\s[^\n]*(?:child_process|exec\(|eval\(|system\(|use Socket)",
        r"\bpowershell\b[^\n]{0,80}-enc",
        r"\bbase64\s+(?:-d|--decode|-D)\b|\b(?:nc|ncat|netcat)\s+-[a-z]*e\b|/dev/tcp/",
        r"\b(?:curl|wget)\b[^\n]{0,200}(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:\+x|[0-7]{3,4})|(?:ba|z|da)?sh\s|\./|python[23]?\s)",
        r"\b(?:python[23]?|node|perl|ruby)\s+<\(",
        "‹pipe› … ‹into|to|through› … ‹(?:ba|z|da)?sh|a shell|python› … 60",
    ),
    hints(
        "pipe-to-shell",
        r"‹running|run|install\w*|grab\w*|start|execute› … ‹straight from the web|from any mirror|any mirror|whatever› … 30",
        rf"(?:{s.OUTSIDER}|\bfork\b) … ‹run(?:ning)?|install|start|execute› … ‹safe|without worrying|fine|okay› … 30",
        f"{s.FETCH} … ‹whatever|anything› … ‹start|run|execute|install› … 60",
    ),
    may_hint(
        "pipe-to-shell",
        f"{s.FETCH} … ‹and|then› … ‹run|execute|source|eval|follow|obey|start› … 60",
        r"\b(?:open|visit|read|load|see|go to|check|fetch|download)\b[^\n]{0,30}(?:https?://|\b(?:page|site|link|url|website)\b)[^\n]{0,60}\b(?:follow|obey|do) (?:it|them|what|the (?:content|steps|instructions|text))\b",
    ),
    tells(
        "agent-settings",
        rf"\b(?:edit|add|append|insert|write|modify|change|source|put|register|install|update|echo|set up|create)\b[^\n]{{0,80}}{_STARTUP}",
        r"\b(?:set|export|change|point)\s[^\n]{0,30}\b(?:ANTHROPIC|OPENAI|CLAUDE|GEMINI)_\w*(?:URL|ENDPOINT|HOST)\b[^\n]{0,20}https?://",
        r"\b(?:NODE_TLS_REJECT_UNAUTHORIZED|GIT_SSL_NO_VERIFY|PYTHONHTTPSVERIFY)\s?=",
        r"\bcore\.hooksPath\s+(?:/|~|https?)|\binsteadOf\b|\bLD_PRELOAD=|\bDYLD_INSERT",
        r"\bPYTHONSTARTUP=|\balias (?:git|sudo|ssh|npm|pip|curl|ls|cd)=\S",
        r"\b(?:set|change|switch|point|redirect)\b[^\n]{0,20}\b(?:registry|remote|origin|proxy|index|mirror|base[ _]url|dns|gateway)\b[^\n]{0,20}\b(?:to|at)\s+(?:https?://|git@|\d{1,3}\.\d)",
        r"\b(?:prefer|use|install|take|get|pull) (?:all |the |only )?(?:packages?|dependenc(?:y|ies)|images?|plugins?) from https?://",
        f"‹cron entry|cron ?job|scheduled task|startup script› … {s.HOST} … 60",
    ),
    hints(
        "agent-settings",
        f"‹(?:use|take|call) (?:the )?new (?:endpoint|registry|mirror|server|url)› … {s.HOST} … 12",
    ),
    tells(
        "destructive-command",
        r"\brm\s+-[a-zA-Z]*r[a-zA-Z]*\s+(?:-\S+\s+)*[\"']?(?:/|~|\$HOME)(?:/?\*)?/?[\"']?(?:\s|$|[`;&|.,)])",
        r"--no-preserve-root|\bmkfs\.\w+|\bdd\b[^\n]{0,60}\bof=/dev/",
    ),
)
