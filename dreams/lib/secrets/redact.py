"""Removes secrets from text before it is passed on from a transcript to models, pages, logs or the database. PURE."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from dreams.lib.files.text import decode
from dreams.lib.secrets.spotting import may_hold_any, spans

#: What stands in for a secret begins like this, with the rule that found it behind.
MARK = "[redacted: "
MARKED = re.compile(r"\[redacted: [\w-]+\]")
#: Texts searched together: one search costs as much as a few texts, and a secret in one means searching all again.
TOGETHER = 16


def redact(text: str) -> str:
    """`text` with each secret replaced by `[redacted: rule]`; the rest stays unchanged, character by character."""
    return redact_counted(text)[0]


LONGEST = 4_000  # characters of a secret: a private key of 4,096 bits has 3,300


def cut(text: str, most: int) -> str:
    """The first `most` characters, or fewer: no secret is cut in half, as half of one is not recognised any more."""
    return part(text, 0, most)


def part(text: str, start: int, end: int) -> str:
    """This part of `text`, without a secret that one of its ends would cut in half."""
    start, end = _secret_at(text, start)[1], _secret_at(text, end)[0]
    return text[start : max(start, end)]


def _secret_at(text: str, place: int) -> tuple[int, int]:
    """Start and end of the secret that this place is inside; twice the place if it is in none."""
    if not 0 < place < len(text):
        return place, place
    low = max(0, place - LONGEST)
    around = ((low + found.start, low + found.end) for found in spans(text[low : place + LONGEST]))
    return next((ends for ends in around if ends[0] < place < ends[1]), (place, place))


def redact_all(texts: Sequence[str]) -> list[str]:
    """`redact` of each text in a fraction of the time: hardly any has a secret, so many are searched together."""
    return [clean for at in range(0, len(texts), TOGETHER) for clean in _redacted(texts[at : at + TOGETHER])]


def _redacted(texts: Sequence[str]) -> Iterable[str]:
    if len(texts) == 1:
        return [redact(texts[0])]
    if not may_hold_any("\n".join(texts)):
        return texts
    half = len(texts) // 2
    return [*_redacted(texts[:half]), *_redacted(texts[half:])]


def redact_counted(text: str) -> tuple[str, dict[str, int]]:
    """The redacted text, and how often each rule matched."""
    found = spans(text)
    if not found:
        return text, {}
    pieces, at = list[str](), 0
    counts: Counter[str] = Counter()
    for span in found:
        pieces += [text[at : span.start], _mark(span.rule)]
        at = span.end
        counts[span.rule] += 1
    return "".join([*pieces, text[at:]]), dict(counts)


LEAST_LINE = 8  # characters: less may be any word
# A shorter run, or a plain word, reveals nothing of a key.
_KEY_RUN = re.compile(
    r"(?<![A-Za-z0-9+/=])(?![A-Z]?[a-z]+(?![A-Za-z0-9+/=…]))[A-Za-z0-9+/=]{8,}|[A-Za-z0-9+/=]{3,7}(?=…)"
)


def key_blocks(texts: Iterable[str]) -> str:
    """The multi-line secrets in `texts`, whose single lines cannot be recognised as secret."""
    found = (values(text) for text in texts if "PRIVATE KEY" in text or "Private-Lines" in text)
    return "\n".join(value for each in found for value in each if "\n" in value)


def without_keys(text: str, blocks: str) -> str:
    """As `redact`, also removing each line of `blocks`, and any part of one."""
    bare = redact(text)
    for line in filter(None, blocks.split("\n")):
        bare = bare.replace(line, _mark("key")) if len(line) >= LEAST_LINE else bare
    return _KEY_RUN.sub(lambda run: _mark("key") if run[0] in blocks else run[0], bare) if blocks else bare


def values(text: str) -> dict[str, str]:
    """Maps each secret in `text` to the rule that found it. Only for removing secrets; never pass it on."""
    return {text[span.start : span.end]: span.rule for span in spans(text)}


@lru_cache(maxsize=16)
def secrets_in(file: bytes) -> dict[str, str]:
    """`values` of a file's text; the last ones are kept, as each line is compared with them."""
    return values(decode(file))


def without(content: str, values: Mapping[str, str]) -> str:
    """`content` with each secret (value → rule) replaced by `[redacted: rule]`, by the rule that finds it here if any.

    A multi-line secret is replaced by as many lines, so that line numbers stored elsewhere remain valid.
    """
    for span in reversed(spans(content)):
        if (value := content[span.start : span.end]) in values:
            content = content[: span.start] + _instead(value, span.rule) + content[span.end :]
    return replaced(content, {value: _instead(value, rule) for value, rule in values.items()})


def _instead(value: str, rule: str) -> str:
    return _mark(rule) + "\n" * value.count("\n")


def _mark(rule: str) -> str:
    return f"{MARK}{rule}]"


def replaced(content: str, instead: Mapping[str, str]) -> str:
    """`content` with each secret replaced (value → replacement), everywhere."""
    # Longest first: one secret may be the beginning of another.
    for value in sorted(instead, key=len, reverse=True):
        content = content.replace(value, instead[value])
    return content
