"""Finds what a person typed themselves, without code, quotations and pasted text; and what is a question, or is retracted
later. Pure."""

import re

from dreams.engines.rules.user_statements.phrases import GOES_ON, PLAYED, TASK
from dreams.lib.memdir import mask_code
from dreams.lib.prose.pieces import keys_of
from dreams.lib.prose.values import read

TYPED_LINES = 25  # longer prompts are pasted except for their first and last lines
EDGE_LINES = 6  # first and last, typed around a paste; chosen

SOFT = (
    r"(?:(?:please|pls|also|and|but|so|ok(?:ay)?|oh|hey|hi|btw|by the way|claude|one more thing|important|again|thanks|thank you|"
    r"as i said|like i said|great|perfect|good|nice|cool|yes|yep|right(?! now)|well|then|finally|lastly|just so you know|so you know|fyi|"
    r"(?:quick|small|short|one) (?:update|heads[- ]?up|reminder|thing|point|question aside)|update|heads[- ]?up|reminder|"
    r"for (?:your (?:notes|information|records|reference)|the record)|before (?:we|you|i) [\w ]{2,20}(?=[:,])|just)\b"
    r"[\s,:;.!—–-]*){0,4}"
)
ASK = r"(?:(?:can|could|would|will) you please\s+|please\s+|i(?:'d like| want| need) you to\s+|(?:you )?(?:should|must)\s+|make sure (?:to|you)\s+)?"
LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(?P<rest>\S.*)$")
LIST_LEAD = re.compile(
    rf"^{SOFT}{ASK}(?:remember|memori[sz]e|note|save|add|update (?:(?:your|the|my|our|project) )*(?:memory|notes?))\b[^.?!]{{0,60}}:$|"
    r"^update (?:(?:your|the|my|our|project) )*(?:memory|notes?)\b[^.?!]{0,60}:$",
    re.IGNORECASE,
)
# After a statement: that it is for memory.
KEEP_IT = re.compile(
    r"\s{0,9}[,;.—–-]{1,9}\s{0,9}(?:(?:and|so|please)\s+){0,2}(?:(?:remember|memori[sz]e)\s+(?:that|this|it)|"
    r"(?:keep|save|store|put|note|add)\s+(?:that|this|it)\s+(?:(?:in|to|into)\s+(?:(?:your|the|my|our|project)\s+)?(?:memory|mind|notes?)))\s*[.!]*$",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"\?\s*[\"'”’)]*\s*$|^\s*(?:do|did|does|what|why|how|when|where|who|is|are|was|were|should|shall|could|can|would|will|have|has)"
    r"\s+(?:you|i|we|it|that|there|this|the)\b(?!\s+please)",
    re.IGNORECASE,
)
# After any other line with a colon comes somebody's text.
_OWN_LIST = re.compile(
    r"\b(?:updates?|changes?|changed|news|notes?|facts?|things?|corrections?|new|different|rules?|preferences?|remember|as of)\b",
    re.IGNORECASE,
)
# A line that only names what is pasted below it: "npm output".
_PASTED_BELOW = re.compile(
    r"^(?:(?:the|our|my|full) )?(?:(?!(?:the|an?|of|in|to|for|see)\b)[\w'’./-]+ ){0,2}(?:output|logs?|readme|errors?|trace|traceback|stack ?trace|e?-?mail|message|ticket|issue|transcript|docs?|diff|report)(?: (?:of|from) \S+(?: \S+)?)?\s*$",
    re.IGNORECASE,
)
# An unclosed tag includes the rest if it begins a line or has a technical name; `/users/<id>` does not.
_TAGGED = re.compile(
    r"<([A-Za-z][\w-]*)\b[^<>]*>.*?</\1>|(?:^[ \t]*<[A-Za-z]|<[A-Za-z]\w*[-_])[\w-]*\b[^<>]*>.*",
    re.DOTALL | re.MULTILINE,
)

# A drawn or aligned line: "-----", columns, "ha ha ha". Patterns for sentences would take quadratic time on it.
_DRAWN = re.compile(r"(.{1,3}?)\1{11}")


