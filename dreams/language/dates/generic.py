"""What names no one day, as it is said of whichever day it is read, or not said to be so: "jobs due today", "maybe next week"."""

from __future__ import annotations

import re
from functools import lru_cache

_DAY = r"(?:today|tonight|yesterday|tomorrow)"
_A_DAY = re.compile(rf"{_DAY}\Z", re.IGNORECASE)

# Doubt about a thing is doubt about its day: no note should state it.
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|who knows|(?<!\bwas )(?:not sure|unsure|unclear|uncertain|undecided)|"
    r"(?:nobody|no one|don['’]t|doesn['’]t|didn['’]t) (?:\w+ )?knows? (?:if|whether|when)|"
    r"(?<!\bi )(?<!\bwe )(?<!\byou )could(?! have\b| you\b| i\b| we\b))\b|\b(?:whether|if|unless|in case)\b[^,;:]*$",
    re.IGNORECASE,
)
# What is only thought of, or asked in general, is not fixed for that day.
_THOUGHT = re.compile(
    r"(?:^|[\n.!?:;]\s*|\b(?:and|but|so|ok|okay|then|well|say|now),?\s+)[\s>*(-]*(?:what (?:if|about)|why (?:not|don['’]t)|suppos(?:e|ing)|assum(?:e|ing)|"
    r"imagine|pretend|(?:let['’]?s|let us) (?:say|assume|imagine|pretend|suppose)|say (?:it|we|the)|provided that|(?:had|were) (?:it|we|he|she|they|i)|"
    r"(?:think of|consider|given|take) an?|"
    r"should (?:we|i|it|they|this|that|the)|(?:would|wouldn['’]t|shouldn['’]t|couldn['’]t)(?! you)|"
    r"how (?:do|does|can|could|would|should|to)|is there an? (?:way|chance)|is it (?:possible|ok|better|worth))\b",
    re.IGNORECASE,
)
# A sentence about whenever something happens goes on about it behind the comma.
_WHENEVER = re.compile(
    r"(?:^|[.!?;]\s+)[\s>*-]*(?:when(?:ever)?|if|unless|once|each time)\s+(?:an?|any|some\w*|no|nobody|you|users|the user)\b",
    re.IGNORECASE,
)

# "A teacher can run it tomorrow", "it would open the mail of Tuesday"; what somebody said that he would do is a plan.
_ABLE = re.compile(
    r"\b(?:an?|the user|users|people|you)\s+(?:\w+\s+)?(?:can|may|should|must)\s|^[\s>*-]*(?:may|can|must|should)\s(?!you\b|i\b|we\b)|\bwould\s+(?!have\b|like\b|you\b)",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:i|we|said|says|told|promised|confirmed|announced|agreed|decided)\b|\?", re.IGNORECASE
)
_IN_CASE = re.compile(r",\s+if\b", re.IGNORECASE)

