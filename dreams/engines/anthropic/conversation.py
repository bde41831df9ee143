"""The messages of one dream: data of others, fenced; marks of the prompt cache; and how they are shortened. PURE.

Messages alternate and end with the user's, which has the results of the last tool calls. Only
complete turns are stored: nothing of a broken answer is kept.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dreams.engines.anthropic.stream import Json, ModelReply
from dreams.lib.diff import visible
from dreams.lib.secrets import redact

KEPT_MESSAGES = 5  # the agent's own constant: so many last messages are kept when a conversation is shortened
KEPT_RESULT_CHARS = 2_000  # of an older tool result, enough to recognise it; chosen
NOTE_CHARS = 6_000  # of the summary of the work so far, its end
CACHED = {"type": "ephemeral"}
CUT_NOTE = "\n[the rest was left out to make room; read it again if you need it]"
NOTHING_SAID = "(Nothing whole was said.)"
# Our tags have their own prefix, so that ordinary markup in a note is kept.
TAG = "dream-"
_TAG = re.compile(rf"<(?=\s*/?\s*{TAG})", re.IGNORECASE)
_LISTS = re.compile(
    rf"(<{TAG}(index|dates|logs|sessions|typed|instructions)>\n)(.*?)(?=\n</{TAG}\2>)", re.DOTALL
)


@dataclass(slots=True)
class Conversation:
    """`messages` begin with the briefing."""

    messages: list[Json] = field(default_factory=list)

    @classmethod
    def begun(cls, briefing: str) -> "Conversation":
        return cls([{"role": "user", "content": [_text(briefing)]}])

    def answered(self, reply: ModelReply) -> None:
        """Adds a complete answer of the model; thinking at its end, which led to nothing, is refused by the API."""
        said = list(reply.content)
        while said and "thinking" in said[-1]["type"]:
            said.pop()
        self.messages.append({"role": "assistant", "content": said or [_text(NOTHING_SAID)]})

    def cut_off(self, reply: ModelReply, request: str) -> None:
        """Adds the text of a truncated answer and asks for the rest. Its calls are incomplete and dropped."""
        said = [_text(reply.text)] if reply.text else [_text(NOTHING_SAID)]
        self.messages.append({"role": "assistant", "content": said})
        self.messages.append({"role": "user", "content": [_text(request)]})

    def results(self, blocks: Sequence[Json], remark: str = "") -> None:
        """Adds the tool results, in the order of the calls, and a remark of ours."""
        self.messages.append({"role": "user", "content": [*blocks, *([_text(remark)] if remark else [])]})

    def marked(self) -> list[Json]:
        """The messages with cache breakpoints: on the briefing, and on the last two of the user.

        The last but one marks the end of the previous request: it is read from the cache even if more blocks were
        added since than the cache looks back over.
        """
        users = [at for at, message in enumerate(self.messages) if message["role"] == "user"]
        marks = {users[0], *users[-2:]}
        return [_with_mark(message) if at in marks else message for at, message in enumerate(self.messages)]

    def forget_thinking(self) -> None:
        """Drops thinking: it is signed by its model, and another model refuses it."""
        self.messages = [without_thinking(message) for message in self.messages]

    def compact(self, done: Iterable[str]) -> bool:
        """Keeps the briefing and the last messages; `done` lists what the rest achieved. False: nothing to leave out.

        At least the last five messages are kept, one more if a call and its result would be separated; long
        results are shortened.
        """
        start = self._tail_start()
        before = sum(_size(message) for message in self.messages)
        tail = [
            {**message, "content": [_short_block(block) for block in message["content"]]}
            for message in self.messages[start:]
        ]
        head = self.messages[0]
        if start > 1:
            note = _note(done, start - 1)
            head = {"role": "user", "content": [head["content"][0], _text(note)]}
        self.messages = [head, *tail]
        return sum(_size(message) for message in self.messages) < before

    def shorten_briefing(self) -> bool:
        """Cuts the long lists of the briefing, which can be read again elsewhere. False: none is long."""
        first, *rest = self.messages[0]["content"]
        shorter = _LISTS.sub(lambda found: found[1] + _short_text(found[3]), first["text"])
        self.messages[0] = {**self.messages[0], "content": [_text(shorter), *rest]}
        return bool(shorter != first["text"])

    def _tail_start(self) -> int:
        """The first message to keep: an answer of the model, so that roles alternate and each result has its call."""
        start = max(1, len(self.messages) - KEPT_MESSAGES)
        while start > 1 and self.messages[start]["role"] != "assistant":
            start -= 1
        return start


def without_thinking(message: Json) -> Json:
    content = message.get("content")
    if message.get("role") != "assistant" or not isinstance(content, list):
        return message
    kept = [block for block in content if "thinking" not in str(block.get("type"))]
    return {**message, "content": kept or [_text("(Thought about it.)")]}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _with_mark(message: Json) -> Json:
    *rest, last = message["content"]
    return {**message, "content": [*rest, {**last, "cache_control": CACHED}]}


def _note(done: Iterable[str], left_out: int) -> str:
    lines = "\n".join(f"- {line}" for line in done)
    if len(lines) > NOTE_CHARS:
        lines = "- …\n" + lines[-NOTE_CHARS:].partition("\n")[2]
    return (
        f"{left_out} earlier messages were left out to make room. What you did in them (do not do it again):\n"
        f"{lines or '- nothing that changed a file'}"
    )


def _short_block(block: Json) -> Json:
    content = block.get("content")
    if block.get("type") != "tool_result" or not isinstance(content, str):
        return block
    return {**block, "content": _short_text(content)}


def _short_text(text: str) -> str:
    return text if len(text) <= KEPT_RESULT_CHARS else text[:KEPT_RESULT_CHARS] + CUT_NOTE


def _size(message: Json) -> int:
    return len(repr(message["content"]))


# --- Data of others -------------------------------------------------------------------------------------------------


def clean(text: str) -> str:
    """Removes secrets and writes out every invisible character."""
    return visible(redact.redact(text))


def fenced(tag: str, text: str, **attributes: object) -> str:
    """`text` as data between tags."""
    named = "".join(f' {name}="{attribute(value)}"' for name, value in attributes.items())
    return f"<{TAG}{tag}{named}>\n{_TAG.sub('&lt;', clean(text))}\n</{TAG}{tag}>"


def unfenced(text: str) -> str:
    """The text between the tags of `fenced`, for a person; also for a truncated text."""
    first, _, rest = text.partition("\n")
    inside = rest if first.startswith(f"<{TAG}") else text
    before, _, last = inside.rstrip().rpartition("\n")
    return before if last.startswith(f"</{TAG}") else inside


def attribute(value: object) -> str:
    """Makes one line that cannot break out of its quotes."""
    flat = " ".join(clean(str(value)).split())[:300]
    return flat.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