def _shapes(*shapes: str) -> re.Pattern[str]:
    """Matches a complete line of one of these forms."""
    return re.compile(rf"(?:{'|'.join(shapes)})$", re.IGNORECASE)


# Where the person's own words end: letters, terminals, logs, diffs, and the lines that introduce them. Nobody greets others,
# signs, or has a shell prompt in what they type to an agent.
_FOREIGN = _shapes(
    # A letter: greeting, header, and marks of forwarding.
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)) (?!claude\b|there\b|again\b)[\w .'’-]{2,30}[,!]",
    r"(?:from|to|cc|bcc|subject|date|sent|reply-to|author): \S.*",
    r"[-=_*> ]*(?:begin )?(?:forwarded|original) message\b.*|on .{6,60} wrote:?",
    # A terminal: "$ npm test", "PS C:\>", "ana@box:~$ ls".
    r"(?:[\w.-]+@[\w.-]+[:~ ][^$#]{0,40})?[$%❯»] \S.*|>>> \S.*|PS [A-Z]:\\.*",
    # A log, a stack trace, a chat with its times, a report of a test.
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|\[?\d\d:\d\d(?::\d\d)?\]? +[\w.-]+ ?[:>].*|at .*[^\s\d](?::\d+)+\)?",
    r"\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE|FATAL|FAIL|PASS)\]?[: ].*|(?:expected|actual|received|steps to reproduce|acceptance criteria)\b.*",
    # A diff.
    r"diff --git .*|index [0-9a-f]{6,}.*|@@ .*|(?:\+\+\+|---) \S.*|[+-](?!\d)\S.* \S.*",
)  # fmt: skip
# A table row, a code comment, a heading, a draft: not addressed to the agent.
_MARKED = re.compile(r"\||\[[^\]]{1,20}\]\s|//|/\*|\*/|#{1,6}\s|--\s|<!--|[;%]\s")
_SIGNED = _shapes(
    r"(?:best|kind|warm|many)(?: (?:regards|wishes|greetings))?,?",
    r"(?:kind |best |warm )?(?:regards|greetings|sincerely|yours)\b,?(?: [\w.-]+){0,2}",
)
# Introduces text below, with or without a colon: "the ticket reads like this", "see mail below".
_TEXT_NAMED = re.compile(
    r"\b(?:output|logs?|e?-?mails?|messages?|tickets?|issues?|comments?|threads?|posts?|docs?|readme|page|text|snippet|excerpt|quote|response|reply|answer|report|trace|"
    r"errors?|diff|article|draft|template|transcripts?|spec|changelog|chat|wiki|prompt|file|content|example|following (?:is|was|from)|says?|said|wrote|here(?: is| are|['’]s))\b",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"\b(?:was|were|is|says?|said|wrote|reads?|like this|as follows|following|below|verbatim|attached|pasted|here|in full)\s*[:…]?$",
    re.IGNORECASE,
)
# A last line that asks about the text above: "what does that mean", "can you estimate it".
ASKS_OF_IT = re.compile(
    r"(?:\w+\W+){0,6}?(?:it|this|that|these|those|them|there|above|say|says|mean|means)\b[^.!]*$|(?:why|what|how|who|summari[sz]e|translate|explain|review|anything|thoughts|tl;?dr)\W*$",
    re.IGNORECASE,
)
MOST_ABOVE = 2  # lines
_OPENING = re.compile(
    r"(?:(?:hello|hi there|hi|hey|dear \w+|morning|good (?:morning|afternoon|evening)|thanks(?: a lot)?|thank you|sure|yeah|yep|nope|hm+|uh+|um+|oh|ah|well|so|and|"
    r"also|anyway|look|listen|turns out|as it turns out|"
    r"(?:just )?to let you know|(?:just )?(?:letting you know|so (?:that )?you know|for (?:your|the) (?:information|record|context|notes))|for (?:context|info)|fwiw|psa|"
    r"(?:please )?(?:remember|memori[sz]e|note)(?: this)?(?=\s*:|\s+that\b)(?: that)?|(?:please )?(?:be aware|keep in mind|bear in mind|note|take note|mind) that|(?:please )?note(?: down)?(?: for (?:the )?(?:future|later|next time))?|be aware|"
    r"(?:side|quick|one) (?:note|change|thing|info)|(?:good|big|small) (?:news|change)(?: this \w+)?|news|info|context|"
    r"(?:the |a )?(?:one |small |only )?(?:change|difference|news) is(?: that)?|you should know(?: that)?|i forgot to (?:mention|say|tell you)(?: that)?|"
    r"forgot to (?:mention|say)(?: that)?|did i mention(?: that)?)\b[\s,:;.!—–-]*)+",
    re.IGNORECASE,
)
# What was known is wrong, and the correction follows.
_OUTDATED = re.compile(
    r"(?:(?:that|this|that note|this note|your (?:notes?|memory|info|information)|the (?:notes?|memory|docs?))(?: (?:on|about|for|of) (?:the )?[\w-]+(?: [\w-]+)?)?(?:['’]s| is| are| was) (?:now )?"
    r"(?:wrong|outdated|stale|old|obsolete|out of date|out-of-date|incorrect|not (?:right|correct|true|up to date)(?: any ?more)?|"
    r"no longer (?:right|correct|true|the case|accurate|valid))|that (?:has )?changed|not any ?more|(?:small |one )?correction|update (?:(?:your|the|my|our|project) )*(?:memory|notes?)|"
    r"update|now(?=\s*:)|actually(?!\s+(?:we|i|can|could|let|no)\b)|(?:since|as of|from|starting|effective) (?:(?:today|now|yesterday)(?: on(?:wards?)?)?|\d{4}-\d\d-\d\d(?=\s*:))(?=\s*[:,])|[\w`'’ -]{3,40} (?:works? differently|(?:has |have )?changed|is different)(?: now)?(?=\s*[:.—–]))\b[\s,:;.!—–-]+",
    re.IGNORECASE,
)
# Words around a statement that change its meaning: "it's a myth that …", "prove that …"; but not "the job that runs at night".
_THAT = re.compile(r"\bthat\b(?!['’])(?! (?:from|to|with|over|one|now|as|in|on|is|was|has)\b)", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|be|been|do|does|did|we|i|they|you|got|get|gone|went|took|takes?|gave|left|came|made|ran|broke|\w{2,}ed|moves?|runs?|uses?|lives|listens?|goes|works?|needs?|keeps?|"
    r"owns?|stays?|starts?|stops?|says?|means?|makes?|gets?|has|please|can|could|would|will|fix|update)\b|\w['’](?:s|re|ve|m|d|ll|t)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    rf"(?:we \w+ )?(?:the|our|my|all|every|a|an) (?:[\w-]+ ){{1,3}}that (?!we\b|i\b|they\b|you\b)(?:{_VERB.pattern})",
    re.IGNORECASE,
)


