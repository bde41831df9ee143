"""The loop of a dream: ask, run the tools, ask again, until the model is done or must be stopped.

Each turn is reported, and a reported turn is kept, whatever happens to the process next.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dreams.engines.anthropic import prompt
from dreams.engines.anthropic.budget import Budget, joined
from dreams.engines.anthropic.conversation import Conversation, clean
from dreams.engines.anthropic.retrying import CALLS_TOOLS, Asker, Timing, TooLong, remedy
from dreams.engines.anthropic.stream import Json, ModelReply
from dreams.engines.anthropic.tools import AnsweredCall, Toolbox
from dreams.engines.types import Cancelled, Edit, EngineError, EngineTurn, LimitReached, Reporter, Work
from dreams.lib.files.text import plural

SAID_CHARS = 200  # of a refusal quoted in a dream's error; chosen
NOTHING_COUNTED: Mapping[str, int] = {}
BROKE_OFF = "It broke off here."
# The agent's own constants: output limit at first and after a cut-off answer, continuations at most, and the
# tokens below which a continuation counts as useless.
FIRST_CAP = 8_000
RAISED_CAP = 64_000
MOST_CONTINUATIONS = 3
SMALL_CONTINUATION = 500
SUMMARY_CHARS = 2_000
# No tokeniser packs more characters into a token of English, Markdown or JSON.
CHARS_PER_TOKEN_AT_MOST = 12
GO_ON = (
    "Your answer was cut off by the output limit. Go on exactly where you stopped: no apology, no repetition. Do the "
    "rest in smaller pieces; a tool call that was cut off was not run."
)
STILL_TOO_LONG = (
    "The conversation does not fit the model’s context, not even shortened. Nothing was proposed. Choose a model with a "
    "larger context, or give the server more."
)
READ_NOTHING = (
    f"The model ended without a single tool call, so it read nothing. Nothing was proposed. {CALLS_TOOLS}"
)
ALL_REFUSED = (
    "None of the model’s tool calls could be answered, so it read nothing. Nothing was proposed. The last one, {call}, was "
    "answered: “{said}” Dream again; if that does not help, choose another model."
)
MOST_REPEATS = 8  # of a turn with the same calls and the same answers; chosen
SAME_AGAIN = "You made the same calls in the last turn, and the answers are the same. Take the next step, or end with your summary."
STUCK = (
    f"The model made the same tool calls {MOST_REPEATS + 1} times in a row and got the same answers. Nothing was proposed. "
    "Dream again; if that does not help, choose another model, or give the server a larger context."
)
SAY_SOMETHING = "Your answer was empty. Go on with the next step; if you are done, end with your summary."
SAID_NOTHING = (
    "The model’s last answers were empty, and it had changed nothing. Nothing was proposed. Dream again; if that does not "
    "help, choose another model, or give the server a larger context."
)
FINAL = frozenset({"end_turn", "stop_sequence", "tool_use"})  # some servers give the last without a call


@dataclass(slots=True)
class Teller:
    """Reports what happened since the last turn: each token, millisecond, line and edit once."""

    report: Reporter
    asker: Asker
    toolbox: Toolbox
    tool_ms: int = 0
    _usages: int = 0
    _edits: int = 0
    _timing: Timing = field(default_factory=Timing)

    def turn(
        self,
        text: str,
        *,
        tools: Sequence[Mapping[str, object]] = (),
        files: Sequence[str] = (),
        counts: Mapping[str, int] = NOTHING_COUNTED,
    ) -> None:
        """Reports one turn, with everything not reported yet. Raises Cancelled."""
        edits = tuple(self.toolbox.writer.edits[self._edits :])
        try:
            usage = joined(self.asker.spent[self._usages :])
            work = self._work(edits)
            phase = self.toolbox.phase
            self.report.turn(EngineTurn(phase, text, tools, files, counts, usage, work, edits))
        except (Cancelled, EngineError):
            # The turn was stored; the error only ends the dream. After any other error it was not, and is reported again.
            self._is_told()
            raise
        self._is_told()

    def _is_told(self) -> None:
        self._edits, self._usages = len(self.toolbox.writer.edits), len(self.asker.spent)
        self._timing, self.tool_ms = replace(self.asker.timing), 0

    def rest(self) -> None:
        """At an early end, reports the usage and edits not reported yet, so that none are lost. The dream
        itself reports why it ended."""
        spent = self._usages < len(self.asker.spent) or self._timing != self.asker.timing
        if spent or self._edits < len(self.toolbox.writer.edits):
            self.turn(BROKE_OFF)

    def _work(self, edits: Sequence[Edit]) -> Work:
        now, before = self.asker.timing, self._timing
        return replace(
            Work.on(edits),
            api_ms=now.api_ms - before.api_ms,
            api_ms_without_retries=now.api_ms_without_retries - before.api_ms_without_retries,
            tool_ms=self.tool_ms,
        )


@dataclass(frozen=True, slots=True)
class Done:
    """The summary when the model was done for the first time, and the number of its edits."""

    summary: str
    edits: int


@dataclass(slots=True)
class Recoveries:
    """Counters of the recoveries, each with its own limit."""

    cap: int = FIRST_CAP
    continuations: int = 0
    small: int = 0
    continuing: bool = False
    kept: int = 0  # messages, when the conversation was last shortened
    was_empty: bool = False
    last: object = None  # the calls and answers of the last turn
    repeats: int = 0
    answered: bool = False
    refused: str = ""
    done: Done | None = None


@dataclass(slots=True)
class Loop:
    """One dream's conversation. `run` returns the model's summary, or raises EngineError, Cancelled."""

    conversation: Conversation
    toolbox: Toolbox
    asker: Asker
    budget: Budget
    teller: Teller
    system: list[Json]
    tools: list[Json]
    progress: Recoveries = field(default_factory=Recoveries)

    def run(self) -> str:
        while True:
            try:
                self.budget.start_turn()
                summary = self._take(self._ask())
            except LimitReached as limit:
                return self._as_it_was(limit)
            if summary is not None:
                return summary

    def _as_it_was(self, limit: LimitReached) -> str:
        """The finished work, if a limit was reached before the first fix was made; otherwise raises the limit."""
        done = self.progress.done
        if done is None or len(self.toolbox.writer.edits) != done.edits:
            raise limit
        self.teller.turn("A limit was met before anything was mended: the work stays as it was.")
        return done.summary

    def _ask(self) -> ModelReply:
        while True:
            try:
                return self.asker.ask(self._parts, self.progress.cap)
            except TooLong as error:
                self._compact(remedy(error.failed, self.asker.host, self.asker.model))

    def _parts(self) -> Json:
        return prompt.request(self.system, self.tools, self.conversation.marked())

    # --- Stop reasons ---------------------------------------------------------------------------------------------

    def _take(self, reply: ModelReply) -> str | None:
        """Handles a complete reply: None to go on, the summary at the end."""
        reason = reply.stop_reason
        is_cut_off = reason == "max_tokens"
        if reason == "model_context_window_exceeded" or (is_cut_off and self.asker.limited_by_context):
            self._say(reply, "The context was full before the answer was whole.")
            self._compact(STILL_TOO_LONG)
            return None
        if is_cut_off:
            self._truncated(reply)
            return None
        self._count_continuation(reply)
        if reason == "refusal":
            why = f" ({clean(reply.why)[:SAID_CHARS].rstrip('.')})" if reply.why else ""
            self._say(reply, "The model refused to go on.")
            raise EngineError(
                f"The model refused to go on with this dream{why}. Nothing was proposed. Try another model, or the rules engine."
            )
        if reason == "pause_turn":
            self._paused(reply)
            return None
        if reply.calls and reason in FINAL:
            self._called(reply)
            return None
        if reason in FINAL:
            return self._finished(reply)
        raise EngineError(
            f"The model stopped for a reason that is not known here ({reason[:60]!r}). Nothing was proposed. Try again, or "
            "choose another model."
        )

    def _finished(self, reply: ModelReply) -> str | None:
        """Handles the model's end. What the checks find is sent back to it, once."""
        if not self.progress.answered:
            self._say(reply, "No tool call could be answered.")
            raise EngineError(self.progress.refused or READ_NOTHING)
        if not reply.text and self.progress.done is None and self._is_asked_again(reply):
            return None
        summary = clean(reply.text)[:SUMMARY_CHARS]
        is_first = self.progress.done is None and self.budget.has_room()
        problems = self.toolbox.examine() if is_first else []
        if not problems:
            self._say(reply, "Done.")
            return summary
        self.progress.done = Done(summary, len(self.toolbox.writer.edits))
        self._say(
            reply, f"The checks found {plural(len(problems), 'problem')}, which the model was asked to fix."
        )
        self.conversation.answered(reply)
        self.conversation.results([], prompt.mending_request(problems))
        return None

    def _is_asked_again(self, reply: ModelReply) -> bool:
        """Whether the model is asked to go on after an empty answer: once, and not if that risks its work. Raises EngineError if it
        then has done nothing."""
        has_worked = bool(self.toolbox.writer.edits or self.toolbox.questions.asked)
        if has_worked and (self.progress.was_empty or not self.budget.has_room()):
            return False
        if self.progress.was_empty:
            self._say(reply, "The answer was empty again.")
            raise EngineError(SAID_NOTHING)
        self.progress.was_empty = True
        self._say(reply, "The answer was empty; the model was asked to go on.")
        self.conversation.answered(reply)
        self.conversation.results([], SAY_SOMETHING)
        return True

    def _called(self, reply: ModelReply) -> None:
        self.conversation.answered(reply)
        results = self._run_tools(reply)
        made = [
            (call["name"], call["input"], result.block["content"])
            for call, result in zip(reply.calls, results, strict=True)
        ]
        self.progress.repeats = self.progress.repeats + 1 if made == self.progress.last else 0
        self.progress.last = made
        remark = self.budget.warning() or (SAME_AGAIN if self.progress.repeats else "")
        self.conversation.results([result.block for result in results], remark)
        self._say(reply, "", results)
        if self.progress.repeats >= MOST_REPEATS:
            raise EngineError(STUCK)

    def _run_tools(self, reply: ModelReply) -> list[AnsweredCall]:
        started = time.monotonic()
        try:
            results = self.toolbox.run(reply.calls)
            self.progress.answered |= not all(result.refused for result in results)
            for record in (result.record for result in results):
                call = f"{record['name']} {record['input']}"[:SAID_CHARS]
                said = " ".join(record["output"].split())[:SAID_CHARS]
                self.progress.refused = ALL_REFUSED.format(call=call, said=said)
            return results
        finally:
            self.teller.tool_ms += int((time.monotonic() - started) * 1000)

    def _paused(self, reply: ModelReply) -> None:
        """The server paused a long turn: sending the turn back unchanged continues it.

        Not every server accepts a conversation that ends with the model, so a message of ours follows.
        """
        self._say(reply, "The model paused, and was asked to go on.")
        results = self._run_tools(reply)
        self.conversation.answered(reply)
        self.conversation.results([result.block for result in results], "Go on.")

    def _truncated(self, reply: ModelReply) -> None:
        """First retries with a larger output limit, without the truncated text; then up to three continuations."""
        if self.asker.limited_by_budget:
            self._say(reply, "The answer was cut off where the budget ends.")
            raise LimitReached(
                "The model’s answer was cut off at what this dream may still use (Tokens per dream or Cost limit per dream). Nothing "
                "was proposed."
            )
        if self.progress.cap < RAISED_CAP:
            self.progress.cap = RAISED_CAP
            self._say(reply, f"The answer did not fit {FIRST_CAP:,} tokens; asked again with {RAISED_CAP:,}.")
            return
        self._count_continuation(reply)
        self.progress.continuations += 1
        if self.progress.continuations > MOST_CONTINUATIONS:
            self._say(reply, "The answer was cut off again.")
            raise EngineError(
                f"The model’s answer was cut off {MOST_CONTINUATIONS + 1} times in a row. Nothing was proposed. Choose a "
                "model with a larger output, or a lower effort."
            )
        self._say(reply, "The answer was cut off; asked to go on.")
        self.conversation.cut_off(reply, GO_ON)
        self.progress.continuing = True

    def _count_continuation(self, reply: ModelReply) -> None:
        """Ends the dream after three continuations in a row that were nearly empty."""
        if not self.progress.continuing:
            return
        self.progress.continuing = False
        self.progress.small = self.progress.small + 1 if reply.tokens.output < SMALL_CONTINUATION else 0
        if reply.stop_reason != "max_tokens":
            self.progress.continuations = 0
        if self.progress.small >= MOST_CONTINUATIONS:
            self._say(reply, "The continuations bring next to nothing.")
            raise EngineError(
                f"The model was cut off, and {MOST_CONTINUATIONS} continuations brought under {SMALL_CONTINUATION} tokens "
                "each. Nothing was proposed. Choose a model with a larger output."
            )

    def _compact(self, hopeless: str) -> None:
        """Shortens the conversation. Raises EngineError with `hopeless` if that is impossible, or was done so few turns ago
        that the model cannot work in the room it has."""
        messages = self.conversation.messages
        left_out = "earlier messages"
        if len(messages) < 2 * self.progress.kept or not self.conversation.compact(self.toolbox.done()):
            left_out = "long lists of the briefing"
            if not self.conversation.shorten_briefing():
                raise EngineError(hopeless)
        self.progress.kept = len(self.conversation.messages)
        self.asker.forget_prompt()
        self.teller.turn(f"The conversation did not fit the model’s context: {left_out} were left out.")

    # --- Telling --------------------------------------------------------------------------------------------------

    def _say(self, reply: ModelReply, remark: str, results: list[AnsweredCall] | None = None) -> None:
        """Reports one turn to the dream's page. Raises Cancelled."""
        done = results or []
        story = self.asker.story
        recovered = [f"Recovered: {'; '.join(story.said)}."] if story.said else []
        recovered += self._cut_prompt(reply)
        text = "\n\n".join(part for part in (clean(reply.text), remark, *recovered) if part)
        files = list(dict.fromkeys(result.path for result in done if result.path))
        self.teller.turn(
            text,
            tools=[result.record for result in done],
            files=files,
            counts=self._counts(reply, done),
        )

    def _cut_prompt(self, reply: ModelReply) -> list[str]:
        """A warning if the server silently truncates long prompts: the model then misses its rules."""
        sent, read = self.asker.size // CHARS_PER_TOKEN_AT_MOST, reply.tokens.prompt
        if not 0 < read < sent:
            return []
        return [
            f"The server counted {read:,} tokens of a prompt that has more than {sent:,}: it seems to cut what it reads. "
            "Give it a larger context."
        ]

    def _counts(self, reply: ModelReply, results: list[AnsweredCall]) -> dict[str, int]:
        counts = {
            "tools": len(results),
            "refused": sum(result.refused for result in results),
            "retries": max(0, self.asker.story.attempts - 1),
            "cache read": reply.tokens.cache_read,
            "cache written": reply.tokens.cache_write,
        }
        return {name: value for name, value in counts.items() if value}
