"""Small words as people type them, brought to the forms that the engine reads: "isnt", "jetzt", "en vez de". Pure.

Only words that carry the sentence are replaced, never what it is about; what is cited stays as it was typed.
"""

from __future__ import annotations

import re

_NOT = {"wo": "will", "ca": "can"}
_APOSTROPHE = re.compile(
    r"\b(is|are|does|do|did|was|were|has|have|had|could|should|would|wo|ca)nt\b", re.IGNORECASE
)
# What is meant by a word of another language, longest first.
_SAID_ELSEWHERE = {
    "now": "ab jetzt|ab sofort|jetzt|inzwischen|mittlerweile|nunmehr|a partir de ahora|ahora|désormais|dorénavant|maintenant",
    "no longer": "nicht mehr|nicht länger|keine? mehr|ya no",
    "instead of": "anstelle von|anstatt|statt|en vez de|en lugar de|au lieu de|à la place de",
    "we use": "wir (?:nutzen|verwenden|benutzen)|(?:nosotros )?(?:usamos|utilizamos)|(?:nous utilisons|on utilise)",
    "listens on": "hört auf|lauscht auf|läuft auf|escucha en|corre en|écoute sur|tourne sur",
    "is": "ist|está",
}
# Written small, for "EST" is a time zone; and no word in code or quotes.
_FOREIGN = tuple(
    (re.compile(rf"(?<![\w`'\"-])(?:{phrases})(?![\w`'\"-])"), meant)
    for meant, phrases in _SAID_ELSEWHERE.items()
)
_ARTICLE = re.compile(r"^(?:der|die|das|el|los|las|le|les)\s+", re.IGNORECASE)
_WAS = re.compile(
    r"\s*\((?:(?:it )?was|previously|formerly|before|instead of|not|used to be|old(?: value)?):?\s+(?![^()]*\byet\b)([^()]+)\)\s*[.!]*$",
    re.IGNORECASE,
)
_FACE = re.compile(r"\s*(?:[:;]-?[)(DPp]|[🎉🚀👍🙏✅🙂😀😊❤️🥳]+)\s*$")


def plain(sentence: str) -> str:
    """The sentence with its small words as they are read elsewhere."""
    text = _APOSTROPHE.sub(
        lambda match: f"{_NOT.get(match[1].lower(), match[1])} not", _FACE.sub("", sentence)
    )
    text = re.sub(r"\bits(?= (?:now )?\S*\d)", "it is", re.sub(r"\bteh\b", "the", text))
    text = _WAS.sub(r", no longer \1", text)
    small = f"{text[:1].lower()}{text[1:]}"
    read = small
    for pattern, meant in _FOREIGN:
        read = pattern.sub(meant, read)
    return _ARTICLE.sub("", read) if read != small else text
