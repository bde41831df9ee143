"""Decides what a date phrase does in its sentence. Only the time of one past or future event counts as a date. Pure.

The same words may be about every day ("the report covers yesterday"), a condition ("if it broke yesterday") or an example. So
a phrase counts if the tense of its sentence fits, or if it is a label or a limit.
"""

import re
from functools import lru_cache

FUTURE = re.compile(
    r"\b(?:will|shall|won't|going to|gonna|let's|lets|let us|(?:need|needs|want|wants|plan|plans|planning|hope|hopes|"
    r"aim|intend|have|has|expect|expects) to|must|should|due(?! dates?\b)|deadline|upcoming|expires?|scheduled? (?:for|on|a)|"
    r"schedule|remind|todo|to-do|meet(?= (?:me|on|at|you|us|in|with))|next up|launching|releasing|"
    r"would like to|can (?:you|i|we)|could (?:you|i|we)|please|book(?:ing)?|appointment|reservation|tentatively|planned for|target(?:ed|ing|s)? for|"
    r"(?:i['’]m|i am|we['’]re|we are|(?:s?he|they)(?:['’]s|['’]re| is| are)) (?:flying|leaving|going|moving|meeting|presenting|starting|travell?ing|deploying|"
    r"releasing|shipping|launching|switching|migrating|visiting|speaking|away|out|off|back)|"
    r"(?:is|are|['’]s|now|currently|still) (?:expected|planned|slated|set|supposed|on track) (?:to|for))\b|[’']ll\b",
    re.IGNORECASE,
)
_PRESENT_QUESTION = re.compile(
    r"\W*(?:(?:so|and|what|when|where|who|how|which \w+)\W+(?:about\b)?)?\s*(?:is|are|am|do|does|can|could|would|should|may)\b[^?]*\?\W*$",
    re.IGNORECASE,
)
_FIRM_FUTURE = re.compile(r"\b(?:will|shall|won't|going to|gonna|let's)\b|[’']ll\b", re.IGNORECASE)
# Always past.
_TOLD = re.compile(
    r"\b(?:was|were|did|didn't|had|went|came|saw|ran|broke|wrote|took|gave|began|became|chose|drove|fell|flew|forgot|grew|knew|"
    r"rose|spoke|swore|threw|woke|wore|ate|back in|has been|have been|['’](?:s|ve) been|"
    r"(?:s?he|it) (?:cut|put|set|hit|hurt|shut|read|quit|let|split|spread))\b",
    re.IGNORECASE,
)
# Past, except after "is", "are" or "gets". Verbs with the same present ("we cut", "put") are left out.
_DONE = re.compile(
    r"\b(?:met|left|said|told|got|made|built|found|sent|spent|lost|won|paid|bought|sold|felt|kept|held|brought|thought|taught|"
    r"caught|led|meant|slept|stood|stuck|understood|"
    r"(?!(?:need|speed|feed|seed|embed|indeed|exceed|proceed|succeed|shed|bed|red|allowed|needed|wanted|preferred|"
    r"scheduled|planned|expected|based|used|shared|required|proposed|supposed)\b)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_CUSTOM = re.compile(
    r"(?:\b(?:is|are|am|be|being|gets?|getting|isn't|aren't|stays?|remains?)|['’](?:re|s))\s+(?!been\b)"
    r"(?:(?:not|only|all|both|then|also|still|now|it|them|never|always|often|\w+ly)\s+){0,2}"
    r"(?:[a-z]{2,}ed|sent|made|held|kept|paid|built|sold|cut|put|set|read|shut|lost|found|hit|taken|given|written|done|run)\b",
    re.IGNORECASE,
)
# What was decided, wanted or agreed is later than the decision, or repeats.
_PLANNED = re.compile(
    r"\b(?:(?:was|were|has been|have been|had|we['’]ve)\s+)?(?:(?:asked|requested|told \w+|said)\s+(?:that|to|for|if)|"
    r"(?:decided|agreed|chose|promised|insisted)\s+(?:that|to|for|if|on))\b|\bas (?:agreed|planned|discussed|decided|promised)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def is_past(sentence: str) -> bool:
    """Whether it is in the past: "was cut", "deployed it"; not "is cut", "gets deployed", "agreed to deploy"."""
    told = _PLANNED.sub(" ", sentence)
    if _TOLD.search(told):
        return True
    return bool(_DONE.search(told)) and not _CUSTOM.search(told)


def asks_ahead(sentence: str) -> bool:
    """Whether it asks about the future: "Does Friday at 4 work?"."""
    return bool(_PRESENT_QUESTION.match(sentence)) and not is_past(sentence)


def surely_ahead(sentence: str) -> bool:
    """Whether it is certainly in the future ("will", "going to"), not just planned."""
    return bool(_FIRM_FUTURE.search(sentence))


def is_custom(sentence: str) -> bool:
    """Whether it may repeat: "is renewed", "gets sent"."""
    return bool(_CUSTOM.search(sentence)) and not is_past(sentence)


_HABIT_WORDS = (
    r"never|always|every|each|any|anyone|anybody|whoever|whenever|usually|typically|generally|regularly|normally|mostly|often|"
    r"sometimes|occasionally|rarely|seldom|fortnightly|alternat(?:e|es|ing)|(?:once|twice|times) (?:an?|per)|per (?:day|week|month|year)|"
    r"as (?:a rule|usual)|per usual|by default|e\.g\.?|for example|for instance|such as|recurring|hypothetical(?:ly)?"
)
_TIMED = r"weekly|daily|monthly|nightly|hourly|yearly|annual|annually|quarterly|bi-?weekly"
_HABIT = re.compile(
    rf"\b(?:{_HABIT_WORDS}|{_TIMED}|used to|policy|policies|rule|rules|convention|cadence)(?![\w])",
    re.IGNORECASE,
)
# If the phrase names its week or year, "the nightly build" and "the policy" do not make it repeated.
_FIRM_HABIT = re.compile(rf"\b(?:{_HABIT_WORDS}|(?:{_TIMED})(?!\s+[a-z]))(?![\w])", re.IGNORECASE)
# Phrases that fit every week or year, unless a word says which one.
_RETURNS = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b|\bjan|\bfeb|\bmar|\bapr|\bmay\b|\bjun|\bjul|\baug|\bsep|\boct|\bnov|\bdec|"
    r"\bq[1-4]\b|the weekend|^the \w+$",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\b(?:last|next|this|past|previous|coming|ago|from now)\b", re.IGNORECASE)
_OF_MANY = re.compile(
    r"\b(?:(?:every|each|any|some|most|other|alternate|second|third|fourth|fifth|first|2nd|3rd|4th)|"
    r"(?:not|never|only|always|except|also|even|sometimes|usually|often)(?:\s+(?:on|in|by|at|for|from))?)\s+[*_('\"“‘]*$",
    re.IGNORECASE,
)
_A_DAY = re.compile(r"(?:yesterday|tomorrow|today)", re.IGNORECASE)
_CONDITION = re.compile(r"\b(?:if|unless|whether|in case)\b[^,.;:]*$", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b(?:such as|for example|for instance|examples?:|e\.g\.)[^.;]*$", re.IGNORECASE)

# "For example, it broke yesterday" is an event.
_AS_SUCH = re.compile(r"\W*for (?:example|instance),", re.IGNORECASE)


def habitual(phrase: str, sentence: str, told: str) -> bool:
    """Whether it is a rule or example, and not a past event with more than a weekday; `told` is the text before the phrase."""
    example = _EXAMPLE.search(told) and not (_AS_SUCH.match(told) and is_past(sentence))
    if example or (_OF_MANY.search(told[-40:]) and not _A_DAY.match(phrase)):
        return True
    if _RETURNS.search(phrase) and not _WHICH.search(phrase):
        return bool(_HABIT.search(sentence) or _CONDITION.search(told))
    return bool(_FIRM_HABIT.search(sentence)) and not is_past(sentence)


_QUESTION = re.compile(
    r"\?\W*$|^\W*(?:who|what|when|where|which|why|how)\s+(?:are|were|do|does|did|will|many|much|about)\b|"
    r"^\W*(?:is|are|do|does|did|can|could|will|would)\s+(?:(?:i|we|you|he|she|it|they|there|this|that|the|my|our|your)\b|(?-i:[A-Z][a-z]))",
    re.IGNORECASE,
)
_OF_ONE_S_OWN = re.compile(r"\b(?:i|we|me|us|my)\b|\bi['’]m\b|\blet['’]?s\b", re.IGNORECASE)
_FEW_WORDS = 4  # words beside the phrase in a short note or a search; chosen


def is_asked(phrase: str, sentence: str, before: str, after: str) -> bool:
    """Whether it is in a question, request, plan or short note; `before` and `after` are the sentence around the phrase."""
    if _QUESTION.search(sentence) or surely_ahead(sentence):
        return True
    if phrase.lower() == "today":  # may mean "these days"
        return False
    few = len(re.findall(r"\w+", f"{before} {after}")) <= _FEW_WORDS
    return few or bool(_OF_ONE_S_OWN.search(sentence))


_PAST = (
    r"(?:was|were|had|did|got|went|ran|took|made|came|found|saw|broke|met|began|became|lost|sent|paid|left|built|wrote|chose|cut|put|fell|"
    r"gave|told|said|set|shipped|\w{2,}ed)"
)
# Events; "the Macs in use today" means these days.
_HAPPENED = re.compile(
    rf"\b(?:we|i|they|he|she|it|who|has|have|been|was|were|got|just|also|finally)\s+(?:\w+ly\s+)?{_PAST}\b|\b(?:was|were|got|had|did|went)\b|"
    rf"\b{_PAST},?\s+(?:earlier\s+)?today\b|^\W*(?:earlier\s+)?today,?\s+(?:the\s+)?[`\w-]+\s+{_PAST}\b|"
    r"\btoday\s+at\s+\d|\b(?:as of|since|from|until|till|by|due) today\b|^\W*(?:deployed|merged|moved|fixed|added|shipped|released|migrated|removed|renamed|"
    r"switched|upgraded|created|decided|agreed|started|finished|completed|reverted|updated|installed|enabled|disabled|tested|met|found|broke)\b",
    re.IGNORECASE,
)
_BACK = re.compile(r"\b(?:yester\w*|last|ago|previous|past|earlier|this morning)\b", re.IGNORECASE)
_AHEAD = re.compile(r"\b(?:to?m+or+ow?|tmrw|next|coming|later|tonight|from now|hence)\b|^in\b", re.IGNORECASE)
_TO_COME = re.compile(r"^(?:tomorrow|next|the day after)\b", re.IGNORECASE)
_BOUNDED = re.compile(r"\b(?:since|until|till|by|before|after|as of|starting)\s+(?:the\s+)?$", re.IGNORECASE)
_LABEL = re.compile(r"(?:^|[(\[—–|>-]|\*\*)\s*[*_]*$")
_LABEL_ENDS = re.compile(r"['’]s\b|\s*[*_]*\s*(?:[:)\]—–(]|\.?$)")
# Before the phrase: hypothetical, compared, or any.
_DOUBT = re.compile(
    r"\b(?:if|unless|whether|when|whenever|once|in case|suppose|supposing|assuming|imagine|than|maybe|perhaps|possibly|might|could|would|what|whatever|who|"
    r"any|anything|everything|nothing|each|every|an?(?=\s+\w+\s+\w+(?:ed|en)\b))\b",
    re.IGNORECASE,
)


def tells(phrase: str, tense: str | None, before: str, after: str) -> bool:
    """Whether the sentence (`before` and `after` the phrase) dates one event by it.

    Its tense must fit the phrase; labels and limits need no tense.
    """
    sentence = f"{before}{phrase}{after}"
    if _DOUBT.search(before) or _QUESTION.search(sentence):
        return False
    if phrase.lower() == "today":
        return bool(_HAPPENED.search(sentence)) and not re.match(r"['’]s\b", after)
    if _BOUNDED.search(before) or (_LABEL.search(before) and _LABEL_ENDS.match(after)):
        return True
    if tense is None:
        return bool(_TO_COME.search(phrase)) and not re.search(r"\w", after)
    return before.endswith("for ") or not (_BACK if tense == "future" else _AHEAD).search(phrase)
