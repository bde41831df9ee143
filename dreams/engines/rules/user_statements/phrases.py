"""Phrases that show that a sentence is not the person's statement about the present: one table for each meaning. Pure data.

Each marks the sentence as supposed, planned, quoted, for elsewhere or temporary, a joke, or about words. The other modules of
this package have the logic."""

import re

from dreams.lib.secrets.spotting import is_token, spans


def _words(*phrases: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(phrases)})\b", re.IGNORECASE)


SUPPOSED = re.compile(
    r"\bif (?:i|we|he|she|they|someone|somebody|a user|the user|you) (?:say|said|tell|told|ask|asked|were|was|had|type|typed)\b|\bwhat if\b|"
    r"\b(?:suppose|imagine|pretend|hypothetical\w*)\b|\bas if\b|\bfor (?:example|instance)\b|\be\.g\.|\bsomething like\b",
    re.IGNORECASE,
)
OTHERS = re.compile(
    r"\b(?:he|she|they|it|docs?|documentation|readme|guide|article|page|post|ticket|issue|comment|email|mail|message|prompt|text|"
    r"customer|boss|manager|reviewer|colleague|coworker|bot|assistant|script|tool|output|log)s?\s+"
    r"(?:says?|said|states?|reads?|wrote|writes|told|tells|asked|asks|wants?)\b",
    re.IGNORECASE,
)
# "Omar Said" is a name.
TOLD_BY_OTHERS = re.compile(
    r"(?<!are )(?<!is )(?<!be )(?<!get )(?<!was )(?<!were )\b(?:says?|(?!(?-i:Said\b))said|saying|wrote|mention(?:s|ed)|posted|reported|announced|tweeted|insist(?:s|ed)|believes?|argues?|"
    r"thinks|asked|asks|according to|acc\.? to|(?:as )?per (?:the|our|their|his|her|your)|read that|(?:was|were|been|got) told|(?:understand|gather|assume|suspect|fear|guess|reckon|figure|suppose) (?:that|the|it|we)|told me|tells me|heard|"
    r"apparently|allegedly|supposedly|claim\w*|rumou?rs?)\b",
    re.IGNORECASE,
)
OWN_WORDS = re.compile(
    r"\b(?:as|like) i (?:said|mentioned|told you|wrote)\b|\bi (?:already )?(?:said|mentioned|told you)\b",
    re.IGNORECASE,
)
# Of a complete sentence, with its first word: "great, so …".
JOKING = re.compile(
    r"\b(?:joke|joking|kidding|sarcas\w+|yeah,? right|said no ?(?:one|body)|what could (?:possibly )?go wrong|why not)\b|(?<!\w)/s$|[🙄😂🤣😏🤡]|"
    r"^(?:oh |ah |well )?(?:(?:sure|great|fantastic|wonderful|brilliant|awesome|lovely),? (?:and|so|now|then|because|next|why)|(?:wow|lol|haha|omg|of course|naturally|amazing|oh (?:sure|great|nice|good|yeah|joy)))\b|"
    r"^(?:(?:yeah|yep|yes|right|ok(?:ay)?|sure|fine|great),? )+and (?!(?:we|i|please|also|then|now|can|could)\b)|"
    r"^(?:oh |ah )?(?:yay|hooray|hurray|perfect|great|awesome|wonderful|fantastic|brilliant|amazing|lovely|excellent|splendid),\s|"
    r",\s*(?:love it|lovely|fantastic|brilliant|classic|how nice|great job|well done)$",
    re.IGNORECASE,
)
FOR_A_WHILE = _words(
    r"temporar\w+|for (?:now|testing|a test|the (?:moment|demo|test|time being|workshop|talk|experiment))|for this \w+|until|till"
)
# The rest is not reported as done.
_NOT_SO = (
    _words(  # supposed
        r"if|unless|whether|suppos\w+|imagin\w+|pretend\w*|hypothetical\w*|theor\w+|let['’]?s say|say that|assum\w+|almost|nearly",
        r"as an? (?:example|test|joke|experiment|demo|placeholder)|would(?:n['’]t)?|might|maybe|perhaps|probably",
    ),
    _words(  # planned, and results of plans
        r"(?:was|were|is|are|am|['’]re|['’]m) (?:going|planning|thinking|about|supposed|meant|tempted|considering|trying|hoping) |thinking|thought|consider(?:s|ed|ing)?",
        r"(?:we|i|they|the team|he|she) plan|plan(?:s|ned)? (?:to|on|is)|planned for|planning|propos\w+|suggest\w*|recommend\w*|idea|decided (?:against|not)|instead of moving",
        r"(?:did|do|does|was|were|has|have|is|are)(?:n['’]t| not) (?:actually |really |yet )?(?:move|migrate|switch|change|upgrade|go|do|happen|moved|migrated|switched|changed|upgraded)\w*",
        r"never (?:moved|migrated|switched|changed|upgraded)|next (?:week|month|year|quarter|sprint|release)|tomorrow|soon|eventually|some ?day|later|upcoming|will be|won['’]t",
        r"going forward we should",
    ),
    _words(  # wished for
        r"perfect world|ideally|wish(?:es|ed)?|hope(?:s|d|fully)?|want(?:s|ed)?|would like|['’]d (?:like|love|prefer)"
    ),
    FOR_A_WHILE,
    _words(  # somewhere else
        r"(?:in|on) my (?:\w+ )?(?:branch|fork|machine|laptop|sandbox|local\w*)|locally only|only locally|i (?:now )?have (?!\w+ed\b)",
        r"(?:old|other|another|previous|former|last) (?:project|repo|repository|company|job|team|codebase|employer|client)|their|his|her",
        r"(?:friend|competitor|tutorial|article|blog post|podcast|boilerplate|fixture|mock|dummy|quiz|exercise|dream|dreamt|dreamed)(?:['’]?s)?",
    ),
    _words(  # about words
        r"commit message|changelog|release notes?|readme|translate|translating|rephrase|paraphrase|spell|typo|sentence|heading|headline|caption|comment|string|variable",
    ),
    JOKING,
    _words(  # the same in other languages
        r"wenn|ob|angenommen|stell dir vor|vielleicht|würden?|könnten?|sollten?|wollen|hätten?|wären?|meint\w*|sagt\w*|laut|imagina|sup[oó]n\w*|quiz[aá]s?|tal vez|dicen?|seg[uú]n|"
        r"deber[ií]a\w*|si|imagine[zr]?|supposons|peut-être|dit|disent|selon|devrait|faudrait",
    ),
    re.compile(r"[\"“”«»]|\.\.\.|…"),  # quoted, or left open
)
# "… but took it back": not "no longer A but B".
BUT = re.compile(
    r"\bbut (?:we|they|i|then|had|have|took|went|got|rolled|reverted|undid|changed|decided|later|only|just|that|will|want|should|need|did|never)\b",
    re.IGNORECASE,
)
# A question without a question mark, and quotations.
ASKED = re.compile(
    r"(?:what|why|how|when|where|who|whose|which|does|do|did|is|are|was|were|has|have|can|could|should|would|will|shall|may|might|am)\b|.*(?<!\w)['‘][^'’]{3,}['’](?!\w)|.*,\s*(?:what|why)\b",
    re.IGNORECASE,
)
# A continuation, which accepts what came before.
GOES_ON = re.compile(
    r"\W*(?:ok(?:ay)?|thanks?|thx|thank you|great|good|nice|perfect|cool|fine|yes|yep|yeah|sure|right|lgtm|looks good|done|continue|go on|go ahead|proceed|next|also|now|"
    r"please|pls|can|could|would|will|let['’]?s|i (?:want|need|would like)|we need|so|hi|hello|hey|y)\b|/|!|\d\d?\W*$",
    re.IGNORECASE,
)
# Of one clause: unsure, not done, or a wish.
UNSURE = re.compile(
    r"\b(?:if|would|should|could|might|maybe|perhaps|will|shall|going to|gonna|plan(?:s|ned)? (?:to|on)|planning|want(?:s|ed)?|wish|let'?s|(?:need|have|has) to|try|tries|"
    r"trying|tried|please|can|cannot|can'?t|think|guess|probably|unless|whether|claim(?:s|ed)?|allegedly|apparently|seems?|heard|"
    r"imagine|suppose|example|rumou?r|unsure|wonder(?:ing)?|doubt|hope|expect(?:s|ed)?|once|when|until)\b|^after\b|[\"“”«»?]|\.\.\.|…",
    re.IGNORECASE,
)
TROUBLE = re.compile(
    r"\b(?:fail(?:s|ed|ing|ure)?|errors?(?! (?:are|is|go|get|track\w*|report\w*|budget|rates?|pages?|messages?|handling|logs?)\b)|broken?|crash\w*|"
    r"bugs?(?! (?:are|track\w*|report\w*)\b)|exception|stuck|weird)\b",
    re.IGNORECASE,
)
# In a complete statement these do not count if memory has the same word.
DOUBTFUL = (UNSURE, TROUBLE)
# Tasks, which state nothing.
TASK = re.compile(
    r"(?:now |then |also |next |just )*(?:add|fix|run|re-?run|make|write|update|remove|create|implement|refactor|use|check|test|build|move|rename|change|"
    r"show|explain|look|find|do|go|try|start|stop|open|close|commit|push|pull|deploy|install|upgrade|delete|drop|put|set|give|tell|read|"
    r"review|generate|convert|replace|merge|split|clean|debug|investigate|continue|keep|help|list|print|get|fetch|search|analy[sz]e|"
    r"improve|optimi[sz]e|verify|ensure|extract|document|describe|summari[sz]e|plan|design|apply|revert|restore|handle|support|turn|switch|"
    r"enable|disable|bump|configure|migrate|port|draft|compare|i want|i need|you)\b",
    re.IGNORECASE,
)


