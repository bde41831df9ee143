"""What is taken back: a prompt, or the rest of one, that says of what came just before that it is not so. Pure."""

from __future__ import annotations

import re

from dreams.engines.rules.user_statements.phrases import GOES_ON, TASK
from dreams.engines.rules.user_statements.speech import SOFT, asks
from dreams.lib.prose.values import read

MAX_PROMPT = 12_000
MOST_DOUBTED = 12  # words
MOST_REMARK = 8
MOST_DENIED = 6
MOST_UNSAID = 16
MOST_HESITANT = 12
_HESITATING = r"(?:(?:h+m+|uh+|um+|oh|ah+|ugh|argh|damn|shit|ok(?:ay)?|lol|haha|sorry|oops|whoops|wait|no|nope|nah|actually|hold on|hang on|ps|well|ahem|please|sry|and|but|so)\b[\s,.:;!…—–-]*)*"
_TAKEN_BACK = re.compile(
    rf"^{SOFT}(?:{_HESITATING}(?:"
    r"(?:scrap|scratch|strike|ignore|disregard|forget|skip|undo|cancel|delete|drop)(?: (?:all|everything))? (?:that|this|it|what i (?:just )?(?:said|wrote)|my (?:last|previous)\b.*|the last (?:one|message|bit|part))"
    r"(?=\s*(?:[,.;:!—–-]|$|please))|disregard\b|never ?mind|nvm\b|"
    r"(?<=no )(?:that|it|this)['’]?s (?:the|an?|for|our|my|from)\b|(?:i was|that was|that['’]?s|that is|this was|this is|it was|it['’]s|what i said (?:was|is)) (?:all |just |actually |totally |completely |only )?(?:wrong|a (?:typo|mistake|lie|joke|test)|not (?:right|true|correct|so|it)|incorrect|false|nonsense|"
    r"mistaken|outdated info|meant for|for (?:the other|another)|from (?:the other|another)|the (?:other|wrong)|about (?:the other|another)|kidding|joking|confused|misinformed)|"
    r"not true\b|my (?:mistake|bad|fault|error)\b|(?:just |only |was |i was )*(?:kidding|joking)\b|jk\b|just testing\b|"
    r"(?:that['’]s |that was |it was |this was )?(?:the )?wrong (?:repo|repository|project|window|chat|tab|channel|person|file|one|terminal|branch|service|team|thing|thread|message|button)|"
    r"i (?:misread|misspoke|mis-?remembered|mistyped|mixed|got (?:it|that|this|them) (?:wrong|mixed|backwards)|confused|meant\b(?! to\b)|lied|take (?:that|it|this) back|was looking at (?:the wrong|another|the other)|had (?:it|that) wrong|"
    r"stand corrected|spoke too soon)|(?:spoke|said that) too soon|correction\b|"
    r"(?:actually |no,? )*(?:it|that|this|they|we|he|she) (?:is|was|are|were|did|do|does|has|have)(?:n['’]t| not)(?=\s*(?:[,.;:!—–-]|$|true\b|happen|do\b|done\b|move|switch|change|merge|ship|go\b))|"
    r"(?:we|they|it|that) never (?:did|happened|moved|switched|changed|shipped|merged)\b"
    r"|(?:that['’]?s|that is|it['’]s|this is|i mean|i meant|but|well|or)?[\s,]*(?:only|just|merely|at least)\b(?! to\b| so\b| a (?:heads|note|quick)\b| fyi| letting)|"
    r"(?:that['’]?s|that is|it['’]s|this is)(?: \w+){1,3} only\b|i mean(?:t)?\b|not (?:yet|really|quite|exactly|here|for|in|on)\b|"
    r"(?:we|they|i)(?:['’]re|['’]ll| are| will)? (?:still |all )?(?:keep|keeping|stay|staying|stick|sticking|remain|remaining)\b"
    r")|(?:no,? wait|wait,? no|wait|hold on|hang on)\b|(?:[^.!?\n]{0,60})\b(?:isn['’]t|is not|not|wasn['’]t|hasn['’]t been|has not been) (?:merged|done|live|deployed|final|decided|approved|released|confirmed|finished|in) yet\b|"
    r"(?:no|sorry|oops|whoops|actually)\b[ ,.:;!—–-]+(?:no|wait|scrap|that was|that is|that['’]s|i was|i meant|my|it['’]s wrong))",
    re.IGNORECASE,
)
# In a remark of a few words any of these is said of what came just before.
_DOUBT = re.compile(
    r"\b(?:meant|ignore|disregard|mixed|mistake[ns]?|oops|whoops|nvm|never ?mind|jok(?:e|ing)|kidding|scratch that|misread|not yet|false alarm|my bad|undo that|"
    r"(?:forget|delete|drop) (?:it|that)$|(?:was|is) (?:just |only )?a test|for now|temporar\w+|(?:staging|demo|tests?|locally|branch) only|only (?:for|in|on|this|until|locally|temporar\w+)|"
    r"wrong|double[- ]check\w*|let me check|(?:not|pretty|fairly|almost) sure)\b",
    re.IGNORECASE,
)
# So is whatever follows a "wait, no", unless it is something to do.
_HESITANT = re.compile(
    r"^(?:(?:ah+|oh|h+m+|uh+|um+|ok|well|sorry|sry|but|argh|damn)\b\W*)*(?:wait|oops|whoops|hold on|hang on|nope|nah|typo|undo|edit:|revert(?:ed|ing)|roll(?:ed|ing) back|undone|undoing|going back|cancelled|scrapped)\W*"
    r"(?:(?:no|wait|sorry)\b\W*)*",
    re.IGNORECASE,
)
# A word of doubt by itself is enough where nothing else is wanted: "actually don't, I need to ask first".
_SECOND_THOUGHT = re.compile(
    r"^(?:(?:actually|erm+|h+m+|uh+|um+|no(?! longer| more| need)|nah|nope|sorry|sry|well|argh|damn|ugh|oh|ah)\b\W*)+",
    re.IGNORECASE,
)
# So is this wherever it stands in a remark.
_UNSAID = re.compile(
    r"\b(?:forget|ignore|scratch|disregard|strike) (?:what i(?:['’]ve)? (?:just )?(?:said|wrote|told)|my last|the last (?:one|message)|all (?:of )?that)\b(?! (?:about|on|of|regarding)\b)",
    re.IGNORECASE,
)
_SAID_OF_IT = re.compile(
    r"(?:that|this)(?:['’]?s| is| was)\b(?! (?:great|good|fine|perfect|it|all|right|correct|ok(?:ay)?|nice|cool|why|what|how|done|better|enough)\b)",
    re.IGNORECASE,
)
_NARROWING = re.compile(
    r"(?:but |and |well |that is |that['’]s )?(?:in|on|for|at|with|under|during|within|inside|per|according to|only|except|besides|without|after|before|while|where|when|until|unless|if|as long as|at least)\b",
    re.IGNORECASE,
)
_MEANT = re.compile(r"\b(?:that is|i mean|i meant|only|at least|anyway|of course)\W*$", re.IGNORECASE)
# So is a denial, unless it forbids or asks something.
_DENIED = re.compile(
    r"^(?:nah|nope|lol|ha(?:ha)+|i wish|as if|yeah,? right)\b|\b(?:not|never|(?:is|was|are|were|did|has|have|will)n['’]?t|stays?)\b",
    re.IGNORECASE,
)
_FORBIDS = re.compile(r"^(?:please |pls |and |but )*(?:do not|don['’]?t|never)\b|\?\s*$", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?;\n…]+\s+|\s[—–-]+\s|,\s+(?=(?:no|wait|sorry|oops|actually|scratch|scrap)\b)")
REVERTED = re.compile(
    r"\b(?:revert\w*|roll(?:ed|ing)? (?:it |that |this |them )?back|rollback|undo|undid|undone|unrolled|(?:moved|went|switched|changed) back|back (?:to|on|at|with|in|from)|again|change of plans?|"
    r"wrong|typo|mistake|scrap(?:ped)?|scratch|not true|stays?|staying|stayed|still|cancel\w*|abort\w*|abandon\w*|(?:did|does)(?:n['’]t| not) (?:work|happen|stick|go)|"
    r"never happened|gave up on|stick(?:ing)? (?:to|with)|stuck with|keep(?:ing)?|kept)\b",
    re.IGNORECASE,
)


