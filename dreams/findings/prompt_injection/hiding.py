"""What is kept from the person: orders to be silent, and text that markup hides. PURE."""

import re

from dreams.findings.prompt_injection import signs as s
from dreams.findings.prompt_injection.signs import (
    Sign,
    hints,
    in_code,
    is_component,
    meant,
    no_component,
    not_quoted,
    tells,
    unreadable,
)
from dreams.findings.prompt_injection.text import Match, words

_SOMEBODY = rf"(?:{s.PERSON}|{s.ANYBODY})"
_IT = words(
    r"it|this|that|these|them|the (?:second|extra|hidden|real|true|other) \w+",
    "th(?:is|ese|e) (?:instruction|rule|note|memory|line|step|change|update|copy|upload|commit|remark|existence)s?",
)
_RECORD = words(
    "summar(?:y|ies)|reports?|logs?|answers?|repl(?:y|ies)|records?|descriptions?|diffs?|reviews?",
    "changelogs?|documentation|docs|commit messages?|history",
)
_ASKED = r"\b(?:if|when(?:ever)?|should|in case)\b[^.!?;,\n]{0,40}\b(?:asks?|asked|wonders?|inquires?|is curious|wants? to know|questions?|questioned)\b"
_SAY_NOT = rf"{s.NOT_TO} (?:\w+ly |also |ever )?(?:{s.TELL}|report)"
_GOOD = words(
    r"fine|safe|done|ok|okay|pass(?:ed|es|ing)?|success\w*|green|complete\w*|working|nothing",
    "resolved|approved|harmless|benign|secure|audited|compliant|verified|false positives?|clean",
)
_EVEN_SO = words("even (?:if|though|when)|although|regardless|no matter|whatever|despite|anyway")
_COVERTLY = words(
    "quietly|silently|secretly|covertly|discreetly|stealthily|unnoticed|behind the scenes",
    "under the radar|surreptitiously|subtly",
)
_STARTS = r"(?:^|[,;:.!?(—–-]\s*|\b(?:and|then|also|should|must|please|to|you|agents?|claude)\s)"


def _of_a_deed(place: Match) -> bool:
    """ "No need to tell the user to reload" spares a request; it hides nothing."""
    return not_quoted(place) and not re.match(
        r"(?:\s+(?:the user|them|me|anyone))?\s+(?:to|what|how|which|all) \w", place.after
    )