def typed_lines(prompt: str) -> list[str]:
    """The typed lines: without code, quotations, tagged blocks, drawings and text after "the mail says:"; of a long prompt only
    the ends; none in role play."""
    prompt = "\n".join("" if _DRAWN.search(line.strip()) else line for line in prompt.split("\n"))
    if PLAYED.search(prompt):
        return []
    bare = _TAGGED.sub(lambda match: "\n" * match[0].count("\n"), prompt)
    masked = mask_code(bare).split("\n")
    lines: list[str] = []
    for line, seen in zip(bare.split("\n"), masked, strict=True):
        gone = line.strip() and not seen.strip("\0 \t\r")
        lines.append("" if gone or line.lstrip().startswith(">") else line.strip())
        if _begins_a_paste(line.strip()):
            break
    told = [line for line in lines if line]
    # The last line, after a blank one, asks about several lines above.
    if len(told) > MOST_ABOVE and "" in lines and ASKS_OF_IT.match(told[-1]):
        return [""] * (len(lines) - 1) + told[-1:]
    lines = _own_lines(lines)
    told = [line for line in lines if line]
    if len(told) <= TYPED_LINES:
        return lines
    return [*told[:EDGE_LINES], "", *told[-EDGE_LINES:]]


def _begins_a_paste(line: str) -> bool:
    if LIST_LEAD.match(line):
        return False
    if line.endswith(":") and (_TEXT_NAMED.search(line) or not _OWN_LIST.search(line)):
        return True
    leads = _PASTED_BELOW.match(line) or (_TEXT_NAMED.search(line) and _LEADS.search(line))
    return bool(leads) and not TASK.match(line)


