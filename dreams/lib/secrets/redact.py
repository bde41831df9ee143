"""Text without its secrets, for whatever leaves the transcript: models, pages, logs, the database. PURE."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from dreams.lib.secrets.spotting import may_hold_any, spans

#: Texts that are looked at together: one look costs what a few texts cost, and a secret in one has all looked at anew.
TOGETHER = 16


def redact(text: str) -> str:
    """`text` with each secret as `[redacted: rule]`; what is no secret stays as it is, character by character."""
    return redact_counted(text)[0]


def redact_all(texts: Sequence[str]) -> list[str]:
    """As `redact` of each, at a fraction of the time: hardly any holds a secret, so many are looked at as one."""
    return [clean for at in range(0, len(texts), TOGETHER) for clean in _redacted(texts[at : at + TOGETHER])]


def _redacted(texts: Sequence[str]) -> Iterable[str]:
    if len(texts) == 1:
        return [redact(texts[0])]
    if not may_hold_any("\n".join(texts)):
        return texts
    half = len(texts) // 2
    return [*_redacted(texts[:half]), *_redacted(texts[half:])]


def redact_counted(text: str) -> tuple[str, dict[str, int]]:
    """The redacted text, and how often each rule was met."""
    found = spans(text)
    if not found:
        return text, {}
    pieces, at = list[str](), 0
    counts: Counter[str] = Counter()
    for span in found:
        pieces += [text[at : span.start], f"[redacted: {span.rule}]"]
        at = span.end
        counts[span.rule] += 1
    return "".join([*pieces, text[at:]]), dict(counts)


_KEY_RUN = re.compile(r"[A-Za-z0-9+/=]{8,}|[A-Za-z0-9+/=]{3,7}(?=…)")  # a shorter one tells nothing of a key


def key_blocks(texts: Iterable[str]) -> str:
    """The secrets over several lines that stand in `texts`: no line of one shows by itself what it is."""
    found = (values(text) for text in texts if "PRIVATE KEY" in text or "Private-Lines" in text)
    return "\n".join(value for each in found for value in each if "\n" in value)


def without_keys(text: str, blocks: str) -> str:
    """As `redact`, and without any part of a line of `blocks`."""
    bare = redact(text)
    return (
        _KEY_RUN.sub(lambda run: "[redacted: key]" if run[0] in blocks else run[0], bare) if blocks else bare
    )


def values(text: str) -> dict[str, str]:
    """Each secret that stands in `text`, with the rule that knows it. For taking out; it must go nowhere else."""
    return {text[span.start : span.end]: span.rule for span in spans(text)}


def without(content: str, values: Mapping[str, str]) -> str:
    """`content` with each secret (value → rule) as `[redacted: rule]`, wherever it stands; where another rule knows it, by that.

    A secret over several lines leaves as many behind, so that line numbers kept elsewhere stay true.
    """
    for span in reversed(spans(content)):
        if (value := content[span.start : span.end]) in values:
            content = content[: span.start] + _instead(value, span.rule) + content[span.end :]
    return replaced(content, {value: _instead(value, rule) for value, rule in values.items()})


def _instead(value: str, rule: str) -> str:
    return f"[redacted: {rule}]" + "\n" * value.count("\n")


def replaced(content: str, instead: Mapping[str, str]) -> str:
    """`content` with other words for each secret (value → words), wherever it stands."""
    # The longest first: one secret may be the beginning of another.
    for value in sorted(instead, key=len, reverse=True):
        content = content.replace(value, instead[value])
    return content
