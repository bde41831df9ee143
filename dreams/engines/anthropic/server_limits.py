"""What a server with a reduced Messages API does not accept, learnt from its refusals and left out from then on.

PURE. Only parts that a dream can do without are left out: cache marks, system blocks (joined to one text) and the
model's thinking in the messages sent back.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dreams.engines.anthropic.conversation import without_thinking
from dreams.engines.anthropic.retrying import CallFailed, FailureKind
from dreams.engines.anthropic.stream import Json


@dataclass(slots=True)
class ServerLimits:
    """`left_out` names the parts that this server has refused so far, for a person to read."""

    left_out: list[str] = field(default_factory=list)

    def request(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """A copy of the request without the refused parts."""
        made: Mapping[str, Any] = given
        for name in self.left_out:
            made = _WITHOUT[name](made)
        return made

    def learn(self, failed: CallFailed, given: Mapping[str, Any]) -> bool:
        """True when one more part is now left out, so that a retry makes sense."""
        if failed.kind not in (FailureKind.OPTION, FailureKind.REQUEST):
            return False
        for name, words in _REFUSED.items():
            if name not in self.left_out and words.search(failed.said):
                before = self.request(given)
                self.left_out.append(name)
                if self.request(given) != before:
                    return True
                self.left_out.pop()
        return False


def _without_marks(given: Mapping[str, Any]) -> Json:
    return {
        **given,
        **{key: _unmarked(given[key]) for key in ("system", "tools", "messages") if key in given},
    }


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(entry) for entry in value]
    if isinstance(value, Mapping):
        return {
            key: _unmarked(entry) if key == "content" else entry
            for key, entry in value.items()
            if key != "cache_control"
        }
    return value


def _joined_system(given: Mapping[str, Any]) -> Json:
    blocks = given.get("system")
    if not isinstance(blocks, list):
        return dict(given)
    return {**given, "system": "\n\n".join(str(block.get("text", "")) for block in blocks)}


def _without_thinking(given: Mapping[str, Any]) -> Json:
    return {**given, "messages": [without_thinking(message) for message in given.get("messages", ())]}


_WITHOUT: Mapping[str, Callable[[Mapping[str, Any]], Json]] = {
    "cache marks": _without_marks,
    "thinking": _without_thinking,
    "system blocks": _joined_system,
}
# How servers refuse it: by a field's name, or by its place in the request.
_REFUSED: Mapping[str, re.Pattern[str]] = {
    "cache marks": re.compile(r"cache_control", re.IGNORECASE),
    # Not the request option of the same name, which the asker leaves out.
    "thinking": re.compile(
        r"(?:messages|content|block).*thinking|thinking.*(?:block|messages)|signature|unknown (?:content )?(?:block )?type",
        re.IGNORECASE,
    ),
    "system blocks": re.compile(
        r"\bsystem\b.*\b(?:string|str|text)\b|\b(?:string|str)\b.*\bsystem\b", re.IGNORECASE
    ),
}