HIDING: tuple[Sign, ...] = (
    # Silence
    tells("hides-from-user", f"{_SAY_NOT} … {_SOMEBODY}", holds=_of_a_deed),
    tells(
        "hides-from-user",
        f"{_SAY_NOT} … ‹this (?:instruction|rule|note|memory|line)|these (?:instructions|rules|notes)|you did (?:this|it)› … 12",
        f"{s.PERSON} … ‹(?:must|should|may|are|is) (?:not to|not|never)|does(?:n['’]t| not) need to|need not|needn['’]t› … "
        f"‹hear|know|learn|find out|be (?:told|informed|notified)› … 12",
        "‹keep|kept|conceal|hide|hidden|disguise|cover up|bury› … ‹from (?:the |any |all |your )?(?:users?|person|owner|people|reviewers?|maintainers?|team|humans?)› … 30",
        f"‹leave|keep|omit|left|kept› … {_IT} … ‹out of|from|off› … {_RECORD} … 14",
        rf"\bkeep {_IT}(?: \w+)? to yourself\b|\bsay nothing (?:about|of|to)\b",
        r"\b(?:a|our) little secret\b|\b(?:stays?|keep \w+) between (?:us|ourselves)\b",
        r"\b(?:leave|leaving|with(?:out| no)) (?:no |any |a )?trace\b",
        r"\bbehind (?:the |their |his |her |my )?(?:user|owner|team|person)?['’]?s? back\b",
        r"\b(?:so (?:that )?|make sure (?:that )?)(?:nobody|no[- ]one|the (?:user|owner) (?:never|does not|doesn['’]t)) (?:asks|notices|knows|sees|learns|suspects)\b",
        rf"{_STARTS}{_COVERTLY},? (?:also |then |and )?{s.DEED}",
        rf"{_COVERTLY} (?:\w+ )?(?:\w+ )?(?:keys|credentials|logs?|files?)\b",
        r"\bin secret\b",
        r"\b(?:remain|stay|leave|keep)s?\b[^.!?;\n]{0,20}\b(?:unaware|in the dark|uninformed)\b",
    ),
    hints("hides-from-user", f"{s.NO_NEED} … {s.TELL} … 6", holds=_of_a_deed),
    hints(
        "hides-from-user",
        f"{_SAY_NOT} … {_IT} … 6",
        f"{s.NO_NEED} … {s.NOTE} … {_IT} … 6",
        f"{s.EASE} … ‹left out of|kept (?:out of|from)|keep (?:quiet|silent)|not (?:to )?bring up› … 30",
        r"\b(?:keep|keeps|stay) (?:quiet|silent|mum) (?:about|on|when|if)\b",
        r"\bno(?:body|[- ]one) (?:has|needs) to (?:know|hear|see)(?: that| about| of|[.,]|$)",
        "‹best|better|rather› … ‹kept?|left|leave› … ‹out of|off|from|to (?:yourself|ourselves)|between ourselves› … 24",
        r"\binvisible to (?:humans?|users?)\b|\bhidden (?:instructions?|prompts?|message)\b",
        r"\bwhite[- ]text\b|\bwould rather not (?:hear|know)\b",
        r"\bwithout (?:saying|mentioning) (?:it|this|that|so)\b|\bif (?:asked|questioned)\b",
    ),
    # Lies
    tells(
        "hides-from-user",
        rf"{_ASKED}[^.!?;\n]{{0,60}}?(?:,| just| simply)\s*(?:just |simply |then )?(?:say|deny|claim|pretend|tell (?:them|him|her)|answer|insist|reply)\b(?: that|:)?[^.!?;\n]{{0,12}}?(?:\b(?:it|they|there|nothing|no|yes|the \w+) ?(?:was|were|is|['’]s|has)?\b|[\"“])",
        r"\b(?:answer|say|reply|claim)\b[^.!?;\n]{0,60}\bif (?:the user|any(?:one|body)|some(?:one|body)|they) (?:asks?|wonders?|questions?)\b",
        f"‹tell|inform|report|say|assure|claim|state|answer|announce|pretend|approve|mark› … {_GOOD} … {_EVEN_SO}",
        rf"‹mark|treat|report|classify|rate|label|dismiss› … ‹all|any|every|each|security› … ‹findings?|alerts?|vulnerabilit\w+|reports?|tests?› … \bas (?:a )?{_GOOD} … 30",
        rf"‹mark|report|show|present|label|record|count› … ‹fail\w*|flaky› … \bas (?:a )?{_GOOD} … 30",
        r"\blook(?:s)? like (?:a |an )?(?:typo|formatting|harmless|ordinary|routine|accident)\b",
        r"\bdescrib\w+\b[^.!?;\n]{0,24}\bas (?:a |an )?(?:formatting|typo|cosmetic|trivial)\b",
        holds=meant,
    ),
    hints(
        "hides-from-user",
        f"‹(?:always|simply|just) (?:say|answer|state|report|claim|reply|respond)› … {_GOOD} … 60",
        f"‹say(?:ing)?|claim(?:ing)?› … ‹they|(?:all )?(?:the )?(?:tests?|checks?|suite)› … {_GOOD} … 14",
        rf"{_ASKED}[^.!?;\n]{{0,60}},? (?:\w+ )*(?:it (?:was|is|has always)|it['’]s|the answer is|a simple yes|say)\b",
        "‹round|adjust(?:ed)?|smooth|polish› … ‹numbers?|coverage|benchmarks?|figures?|results?› … ‹report|look|a little› … 30",
        r"‹treat|rate|mark› … ‹vulnerabilit\w+|security \w+|alerts?|findings?› … ‹as (?:harmless|noise|read|low|safe)›",
        holds=meant,
    ),
    # Moments when nobody looks, and what would have been seen later
    tells(
        "hides-from-user",
        f"‹when(?:ever)?|while|once|until|after|as soon as› … ‹nobody|no[- ]one|the (?:user|person|human|owner|team)› … "
        f"‹is around|are around|looking|watching|paying attention|away|idle|asleep|gone|offline|leaves|looks› … {s.DEED} … 24",
        "‹when(?:ever)?|if|once|while|as soon as|after|until|wait until› … ‹the (?:user|person|human|owner|team)|nobody|no[- ]one› … "
        "‹not looking|not watching|not paying attention|leaves|steps away|away|asleep|idle|gone› … 12",
        r"\b(?:clear (?:the|all|any|your)|(?:delete|remove|wipe|purge|erase|tidy up|cover)(?: the| all| any| your)*) (?:traces?|trail|evidence|audit (?:trail|logs?|files?|entr\w+)|(?:command|shell|bash) ?_?history)\b",
        r"\bhistory -c\b|\bunset HISTFILE\b",
    ),
    hints(
        "hides-from-user",
        r"\bwithout (?:the |your |any )?(?:user|person|human|owner|supplier|them)(?:['’]s)? (?:knowing|noticing|knowledge|seeing|being aware|awareness)\b",
        "‹audit|security› … ‹files|logs?|entr(?:y|ies)› … ‹can go|clutter|left out|leave out› … 30",
        f"{s.EASE} … ‹leave|leaving|left› … ‹audit|security|licen[cs]e|report› … ‹out› … 20",
    ),
)

