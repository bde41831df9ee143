"""What a person typed themselves: no code, no quotations, nothing pasted; and what of it is only asked or supposed. Pure."""

from __future__ import annotations

import re

from dreams.engines.rules.user_statements.pasting import asks_of_what_is_above, leads_to_a_paste, own_lines
from dreams.engines.rules.user_statements.phrases import PLAYED, TASK
from dreams.memdir import mask_code

TYPED_LINES = 25  # a longer prompt was pasted but for its first and last lines
EDGE_LINES = 6

SOFT = (
    r"(?:(?:please|pls|also|and|but|so|ok(?:ay)?|oh|hey|hi|btw|by the way|claude|one more thing|important|again|thanks|thank you|"
    r"as i said|like i said|great|perfect|good|nice|cool|yes|yep|right|well|then|finally|lastly|just so you know|so you know|fyi|"
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
QUESTION = re.compile(
    r"\?\s*[\"'”’)]*\s*$|^\s*(?:do|did|does|what|why|how|when|where|who|is|are|was|were|should|shall|could|can|would|will|have|has)"
    r"\s+(?:you|i|we|it|that|there|this|the)\b(?!\s+please)",
    re.IGNORECASE,
)
_PASTE = re.compile(
    r"\b(?:says?|said|wrote|messages?|e-?mails?|readme|docs?|logs?|output|errors?|tickets?|issues?|comments?|transcripts?|pasted?|text|"
    r"prompt|file|content|following (?:is|was|from)|here(?:'s| is| are)|this is what|example|quote)\b[^.?!]{0,60}:\s*$",
    re.IGNORECASE,
)
# What follows any other line with a colon is somebody's text too.
_OWN_LIST = re.compile(
    r"\b(?:updates?|changes?|changed|news|notes?|facts?|things?|corrections?|new|different|rules?|preferences?|remember|as of)\b",
    re.IGNORECASE,
)
# A line that is nothing but the name of what is pasted below it: "npm output".
_PASTED_BELOW = re.compile(
    r"^(?:(?:the|our|my|full) )?(?:(?!(?:the|an?|of|in|to|for|see)\b)[\w'’./-]+ ){0,2}(?:output|logs?|readme|errors?|trace|traceback|stack ?trace|e?-?mail|message|ticket|issue|transcript|docs?|diff|report)(?: (?:of|from) \S+(?: \S+)?)?\s*$",
    re.IGNORECASE,
)
# A tag that is never closed holds the rest where it begins a line or is named as programs name theirs; `/users/<id>` does not.
_TAGGED = re.compile(
    r"<([A-Za-z][\w-]*)\b[^<>]*>.*?</\1>|(?:^[ \t]*<[A-Za-z]|<[A-Za-z]\w*[-_])[\w-]*\b[^<>]*>.*",
    re.DOTALL | re.MULTILINE,
)

# A line that is drawn or aligned, not written: "-----", columns, "ha ha ha". Patterns for sentences would go over such a run
# again from each of its places.
_DRAWN = re.compile(r"(.{1,3}?)\1{11}")


def typed_lines(prompt: str) -> list[str]:
    """Lines as typed: no code, no quotations, no tagged blocks, nothing drawn, nothing after "the mail says:", only the ends
    of a long prompt; nothing where the agent is to play somebody."""
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
    if asks_of_what_is_above(lines):
        return [""] * (len(lines) - 1) + told[-1:]
    lines = own_lines(lines)
    told = [line for line in lines if line]
    if len(told) <= TYPED_LINES:
        return lines
    return [*told[:EDGE_LINES], "", *told[-EDGE_LINES:]]


def _begins_a_paste(line: str) -> bool:
    if LIST_LEAD.match(line):
        return False
    named = (_PASTED_BELOW.match(line) and not TASK.match(line)) or leads_to_a_paste(line)
    return bool(named or _PASTE.search(line) or (line.endswith(":") and not _OWN_LIST.search(line)))


def asks(sentence: str) -> bool:
    """A question, unless it is a request in the form of one."""
    polite = re.match(rf"{SOFT}(?:can|could|would|will) you please\b", sentence, re.IGNORECASE)
    return bool(QUESTION.search(sentence)) and not polite