def asks(sentence: str) -> bool:
    """Whether it is a question, and not a request in the form of one."""
    polite = re.match(rf"{SOFT}(?:can|could|would|will) you please\b", sentence, re.IGNORECASE)
    return bool(QUESTION.search(sentence)) and not polite


def _own_lines(lines: list[str]) -> list[str]:
    """The lines before the first one written elsewhere; none if it is signed like a letter."""
    if any(map(_SIGNED.match, lines)):
        return []
    end = next((place for place, line in enumerate(lines) if _FOREIGN.match(line)), len(lines))
    return ["" if _MARKED.match(line) else line for line in lines[:end]]


def bare_sentence(sentence: str) -> str:
    """The sentence without words like "please" and "ok" before it."""
    return re.sub(rf"^{SOFT}", "", sentence, flags=re.IGNORECASE).strip()


def opened(sentence: str) -> tuple[str, bool]:
    """The sentence without opening words, and whether they say that memory is outdated."""
    text, outdated, before = sentence.strip(), False, ""
    while text != before:
        before = text
        if match := _OUTDATED.match(text):
            text, outdated = text[match.end() :], True
        text = bare_sentence(text)
        if match := _OPENING.match(text):
            text = text[match.end() :]
    return text, outdated


def is_embedded(text: str) -> bool:
    """Whether the statement is inside words like "they think that" or "prove that"."""
    return bool(_THAT.search(text)) and not _RELATIVE.match(text)


# --- Retractions ----------------------------------------------------------------------------------------------------