_PROMPT_TAG = r"</?(?:system(?:[_-](?:prompt|message|note))?|assistant|user|human|instructions?|admin|developer|(?:assistant|system|developer|agent|model)[_-](?:instructions?|message|prompt|note|rules?)|tool_(?:use|result|call|response|output)|function_calls?|antml:[a-z_]+|system[-_]reminder|user_query|important|command-name)\b[^>\n]{0,200}>"
_HTML_TAG = r"</?(?:script|iframe|img|style|link|meta|object|embed|form|input|svg|base|video|audio|a|div|span|details|summary|button|table|body|html|br|p|font|marquee|math|template|noscript)\b[^>\n]{0,300}/?>"

MARKUP: tuple[Sign, ...] = (
    tells(
        "role-tag",
        _PROMPT_TAG,
        r"\[/?INST\]|<</?SYS>>|<\|[a-z_]{2,30}\|>",
        r"(?-i:\[/?(?:SYSTEM|ADMIN|OVERRIDE|DEVELOPER)(?: [A-Z ]{1,20})?\])",
        r"^[\s>*-]*\[(?:system|admin|developer|override)\]\s",
        r"^\s*(?:#{1,6}\s*)?(?-i:Assistant|Human|ASSISTANT|HUMAN)\s*:\s",
        r"[\"']role[\"']\s*:\s*[\"'](?:system|developer)[\"']",
        r"^\s*(?:#{1,6}\s*)?system(?: (?:prompt|message|override|note))?\s*:\s*(?:you|ignore|override|grant|from now|do not|never|always|act|the user (?:has|is|gave)|new)\b",
        r"(?-i:\bSYSTEM(?: (?:NOTICE|MESSAGE|ALERT|UPDATE|NOTE))?:\s\w|\b(?:BEGIN|END) (?:ADMIN|SYSTEM)\b|\b(?:ADMIN|SYSTEM|ROOT) OVERRIDE\b|\bEND OF (?:MEMORY|CONTEXT|FILE|DOCUMENT|INSTRUCTIONS|PROMPT|INPUT)\b)",
        holds=lambda place: not is_component(place),
    ),
    tells("markdown-image", r"!\[[^\]\n]{0,300}\]\s?[(\[]", holds=lambda place: not in_code(place)),
    tells(
        "raw-html",
        f"<!--|{_HTML_TAG}",
        r"\bon(?:load|error|click|mouseover)\s?=|\bjavascript:\S",
        r"&(?:lt|#x?0*3c|#60);\s?/?(?:script|img|iframe|svg)|\]\(\s?(?:javascript|vbscript|data):",
        holds=no_component,
    ),
    tells(
        "encoded-blob",
        r"\b(?:[A-Za-z0-9+/]{4}){7,}[A-Za-z0-9+/]{0,3}={0,2}|\b(?:[0-9a-fA-F]{2}){33,}\b",
        r"(?:\\x[0-9a-fA-F]{2}){8,}|(?:&#x?[0-9a-fA-F]{2,6};){4,}|(?:%[0-9A-Fa-f]{2}){10,}",
        holds=unreadable,
    ),
)