# What a program does it does each day; what begins, ends or moves does so once.
_PROGRAM = (
    r"(?:scripts?|jobs?|bots?|crons?|hook|tool|command|function|method|endpoint|report|digest|dashboard|(?:home)?page|view|chart|graph|table|query|"
    r"sheet|widget|worker|api|cache|macro|helper|alert|filter|panel|cli|parser|importer|exporter|newsletter|feed|scheduler|leaderboard|forecast|"
    r"list|screen|site|calendar|timeline|heading|badge|counter|reminder|summary|clean-?up|template|backup|pipeline|process|daemon|ui|gui|log|console|output|button|tab|column|menu|picker|grid)"
)
# "The planner suggests ..." is a program, unless it is a person.
_WORKER = (
    r"(?!(?:us|custom|own|manag|vend|partn|lead|review|maintain|develop|engine|design|lawy|speak|consult|memb|train|found|work|driv|doct|"
    r"teach|auth|edit|direct|audit)(?:er|or)\b)[a-z]{3,}(?:er|or)"
)
# What such a thing does once: "the job moves to another host next week".
_ONCE = (
    r"(?:starts|ends|begins|expires|closes|opens|stops|goes|moves|launches|ships|lands|leaves|resets|retires|breaks|continues|resumes|"
    r"switches|is|was|has|does|needs|gets|receives|becomes|changes|runs|comes|its|this|since|us|wants|depends|migrates|works|fails|hangs|"
    r"across|less|plus|always|perhaps|as|us)"
)
_DOES = (
    r"(?:show|list|display|print|return|report|contain|include|cover|delete|remove|purge|drop|keep|store|hold|retain|copie|send|post|mail|email|"
    r"compute|calculate|count|sum|aggregate|compare|export|import|fetche|load|read|parse|querie|look|check|filter|sort|group|highlight|render|"
    r"output|write|log|archive|pick|select|take|give|yield|generate|create|produce|download|upload|sync|processe|scan|summari[sz]e|collect|"
    r"track|map|convert|resolve|translate|refer|answer|remind|rank|plot|indexe|validate|reject|accept|ignore|skip|hide|mark|flag|matche|"
    r"tag|label|suggest|propose|offer|apply|applie|pull|poll|prune|publishe|notifie|warn|expose|serve)s"
)
_PROGRAM_DOES = re.compile(
    rf"\b{_PROGRAM}\s+(?:(?:also|only|always|then|just|itself)\s+)?(?!{_ONCE}\b)(?-i:[a-z]{{2,}}s)\b(?!:)(?!\s+(?:that|\w+ed|are|were|have|will|had|did|went|broke|got)\b)"
    rf"|\b{_PROGRAM}\s+(?:(?:says|shows|reads)(?!\s+that\b)|must|should|needs? to|ha(?:s|ve) to|shall|can|may|cannot|can['’]t|does\s?n[o'’]t)\s|\b(?:it|which|that|{_WORKER})\s+(?:only\s+)?{_DOES}\b(?!:)"
    rf"|(?:^|[.!?;:]\s+|\n)[\s>*-]*{_DOES}\s+(?!on\b|in\b|by\b)|\b(?:and|then|also|only)\s+{_DOES}\s+(?:the|all|an?|what)\b",
    re.IGNORECASE,
)
# The same of any other thing, where the clause begins with it; what a person does next week he does once.
_PERSON = (
    r"(?:user|customer|client|manager|team|vendor|board|lawyer|intern|partner|boss|lead|owner|reviewer|engineer|developer|maintainer|designer|"
    r"company|supplier|provider|office|colleague|man|woman|guy|doctor|teacher|student|council|bank|school|auditor|contractor|group|family|wife|"
    r"husband|son|daughter|mother|father|friend|committee|ministry|court|government|landlord|one)"
)
_THING_DOES = re.compile(
    rf"^[\s>*-]*(?:the|an?|this|our|its|each|every|one)\s+(?:(?!{_PERSON}\b)[\w-]+\s+){{1,3}}?(?!{_ONCE}\b|takes\b|joins\b|reaches\b|turns\b|"
    rf"doubles\b|rises\b|falls\b|freezes\b|arrives\b|happens\b|follows\b|news\b)(?-i:[a-z]{{2,}}s)\s+"
    r"(?:(?:the|an?|all|any|every|each|what\w*|who\w*|people|those|with|[a-z]{3,}s|last|this|next)\b)",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"[,;:()]|\b(?:because|since|as|after|before|when|while|that|and|but|so|although|though|until|says?|said)\b",
    re.IGNORECASE,
)
_FIXED = re.compile(r"\b(?:since|until|till|as of|starting|by)\s+(?:the\s+)?$", re.IGNORECASE)