MAX_PROMPT = 12_000  # characters; longer ones are pasted
MOST_DOUBTED = 12  # words
# In words, chosen: longer sentences say something else.
MOST_REMARK = 8
MOST_DENIED = 6
MOST_NARROWED = 16
MOST_HESITANT = 12
# Of any length.
_TAKEN_BACK = re.compile(
    rf"^{SOFT}(?:(?:no|nope|nah|sorry|sry|oops|whoops|actually|argh|damn|h+m+|uh+|um+|ah+|oh|lol)\b\W*)*(?:"
    r"(?:scrap|scratch|strike|forget|ignore|disregard|undo) (?:that|this|it|what i (?:just )?(?:said|wrote))\b(?! \w)|wrong \w+\b(?! \w)|"
    r"(?:i was|(?:that|this|it)(?: was|['’]?s| is)) (?:\w+ )?(?:wrong|meant|not (?:right|true|so)|a (?:typo|mistake))\b|(?:(?:it|that|this|we|i)\b[\w ]{0,40})?(?:n['’]t|not) (?:been )?\w+ yet\b|"
    r"i (?:mis\w+|mixed|meant|take (?:that|it|this) back|spoke too soon)\b|(?:my (?:mistake|bad)|(?:never ?mind|nvm)(?! (?!that|this|it|what)\w)|correction|not true|wait(?! (?:for|until|till)\b)|hold on|hang on|(?:only|just|at least) (?:for|in|on|until|this (?:week|month|sprint|quarter)))\b)",
    re.IGNORECASE,
)
# What begins with another thing speaks of that: "never mind the tests", "tests are not green". But "the name is wrong" does not.
_OF_ANOTHER = re.compile(
    r"^\W*(?:never ?mind|nvm|not|ignore|disregard|wait (?:for|until|till))? ?(?:(?:the|my|our|your|these|those) (?!name|value|number|day|date|last|other)\w|"
    r"(?:(?!(?:it|the|that|this|they|i|we|you|he|she|what|all|both|one|no|none|noth\w+|nobody)\b)[\w-]+ ){1,3}(?:is|are|was|were|do|does|did|has|have)(?:n['’]t)?\b)",
    re.IGNORECASE,
)
# In a short remark these refer to what came before.
_DOUBT = re.compile(
    r"\b(?:meant|ignore|disregard|mixed|(?:scrap|strike) (?:that|this|it)|(?:forget|scratch|strike) (?:what i(?:['’]ve)? (?:just )?(?:said|wrote|told)|my last|the last (?:one|message)|all (?:of )?that)(?! (?:about|on|of|regarding)\b)|mistake[ns]?|oops|whoops|nvm|never ?mind|jok(?:e|ing)|kidding|scratch that|misread|not yet|false alarm|my bad|undo that|"
    r"(?:forget|delete|drop) (?:it|that)$|(?:was|is) (?:just |only )?a test|for now|temporar\w+|(?:staging|demo|tests?|locally|branch) only|only (?:for|in|on|this|until|locally|temporar\w+)|"
    r"wrong|double[- ]check\w*|let me check|(?:not|pretty|fairly|almost) sure)\b",
    re.IGNORECASE,
)
# So does the rest after "wait, no", unless it is a task.
_HESITANT = re.compile(
    r"^(?:(?:ah+|oh|h+m+|uh+|um+|ok|well|sorry|sry|but|argh|damn)\b\W*)*(?:wait(?! (?:for|until|till)\b)|oops|whoops|hold on|hang on|nope|nah|typo|undo|edit:|revert(?:ed|ing)|roll(?:ed|ing) back|undone|undoing|going back|cancelled|scrapped)\W*"
    r"(?:(?:no|wait|sorry)\b\W*)*",
    re.IGNORECASE,
)
# A word of doubt is enough if nothing else is requested: "actually don't, I need to ask first".
_SECOND_THOUGHT = re.compile(
    r"^(?:(?:actually|erm+|h+m+|uh+|um+|no(?! longer| more| need)|nah|nope|sorry|sry|well|argh|damn|ugh|oh|ah)\b\W*)+",
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
# A short negation retracts too, unless it forbids or requests something.
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


def takes_back(prompt: str, before: str = "") -> bool:
    """Whether a prompt begins with a retraction of what came before; of the text `before`, only if it speaks of no other thing."""
    text = " ".join(prompt[:200].split()).lstrip("([*_-–—.… ")
    words = len(text.split())
    doubted = words <= MOST_DOUBTED and _DOUBT.search(text)
    denied = words <= MOST_DENIED and _DENIED.search(text) and not _FORBIDS.search(text)
    if _TAKEN_BACK.match(text) or not (doubted or denied or (words <= MOST_HESITANT and _hesitates(text))):
        return _TAKEN_BACK.match(text) is not None
    return not (before and _OF_ANOTHER.match(text)) or bool(keys_of(text) & keys_of(before))


def _hesitates(text: str) -> bool:
    """Whether it expresses second thoughts, without a task, agreement or question."""
    if found := _HESITANT.match(text):
        return not TASK.match(text[found.end() :])
    doubt = _SECOND_THOUGHT.match(text)
    rest = text[doubt.end() :] if doubt else ""
    return bool(doubt) and not (TASK.match(rest) or GOES_ON.match(rest) or asks(text))


def narrows(prompt: str) -> bool:
    """Whether it restricts what came before: "on the beta site", "that is the default"."""
    text = " ".join(prompt[:200].split())
    words = len(text.split())
    if words > MOST_NARROWED:
        return False
    alone = words <= MOST_REMARK or _MEANT.search(text)
    return bool(_SAID_OF_IT.match(text) or (alone and _NARROWING.match(text)))


def is_remark(prompt: str, before: str = "") -> bool:
    """Whether it is a short remark on what came before: no question, request or agreement, and no new name."""
    text = " ".join(prompt[:200].split())
    if len(text.split()) > MOST_REMARK or GOES_ON.match(text) or TASK.match(text) or asks(text):
        return False
    return read(text).anchors <= read(before).anchors


def standing_from(prompt: str) -> int:
    """The position in a prompt after everything that its own later words retract; 0 if nothing is."""
    text = prompt[:MAX_PROMPT]
    ends = (match.end() for match in _SENTENCE.finditer(text))
    return max((end for end in ends if takes_back(text[end:], text[:end])), default=0)