# Role play: everything in it is part of the role.
PLAYED = re.compile(
    r"\b(?:act|behave|answer|respond|talk|write|pose) (?:as|like) (?:if|though|an?|the|my|our)\b|\b(?:play|be) (?:the|an?|my|our) (?!(?:careful|bit|little|rest|same|whole)\b)\w+|"
    r"(?:^|[.!?] )you(?:['’]re| are) (?:now )?(?:an?|the) (?!(?:star|legend|genius|hero|best|saviour|angel|gem|champ)\b)\w+|\brole-?\s?play|\bin (?:this|the) (?:exercise|scenario|game|story|quiz|role|sketch|fiction|novel|simulation|kata)\b|"
    r"^(?:scenario|exercise|story|game|quiz|kata)\b",
    re.IGNORECASE,
)


def is_own_word(sentence: str) -> bool:
    """Whether nothing marks it as supposed, planned, quoted, reported or for elsewhere."""
    if any(table.search(sentence) for table in (*_NOT_SO, SUPPOSED, OTHERS, BUT)):
        return False
    return not ASKED.match(sentence) and not TOLD_BY_OTHERS.search(OWN_WORDS.sub("", sentence))


_NAMED = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|(?:api|access|private|secret|auth|license)[-_ ]?key|pin)s?\b"
    r"[^.\n]{0,40}?(?:\bis\b|[:=])\s*[\"'`]?(?P<value>[^\s\"'`]{4,})",
    re.IGNORECASE,
)
# Here a plain word may be a secret: "the password is swordfish".
_PASSWORD = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|pwd|pin)\s*(?:\bis\b|[:=])\s*(?!(?:in|not|stored|kept|set|read|the|a|an|required|"
    r"never|always|only|managed|taken|from|at|on|rotated|hashed|optional)\b)\S",
    re.IGNORECASE,
)
_FORMS = re.compile(
    r"\[redacted\b|://[^/\s:@]+:[^/\s:@]+@|-----BEGIN|\b(?:sk-|bearer\s+)(?=[\w.-]*\d)[\w.]{12,}",
    re.IGNORECASE,
)
_LONG = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_PLAIN_VALUE = re.compile(r"[a-z]+[.,;]?|[a-z]+(?:[-_/][a-z]+)+[.,;]?", re.IGNORECASE)


def looks_secret(text: str) -> bool:
    """Whether it may have a secret: one of a known form, a value beside "password", a long random string, or a redaction mark."""
    if _FORMS.search(text) or _PASSWORD.search(text) or any(map(is_token, _LONG.findall(text))):
        return True
    named = (match["value"] for match in _NAMED.finditer(text))
    return bool(spans(text)) or not all(map(_PLAIN_VALUE.fullmatch, named))