# How a program is described: "Resolves one card for this week (stable until next week)".
_DESCRIBED = re.compile(
    rf"^[\s>*/-]*{_DOES}\s+(?:an?|the|one|all|every|each|only|what|whether)\b", re.IGNORECASE
)
# A choice among many things by their age.
_THAN = re.compile(r"\b(?:older|newer|earlier|later|fresher)\s+than\s+(?:the\s+)?$", re.IGNORECASE)
_CHOICE = re.compile(
    r"\b(?:everything|anything|whatever|all|any|only|those|each|users?|rows?|files?|items?|records?|entries|commits?|orders?|messages?|tickets?)\s+"
    r"(?:[a-z]+\s+){0,2}?(?:that|which|who|whose|where|created|changed|updated|modified|active|due|with|from)\b",
    re.IGNORECASE,
)
_ASKED_OF_CODE = re.compile(
    r"^[\s>*-]*(?:(?:please|only|just|also|now|then|can you|could you|it should|must)\s+)*(?:add|write|implement|make|build|show|lists?|select|count|"
    r"sort|filter|delete|keep|include|exclude|hide|rename|parse|support|handle|give me|fetch|get|find|change|replace|retrieve|calculate|compute|query|load|collect|returns?|print|mock|freeze|copy|export|import|move)\b",
    re.IGNORECASE,
)
# "Keys from before last year are weak", "any key that was made last month", "meetings happening today appear there".
_WHATEVER = re.compile(
    r"(?:^|[.!?:;]\s+)[\s>*-]*(?:(?:an?|any|every|each|no|anything|everything|nothing|something)\b|"
    r"(?!(?:this|yes|its|his|news|thanks|was|is|has|does|less|focus|status|progress|starts|ends|runs|works|needs|plans|goals|tests|towards)\b)"
    r"[a-z]{2,}s\s+(?:\w+ing|from|of|for|with|before|\w+ed|in)\b)[^.,;:]{0,50}$",
    re.IGNORECASE,
)
# "It cannot bury what the user said yesterday": whatever that is.
_WHOSE_SAYING = re.compile(
    r"\b(?:what|when|whatever|unless|because)\s+(?:the user|users?|a user|it|someone|somebody|people)\s+\w+\s+$",
    re.IGNORECASE,
)
_EVERYTHING = re.compile(r"\b(?:everything|anything|(?:all|any)\s+\w+)\s+\w+ed\s+$", re.IGNORECASE)
_PRESENT = re.compile(
    r"\s+(?!(?:\w+ed|was|were|had|did|got|went|broke|and|or|but|so|at|in|on|by|for|to|with|from|because|as|which)\b)[a-z]+",
    re.IGNORECASE,
)
_WHOEVER = re.compile(
    r"(?:^|[.!?:;]\s+)[\s>*-]*(?:(?:what|who|which)ever|(?:any|every|each)\s+\w+\s+(?:that|which|who))\b",
    re.IGNORECASE,
)
# "The timestamp from two weeks ago", "the number of steps done today": what a program computes.
_COMPUTED = re.compile(
    r"\b(?:dates?|timestamps?|days?|times?)\s+(?:for|from|of)\s+$|"
    r"^(?!.*\b(?:was|were|i|we)\b).*\b(?:number|count|amount|sum|hours|average|percentage)\s+of\s[^.;,]{0,40}$",
    re.IGNORECASE,
)
_FOR = re.compile(r"\b(?:for|from|of|in)\s+(?:the\s+)?$", re.IGNORECASE)
# "A package delivered a week ago is noise", not "a migration written last month broke it".
_SOME_DONE = re.compile(
    r"\ban?\s+(?:\w+\s+)?\w+\s+(?!and\b|or\b|that\b)\w+(?:ed|en|nt|de|lt)\s+$", re.IGNORECASE
)
_IS_SO = re.compile(
    r",?\s+(?:is|are|has|have|must|can|need|count|live|(?!(?:was|as|across|us|this)\b)[a-z]+s)\b",
    re.IGNORECASE,
)
_A_RUN = re.compile(rf"^[\s>*-]*an?\s+\w+\s+\w+ed\s+{_DAY}\s+(?!was\b)[a-z]+s\s", re.IGNORECASE)
# "Students enrolled this year use the portal".
_SUCH_PEOPLE = re.compile(r"(?:^|[.!?]\s+)[\s>*-]*(?:[a-z]+s|people|staff)\s+\w+ed\s+$", re.IGNORECASE)
_HAVE = re.compile(r"\s+(?:have|use|are|get|need|must|can|may|receive|see|pay|go|do)\b", re.IGNORECASE)
_DUE = re.compile(r"(?<!\ball of the )(?:^|\s)[a-z]{2,}s\s+due\s+(?:for\s+|on\s+|by\s+)?$", re.IGNORECASE)
_SINGULAR = re.compile(r"\b(?:is|was|this|yes|its|his|news|s)\s+due\s", re.IGNORECASE)
_DATA_FROM = re.compile(
    r"(?:^|[.!?]\s+)[\s>*-]*(?!(?:since|until|and|but|also|not|plan|goal|todo|focus|due|status|summary)\b)[a-z]+\s+(?:from|of|for)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
_STANDS = re.compile(
    r"\s+(?:is|are|lives?|stays?|goes|go|gets?|sits?|belongs?|comes?|must|can|needs?)\b", re.IGNORECASE
)
_CURRENT = re.compile(r"(?:the\s+)?current\s+(?:day|week|month|quarter|year)\Z", re.IGNORECASE)
_OWNED = re.compile(r"['’]s\s+(?P<first>[\w-]+)(?:\s+(?P<second>[\w-]+))?", re.IGNORECASE)
# Things that are held on one day; other things of "today" are those of each day.
_HELD = re.compile(
    r"(?:meeting|call|demo|release|deploy|deployment|review|session|stand-?up|sync|outage|incident|launch|freeze|workshop|talk|interview|appointment|"
    r"lunch|dinner|flight|deadline|update|fix|change|maintenance|training|retro|planning|rollout|rollback|migration|discussion|decision|commit|"
    r"merge|attack|crash|failure|bug|work|build|exam|class|game|match|party|event|conference|hearing|vote|election|handover|upgrade|switch|test|"
    r"drill|e?mail|message|patch|pr|note|plan|mission|goal|visit|trip|show|lesson|lecture|dream|date)(?:s|es)?\Z",
    re.IGNORECASE,
)

# "Today" for these days.
_TODAY = re.compile(r"today\Z", re.IGNORECASE)
MOST_OF_A_LABEL = 3  # words: "Signals today", "today at noon" tell nothing else
# A person, a request, a time of day, a label: signs that today itself is meant.
_THIS_VERY_DAY = re.compile(
    r"\b(?:i|we|my|our|me|us|he|she|his|her|please|later|earlier|is|isn['’]t|no|by|meeting|deadline)\b\s*\|?|\d|[?:!]|[’']m\b|\b(?:to|can) you\b|\|\s*(?:at|by|from|until)\b|\|['’]s\b",
    re.IGNORECASE,
)
_THESE_DAYS_BEFORE = re.compile(
    r"\b(?:how|what|way|as|that)\s+(?:most|many|few|some|all|modern)\s+(?:\w+\s+){1,4}$|"
    r"\beven\s+$|\b(?:as|way|what|how|that|which)\s+(?:it|we|they|you|this|that|things|people|users)\s+(?:\w+\s+){1,3}$|"
    r"\b(?:widely|commonly|mostly|currently|often|usually|typically|in)\s+(?:use|used|available|supported|known|common)\s+$|"
    r"\b(?:how|where|what|which)\b[^.;]{0,40}\s(?:is|are)\s+\w+ed\s+$|"
    r"\b(?:exists?|available|possible|supported|common|popular|alive|around|existing|in production)\s+$",
    re.IGNORECASE,
)
_THESE_DAYS_AFTER = re.compile(
    r",?\s+(?:most|many|few|nearly|almost|no one|nobody|everyone|there (?:is|are)|it is (?:possible|common|hard|easy)|you (?:can|have to)|"
    r"we (?:have|use|rely|know|support|only|still)|(?!(?:was|has|does|its|his|this)\b)[a-z]{3,}s\s+(?:are|have|can|use|run|expect|need|want|rely|must)\b)",
    re.IGNORECASE,
)

# "Users today expect that".
_FOLK_BEFORE = re.compile(r"\b(?!(?:was|has|does|this|its|his|is|us)\b)[a-z]{3,}s\s+$", re.IGNORECASE)
_FOLK_AFTER = re.compile(
    r"\s+(?!(?:and|or|but|so|at|in|on|by|for|to|with|from|because|as|will|was|were|only|after|before|\w+ed)\b)[a-z]{3,}\b",
    re.IGNORECASE,
)
_CONTRAST = re.compile(rf"\b{_DAY}\b", re.IGNORECASE)
_OURS = re.compile(r"\b(?:i|we|he|she|they|my|our)\b|[’']ll\b|:", re.IGNORECASE)


_WHAT_IS = re.compile(r"^[\s>*-]*what\s+(?:was|is|works?|worked|holds|held)\b", re.IGNORECASE)


def doubted(told: str, after: str) -> bool:
    """`told`, the sentence up to the phrase, or what follows makes it a thought, a doubt or a case."""
    if _ABLE.search(told) and not _PLAN.search(told):
        return True
    return bool(
        _HEDGE.search(told) or _THOUGHT.search(told) or _WHENEVER.search(told) or _IN_CASE.match(after)
    )


def each_day(told: str, phrase: str, after: str, *, tense: bool) -> bool:
    """Said of each day anew; `told` is the sentence before the phrase, `tense`: it tells of then or of later."""
    if _of_a_program(told) or _of_many(told, after):
        return True
    return not tense and (
        bool(_ASKED_OF_CODE.match(told) and _FOR.search(told))
        or bool(_WHATEVER.search(told) and _PRESENT.match(after))
        or bool(_DATA_FROM.search(told) and _STANDS.match(after))
        or (bool(_CURRENT.match(phrase)) and bool(told.strip() or after.strip()))
        or (bool(_A_DAY.match(phrase)) and (_things_of(after) or _contrasted(told, phrase, after)))
    )


def _of_a_program(told: str) -> bool:
    """What it does, computes, or is asked to do."""
    does = _does(told)
    if (does and not _FIXED.search(told)) or _DESCRIBED.match(told) or _COMPUTED.search(told):
        return True
    return bool(_CHOICE.search(told)) and (does or bool(_ASKED_OF_CODE.match(told)))


def _of_many(told: str, after: str) -> bool:
    """Of whichever thing or person that is so on that day."""
    if _THAN.search(told) or _WHOSE_SAYING.search(told) or _WHOEVER.search(told) or _A_RUN.match(told):
        return True
    if _DUE.search(told) and not _SINGULAR.search(told):
        return True
    return bool(
        (_WHAT_IS.match(told) and "?" not in after)
        or (_SUCH_PEOPLE.search(told) and _HAVE.match(after))
        or (_EVERYTHING.search(told) and _PRESENT.match(after))
        or (_SOME_DONE.search(told) and not _OURS.search(told) and _IS_SO.match(after))
    )


def these_days(told: str, phrase: str, after: str, *, tense: bool) -> bool:
    """ "Today" for the present time: "the way it works today", "today most of them are"."""
    if not _TODAY.match(phrase) or _FIXED.search(told):
        return False
    if (
        not tense
        and not _THIS_VERY_DAY.search(told[-60:] + "|" + after)
        and len((told + after).split()) > MOST_OF_A_LABEL
    ):
        return True
    folk = _FOLK_BEFORE.search(told) and _FOLK_AFTER.match(after)
    return bool(folk or _THESE_DAYS_BEFORE.search(told) or _THESE_DAYS_AFTER.match(after))


def _contrasted(told: str, phrase: str, after: str) -> bool:
    """ "Pay today, read tomorrow": a way to do things, where nobody is said to do so."""
    rest = told + "|" + re.split(r"[.!?](?=\s|$)", after)[0]
    others = {word.lower() for word in _CONTRAST.findall(rest)} - {phrase.lower()}
    return bool(others) and not _OURS.search(rest)


def _things_of(after: str) -> bool:
    """ "tomorrow's problem", not "tomorrow's meeting" or "tomorrow's team meeting"."""
    owned = _OWNED.match(after)
    return owned is not None and not any(_HELD.match(word) for word in owned.groups(""))


@lru_cache(maxsize=256)
def _does(told: str) -> bool:
    clause = _JOINED.split(told)[-1]
    return bool(_PROGRAM_DOES.search(told) or _THING_DOES.match(clause))
