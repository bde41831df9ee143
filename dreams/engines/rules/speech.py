"""What a person typed themselves: no code, no quotations, nothing pasted; and what of it is only asked or supposed. Pure."""

from __future__ import annotations

import re

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
LIST_LEAD = re.compile(
    rf"^{SOFT}{ASK}(?:remember|memori[sz]e|note|save|add)\b[^.?!]{{0,60}}:$", re.IGNORECASE
)
QUESTION = re.compile(
    r"\?\s*[\"'”’)]*\s*$|^\s*(?:do|did|does|what|why|how|when|where|who|is|are|was|were|should|shall|could|can|would|will|have|has)"
    r"\s+(?:you|i|we|it|that|there|this|the)\b(?!\s+please)",
    re.IGNORECASE,
)
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
_PASTE = re.compile(
    r"\b(?:says?|said|wrote|messages?|e-?mails?|readme|docs?|logs?|output|errors?|tickets?|issues?|comments?|transcripts?|pasted?|text|"
    r"prompt|file|content|following (?:is|was|from)|here(?:'s| is| are)|this is what|example|quote)\b[^.?!]{0,60}:\s*$",
    re.IGNORECASE,
)
_TAGGED = re.compile(r"<([A-Za-z][\w-]*)\b[^<>]*>.*?(?:</\1>|\Z)", re.DOTALL)


def typed_lines(prompt: str) -> list[str]:
    """Lines as typed: no code, no quotations, no tagged blocks, nothing after "the mail says:", only the ends of a long prompt."""
    bare = _TAGGED.sub(lambda match: "\n" * match[0].count("\n"), prompt)
    masked = mask_code(bare).split("\n")
    lines: list[str] = []
    for line, seen in zip(bare.split("\n"), masked, strict=True):
        gone = line.strip() and not seen.strip("\0 \t\r")
        lines.append("" if gone or line.lstrip().startswith(">") else line.strip())
        if _PASTE.search(line) and not LIST_LEAD.match(line.strip()):
            break
    told = [line for line in lines if line]
    if len(told) <= TYPED_LINES:
        return lines
    return [*told[:EDGE_LINES], "", *told[-EDGE_LINES:]]


def asks(sentence: str) -> bool:
    """A question, unless it is a request in the form of one."""
    polite = re.match(rf"{SOFT}(?:can|could|would|will) you please\b", sentence, re.IGNORECASE)
    return bool(QUESTION.search(sentence)) and not polite
