"""The messages of one dream: what is sent, where the prompt cache is marked, and how it is made shorter. PURE.

Messages alternate and end with the user's, which holds the results of the tools that the model called last. Only
whole turns stand here: whatever a broken answer brought never enters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dreams.engines.anthropic.stream import Json, ModelReply

KEPT_MESSAGES = 5  # the agent's own constant: so many last messages stay when a conversation is made shorter
KEPT_RESULT_CHARS = 2_000  # of an older tool result: what it was can still be told; chosen
NOTE_CHARS = 6_000  # of what was done so far, its end
CACHED = {"type": "ephemeral"}
CUT_NOTE = "\n[the rest was left out to make room; read it again if you need it]"
NOTHING_SAID = "(The answer was cut off before anything whole was said.)"


@dataclass(slots=True)
class Conversation:
    """`messages` begin with the briefing."""

    messages: list[Json] = field(default_factory=list)

    @classmethod
    def begun(cls, briefing: str) -> "Conversation":
        return cls([{"role": "user", "content": [_text(briefing)]}])

    def answered(self, reply: ModelReply) -> None:
        """Keep a whole answer of the model."""
        self.messages.append({"role": "assistant", "content": list(reply.content) or [_text(NOTHING_SAID)]})

    def cut_off(self, reply: ModelReply, request: str) -> None:
        """Keep what a truncated answer said, and ask for the rest. Calls in it were never whole and are dropped."""
        said = [_text(reply.text)] if reply.text else [_text(NOTHING_SAID)]
        self.messages.append({"role": "assistant", "content": said})
        self.messages.append({"role": "user", "content": [_text(request)]})

    def results(self, blocks: Sequence[Json], remark: str = "") -> None:
        """The answers of the tools, in the order of the calls, and a remark of ours."""
        self.messages.append({"role": "user", "content": [*blocks, *([_text(remark)] if remark else [])]})

    def marked(self) -> list[Json]:
        """The messages with cache breakpoints: on the briefing, and on the last two of the user.

        The one before the last is where the request before this one ended: it is read even when more blocks came
        since than the cache looks back for.
        """
        users = [at for at, message in enumerate(self.messages) if message["role"] == "user"]
        marks = {users[0], *users[-2:]}
        return [_with_mark(message) if at in marks else message for at, message in enumerate(self.messages)]

    def forget_thinking(self) -> None:
        """Thinking is signed by the model that thought it; another model refuses it."""
        for message in self.messages:
            if message["role"] == "assistant":
                kept = [block for block in message["content"] if "thinking" not in block["type"]]
                message["content"] = kept or [_text("(Thought about it.)")]

    def compact(self, done: Iterable[str]) -> bool:
        """Keep the briefing and the last messages; `done` tells what the rest achieved. False: nothing to leave out.

        At least the last five messages stay. A call and its result stay together, so it may be one more; long
        results in them are shortened.
        """
        start = self._tail_start()
        before = sum(_size(message) for message in self.messages)
        tail = [_shortened(message) for message in self.messages[start:]]
        head = self.messages[0]
        if start > 1:
            note = _note(done, start - 1)
            head = {"role": "user", "content": [head["content"][0], _text(note)]}
        self.messages = [head, *tail]
        return sum(_size(message) for message in self.messages) < before

    def _tail_start(self) -> int:
        """The first message to keep: an answer of the model, so that roles alternate and no result is orphaned."""
        start = max(1, len(self.messages) - KEPT_MESSAGES)
        while start > 1 and self.messages[start]["role"] != "assistant":
            start -= 1
        return start


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


def _shortened(message: Json) -> Json:
    return {**message, "content": [_short_block(block) for block in message["content"]]}


def _short_block(block: Json) -> Json:
    content = block.get("content")
    if (
        block.get("type") != "tool_result"
        or not isinstance(content, str)
        or len(content) <= KEPT_RESULT_CHARS
    ):
        return block
    return {**block, "content": content[:KEPT_RESULT_CHARS] + CUT_NOTE}


def _size(message: Json) -> int:
    return len(repr(message["content"]))