def takes_back(prompt: str) -> bool:
    """Whether a prompt begins by taking back what was said just before."""
    text = " ".join(prompt[:200].split()).lstrip("([*_-–—.… ")
    words = len(text.split())
    doubted = words <= MOST_DOUBTED and _DOUBT.search(text)
    denied = words <= MOST_DENIED and _DENIED.search(text) and not _FORBIDS.search(text)
    unsaid = words <= MOST_UNSAID and _UNSAID.search(text)
    return bool(
        _TAKEN_BACK.match(text)
        or (words <= MOST_HESITANT and _hesitates(text))
        or doubted
        or denied
        or unsaid
    )


def _hesitates(text: str) -> bool:
    """Second thoughts about what was said, and nothing to do, agree to or answer instead."""
    if found := _HESITANT.match(text):
        return not TASK.match(text[found.end() :])
    doubt = _SECOND_THOUGHT.match(text)
    rest = text[doubt.end() :] if doubt else ""
    return bool(doubt) and not (TASK.match(rest) or GOES_ON.match(rest) or asks(text))


def narrows(prompt: str) -> bool:
    """ "On the beta site", "that is the default": where it is so or what it was, said behind it in one sentence."""
    text = " ".join(prompt[:200].split())
    words = len(text.split())
    if words > MOST_UNSAID:
        return False
    alone = words <= MOST_REMARK or _MEANT.search(text)
    return bool(_SAID_OF_IT.match(text) or (alone and _NARROWING.match(text)))


def is_remark(prompt: str, before: str = "") -> bool:
    """A few words that ask nothing, want nothing done and agree to nothing: said of what came just before, unless they name
    something that it did not."""
    text = " ".join(prompt[:200].split())
    if len(text.split()) > MOST_REMARK or GOES_ON.match(text) or TASK.match(text) or asks(text):
        return False
    return read(text).anchors <= read(before).anchors


def standing_from(prompt: str) -> int:
    """The place in a prompt from which on it stands: behind what its own later words take back; 0 where none do."""
    text = prompt[:MAX_PROMPT]
    found = [match.end() for match in _SENTENCE.finditer(text) if takes_back(text[match.end() :])]
    return found[-1] if found else 0
